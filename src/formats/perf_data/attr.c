/*
 * perf_event_attr, of any size: what is known is taken, what is missing is zero.
 *
 * Quirk: the flags are C bit fields, which big-endian machines fill from the other end of the word.
 */
#include "formats/perf_data/perf_data.h"

#define ATTR_MIN      64u /* PERF_ATTR_SIZE_VER0 */
#define ATTR_MAX      144u
#define DEFAULT_DEPTH 127u

/* Positions of flags in the word, counted from `disabled`. */
enum {
    FLAG_EXCLUDE_USER = 4,
    FLAG_EXCLUDE_KERNEL = 5,
    FLAG_EXCLUDE_HV = 6,
    FLAG_FREQ = 10,
    FLAG_PRECISE = 15, /* two bits */
    FLAG_ID_ALL = 18,
    FLAG_CLOCKID = 25,
};

static bool pd_attr_flag(uint64_t word, unsigned bit, bool big_endian)
{
    return word >> (big_endian ? 63 - bit : bit) & 1;
}

bool sp_pd_attr_read(const unsigned char *p, size_t n, bool swap, bool big_endian, struct sp_pd_attr *out)
{
    unsigned char all[ATTR_MAX] = {0};
    if (n < ATTR_MIN)
        return false;
    uint32_t stated = sp_pd_u32(p + 4, swap);
    if (stated >= ATTR_MIN && stated < n)
        n = stated;
    memcpy(all, p, n < sizeof all ? n : sizeof all);
    uint64_t word = sp_pd_u64(all + 40, swap);
    *out = (struct sp_pd_attr){
        .type = sp_pd_u32(all, swap),
        .config = sp_pd_u64(all + 8, swap),
        .period = sp_pd_u64(all + 16, swap),
        .sample_type = sp_pd_u64(all + 24, swap),
        .read_format = sp_pd_u64(all + 32, swap),
        .branch_type = sp_pd_u64(all + 72, swap),
        .regs_user = sp_pd_u64(all + 80, swap),
        .stack_user = sp_pd_u32(all + 88, swap),
        .regs_intr = sp_pd_u64(all + 96, swap),
        .config1 = sp_pd_u64(all + 56, swap),
        .config2 = sp_pd_u64(all + 64, swap),
        .size = (uint32_t)n,
        .clockid = sp_pd_i32(all + 92, swap),
        .max_stack = sp_pd_u16(all + 108, swap),
        .freq = pd_attr_flag(word, FLAG_FREQ, big_endian),
        .id_all = pd_attr_flag(word, FLAG_ID_ALL, big_endian),
        .use_clockid = pd_attr_flag(word, FLAG_CLOCKID, big_endian),
        .exclude_user = pd_attr_flag(word, FLAG_EXCLUDE_USER, big_endian),
        .exclude_kernel = pd_attr_flag(word, FLAG_EXCLUDE_KERNEL, big_endian),
        .exclude_hv = pd_attr_flag(word, FLAG_EXCLUDE_HV, big_endian),
        .event = SP_NONE,
    };
    for (unsigned i = 0; i < 64; i++)
        out->flags |= (uint64_t)pd_attr_flag(word, i, big_endian) << i;
    /* The two bits of precise_ip keep their own order only on little-endian machines. */
    unsigned low = pd_attr_flag(word, FLAG_PRECISE, big_endian),
             high = pd_attr_flag(word, FLAG_PRECISE + 1, big_endian);
    out->precise = big_endian ? low * 2 + high : high * 2 + low;
    if (!out->max_stack)
        out->max_stack = DEFAULT_DEPTH;
    sp_pd_plan_make(out, &out->plan);
    return true;
}

/* Bytes of a read format without GROUP. */
static uint32_t pd_attr_read_single(uint64_t f)
{
    return 8u * (1u + !!(f & PD_READ_ENABLED) + !!(f & PD_READ_RUNNING) + !!(f & PD_READ_ID) +
                 !!(f & PD_READ_LOST));
}

void sp_pd_plan_make(const struct sp_pd_attr *a, struct sp_pd_plan *out)
{
    struct sp_pd_plan plan = {0};
    struct {
        uint64_t bit;
        uint32_t *at;
    } fields[] = {{PD_IDENTIFIER, &plan.identifier},
                  {PD_IP, &plan.ip},
                  {PD_TID, &plan.tid},
                  {PD_TIME, &plan.time},
                  {PD_ADDR, &plan.addr},
                  {PD_ID, &plan.id},
                  {PD_STREAM_ID, NULL},
                  {PD_CPU, &plan.cpu},
                  {PD_PERIOD, &plan.period}};
    uint32_t at = 8;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!(a->sample_type & fields[i].bit))
            continue;
        if (fields[i].at)
            *fields[i].at = at;
        at += 8;
    }
    if (a->sample_type & PD_READ) {
        plan.read = at;
        plan.group = a->read_format & PD_READ_GROUP;
        plan.read_times =
            8u * (0u + !!(a->read_format & PD_READ_ENABLED) + !!(a->read_format & PD_READ_RUNNING));
        plan.read_entry = 8u * (1u + !!(a->read_format & PD_READ_ID) + !!(a->read_format & PD_READ_LOST));
        at += plan.group ? 8 : pd_attr_read_single(a->read_format);
    }
    if (a->sample_type & PD_CALLCHAIN) {
        plan.chain = plan.group ? plan.read : at;
        at += 8;
    }
    plan.fixed = at;

    if (a->id_all) {
        struct {
            uint64_t bit;
            uint32_t *at;
        } trailer[] = {{PD_IDENTIFIER, &plan.t_identifier},
                       {PD_CPU, &plan.t_cpu},
                       {PD_STREAM_ID, NULL},
                       {PD_ID, &plan.t_id},
                       {PD_TIME, &plan.t_time},
                       {PD_TID, &plan.t_tid}};
        for (size_t i = 0; i < sizeof trailer / sizeof *trailer; i++) {
            if (!(a->sample_type & trailer[i].bit))
                continue;
            plan.t_size += 8;
            if (trailer[i].at)
                *trailer[i].at = plan.t_size;
        }
    }
    *out = plan;
}
