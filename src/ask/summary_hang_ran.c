/* The brief of a hang report: which processes ran. */
#include "ask/summary.h"

#include "answer/text.h"
#include "base/num.h"

#include <stdlib.h>

struct hang_ran {
    int64_t pid, weight;
    uint32_t comm;
};

static int hang_by_process(const void *va, const void *vb)
{
    const struct hang_ran *a = va, *b = vb;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->comm > b->comm) - (a->comm < b->comm);
}

static int hang_by_weight(const void *va, const void *vb)
{
    const struct hang_ran *a = va, *b = vb;
    return a->weight != b->weight ? (a->weight > b->weight ? -1 : 1) : hang_by_process(va, vb);
}

/* Of a row that ran, what did so in the steps; none: all of it. */
static int64_t hang_ran_within(const struct sp_summary_hang *h, const struct sp_selected *row,
                               const struct sp_context *c, const struct sp_wait_steps *steps)
{
    uint32_t thread = steps->v.n && c->tid != SP_ABSENT ? sp_waits_thread_of(&h->w, c) : SP_NONE;
    return thread == SP_NONE ? row->weight
                             : sp_held_within(&h->w, &h->w.threads.v[thread], row->stack, steps);
}

/* What ran by process, but for the main thread of one; heaviest first; how many. NULL: no memory. */
static struct hang_ran *hang_ran_of(const struct sp_summary_hang *h, const struct sp_profile *p, int64_t but,
                                    const struct sp_wait_steps *steps, size_t *n)
{
    struct hang_ran *ran = calloc(h->s.rows.n + 1, sizeof *ran);
    size_t all = 0, kept = 0;
    for (size_t i = 0; ran && i < h->s.rows.n; i++) {
        const struct sp_context *c = &p->contexts.v[p->stacks.v[h->s.rows.v[i].stack].context];
        int64_t weight = sp_held_state_of(sp_pstr(p, c->state)) == SP_HELD_RAN
                             ? hang_ran_within(h, &h->s.rows.v[i], c, steps)
                             : 0;
        if (weight > 0 && c->pid != SP_ABSENT && (but == SP_ABSENT || c->pid != but || c->tid != h->tid))
            ran[all++] = (struct hang_ran){c->pid, weight, c->comm};
    }
    if (all)
        qsort(ran, all, sizeof *ran, hang_by_process);
    for (size_t i = 0; i < all; i++) {
        if (!kept || hang_by_process(&ran[kept - 1], &ran[i]) != 0)
            ran[kept++] = ran[i];
        else if (__builtin_add_overflow(ran[kept - 1].weight, ran[i].weight, &ran[kept - 1].weight))
            ran[kept - 1].weight = INT64_MAX;
    }
    if (kept)
        qsort(ran, kept, sizeof *ran, hang_by_weight);
    *n = kept;
    return ran;
}

/* Those in which its main thread was ready without a CPU; none where not all of them are known. */
static bool hang_starved_steps(const struct sp_summary_hang *h, const struct sp_profile *p,
                               struct sp_wait_steps *out)
{
    uint32_t thread = h->has_waits && h->w.counts_samples && h->context != SP_NONE
                          ? sp_waits_thread_of(&h->w, &p->contexts.v[h->context])
                          : SP_NONE;
    *out = (struct sp_wait_steps){0};
    if (thread == SP_NONE)
        return true;
    if (!sp_held_steps_of(&h->w, thread, SP_HELD_READY, out))
        return false;
    int64_t known = 0;
    for (size_t i = 0; i < out->v.n; i++)
        known += out->v.v[i].to - out->v.v[i].from + 1;
    if (known < h->main.by[SP_HELD_READY])
        sp_vec_free(&out->v);
    return true;
}

const char *sp_summary_hang_ran(struct sp_summary *x, int64_t but)
{
    enum { SHOWN = 3 };
    const struct sp_profile *p = x->x.q->profiles[0];
    const struct sp_selection *s = &x->hang.s;
    size_t n = 0;
    int64_t whole = 0;
    struct sp_buf b;
    char *text = NULL;
    sp_buf_init(&b, 0);
    struct sp_wait_steps steps;
    struct hang_ran *ran =
        hang_starved_steps(&x->hang, p, &steps) ? hang_ran_of(&x->hang, p, but, &steps, &n) : NULL;
    x->hang.others_meanwhile = steps.v.n > 0;
    sp_vec_free(&steps.v);
    for (size_t k = 0; k < n; k++)
        whole = __builtin_add_overflow(whole, ran[k].weight, &whole) ? INT64_MAX : whole;
    for (size_t k = 0; ran && k < n && k < SHOWN; k++) {
        struct sp_str name = sp_pstr(p, ran[k].comm);
        sp_buf_printf(&b, "%s%.*s [%lld] ", k ? ", " : "", (int)name.n, name.p, (long long)ran[k].pid);
        if (sp_str_is(s->unit, "bytes"))
            sp_text_weight(&b, s->unit, s->scale, ran[k].weight);
        else
            sp_text_grouped(&b, ran[k].weight, s->scale);
        if (but == SP_ABSENT) {
            sp_buf_puts(&b, " (");
            sp_text_about(&b, ran[k].weight, whole);
            sp_buf_ch(&b, ')');
        }
    }
    if (b.len && !b.failed)
        text = sp_arena_dup(&x->x.out->arena, sp_buf_cstr(&b), b.len + 1);
    x->x.out->failed |= b.failed || !ran || (b.len && !text);
    free(ran);
    sp_buf_free(&b);
    return text;
}
