#include "formats/common/spt/tally.h"

#include "base/num.h"

#include <stdlib.h>

static bool spt_reach(struct sp_spt_tallies *t, uint32_t program)
{
    if (program < t->n)
        return true;
    struct sp_spt_tally *v = realloc(t->v, ((size_t)program + 1) * sizeof *v);
    if (!v)
        return false;
    for (t->v = v; t->n <= program; t->n++)
        v[t->n] = (struct sp_spt_tally){.program = t->n};
    return true;
}

void sp_spt_tallies_free(struct sp_spt_tallies *t)
{
    free(t->v);
    *t = (struct sp_spt_tallies){0};
}

bool sp_spt_tally_add(struct sp_spt_tallies *t, const struct sp_spt_record *r)
{
    if (r->what != SP_SPT_EVENT || !r->hits)
        return true;
    if (!spt_reach(t, r->program))
        return false;
    bool stack = r->kind == SP_SPT_KIND_CALLSTACK;
    struct sp_spt_tally *y = &t->v[r->program];
    unsigned __int128 sum = (unsigned __int128)r->hits * (stack ? 1 : r->n) + y->hits[r->kind].low;
    y->hits[r->kind].low = (uint64_t)sum;
    y->hits[r->kind].high += (uint32_t)(sum >> 64);
    y->records[r->kind]++;
    y->entries[r->kind] += stack ? r->n - (r->n > 0) : r->n;
    return true;
}

bool sp_spt_has(const struct sp_spt_tally *t, int kind)
{
    return t->records[kind] > 0;
}

static double spt_weight(const struct sp_spt_tally *t)
{
    double sum = 0;
    for (int k = 0; k < SP_SPT_KINDS; k++)
        sum += (double)t->hits[k].high * 0x1p64 + (double)t->hits[k].low;
    return sum;
}

static int spt_by_weight(const void *a, const void *b)
{
    const struct sp_spt_tally *x = a, *y = b;
    double p = spt_weight(x), q = spt_weight(y);
    return p != q ? (p < q ? 1 : -1) : (x->program > y->program) - (x->program < y->program);
}

void sp_spt_tallies_sort(struct sp_spt_tallies *t)
{
    if (t->n)
        qsort(t->v, t->n, sizeof *t->v, spt_by_weight);
    for (t->used = 0; t->used < t->n; t->used++) {
        bool any = false;
        for (int k = 0; k < SP_SPT_KINDS; k++)
            any = any || sp_spt_has(&t->v[t->used], k);
        if (!any)
            break;
    }
}

void sp_spt_sum_text(struct sp_buf *out, struct sp_spt_sum s)
{
    char t[64];
    sp_buf_add(out, t, sp_scaled_text((__int128)s.high << 64 | s.low, 0, t));
}
