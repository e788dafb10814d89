/*
 * What a validator remembers of an id: a fingerprint, the first line, and a few attributes, in 32 bytes
 * plus at most 11 of index. The ids themselves are not kept, but for the texts of a bounded number of
 * ids that are still undefined, so that messages at the end can name them.
 *
 * An entry is pending while the id was only referred to: then it holds where the first reference stands
 * and how many there are. Entries are in the order of first sight and never move in number.
 *
 * `direct` (optional) finds small whole numbers without hashing: 4 bytes per number, only as far as the
 * numbers are dense. It is a cache: what it does not know is looked up by fingerprint and then noted.
 */
#ifndef SP_VALIDATE_IDS_H
#define SP_VALIDATE_IDS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_IDS_MAX ((uint32_t)16000000) /* per kind of id; entry numbers fit in 24 bits */
#define SP_ID_NONE UINT32_MAX

struct sp_fp {
    uint64_t a, b;
};

struct sp_fp sp_fingerprint(const void *p, size_t n);

static inline bool sp_fp_equal(struct sp_fp x, struct sp_fp y)
{
    return x.a == y.a && x.b == y.b;
}

/* Attributes of a defined id. */
enum sp_id_bits {
    SP_ID_DEFINED = 1,
    SP_ID_INLINED = 2,   /* frame */
    SP_ID_USER = 4,      /* frame; pending DSO: a user frame refers to it */
    SP_ID_KERNEL = 8,    /* frame, DSO; pending DSO: a kernel frame refers to it */
    SP_ID_NAMELESS = 16, /* DSO: the one of frames that have none */
    SP_ID_FORTH = 32,    /* link between two stacks: the lower number names the higher */
    SP_ID_BACK = 64,     /* the higher names the lower */
};

struct sp_id {
    struct sp_fp fp;
    uint64_t line : 40, bits : 8;
    uint64_t field : 4;  /* pending: which field refers to it first, see enum sp_ref */
    uint64_t extra : 12; /* pending: the index in that field; frame: inline depth; 4095: unknown */
    union {
        uint64_t place; /* defined frame: hash of DSO, ip and symoff, 0 where unknown */
        struct {
            uint64_t offset : 40, count : 24;
        };
    };
};
#define SP_EXTRA_MAX 4095u
#define SP_COUNT_MAX ((1u << 24) - 1)

struct sp_id_text {
    uint32_t entry;
    unsigned char n;
    bool cut; /* only the beginning */
    char text[26];
};
#define SP_ID_TEXTS 4096u

struct sp_ids {
    struct sp_id *v;
    uint32_t n;
    size_t cap;
    uint32_t *slots; /* tag << 24 | number + 1 */
    size_t mask;
    bool full;   /* an id was turned away */
    bool direct; /* keep the cache */
    uint32_t
        *numbers; /* by small id: attributes << 24 | number + 1; 0: not known; attributes 0: not defined */
    size_t nnumbers;
    SP_VEC(struct sp_id_text) texts;
    bool texts_full;
};

void sp_ids_free(struct sp_ids *t);
/* The entry of this fingerprint, or SP_ID_NONE. */
uint32_t sp_ids_find(const struct sp_ids *t, struct sp_fp fp);
/*
 * The entry of an id text, added as pending (count 0) if new. SP_ID_NONE: the table is full (t->full) or
 * memory is out. *added tells which.
 */
uint32_t sp_ids_get(struct sp_ids *t, const char *p, size_t n, bool *added);
uint32_t sp_ids_get_fp(struct sp_ids *t, struct sp_fp fp, bool *added);
/* After an entry changed: what the direct cache says about it. */
void sp_ids_note_small(struct sp_ids *t, uint32_t small, uint32_t entry);
/* Keeps the text of a pending entry for the messages, as far as there is room. */
bool sp_ids_keep_text(struct sp_ids *t, uint32_t entry, const char *p, size_t n);
/* The kept text of an entry, or NULL. */
const struct sp_id_text *sp_ids_text(const struct sp_ids *t, uint32_t entry);

/* What the direct cache knows of a small id. */
static inline uint32_t sp_ids_small(const struct sp_ids *t, uint32_t small)
{
    return small < t->nnumbers ? t->numbers[small] : 0;
}

/* A whole number in its shortest form and below 10^7, or SP_ID_NONE. */
static inline uint32_t sp_small_id(const char *p, size_t n)
{
    if (!n || n > 7 || (p[0] == '0' && n > 1))
        return SP_ID_NONE;
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t d = (uint32_t)(unsigned char)p[i] - '0';
        if (d > 9)
            return SP_ID_NONE;
        v = v * 10 + d;
    }
    return v;
}

#endif
