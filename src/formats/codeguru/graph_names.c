/* Names, counters and frames of a call graph: each is made once. */
#include "formats/codeguru/graph.h"

#include <stdlib.h>

#define NAMES_MAX ((size_t)1 << 31)

static uint64_t long_hash(const char *p, size_t n)
{
    return sp_hash64(p, n);
}

static void short_copy(struct key *k, struct sp_span key)
{
    *k = (struct key){.n = (uint32_t)key.n};
    if (key.n)
        memcpy(k->w, key.p, key.n);
}

static uint64_t name_hash(struct sp_span key)
{
    struct key k;
    if (key.n >= HEAD)
        return long_hash(key.p, key.n);
    short_copy(&k, key);
    return key_hash(&k);
}

uint32_t sp_cg_name(struct graph *x, struct sp_span key)
{
    struct key k;
    if (key.n < HEAD) {
        short_copy(&k, key);
        return short_name(x, &k, key.p);
    }
    uint64_t hash = long_hash(key.p, key.n);
    if (x->names)
        for (size_t at = hash & x->mask; x->names[at].number; at = (at + 1) & x->mask) {
            const struct name *n = &x->names[at];
            if (n->n == key.n && same_bytes(n->head, key.p, HEAD) &&
                same_bytes(x->name_texts.v[n->number - 1].p, key.p, key.n))
                return (uint32_t)at;
        }
    return sp_cg_new_name(x, key, hash);
}

/* The line of a name that is not there yet. */
static struct name *free_line(struct graph *x, uint64_t hash)
{
    size_t at = hash & x->mask;
    while (x->names[at].number)
        at = (at + 1) & x->mask;
    return &x->names[at];
}

/* A table twice as large; it begins at a cache line. */
static bool more_names(struct graph *x)
{
    size_t lines = x->names ? 2 * (x->mask + 1) : 1024, line = sizeof *x->names;
    char *memory = lines < NAMES_MAX ? calloc(lines + 1, line) : NULL;
    if (!memory)
        return false;
    const struct name *old = x->names;
    void *old_memory = x->name_memory;
    x->names = (struct name *)(void *)(memory + (line - (uintptr_t)memory % line) % line);
    x->name_memory = memory;
    x->mask = lines - 1;
    for (size_t i = 0; i < x->name_texts.n; i++) {
        struct name_text *t = &x->name_texts.v[i];
        struct name *to = free_line(x, name_hash((struct sp_span){t->p, t->n}));
        *to = old[t->at];
        t->at = (uint32_t)(to - x->names);
    }
    free(old_memory);
    return true;
}

uint32_t sp_cg_new_name(struct graph *x, struct sp_span key, uint64_t hash)
{
    if ((!x->names || 2 * x->name_texts.n > x->mask) && !more_names(x))
        return SP_NONE;
    struct name *n = free_line(x, hash);
    struct name_text text = {.p = key.n < SP_NONE ? sp_arena_dup(&x->texts, key.p, key.n) : NULL,
                             .n = (uint32_t)key.n,
                             .at = (uint32_t)(n - x->names),
                             .frame = SP_NONE};
    if (!text.p || !sp_vec_push(&x->name_texts, text))
        return SP_NONE;
    n->number = (uint32_t)x->name_texts.n;
    n->n = text.n;
    n->plain = SP_NONE;
    if (key.n)
        memcpy(n->head, key.p, key.n < HEAD ? key.n : HEAD);
    return text.at;
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
uint32_t sp_cg_counter(struct graph *x, struct sp_span key)
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
    const struct name_text *t = &x->name_texts.v[name];
    return t->frame != SP_NONE && t->file == place->file.n && t->line == place->line.n &&
           same_bytes(t->place, place->file.p, t->file) &&
           same_bytes(t->place + t->file, place->line.p, t->line);
}

/* The frame of a level: made anew only where the key has another place than the last time. */
uint32_t sp_cg_frame_of(struct graph *x, const struct level *l)
{
    struct sp_cg_place place = l->place;
    if (l->plain != SP_NONE && !place.file.n && !place.line.n)
        return l->plain;
    struct name_text *t = &x->name_texts.v[l->name];
    struct sp_span key = name_text(x, l->name);
    if (!x->g->names.places || (!place.file.n && !place.line.n)) {
        struct name *n = &x->names[t->at];
        if (n->plain == SP_NONE)
            n->plain = sp_cg_frame(&x->g->names, key, &(struct sp_cg_place){{NULL, 0}, {NULL, 0}});
        return n->plain;
    }
    if (same_place(x, l->name, &place))
        return t->frame;
    char *text = sp_arena_alloc(&x->texts, place.file.n + place.line.n);
    if (!text || place.file.n + place.line.n >= SP_NONE)
        return SP_NONE;
    if (place.file.n)
        memcpy(text, place.file.p, place.file.n);
    if (place.line.n)
        memcpy(text + place.file.n, place.line.p, place.line.n);
    t->place = text;
    t->file = (uint32_t)place.file.n;
    t->line = (uint32_t)place.line.n;
    t->frame = SP_NONE;
    if (!keep_raw(x, &place.file) || !keep_raw(x, &place.line))
        return SP_NONE;
    return t->frame = sp_cg_frame(&x->g->names, key, &place);
}

void sp_cg_graph_free(struct graph *x)
{
    free(x->name_memory);
    sp_vec_free(&x->name_texts);
    sp_vec_free(&x->levels);
    sp_vec_free(&x->children);
    sp_vec_free(&x->cells);
    sp_vec_free(&x->counters);
    sp_map_free(&x->counter_map);
    free(x->path);
    sp_buf_free(&x->extra);
    sp_buf_free(&x->text);
    sp_arena_free(&x->texts);
}
