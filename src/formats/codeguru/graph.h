/*
 * State of the reader of call graphs (graph.c), and what it does at every node: tokens and names, inline.
 */
#ifndef SP_CODEGURU_GRAPH_H
#define SP_CODEGURU_GRAPH_H

#include "formats/codeguru/codeguru.h"

#include "base/hash.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/*
 * A key seen before: its text, and the frames it had last. Most nodes touch nothing but the beginning: what
 * is looked at in far-away memory decides how fast a large file is read.
 */
struct name {
    uint32_t n;
    uint32_t plain;    /* its frame without a place; SP_NONE: not made yet */
    char head[64];     /* the text's first bytes, and zeros */
    const char *p;     /* all of it, in `texts` */
    const char *place; /* bytes of file and line, one behind the other */
    uint32_t frame;    /* with `place`; SP_NONE: none yet */
    uint32_t stamp;    /* serial of the level in which it was seen last, in a search for duplicates */
};

struct slot {
    uint32_t tag;    /* of the hash */
    uint32_t number; /* + 1; 0: empty */
};

struct sizes { /* of a name's place */
    uint32_t file, line;
};

struct level {
    uint32_t name;        /* SP_NONE: the root */
    uint32_t plain;       /* its name's frame without a place, while the name is at hand */
    uint32_t last;        /* name of the child before */
    uint64_t last_head;   /* its first bytes, to compare */
    uint32_t first_stack; /* of the subtree */
    bool in_children, unsorted, any_child, late, recorded, flushed;
    size_t children; /* where its list begins */
    size_t extra;    /* where its members begin in `extra` */
    struct sp_cg_place place;
};

struct child {
    uint64_t at;
    uint32_t name;
};

struct cell {
    uint32_t context;
    struct sp_span number;
    int64_t v; /* SP_DECIMAL: see number */
};

struct counter {
    const char *p;
    uint32_t n, context;
};

struct graph {
    struct sp_cg_graph *g;
    struct sp_json *j;
    struct sp_profile *p;
    struct sp_diags *d;
    SP_VEC(struct name) names;
    SP_VEC(struct sizes) places; /* beside names */
    struct slot *slots;
    size_t mask;                 /* slots - 1 */
    SP_VEC(struct level) levels; /* 0: the root */
    SP_VEC(struct child) children;
    SP_VEC(struct cell) cells; /* of the innermost node, not yet stacks */
    SP_VEC(struct counter) counters;
    struct sp_map counter_map;
    uint32_t counter;      /* the last one */
    uint32_t *path;        /* frames, leaf first: path[room - depth ...] */
    size_t room, resolved; /* levels whose frame is in the path */
    size_t shared;         /* levels of the last record's path that still are open */
    uint32_t serial;
    uint64_t duplicates;
    size_t noted, frames_max;
    struct sp_buf extra, text;
    struct sp_arena texts;
};

/* graph_names.c: what is new. SP_NONE: out of memory. */
uint32_t sp_cg_new_name(struct graph *x, struct sp_span key, uint64_t hash);
uint32_t sp_cg_counter(struct graph *x, struct sp_span key); /* its number in `counters` */
/* The frame of a level: made anew only where the key has another place than the last time. */
uint32_t sp_cg_frame_of(struct graph *x, const struct level *l);
void sp_cg_graph_free(struct graph *x);

/* graph_stacks.c: the cells of the innermost node become stacks. */
spaa_status sp_cg_flush(struct graph *x);
/* Equal stacks, from children that stood twice, become one. */
spaa_status sp_cg_merge_equal(struct graph *x);

/* ---- tokens: as the cursor's, for plain strings without a call ---- */

/* Behind the closing quote of a string of plain characters that begins at p; NULL: it has others. */
static inline const char *plain_string(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
        /* Signed: control characters, and bytes of longer sequences. */
        unsigned m = (unsigned)_mm_movemask_epi8(_mm_or_si128(stop, _mm_cmplt_epi8(v, blank)));
        if (m) {
            p += __builtin_ctz(m);
            return *p == '"' ? p + 1 : NULL;
        }
    }
#endif
    for (; p < end; p++) {
        if (*p == '"')
            return p + 1;
        if (*p == '\\' || (signed char)*p < ' ')
            break;
    }
    return NULL;
}

static inline const char *blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* sp_json_key, which does what is unusual. */
static inline bool next_key(struct sp_json *j, struct sp_span *key)
{
    const char *p = blanks(j->p, j->end), *end = j->end;
    if (p < end && *p == '}') {
        j->p = p + 1;
        return j->first = false;
    }
    if (p < end && *p == ',' && !j->first)
        p = blanks(p + 1, end);
    else if (!j->first)
        return sp_json_key(j, key);
    if (p >= end || *p != '"')
        return sp_json_key(j, key);
    const char *behind = plain_string(p + 1, end);
    if (!behind)
        return sp_json_key(j, key);
    const char *colon = blanks(behind, end);
    if (colon >= end || *colon != ':')
        return sp_json_key(j, key);
    *key = (struct sp_span){p + 1, (size_t)(behind - p) - 2};
    j->p = blanks(colon + 1, end);
    j->first = false;
    return true;
}

/* ---- names ---- */

static inline bool lasting(const struct graph *x, struct sp_span s)
{
    return s.p >= x->j->start && s.p < x->j->end;
}

static inline uint64_t load(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* Names are short and many: a hash and a comparison without calls. */
static inline uint64_t hash_of(const char *p, size_t n)
{
    uint64_t h = n;
    size_t i = 0;
    for (; n - i > 16; i += 16)
        h = sp_hash_mix(h ^ load(p + i), load(p + i + 8));
    if (n >= 16)
        return sp_hash_mix(h ^ load(p + n - 16), load(p + n - 8));
    if (n >= 8)
        return sp_hash_mix(h ^ load(p), load(p + n - 8));
    uint64_t last = 0;
    for (i = 0; i < n; i++)
        last = last << 8 | (unsigned char)p[i];
    return sp_hash_mix(h, last);
}

static inline bool same_bytes(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    if (n < 8) {
        for (; i < n; i++)
            if (a[i] != b[i])
                return false;
        return true;
    }
    for (; i + 8 <= n; i += 8)
        if (load(a + i) != load(b + i))
            return false;
    return load(a + n - 8) == load(b + n - 8);
}

static inline bool is_name(const struct name *n, struct sp_span key)
{
    if (n->n != key.n)
        return false;
    return same_bytes(key.n <= sizeof n->head ? n->head : n->p, key.p, key.n);
}

/* The number of a key; SP_NONE: out of memory. */
static inline uint32_t name_of(struct graph *x, struct sp_span key)
{
    uint64_t hash = hash_of(key.p, key.n);
    if (x->slots)
        for (size_t at = hash & x->mask; x->slots[at].number; at = (at + 1) & x->mask)
            if (x->slots[at].tag == (uint32_t)(hash >> 32) &&
                is_name(&x->names.v[x->slots[at].number - 1], key))
                return x->slots[at].number - 1;
    return sp_cg_new_name(x, key, hash);
}

#endif
