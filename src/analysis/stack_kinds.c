#include "analysis/stack_kinds.h"

#include "analysis/event_fields.h"
#include "analysis/top_keys.h"
#include "analysis/wall_reasons.h"
#include "base/hash.h"
#include "model/labels.h"
#include "model/off_cpu.h"
#include "model/wall.h"

#include <string.h>

static bool kinds_add(struct sp_stack_kinds *x, struct sp_map *map, struct sp_str text, uint32_t function)
{
    uint32_t words = sp_intern(&x->texts, text.n ? text.p : "", text.n);
    if (words == SP_STR_FAIL)
        return false;
    uint64_t hash = sp_hash_mix(words, function);
    struct sp_probe at = sp_map_probe(map, hash);
    for (uint32_t i; (i = sp_map_next(map, &at)) != SP_MAP_NONE;)
        if (x->list.v[i].text == words && x->list.v[i].function == function)
            return sp_vec_push(&x->of, i);
    uint32_t number = (uint32_t)x->list.n;
    return sp_vec_push(&x->list, ((struct sp_stack_kind){.text = words, .function = function})) &&
           sp_map_add(map, hash, number) && sp_vec_push(&x->of, number);
}

static struct sp_str text_of(const char *p)
{
    return (struct sp_str){p, (uint32_t)strlen(p)};
}

/* What ran is its leaf. */
static bool kinds_add_running(struct sp_stack_kinds *x, struct sp_map *map, struct sp_selection *s,
                              size_t row)
{
    size_t n;
    const uint32_t *f = sp_selected_frames(s, row, &n);
    return f && kinds_add(x, map, text_of(""), n ? s->profile->frames.v[f[0]].function : SP_NONE);
}

static bool kinds_add_wait(struct sp_stack_kinds *x, struct sp_map *map, const struct sp_wait_why *why)
{
    const char *words = why->reason == SP_WAIT_CPU     ? "for a CPU"
                        : why->unseen                  ? SP_KIND_UNSEEN
                        : why->reason == SP_WAIT_OTHER ? "waiting"
                                                       : sp_wait_reason_names[why->reason];
    if (!kinds_add(x, map, text_of(words), why->reason == SP_WAIT_CPU ? SP_NONE : why->function))
        return false;
    /* "futex" and what is unseen or "waiting" say themselves that no more is known */
    bool reason = why->reason != SP_WAIT_FUTEX && why->reason != SP_WAIT_OTHER && !why->unseen;
    x->list.v[x->of.v[x->of.n - 1]].unsure |= reason && why->unsure;
    return true;
}

spaa_status sp_stack_kinds_of_waits(struct sp_selection *s, struct sp_profile *p, const char *own,
                                    struct sp_diags *d, struct sp_stack_kinds *out)
{
    struct sp_wait_reasons why;
    struct sp_map map = {0};
    bool wall = s->event == sp_wall_event(p), ok = true;
    *out = (struct sp_stack_kinds){0};
    if (!sp_strtab_init(&out->texts))
        return sp_nomem(d);
    spaa_status st = sp_wall_reasons_of(s, p, own, &why, d);
    if (st) {
        sp_stack_kinds_free(out);
        return st;
    }
    for (size_t i = 0; ok && i < s->rows.n; i++) {
        uint32_t stack = s->rows.v[i].stack;
        struct sp_str state = sp_pstr(p, p->contexts.v[p->stacks.v[stack].context].state);
        bool waited = !wall || !(sp_str_is(state, SP_WALL_RUNNING) || sp_str_is(state, "UNKNOWN"));
        ok = (waited ? kinds_add_wait(out, &map, &why.of[stack]) : kinds_add_running(out, &map, s, i)) &&
             sp_vec_push(&out->at_least, waited && why.of[stack].at_least);
    }
    sp_map_free(&map);
    sp_wait_reasons_free(&why);
    if (!ok)
        sp_stack_kinds_free(out);
    return ok ? SPAA_OK : sp_nomem(d);
}

static bool kinds_add_fields(struct sp_stack_kinds *x, struct sp_map *map, struct sp_top_keys *keys,
                             struct sp_buf *b, uint32_t context)
{
    sp_buf_clear(b);
    for (size_t k = 0; k < keys->n; k++) {
        uint32_t group = sp_top_group_of_context(keys, k, context);
        if (group == SP_NONE)
            return false;
        struct sp_str name = sp_str_at(keys->names, keys->v[k].groups.v[group].name);
        sp_buf_puts(b, k ? " " : "");
        sp_buf_add(b, name.p, name.n);
    }
    return !b->failed && kinds_add(x, map, (struct sp_str){b->len ? b->data : "", (uint32_t)b->len}, SP_NONE);
}

spaa_status sp_stack_kinds_of_fields(struct sp_selection *s, const struct sp_by_list *by, struct sp_diags *d,
                                     struct sp_stack_kinds *out)
{
    struct sp_strtab names = {0};
    struct sp_top_keys keys;
    struct sp_map map = {0};
    struct sp_buf b;
    bool ok = true;
    *out = (struct sp_stack_kinds){0};
    sp_buf_init(&b, 0);
    if (!sp_strtab_init(&names) || !sp_strtab_init(&out->texts)) {
        sp_strtab_free(&names);
        return sp_nomem(d);
    }
    spaa_status st = sp_top_keys_init(&keys, s, by, &names, d);
    for (size_t i = 0; !st && ok && i < s->rows.n; i++)
        ok = kinds_add_fields(out, &map, &keys, &b, s->profile->stacks.v[s->rows.v[i].stack].context);
    sp_top_keys_free(&keys);
    sp_strtab_free(&names);
    sp_map_free(&map);
    sp_buf_free(&b);
    if (!st && !ok)
        st = sp_nomem(d);
    if (st)
        sp_stack_kinds_free(out);
    return st;
}

/* Fields of the event, where its stacks are told apart by all of them. */
static bool has_fields(const struct sp_selection *s, struct sp_by_list *by)
{
    const char *counted;
    bool known = sp_event_fields(sp_pstr(s->profile, s->profile->events.v[s->event].name), by, &counted);
    for (size_t k = 0; known && k < by->n; k++)
        known = by->v[k].kind != SP_TOP_LABEL || sp_labels_have(s->profile, by->v[k].label);
    return known;
}

spaa_status sp_stack_kinds_of(struct sp_selection *s, struct sp_profile *p, const char *own,
                              struct sp_diags *d, struct sp_stack_kinds *out)
{
    struct sp_by_list by;
    *out = (struct sp_stack_kinds){0};
    if (sp_measures_off_cpu(p, s->event) || s->event == sp_wall_event(p))
        return sp_stack_kinds_of_waits(s, p, own, d, out);
    return has_fields(s, &by) ? sp_stack_kinds_of_fields(s, &by, d, out) : SPAA_OK;
}

void sp_stack_kinds_free(struct sp_stack_kinds *x)
{
    sp_vec_free(&x->list);
    sp_vec_free(&x->of);
    sp_vec_free(&x->at_least);
    sp_strtab_free(&x->texts);
}
