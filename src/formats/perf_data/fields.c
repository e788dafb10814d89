/*
 * The fields of a sample that have no fixed place: the callchain, and what follows it.
 *
 * The order is perf_event.h's (PERF_RECORD_SAMPLE), not that of the bits. Quirks: raw data is padded so that
 * its size field and itself fill eight bytes; a stack of size 0 has no second size behind it; branches come
 * with an index where branch_sample_type asks for one, and with counters behind them likewise.
 */
#include "formats/perf_data/perf_data.h"

static const unsigned char *pd_fields_take_many(struct sp_pd_cursor *f, uint64_t n, size_t each)
{
    if (n > f->n / each) {
        f->bad = true;
        return NULL;
    }
    return sp_pd_take(f, n * each);
}

static void pd_fields_take_raw(struct sp_pd_cursor *f, struct sp_pd_fields *out)
{
    const unsigned char *p = sp_pd_take(f, 4);
    uint64_t n = p ? sp_pd_u32(p, f->swap) : 0;
    out->raw = sp_pd_take(f, ((n + 4 + 7) & ~(uint64_t)7) - 4);
    out->raw_size = (uint32_t)n;
}

static void pd_fields_take_branches(struct sp_pd_cursor *f, const struct sp_pd_attr *a,
                                    struct sp_pd_fields *out)
{
    out->nbranches = sp_pd_take_u64(f);
    out->hw_index = a->branch_type & PD_BRANCH_HW_INDEX ? sp_pd_take_u64(f) : UINT64_MAX;
    out->branches = pd_fields_take_many(f, out->nbranches, 24);
    if (a->branch_type & PD_BRANCH_COUNTERS)
        pd_fields_take_many(f, out->nbranches, 8);
}

/* ABI 0: there are no registers. */
static const unsigned char *pd_fields_take_registers(struct sp_pd_cursor *f, uint64_t mask, uint64_t *abi)
{
    *abi = sp_pd_take_u64(f);
    return *abi ? pd_fields_take_many(f, (uint64_t)__builtin_popcountll(mask), 8) : NULL;
}

static void pd_fields_take_stack(struct sp_pd_cursor *f, struct sp_pd_fields *out)
{
    out->stack_size = sp_pd_take_u64(f);
    if (!out->stack_size)
        return;
    out->stack = sp_pd_take(f, out->stack_size);
    out->stack_filled = sp_pd_take_u64(f);
    if (out->stack_filled > out->stack_size)
        out->stack_filled = out->stack_size;
}

static void pd_fields_take_field(struct sp_pd_cursor *f, const struct sp_pd_attr *a, uint64_t bit,
                                 struct sp_pd_fields *out)
{
    switch (bit) {
    case PD_RAW:
        pd_fields_take_raw(f, out);
        break;
    case PD_BRANCH_STACK:
        pd_fields_take_branches(f, a, out);
        break;
    case PD_REGS_USER:
        out->user_regs = pd_fields_take_registers(f, a->regs_user, &out->user_abi);
        break;
    case PD_STACK_USER:
        pd_fields_take_stack(f, out);
        break;
    case PD_WEIGHT:
    case PD_WEIGHT_STRUCT:
        out->weight = sp_pd_take_u64(f);
        break;
    case PD_DATA_SRC:
        out->data_src = sp_pd_take_u64(f);
        break;
    case PD_TRANSACTION:
        out->transaction = sp_pd_take_u64(f);
        break;
    case PD_REGS_INTR:
        out->intr_regs = pd_fields_take_registers(f, a->regs_intr, &out->intr_abi);
        break;
    case PD_PHYS_ADDR:
        out->phys_addr = sp_pd_take_u64(f);
        break;
    case PD_CGROUP:
        out->cgroup = sp_pd_take_u64(f);
        break;
    case PD_DATA_PAGE_SIZE:
        out->data_page = sp_pd_take_u64(f);
        break;
    case PD_CODE_PAGE_SIZE:
        out->code_page = sp_pd_take_u64(f);
        break;
    default:
        out->aux = sp_pd_take_u64(f);
        sp_pd_take(f, out->aux);
    }
}

void sp_pd_fields_read(const struct sp_pd_attr *a, const unsigned char *rec, size_t size, size_t at,
                       bool swap, struct sp_pd_fields *out)
{
    static const uint32_t order[] = {
        PD_RAW,           PD_BRANCH_STACK,   PD_REGS_USER,      PD_STACK_USER, PD_WEIGHT,
        PD_WEIGHT_STRUCT, PD_DATA_SRC,       PD_TRANSACTION,    PD_REGS_INTR,  PD_PHYS_ADDR,
        PD_CGROUP,        PD_DATA_PAGE_SIZE, PD_CODE_PAGE_SIZE, PD_AUX};
    struct sp_pd_cursor f = {rec + at, at <= size ? size - at : 0, swap, at > size};
    *out = (struct sp_pd_fields){0};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        /* The two weights are one field; the kernel has no event with both. */
        bool twice = order[i] == PD_WEIGHT && a->sample_type & PD_WEIGHT_STRUCT;
        if (!(a->sample_type & order[i]) || twice)
            continue;
        pd_fields_take_field(&f, a, order[i], out);
        if (f.bad)
            return;
        out->has |= order[i];
    }
}

bool sp_pd_chain_read(const struct sp_pd_attr *a, const unsigned char *rec, size_t size, bool swap,
                      const unsigned char **chain, uint32_t *n, size_t *end)
{
    const struct sp_pd_plan *plan = &a->plan;
    size_t at = plan->chain;
    *chain = NULL;
    *n = 0;
    *end = plan->fixed;
    if (size < plan->fixed)
        return false;
    if (plan->group) {
        uint64_t members = sp_pd_u64(rec + plan->read, swap);
        size_t head = plan->fixed + plan->read_times;
        if (size < head || members > (size - head) / plan->read_entry)
            return false;
        *end = head + (size_t)members * plan->read_entry;
        if (at)
            at = *end - 8;
    }
    if (!at)
        return true;
    uint64_t count = sp_pd_u64(rec + at, swap);
    if (count > (size - at - 8) / 8)
        return false;
    *chain = rec + at + 8;
    *n = (uint32_t)count;
    *end = at + 8 + (size_t)count * 8;
    return true;
}
