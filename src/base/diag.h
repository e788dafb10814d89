/*
 * Diagnostics: what a person or a script is told about an input, besides the answer.
 *
 * One collector per operation. Emitting never fails visibly: when memory runs out the message is
 * counted as lost. Per code at most `per_code` messages are kept, the others are counted, so that a
 * broken file of a gigabyte gives a short report. Messages keep their order. Not thread-safe: a
 * parallel reader gives each worker a collector of its own and merges them in input order.
 */
#ifndef SP_DIAG_H
#define SP_DIAG_H

#include "base/arena.h"
#include "base/vec.h"
#include "spaa/status.h"

#include <stdint.h>

struct sp_watch;

enum sp_severity { SP_INFO, SP_WARNING, SP_LOSS, SP_ERROR, SP_FATAL };

enum sp_code {
#define SPAA_DIAG(code, severity, title, hint) SP_##code,
#include "base/diag.def"
#undef SPAA_DIAG
    SP_CODES
};

struct sp_code_info {
    const char *name; /* "SPAA-E001" */
    enum sp_severity severity;
    const char *title, *hint;
};

const struct sp_code_info *sp_code_info(enum sp_code code);
const char *sp_severity_name(enum sp_severity s); /* "data-loss", ... */

#define SP_NOWHERE UINT64_MAX

/* Where it happened; fields that do not apply: SP_NOWHERE for offset, 0 for line, NULL. */
struct sp_where {
    uint64_t offset; /* in the decompressed input */
    uint64_t line;   /* 1-based */
    const char *record, *field;
};
#define SP_AT(off)          ((struct sp_where){.offset = (off)})
#define SP_AT_LINE(ln, off) ((struct sp_where){.offset = (off), .line = (ln)})
#define SP_AT_NOTHING       ((struct sp_where){.offset = SP_NOWHERE})

struct sp_diag {
    enum sp_code code;
    enum sp_severity severity;
    uint64_t offset, line;
    const char *format, *file, *record, *field; /* NULL where unknown */
    const char *message, *hint;                 /* never NULL */
};

struct sp_diags {
    struct sp_arena arena;
    SP_VEC(struct sp_diag) list;
    uint64_t count[SP_CODES];  /* emitted, kept or not */
    uint64_t lost;             /* for want of memory: messages, and hints of one's own */
    unsigned per_code;         /* kept per code; 0: all */
    const char *file, *format; /* stamped on what is emitted from now on; see sp_diags_source */
    struct sp_watch
        *watch; /* who watches the call (base/watch.h), or NULL; workers' collectors have it too */
};

void sp_diags_init(struct sp_diags *d);
void sp_diags_free(struct sp_diags *d);
/* Names the input that what follows is about; copies both (either may be NULL). */
void sp_diags_source(struct sp_diags *d, const char *file, const char *format);

/* Adds a message; a fmt of one blank (" ") leaves the code's title alone as the message. */
void sp_emit(struct sp_diags *d, enum sp_code code, struct sp_where where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with a hint for this very case (copied) instead of the code's. */
void sp_emit_hint(struct sp_diags *d, enum sp_code code, struct sp_where where, const char *hint,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/*
 * Out of memory: says so once and returns SPAA_ERR_NOMEM. Where the call is being left (base/watch.h), that
 * is why there was nothing: SPAA_ERR_CANCELLED.
 */
spaa_status sp_nomem(struct sp_diags *d);

/* What was said of the present input with one code was of another one, as turned out later; in the words of
 * that code, hints of one's own aside. */
void sp_diags_recode(struct sp_diags *d, enum sp_code code, enum sp_code to);

uint64_t sp_diags_count(const struct sp_diags *d, enum sp_severity at_least);
/* Appends copies of the other's messages, up to per_code, and counts all. */
void sp_diags_merge(struct sp_diags *into, const struct sp_diags *from);

#endif
