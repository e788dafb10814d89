/*
 * Parts of the folded format: one line per stack, root first, frames between semicolons, then a number.
 * See reader.c and writer.c.
 */
#ifndef SP_FOLDED_H
#define SP_FOLDED_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "formats/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/*
 * line.c: a line's parts.
 */
struct sp_fold_line {
    const char *stack, *value, *before; /* before: the first of two numbers; NULL: one number */
    size_t stack_n, value_n, before_n;
};

enum sp_fold_is { SP_FOLD_NOTHING, SP_FOLD_COMMENT, SP_FOLD_STACK };

/* The line [p, end) without its end; `two` reads two numbers where there are two. */
enum sp_fold_is sp_fold_line(const char *p, const char *end, bool two, struct sp_fold_line *line);
/* The name of the event where a comment at the start of a line gives it: `# event: cycles`; n 0 otherwise. */
struct sp_str sp_fold_event(const char *p, size_t n);
/* Whether all stacks of [p, n) have two numbers (at least two stacks, or one that is all there is). */
bool sp_fold_two_columns(const char *p, size_t n, bool whole);
int sp_fold_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

/*
 * texts.c: numbers of texts that were seen before. A zeroed table is empty and valid.
 */
struct sp_fold_text {
    uint64_t hash;
    const char *text; /* NULL: an empty slot */
    uint32_t n, number;
};

struct sp_fold_texts {
    struct sp_arena text;
    struct sp_fold_text *slots;
    size_t mask, count;
};

void sp_fold_texts_free(struct sp_fold_texts *t);
bool sp_fold_texts_add(struct sp_fold_texts *t, const char *p, size_t n, uint64_t hash, uint32_t number);

/* The number of a text, or SP_NONE. */
static inline uint32_t sp_fold_texts_find(const struct sp_fold_texts *t, const char *p, size_t n,
                                          uint64_t hash)
{
    if (!t->slots)
        return SP_NONE;
    for (size_t i = hash & t->mask; t->slots[i].text; i = (i + 1) & t->mask)
        if (t->slots[i].hash == hash && t->slots[i].n == n && memcmp(t->slots[i].text, p, n) == 0)
            return t->slots[i].number;
    return SP_NONE;
}

static inline uint64_t sp_fold_load(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* The first semicolon of [p, end), or NULL; frames are short, so the first bytes are looked at here. */
static inline const char *sp_fold_semicolon(const char *p, const char *end)
{
    for (; end - p >= 8; p += 8) {
        uint64_t x = sp_fold_load(p) ^ 0x3B3B3B3B3B3B3B3Bu;
        x = (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
        if (x)
            break;
    }
    for (; p < end; p++)
        if (*p == ';')
            return p;
    return NULL;
}

/*
 * Names of at most 32 bytes, as most are, are keys by value: found without a call or a branch on their
 * length.
 */
struct sp_fold_short {
    uint64_t w[4]; /* the name, filled up with zeros */
    uint32_t n;
    uint32_t number; /* + 1; 0: an empty slot */
};

struct sp_fold_shorts {
    struct sp_fold_short *slots;
    size_t mask, count;
};

void sp_fold_shorts_free(struct sp_fold_shorts *t);
/* The key must be new to the table; key->number is set. False: out of memory. */
bool sp_fold_shorts_add(struct sp_fold_shorts *t, struct sp_fold_short *key, uint32_t number);

static inline uint64_t sp_fold_short_hash(const struct sp_fold_short *k)
{
    return sp_hash_mix(sp_hash_mix(k->w[0] + k->n, k->w[1]), sp_hash_mix(k->w[2], k->w[3]));
}

static inline uint32_t sp_fold_shorts_find(const struct sp_fold_shorts *t, const struct sp_fold_short *k)
{
    if (!t->slots)
        return SP_NONE;
    for (size_t i = sp_fold_short_hash(k) & t->mask; t->slots[i].number; i = (i + 1) & t->mask) {
        const struct sp_fold_short *s = &t->slots[i];
        if (!((s->w[0] ^ k->w[0]) | (s->w[1] ^ k->w[1]) | (s->w[2] ^ k->w[2]) | (s->w[3] ^ k->w[3]) |
              (s->n ^ k->n)))
            return s->number - 1;
    }
    return SP_NONE;
}

/*
 * The name that starts at p and ends before the first semicolon, or at end; false if it is longer than 32
 * bytes. 32 bytes can be read at p.
 */
static inline bool sp_fold_short_name(const char *p, const char *end, struct sp_fold_short *out)
{
#ifdef __SSE2__
    const __m128i semicolon = _mm_set1_epi8(';');
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
    uint64_t stops = (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, semicolon)) |
                     (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(b, semicolon)) << 16;
    if (end - p <= 32)
        stops |= (uint64_t)1 << (end - p);
    if (!stops)
        return false;
    unsigned n = (unsigned)__builtin_ctzll(stops);
#else
    const char *semicolon = sp_fold_semicolon(p, end);
    size_t n = (size_t)((semicolon ? semicolon : end) - p);
    if (n > 32)
        return false;
#endif
    static const uint64_t ones_then_zeros[8] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0, 0, 0, 0};
    const char *keep = (const char *)ones_then_zeros + 32 - n;
    for (int i = 0; i < 4; i++)
        out->w[i] = sp_fold_load(p + 8 * i) & sp_fold_load(keep + 8 * i);
    out->n = (uint32_t)n;
    return true;
}

/*
 * Marks at the end of a frame's name.
 */
enum sp_fold_suffix {
    SP_FOLD_NONE,
    SP_FOLD_KERNEL = 'k',
    SP_FOLD_JIT = 'j',
    SP_FOLD_INLINED = 'i',
    SP_FOLD_WAKER = 'w'
};

spaa_status sp_fold_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                         struct sp_profile *p);

/*
 * names.c: a frame's name as it is written.
 */
struct sp_fold_style {
    bool perf;    /* as stackcollapse-perf.pl does: DSOs for unknown symbols, tidy names */
    bool printed; /* names as perf script printed them, where they were demangled here */
    bool addrs;   /* addresses of unknown symbols */
    bool tidy;
    bool kernel, jit, inlined; /* marks */
};

/* Appends the name of a frame; java: the process is one. */
bool sp_fold_name(struct sp_buf *out, const struct sp_profile *p, uint32_t frame,
                  const struct sp_fold_style *style, bool java);

spaa_status sp_fold_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                          struct sp_output *out);

#endif
