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

#define HEAD 48u /* bytes of a key that stand with the rest of it */

/*
 * A key seen before, on one cache line of the table that finds it: what is looked at in far-away memory
 * decides how fast a large file is read.
 */
struct name {
    uint32_t number; /* + 1, in name_texts; 0: nothing stands here */
    uint32_t n;
    uint32_t plain;  /* its frame without a place; SP_NONE: not made yet */
    uint32_t unused; /* to the next 8 bytes */
    char head[HEAD]; /* the text's first bytes, and zeros */
};

/* What is looked at less often. */
struct name_text {
    const char *p; /* all of it, in `texts` */
    uint32_t n;
    uint32_t at;       /* in names */
    const char *place; /* bytes of file and line, one behind the other */
    uint32_t file, line;
    uint32_t frame; /* with that place; SP_NONE: none yet */
    uint32_t stamp; /* serial of the level in which it was seen last, in a search for duplicates */
};

/* A key of less than HEAD bytes, and zeros. */
struct key {
    uint64_t w[HEAD / 8];
    uint32_t n;
};

struct level {
    uint32_t name;        /* in name_texts; SP_NONE: the root */
    uint32_t plain;       /* its name's frame without a place, while the name is at hand */
    uint32_t last;        /* name of the child before */
    uint64_t last_head;   /* its first bytes, to compare */
    uint32_t first_stack; /* of the subtree */
    bool in_children, unsorted, late, recorded, flushed;
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
    struct name *names; /* an open table, in name_memory by cache lines */
    void *name_memory;
    size_t mask; /* its lines - 1 */
    SP_VEC(struct name_text) name_texts;
    SP_VEC(struct level) levels; /* 0: the root */
    size_t level_room;           /* levels for which nothing must grow */
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

/* graph_names.c: where a new key, and any key, stands in names. SP_NONE: out of memory. */
uint32_t sp_cg_new_name(struct graph *x, struct sp_span key, uint64_t hash);
uint32_t sp_cg_name(struct graph *x, struct sp_span key);
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

static inline struct sp_span name_text(const struct graph *x, uint32_t name)
{
    const struct name_text *t = &x->name_texts.v[name];
    return (struct sp_span){t->p, t->n};
}

/* No byte of a short key is looked at by itself, and no branch depends on how long it is. */
static inline uint64_t key_hash(const struct key *k)
{
    return sp_hash_mix(k->w[0] ^ k->n, k->w[1]) + 3 * sp_hash_mix(k->w[2], k->w[3]) +
           5 * sp_hash_mix(k->w[4], k->w[5]);
}

static inline bool is_key(const struct name *n, const struct key *k)
{
#ifdef __SSE2__
    __m128i differ = _mm_cvtsi32_si128((int)(n->n ^ k->n));
#pragma GCC unroll 3
    for (size_t i = 0; i < HEAD; i += 16) {
        __m128i a = _mm_load_si128((const __m128i *)(const void *)(n->head + i));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)((const char *)k->w + i));
        differ = _mm_or_si128(differ, _mm_xor_si128(a, b));
    }
    return _mm_movemask_epi8(_mm_cmpeq_epi8(differ, _mm_setzero_si128())) == 0xffff;
#else
    return n->n == k->n && memcmp(n->head, k->w, HEAD) == 0;
#endif
}

/* The plain string at p, behind its quote, where HEAD bytes can be read; false: longer, or others. */
static inline bool short_key(const char *p, struct key *k)
{
#ifdef __SSE2__
    static const signed char keep[2 * HEAD] = {
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');
    __m128i v[HEAD / 16];
    uint64_t stops = 0;
#pragma GCC unroll 3
    for (unsigned i = 0; i < HEAD / 16; i++) {
        v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * (size_t)i));
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(v[i], quote), _mm_cmpeq_epi8(v[i], slash));
        /* Signed: control characters, and bytes of longer sequences. */
        stop = _mm_or_si128(stop, _mm_cmplt_epi8(v[i], blank));
        stops |= (uint64_t)(unsigned)_mm_movemask_epi8(stop) << 16 * i;
    }
    if (!stops)
        return false;
    k->n = (uint32_t)__builtin_ctzll(stops);
#pragma GCC unroll 3
    for (unsigned i = 0; i < HEAD / 16; i++) {
        __m128i mask = _mm_loadu_si128((const __m128i *)(const void *)(keep + HEAD - k->n + 16 * (size_t)i));
        _mm_storeu_si128((__m128i *)(void *)&k->w[2 * (size_t)i], _mm_and_si128(v[i], mask));
    }
    return p[k->n] == '"';
#else
    (void)p, (void)k;
    return false;
#endif
}

/* Where a short key at text stands in names; SP_NONE: out of memory. */
static inline uint32_t short_name(struct graph *x, const struct key *k, const char *text)
{
    uint64_t hash = key_hash(k);
    if (x->names)
        for (size_t at = hash & x->mask; x->names[at].number; at = (at + 1) & x->mask)
            if (is_key(&x->names[at], k))
                return (uint32_t)at;
    return sp_cg_new_name(x, (struct sp_span){text, k->n}, hash);
}

#endif
