/* What changes what may be concluded from a profile, with its figures; and what cannot be known from it. */
#include "ask/summary.h"

#include "analysis/interval.h"
#include "base/num.h"
#include "model/identity.h"

enum { CAUTION_DSOS = 2, CAUTION_ARGUMENTS = 60 };

/* ---- how they are noted ---- */

static const char *caution_kept(struct sp_summary *x, struct sp_buf *b)
{
    const char *text = b->failed ? NULL : sp_arena_dup(&x->x.out->arena, sp_buf_cstr(b), b->len + 1);
    x->x.out->failed |= !text;
    sp_buf_clear(b);
    return text;
}

/* b: the statement, which is taken; `settle` likewise, NULL: none. */
static void caution(struct sp_summary *x, const char *id, const char *title, struct sp_buf *b,
                    struct sp_buf *settle)
{
    struct sp_caution c = {.id = id, .title = title, .statement = caution_kept(x, b)};
    if (settle && (settle->len || settle->failed))
        c.settle = caution_kept(x, settle);
    if (c.statement && !sp_vec_push(&x->cautions, c))
        x->x.out->failed = true;
}

static const struct sp_finding *caution_finding(const struct sp_summary *x, enum sp_finding_kind kind)
{
    for (size_t i = 0; i < x->findings.list.n; i++)
        if (x->findings.list.v[i].kind == kind)
            return &x->findings.list.v[i];
    return NULL;
}

static void caution_share(struct sp_buf *b, const struct sp_summary *x, int64_t v)
{
    sp_text_about(b, v, x->x.s.whole);
    sp_buf_printf(b, " of %s", x->noun);
}

/* " (libstdc++ 28 %, libc 18 %, …)": names of libraries without version. */
static void caution_dsos(struct sp_buf *b, const struct sp_summary *x, const struct sp_dso_weights *w,
                         int64_t of)
{
    for (size_t i = 0; i < w->list.n && i < CAUTION_DSOS; i++) {
        struct sp_str name = sp_base_name(sp_dso_name(x->x.s.profile, w->list.v[i].dso));
        const char *end = name.n ? memmem(name.p + 1, name.n - 1, ".so", 3) : NULL;
        sp_buf_puts(b, i ? ", " : " (");
        sp_buf_add(b, name.p, end ? (size_t)(end - name.p) : name.n);
        sp_buf_ch(b, ' ');
        sp_text_about(b, w->list.v[i].weight, of);
    }
    sp_buf_puts(b, w->list.n > CAUTION_DSOS ? ", …)" : w->list.n ? ")" : "");
}

/* ---- how it would have to be recorded ---- */

/* "perf record -e EVENT -F 999 HOW -- srv 400", as the recording was made; " …" for what is not known. */
static void caution_record(struct sp_buf *b, const struct sp_summary *x, const char *how)
{
    const struct sp_profile *p = x->x.s.profile;
    const struct sp_event *e = &p->events.v[x->x.s.event];
    struct sp_str name = sp_pstr(p, e->name), hz = sp_pstr(p, e->frequency_hz);
    bool usual = name.n >= 6 && (memcmp(name.p, "cpu-cl", 6) == 0 || memcmp(name.p, "cycles", 6) == 0);
    sp_buf_puts(b, "perf record");
    if (!usual && name.n)
        sp_buf_printf(b, " -e %.*s", (int)name.n, name.p);
    if (e->mode == SP_FREQUENCY && hz.n)
        sp_buf_printf(b, " -F %.*s", (int)hz.n, hz.p);
    sp_buf_printf(b, "%s %s", x->all_cpus ? " -a" : "", how);
    if (x->command.n && x->command.n <= CAUTION_ARGUMENTS)
        sp_buf_printf(b, " %.*s", (int)x->command.n, x->command.p);
    else
        sp_buf_puts(b, " …");
}

static bool caution_of_perf(const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    return sp_str_is(sp_pstr(p, p->header.source_tool), "perf");
}

static bool caution_has_jit(const struct sp_summary *x)
{
    for (size_t i = 0; i < x->dsos.rows.n; i++)
        if ((sp_str_is(sp_str_at(&x->dsos.names, x->dsos.rows.v[i].name), "[jit]") ||
             sp_str_is(sp_str_at(&x->dsos.names, x->dsos.rows.v[i].name), "[anon]")) &&
            (double)x->dsos.rows.v[i].total > 0.01 * (double)x->x.s.whole)
            return true;
    return false;
}

/* ---- callers ---- */

/* Of which function, and within what. */
static void caution_total(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_own_row *widest = NULL;
    bool any = false; /* bounds are known, all close */
    for (size_t i = 0; i < x->calls.n; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[x->calls.row[i]];
        struct sp_str name = sp_pstr(x->x.s.profile, x->x.s.profile->functions.v[r->function].name);
        any = any || r->at_most != SP_ABSENT;
        if (name.n > 1 && memcmp(name.p, "0x", 2) == 0)
            continue;
        if (!widest && r->at_most != SP_ABSENT &&
            (double)(r->at_most - r->total) >= 0.05 * (double)x->x.s.whole)
            widest = r;
    }
    if (!widest) {
        sp_buf_puts(b, any ? "" : "exact totals of functions");
        return;
    }
    sp_summary_name(b, x, widest->function);
    sp_buf_puts(b, "'s exact total (");
    sp_text_about(b, widest->total, x->x.s.whole);
    sp_buf_puts(b, " to ");
    sp_text_about(b, widest->at_most, x->x.s.whole);
    sp_buf_ch(b, ')');
}

static void caution_callers(struct sp_summary *x)
{
    static const char *const how[SP_CHAINS] = {[SP_CHAIN_NO_ENTRY] = "stacks that begin at no thread's entry",
                                               [SP_CHAIN_UNMAPPED] = "stacks that begin at no mapped place",
                                               [SP_CHAIN_CUT] = "stacks that were cut off",
                                               [SP_CHAIN_EDGE] = "stacks with a call that cannot be"};
    const struct sp_selection *s = &x->x.s;
    const struct sp_chains *c = s->chains;
    struct sp_buf b, settle;
    unsigned most = SP_CHAIN_NO_ENTRY;
    if (!sp_chains_tell(s) || x->calls.deepest == 1)
        return;
    sp_buf_init(&b, 0);
    sp_buf_init(&settle, 0);
    for (unsigned i = most + 1; i < SP_CHAINS; i++)
        most = c->by[i] > c->by[most] ? i : most;
    sp_text_about(&b, c->broken, c->of);
    sp_buf_printf(&b, " of %s in %s", x->noun, how[most]);
    caution_dsos(&b, x, &c->dsos, c->of);
    sp_buf_puts(&b, c->filtered ? ", before filters of frames: those miss stacks. Self is sound."
                                : ". Self is sound.");
    caution(x, "callers_unreliable", "CALLERS UNRELIABLE", &b, NULL);
    caution_total(&b, x);
    bool cut = c->by[SP_CHAIN_CUT] * 2 > c->broken;
    if (caution_of_perf(x) && !cut && !c->copies && !c->limit && !caution_has_jit(x))
        caution_record(&settle, x, "--call-graph dwarf,16384");
    else if (caution_of_perf(x) && cut)
        caution_record(&settle, x, "--call-graph dwarf,65528");
    else if (caution_has_jit(x))
        sp_buf_puts(&settle,
                    "libraries built with -fno-omit-frame-pointer (of JIT code dwarf knows nothing)");
    else
        sp_chains_hint(s, &settle);
    if (b.len || b.failed)
        caution(x, "totals", NULL, &b, &settle);
    sp_buf_free(&b);
    sp_buf_free(&settle);
}

/* Where frame pointers may have skipped callers and nobody could look. */
static void caution_unchecked(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_chains *c = x->x.s.chains;
    if (!c || c->of <= 0 || (__int128)c->unchecked * 100 < (__int128)c->of * SP_CHAINS_PERCENT)
        return;
    sp_text_about(b, c->unchecked, c->of);
    sp_buf_printf(b, " of %s in stacks of binaries of which no build-id was recorded", x->noun);
    caution_dsos(b, x, &c->unchecked_dsos, c->of);
    sp_buf_puts(b, ": frame pointers may have skipped callers; perf record --buildid-all");
    caution(x, "callers_unchecked", "CALLERS UNCHECKED", b, NULL);
}

/* Stacks of one frame: nobody recorded who calls. */
static void caution_no_callers(struct sp_summary *x)
{
    struct sp_buf b, settle;
    if (x->calls.deepest != 1 || !x->x.s.whole || x->x.s.filters.len || x->x.s.cannot_add)
        return;
    sp_buf_init(&b, 0);
    sp_buf_init(&settle, 0);
    sp_buf_puts(&b, "every stack has one frame: totals are self, and nothing says who calls.");
    caution(x, "no_callers", "NO CALLERS", &b, NULL);
    if (caution_of_perf(x)) {
        sp_buf_puts(&b, "who calls these functions");
        caution_record(&settle, x, sp_chains_tell(&x->x.s) ? "--call-graph dwarf,16384" : "-g");
        caution(x, "callers", NULL, &b, &settle);
    }
    sp_buf_free(&b);
    sp_buf_free(&settle);
}

/* ---- names, losses, samples ---- */

/* What the first of these binaries has in all: more, where some of its functions have names. */
static void caution_of_whole(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_dso_weights *w = &x->quality.dsos;
    struct sp_str name = w->list.n ? sp_dso_name(x->x.s.profile, w->list.v[0].dso) : (struct sp_str){"", 0};
    for (size_t i = 0; name.n && i < x->dsos.rows.n; i++) {
        const struct sp_top_row *r = &x->dsos.rows.v[i];
        double named = (double)r->self - (double)w->list.v[0].weight;
        if (r->dso != w->list.v[0].dso || named < 0.005 * (double)x->x.s.whole)
            continue;
        name = sp_base_name(name);
        sp_buf_printf(b, "; all of %.*s ", (int)name.n, name.p);
        sp_text_about(b, r->self, x->x.s.whole);
    }
}

static void caution_names(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_quality *q = &x->quality;
    if (!caution_finding(x, SP_FIND_UNRESOLVED))
        return;
    sp_answer_tells(x->x.out, SP_I320);
    caution_share(b, x, q->unresolved_leaf);
    sp_buf_puts(b, " is in functions without a name");
    caution_dsos(b, x, &q->dsos, x->x.s.whole);
    caution_of_whole(b, x);
    bool nowhere =
        q->dsos.list.n && sp_str_is(sp_dso_name(x->x.s.profile, q->dsos.list.v[0].dso), "[unknown]");
    sp_buf_puts(b, nowhere ? ", and of which binary is not recorded."
                           : ": debug symbols or --debug-dir DIR name them.");
    caution(x, "names_missing", "NAMES MISSING", b, NULL);
}

/* Findings that are about counts of samples or stacks, where they pass their thresholds; else a plain line.
 */
static void caution_losses(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_finding *lost = caution_finding(x, SP_FIND_LOST),
                            *cut = caution_finding(x, SP_FIND_TRUNCATED);
    if (lost) {
        sp_text_about(b, lost->part, lost->of);
        sp_buf_puts(b, " of samples were lost by the profiler (");
        sp_text_grouped(b, lost->part, 0);
        sp_buf_puts(b, " of ");
        sp_text_grouped(b, lost->of, 0);
        sp_buf_puts(b, "): shares are of what is left.");
        caution(x, "lost", "LOST", b, NULL);
    }
    if (cut) {
        sp_text_about(b, cut->part, cut->of);
        sp_buf_puts(b, " of stacks were cut off (");
        sp_text_grouped(b, cut->part, 0);
        sp_buf_puts(b, " of ");
        sp_text_grouped(b, cut->of, 0);
        sp_buf_puts(b, "): their callers are missing.");
        caution(x, "cut", "CUT", b, NULL);
    }
}

/* The biggest share, and within what it is likely to be. */
static void caution_few(struct sp_summary *x, struct sp_buf *b)
{
    enum { WIDE = 8, VERY_FEW = 100 };
    const struct sp_finding *few = caution_finding(x, SP_FIND_FEW);
    const struct sp_own_row *r = x->calls.n ? &x->fold.rows.v[x->calls.row[0]] : NULL;
    double lo = 0, hi = 0;
    if (!few || !few->part || x->x.s.cannot_add || x->x.s.whole <= 0)
        return;
    int64_t weight = !r ? 0 : sp_chains_tell(&x->x.s) ? r->total : r->sum.weight;
    double share = r ? 100 * (double)weight / (double)x->x.s.whole : 50;
    share = share > 100 ? 100 : share < 0 ? 0 : share;
    sp_share_interval(share, few->part, &lo, &hi);
    if (hi - lo < WIDE && few->part >= VERY_FEW)
        return;
    sp_text_count(b, (uint64_t)few->part, "sample");
    sp_buf_puts(b, ": ");
    if (r)
        sp_summary_name(b, x, r->function);
    sp_buf_printf(b, "%s %.0f %% is %.0f to %.0f %% (95 %% confidence, if samples are independent).",
                  r ? "'s" : "a share of", share, lo, hi);
    caution(x, "few_samples", "FEW SAMPLES", b, NULL);
}

/* ---- whose weight it is ---- */

/* Whether the heaviest is something else than what was started; only where all that weighs has a name. */
static void caution_process(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_recorded *r = x->recorded.v, *started = NULL;
    int64_t of_program = 0;
    if (!x->recorded.n || !x->program.n || x->x.s.cannot_add || x->x.s.filters.len || !caution_of_perf(x) ||
        sp_str_is(x->program, "sleep") || !r->name.n || (double)r->weight < 0.5 * (double)x->x.s.whole)
        return;
    for (size_t i = 0; i < x->recorded.n; i++) {
        started = !started && r[i].is_command ? &r[i] : started;
        of_program += r[i].is_command || !r[i].name.n ? r[i].weight : 0;
    }
    if (r->is_command || (double)of_program >= 0.5 * (double)x->x.s.whole)
        return;
    caution_share(b, x, r->weight);
    sp_buf_printf(b, " is %.*s, not the command %.*s, which has ", (int)r->name.n, r->name.p,
                  (int)x->program.n, x->program.p);
    sp_text_about(b, started ? started->weight : 0, x->x.s.whole);
    if (started && started->pid != SP_ABSENT)
        sp_buf_printf(b, ": --pid %lld", (long long)started->pid);
    caution(x, "other_process", "OTHER PROCESS", b, NULL);
}

static void caution_idle(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_finding *f = caution_finding(x, SP_FIND_IDLE);
    if (!f)
        return;
    caution_share(b, x, f->weight);
    sp_buf_puts(b, " is idle: shares are of that, too.");
    caution(x, "idle", "IDLE", b, NULL);
}

/* Of what the artefact took, not of all. */
static void caution_interrupts(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_finding *f = caution_finding(x, SP_FIND_IRQ);
    struct sp_buf settle;
    if (!f)
        return;
    sp_buf_init(&settle, 0);
    caution_share(b, x, f->weight);
    sp_buf_puts(b, " is charged to where interrupts are allowed again (");
    sp_summary_name(b, x, f->function);
    sp_buf_puts(b, "); whoever had them off owns it: called by");
    for (size_t i = 0; i < SP_FINDING_CALLERS && f->callers[i].function != SP_NONE; i++) {
        sp_buf_puts(b, i ? ", " : " ");
        sp_summary_name(b, x, f->callers[i].function);
        sp_buf_ch(b, ' ');
        sp_text_about(b, f->callers[i].weight, f->weight);
    }
    sp_buf_puts(b, " of it");
    caution(x, "interrupts_off", "INTERRUPTS OFF", b, NULL);
    sp_buf_puts(b, "where that went");
    sp_buf_puts(&settle, "perf record -e cycles … (in a virtual machine: with a virtual PMU)");
    caution(x, "interrupts", NULL, b, &settle);
    sp_buf_free(&settle);
}

/* What stands in a recording of CPU time of waiting is what it costs CPUs, not how long it takes. */
static void caution_waits(struct sp_summary *x, struct sp_buf *b)
{
    struct sp_buf settle;
    if (!x->cpu || !caution_finding(x, SP_FIND_LOCK) || (x->x.s.view && strcmp(x->x.s.view, "cpu") != 0))
        return;
    sp_buf_init(&settle, 0);
    sp_buf_puts(b, "how long threads waited for locks (this is CPU time)");
    sp_buf_puts(&settle, "perf record -g -e sched:sched_switch …, or perf record --off-cpu …");
    caution(x, "waits", NULL, b, &settle);
    sp_buf_free(&settle);
}

static void caution_missing(struct sp_summary *x, struct sp_buf *b)
{
    size_t i = 0;
    for (const struct sp_diag *g; (g = sp_summary_missing(x, &i));) {
        sp_buf_puts(b, g->message);
        if (g->line)
            sp_buf_printf(b, ", line %llu", (unsigned long long)g->line);
        if (*g->hint)
            sp_buf_printf(b, "; %s", g->hint);
        caution(x, "incomplete", "INCOMPLETE", b, NULL);
    }
}

spaa_status sp_summary_cautions(struct sp_summary *x)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    caution_missing(x, &b);
    caution_process(x, &b);
    caution_callers(x);
    caution_unchecked(x, &b);
    caution_no_callers(x);
    caution_names(x, &b);
    caution_losses(x, &b);
    caution_few(x, &b);
    caution_interrupts(x, &b);
    caution_idle(x, &b);
    caution_waits(x, &b);
    x->x.out->failed |= b.failed;
    sp_buf_free(&b);
    return x->x.out->failed ? sp_nomem(x->x.q->diags) : SPAA_OK;
}
