/* Findings in words, and the commands that show more of them. */
#include "findings_text.h"

#include "analysis/interval.h"
#include "analysis/names.h"
#include "analysis/top.h"
#include "base/num.h"
#include "render/text.h"

const double finding_shares[FINDING_SHARES] = {50, 10, 1};

/* The command that shows more of a finding; its argument is written into `word`. */
struct answer_next finding_next(struct answer *a, const struct sp_finding *f, struct sp_buf *word)
{
    const struct sp_profile *p = a->s->profile;
    char handle[32];
    sp_buf_clear(word);
    if (f->context != SP_NONE) {
        if (!a->c->v.thread)
            sp_buf_printf(word, "--thread %lld", (long long)p->contexts.v[f->context].tid);
        return (struct answer_next){"top", NULL, word->len ? sp_buf_cstr(word) : NULL};
    }
    if (f->function != SP_NONE) {
        bool caller = f->kind == SP_FIND_IRQ && f->callers[0].function != SP_NONE;
        sp_handle_text(&a->handles,
                       caller               ? f->callers[0].function
                       : f->from != SP_NONE ? f->from
                                            : f->function,
                       handle);
        sp_buf_puts(word, handle);
        return (struct answer_next){"function", sp_buf_cstr(word), NULL};
    }
    return f->kind == SP_FIND_UNRESOLVED ? (struct answer_next){"top", NULL, "--by dso"}
           : f->kind == SP_FIND_NO_STACK ? (struct answer_next){"top", NULL, "--by thread"}
                                         : (struct answer_next){"info", NULL, NULL};
}

/* Filters are for views. */
void finding_command(struct answer *a, const struct sp_finding *f, struct sp_buf *out)
{
    struct sp_buf word;
    sp_buf_init(&word, 0);
    struct answer_next next = finding_next(a, f, &word);
    if (strcmp(next.command, "info") == 0)
        command_of_files(out, a->c, &next);
    else
        command_text(out, a->c, &next);
    sp_buf_free(&word);
}

static void findings_text_weight_of(struct answer *a, int64_t v)
{
    percent_text(&a->b, a->s, v);
    sp_buf_puts(&a->b, "%");
}

static void findings_text_name_of(struct answer *a, uint32_t function)
{
    const struct sp_profile *p = a->s->profile;
    struct sp_str s = sp_pstr(p, p->functions.v[function].name);
    sp_text_safe(&a->b, s.p, s.n);
}

static void say_through(struct answer *a, const struct sp_finding *f)
{
    if (f->function == SP_NONE)
        return;
    sp_buf_puts(&a->b, ", most through ");
    findings_text_name_of(a, f->function);
    sp_buf_puts(&a->b, " (");
    findings_text_weight_of(a, f->through);
    sp_buf_puts(&a->b, ")");
    if (f->from == SP_NONE || f->from == f->function)
        return;
    sp_buf_puts(&a->b, ", most from ");
    findings_text_name_of(a, f->from);
    sp_buf_puts(&a->b, " (");
    findings_text_weight_of(a, f->from_weight);
    sp_buf_puts(&a->b, ")");
}

static void say_share(struct answer *a, int64_t part, int64_t of, const char *what)
{
    sp_text_grouped(&a->b, part, 0);
    sp_buf_puts(&a->b, " (");
    sp_text_percent(&a->b, part, of);
    sp_buf_printf(&a->b, "%%) %s", what);
}

static void say_thread(struct answer *a, const struct sp_finding *f)
{
    struct sp_buf *b = &a->b, name;
    sp_buf_init(&name, 0);
    sp_thread_name(&name, a->s->profile, &a->s->profile->contexts.v[f->context]);
    sp_buf_puts(b, "thread ");
    sp_text_safe(b, name.data ? name.data : "", name.len);
    sp_buf_free(&name);
    if (f->kind == SP_FIND_SATURATED) {
        sp_buf_puts(b, " was on a CPU for ");
        sp_text_percent(b, f->part, f->of);
        sp_buf_puts(b, "% of the recording");
    } else {
        sp_buf_puts(b, " has ");
        findings_text_weight_of(a, f->weight);
        sp_buf_printf(b, " of the weight, of %zu threads", f->count);
    }
}

/* Within what the true shares are likely to be, for three that are seen. */
static void say_intervals(struct sp_buf *b, int64_t samples)
{
    sp_text_grouped(b, samples, 0);
    sp_buf_puts(b, " samples; if they are independent and weigh alike, with 95 % confidence");
    for (size_t i = 0; i < FINDING_SHARES; i++) {
        double lo, hi;
        sp_share_interval(finding_shares[i], samples, &lo, &hi);
        sp_buf_printf(b, "%s a share of %g %% is %.1f to %.1f %%", i ? "," : "", finding_shares[i], lo, hi);
    }
}

/* Of what the artefact took, not of all. */
static void say_callers(struct answer *a, const struct sp_finding *f)
{
    struct sp_buf *b = &a->b;
    findings_text_weight_of(a, f->weight);
    sp_buf_puts(b, " of the weight is charged to where interrupts are allowed again, as in ");
    findings_text_name_of(a, f->function);
    sp_buf_puts(b, " (");
    findings_text_weight_of(a, f->through);
    sp_buf_puts(b, "): an artefact of software clocks, whose timer waits while interrupts are off");
    for (size_t i = 0; i < SP_FINDING_CALLERS && f->callers[i].function != SP_NONE; i++) {
        sp_buf_puts(b, i ? ", " : "; the time belongs to whoever had them off, callers: ");
        findings_text_name_of(a, f->callers[i].function);
        sp_buf_ch(b, ' ');
        sp_text_percent(b, f->callers[i].weight, f->weight);
        sp_buf_puts(b, " %");
    }
    sp_buf_puts(
        b,
        "; `perf record -e cycles` shows where, with the processor's counters (in a virtual machine: with a "
        "virtual PMU)");
}

void finding_text(struct answer *a, const struct sp_finding *f)
{
    static const char *const kinds[SP_FINDINGS] = {
        [SP_FIND_UNRESOLVED] = " of the weight has no function name",
        [SP_FIND_NO_STACK] = " of the weight has no stack",
        [SP_FIND_IDLE] = " of the weight is idle",
        [SP_FIND_WAIT] = " of the weight is in stacks that wait",
        [SP_FIND_LOCK] = " of the weight is in stacks through locks",
        [SP_FIND_ALLOC] = " of the weight is in stacks that allocate or free memory",
        [SP_FIND_FAULT] = " of the weight is in page faults",
        [SP_FIND_SYSCALL] = " of the weight is in system calls",
        [SP_FIND_RECURSION] = " of the weight is in recursive stacks"};
    struct sp_buf *b = &a->b;
    sp_buf_clear(b);
    switch (f->kind) {
    case SP_FIND_LOST:
        say_share(a, f->part, f->of, "samples were lost by the profiler");
        break;
    case SP_FIND_TRUNCATED:
        say_share(a, f->part, f->of, "stacks were cut off");
        break;
    case SP_FIND_FEW:
        say_intervals(b, f->part);
        break;
    case SP_FIND_IRQ:
        say_callers(a, f);
        break;
    case SP_FIND_SATURATED:
    case SP_FIND_DOMINANT:
        say_thread(a, f);
        break;
    default:
        findings_text_weight_of(a, f->weight);
        sp_buf_puts(b,
                    f->by_name
                        ? " of the weight is in stacks with a function's name more than once (names alone do "
                          "not tell recursion from overloads)"
                        : kinds[f->kind]);
        say_through(a, f);
        if (f->deepest)
            sp_buf_printf(b, ", up to %u times in one stack", f->deepest);
    }
}
