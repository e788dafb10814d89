/* Names, counters and frames of a call graph: each is made once. */
#include "formats/codeguru/graph.h"

#include <stdlib.h>

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

uint32_t sp_cg_new_name(struct graph *x, struct sp_span key, uint64_t hash)
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
    const struct name *n = &x->names.v[name];
    const struct sizes *size = &x->places.v[name];
    return n->frame != SP_NONE && size->file == place->file.n && size->line == place->line.n &&
           same_bytes(n->place, place->file.p, size->file) &&
           same_bytes(n->place + size->file, place->line.p, size->line);
}

/* The frame of a level: made anew only where the key has another place than the last time. */
uint32_t sp_cg_frame_of(struct graph *x, const struct level *l)
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

void sp_cg_graph_free(struct graph *x)
{
    sp_vec_free(&x->names);
    sp_vec_free(&x->places);
    free(x->slots);
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
