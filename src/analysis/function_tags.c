#include "analysis/function_tags.h"

#include "analysis/state_shares.h"

#include "base/num.h"
#include "model/entries.h"
#include "model/leaf_state.h"

#include <string.h>

/* Functions of Linux in which a CPU has nothing to do, and in which a thread waits, by their exact names;
 * those of macOS: model/leaf_states.def. */
static const char *const idle_names[] = {"swapper",        "cpuidle_enter_state", "intel_idle",
                                         "default_idle",   "native_safe_halt",    "acpi_idle_do_entry",
                                         "do_idle",        "mwait_idle",          "pv_native_safe_halt",
                                         "acpi_safe_halt", "poll_idle",           "cpu_idle",
                                         "cpu_idle_loop",  "intel_idle_irq",      NULL};
static const char *const wait_names[] = {"__schedule",
                                         "schedule",
                                         "schedule_timeout",
                                         "futex_wait_queue",
                                         "futex_wait_queue_me",
                                         "do_nanosleep",
                                         "ep_poll",
                                         "pipe_wait",
                                         NULL};

const char *const sp_tag_words[] = {"unresolved", "idle", "wait", "kernel", "inlined", "irq-enable", NULL};

/*
 * Functions of the kernel that allow interrupts again, without what compilers put behind names. The timer of
 * a software clock cannot interrupt code that has them off: what such code took is charged to the instruction
 * after the one that allows them. So these are recorded with nearly all of their self weight at one address.
 */
static const char *const irq_names[] = {"_raw_spin_unlock_irqrestore",
                                        "_raw_spin_unlock_irq",
                                        "_raw_read_unlock_irqrestore",
                                        "_raw_read_unlock_irq",
                                        "_raw_write_unlock_irqrestore",
                                        "_raw_write_unlock_irq",
                                        "__raw_spin_unlock_irqrestore",
                                        "__raw_spin_unlock_irq",
                                        "rt_spin_unlock_irqrestore",
                                        "finish_task_switch",
                                        "finish_lock_switch",
                                        "__do_softirq",
                                        "handle_softirqs",
                                        "do_softirq",
                                        "exit_to_user_mode_prepare",
                                        "exit_to_user_mode_loop",
                                        "syscall_exit_to_user_mode",
                                        "syscall_exit_to_user_mode_prepare",
                                        "irqentry_exit_to_user_mode",
                                        "syscall_enter_from_user_mode",
                                        "do_syscall_64",
                                        "exc_page_fault",
                                        "do_user_addr_fault",
                                        "native_irq_enable",
                                        "native_restore_fl",
                                        "pv_native_irq_enable",
                                        "pv_native_restore_fl",
                                        "xen_irq_enable_direct",
                                        "xen_restore_fl_direct",
                                        "arch_local_irq_enable",
                                        "arch_local_irq_restore",
                                        "el0_svc",
                                        "el0_da",
                                        "el0_ia",
                                        "do_notify_resume",
                                        NULL};

/* Sampled by a timer of the kernel's, whatever processor there is: not by a counter, whose interrupt is an
 * NMI. */
bool sp_is_software_clock(const struct sp_profile *p, uint32_t event)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock", NULL};
    struct sp_str name = sp_pstr(p, p->events.v[event].name);
    const char *end = name.n ? strpbrk(name.p, ":/#") : NULL;
    return p->events.v[event].kind == SP_SOFTWARE &&
           sp_name_index(clocks, name.p, end ? (size_t)(end - name.p) : name.n) >= 0;
}

static bool enables_irqs(struct sp_str name)
{
    const char *end = memchr(name.p, '.', name.n);
    return sp_name_index(irq_names, name.p, end ? (size_t)(end - name.p) : name.n) >= 0;
}

/* A worker without work has the stack of a new thread; all that works stands on the same function. */
static bool waits_where_it_is_leaf(const struct sp_profile *p, uint32_t function)
{
    const struct sp_function *f = &p->functions.v[function];
    return !p->dsos.v[f->dso].is_kernel && sp_is_entry(sp_pstr(p, f->name), SP_SIDE_USER);
}

bool sp_waits_in(const struct sp_profile *p, uint32_t stack, uint32_t function)
{
    const struct sp_stack *s = &p->stacks.v[stack];
    const uint32_t *frames = p->stack_frames.v + s->first;
    uint32_t leaf = 0;
    if (!waits_where_it_is_leaf(p, function))
        return true;
    while (leaf < s->n && sp_frame_is_kernel(p, frames[leaf]))
        leaf++;
    enum sp_state_share state = sp_state_share_of(sp_pstr(p, p->contexts.v[s->context].state));
    return leaf < s->n && p->frames.v[frames[leaf]].function == function && state != SP_SHARE_RUNNING &&
           state != SP_SHARE_RUNNABLE;
}

/* Whether it waits wherever it stands. */
static bool waits_everywhere(const struct sp_selection *s, uint32_t function)
{
    const struct sp_profile *p = s->profile;
    if (!waits_where_it_is_leaf(p, function))
        return true;
    for (size_t i = 0; i < s->rows.n; i++) {
        const struct sp_stack *stack = &p->stacks.v[s->rows.v[i].stack];
        const uint32_t *frames = p->stack_frames.v + stack->first;
        uint32_t k = 0;
        while (k < stack->n && p->frames.v[frames[k]].function != function)
            k++;
        if (k < stack->n && !sp_waits_in(p, s->rows.v[i].stack, function))
            return false;
    }
    return true;
}

unsigned sp_function_tags(const struct sp_selection *s, uint32_t function)
{
    unsigned tags = sp_function_tags_by_name(s->profile, s->event, function);
    return tags & SP_TAG_WAIT && !waits_everywhere(s, function) ? tags & ~(unsigned)SP_TAG_WAIT : tags;
}

unsigned sp_function_tags_by_name(const struct sp_profile *p, uint32_t event, uint32_t function)
{
    const struct sp_function *f = &p->functions.v[function];
    struct sp_str name = sp_pstr(p, f->name);
    unsigned tags = 0;
    const char *leaf = sp_leaf_state(name, sp_pstr(p, p->dsos.v[f->dso].name), p->dsos.v[f->dso].is_kernel);
    bool idle = leaf && strcmp(leaf, "IDLE") == 0; /* others of that table wait */
    if (idle || sp_name_index(idle_names, name.p, name.n) >= 0)
        tags |= SP_TAG_IDLE;
    if (sp_is_of_microstackshots(p, event))
        tags = 0;
    else if ((leaf && !idle) || sp_name_index(wait_names, name.p, name.n) >= 0)
        tags |= SP_TAG_WAIT;
    if (p->dsos.v[f->dso].is_kernel)
        tags |= SP_TAG_KERNEL;
    if (tags & SP_TAG_KERNEL && sp_is_software_clock(p, event) && enables_irqs(name))
        tags |= SP_TAG_IRQ;
    return tags;
}
