/*
 * Call stacks from branch stacks.
 *
 * Where the processor kept a call stack (`perf record --call-graph lbr`, branch_sample_type CALL_STACK), each
 * entry is a call that has not returned, newest first: the user's callchain is where user code stood and then
 * the places of the calls, whatever the kernel found by frame pointers. The kernel's part is the recorded
 * callchain's, and a callchain without a user part (a kernel thread's) stays as it is: so does perf
 * (tools/perf/util/machine.c, resolve_lbr_callchain_sample). Quirk: perf shows as leaf where the last call
 * went; here it is where the sample was taken, which is in the same function and has the right line.
 *
 * Of other branch stacks a call stack can be had, with --lbr-callstack, when the recorder wrote of what type
 * each branch is (`-j any,save_type`): going back in time, a return skips the call that it belongs to, and
 * calls that are not skipped are open. What ran in the kernel meanwhile came back to where it began, so its
 * branches do not count.
 *
 * The entries are the addresses of calls, not of returns: each has a marker of its own before it, since what
 * follows one is taken as exact.
 */
#include "formats/perf_data/perf_data.h"

/* perf_branch_entry.type: those that tell calls and returns */
enum { BR_CALL = 4, BR_IND_CALL = 5, BR_RET = 6, BR_COND_CALL = 9, BR_COND_RET = 10 };

static bool put_u64(const struct sp_pd *pd, struct sp_pd_values *out, uint64_t v)
{
    v = pd->swap ? __builtin_bswap64(v) : v;
    return sp_vec_push(out, v);
}

static bool put_call(const struct sp_pd *pd, struct sp_pd_values *out, uint64_t addr)
{
    return put_u64(pd, out, PD_CONTEXT_USER) && put_u64(pd, out, addr);
}

static bool in_kernel(uint64_t addr)
{
    return addr >> 63;
}

bool sp_pd_lbr_is_chain(const struct sp_pd_attr *a)
{
    return a->sample_type & PD_BRANCH_STACK && a->branch_type & PD_BRANCH_CALL_STACK;
}

/* Whether calls and returns are all there and can be told apart. */
static bool is_typed(const struct sp_pd_attr *a)
{
    const uint64_t both = PD_BRANCH_ANY_CALL | PD_BRANCH_ANY_RETURN;
    return a->branch_type & PD_BRANCH_TYPE_SAVE &&
           (a->branch_type & PD_BRANCH_ANY || (a->branch_type & both) == both);
}

static bool has_types(const struct sp_pd *pd, const struct sp_pd_fields *f)
{
    for (uint64_t i = 0; i < f->nbranches; i++)
        if (sp_pd_branch_read(pd, f->branches + i * 24).type)
            return true;
    return false;
}

/* Where user code stood when the kernel was sampled and did not save it; 0: not known. */
static uint64_t leaf_of(const struct sp_pd *pd, const struct sp_pd_fields *f)
{
    for (uint64_t i = 0; i < f->nbranches; i++) {
        struct sp_pd_branch b = sp_pd_branch_read(pd, f->branches + i * 24);
        if (!in_kernel(b.from))
            return in_kernel(b.to) ? b.from : b.to;
    }
    return 0;
}

/* The kernel's part of the callchain, and where user code stood. */
static bool put_start(const struct sp_pd *pd, const struct sp_pd_fields *f, const struct sp_pd_sample *s,
                      struct sp_pd_values *out)
{
    bool swap = pd->swap;
    uint32_t kernel = 0;
    uint64_t leaf = s->mode == PD_MODE_USER ? s->ip : leaf_of(pd, f);
    if (s->mode != PD_MODE_USER) {
        while (kernel < s->n && sp_pd_u64(s->chain + (size_t)kernel * 8, swap) != PD_CONTEXT_USER)
            kernel++;
        if (kernel + 1 < s->n)
            leaf = sp_pd_u64(s->chain + ((size_t)kernel + 1) * 8, swap);
        if (!s->n && (!put_u64(pd, out, PD_CONTEXT_KERNEL) || !put_u64(pd, out, s->ip)))
            return false;
        if (!sp_vec_reserve(out, out->n + kernel))
            return false;
        if (kernel)
            memcpy(out->v + out->n, s->chain, (size_t)kernel * 8);
        out->n += kernel;
    }
    return !leaf || put_call(pd, out, leaf);
}

/* The calls that are open, newest first. */
static bool put_open_calls(const struct sp_pd *pd, const struct sp_pd_fields *f, struct sp_pd_values *out)
{
    uint64_t returned = 0;
    for (uint64_t i = 0; i < f->nbranches; i++) {
        struct sp_pd_branch b = sp_pd_branch_read(pd, f->branches + i * 24);
        if (in_kernel(b.from) || in_kernel(b.to))
            continue;
        if (b.type == BR_RET || b.type == BR_COND_RET)
            returned++;
        if (b.type != BR_CALL && b.type != BR_IND_CALL && b.type != BR_COND_CALL)
            continue;
        if (returned)
            returned--;
        else if (!put_call(pd, out, b.from))
            return false;
    }
    return true;
}

static bool has_marker(const struct sp_pd *pd, const struct sp_pd_sample *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (sp_pd_u64(s->chain + (size_t)i * 8, pd->swap) == PD_CONTEXT_USER)
            return true;
    return false;
}

bool sp_pd_lbr_chain(struct sp_pd *pd, const struct sp_pd_attr *a, const struct sp_pd_fields *f,
                     const struct sp_pd_sample *s, struct sp_pd_values *out)
{
    out->n = 0;
    if (!(f->has & PD_BRANCH_STACK) || !f->nbranches ||
        (s->mode != PD_MODE_USER && s->mode != PD_MODE_KERNEL) ||
        (s->mode == PD_MODE_KERNEL && s->n && !has_marker(pd, s)))
        return true;
    bool calls = sp_pd_lbr_is_chain(a);
    if (!calls && !(is_typed(a) && has_types(pd, f))) {
        pd->lbr_untyped++;
        return true;
    }
    if (!put_start(pd, f, s, out))
        return false;
    if (!calls)
        return put_open_calls(pd, f, out);
    for (uint64_t i = 0; i < f->nbranches; i++)
        if (!put_call(pd, out, sp_pd_u64(f->branches + i * 24, pd->swap)))
            return false;
    return true;
}

void sp_pd_lbr_report(struct sp_pd *pd)
{
    bool any = false;
    if (!pd->lbr_callstack)
        return;
    for (size_t i = 0; i < pd->attrs.n; i++)
        any |= (pd->attrs.v[i].sample_type & PD_BRANCH_STACK) != 0;
    if (!any)
        sp_emit(pd->d, SP_W830, SP_AT_NOTHING, "no event of it was recorded with them");
    if (pd->lbr_untyped)
        sp_emit(pd->d, SP_W831, SP_AT_NOTHING, "%llu samples keep the stacks that the kernel recorded",
                (unsigned long long)pd->lbr_untyped);
}
