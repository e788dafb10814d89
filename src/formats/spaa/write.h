/* What the parts of the SPAA writer share: what is written from, and members of the record being built. */
#ifndef SP_SPAA_WRITE_H
#define SP_SPAA_WRITE_H

#include "base/buf.h"
#include "formats/spaa/plain.h"
#include "io/output.h"
#include "model/order.h"
#include "model/profile.h"

/* "123," of a frame's number, ready to be copied as 16 bytes. */
struct frame_text {
    char t[15];
    uint8_t n;
};

struct writer {
    struct sp_profile *p;
    struct sp_output *out;
    struct sp_order order;
    struct sp_buf b;       /* the record being built */
    struct sp_buf raw_hex; /* members of its x_raw_hex */
    struct frame_text *frames;
    struct sp_str *contexts; /* `,"context":…` up to and with `"weights":[`, by context */
    struct sp_str *fields;   /* `{"metric":"x","value":` per layout field */
    struct sp_arena pieces;
    struct sp_plain *plain; /* --plain; NULL: everything is written */
    uint32_t *local;        /* --stack-ids local: the number each stack has in the file; else NULL */
};

/* writer.c: a string member; bytes that are no UTF-8 are kept in x_raw_hex. The key brings comma and colon.
 */
void sp_write_str(struct writer *w, const char *key, const char *name, uint32_t s);

static inline void sp_write_opt_str(struct writer *w, const char *key, const char *name, uint32_t s)
{
    if (s != SP_STR_NONE)
        sp_write_str(w, key, name, s);
}

/* Number texts, raw JSON and `extra_json` members go out as they are. */
static inline void sp_write_raw(struct writer *w, const char *key, uint32_t s)
{
    if (s == SP_STR_NONE)
        return;
    struct sp_str v = sp_pstr(w->p, s);
    sp_buf_puts(&w->b, key);
    sp_buf_add(&w->b, v.p, v.n);
}

/* What the strings of a record, or of a context, are as bytes, where they are no UTF-8. */
void sp_write_raw_hex(struct writer *w);

/* write_header.c: the header record, without its closing brace. */
void sp_write_header(struct writer *w);

#endif
