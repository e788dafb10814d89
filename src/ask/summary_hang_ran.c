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

/* What ran by process, but for the main thread of one; heaviest first; how many. NULL: no memory. */
static struct hang_ran *hang_ran_of(const struct sp_summary_hang *h, const struct sp_profile *p, int64_t but,
                                    size_t *n)
{
    struct hang_ran *ran = calloc(h->s.rows.n + 1, sizeof *ran);
    size_t all = 0, kept = 0;
    for (size_t i = 0; ran && i < h->s.rows.n; i++) {
        const struct sp_context *c = &p->contexts.v[p->stacks.v[h->s.rows.v[i].stack].context];
        if (sp_held_state_of(sp_pstr(p, c->state)) == SP_HELD_RAN && h->s.rows.v[i].weight > 0 &&
            c->pid != SP_ABSENT && (but == SP_ABSENT || c->pid != but || c->tid != h->tid))
            ran[all++] = (struct hang_ran){c->pid, h->s.rows.v[i].weight, c->comm};
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
    struct hang_ran *ran = hang_ran_of(&x->hang, p, but, &n);
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
    if (b.len)
        text = sp_arena_dup(&x->x.out->arena, sp_buf_cstr(&b), b.len + 1);
    x->x.out->failed |= b.failed || !ran || (b.len && !text);
    free(ran);
    sp_buf_free(&b);
    return text;
}
