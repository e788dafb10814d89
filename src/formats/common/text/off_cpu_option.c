#include "formats/common/text/off_cpu_option.h"

#include "model/waiting.h"

spaa_status sp_off_cpu_asked(const struct sp_read_opts *opts, struct sp_diags *d, int64_t *unit)
{
    const char *asked = sp_own_opt(opts->own, opts->nown, "off-cpu");
    *unit = asked ? sp_waiting_unit(asked) : 0;
    if (!asked || *unit)
        return SPAA_OK;
    sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "ns, us, ms or s: offcputime of bcc prints us",
                 "--off-cpu has no unit \"%.60s\"", asked);
    return SPAA_ERR_USAGE;
}

/*
 * Maps without stacks, whose records have one frame that stands for them, are what the program needed:
 * @start[tid], whose values are no durations.
 */
static bool off_cpu_has_stacks(const struct sp_profile *p, uint32_t event)
{
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        const struct sp_stack *x = &p->stacks.v[s];
        if (p->contexts.v[x->context].event == event &&
            (x->n > 1 || (x->n && !sp_str_is(sp_pstr(p, sp_frame_function(p, *sp_stack_frames(p, s))->name),
                                             "[unknown]"))))
            return true;
    }
    return false;
}

spaa_status sp_off_cpu_sums(struct sp_profile *p, int64_t unit, struct sp_diags *d)
{
    uint32_t sum = sp_metric_find(p, "sum", 3);
    bool any = false;
    spaa_status st = SPAA_OK;
    for (uint32_t e = 0; !st && sum != SP_NONE && e < p->events.n; e++)
        if (p->events.v[e].primary == sum && off_cpu_has_stacks(p, e)) {
            any = true;
            st = sp_waiting_declare(p, e, unit, d);
        }
    if (!st && !any)
        sp_emit(d, SP_I322, SP_AT_NOTHING, "--off-cpu has nothing to name: no sums by stack are in it");
    return st;
}

bool sp_off_cpu_entry(const char *p, size_t n)
{
    static const char *const begin[] = {"entry_SYSCALL", "do_syscall_64", "ret_from_fork", "el0t_64_sync",
                                        "el0_svc",       "asm_exc_page",  "asm_sysvec_"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (n >= strlen(begin[i]) && memcmp(p, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}
