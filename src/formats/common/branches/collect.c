#include "formats/common/branches/branches.h"

#include "base/nearest.h"
#include "formats/common/spt/spt.h"
#include "formats/common/text/one_number.h"
#include "model/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 5 };

struct taker {
    const struct sp_profile *p;
    const struct sp_write_opts *opts;
    const struct sp_br_wants *wants;
    struct sp_diags *d;
    struct sp_branches *out;
    uint32_t samples_metric, missed_metric;
    uint64_t outside, backwards, split, no_address, odd, unwanted;
};

enum what { NOTHING, BRANCH, TRACE, SAMPLE };

static enum what taker_what(const struct taker *t, uint32_t event)
{
    struct sp_str name =
        event == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(t->p, t->p->events.v[event].name);
    if (sp_str_is(name, SP_LBR))
        return t->wants->branches ? BRANCH : NOTHING;
    if (sp_str_is(name, SP_LBR_TRACE))
        return t->wants->branches ? TRACE : NOTHING;
    return t->wants->samples && event != SP_NONE && event == t->out->event ? SAMPLE : NOTHING;
}

/* The count of a stack, or 0: what is no whole positive number is counted in `odd`. */
static uint64_t taker_count(struct taker *t, uint32_t stack, enum what what, uint32_t event)
{
    uint32_t metric = what == SAMPLE ? t->samples_metric : t->p->events.v[event].primary;
    int64_t v = metric == SP_NONE ? SP_ABSENT : sp_weight(t->p, stack, metric);
    if (v > 0)
        return (uint64_t)v;
    t->odd += v != 0 && v != SP_ABSENT;
    return 0;
}

static uint32_t dso_of(const struct sp_profile *p, const struct sp_frame *f)
{
    return p->functions.v[f->function].dso;
}

/* ---- which binary ---- */

/* How much of each DSO there is: of branches where there are any, else samples. False: out of memory. */
static bool taker_weigh(struct taker *t, double *sums, double *whole)
{
    const struct sp_profile *p = t->p;
    bool branches = false;
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        uint32_t event = p->contexts.v[p->stacks.v[s].context].event;
        const struct sp_frame *ends[SP_BRANCH_ENDS];
        enum what what = taker_what(t, event);
        uint32_t n = what ? sp_branch_ends(p, s, ends) : 0;
        if (!n || (what != SAMPLE && n < 2) || (what == SAMPLE && branches))
            continue;
        if (what != SAMPLE && !branches) { /* what was added up before are samples */
            branches = true;
            *whole = 0;
            memset(sums, 0, p->dsos.n * sizeof *sums);
        }
        double count = (double)taker_count(t, s, what, event);
        sums[dso_of(p, ends[what == SAMPLE           ? 0
                            : n - 1 < SP_BRANCH_ENDS ? n - 1
                                                     : SP_BRANCH_ENDS - 1])] += count;
        *whole += count;
    }
    t->odd = 0;
    return true;
}

static bool is_binary(const struct sp_profile *p, size_t dso)
{
    struct sp_str name = sp_pstr(p, p->dsos.v[dso].name);
    return name.n && name.p[0] != '[' && !p->dsos.v[dso].is_kernel;
}

static void taker_say_no_binary(const struct taker *t, const char *asked)
{
    struct sp_buf hint;
    struct sp_str *names = calloc(t->p->dsos.n + 1, sizeof *names);
    sp_buf_init(&hint, 4096);
    for (size_t i = 0; names && i < t->p->dsos.n; i++)
        names[i] = sp_spt_base_name(sp_pstr(t->p, t->p->dsos.v[i].name));
    if (names)
        sp_nearest_words(&hint, asked, names, t->p->dsos.n);
    sp_emit_hint(t->d, SP_E860, SP_AT_NOTHING, sp_buf_cstr(&hint), "the profile has no binary %.120s", asked);
    sp_buf_free(&hint);
    free(names);
}

/* That of the name, and of several the one with the most weight. */
static spaa_status taker_choose_dso(struct taker *t)
{
    const struct sp_profile *p = t->p;
    const char *asked = sp_own_opt(t->opts->own, t->opts->nown, "binary");
    double *sums = calloc(p->dsos.n + 1, sizeof *sums), whole = 0;
    uint32_t best = SP_NONE, others = 0;
    if (!sums || !taker_weigh(t, sums, &whole)) {
        free(sums);
        return sp_nomem(t->d);
    }
    for (uint32_t i = 0; i < p->dsos.n; i++) {
        struct sp_str name = sp_pstr(p, p->dsos.v[i].name);
        if (asked ? !sp_spt_name_is(name, (struct sp_str){asked, (uint32_t)strlen(asked)}) : !is_binary(p, i))
            continue;
        others += sums[i] > 0;
        if (best == SP_NONE || sums[i] > sums[best])
            best = i;
    }
    t->out->dso = best;
    if (best == SP_NONE && asked)
        taker_say_no_binary(t, asked);
    else if (best != SP_NONE && others > 1 && whole > 0)
        sp_emit(t->d, SP_I861, SP_AT_NOTHING, "%s has %.1f%%", sp_pstr(p, p->dsos.v[best].name).p,
                100 * sums[best] / whole);
    free(sums);
    return best == SP_NONE && asked ? SPAA_ERR_USAGE : SPAA_OK;
}

/* ---- its rows ---- */

static bool push(struct sp_br_rows *rows, struct sp_br_row row)
{
    return sp_vec_push(rows, row);
}

/* Whether a frame is in the binary with an address; else it is counted, unless it is elsewhere. */
static bool taker_address(struct taker *t, const struct sp_frame *f, uint64_t count, uint64_t *out)
{
    *out = SP_BR_OUTSIDE;
    if (dso_of(t->p, f) != t->out->dso)
        return true;
    if (!(f->flags & SP_FRAME_IP)) {
        t->no_address += count;
        return false;
    }
    *out = f->ip;
    return true;
}

static bool taker_add_branch(struct taker *t, uint32_t stack, const struct sp_frame *const *ends,
                             uint64_t count)
{
    struct sp_br_row row = {.count = count};
    if (!taker_address(t, ends[0], count, &row.b) || !taker_address(t, ends[1], count, &row.a))
        return true;
    bool outside = row.a == SP_BR_OUTSIDE || row.b == SP_BR_OUTSIDE;
    if (row.a == row.b && outside)
        return true;
    if (outside && !t->wants->outside) {
        t->outside += count;
        return true;
    }
    int64_t missed = t->missed_metric == SP_NONE ? 0 : sp_weight(t->p, stack, t->missed_metric);
    row.missed = missed > 0 ? (uint64_t)missed : 0;
    return push(&t->out->branches, row);
}

static const struct sp_func_info *info_of(const struct sp_profile *p, const struct sp_frame *f)
{
    uint32_t info = f->info ? f->info : p->functions.v[f->function].info;
    return info ? &p->func_infos.v[info - 1] : NULL;
}

/* Whether both are known to be in functions that are not the same one. */
static bool functions_differ(const struct sp_profile *p, const struct sp_frame *a, const struct sp_frame *b)
{
    const struct sp_func_info *x = info_of(p, a), *y = info_of(p, b);
    if (dso_of(p, a) != dso_of(p, b))
        return true;
    if (a->flags & SP_FRAME_UNRESOLVED || b->flags & SP_FRAME_UNRESOLVED)
        return false;
    if (x && y && x->flags & y->flags & SP_FUNC_START)
        return x->start != y->start;
    return a->function != b->function;
}

static bool taker_add_range(struct taker *t, const struct sp_frame *const *ends, uint64_t count)
{
    struct sp_br_row row = {.count = count};
    if (!taker_address(t, ends[0], count, &row.b) || !taker_address(t, ends[1], count, &row.a))
        return true;
    if (row.a == SP_BR_OUTSIDE && row.b == SP_BR_OUTSIDE)
        return true;
    if (row.a == SP_BR_OUTSIDE || row.b == SP_BR_OUTSIDE) {
        t->split += count;
        return true;
    }
    if (row.a > row.b) {
        t->backwards += count;
        return true;
    }
    row.entered = functions_differ(t->p, ends[2], ends[1]);
    return push(&t->out->ranges, row);
}

static bool taker_add_sample(struct taker *t, const struct sp_frame *leaf, uint64_t count)
{
    struct sp_br_row row = {.count = count, .frame = (uint32_t)(leaf - t->p->frames.v)};
    if (!taker_address(t, leaf, count, &row.a) || row.a == SP_BR_OUTSIDE)
        return true;
    return push(&t->out->samples, row);
}

/* Of branches that the format has no lines for: how many begin or end in the binary. */
static uint64_t taker_unwanted(struct taker *t, uint32_t stack, uint32_t event)
{
    const struct sp_frame *ends[SP_BRANCH_ENDS];
    uint32_t n = sp_branch_ends(t->p, stack, ends);
    if (n != 2 || (dso_of(t->p, ends[0]) != t->out->dso && dso_of(t->p, ends[1]) != t->out->dso))
        return 0;
    return taker_count(t, stack, BRANCH, event);
}

static bool taker_add_stack(struct taker *t, uint32_t stack)
{
    const struct sp_profile *p = t->p;
    uint32_t event = p->contexts.v[p->stacks.v[stack].context].event, other = sp_stack_linked(p, stack);
    const struct sp_frame *ends[SP_BRANCH_ENDS];
    enum what what = taker_what(t, event);
    if (!what && event != SP_NONE && sp_str_is(sp_pstr(p, p->events.v[event].name), SP_LBR))
        t->unwanted += taker_unwanted(t, stack, event);
    if (!what || (p->stacks.v[stack].type == SP_USER_STACK && other != SP_NONE))
        return true; /* its kernel record has the leaf */
    uint32_t n = sp_branch_ends(p, stack, ends);
    uint64_t count = n ? taker_count(t, stack, what, event) : 0;
    if (!count)
        return true;
    if (what == SAMPLE)
        return taker_add_sample(t, ends[0], count);
    if (n != (what == BRANCH ? 2u : 3u)) {
        t->odd++;
        return true;
    }
    return what == BRANCH ? taker_add_branch(t, stack, ends, count) : taker_add_range(t, ends, count);
}

static int by_place(const void *a, const void *b)
{
    const struct sp_br_row *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    if (x->entered != y->entered)
        return x->entered ? 1 : -1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum; /* tools take that much */
}

static void add_up(struct sp_br_rows *rows)
{
    size_t n = 0;
    if (rows->n)
        qsort(rows->v, rows->n, sizeof *rows->v, by_place);
    for (size_t i = 0; i < rows->n; i++) {
        struct sp_br_row *last = n ? &rows->v[n - 1] : NULL, *row = &rows->v[i];
        if (last && last->a == row->a && last->b == row->b && last->entered == row->entered) {
            last->count = add(last->count, row->count);
            last->missed = add(last->missed, row->missed);
        } else {
            rows->v[n++] = *row;
        }
    }
    rows->n = n;
}

/* ---- what is said ---- */

static void taker_say(struct taker *t, uint64_t n, enum sp_code code, const char *what)
{
    if (n)
        sp_emit(t->d, code, SP_AT_NOTHING, "%" PRIu64 " %s", n, what);
}

/* Nothing was found: why, and what helps. */
static spaa_status taker_refuse(const struct taker *t)
{
    const struct sp_br_wants *w = t->wants;
    const char *hint = !w->branches ? "record samples of the CPU, with addresses"
                       : w->samples ? "record with `perf record`, with `-b` for branches"
                                    : "record branches: `perf record -b`, on a processor that has them (LBR)";
    if (t->no_address)
        sp_emit_hint(t->d, SP_E860, SP_AT_NOTHING,
                     "take the recording itself, or convert it with `--frames address`",
                     "%s: frames have names, no addresses", w->format);
    else
        sp_emit_hint(t->d, SP_E860, SP_AT_NOTHING, hint, "%s: the profile has no %s%s", w->format,
                     !w->branches ? "samples"
                     : w->samples ? "branches or samples"
                                  : "branches",
                     t->out->dso == SP_NONE ? " in a binary" : "");
    return SPAA_ERR_UNSUPPORTED;
}

static spaa_status taker_report(struct taker *t)
{
    const struct sp_branches *b = t->out;
    taker_say(t, t->no_address, SP_L862, "on frames without an address");
    taker_say(t, t->odd, SP_L862, "stacks: their weight is no count, or they are no pairs");
    taker_say(t, t->split, SP_I863, "traces that end in another binary than they begin in");
    taker_say(t, t->backwards, SP_I863,
              "traces that end before they begin: branches between were not recorded");
    if (t->unwanted)
        sp_emit_hint(
            t->d, SP_L862, SP_AT_NOTHING,
            "`--to bolt`, then `perf2bolt -pa`, which finds the blocks that branches and ranges are of",
            "%" PRIu64 " branches: these are samples alone", t->unwanted);
    taker_say(t, t->outside, SP_I863, "branches from or to other binaries, which the format does not have");
    if (!b->branches.n && !b->ranges.n && !b->samples.n)
        return taker_refuse(t);
    if (b->branches.n && !b->ranges.n)
        sp_emit(t->d, SP_W864, SP_AT_NOTHING, " ");
    return SPAA_OK;
}

spaa_status sp_branches_take(const struct sp_profile *p, const struct sp_write_opts *opts,
                             const struct sp_br_wants *wants, struct sp_diags *d, struct sp_branches *out)
{
    struct taker t = {.p = p, .opts = opts, .wants = wants, .d = d, .out = out};
    *out = (struct sp_branches){.dso = SP_NONE, .event = SP_NONE};
    t.missed_metric = sp_metric_find(p, SP_BRANCH_MISSES, strlen(SP_BRANCH_MISSES));
    t.samples_metric = SP_NONE;
    uint32_t event = wants->samples ? sp_one_event(p, opts) : SP_NONE;
    if (event != SP_NONE && !sp_is_branches(p, event)) {
        out->event = event;
        t.samples_metric = sp_one_counted(p, opts, event, d);
    }
    spaa_status st = taker_choose_dso(&t);
    for (uint32_t s = 0; !st && out->dso != SP_NONE && s < p->stacks.n; s++)
        if (!taker_add_stack(&t, s))
            st = sp_nomem(d);
    if (!st)
        st = taker_report(&t);
    if (!st)
        st = sp_branches_place(p, opts, wants, d, out);
    if (st) {
        sp_branches_free(out);
        return st;
    }
    add_up(&out->branches);
    add_up(&out->ranges);
    add_up(&out->samples);
    return SPAA_OK;
}

void sp_branches_free(struct sp_branches *b)
{
    sp_vec_free(&b->branches);
    sp_vec_free(&b->ranges);
    sp_vec_free(&b->samples);
}
