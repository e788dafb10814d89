/* What the values of facts look like in a file, for reader and validator. */
#ifndef SP_SPAA_FACT_VALUES_H
#define SP_SPAA_FACT_VALUES_H

#include "base/strtab.h"
#include "model/fact_fields.h"
#include "json/json.h"

enum sp_fact_record {
    SP_NO_FACT,
    SP_PROCESS_FACT,
    SP_IMAGE_FACT,
    SP_OLD_SPINDUMP_PROCESS,
    SP_OLD_SPINDUMP_IMAGE,
    SP_OLD_SAMPLE_PROCESS,
    SP_OLD_SAMPLE_IMAGE,
    SP_SOURCE_FACT
};
enum sp_fact_record sp_fact_record(struct sp_span type);

const struct sp_fact *sp_fact_of_key(const struct sp_fact *facts, struct sp_span key); /* or NULL */
/* What a raw value should be and is not; NULL: it is a value of the field. */
const char *sp_fact_wanted(const struct sp_fact *f, struct sp_span raw);
bool sp_fact_number_of(struct sp_span raw, int64_t *out);
bool sp_fact_address_of(struct sp_span text, uint64_t *out); /* as it would be written again */
/* The members of json/find.h, which also say when memory ran out. */
bool sp_fact_find(struct sp_span text, const char *key, struct sp_span *raw, bool *nomem);
bool sp_fact_next(struct sp_span *rest, struct sp_span *item, bool *nomem);
/* A raw string, decoded and appended; false: it is none, or (*nomem) memory is out. */
bool sp_fact_decode(struct sp_buf *out, struct sp_span raw, bool *nomem);
/*
 * x_raw_hex: the bytes of strings of its record that are no UTF-8. Appends those of a hex text where they are
 * written as this text is; false: they are not, or (*nomem) memory is out.
 */
bool sp_raw_hex_bytes(struct sp_span hex, struct sp_str text, struct sp_buf *bytes, bool *nomem);
#define SP_RAW_HEX_WANTED "the bytes of this record's strings, in hex"
#define SP_RAW_HEX_FAULT  "not " SP_RAW_HEX_WANTED

bool sp_facts_nomem(const struct sp_json *j); /* why a cursor ended */
void sp_facts_begin(struct sp_json *j,
                    struct sp_span text); /* at an object, or members without their braces */

#endif
