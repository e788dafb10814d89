/* What of a profile cannot be written as SPT, and what would help. */
#include "formats/spt/collect.h"

#include "formats/common/spt/tally.h"

static void spt_say(struct sp_spt_collector *c, uint64_t n, enum sp_code code, const char *what)
{
    if (n)
        sp_emit(c->d, code, SP_AT_NOTHING, "%llu %s", (unsigned long long)n, what);
}

static void spt_say_split(struct sp_spt_collector *c)
{
    struct sp_buf hits;
    if (!c->split)
        return;
    sp_buf_init(&hits, 64);
    sp_spt_sum_text(&hits, c->split_hits);
    sp_emit(c->d, SP_I453, SP_AT_NOTHING,
            "%llu call stacks (%s hits) of more than %d frames of one binary in a row make %llu more records",
            (unsigned long long)c->split, sp_buf_cstr(&hits), (int)SP_SPT_SPLIT,
            (unsigned long long)c->pieces);
    sp_buf_free(&hits);
}

/* Why nothing can be written, and what would help. */
static void spt_refuse(const struct sp_spt_collector *c)
{
    const char *why = "no frame of a sample is in a module", *hint = "SPT holds addresses in binaries";
    if (c->odd_event)
        why = c->heaps ? "its events are allocations"
                       : "its events are no samples of the CPU's time or counters",
        hint =
            c->heaps
                ? "SPT holds samples of the CPU: record those, as `perf record` does"
                : "SPT has cycles, instructions, branches, misses of L1 caches, timers: record one of them";
    else if (c->no_address)
        why = "its frames have names, no addresses",
        hint = "take the recording itself, or convert it with `--frames address`";
    else if (c->large)
        why = "its addresses are not those of modules, but of where they were loaded",
        hint = "take the recording itself; of perf script text, print the offsets: `perf script -F +dsoff`";
    else if (c->no_frames)
        why = "its samples have no stacks";
    else if (c->crossing_branches)
        why = "all branches are between binaries";
    sp_emit_hint(c->d, SP_E420, SP_AT_NOTHING, hint, "%s", why);
}

spaa_status sp_spt_report(struct sp_spt_collector *c)
{
    bool nothing = c->p->stacks.n && !c->written;
    if (!sp_spt_modules_report(&c->modules, c->d))
        return sp_nomem(c->d);
    spt_say(c, c->no_address, SP_L432,
            "hits on frames without an address (a profile by function cannot be written as SPT)");
    spt_say(c, c->large, SP_L432, "hits on addresses beyond 32 bits, which are no RVAs");
    spt_say(c, c->crossing_branches, SP_L432, "branches between binaries: a branch of SPT stays in one");
    spt_say(c, c->no_frames, SP_L432, "hits without a stack, which are in no binary");
    spt_say(c, c->odd_weight, SP_L432, "stacks whose weight is no count");
    spt_say(c, c->odd_event, SP_L432, "stacks of events that SPT has no opcode for (--event NAME picks one)");
    spt_say(c, c->crossing_calls, SP_I321, "calls between binaries: an arc of SPT stays in one");
    spt_say(c, c->traces, SP_I321, "traces between branches: SPT has the branches alone");
    spt_say_split(c);
    if (nothing)
        spt_refuse(c);
    return nothing ? SPAA_ERR_UNSUPPORTED : SPAA_OK;
}
