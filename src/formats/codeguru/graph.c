/*
 * Reads the call graph: nodes {"counts":{…},"file":…,"line":[…],"children":{"name":{…}}} nested as deep as
 * the calls were, in one pass and without recursion.
 *
 * Every counter of a node becomes a stack: the path of frames, leaf first, lies ready in an array that grows
 * towards its beginning, so that a stack is one copy. A node's frame is made when the first stack needs it:
 * its file and line may stand behind its counts, or even behind its children, whose stacks are put right
 * then.
 *
 * Equal stacks come only from children that stand twice in one node, which is looked for (names in ascending
 * order, as most files have them, need one comparison); such stacks are added up in the end.
 *
 * What stacks and frames do not hold goes to records
 *
 *     {"type":"x_codeguru_node","shared":2,"path":["c"],"node":{"foo":1,"counts":{"IDLE":0}}}
 *
 * `path` from the root, of which the first `shared` levels are those of the record before; `node` has the
 * members to add: unknown keys, counts of zero, empty objects, what has an unexpected type, and file and line
 * of nodes without any count below them.
 */
#include "formats/codeguru/codeguru.h"

#include "base/hash.h"
#include "base/num.h"

#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LEVELS_MAX  ((size_t)1 << 22)
#define FRAMES_FREE ((size_t)64 << 20) /* stack frames of any file; beyond, one per byte of input */
#define NOTE_EVERY  ((size_t)1 << 20)
#define EXPECT_MIN  ((size_t)1 << 20) /* bytes of text from which on it pays to reserve */

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

static spaa_status nomem(struct graph *x)
{
    return sp_nomem(x->d);
}

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

/* ---- names and counters ---- */

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

static bool more_slots(struct graph *x)
{
    size_t count = x->slots ? 2 * (x->mask + 1) : 1024;
    struct slot *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < x->names.n; i++) {
        uint64_t hash = hash_of(x->names.v[i].p, x->names.v[i].n);
        size_t at = hash & (count - 1);
        while (slots[at].number)
            at = (at + 1) & (count - 1);
        slots[at] = (struct slot){(uint32_t)(hash >> 32), (uint32_t)i + 1};
    }
    free(x->slots);
    x->slots = slots;
    x->mask = count - 1;
    return true;
}

static uint32_t new_name(struct graph *x, struct sp_span key, uint64_t hash)
{
    if ((!x->slots || 2 * x->names.n > x->mask) && !more_slots(x))
        return SP_NONE;
    struct name n = {.n = (uint32_t)key.n, .plain = SP_NONE, .frame = SP_NONE};
    n.p = key.n < SP_NONE ? sp_arena_dup(&x->texts, key.p, key.n) : NULL;
    if (!n.p || x->names.n >= SP_NONE - 2 || !sp_vec_push(&x->places, (struct sizes){0}))
        return SP_NONE;
    if (key.n)
        memcpy(n.head, key.p, key.n < sizeof n.head ? key.n : sizeof n.head);
    if (!sp_vec_push(&x->names, n))
        return SP_NONE;
    size_t at = hash & x->mask;
    while (x->slots[at].number)
        at = (at + 1) & x->mask;
    x->slots[at] = (struct slot){(uint32_t)(hash >> 32), (uint32_t)x->names.n};
    return (uint32_t)x->names.n - 1;
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
    return new_name(x, key, hash);
}

static uint32_t new_counter(struct graph *x, struct sp_span key, uint64_t hash)
{
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = x->g->event};
    struct counter k = {.p = sp_arena_dup(&x->texts, key.p, key.n), .n = (uint32_t)key.n};
    if (x->g->by_state)
        c.state = sp_profile_str(x->p, key.p, key.n);
    if (!k.p || key.n >= SP_NONE || c.state == SP_STR_FAIL)
        return SP_NONE;
    k.context = sp_context_intern(x->p, &c);
    if (k.context == SP_NONE || x->counters.n >= SP_NONE - 1 || !sp_vec_push(&x->counters, k) ||
        !sp_map_add(&x->counter_map, hash, (uint32_t)x->counters.n - 1))
        return SP_NONE;
    return x->counter = (uint32_t)x->counters.n - 1;
}

/* The number in `counters`. */
static inline uint32_t counter_of(struct graph *x, struct sp_span key)
{
    if (x->counters.n) {
        const struct counter *c = &x->counters.v[x->counter];
        if (c->n == key.n && same_bytes(c->p, key.p, key.n))
            return x->counter;
    }
    uint64_t hash = sp_hash64(key.p, key.n);
    struct sp_probe at = sp_map_probe(&x->counter_map, hash);
    for (uint32_t i; (i = sp_map_next(&x->counter_map, &at)) != SP_MAP_NONE;)
        if (x->counters.v[i].n == key.n && memcmp(x->counters.v[i].p, key.p, key.n) == 0)
            return x->counter = i;
    return new_counter(x, key, hash);
}

/* Raw JSON that outlives the text's spans; minified only where it has blanks. */
static bool keep_raw(struct graph *x, struct sp_span *raw)
{
    bool blank = false;
    for (size_t i = 0; i < raw->n && !blank; i++)
        blank = raw->p[i] == ' ' || raw->p[i] == '\n' || raw->p[i] == '\t' || raw->p[i] == '\r';
    if (!blank)
        return true;
    sp_buf_clear(&x->text);
    if (!sp_json_minify(&x->text, *raw))
        return false;
    raw->p = sp_arena_dup(&x->texts, x->text.data, x->text.len);
    raw->n = x->text.len;
    return raw->p != NULL;
}

static bool same_place(const struct graph *x, uint32_t name, const struct sp_cg_place *place)
{
    const struct name *n = &x->names.v[name];
    const struct sizes *size = &x->places.v[name];
    return n->frame != SP_NONE && size->file == place->file.n && size->line == place->line.n &&
           same_bytes(n->place, place->file.p, size->file) &&
           same_bytes(n->place + size->file, place->line.p, size->line);
}

/* The frame of a level: made anew only where the key has another place than the last time. */
static uint32_t frame_of(struct graph *x, const struct level *l)
{
    struct sp_cg_place place = l->place;
    if (l->plain != SP_NONE && !place.file.n && !place.line.n)
        return l->plain;
    struct name *n = &x->names.v[l->name];
    struct sp_span key = {n->p, n->n};
    if (!x->g->names.places || (!place.file.n && !place.line.n)) {
        if (n->plain == SP_NONE)
            n->plain = sp_cg_frame(&x->g->names, key, &(struct sp_cg_place){{NULL, 0}, {NULL, 0}});
        return n->plain;
    }
    if (same_place(x, l->name, &place))
        return n->frame;
    char *text = sp_arena_alloc(&x->texts, place.file.n + place.line.n);
    if (!text || place.file.n + place.line.n >= SP_NONE)
        return SP_NONE;
    if (place.file.n)
        memcpy(text, place.file.p, place.file.n);
    if (place.line.n)
        memcpy(text + place.file.n, place.line.p, place.line.n);
    n->place = text;
    x->places.v[l->name] = (struct sizes){(uint32_t)place.file.n, (uint32_t)place.line.n};
    if (!keep_raw(x, &place.file) || !keep_raw(x, &place.line))
        return n->frame = SP_NONE;
    return n->frame = sp_cg_frame(&x->g->names, key, &place);
}

/* ---- stacks ---- */

static bool more_room(struct graph *x, size_t depth)
{
    size_t room = x->room ? x->room * 2 : 256;
    while (room < depth)
        room *= 2;
    uint32_t *path = malloc(room * sizeof *path);
    if (!path)
        return false;
    if (x->room)
        memcpy(path + room - x->room, x->path, x->room * sizeof *path);
    free(x->path);
    x->path = path;
    x->room = room;
    return true;
}

/* Makes the frames of all open levels that have none yet. */
static bool resolve(struct graph *x)
{
    size_t depth = x->levels.n - 1;
    if (depth > x->room && !more_room(x, depth))
        return false;
    while (x->resolved < depth) {
        uint32_t f = frame_of(x, &x->levels.v[x->resolved + 1]);
        if (f == SP_NONE)
            return false;
        x->resolved++;
        x->path[x->room - x->resolved] = f;
    }
    return true;
}

static spaa_status too_large(struct graph *x)
{
    sp_emit_hint(x->d, SP_E007, SP_AT((uint64_t)(x->j->p - x->j->start)),
                 "a tree this deep with counts at every level is no profile",
                 "the call stacks add up to more than %zu million frames", x->frames_max >> 20);
    return SPAA_ERR_LIMIT;
}

/* The cells of the innermost node become stacks. */
static spaa_status flush(struct graph *x)
{
    struct sp_profile *p = x->p;
    size_t depth = x->levels.n - 1;
    struct level *l = &x->levels.v[depth];
    uint32_t from = l->flushed ? l->first_stack : (uint32_t)p->stacks.n;
    l->flushed = true;
    if (!resolve(x))
        return nomem(x);
    for (size_t i = 0; i < x->cells.n; i++) {
        const struct cell *c = &x->cells.v[i];
        if (p->stack_frames.n + depth > x->frames_max)
            return too_large(x);
        uint32_t s = SP_NONE;
        /* One context for all counters, or a counter that stands twice. */
        for (uint32_t k = from; k < p->stacks.n && s == SP_NONE; k++)
            if (p->stacks.v[k].n == depth && p->stacks.v[k].context == c->context)
                s = k;
        if (s == SP_NONE) {
            s = sp_stack_append(p, x->path + x->room - depth, depth, c->context, SP_UNIFIED);
            if (s == SP_NONE)
                return nomem(x);
            sp_stack_set_layout(p, s, x->g->layout);
        }
        if (!(c->v == SP_DECIMAL ? sp_weight_add_text(p, s, x->g->metric, c->number.p, c->number.n)
                                 : sp_weight_add(p, s, x->g->metric, c->v)))
            return nomem(x);
    }
    x->cells.n = 0;
    return SPAA_OK;
}

/* Equal stacks, from children that stood twice, become one. */
static spaa_status merge_equal(struct graph *x)
{
    struct sp_profile *p = x->p, old = *p;
    uint32_t m = x->g->metric;
    memset(&p->stacks, 0, sizeof p->stacks);
    memset(&p->stack_frames, 0, sizeof p->stack_frames);
    memset(&p->columns[m], 0, sizeof p->columns[m]);
    memset(&p->decimals, 0, sizeof p->decimals);
    memset(&p->decimal_map, 0, sizeof p->decimal_map);
    bool ok = true;
    for (uint32_t i = 0; ok && i < old.stacks.n; i++) {
        const struct sp_stack *o = &old.stacks.v[i];
        bool is_new;
        uint32_t s = sp_stack_intern(p, old.stack_frames.v + o->first, o->n, o->context, SP_UNIFIED, &is_new);
        ok = s != SP_NONE;
        if (ok && is_new)
            sp_stack_set_layout(p, s, x->g->layout);
        int64_t v = old.columns[m].v[i];
        if (ok && v != SP_DECIMAL)
            ok = sp_weight_add(p, s, m, v);
        if (ok && v == SP_DECIMAL) {
            old.strs = p->strs; /* it grows */
            struct sp_str t = sp_weight_text(&old, i, m);
            ok = sp_weight_add_text(p, s, m, t.p, t.n);
        }
    }
    sp_vec_free(&old.stacks);
    sp_vec_free(&old.stack_frames);
    free(old.columns[m].v);
    sp_vec_free(&old.decimals);
    sp_map_free(&old.decimal_map);
    return ok ? SPAA_OK : nomem(x);
}

/* ---- members of a node ---- */

static void kept(struct graph *x, struct sp_span key, struct sp_span raw, bool odd)
{
    if (x->extra.len > x->levels.v[x->levels.n - 1].extra)
        sp_buf_ch(&x->extra, ',');
    sp_json_string(&x->extra, key.p, key.n);
    sp_buf_ch(&x->extra, ':');
    sp_json_minify(&x->extra, raw);
    if (odd)
        sp_emit(x->d, SP_W476, SP_AT((uint64_t)(raw.p - x->j->start)), "`%.*s`",
                (int)(key.n < 40 ? key.n : 40), key.p);
}

/* Any value, kept as it stands. */
static bool keep_member(struct graph *x, struct sp_span key, bool odd)
{
    struct sp_span raw;
    if (!lasting(x, key)) { /* the value may have escapes, too */
        uint32_t k = name_of(x, key);
        if (k == SP_NONE)
            return sp_json_fail(x->j, "out of memory");
        key.p = x->names.v[k].p;
    }
    if (!sp_json_skip(x->j, &raw))
        return false;
    kept(x, key, raw, odd);
    return true;
}

/* Zeros are no observations, and what is no number cannot be counted: they are kept beside. */
static void keep_count(struct graph *x, struct sp_span key, struct sp_span raw, bool *open)
{
    if (!*open && x->extra.len > x->levels.v[x->levels.n - 1].extra)
        sp_buf_ch(&x->extra, ',');
    sp_buf_puts(&x->extra, *open ? "," : "\"counts\":{");
    sp_json_string(&x->extra, key.p, key.n);
    sp_buf_ch(&x->extra, ':');
    sp_json_minify(&x->extra, raw);
    *open = true;
}

static bool is_zero(struct sp_span s)
{
    for (size_t i = 0; i < s.n && (s.p[i] | 32) != 'e'; i++)
        if (s.p[i] >= '1' && s.p[i] <= '9')
            return false;
    return true;
}

/* The number at the cursor where it is a plain one of at most 18 digits. */
static inline bool plain_number(struct sp_json *j, struct sp_span *s, int64_t *v)
{
    const char *p = j->p, *end = j->end - p > 19 ? p + 19 : j->end;
    int64_t sum = 0;
    while (p < end && (unsigned char)(*p - '0') < 10)
        sum = sum * 10 + (*p++ - '0');
    size_t n = (size_t)(p - j->p);
    if (p == end || !n || n > 18 || (*p != ',' && *p != '}') || (*j->p == '0' && n > 1))
        return false;
    *s = (struct sp_span){j->p, n};
    *v = sum;
    j->p = p;
    return true;
}

static bool read_count(struct graph *x, struct sp_span key, bool *open)
{
    struct sp_json *j = x->j;
    struct cell c = {.v = SP_DECIMAL};
    struct sp_span raw;
    uint32_t k = SP_NONE;
    if (!lasting(x, key)) { /* the value may have escapes, too */
        if ((k = counter_of(x, key)) == SP_NONE)
            return sp_json_fail(j, "out of memory");
        key.p = x->counters.v[k].p;
    }
    bool plain = plain_number(j, &c.number, &c.v), number = plain || sp_json_type(j) == SP_JSON_NUMBER;
    if (!plain && number) {
        if (!sp_json_number(j, &c.number))
            return false;
        if (sp_parse_i64(c.number.p, c.number.p + c.number.n, &c.v) != c.number.n || c.v <= SP_DECIMAL ||
            (c.v == 0 && c.number.n > 1))
            c.v = SP_DECIMAL;
    }
    if (!number) {
        if (!sp_json_skip(j, &raw))
            return false;
        sp_emit(x->d, SP_W476, SP_AT((uint64_t)(raw.p - j->start)), "a count that is no number");
        keep_count(x, key, raw, open);
        return true;
    }
    if (c.v == 0 || (c.v == SP_DECIMAL && is_zero(c.number))) {
        keep_count(x, key, c.number, open);
        return true;
    }
    if (k == SP_NONE && (k = counter_of(x, key)) == SP_NONE)
        return sp_json_fail(j, "out of memory");
    c.context = x->counters.v[k].context;
    if (c.v > 0 && __builtin_add_overflow(x->g->counted, (uint64_t)c.v, &x->g->counted))
        x->g->counted = UINT64_MAX;
    if (c.v < 0)
        sp_emit(x->d, SP_W476, SP_AT((uint64_t)(c.number.p - j->start)), "a count of %.*s",
                (int)(c.number.n < 40 ? c.number.n : 40), c.number.p);
    return sp_vec_push(&x->cells, c) || sp_json_fail(j, "out of memory");
}

/* Behind the opening brace of `counts`. */
static bool count_members(struct graph *x)
{
    struct sp_json *j = x->j;
    struct sp_span key;
    bool open = false, any = false;
    while (next_key(j, &key)) {
        any = true;
        if (!read_count(x, key, &open))
            return false;
    }
    if (j->error)
        return false;
    if (open)
        sp_buf_ch(&x->extra, '}');
    if (!any)
        kept(x, (struct sp_span){"counts", 6}, (struct sp_span){"{}", 2}, false);
    return true;
}

static bool read_place(struct graph *x, struct sp_span *into)
{
    struct level *l = &x->levels.v[x->levels.n - 1];
    struct sp_json *j = x->j;
    const char *from = j->p, *behind;
    /* "file" as a plain string, the usual case */
    if (from < j->end && *from == '"' && (behind = plain_string(from + 1, j->end))) {
        *into = (struct sp_span){from, (size_t)(behind - from)};
        j->p = behind;
    } else if (!sp_json_skip(j, into)) {
        return false;
    }
    l->late = l->late || x->resolved >= x->levels.n - 1;
    return true;
}

static bool read_member(struct graph *x, struct sp_span key, spaa_status *st)
{
    struct level *l = &x->levels.v[x->levels.n - 1];
    if (sp_span_is(key, "counts") && sp_json_type(x->j) == SP_JSON_OBJECT)
        return sp_json_object(x->j) && count_members(x);
    if (sp_span_is(key, "children") && sp_json_type(x->j) == SP_JSON_OBJECT) {
        if (x->cells.n)
            *st = flush(x);
        l->in_children = true;
        return !*st && sp_json_object(x->j);
    }
    if (l->name != SP_NONE && sp_span_is(key, "file"))
        return read_place(x, &l->place.file);
    if (l->name != SP_NONE && sp_span_is(key, "line"))
        return read_place(x, &l->place.line);
    bool known = sp_span_is(key, "counts") || sp_span_is(key, "children");
    return keep_member(x, key, known);
}

/* ---- nodes ---- */

static spaa_status record(struct graph *x, const struct level *l)
{
    struct sp_buf *b = &x->text;
    sp_buf_clear(b);
    sp_buf_printf(b, "{\"type\":\"" SP_CG_NODE "\",\"shared\":%zu,\"path\":[", x->shared);
    for (size_t i = x->shared + 1; i < x->levels.n; i++) {
        const struct name *n = &x->names.v[x->levels.v[i].name];
        if (i > x->shared + 1)
            sp_buf_ch(b, ',');
        sp_json_string(b, n->p, n->n);
    }
    sp_buf_puts(b, "],\"node\":{");
    if (x->extra.len > l->extra)
        sp_buf_add(b, x->extra.data + l->extra, x->extra.len - l->extra);
    sp_buf_puts(b, "}}");
    struct sp_extension e = {b->failed || x->extra.failed ? SP_STR_FAIL
                                                          : sp_profile_str(x->p, b->data, b->len)};
    if (e.json == SP_STR_FAIL || !sp_vec_push(&x->p->extensions, e))
        return nomem(x);
    x->shared = x->levels.n - 1;
    return SPAA_OK;
}

/* Behind its children a node may still say where it is: their stacks have another frame then. */
static bool late_place(struct graph *x, const struct level *l)
{
    struct sp_profile *p = x->p;
    size_t depth = x->levels.n - 1;
    uint32_t f = frame_of(x, l);
    if (f == SP_NONE)
        return false;
    for (size_t s = l->first_stack; s < p->stacks.n; s++)
        p->stack_frames.v[p->stacks.v[s].first + p->stacks.v[s].n - depth] = f;
    return true;
}

/* Children that stand twice, where their names do not ascend. */
static void find_duplicates(struct graph *x, const struct level *l)
{
    uint32_t serial = ++x->serial;
    for (size_t i = l->children; i < x->children.n; i++) {
        const struct child *c = &x->children.v[i];
        struct name *n = &x->names.v[c->name];
        if (n->stamp == serial) {
            x->duplicates++;
            sp_emit(x->d, SP_W475, SP_AT(c->at), "`%.*s`", (int)(n->n < 100 ? n->n : 100), n->p);
        }
        n->stamp = serial;
    }
}

static spaa_status close_node(struct graph *x)
{
    struct level *l = &x->levels.v[x->levels.n - 1];
    spaa_status st = x->cells.n ? flush(x) : SPAA_OK;
    if (st)
        return st;
    bool live = x->p->stacks.n > l->first_stack, root = l->name == SP_NONE;
    if (l->late && live && !late_place(x, l))
        return nomem(x);
    if (l->unsorted)
        find_duplicates(x, l);
    if (!live && l->place.file.n)
        kept(x, (struct sp_span){"file", 4}, l->place.file, false);
    if (!live && l->place.line.n)
        kept(x, (struct sp_span){"line", 4}, l->place.line, false);
    bool recorded = l->recorded;
    if (x->extra.len > l->extra || (!live && !recorded && !root)) {
        if ((st = record(x, l)))
            return st;
        recorded = true;
    }
    x->extra.len = l->extra;
    x->children.n = l->children;
    x->levels.n--;
    if (root)
        return SPAA_OK;
    x->levels.v[x->levels.n - 1].recorded |= recorded;
    size_t depth = x->levels.n - 1;
    if (x->resolved > depth)
        x->resolved = depth;
    if (x->shared > depth)
        x->shared = depth;
    return SPAA_OK;
}

static spaa_status push_level(struct graph *x, uint32_t name)
{
    struct level l = {.name = name,
                      .plain = name == SP_NONE ? SP_NONE : x->names.v[name].plain,
                      .last = SP_NONE,
                      .first_stack = (uint32_t)x->p->stacks.n,
                      .children = x->children.n,
                      .extra = x->extra.len};
    if (x->levels.n >= LEVELS_MAX) {
        sp_emit(x->d, SP_E007, SP_AT((uint64_t)(x->j->p - x->j->start)), "more than %zu levels", LEVELS_MAX);
        return SPAA_ERR_LIMIT;
    }
    return sp_vec_push(&x->levels, l) ? SPAA_OK : nomem(x);
}

/* Whether the child comes behind the one before, by the bytes of their names. */
static inline bool ascends(const struct graph *x, const struct level *l, uint32_t name, uint64_t head)
{
    const struct name *a = &x->names.v[l->last], *b = &x->names.v[name];
    if (head != l->last_head)
        return head > l->last_head; /* zeros behind a shorter one: what is equal so far goes on below */
    int c = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);
    return c ? c < 0 : a->n < b->n;
}

static spaa_status open_child(struct graph *x, struct sp_span key)
{
    struct sp_json *j = x->j;
    uint32_t name = name_of(x, key);
    if (name == SP_NONE)
        return nomem(x);
    struct level *l = &x->levels.v[x->levels.n - 1];
    struct child c = {(uint64_t)(j->p - j->start), name};
    if (j->p >= j->end || *j->p != '{') {
        if (sp_json_type(j) != SP_JSON_OBJECT) {
            struct sp_span raw;
            if (sp_json_skip(j, &raw))
                sp_emit(x->d, SP_L300, SP_AT(c.at), "the child `%.*s` is no object",
                        (int)(key.n < 100 ? key.n : 100), x->names.v[name].p);
            return SPAA_OK;
        }
        j->p = blanks(j->p, j->end);
    }
    uint64_t head = __builtin_bswap64(load(x->names.v[name].head));
    if (l->last != SP_NONE && !ascends(x, l, name, head))
        l->unsorted = true;
    l->last = name;
    l->last_head = head;
    l->any_child = true;
    if (!sp_vec_push(&x->children, c))
        return nomem(x);
    j->p++;
    j->first = true;
    if (c.at - x->noted > NOTE_EVERY) {
        x->noted = c.at;
        sp_input_note(x->g->in, c.at);
    }
    return push_level(x, name);
}

/* Whether the next member begins with this text; then the cursor stands behind it. */
static inline bool take_literal(struct sp_json *j, const char *text, size_t n)
{
    const char *p = j->p + (!j->first && j->p < j->end && *j->p == ',');
    if ((!j->first && p == j->p) || (size_t)(j->end - p) < n || memcmp(p, text, n) != 0)
        return false;
    j->p = p + n;
    j->first = true;
    return true;
}

/* The members that most nodes have, as most files write them: no need to look at them byte by byte. */
static inline bool usual_member(struct graph *x, struct level *l, spaa_status *st)
{
    struct sp_json *j = x->j;
    if (take_literal(j, "\"children\":{", 12)) {
        if (x->cells.n)
            *st = flush(x);
        l->in_children = true;
        return true;
    }
    if (!take_literal(j, "\"counts\":{", 10))
        return false;
    if (!count_members(x) && !*st)
        *st = SPAA_ERR_INPUT;
    return true;
}

static spaa_status walk(struct graph *x)
{
    struct sp_json *j = x->j;
    spaa_status st = push_level(x, SP_NONE);
    if (!st && !sp_json_object(j))
        return SPAA_ERR_INPUT;
    while (!st && x->levels.n) {
        struct level *l = &x->levels.v[x->levels.n - 1];
        struct sp_span key;
        if (!l->in_children && usual_member(x, l, &st)) {
            ;
        } else if (next_key(j, &key)) {
            if (l->in_children)
                st = open_child(x, key);
            else if (!read_member(x, key, &st) && !st)
                st = j->error ? SPAA_ERR_INPUT : st;
        } else if (j->error) {
            st = SPAA_ERR_INPUT;
        } else if (l->in_children) {
            l->in_children = false;
            if (!l->any_child)
                kept(x, (struct sp_span){"children", 8}, (struct sp_span){"{}", 2}, false);
        } else {
            st = close_node(x);
        }
        if (!st && (x->extra.failed || x->text.failed))
            st = nomem(x);
        if (!st && j->error)
            st = SPAA_ERR_INPUT;
    }
    return st;
}

/* Room ahead of time, as far as it is to be had: tables that stay in place keep their large pages. */
static void expect(struct graph *x, size_t bytes)
{
    if (bytes < EXPECT_MIN)
        return;
    (void)!sp_vec_reserve(&x->p->stack_frames, bytes / 4);
    (void)!sp_vec_reserve(&x->p->stacks, bytes / 96);
}

spaa_status sp_cg_read_graph(struct sp_cg_graph *g, struct sp_json *j)
{
    struct graph x = {.g = g, .j = j, .p = g->p, .d = g->d, .noted = (size_t)(j->p - j->start)};
    x.frames_max = FRAMES_FREE + (size_t)(j->end - j->start);
    sp_buf_init(&x.extra, 0);
    sp_buf_init(&x.text, 0);
    sp_arena_init(&x.texts, 0);
    expect(&x, (size_t)(j->end - j->p));
    spaa_status st = walk(&x);
    if (st == SPAA_ERR_INPUT && j->scratch.failed) {
        st = nomem(&x);
    }
    if ((!st || st == SPAA_ERR_INPUT) && x.duplicates) {
        spaa_status merged = merge_equal(&x);
        st = merged ? merged : st;
    }
    sp_vec_free(&x.names);
    sp_vec_free(&x.places);
    free(x.slots);
    sp_vec_free(&x.levels);
    sp_vec_free(&x.children);
    sp_vec_free(&x.cells);
    sp_vec_free(&x.counters);
    sp_map_free(&x.counter_map);
    free(x.path);
    sp_buf_free(&x.extra);
    sp_buf_free(&x.text);
    sp_arena_free(&x.texts);
    return st;
}
