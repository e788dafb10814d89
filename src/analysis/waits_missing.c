/* Why a profile tells nothing of waits: what it holds, what is missing, and which recording has it. */
#include "analysis/waits.h"

#include "base/buf.h"
#include "base/num.h"
#include "model/sched_events.h"

#define RECORD_SWITCHES "perf record -a -g -e sched:sched_switch,sched:sched_waking"

static void refuse_grouping(struct sp_diags *d)
{
    sp_emit_hint(d, SP_E033, SP_AT_NOTHING,
                 "convert the recording again with --group-by pid,tid,comm,state, the default",
                 "whose waits they are, and in what state, was left out when the profile was written");
}

static void refuse_wakings(struct sp_diags *d)
{
    sp_emit_hint(d, SP_E036, SP_AT_NOTHING, RECORD_SWITCHES "; `top` has whom who woke",
                 "the recording holds who was woken when, but not when threads left the CPU: how long they "
                 "waited is not known without sched:sched_switch");
}

static void refuse_goroutines(struct sp_diags *d)
{
    sp_emit_hint(
        d, SP_E036, SP_AT_NOTHING,
        "/debug/pprof/goroutine?debug=2 says for each what it waits for and since when; Go's block and "
        "mutex profiles how long was waited",
        "the profile counts goroutines by where they stood: what each waited for, and how long, is not "
        "in it");
}

/* Numbers by stack, of which nothing says what they are. */
static void refuse_numbers(struct sp_diags *d)
{
    sp_emit_hint(
        d, SP_E036, SP_AT_NOTHING,
        "if they are times off the CPU, say in what unit: --off-cpu us (offcputime -f of bcc), or ns, "
        "ms, s; else record waits: Linux: " RECORD_SWITCHES
        "; Go: the block and mutex profiles, goroutine?debug=2; macOS: spindump",
        "the file holds numbers by stack and nothing that says they are time off the CPU");
}

/* Time of others, by the stack that ended it. */
static void refuse_wakers(struct sp_diags *d)
{
    sp_emit_hint(
        d, SP_E036, SP_AT_NOTHING,
        "offwaketime of bcc has both; `top` has the stacks that woke, and how long others had waited",
        "the profile has the stacks that woke others: where those waited is not in it");
}

static void refuse_counts(const struct sp_selection *s, struct sp_diags *d)
{
    struct sp_str event = sp_pstr(s->profile, s->profile->events.v[s->event].name);
    sp_emit_hint(
        d, SP_E036, SP_AT_NOTHING, RECORD_SWITCHES ", or perf record --off-cpu",
        "the profile has events of %.*s: how often, where and by whom, but not when threads left the "
        "CPU and came back",
        (int)event.n, event.p);
}

static void refuse_samples(struct sp_diags *d)
{
    sp_emit_hint(
        d, SP_E036, SP_AT_NOTHING,
        "Linux: " RECORD_SWITCHES ", or perf record --off-cpu, or "
        "bcc's offcputime -f (read with --off-cpu us); Go: the block and mutex profiles, "
        "goroutine?debug=2; macOS: spindump",
        "samples of who runs hold no waiting: neither time off the CPU nor states of threads are in it");
}

void sp_waits_refuse_lost(struct sp_diags *d)
{
    sp_emit_hint(
        d, SP_E036, SP_AT_NOTHING,
        "record again, and end perf with SIGINT (Ctrl-C): what is left of a recording also lacks events "
        "of some CPUs, since perf writes those of one after those of another",
        "which tracepoints the recording has, and their fields, is lost: perf writes that at the end, "
        "and the recording is cut off or its perf was killed");
}

static bool has_wakings(const struct sp_profile *p)
{
    return sp_sched_has(p, SP_SCHED_WAKING) || sp_sched_has(p, SP_SCHED_WAKEUP) ||
           sp_sched_has(p, SP_SCHED_WAKEUP_NEW);
}

void sp_waits_refuse(const struct sp_selection *s, struct sp_diags *d)
{
    static const char *const untold[] = {"folded", "dtrace", "bpftrace", "bcc", NULL};
    const struct sp_profile *p = s->profile;
    const struct sp_event *e = &p->events.v[s->event];
    struct sp_str tool = sp_pstr(p, p->header.source_tool);
    bool counts = e->kind == SP_PROBE || e->kind == SP_ALLOCATION || e->kind == SP_DEALLOCATION,
         told = counts && sp_str_is(tool, "bcc"); /* its tools say what they count */
    if (sp_str_is(tool, "spindump") || sp_sched_has(p, SP_SCHED_SWITCH) || sp_sched_has(p, SP_SCHED_RECORD))
        refuse_grouping(d);
    else if (sp_sched_names_lost(p))
        sp_waits_refuse_lost(d);
    else if (has_wakings(p))
        refuse_wakings(d);
    else if (sp_str_is(sp_pstr(p, e->name), "goroutine"))
        refuse_goroutines(d);
    else if (e->primary != SP_NONE && sp_str_is(sp_pstr(p, p->metrics.v[e->primary].name), "blocked_ns"))
        refuse_wakers(d);
    else if (e->mode != SP_FREQUENCY && !told && sp_name_index(untold, tool.p, tool.n) >= 0)
        refuse_numbers(d);
    else if (counts)
        refuse_counts(s, d);
    else
        refuse_samples(d);
}
