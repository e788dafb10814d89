/*
 * Checks an SPT file, and says what of it is usable for what: SPDConvert takes samples of the instruction
 * pointer (/mode:IP) or branches (/mode:LBR), and a trace without the latter is of no use to the second.
 */
#include "formats/common/spt/tally.h"
#include "formats/spt/spt_format.h"

enum { TOLD_MAX = 9 };

static void spt_tell(const struct sp_spt *f, const struct sp_spt_tally *t, struct sp_diags *d)
{
    struct sp_buf b;
    char room[32];
    sp_buf_init(&b, 0);
    for (int k = 0; k < SP_SPT_KINDS; k++) {
        if (!sp_spt_has(t, k))
            continue;
        sp_buf_puts(&b, b.len ? ", " : "");
        sp_spt_sum_text(&b, t->hits[k]);
        if (k == SP_SPT_KIND_CALLSTACK)
            sp_buf_printf(&b, " call stacks (%llu arcs in %llu records)", (unsigned long long)t->entries[k],
                          (unsigned long long)t->records[k]);
        else
            sp_buf_printf(&b, " %s%s", k == SP_SPT_KIND_LBR ? "LBR pairs" : "samples of ",
                          k == SP_SPT_KIND_LBR ? "" : sp_spt_kinds[k].event);
    }
    struct sp_str name = sp_spt_program_name(f, t->program, room);
    sp_emit(d, SP_I450, SP_AT_NOTHING, "%.*s: %s", (int)name.n, name.p, sp_buf_cstr(&b));
    sp_buf_free(&b);
}

/* Whether a program that is in the table (so that SPDConvert can take it) has some of these kinds. */
static bool spt_has(const struct sp_spt *f, const struct sp_spt_tallies *t, int first, int last)
{
    for (uint32_t i = 0; i < t->used; i++)
        for (int k = first; k <= last && t->v[i].program < f->nprograms; k++)
            if (t->v[i].hits[k].low || t->v[i].hits[k].high)
                return true;
    return false;
}

static void spt_judge(const struct sp_spt *f, const struct sp_spt_tallies *t, struct sp_diags *d)
{
    bool ip = spt_has(f, t, 0, SP_SPT_IP_KINDS - 1), lbr = spt_has(f, t, SP_SPT_KIND_LBR, SP_SPT_KIND_LBR),
         stacks = spt_has(f, t, SP_SPT_KIND_CALLSTACK, SP_SPT_KIND_CALLSTACK);
    bool kept = false;
    for (uint32_t i = 0; i < t->used; i++)
        for (int k = 0; k < SP_SPT_KINDS; k++)
            kept |= t->v[i].hits[k].low || t->v[i].hits[k].high;
    if (!ip && !lbr && !stacks)
        sp_emit(d, kept ? SP_I451 : SP_W446, SP_AT_NOTHING, "%s",
                kept ? "all samples are of programs that are not in the table: nothing for SPDConvert" : " ");
    else
        sp_emit(d, SP_I451, SP_AT_NOTHING, "%s; %s; %s",
                ip ? "samples for SPDConvert /mode:IP" : "no samples: nothing for SPDConvert /mode:IP",
                lbr ? "LBR pairs for /mode:LBR" : "no LBR pairs: nothing for /mode:LBR",
                stacks ? "call stacks" : "no call stacks");
}

spaa_status sp_spt_validate(struct sp_input *in, struct sp_diags *d)
{
    struct sp_spt f = {0};
    struct sp_spt_stream s;
    struct sp_spt_record r;
    struct sp_spt_tallies t = {0};
    spaa_status st = sp_spt_open(in, d, &f);
    if (!st) {
        sp_spt_begin(&s, in, &f, d);
        while (!(st = sp_spt_next(&s, &r)) && r.what != SP_SPT_END)
            if (!sp_spt_tally_add(&t, &r)) {
                st = sp_nomem(d);
                break;
            }
    }
    if (!st && f.streams) {
        sp_spt_tallies_sort(&t);
        for (uint32_t i = 0; i < t.used && i < TOLD_MAX; i++)
            spt_tell(&f, &t.v[i], d);
        if (t.used > TOLD_MAX)
            sp_emit(d, SP_I450, SP_AT_NOTHING, "%u more binaries: `spaa dump --section total` has them all",
                    t.used - TOLD_MAX);
        spt_judge(&f, &t, d);
    }
    sp_spt_tallies_free(&t);
    sp_spt_close(&f);
    return st == SPAA_ERR_INPUT ? SPAA_OK : st; /* it was said; the answer is "invalid" */
}
