/*
 * A window for each snapshot, from the one before to it, with what is live more or less in it by stack.
 *
 * Where a snapshot has no tree, the change is of a row that names no function; the next one with a tree takes
 * that back, so that what windows add up to is right at each snapshot in all, and by stack at those with one.
 */
#include "model/windows.h"
#include "base/num.h"
#include "formats/massif/massif.h"

#include <stdio.h>

const char *sp_massif_unit(const struct sp_massif *m)
{
    static const struct {
        const char *as, *name;
    } units[] = {{"i", "instructions"}, {"ms", "milliseconds"}, {"s", "seconds"}, {"B", "bytes"}};
    struct sp_str unit = sp_pstr(m->p, m->unit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (sp_str_is(unit, units[i].as))
            return units[i].name;
    return NULL;
}

void sp_massif_snapshot_members(const struct sp_massif_snapshot *s, struct sp_buf *b)
{
    sp_buf_printf(b, "\"snapshot\":%llu", (unsigned long long)s->number);
    const struct {
        const char *name;
        int64_t v;
    } all[] = {{"heap_bytes", s->heap}, {"extra_bytes", s->extra}, {"stacks_bytes", s->stacks}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].v >= 0)
            sp_buf_printf(b, ",\"%s\":%lld", all[i].name, (long long)all[i].v);
    sp_buf_printf(b, ",\"detailed\":%s", s->tree != SP_MASSIF_EMPTY ? "true" : "false");
}

struct massif_levels {
    struct sp_massif *m;
    int64_t *level, *want; /* per stack: what windows so far add up to, what this one is to end with */
    __int128 total;        /* of level */
    uint32_t untold, layout;
    const struct sp_massif_snapshot *before; /* the last with a tree */
    uint32_t unit, last;                     /* time of the last window's end */
};

static int64_t massif_fit(__int128 v)
{
    return v > INT64_MAX ? INT64_MAX : v < -INT64_MAX ? -INT64_MAX : (int64_t)v;
}

/* The level of a stack becomes what is wanted. */
static bool massif_window_row(struct massif_levels *x, struct sp_window *w, uint32_t stack)
{
    struct sp_profile *p = x->m->p;
    struct sp_window_row row = {.stack = stack, .layout = x->layout, .first = (uint32_t)p->values.n};
    int64_t change = massif_fit((__int128)x->want[stack] - x->level[stack]);
    if (!change)
        return true;
    x->level[stack] = massif_fit((__int128)x->level[stack] + change);
    x->total += change;
    if (p->values.n >= UINT32_MAX - 1 || p->window_rows.n >= UINT32_MAX - 1 ||
        !sp_vec_push(&p->values, ((struct sp_value){change, 0})) || !sp_vec_push(&p->window_rows, row))
        return false;
    w->n++;
    return true;
}

static bool massif_window_rows(struct massif_levels *x, struct sp_window *w,
                               const struct sp_massif_snapshot *s)
{
    const struct sp_massif_row *rows = x->m->rows.v;
    bool ok = true;
    if (s->tree == SP_MASSIF_EMPTY) {
        x->want[x->untold] =
            massif_fit(x->level[x->untold] + (__int128)(s->heap > 0 ? s->heap : 0) - x->total);
        ok = massif_window_row(x, w, x->untold);
        x->want[x->untold] = 0;
        return ok;
    }
    for (size_t i = 0; i < s->n; i++)
        x->want[rows[s->first + i].stack] =
            massif_fit((__int128)x->want[rows[s->first + i].stack] + rows[s->first + i].size);
    ok = massif_window_row(x, w, x->untold);
    for (size_t i = 0; ok && x->before && i < x->before->n; i++)
        ok = massif_window_row(x, w, rows[x->before->first + i].stack);
    for (size_t i = 0; ok && i < s->n; i++)
        ok = massif_window_row(x, w, rows[s->first + i].stack);
    for (size_t i = 0; i < s->n; i++)
        x->want[rows[s->first + i].stack] = 0;
    x->before = s;
    return ok;
}

static bool massif_window(struct massif_levels *x, const struct sp_massif_snapshot *s)
{
    struct sp_profile *p = x->m->p;
    struct sp_window w = {.first = (uint32_t)p->window_rows.n, .start = x->last, .unit = x->unit};
    struct sp_buf b;
    char t[32];
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_massif\":{");
    sp_massif_snapshot_members(s, &b);
    sp_buf_ch(&b, '}');
    w.id =
        sp_window_id_of(p, t, (size_t)snprintf(t, sizeof t, "w%llu", (unsigned long long)p->windows.n + 1));
    w.extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(p, b.data, b.len);
    sp_buf_free(&b);
    w.end = s->time ? s->time : x->last;
    x->last = w.end;
    return w.id != SP_STR_FAIL && w.extra_json != SP_STR_FAIL && massif_window_rows(x, &w, s) &&
           sp_vec_push(&p->windows, w);
}

/* At the start nothing is live. */
static bool massif_is_start(const struct sp_massif *m, const struct sp_massif_snapshot *s)
{
    return s == m->snapshots.v && s->heap <= 0 && sp_str_is(sp_pstr(m->p, s->time), "0");
}

static bool massif_levels_init(struct massif_levels *x, uint32_t live)
{
    struct sp_profile *p = x->m->p;
    const char *unit = sp_massif_unit(x->m);
    struct sp_weight_field field = {live, sp_profile_cstr(p, "bytes"), 0};
    x->last = sp_profile_cstr(p, "0");
    x->unit = sp_profile_cstr(p, unit ? unit : "x_unknown"); /* none would be seconds */
    if (field.unit == SP_STR_FAIL || x->last == SP_STR_FAIL || x->unit == SP_STR_FAIL)
        return false;
    x->untold = sp_massif_untold(x->m);
    x->layout = sp_layout_intern(p, &field, 1);
    if (x->untold == SP_NONE || x->layout == SP_NONE)
        return false;
    x->level = calloc(p->stacks.n, sizeof *x->level);
    x->want = calloc(p->stacks.n, sizeof *x->want);
    return x->level && x->want;
}

spaa_status sp_massif_windows(struct sp_massif *m, uint32_t live)
{
    struct massif_levels x = {.m = m};
    bool ok = massif_levels_init(&x, live);
    for (size_t i = 0; ok && i < m->snapshots.n; i++)
        ok = massif_is_start(m, &m->snapshots.v[i]) || massif_window(&x, &m->snapshots.v[i]);
    free(x.level);
    free(x.want);
    return ok ? sp_windows_order(m->p) : sp_nomem(m->d);
}
