/* The fields of facts, by name: see model/facts.h. */
#ifndef SP_MODEL_FACT_FIELDS_H
#define SP_MODEL_FACT_FIELDS_H

#include <stdint.h>

enum sp_fact_type {
    SP_FACT_NUMBER,  /* int64_t; SP_ABSENT */
    SP_FACT_TEXT,    /* string of the profile; SP_STR_NONE */
    SP_FACT_ADDRESS, /* uint64_t; SP_NO_ADDRESS */
    SP_FACT_FLAG,    /* a bit of a uint32_t; false is left out of files */
};

struct sp_fact {
    const char *key;
    enum sp_fact_type type;
    unsigned offset;
    uint32_t flag;
};

/* The fields of a row, in the order they are written in, up to key NULL. */
extern const struct sp_fact sp_process_facts[]; /* struct sp_process_fact */
extern const struct sp_fact sp_thread_facts[];  /* struct sp_thread: what is no member of the specification */
extern const struct sp_fact sp_image_facts[];   /* struct sp_image */
extern const struct sp_fact sp_wait_facts[];    /* struct sp_wait_fact */
extern const struct sp_fact sp_source_facts[];  /* struct sp_source_piece */

#endif
