/*
 * The grammar of SPAA records, once: lines of text to structs of spans. The reader and the validator take
 * those; nothing here reports anything or knows what a value means.
 *
 *     struct sp_decoder d;
 *     sp_decoder_init(&d);
 *     sp_decode_lines(&d, text, end);                    // or sp_decode_line, one by one
 *     for (size_t i = 0; i < d.lines.n; i++) {
 *         const struct sp_line *l = &d.lines.v[i];
 *         if (l->status == SP_DECODED && l->table == SP_T_FRAME) {
 *             const struct sp_rec_FRAME *f = sp_rec_FRAME(&d, l->rec);
 *             if (f->h.present & SP_BIT(FRAME, func)) use(f->func.p, f->func.n);
 *         }
 *     }
 *     sp_decoder_clear(&d);                              // for the next lines
 *
 * fields.def makes a struct per kind of object: for each field the first value of the right type. Objects
 * inside objects are decoded with them, each kind into a table of its own; a list is a run of rows there, in
 * order. Objects and lists of the same text may share their rows, whose spans then point to where it stood
 * first (sp_nested.text). What has no place in
 * the structs is listed in `odd`, in the order of the text, chained by object:
 * members without a field, values of another type, keys that stood in the object before.
 *
 * A decoder belongs to one thread at a time. Spans point into the text, which has to outlive what was
 * decoded, and has to be UTF-8 (sp_decode_lines looks at that once for all lines). All of RFC 8259 is
 * checked, so that a line that is SP_DECODED is a JSON text. Memory is a small multiple of the text.
 */
#ifndef SP_SPAA_DECODE_H
#define SP_SPAA_DECODE_H

#include "base/vec.h"
#include "json/json.h"
#include "json/unique.h"

enum sp_table {
#define SP_TABLE(table, where, begin) SP_T_##table,
#define SP_FIELD(table, name, need, type, check)
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
    SP_TABLES
};

/* Numbers of all fields, those of a table from SP_FIRST_table on. */
enum {
#define SP_TABLE(table, where, begin)            SP_FIRST_##table, SP_BEFORE_##table = SP_FIRST_##table - 1,
#define SP_FIELD(table, name, need, type, check) SP_F_##table##_##name,
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
    SP_FIELDS
};
/* The position of a field in its table, and its bit in the masks of a struct. */
#define SP_POSITION(table, name) (SP_F_##table##_##name - SP_FIRST_##table)
#define SP_BIT(table, name)      (1u << SP_POSITION(table, name))

enum sp_field_type {
    SP_IS_STRING,
    SP_IS_NUMBER,
    SP_IS_BOOL,
    SP_IS_ENUM, /* a string; which one of `names`, who takes it says */
    SP_IS_ID,   /* a string or a number */
    SP_IS_OBJECT,
    SP_IS_LIST, /* of objects */
    SP_IS_IDS,
};

/* fields.def as a table, for who goes through the fields of any object. */
struct sp_field_info {
    const char *quoted;                         /* "name": with quotes and colon */
    unsigned char length;                       /* of the name alone, which begins at quoted + 1 */
    unsigned char table, position, type, inner; /* inner: the table of the objects in it */
    bool must;
    unsigned short offset;    /* of the value in the struct */
    const char *const *names; /* of an enumeration, up to NULL */
};
extern const struct sp_field_info sp_field_infos[SP_FIELDS];
extern const unsigned char sp_first_field[SP_TABLES + 1];
extern const char *const sp_frame_orders[], *const sp_stack_id_modes[];

/* A value as it stands. Strings: what is between the quotes, which stand around it. */
struct sp_token {
    const char *p; /* NULL: there is none */
    uint32_t n;
    unsigned char kind; /* enum sp_json_type */
    bool escaped;       /* a string with escapes: sp_token_text */
};

/* An object (one row of its table), a list of objects (count rows) or of ids (count of d->ids). */
struct sp_nested {
    struct sp_token v;
    const char *text; /* where the rows' text begins: v.p, or further up, see above */
    uint32_t first, count;
};

/* What all structs begin with. Bits are by position in the table. */
struct sp_rec {
    const char *p;            /* where the object, or an item that is none, begins */
    uint32_t odd, odd_last;   /* the first and last of its entries in d->odd, SP_ODD_END: none */
    unsigned short present;   /* the field has a value: the first one of the right type */
    unsigned short wrong;     /* there is a value of another type */
    unsigned short duplicate; /* the key stands more than once */
    bool unknown;             /* there are members without a field */
    unsigned char kind;       /* enum sp_json_type; other than an object: an item that should be one */
};

#define SP_C_STRING     struct sp_token
#define SP_C_NUMBER     struct sp_token
#define SP_C_BOOL       struct sp_token
#define SP_C_ENUM(list) struct sp_token
#define SP_C_ID         struct sp_token
#define SP_C_IDS        struct sp_nested
#define SP_C_OBJECT(of) struct sp_nested
#define SP_C_LIST(of)   struct sp_nested
/* struct sp_rec_HEADER and so on. */
struct sp_rec_ {
    struct sp_rec h;
#define SP_TABLE(table, where, begin)                                                                        \
    }                                                                                                        \
    ;                                                                                                        \
    struct sp_rec_##table {                                                                                  \
        struct sp_rec h;
#define SP_FIELD(table, name, need, type, check) SP_C_##type name;
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
};

/* A number of d->ids: whole numbers below 10^9 in their shortest form are themselves, others have this bit
 * and their place in d->other_ids (whose kind may be neither string nor number: an item that is no id). */
#define SP_ID_OTHER (1u << 31)

#define SP_ODD_END UINT32_MAX

enum sp_odd_what {
    SP_ODD_UNKNOWN = 1,      /* a member without a field */
    SP_ODD_WRONG = 2,        /* the value is of another type than the field's */
    SP_ODD_AGAIN = 4,        /* the key stood in the object before, with whatever value */
    SP_ODD_TAKEN = 8,        /* it is the field's value all the same: those before were of a wrong type */
    SP_ODD_ITEM = 16,        /* an item of the list `position` that is no object; key: the list's */
    SP_ODD_INSIDE = 32,      /* an object inside the value has a key twice */
    SP_ODD_AFTER_WRONG = 64, /* with AGAIN: all before it were of a wrong type */
    SP_ODD_USED = 128,       /* for who takes what was decoded: nothing is left to do about it */
};
enum { SP_POSITION_NONE = 255, SP_POSITION_TYPE = 254 /* the record's `type` */ };

struct sp_odd {
    struct sp_token key, value;
    uint32_t next; /* of the same object, SP_ODD_END: none */
    unsigned char position, what;
};

enum sp_line_status {
    SP_DECODED,   /* a record; of another type than those of fields.def: table SP_T_ANYTHING */
    SP_UNTYPED,   /* an object without a `type` that is a string; decoded as SP_T_ANYTHING */
    SP_NO_OBJECT, /* another JSON value */
    SP_BROKEN,    /* no JSON: what was whole before that was decoded where the type was known */
    SP_BLANK,     /* nothing but white space */
    SP_NOT_UTF8,  /* not decoded */
};

struct sp_line {
    const char *p;
    size_t n; /* without its newline */
    enum sp_line_status status;
    enum sp_table table; /* SP_TABLES: there is no record to look at */
    uint32_t rec;        /* row of that table */
    struct sp_token type;
    bool plain;                  /* no key stands twice, anywhere, and no field is of a wrong type */
    uint32_t odd_first, odd_end; /* the entries of all objects of the line, in the order of the text */
};

/*
 * A text that was decoded: where the same stands again, the same rows are meant. Stacks share contexts, and
 * mostly weigh in their leaf what they weigh.
 */
struct sp_repeated {
    const char *p;
    uint32_t n, first, count;
    uint32_t since; /* d->cleared when it was decoded; later, it is forgotten */
};
#define SP_REPEATED 256u /* contexts */

struct sp_rows {
    char *v;
    size_t n, cap;
};

struct sp_decoder {
    SP_VEC(struct sp_line) lines; /* by sp_decode_lines */
    struct sp_rows rows[SP_TABLES];
    SP_VEC(uint32_t) ids;
    SP_VEC(struct sp_token) other_ids;
    SP_VEC(struct sp_odd) odd;
    bool nomem; /* a call failed for want of memory */
    /* Inside decode.c. */
    const char *end;
    enum sp_table type_before;            /* of the record before */
    unsigned char follows[SP_TABLES][16]; /* which field came after which, by position + 1; 0: at the start */
    struct sp_line *line;
    bool other_type; /* the record is of another type than it was taken for */
    struct sp_unique unique;
    struct sp_buf text;
    uint32_t cleared; /* how often rows were taken back */
    struct sp_repeated weights, contexts[SP_REPEATED];
};

void sp_decoder_init(struct sp_decoder *d);
void sp_decoder_free(struct sp_decoder *d);
void sp_decoder_clear(struct sp_decoder *d); /* forgets what was decoded, keeps memory and predictions */

/*
 * One line of n bytes, UTF-8; p[n] can be read and is a newline or 0. False: out of memory. Rows are added to
 * those of the lines before.
 */
bool sp_decode_line(struct sp_decoder *d, const char *p, size_t n, struct sp_line *out);
/* The lines from text to end into d->lines, the last of which has a newline, or a 0 behind it. False: no
 * memory. */
bool sp_decode_lines(struct sp_decoder *d, const char *text, const char *end);

/*
 * The text of a string, or a number's; escapes are resolved into `scratch`, which is cleared then, and lends
 * the text until its next use. Without memory: p is NULL.
 */
struct sp_span sp_token_text(const struct sp_token *v, struct sp_buf *scratch);
/* As it stands, strings with their quotes. */
static inline struct sp_span sp_token_raw(const struct sp_token *v)
{
    return v->kind == SP_JSON_STRING ? (struct sp_span){v->p - 1, v->n + (size_t)2}
                                     : (struct sp_span){v->p, v->n};
}
/*
 * Where item `index` of a list of ids stands. *at, 0 at first, and *item, are where the last call came to:
 * going through a list forward costs its length once.
 */
const char *sp_id_item(const struct sp_nested *list, const char **at, uint32_t *item, uint32_t index);

#define SP_TABLE(table, where, begin)                                                                        \
    static inline struct sp_rec_##table *sp_rec_##table(const struct sp_decoder *d, uint32_t i)              \
    {                                                                                                        \
        return (struct sp_rec_##table *)(void *)d->rows[SP_T_##table].v + i;                                 \
    }
#define SP_FIELD(table, name, need, type, check)
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD

/* Any row by its table. */
struct sp_rec *sp_rec_any(const struct sp_decoder *d, enum sp_table table, uint32_t i);

#endif
