/*
 * --off-cpu UNIT, of readers whose text has numbers and not what they are: they are time off the CPU, as
 * offcputime of bcc (us) and one-liners of bpftrace and DTrace (ns) print it.
 */
#ifndef SP_OFF_CPU_OPTION_H
#define SP_OFF_CPU_OPTION_H

#include "formats/format.h"

#define SP_OFF_CPU_OPTION                                                                                    \
    {                                                                                                        \
        "off-cpu", "UNIT", "the numbers are time off the CPU, in ns, us (offcputime of bcc), ms or s",       \
            SP_CAN_READ                                                                                      \
    }

/* Nanoseconds in the unit that was asked for; 0: nobody asked. SPAA_ERR_USAGE, reported: it is none. */
spaa_status sp_off_cpu_asked(const struct sp_read_opts *opts, struct sp_diags *d, int64_t *unit);
/* Makes it so of the events whose values are sums by stack; said where there are none. */
spaa_status sp_off_cpu_sums(struct sp_profile *p, int64_t unit, struct sp_diags *d);
/* Where the kernel is entered by a thread that then waits: no program has functions of these names. */
bool sp_off_cpu_entry(const char *p, size_t n);

#endif
