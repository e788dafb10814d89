/* Names, counters and frames of a call graph: each is made once. */
#include "formats/codeguru/graph.h"

#include <stdlib.h>

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

uint64_t sp_cg_name_hash(struct sp_span key)
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
    if (x->slots)
        for (size_t at = hash & x->mask; x->slots[at].number; at = (at + 1) & x->mask) {
            uint32_t i = x->slots[at].number - 1;
            if (x->slots[at].tag == (uint32_t)(hash >> 32) && x->names[i].n == key.n &&
                same_bytes(x->name_texts.v[i].p, key.p, key.n))
                return i;
        }
    return sp_cg_new_name(x, key, hash);
}

static bool more_slots(struct graph *x)
{
    size_t count = x->slots ? 2 * (x->mask + 1) : 1024;
    struct slot *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < x->nnames; i++) {
        uint64_t hash = sp_cg_name_hash(name_text(x, (uint32_t)i));
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

/* Names stand at the beginnings of cache lines. */
static bool more_names(struct graph *x)
{
    size_t room = x->name_room ? 2 * x->name_room : 256, line = sizeof *x->names;
    char *memory = room < SIZE_MAX / 2 / line ? malloc((room + 1) * line) : NULL;
    if (!memory)
        return false;
    struct name *names = (struct name *)(void *)(memory + (line - (uintptr_t)memory % line) % line);
    if (x->nnames)
        memcpy(names, x->names, x->nnames * line);
    free(x->name_memory);
    x->name_memory = memory;
    x->names = names;
    x->name_room = room;
    return true;
}

uint32_t sp_cg_new_name(struct graph *x, struct sp_span key, uint64_t hash)
{
    if ((!x->slots || 2 * x->nnames > x->mask) && !more_slots(x))
        return SP_NONE;
    struct name n = {.n = (uint32_t)key.n, .plain = SP_NONE, .frame = SP_NONE};
    struct name_text text = {.p = key.n < SP_NONE ? sp_arena_dup(&x->texts, key.p, key.n) : NULL};
    if (!text.p || x->nnames >= SP_NONE - 2 || (x->nnames == x->name_room && !more_names(x)) ||
        !sp_vec_push(&x->name_texts, text))
        return SP_NONE;
    if (key.n)
        memcpy(n.head, key.p, key.n < sizeof n.head ? key.n : sizeof n.head);
    x->names[x->nnames++] = n;
    size_t at = hash & x->mask;
    while (x->slots[at].number)
        at = (at + 1) & x->mask;
    x->slots[at] = (struct slot){(uint32_t)(hash >> 32), (uint32_t)x->nnames};
    return (uint32_t)x->nnames - 1;
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
    return x->names[name].frame != SP_NONE && t->file == place->file.n && t->line == place->line.n &&
           same_bytes(t->place, place->file.p, t->file) &&
           same_bytes(t->place + t->file, place->line.p, t->line);
}

/* The frame of a level: made anew only where the key has another place than the last time. */
uint32_t sp_cg_frame_of(struct graph *x, const struct level *l)
{
    struct sp_cg_place place = l->place;
    if (l->plain != SP_NONE && !place.file.n && !place.line.n)
        return l->plain;
    struct name *n = &x->names[l->name];
    struct name_text *t = &x->name_texts.v[l->name];
    struct sp_span key = name_text(x, l->name);
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
    *t = (struct name_text){t->p, text, (uint32_t)place.file.n, (uint32_t)place.line.n};
    if (!keep_raw(x, &place.file) || !keep_raw(x, &place.line))
        return n->frame = SP_NONE;
    return n->frame = sp_cg_frame(&x->g->names, key, &place);
}

void sp_cg_graph_free(struct graph *x)
{
    free(x->name_memory);
    sp_vec_free(&x->name_texts);
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
