/*
 * What SPAA's sample record has no field for, as `x_perf` of each sample that is kept: the data address and
 * where its data came from, weights, physical address, page sizes, cgroup, transaction, the branch stack,
 * registers; and the decoded fields of tracepoints. Of a copied stack, which was used to find the callchain,
 * the size is kept, its bytes only with --stack-bytes: they are most of such a recording, and twice as many
 * here.
 *
 * Source: perf_mem_data_src and perf_branch_entry of include/uapi/linux/perf_event.h; names of registers from
 * arch/ARCH/include/uapi/asm/perf_regs.h. The bit fields of perf_mem_data_src are declared in opposite order
 * for big-endian machines, so that the number is the same.
 */
#include "formats/perf_data/perf_data.h"

#include "model/samples.h"
#include "json/json.h"

#include <stdio.h>

#define RAW_MAX  4096u /* bytes that are shown */
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The names of the bits that are set, from `first` on. */
static void pd_details_bits(struct sp_buf *b, const char *name, uint64_t v, const char *const *names,
                            size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!(v >> i & 1) || !names[i])
            continue;
        if (!any) {
            sp_pd_comma(b);
            sp_buf_printf(b, "\"%s\":\"%s", name, names[i]);
        } else {
            sp_buf_printf(b, "|%s", names[i]);
        }
        any = true;
    }
    if (any)
        sp_buf_ch(b, '"');
}

static void pd_details_data_source(struct sp_buf *b, uint64_t v)
{
    static const char *const ops[] = {"na", "load", "store", "prefetch", "exec"};
    static const char *const levels[] = {"na",
                                         "hit",
                                         "miss",
                                         "L1",
                                         "LFB",
                                         "L2",
                                         "L3",
                                         "RAM",
                                         "remote_RAM_1hop",
                                         "remote_RAM_2hops",
                                         "remote_cache_1hop",
                                         "remote_cache_2hops",
                                         "IO",
                                         "uncached"};
    static const char *const snoops[] = {"na", "none", "hit", "miss", "modified"};
    static const char *const tlbs[] = {"na", "hit", "miss", "L1", "L2", "walker", "fault"};
    static const char *const locks[] = {"na", "locked"};
    static const char *const forwards[] = {"forward", "peer"};
    static const char *const blocks[] = {"na", "data", "address"};
    static const char *const numbers[16] = {
        NULL, "L1",        "L2",  "L3",  "L4",   "L2_MHB", "memory_side_cache", NULL, "uncached", "CXL",
        "IO", "any_cache", "LFB", "RAM", "PMEM", "na"};
    sp_pd_member_hex(b, "data_src", v);
    pd_details_bits(b, "data_src.op", v & 31, ops, COUNT(ops));
    pd_details_bits(b, "data_src.level", v >> 5 & 0x3fff, levels, COUNT(levels));
    pd_details_bits(b, "data_src.snoop", v >> 19 & 31, snoops, COUNT(snoops));
    pd_details_bits(b, "data_src.lock", v >> 24 & 3, locks, COUNT(locks));
    pd_details_bits(b, "data_src.tlb", v >> 26 & 127, tlbs, COUNT(tlbs));
    const char *level = numbers[v >> 33 & 15];
    if (level) {
        sp_pd_comma(b);
        sp_buf_printf(b, "\"data_src.level_number\":\"%s\"", level);
    }
    if (v >> 37 & 1) {
        sp_pd_comma(b);
        sp_buf_puts(b, "\"data_src.remote\":\"true\"");
    }
    pd_details_bits(b, "data_src.snoop_more", v >> 38 & 3, forwards, COUNT(forwards));
    pd_details_bits(b, "data_src.blocked", v >> 40 & 7, blocks, COUNT(blocks));
    if (v >> 43 & 7)
        sp_pd_member_u64(b, "data_src.hops", (v >> 43 & 7) - 1);
}

static void pd_details_branches(const struct sp_pd *pd, const struct sp_pd_fields *f, struct sp_buf *b)
{
    sp_pd_comma(b);
    if (f->hw_index != UINT64_MAX)
        sp_buf_printf(b, "\"hw_idx\":%llu,", (unsigned long long)f->hw_index);
    sp_buf_puts(b, "\"branches\":[");
    for (uint64_t i = 0; i < f->nbranches; i++) {
        struct sp_pd_branch_entry e = sp_pd_branch_entry_read(pd, f->branches + i * 24);
        sp_pd_comma(b);
        sp_buf_ch(b, '{');
        sp_pd_member_hex(b, "from", e.from);
        sp_pd_member_hex(b, "to", e.to);
        if (e.missed || e.predicted)
            sp_buf_printf(b, ",\"predicted\":%s", e.predicted ? "true" : "false");
        if (e.in_transaction)
            sp_buf_puts(b, ",\"in_tx\":true");
        if (e.aborted)
            sp_buf_puts(b, ",\"abort\":true");
        if (e.cycles)
            sp_pd_member_u64(b, "cycles", e.cycles);
        if (e.type)
            sp_pd_member_u64(b, "type", e.type);
        if (e.spec)
            sp_pd_member_u64(b, "spec", e.spec);
        sp_buf_ch(b, '}');
    }
    sp_buf_ch(b, ']');
}

static void pd_details_cgroup(const struct sp_pd *pd, uint64_t id, struct sp_buf *b)
{
    for (size_t i = 0; i < pd->cgroups.n; i++) {
        if (pd->cgroups.v[i].id != id)
            continue;
        sp_pd_comma(b);
        sp_buf_puts(b, "\"cgroup\":");
        sp_json_string(b, pd->cgroups.v[i].path.p, pd->cgroups.v[i].path.n);
        return;
    }
    sp_pd_member_u64(b, "cgroup", id);
}

static void pd_details_weights(const struct sp_pd_fields *f, struct sp_buf *b)
{
    if (f->has & PD_WEIGHT)
        sp_pd_member_u64(b, "weight", f->weight);
    if (!(f->has & PD_WEIGHT_STRUCT))
        return;
    sp_pd_member_u64(b, "weight", f->weight & UINT32_MAX);
    if (f->weight >> 32 & 0xffff)
        sp_pd_member_u64(b, "weight2", f->weight >> 32 & 0xffff);
    if (f->weight >> 48)
        sp_pd_member_u64(b, "weight3", f->weight >> 48);
}

/* One counter of a read format: its value, and its event and what it lost where the format has them. */
static void pd_details_counter(const struct sp_pd *pd, const struct sp_pd_attr *a, const unsigned char *value,
                               const unsigned char *rest, struct sp_buf *b)
{
    sp_buf_ch(b, '{');
    sp_pd_member_u64(b, "value", sp_pd_u64(value, pd->swap));
    if (a->read_format & PD_READ_ID) {
        uint32_t id = sp_pd_find_id(pd, sp_pd_u64(rest, pd->swap));
        struct sp_pd_text name = {0};
        if (id != SP_NONE)
            name = pd->attrs.v[pd->ids.v[id].attr].name;
        if (name.n) {
            sp_buf_puts(b, ",\"event\":");
            sp_json_string(b, name.p, name.n);
        }
        rest += 8;
    }
    if (a->read_format & PD_READ_LOST)
        sp_pd_member_u64(b, "lost", sp_pd_u64(rest, pd->swap));
    sp_buf_ch(b, '}');
}

/* The counters that were read with the sample; their number was checked with the callchain's place. */
static void pd_details_counters(const struct sp_pd *pd, const struct sp_pd_attr *a, const unsigned char *rec,
                                struct sp_buf *b)
{
    const unsigned char *p = rec + a->plan.read, *times = p + 8;
    uint64_t n = a->plan.group ? sp_pd_u64(p, pd->swap) : 1;
    sp_pd_comma(b);
    sp_buf_puts(b, "\"read\":{");
    if (a->read_format & PD_READ_ENABLED)
        sp_pd_member_u64(b, "time_enabled", sp_pd_u64(times, pd->swap));
    if (a->read_format & PD_READ_RUNNING)
        sp_pd_member_u64(b, "time_running",
                         sp_pd_u64(times + (a->read_format & PD_READ_ENABLED ? 8 : 0), pd->swap));
    sp_pd_comma(b);
    sp_buf_puts(b, "\"counters\":[");
    const unsigned char *rest = times + a->plan.read_times;
    for (uint64_t i = 0; i < n; i++, rest += a->plan.read_entry) {
        sp_pd_comma(b);
        pd_details_counter(pd, a, a->plan.group ? rest : p, a->plan.group ? rest + 8 : rest, b);
    }
    sp_buf_puts(b, "]}");
}

static const char *pd_details_register_name(const struct sp_pd *pd, bool wide, unsigned bit)
{
    static const char *const x86[] = {"ax", "bx",    "cx",  "dx",  "si",  "di",  "bp",  "sp",
                                      "ip", "flags", "cs",  "ss",  "ds",  "es",  "fs",  "gs",
                                      "r8", "r9",    "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char *const arm[] = {"r0", "r1", "r2",  "r3", "r4", "r5", "r6", "r7",
                                      "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc"};
    static const char *const arm64[] = {"lr", "sp", "pc"}; /* from 30 on */
    struct sp_pd_text a = pd->arch;
    if ((a.n >= 3 && !memcmp(a.p, "x86", 3)) || (a.n == 4 && a.p[0] == 'i' && !memcmp(a.p + 2, "86", 2)))
        return bit < COUNT(x86) ? x86[bit] : NULL;
    if (a.n >= 7 && !memcmp(a.p, "aarch64", 7) && wide)
        return bit >= 30 && bit < 33 ? arm64[bit - 30] : NULL;
    if (a.n >= 3 && (!memcmp(a.p, "arm", 3) || !memcmp(a.p, "aar", 3)))
        return bit < COUNT(arm) ? arm[bit] : NULL;
    return NULL;
}

/* By the mask's bits; those without a name as r and the number of the bit. */
static void pd_details_registers(const struct sp_pd *pd, const char *key, uint64_t mask, uint64_t abi,
                                 const unsigned char *p, struct sp_buf *b)
{
    sp_pd_comma(b);
    sp_buf_printf(b, "\"%s\":{\"bits\":%u", key, abi == 1 ? 32u : 64u);
    for (unsigned bit = 0; bit < 64; bit++) {
        char number[8];
        if (!(mask >> bit & 1))
            continue;
        const char *name = pd_details_register_name(pd, abi != 1, bit);
        snprintf(number, sizeof number, "r%u", bit);
        sp_pd_member_hex(b, name ? name : number, sp_pd_u64(p, pd->swap));
        p += 8;
    }
    sp_buf_ch(b, '}');
}

static void pd_details_digits(struct sp_buf *b, const char *key, const unsigned char *p, uint64_t n)
{
    sp_pd_comma(b);
    sp_buf_printf(b, "\"%s\":\"", key);
    if (!sp_buf_reserve(b, 2 * (size_t)n + 1))
        return;
    sp_pd_hex(p, (size_t)n, b->data + b->len);
    b->len += 2 * (size_t)n;
    sp_buf_ch(b, '"');
}

static void pd_details_user_stack(const struct sp_pd *pd, const struct sp_pd_fields *f, struct sp_buf *b)
{
    sp_pd_comma(b);
    sp_buf_printf(b, "\"user_stack\":{\"size\":%llu,\"filled\":%llu", (unsigned long long)f->stack_size,
                  (unsigned long long)f->stack_filled);
    if (pd->stack_bytes)
        pd_details_digits(b, "bytes", f->stack, f->stack_filled);
    sp_buf_ch(b, '}');
}

/* The members of x_perf; nothing when there are none. */
static void pd_details_members(const struct sp_pd *pd, const struct sp_pd_attr *a, const unsigned char *rec,
                               const struct sp_pd_fields *f, struct sp_buf *b)
{
    uint64_t addr = a->plan.addr ? sp_pd_u64(rec + a->plan.addr, pd->swap) : 0;
    if (addr)
        sp_pd_member_hex(b, "addr", addr);
    if (a->plan.read)
        pd_details_counters(pd, a, rec, b);
    pd_details_weights(f, b);
    if (f->has & PD_TRANSACTION && f->transaction)
        sp_pd_member_hex(b, "transaction", f->transaction);
    if (f->has & PD_PHYS_ADDR && f->phys_addr)
        sp_pd_member_hex(b, "phys_addr", f->phys_addr);
    if (f->has & PD_DATA_PAGE_SIZE && f->data_page)
        sp_pd_member_u64(b, "data_page_size", f->data_page);
    if (f->has & PD_CODE_PAGE_SIZE && f->code_page)
        sp_pd_member_u64(b, "code_page_size", f->code_page);
    if (f->has & PD_AUX)
        sp_pd_member_u64(b, "aux_bytes", f->aux);
    if (f->has & PD_BRANCH_STACK && f->nbranches && f->branches)
        pd_details_branches(pd, f, b);
    if (f->has & PD_RAW && f->raw && f->raw_size && f->raw_size <= RAW_MAX && a->type != PD_TRACEPOINT)
        pd_details_digits(b, "raw", f->raw, f->raw_size);
    if (f->has & PD_REGS_USER && f->user_regs)
        pd_details_registers(pd, "user_regs", a->regs_user, f->user_abi, f->user_regs, b);
    if (f->has & PD_REGS_INTR && f->intr_regs)
        pd_details_registers(pd, "intr_regs", a->regs_intr, f->intr_abi, f->intr_regs, b);
    if (f->has & PD_STACK_USER && f->stack)
        pd_details_user_stack(pd, f, b);
    unsigned mode = sp_pd_u16(rec + 4, pd->swap) & PD_MISC_MODE;
    if (mode == PD_MODE_GUEST_KERNEL || mode == PD_MODE_GUEST_USER) {
        sp_pd_comma(b);
        sp_buf_puts(b, "\"guest\":true");
    }
}

/* The members of the sample's context: fields of a tracepoint, and what else is a label. */
static bool pd_details_context(const struct sp_pd *pd, const struct sp_pd_attr *a,
                               const struct sp_pd_fields *f, struct sp_buf *b)
{
    static const char open[] = "\"x_labels\":{";
    bool known = f->has & PD_RAW && a->type == PD_TRACEPOINT && f->raw &&
                 sp_pd_trace_fields(pd, a->config, f->raw, f->raw_size, b);
    size_t before = b->len;
    if (known)
        sp_buf_ch(b, ',');
    sp_buf_puts(b, open);
    size_t from = b->len;
    if (!b->failed && f->has & PD_CGROUP)
        pd_details_cgroup(pd, f->cgroup, b);
    if (!b->failed && f->has & PD_DATA_SRC && f->data_src)
        pd_details_data_source(b, f->data_src);
    bool any = b->len > from;
    if (any)
        sp_buf_ch(b, '}');
    else
        b->len = before;
    return known || any;
}

spaa_status sp_pd_details(struct sp_pd *pd, uint32_t shape, uint64_t pos, struct sp_sample *row)
{
    static const char open[] = "\"x_perf\":{";
    const struct sp_pd_attr *a = &pd->attrs.v[shape];
    const unsigned char *rec = sp_pd_at(pd, pos), *chain;
    size_t size = sp_pd_u16(rec + 6, pd->swap), end;
    uint32_t n;
    struct sp_pd_fields f;
    struct sp_buf b;
    if (!sp_pd_chain_read(a, rec, size, pd->swap, &chain, &n, &end))
        return SPAA_OK;
    sp_pd_fields_read(a, rec, size, end, pd->swap, &f);
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, open);
    if (!b.failed)
        pd_details_members(pd, a, rec, &f, &b);
    if (b.len > sizeof open - 1) {
        sp_buf_ch(&b, '}');
        row->more = b.failed ? SP_STR_FAIL : sp_profile_str(pd->p, b.data, b.len);
    }
    bool failed = b.failed; /* clearing forgets it */
    sp_buf_clear(&b);
    if (pd_details_context(pd, a, &f, &b)) {
        row->context = b.failed ? SP_STR_FAIL : sp_profile_str(pd->p, b.data, b.len);
        row->flags |= SP_SAMPLE_CONTEXT;
    }
    failed = failed || b.failed || row->more == SP_STR_FAIL || row->context == SP_STR_FAIL;
    sp_buf_free(&b);
    return failed ? sp_nomem(pd->d) : SPAA_OK;
}
