#include "model/profile.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/facts.h"
#include "model/kernel_names.h"
#include "model/originals.h"
#include "model/samples.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

spaa_status sp_profile_new(struct sp_diags *d, struct sp_profile **out)
{
    struct sp_profile *p = calloc(1, sizeof *p);
    if (!p)
        return sp_nomem(d);
    p->diags = d;
    if (!sp_strtab_init(&p->strs)) {
        sp_profile_free(p);
        return sp_nomem(d);
    }
    *out = p;
    return SPAA_OK;
}

const struct sp_dso_note *sp_profile_note_of(const struct sp_profile *p, uint32_t dso, enum sp_note_of of)
{
    size_t at = 2 * (size_t)dso + of;
    return at < p->notes.n && p->notes.v[at].addresses ? &p->notes.v[at] : NULL;
}

bool sp_profile_note(struct sp_profile *p, uint32_t dso, enum sp_note_of of, uint64_t addresses,
                     const char *why, const char *remedy)
{
    size_t at = 2 * (size_t)dso + of;
    struct sp_dso_note note = {addresses, sp_profile_cstr(p, why), sp_profile_cstr(p, remedy)};
    if (note.why == SP_STR_FAIL || note.hint == SP_STR_FAIL || !sp_vec_reserve(&p->notes, at + 1))
        return false;
    for (; p->notes.n <= at; p->notes.n++)
        p->notes.v[p->notes.n] = (struct sp_dso_note){0};
    if (addresses > p->notes.v[at].addresses)
        p->notes.v[at] = note;
    return true;
}

void sp_profile_free(struct sp_profile *p)
{
    if (!p)
        return;
    sp_strtab_free(&p->strs);
    sp_vec_free(&p->sources);
    sp_vec_free(&p->events);
    sp_vec_free(&p->metrics);
    sp_vec_free(&p->dsos);
    sp_vec_free(&p->functions);
    sp_vec_free(&p->frames);
    sp_vec_free(&p->threads);
    sp_vec_free(&p->contexts);
    sp_vec_free(&p->labels);
    sp_vec_free(&p->label_sets);
    sp_vec_free(&p->label_offers);
    sp_vec_free(&p->sample_labels);
    sp_vec_free(&p->layouts);
    sp_vec_free(&p->layout_fields);
    sp_vec_free(&p->stacks);
    sp_vec_free(&p->func_infos);
    sp_vec_free(&p->stack_frames);
    sp_vec_free(&p->ids);
    for (unsigned m = 0; m < SP_METRICS_MAX; m++)
        free(p->columns[m].v);
    sp_vec_free(&p->decimals);
    sp_vec_free(&p->exclusives);
    sp_vec_free(&p->rests.list);
    sp_vec_free(&p->values);
    sp_vec_free(&p->linked);
    sp_vec_free(&p->linked_stacks);
    sp_vec_free(&p->linked_ids);
    sp_vec_free(&p->edge_lists);
    sp_vec_free(&p->edges);
    sp_vec_free(&p->windows);
    sp_vec_free(&p->window_rows);
    sp_vec_free(&p->extensions);
    sp_vec_free(&p->source_pieces);
    sp_vec_free(&p->processes);
    sp_vec_free(&p->images);
    sp_vec_free(&p->process_images);
    sp_vec_free(&p->waits);
    sp_vec_free(&p->notes);
    sp_samples_free(p->samples);
    sp_samples_free(p->switches);
    sp_originals_free(p->originals);
    struct sp_map *maps[] = {&p->dso_map,          &p->function_map, &p->info_map,   &p->frame_map,
                             &p->thread_map,       &p->context_map,  &p->layout_map, &p->stack_map,
                             &p->decimal_map,      &p->edge_map,     &p->wait_map,   &p->label_map,
                             &p->sample_label_map, &p->event_map};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        sp_map_free(maps[i]);
    free(p);
}

uint32_t sp_profile_str(struct sp_profile *p, const void *s, size_t n)
{
    return sp_intern(&p->strs, s, n);
}

uint32_t sp_profile_cstr(struct sp_profile *p, const char *s)
{
    return sp_intern_cstr(&p->strs, s);
}

uint32_t sp_profile_text(struct sp_profile *p, const char *s, size_t n)
{
    struct sp_buf b;
    if (sp_utf8_prefix(s, n) == n)
        return sp_intern(&p->strs, s, n);
    sp_buf_init(&b, 0);
    uint32_t text = sp_utf8_clean(&b, s, n) ? sp_intern(&p->strs, b.data, b.len) : SP_STR_FAIL;
    sp_buf_free(&b);
    return text;
}

uint32_t sp_event_add(struct sp_profile *p, const struct sp_event *e)
{
    uint32_t number = (uint32_t)p->events.n;
    if (!sp_vec_push(&p->events, *e))
        return SP_NONE;
    p->events.v[number].copies = 0;
    if (sp_map_add(&p->event_map, sp_hash_mix(e->name, 0), number))
        return number;
    p->events.n--;
    return SP_NONE;
}

/* What the map has under the name before is compared, and found to be another. */
bool sp_event_rename(struct sp_profile *p, uint32_t event, uint32_t name)
{
    if (p->events.v[event].name == name)
        return true;
    p->events.v[event].name = name;
    return sp_map_add(&p->event_map, sp_hash_mix(name, 0), event);
}

bool sp_events_reorder(struct sp_profile *p, const uint32_t *order)
{
    size_t n = p->events.n;
    struct sp_event *sorted = malloc((n + 1) * sizeof *sorted);
    bool ok = sorted != NULL;
    for (size_t i = 0; ok && i < n; i++)
        sorted[i] = p->events.v[order[i]];
    if (ok && n)
        memcpy(p->events.v, sorted, n * sizeof *sorted);
    free(sorted);
    sp_map_clear(&p->event_map);
    for (uint32_t i = 0; ok && i < n; i++)
        ok = sp_map_add(&p->event_map, sp_hash_mix(p->events.v[i].name, 0), i);
    return ok;
}

uint32_t sp_event_of_name(const struct sp_profile *p, uint32_t name)
{
    struct sp_probe at = sp_map_probe(&p->event_map, sp_hash_mix(name, 0));
    uint32_t first = SP_NONE;
    for (uint32_t i; (i = sp_map_next(&p->event_map, &at)) != SP_MAP_NONE;)
        if (i < p->events.n && p->events.v[i].name == name && (first == SP_NONE || i < first))
            first = i;
    return first;
}

uint32_t sp_event_find(const struct sp_profile *p, const char *name, size_t n)
{
    uint32_t s = sp_strtab_find(&p->strs, name, n);
    return s == SP_STR_NONE ? SP_NONE : sp_event_of_name(p, s);
}

uint32_t sp_event_add_named(struct sp_profile *p, const struct sp_event *e)
{
    struct sp_event named = *e;
    struct sp_str name = sp_pstr(p, e->name);
    const uint32_t text = sp_profile_text(p, name.p, name.n);
    struct sp_buf b;
    if (text == SP_STR_FAIL)
        return SP_NONE;
    named.name = text;
    sp_buf_init(&b, 0);
    uint32_t first = sp_event_of_name(p, text);
    while (named.name != SP_STR_FAIL && named.name != SP_STR_NONE &&
           sp_event_of_name(p, named.name) != SP_NONE) {
        name = sp_pstr(p, text);
        sp_buf_clear(&b);
        sp_buf_add(&b, name.p, name.n);
        sp_buf_printf(&b, "#%u", ++p->events.v[first].copies + 1);
        named.name = b.failed ? SP_STR_FAIL : sp_intern(&p->strs, b.data, b.len);
    }
    sp_buf_free(&b);
    return named.name == SP_STR_FAIL ? SP_NONE : sp_event_add(p, &named);
}

uint32_t sp_metric_find(const struct sp_profile *p, const char *name, size_t n)
{
    uint32_t s = sp_strtab_find(&p->strs, name, n);
    for (uint32_t i = 0; s != SP_STR_NONE && i < p->metrics.n; i++)
        if (p->metrics.v[i].name == s)
            return i;
    return SP_NONE;
}

uint32_t sp_metric_intern(struct sp_profile *p, const char *name, size_t n)
{
    uint32_t i = sp_metric_find(p, name, n);
    if (i != SP_NONE)
        return i;
    struct sp_metric m = {sp_intern(&p->strs, name, n), sp_metric_info(name, n)};
    if (m.name == SP_STR_FAIL || p->metrics.n >= SP_METRICS_MAX || !sp_vec_push(&p->metrics, m))
        return SP_NONE;
    return (uint32_t)p->metrics.n - 1;
}

bool sp_metric_combine(struct sp_profile *p, uint32_t metric, enum sp_metric_op op)
{
    const struct sp_metric_info **info = &p->metrics.v[metric].info;
    if (!*(*info)->name)
        *info = sp_metric_info_own(op);
    return (*info)->op == op;
}

/*
 * Finds the equal element of a table of plain structs, or appends a copy. Structs hash and compare as
 * bytes, so they are built with their padding zeroed (see the callers).
 */
#define INTERN(map, table, key, hash)                                                                        \
    do {                                                                                                     \
        struct sp_probe at_ = sp_map_probe((map), (hash));                                                   \
        for (uint32_t i_; (i_ = sp_map_next((map), &at_)) != SP_MAP_NONE;)                                   \
            if (memcmp(&(table)->v[i_], (key), sizeof *(key)) == 0)                                          \
                return i_;                                                                                   \
        uint32_t n_ = (uint32_t)(table)->n;                                                                  \
        if ((table)->n >= SP_NONE - 1 || !sp_vec_reserve((table), (table)->n + 1) ||                         \
            !sp_map_add_at((map), &at_, n_))                                                                 \
            return SP_NONE;                                                                                  \
        (table)->v[(table)->n++] = *(key);                                                                   \
        return n_;                                                                                           \
    } while (0)

uint32_t sp_dso_intern(struct sp_profile *p, const struct sp_dso *d)
{
    struct sp_dso key = *d;
    memset(key.zero, 0, sizeof key.zero);
    key.is_kernel = key.is_kernel || sp_is_kernel_name(sp_pstr(p, key.name));
    INTERN(&p->dso_map, &p->dsos, &key, sp_hash_key(&key, sizeof key));
}

uint32_t sp_frame_intern(struct sp_profile *p, const struct sp_frame *f)
{
    struct sp_frame key = *f;
    key.zero = 0;
    if (key.kind == SP_USER && p->dsos.v[p->functions.v[key.function].dso].is_kernel)
        key.kind = SP_KERNEL;
    INTERN(&p->frame_map, &p->frames, &key, sp_hash_key(&key, sizeof key));
}

/* Most contexts are asked for once per thread: the hash is to be quick. */
static uint64_t profile_context_hash(const struct sp_context *c)
{
    uint64_t h = sp_hash_mix((uint64_t)c->pid ^ (uint64_t)c->cpu << 32, (uint64_t)c->tid);
    h = sp_hash_mix(h ^ c->event, (uint64_t)c->comm << 32 | c->state);
    return sp_hash_mix(h ^ ((uint64_t)c->wait << 32 | c->labels), (uint64_t)c->source << 32 | c->extra_json);
}

uint32_t sp_context_intern(struct sp_profile *p, const struct sp_context *c)
{
    struct sp_context key = *c;
    key.zero = 0;
    INTERN(&p->context_map, &p->contexts, &key, profile_context_hash(&key));
}

uint32_t sp_thread_intern(struct sp_profile *p, int64_t pid, int64_t tid, uint32_t comm)
{
    uint64_t hash = sp_hash_mix((uint64_t)tid, 1);
    struct sp_probe at = sp_map_probe(&p->thread_map, hash);
    for (uint32_t i; (i = sp_map_next(&p->thread_map, &at)) != SP_MAP_NONE;) {
        struct sp_thread *t = &p->threads.v[i];
        if (t->tid != tid)
            continue;
        if (t->comm == SP_STR_NONE)
            t->comm = comm;
        return i;
    }
    struct sp_thread t = {0};
    sp_facts_clear(sp_thread_facts, &t);
    t.pid = pid;
    t.tid = tid;
    t.comm = comm;
    uint32_t n = (uint32_t)p->threads.n;
    if (p->threads.n >= SP_NONE - 1 || !sp_vec_reserve(&p->threads, p->threads.n + 1) ||
        !sp_map_add_at(&p->thread_map, &at, n))
        return SP_NONE;
    p->threads.v[p->threads.n++] = t;
    return n;
}

uint32_t sp_thread_intern_tid(struct sp_profile *p, int64_t tid, uint32_t comm)
{
    size_t before = p->threads.n;
    uint32_t unknown = sp_profile_cstr(p, "\"x_pid_unknown\":true");
    uint32_t t = unknown == SP_STR_FAIL ? SP_NONE : sp_thread_intern(p, tid, tid, comm);
    if (t != SP_NONE && p->threads.n > before)
        p->threads.v[t].extra_json = unknown;
    return t;
}
