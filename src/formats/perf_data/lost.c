/*
 * What the recording lost, counted once.
 *
 * Where the ring buffer is full, the kernel counts a record that finds no place twice: in the buffer, which
 * says so with a LOST record as soon as there is room again, and in the event. perf 6.0 and later read the
 * event's number when they end (PERF_FORMAT_LOST, Linux 6.0) and write it as a LOST_SAMPLES record for each
 * event and processor: the same losses, and those at the very end that no LOST record told. So the larger sum
 * counts.
 *
 * The kernel writes LOST_SAMPLES, too, for samples that the processor took and nobody could read (PEBS, ARM
 * SPE): those are in no other number. It stamps them with time and thread, which are zero in perf's.
 *
 * With --switch-output perf reads the numbers once, for all the files that it wrote: there LOST records
 * count.
 */
#include "formats/perf_data/perf_data.h"

/* Numbers of SPAA have 63 bits. */
static void add(uint64_t *sum, uint64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum) || *sum > INT64_MAX)
        *sum = INT64_MAX;
}

/* Whether perf made this LOST_SAMPLES record, from what read() said of an event. */
static bool is_read(const struct sp_pd *pd, const struct sp_pd_record *r)
{
    const struct sp_pd_attr *a = sp_pd_trailer_attr(pd, r);
    const struct sp_pd_plan *plan = a ? &a->plan : NULL;
    if (!a || !(a->read_format & PD_READ_LOST))
        return false;
    if (r->size < 16 + plan->t_size)
        return true;
    const unsigned char *end = r->p + r->size;
    if (plan->t_time)
        return !sp_pd_u64(end - plan->t_time, pd->swap);
    return !plan->t_tid || !sp_pd_u64(end - plan->t_tid, pd->swap);
}

void sp_pd_lost_record(struct sp_pd *pd, const struct sp_pd_record *r)
{
    if (r->type == PD_LOST && r->size >= 24)
        add(&pd->lost_told, sp_pd_u64(r->p + 16, pd->swap));
    if (r->type != PD_LOST_SAMPLES || r->size < 16)
        return;
    uint64_t n = sp_pd_u64(r->p + 8, pd->swap);
    if (r->misc & PD_MISC_LOST_BPF)
        add(&pd->lost_filtered, n);
    else
        add(is_read(pd, r) ? &pd->lost_read : &pd->lost_unread, n);
}

uint64_t sp_pd_lost(const struct sp_pd *pd)
{
    static const char option[] = " --switch-output";
    bool split = pd->cmdline.n && memmem(pd->cmdline.p, pd->cmdline.n, option, sizeof option - 1);
    uint64_t lost = pd->lost_read > pd->lost_told && !split ? pd->lost_read : pd->lost_told;
    add(&lost, pd->lost_unread);
    return lost;
}
