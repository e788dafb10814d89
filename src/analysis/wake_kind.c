#include "analysis/wake_kind.h"

#include <string.h>

unsigned sp_wake_kind(struct sp_str function)
{
    static const struct {
        const char *start; /* of the name; the first that fits counts */
        unsigned kind;
    } starts[] = {
        {"sched_ttwu_pending", SP_WAKE_BY_REMOTE},
        {"hrtimer_interrupt", SP_WAKE_BY_TIMER | SP_WAKE_BY_INTERRUPT},
        {"hrtimer_", SP_WAKE_BY_TIMER},
        {"__hrtimer_", SP_WAKE_BY_TIMER},
        {"process_timeout", SP_WAKE_BY_TIMER},
        {"call_timer_fn", SP_WAKE_BY_TIMER},
        {"__run_timers", SP_WAKE_BY_TIMER},
        {"run_timer_", SP_WAKE_BY_TIMER},
        {"asm_sysvec_", SP_WAKE_BY_INTERRUPT},
        {"sysvec_", SP_WAKE_BY_INTERRUPT},
        {"__sysvec_", SP_WAKE_BY_INTERRUPT},
        {"asm_common_interrupt", SP_WAKE_BY_INTERRUPT},
        {"common_interrupt", SP_WAKE_BY_INTERRUPT},
        {"smp_apic_timer_interrupt", SP_WAKE_BY_INTERRUPT},
        {"apic_timer_interrupt", SP_WAKE_BY_INTERRUPT},
        {"do_IRQ", SP_WAKE_BY_INTERRUPT},
        {"el1h_64_irq", SP_WAKE_BY_INTERRUPT},
        {"el0t_64_irq", SP_WAKE_BY_INTERRUPT},
        {"el1_irq", SP_WAKE_BY_INTERRUPT},
        {"el0_irq", SP_WAKE_BY_INTERRUPT},
        {"gic_handle_irq", SP_WAKE_BY_INTERRUPT},
        {"asm_exc_nmi", SP_WAKE_BY_INTERRUPT},
        {"signal_wake_up_state", SP_WAKE_BY_SIGNAL},
        {"complete_signal", SP_WAKE_BY_SIGNAL},
        {"zap_other_threads", SP_WAKE_BY_SIGNAL},
        {"zap_process", SP_WAKE_BY_SIGNAL},
        {"do_group_exit", SP_WAKE_BY_SIGNAL},
        {"do_exit", SP_WAKE_BY_EXIT},
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t n = strlen(starts[i].start);
        if (function.n >= n && memcmp(function.p, starts[i].start, n) == 0)
            return starts[i].kind;
    }
    return 0;
}
