/*
 * The fields of a sample that have no fixed place: the callchain, and what follows it.
 *
 * The order is perf_event.h's (PERF_RECORD_SAMPLE), not that of the bits. Quirks: raw data is padded so that
 * its size field and itself fill eight bytes; a stack of size 0 has no second size behind it; branches come
 * with an index where branch_sample_type asks for one, and with counters behind them likewise.
 */
#include "formats/perf_data/perf_data.h"

struct fields {
    const unsigned char *p;
    size_t n;
    bool swap, bad;
};

static const unsigned char *take(struct fields *f, uint64_t n)
{
    if (f->bad || n > f->n) {
        f->bad = true;
        return NULL;
    }
    const unsigned char *p = f->p;
    f->p += n;
    f->n -= (size_t)n;
    return p;
}

static uint64_t take_u64(struct fields *f)
{
    const unsigned char *p = take(f, 8);
    return p ? sp_pd_u64(p, f->swap) : 0;
}

static const unsigned char *take_many(struct fields *f, uint64_t n, size_t each)
{
    if (n > f->n / each) {
        f->bad = true;
        return NULL;
    }
    return take(f, n * each);
}

static void take_raw(struct fields *f, struct sp_pd_fields *out)
{
    const unsigned char *p = take(f, 4);
    uint64_t n = p ? sp_pd_u32(p, f->swap) : 0;
    out->raw = take(f, ((n + 4 + 7) & ~(uint64_t)7) - 4);
    out->raw_size = (uint32_t)n;
}

static void take_branches(struct fields *f, const struct sp_pd_attr *a, struct sp_pd_fields *out)
{
    out->nbranches = take_u64(f);
    out->hw_index = a->branch_type & PD_BRANCH_HW_INDEX ? take_u64(f) : UINT64_MAX;
    out->branches = take_many(f, out->nbranches, 24);
    if (a->branch_type & PD_BRANCH_COUNTERS)
        take_many(f, out->nbranches, 8);
}

/* ABI 0: there are no registers. */
static const unsigned char *take_registers(struct fields *f, uint64_t mask, uint64_t *abi)
{
    *abi = take_u64(f);
    return *abi ? take_many(f, (uint64_t)__builtin_popcountll(mask), 8) : NULL;
}

static void take_stack(struct fields *f, struct sp_pd_fields *out)
{
    out->stack_size = take_u64(f);
    if (!out->stack_size)
        return;
    out->stack = take(f, out->stack_size);
    out->stack_filled = take_u64(f);
    if (out->stack_filled > out->stack_size)
        out->stack_filled = out->stack_size;
}

static void take_field(struct fields *f, const struct sp_pd_attr *a, uint64_t bit, struct sp_pd_fields *out)
{
    switch (bit) {
    case PD_RAW:
        take_raw(f, out);
        break;
    case PD_BRANCH_STACK:
        take_branches(f, a, out);
        break;
    case PD_REGS_USER:
        out->user_regs = take_registers(f, a->regs_user, &out->user_abi);
        break;
    case PD_STACK_USER:
        take_stack(f, out);
        break;
    case PD_WEIGHT:
    case PD_WEIGHT_STRUCT:
        out->weight = take_u64(f);
        break;
    case PD_DATA_SRC:
        out->data_src = take_u64(f);
        break;
    case PD_TRANSACTION:
        out->transaction = take_u64(f);
        break;
    case PD_REGS_INTR:
        out->intr_regs = take_registers(f, a->regs_intr, &out->intr_abi);
        break;
    case PD_PHYS_ADDR:
        out->phys_addr = take_u64(f);
        break;
    case PD_CGROUP:
        out->cgroup = take_u64(f);
        break;
    case PD_DATA_PAGE_SIZE:
        out->data_page = take_u64(f);
        break;
    case PD_CODE_PAGE_SIZE:
        out->code_page = take_u64(f);
        break;
    default:
        out->aux = take_u64(f);
        take(f, out->aux);
    }
}

void sp_pd_fields_read(const struct sp_pd_attr *a, const unsigned char *rec, size_t size, size_t at,
                       bool swap, struct sp_pd_fields *out)
{
    static const uint32_t order[] = {
        PD_RAW,           PD_BRANCH_STACK,   PD_REGS_USER,      PD_STACK_USER, PD_WEIGHT,
        PD_WEIGHT_STRUCT, PD_DATA_SRC,       PD_TRANSACTION,    PD_REGS_INTR,  PD_PHYS_ADDR,
        PD_CGROUP,        PD_DATA_PAGE_SIZE, PD_CODE_PAGE_SIZE, PD_AUX};
    struct fields f = {rec + at, at <= size ? size - at : 0, swap, at > size};
    *out = (struct sp_pd_fields){0};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!(a->sample_type & order[i]))
            continue;
        take_field(&f, a, order[i], out);
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
