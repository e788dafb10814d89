/*
 * Checks an SPT file, and says what of it is usable for what: SPDConvert takes samples of the instruction
 * pointer (/mode:IP) or branches (/mode:LBR), and a trace without the latter is of no use to the second.
 */
#include "base/buf.h"
#include "formats/spt/spt_reader.h"
#include "formats/spt/tables.h"

#include <stdlib.h>

enum { TOLD_MAX = 9 };

struct tally {
    struct sp_spt_sum hits[SP_SPT_KINDS];
    uint64_t arcs; /* of call stacks, without repeats */
    uint32_t program;
};

struct tallies {
    struct tally *v;
    uint32_t n;
};

static bool reach(struct tallies *t, uint32_t program)
{
    if (program < t->n)
        return true;
    struct tally *v = realloc(t->v, ((size_t)program + 1) * sizeof *v);
    if (!v)
        return false;
    for (t->v = v; t->n <= program; t->n++)
        v[t->n] = (struct tally){.program = t->n};
    return true;
}

/* Hits of all entries of a record. */
static void add_hits(struct sp_spt_sum *s, const struct sp_spt_record *r)
{
    unsigned n = r->kind == SP_SPT_KIND_CALLSTACK ? 1 : r->n;
    unsigned __int128 more = (unsigned __int128)r->hits * n + s->low;
    s->low = (uint64_t)more;
    s->high += (uint32_t)(more >> 64);
}

static double approx(struct sp_spt_sum s)
{
    return (double)s.high * 0x1p64 + (double)s.low;
}

static double weight(const struct tally *t)
{
    double sum = 0;
    for (int k = 0; k < SP_SPT_KINDS; k++)
        sum += approx(t->hits[k]);
    return sum;
}

static int by_weight(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    double p = weight(x), q = weight(y);
    return p != q ? (p < q ? 1 : -1) : (x->program > y->program) - (x->program < y->program);
}

static void sum_text(struct sp_buf *b, struct sp_spt_sum s)
{
    if (s.high)
        sp_buf_printf(b, "%.3g", approx(s));
    else
        sp_buf_u64(b, s.low);
}

static void tell(const struct sp_spt *f, const struct tally *t, struct sp_diags *d)
{
    static const char *const units[SP_SPT_KINDS] = {
        [SP_SPT_KIND_LBR] = "LBR pairs", [SP_SPT_KIND_CALLSTACK] = "call stacks"};
    struct sp_buf b;
    char room[32];
    const char *comma = "";
    sp_buf_init(&b, 0);
    for (int k = 0; k < SP_SPT_KINDS; k++) {
        if (!t->hits[k].low && !t->hits[k].high)
            continue;
        sp_buf_puts(&b, comma);
        sum_text(&b, t->hits[k]);
        sp_buf_printf(&b, " %s%s", units[k] ? units[k] : "samples of ",
                      units[k] ? "" : sp_spt_kinds[k].event);
        if (k == SP_SPT_KIND_CALLSTACK)
            sp_buf_printf(&b, " (%llu arcs in records)", (unsigned long long)t->arcs);
        comma = ", ";
    }
    struct sp_str name = sp_spt_program_name(f, t->program, room);
    sp_emit(d, SP_I450, SP_AT_NOTHING, "%.*s: %s", (int)name.n, name.p, sp_buf_cstr(&b));
    sp_buf_free(&b);
}

static void judge(const struct tally *all, struct sp_diags *d)
{
    bool ip = false, lbr = all->hits[SP_SPT_KIND_LBR].low || all->hits[SP_SPT_KIND_LBR].high,
         stacks = all->hits[SP_SPT_KIND_CALLSTACK].low || all->hits[SP_SPT_KIND_CALLSTACK].high;
    for (int k = 0; k < SP_SPT_IP_KINDS; k++)
        ip = ip || all->hits[k].low || all->hits[k].high;
    if (!ip && !lbr && !stacks)
        sp_emit(d, SP_W446, SP_AT_NOTHING, " ");
    else
        sp_emit(d, SP_I451, SP_AT_NOTHING, "%s; %s; %s",
                ip ? "samples for SPDConvert /mode:IP" : "no samples for SPDConvert /mode:IP",
                lbr ? "LBR pairs for /mode:LBR" : "no LBR pairs: nothing for /mode:LBR",
                stacks ? "call stacks" : "no call stacks");
}

static void summarize(const struct sp_spt *f, struct tallies *t, struct sp_diags *d)
{
    struct tally all = {0};
    uint32_t used = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        used += weight(&t->v[i]) > 0;
        for (int k = 0; k < SP_SPT_KINDS; k++) {
            sp_spt_add(&all.hits[k], t->v[i].hits[k].low);
            all.hits[k].high += t->v[i].hits[k].high;
        }
    }
    if (t->n)
        qsort(t->v, t->n, sizeof *t->v, by_weight);
    for (uint32_t i = 0; i < used && i < TOLD_MAX; i++)
        tell(f, &t->v[i], d);
    if (used > TOLD_MAX)
        sp_emit(d, SP_I450, SP_AT_NOTHING, "%u more binaries: `sptdump /event` ends with all of them",
                used - TOLD_MAX);
    judge(&all, d);
}

spaa_status sp_spt_validate(struct sp_input *in, struct sp_diags *d)
{
    struct sp_spt f = {0};
    struct sp_spt_stream s;
    struct sp_spt_record r;
    struct tallies t = {0};
    spaa_status st = sp_spt_open(in, false, d, &f);
    if (!st) {
        sp_spt_begin(&s, in, &f, d);
        while (!(st = sp_spt_next(&s, &r)) && r.what != SP_SPT_END) {
            if (r.what != SP_SPT_EVENT || !r.hits)
                continue;
            if (!reach(&t, r.program)) {
                st = sp_nomem(d);
                break;
            }
            add_hits(&t.v[r.program].hits[r.kind], &r);
            t.v[r.program].arcs += r.kind == SP_SPT_KIND_CALLSTACK && r.n > 1 ? r.n - 1 : 0;
        }
    }
    if (!st)
        summarize(&f, &t, d);
    free(t.v);
    sp_spt_close(&f);
    return st == SPAA_ERR_INPUT ? SPAA_OK : st; /* it was said; the answer is "invalid" */
}
