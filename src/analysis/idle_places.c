#include "analysis/idle_places.h"

#include "analysis/normalise.h"
#include "model/thread_names.h"

bool sp_idle_places_init(struct sp_idle_places *x)
{
    *x = (struct sp_idle_places){.other_threads = false};
    sp_buf_init(&x->b, 0);
    return sp_strtab_init(&x->texts) && sp_strtab_init(&x->names[0]) && sp_strtab_init(&x->names[1]) &&
           sp_strtab_init(&x->waits);
}

void sp_idle_places_free(struct sp_idle_places *x)
{
    sp_strtab_free(&x->texts);
    sp_strtab_free(&x->names[0]);
    sp_strtab_free(&x->names[1]);
    sp_strtab_free(&x->waits);
    sp_vec_free(&x->list);
    sp_buf_free(&x->b);
}

static uint32_t idle_places_keep(struct sp_idle_places *x, struct sp_strtab *to)
{
    uint32_t id = x->b.failed ? SP_STR_FAIL : sp_intern(to, x->b.len ? x->b.data : "", x->b.len);
    sp_buf_clear(&x->b);
    return id;
}

/* "http-*" of http-1 and of http-23: the name of a pool, and of one thread of it where there is no other. */
static uint32_t idle_places_who(struct sp_idle_places *x, const struct sp_profile *p, uint32_t stack)
{
    struct sp_str name = sp_pstr(p, sp_context_name(p, &p->contexts.v[p->stacks.v[stack].context]));
    for (uint32_t i = 0; i < name.n; i++) {
        bool digit = name.p[i] >= '0' && name.p[i] <= '9';
        if (!digit || !i || name.p[i - 1] < '0' || name.p[i - 1] > '9')
            sp_buf_ch(&x->b, digit ? '*' : name.p[i]);
    }
    return idle_places_keep(x, &x->texts);
}

static uint32_t idle_places_where(struct sp_idle_places *x, const struct sp_profile *p,
                                  const struct sp_wait_why *why)
{
    uint32_t function = why->function != SP_NONE ? why->function : why->call;
    sp_buf_printf(&x->b, "%s in ", sp_wait_reason_names[why->reason]);
    if (function != SP_NONE)
        sp_normal_function(&x->b, sp_pstr(p, p->functions.v[function].name));
    return idle_places_keep(x, &x->texts);
}

/* A place of threads of this name; SP_STR_NONE: of all whose names only one side has. */
static void idle_places_text(struct sp_idle_places *x, uint32_t where, uint32_t who)
{
    uint32_t ids[] = {where, who};
    sp_buf_clear(&x->b);
    sp_buf_add(&x->b, ids, sizeof ids);
}

static uint32_t idle_places_name(const struct sp_idle_places *x, uint32_t who)
{
    struct sp_str name = sp_str_at(&x->texts, who);
    bool both = sp_strtab_find(&x->names[0], name.p, name.n) && sp_strtab_find(&x->names[1], name.p, name.n);
    return both && !x->other_threads ? who : SP_STR_NONE;
}

bool sp_idle_places_add(struct sp_idle_places *x, unsigned side, const struct sp_profile *p, uint32_t event,
                        const struct sp_wait_reasons *why)
{
    for (uint32_t i = 0; i < p->stacks.n && i < why->n; i++) {
        const struct sp_wait_why *w = &why->of[i];
        if (p->contexts.v[p->stacks.v[i].context].event != event)
            continue;
        struct sp_idle_place place = {.who = idle_places_who(x, p, i)};
        struct sp_str name = sp_str_at(&x->texts, place.who == SP_STR_FAIL ? SP_STR_NONE : place.who);
        if (place.who == SP_STR_FAIL || sp_intern(&x->names[side], name.p, name.n) == SP_STR_FAIL)
            return false;
        bool unsure =
            w->idle_unsure && !w->idle_unproven && w->reason == SP_WAIT_SLEEP; /* it may be what changed */
        if (w->reason == SP_WAIT_CPU || (w->idle && !unsure))
            continue;
        place.where = idle_places_where(x, p, w);
        if (place.where == SP_STR_FAIL || !sp_vec_push(&x->list, place))
            return false;
    }
    return true;
}

bool sp_idle_places_settle(struct sp_idle_places *x)
{
    for (size_t i = 0; i < x->list.n; i++) {
        idle_places_text(x, x->list.v[i].where, idle_places_name(x, x->list.v[i].who));
        if (idle_places_keep(x, &x->waits) == SP_STR_FAIL)
            return false;
    }
    return true;
}

static bool idle_places_waits(struct sp_idle_places *x, const struct sp_profile *p, uint32_t stack,
                              const struct sp_wait_why *why, bool *out)
{
    uint32_t who = idle_places_who(x, p, stack), where = idle_places_where(x, p, why);
    if (who == SP_STR_FAIL || where == SP_STR_FAIL)
        return false;
    idle_places_text(x, where, idle_places_name(x, who));
    *out = sp_strtab_find(&x->waits, x->b.data, x->b.len) != SP_STR_NONE;
    bool ok = !x->b.failed;
    sp_buf_clear(&x->b);
    return ok;
}

bool sp_idle_places_apply(struct sp_idle_places *x, const struct sp_profile *p, struct sp_wait_reasons *why)
{
    bool waits = false;
    for (uint32_t i = 0; x->list.n && i < why->n; i++) {
        if (!why->of[i].idle || !why->of[i].idle_judged)
            continue;
        if (!idle_places_waits(x, p, i, &why->of[i], &waits))
            return false;
        why->of[i].idle = !waits;
    }
    return true;
}
