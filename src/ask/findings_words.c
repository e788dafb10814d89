#include "ask/findings_words.h"

#include "analysis/interval.h"
#include "analysis/names.h"
#include "analysis/top.h"
#include "ask/next.h"

#include <string.h>

const double sp_finding_shares[SP_FINDING_SHARES] = {50, 10, 1};

bool sp_findings_say_names(const struct sp_findings *all, size_t most, struct sp_said_names *n)
{
    bool ok = true;
    for (size_t i = 0; ok && i < all->list.n && i < most; i++) {
        const struct sp_finding *f = &all->list.v[i];
        ok = sp_said_add(n, f->function) && sp_said_add(n, f->from);
        for (size_t k = 0; f->kind == SP_FIND_IRQ && ok && k < SP_FINDING_CALLERS; k++)
            ok = sp_said_add(n, f->callers[k].function);
        for (size_t k = 0; ok && k < SP_FINDING_STEPS; k++)
            ok = sp_said_add(n, f->steps[k]);
    }
    return ok;
}

/* ---- what shows more ---- */

struct sp_next sp_finding_next(const struct sp_asked *x, const struct sp_finding *f, struct sp_buf *word)
{
    char handle[32];
    sp_buf_clear(word);
    if (f->context != SP_NONE) {
        if (!x->q->options->thread)
            sp_buf_printf(word, "--thread %lld", (long long)x->s.profile->contexts.v[f->context].tid);
        return (struct sp_next){.question = "top", .tail = word->len ? sp_buf_cstr(word) : NULL};
    }
    if (f->function != SP_NONE) {
        bool caller = f->kind == SP_FIND_IRQ && f->callers[0].function != SP_NONE;
        uint32_t function = caller ? f->callers[0].function : f->from != SP_NONE ? f->from : f->function;
        sp_handle_text(&x->handles, function, handle);
        sp_buf_puts(word, handle);
        return (struct sp_next){.question = "function", .argument = sp_buf_cstr(word)};
    }
    return f->kind == SP_FIND_UNRESOLVED ? (struct sp_next){.question = "top", .tail = "--by dso"}
           : f->kind == SP_FIND_NO_STACK ? (struct sp_next){.question = "top", .tail = "--by thread"}
                                         : (struct sp_next){.question = "info"};
}

/* Filters are for views. */
void sp_finding_command(struct sp_buf *b, const struct sp_asked *x, const struct sp_finding *f)
{
    struct sp_buf word;
    sp_buf_init(&word, 0);
    struct sp_next next = sp_finding_next(x, f, &word);
    uint64_t groups = strcmp(next.question, "info") == 0 ? G_READ : sp_next_groups(next.question);
    sp_command_text(b, &next, x->q->names, x->q->nnames, x->q->options, groups);
    b->failed |= word.failed;
    sp_buf_free(&word);
}

/* ---- the statement ---- */

struct saying {
    struct sp_buf *b;
    const struct sp_asked *x;
    const struct sp_said_names *names;
    const struct sp_finding *f;
};

static void finding_share(const struct saying *y, int64_t v)
{
    sp_text_share_of(y->b, &y->x->s, v);
    sp_buf_puts(y->b, "%");
}

static void finding_name(const struct saying *y, uint32_t function)
{
    sp_said_text(y->b, y->names, y->x, function);
}

/* ", most through NAME (12.00%)" */
static void finding_most(const struct saying *y, const char *how, uint32_t function, int64_t weight)
{
    sp_buf_printf(y->b, ", most %s ", how);
    finding_name(y, function);
    sp_buf_puts(y->b, " (");
    finding_share(y, weight);
    sp_buf_puts(y->b, ")");
}

static void finding_through(const struct saying *y)
{
    const struct sp_finding *f = y->f;
    if (f->function == SP_NONE)
        return;
    finding_most(y, "through", f->function, f->through);
    if (f->from != SP_NONE && f->from != f->function)
        finding_most(y, "from", f->from, f->from_weight);
}

static void finding_counts(const struct saying *y, const char *what)
{
    sp_text_grouped(y->b, y->f->part, 0);
    sp_buf_puts(y->b, " (");
    sp_text_percent(y->b, y->f->part, y->f->of);
    sp_buf_printf(y->b, "%%) %s", what);
}

static void finding_thread(const struct saying *y)
{
    const struct sp_finding *f = y->f;
    const struct sp_profile *p = y->x->s.profile;
    sp_buf_puts(y->b, "thread ");
    sp_thread_name(y->b, p, &p->contexts.v[f->context]);
    if (f->kind == SP_FIND_SATURATED) {
        sp_buf_puts(y->b, " was on a CPU for ");
        sp_text_percent(y->b, f->part, f->of);
        sp_buf_puts(y->b, "% of the recording");
    } else {
        sp_buf_puts(y->b, " has ");
        finding_share(y, f->weight);
        sp_buf_printf(y->b, " of the weight, of %zu threads", f->count);
    }
}

/* Within what the true shares are likely to be, for three that are seen. */
static void finding_intervals(struct sp_buf *b, int64_t samples)
{
    sp_text_grouped(b, samples, 0);
    sp_buf_puts(b, " samples; if they are independent and weigh alike, with 95 % confidence");
    for (size_t i = 0; i < SP_FINDING_SHARES; i++) {
        double lo, hi, share = sp_finding_shares[i];
        sp_share_interval(share, samples, &lo, &hi);
        sp_buf_printf(b, "%s a share of %g %% is %.1f to %.1f %%", i ? "," : "", share, lo, hi);
    }
}

/* Of what the artefact took, not of all. */
static void finding_callers(const struct saying *y)
{
    const struct sp_finding *f = y->f;
    struct sp_buf *b = y->b;
    finding_share(y, f->weight);
    sp_buf_puts(b, " of the weight is charged to where interrupts are allowed again, as in ");
    finding_name(y, f->function);
    sp_buf_puts(b, " (");
    finding_share(y, f->through);
    sp_buf_puts(b, "): an artefact of software clocks, whose timer waits while interrupts are off");
    for (size_t i = 0; i < SP_FINDING_CALLERS && f->callers[i].function != SP_NONE; i++) {
        sp_buf_puts(b, i ? ", " : "; the time belongs to whoever had them off, callers: ");
        finding_name(y, f->callers[i].function);
        sp_buf_ch(b, ' ');
        sp_text_percent(b, f->callers[i].weight, f->weight);
        sp_buf_puts(b, " %");
    }
    sp_buf_puts(
        b,
        "; `perf record -e cycles` shows where, with the processor's counters (in a virtual machine: with a "
        "virtual PMU)");
}

static void finding_stacks(const struct saying *y)
{
    static const char *const kinds[SP_FINDINGS] = {
        [SP_FIND_REGEX] = " of the weight builds regular expressions",
        [SP_FIND_FORMAT] = " of the weight builds templates or locales",
        [SP_FIND_UNWIND] = " of the weight throws exceptions and unwinds stacks",
        [SP_FIND_CAST] = " of the weight is in dynamic_cast",
        [SP_FIND_GC] = " of the weight collects garbage",
        [SP_FIND_INTERPRETER] = " of the weight is in the loop of an interpreter",
        [SP_FIND_DEBUG] = " of the weight is self weight of functions that optimising compilers inline",
        [SP_FIND_UNRESOLVED] = " of the weight has no function name",
        [SP_FIND_NO_STACK] = " of the weight has no stack",
        [SP_FIND_IDLE] = " of the weight is idle",
        [SP_FIND_WAIT] = " of the weight is in stacks that wait",
        [SP_FIND_LOCK] = " of the weight is in stacks through locks",
        [SP_FIND_ALLOC] = " of the weight is in stacks that allocate or free memory",
        [SP_FIND_FAULT] = " of the weight is in page faults",
        [SP_FIND_SYSCALL] = " of the weight is in system calls",
        [SP_FIND_RECURSION] = " of the weight is what a function does itself that calls itself"};
    const struct sp_finding *f = y->f;
    finding_share(y, f->weight);
    sp_buf_puts(y->b,
                f->by_name
                    ? " of the weight is in stacks with a function's name more than once (names alone do "
                      "not tell recursion from overloads)"
                    : kinds[f->kind]);
    finding_through(y);
    if (f->deepest)
        sp_buf_printf(y->b, ", up to %u times in one stack", f->deepest);
}

/* Which system call, and whether threads waited for a lock. */
static void finding_named(const struct saying *y)
{
    const struct sp_finding *f = y->f;
    finding_share(y, f->weight);
    if (*f->what)
        sp_buf_printf(y->b, " of the weight is in the system call %s", f->what);
    else
        sp_buf_puts(y->b, f->kind == SP_FIND_SYSCALL ? " of the weight is in system calls"
                          : f->parts[SP_PART_CONTENDED] + f->parts[SP_PART_KERNEL_LOCK] > 0
                              ? " of the weight is spent on locks that others held"
                              : " of the weight is in stacks through locks");
    finding_through(y);
}

void sp_finding_text(struct sp_buf *b, const struct sp_asked *x, const struct sp_said_names *n,
                     const struct sp_finding *f)
{
    const struct saying y = {b, x, n, f};
    switch (f->kind) {
    case SP_FIND_LOST:
        finding_counts(&y, "samples were lost by the profiler");
        break;
    case SP_FIND_TRUNCATED:
        finding_counts(&y, "stacks were cut off");
        break;
    case SP_FIND_FEW:
        finding_intervals(b, f->part);
        break;
    case SP_FIND_IRQ:
        finding_callers(&y);
        break;
    case SP_FIND_SATURATED:
    case SP_FIND_DOMINANT:
        finding_thread(&y);
        break;
    case SP_FIND_SYSCALL:
    case SP_FIND_LOCK:
        finding_named(&y);
        break;
    default:
        finding_stacks(&y);
    }
}
