/*
 * What of time off the CPU is a wait for work, decided once for all runs (analysis/idle_places.h): then all
 * of them have to be read before the first is taken in, and as an input may be a pipe, they are kept.
 */
#include "ask/diff.h"

#include "base/watch.h"

spaa_status sp_diff_open(struct diff_answer *a, size_t i, const struct sp_options *v, struct sp_profile **out)
{
    struct sp_ask *q = a->q;
    bool held = i < a->held.n;
    *out = held ? a->held.v[i] : q->open ? NULL : q->profiles[i];
    return held || !q->open ? SPAA_OK : q->open(q->open_arg, i, v, out);
}

void sp_diff_close(struct diff_answer *a, size_t i, struct sp_profile *p)
{
    if (a->q->open)
        sp_profile_free(p);
    if (i < a->held.n)
        a->held.v[i] = NULL;
}

/* *concerns: it measures time off the CPU, without what is idle. Whatever is wrong with it is said later. */
static spaa_status diff_idle_look(struct diff_answer *a, unsigned side, struct sp_profile *p,
                                  const struct sp_options *v, bool *concerns)
{
    struct sp_ask one = *a->q;
    struct sp_select_opts how;
    struct sp_selection s;
    struct sp_wait_reasons why;
    struct sp_diags quiet;
    sp_diags_init(&quiet);
    quiet.watch = a->q->diags->watch;
    one.options = v;
    one.profiles = &p;
    one.diags = &quiet;
    *concerns = false;
    bool known = sp_ask_select_opts(&one, &how) && sp_ask_leaves_idle_out(&one, &how);
    how.may_be_empty = true;
    spaa_status st = known ? sp_select(p, &how, &quiet, &s) : SPAA_ERR_USAGE;
    if (!st) {
        *concerns = sp_is_off_cpu(&s);
        st = *concerns ? sp_wait_reasons_of(&s, p, v->own_re, &why, &quiet) : SPAA_ERR_USAGE;
        if (!st) {
            st = sp_idle_places_add(&a->idle, side, p, s.event, &why) ? SPAA_OK : SPAA_ERR_NOMEM;
            sp_wait_reasons_free(&why);
        }
        sp_selection_free(&s);
    }
    sp_diags_free(&quiet);
    if (st == SPAA_ERR_NOMEM)
        return sp_nomem(a->q->diags);
    return st == SPAA_ERR_CANCELLED ? st : SPAA_OK;
}

/* The sides are threads of the same program by their filters. */
static bool diff_idle_of_threads(const struct diff_answer *a)
{
    static const char *const filters[] = {"comm", "thread", "pid", NULL};
    for (size_t i = 0; filters[i]; i++)
        if (sp_where_has(&a->where[SP_BASE], filters[i]) || sp_where_has(&a->where[SP_NEW], filters[i]))
            return true;
    return false;
}

spaa_status sp_diff_idle_decide(struct diff_answer *a)
{
    struct sp_ask *q = a->q;
    spaa_status st = sp_idle_places_init(&a->idle) ? SPAA_OK : sp_nomem(q->diags);
    bool concerns = true, first = true;
    a->idle.other_threads = diff_idle_of_threads(a);
    for (size_t i = 0; !st && first && i < q->nnames; i++) {
        unsigned side = i < q->split ? SP_BASE : SP_NEW;
        struct sp_options v = sp_where_values(&a->where[side], q->options);
        struct sp_profile *p = NULL;
        st = sp_diff_open(a, i, &v, &p);
        if (!st && !sp_vec_push(&a->held, p)) {
            if (q->open)
                sp_profile_free(p);
            st = sp_nomem(q->diags);
        }
        sp_diags_source(q->diags, q->names[i], NULL);
        if (!st)
            st = diff_idle_look(a, side, p, &v, &concerns);
        first = i || concerns;
        sp_diags_source(q->diags, NULL, NULL);
    }
    if (!st && !sp_idle_places_settle(&a->idle))
        st = sp_nomem(q->diags);
    return st;
}

void sp_diff_idle_free(struct diff_answer *a)
{
    for (size_t i = 0; a->q->open && i < a->held.n; i++)
        sp_profile_free(a->held.v[i]);
    sp_vec_free(&a->held);
    sp_idle_places_free(&a->idle);
}
