/* Collects the rows of threads (threads.h): once by thread and path, then the equal ones added up. */
#include "formats/common/threads/threads.h"

#include "base/decimal.h"
#include "base/num.h"
#include "base/watch.h"
#include "formats/common/text/left_out.h"
#include "formats/common/text/one_number.h"

#include <stdlib.h>

spaa_status sp_rows_init(struct sp_rows *r, struct sp_profile *p, const struct sp_write_opts *opts,
                         struct sp_diags *d, const char *what)
{
    *r = (struct sp_rows){.p = p, .d = d, .event = sp_one_event(p, opts), .metric = SP_NONE};
    if (r->event == SP_NONE)
        return SPAA_OK;
    r->metric = sp_one_metric(p, opts, r->event, d);
    r->unit = r->metric == SP_NONE ? r->unit : sp_rows_find_unit(r);
    int64_t ns = sp_rows_unit_ns(r->unit);
    spaa_status st = sp_one_fits(p, r->event, r->metric, SP_ROWS_MOST / (ns ? ns : 1), what, d);
    st = st ? st : sp_say_events_left(p, opts, r->event, what, d);
    return st ? st : sp_say_states_added(p, opts, r->event, d);
}

void sp_rows_free(struct sp_rows *r)
{
    sp_vec_free(&r->threads);
    sp_vec_free(&r->rows);
    sp_vec_free(&r->entries);
    free(r->thread_of);
}

/* ---- threads ---- */

static int rows_cmp_threads(const struct sp_profile *p, const struct sp_row_thread *a,
                            const struct sp_row_thread *b)
{
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return sp_str_cmp(sp_pstr(p, a->comm), sp_pstr(p, b->comm));
}

static int rows_by_thread(const void *a, const void *b, void *p)
{
    return rows_cmp_threads(p, a, b);
}

/* The threads that have rows, and for each context its number among them. */
static bool rows_find_threads(struct sp_rows *r, uint32_t *thread_of)
{
    struct sp_profile *p = r->p;
    unsigned char *used = calloc(p->contexts.n + 1, 1);
    bool ok = used != NULL;
    for (uint32_t s = 0; ok && s < p->stacks.n; s++)
        if (sp_rows_has(r, s))
            used[p->stacks.v[s].context] = 1;
    for (size_t i = 0; ok && i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        if (used[i])
            ok = sp_vec_push(&r->threads, ((struct sp_row_thread){c->pid, c->tid, c->comm, 0, 0, 0}));
    }
    struct sp_row_thread *v = r->threads.v;
    size_t n = 0;
    if (ok && r->threads.n > 1)
        qsort_r(v, r->threads.n, sizeof *v, rows_by_thread, p);
    for (size_t i = 0; ok && i < r->threads.n; i++)
        if (!n || rows_cmp_threads(p, &v[n - 1], &v[i]))
            v[n++] = v[i];
    r->threads.n = n;
    for (size_t i = 0; ok && i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        const struct sp_row_thread key = {c->pid, c->tid, c->comm, 0, 0, 0};
        size_t lo = 0, hi = n;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (rows_cmp_threads(p, &v[mid], &key) < 0)
                lo = mid + 1;
            else
                hi = mid;
        }
        thread_of[i] = (uint32_t)lo;
    }
    free(used);
    return ok;
}

/* ---- rows ---- */

bool sp_rows_has(const struct sp_rows *r, uint32_t stack)
{
    const struct sp_stack *x = &r->p->stacks.v[stack];
    if (r->metric == SP_NONE || r->p->contexts.v[x->context].event != r->event)
        return false;
    int64_t v = sp_weight(r->p, stack, r->metric);
    return v != SP_ABSENT && v && !(x->type == SP_KERNEL_STACK && sp_stack_linked(r->p, stack) != SP_NONE);
}

static bool rows_put_path(struct sp_rows *r, uint32_t stack, const uint32_t *entry_of)
{
    const uint32_t *frames = sp_stack_frames(r->p, stack);
    for (uint32_t i = r->p->stacks.v[stack].n; i-- > 0;)
        if (!sp_vec_push(&r->entries, entry_of[frames[i]]))
            return false;
    return true;
}

bool sp_rows_path(struct sp_rows *r, uint32_t stack, const uint32_t *entry_of, size_t *first, uint32_t *n)
{
    uint32_t other = sp_stack_linked(r->p, stack);
    *first = r->entries.n;
    if (!rows_put_path(r, stack, entry_of) || (other != SP_NONE && !rows_put_path(r, other, entry_of)))
        return false;
    *n = (uint32_t)(r->entries.n - *first);
    return true;
}

static bool rows_put(struct sp_rows *r, uint32_t stack, const uint32_t *entry_of)
{
    struct sp_row row = {.thread = r->thread_of[r->p->stacks.v[stack].context],
                         .v = sp_weight(r->p, stack, r->metric)};
    if (row.v == SP_DECIMAL)
        row.text = sp_weight_text(r->p, stack, r->metric);
    return sp_rows_path(r, stack, entry_of, &row.first, &row.n) && sp_vec_push(&r->rows, row);
}

static int rows_cmp(const struct sp_rows *r, const struct sp_row *a, const struct sp_row *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    const uint32_t *x = r->entries.v + a->first, *y = r->entries.v + b->first;
    for (uint32_t i = 0; i < a->n && i < b->n; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return (a->n > b->n) - (a->n < b->n);
}

static int rows_by_path(const void *a, const void *b, void *rows)
{
    return rows_cmp(rows, a, b);
}

/* ---- sums ---- */

static struct sp_str rows_text(const struct sp_row *x, char digits[static 64])
{
    if (x->v == SP_DECIMAL)
        return x->text;
    return (struct sp_str){digits, (uint32_t)sp_scaled_text(x->v, 0, digits)};
}

static bool rows_add(struct sp_rows *r, struct sp_row *to, const struct sp_row *x)
{
    char a[64], b[64], sum[SP_DECIMAL_DIGITS + 4];
    int64_t v;
    if (to->v != SP_DECIMAL && x->v != SP_DECIMAL && !__builtin_add_overflow(to->v, x->v, &v) &&
        v > SP_DECIMAL) {
        to->v = v;
        return true;
    }
    struct sp_str s = rows_text(to, a), t = rows_text(x, b);
    size_t n = sp_decimal_add(s.p, s.n, t.p, t.n, sum);
    if (!n) {
        sp_emit(r->d, SP_L304, SP_AT_NOTHING, "the sum of one stack");
        return true;
    }
    uint32_t number = sp_profile_str(r->p, sum, n);
    if (number == SP_STR_FAIL)
        return false;
    to->v = SP_DECIMAL;
    to->text = sp_pstr(r->p, number);
    return true;
}

static bool rows_merge(struct sp_rows *r)
{
    size_t n = 0;
    struct sp_row *v = r->rows.v;
    for (size_t i = 0; i < r->rows.n; i++) {
        if (n && !rows_cmp(r, &v[n - 1], &v[i])) {
            if (!rows_add(r, &v[n - 1], &v[i]))
                return false;
        } else {
            v[n++] = v[i];
        }
    }
    r->rows.n = n;
    for (size_t i = 0; i < n; i++) {
        struct sp_row_thread *t = &r->threads.v[v[i].thread];
        t->first = t->n ? t->first : i;
        t->n++;
        t->sum += v[i].v == SP_DECIMAL ? sp_text_double(v[i].text.p, v[i].text.n) : (double)v[i].v;
    }
    return true;
}

spaa_status sp_rows_collect(struct sp_rows *r, const uint32_t *entry_of)
{
    r->thread_of = malloc((r->p->contexts.n + 1) * sizeof *r->thread_of);
    bool ok = r->thread_of && rows_find_threads(r, r->thread_of);
    for (uint32_t s = 0; ok && s < r->p->stacks.n; s++)
        if (sp_rows_has(r, s))
            ok = !sp_leaving(r->d, s) && rows_put(r, s, entry_of);
    if (ok && r->rows.n > 1)
        qsort_r(r->rows.v, r->rows.n, sizeof *r->rows.v, rows_by_path, r);
    ok = ok && rows_merge(r);
    return ok ? SPAA_OK : sp_nomem(r->d);
}
