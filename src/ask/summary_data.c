/* What the data itself lacks: callers, names, samples; and which recording has them. */
#include "ask/summary_cautions.h"

#include "analysis/interval.h"
#include "model/identity.h"

/* Code that was made at run time, in no file. */
static bool caution_is_jit(struct sp_str dso)
{
    return sp_str_is(dso, "[jit]") || sp_str_is(dso, "[anon]") || sp_str_is(dso, "//anon");
}

bool sp_summary_lacks_jit_names(const struct sp_summary *x)
{
    const struct sp_dso_weights *w = &x->quality.dsos;
    return w->list.n && caution_is_jit(sp_dso_name(x->x.s.profile, w->list.v[0].dso));
}

static bool caution_has_jit(const struct sp_summary *x)
{
    for (size_t i = 0; i < x->dsos.rows.n; i++)
        if (caution_is_jit(sp_str_at(&x->dsos.names, x->dsos.rows.v[i].name)) &&
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

void sp_caution_callers(struct sp_summary *x)
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
    sp_caution_dsos(&b, x, &c->dsos, c->of);
    sp_buf_puts(&b, c->filtered ? ", before filters of frames: those miss stacks. Self is sound."
                                : ". Self is sound.");
    sp_caution_add(x, "callers_unreliable", "CALLERS UNRELIABLE", &b, NULL);
    caution_total(&b, x);
    bool cut = c->by[SP_CHAIN_CUT] * 2 > c->broken;
    if (sp_caution_of_perf(x) && !cut && !c->copies && !c->limit && !caution_has_jit(x))
        sp_caution_record(&settle, x, "--call-graph dwarf,16384");
    else if (sp_caution_of_perf(x) && cut)
        sp_caution_record(&settle, x, "--call-graph dwarf,65528");
    else if (caution_has_jit(x))
        sp_buf_puts(&settle,
                    "libraries built with -fno-omit-frame-pointer (of JIT code dwarf knows nothing)");
    else
        sp_chains_hint(s, &settle);
    if (b.len || b.failed)
        sp_caution_add(x, "totals", NULL, &b, &settle);
    sp_buf_free(&b);
    sp_buf_free(&settle);
}

/* Where frame pointers may have skipped callers and nobody could look. */
void sp_caution_unchecked(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_chains *c = x->x.s.chains;
    if (!c || c->of <= 0 || (__int128)c->unchecked * 100 < (__int128)c->of * SP_CHAINS_PERCENT)
        return;
    sp_text_about(b, c->unchecked, c->of);
    sp_buf_printf(b, " of %s in stacks of binaries of which no build-id was recorded", x->noun);
    sp_caution_dsos(b, x, &c->unchecked_dsos, c->of);
    sp_buf_puts(b, ": frame pointers may have skipped callers; perf record --buildid-all");
    sp_caution_add(x, "callers_unchecked", "CALLERS UNCHECKED", b, NULL);
}

/* Callers were recorded, of stacks that the view leaves out. */
static bool data_have_callers(const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    for (size_t i = 0; x->hang.known && i < p->stacks.n; i++)
        if (p->stacks.v[i].n > 1)
            return true;
    return false;
}

/* Stacks of one frame: nobody recorded who calls. */
void sp_caution_no_callers(struct sp_summary *x)
{
    struct sp_buf b, settle;
    if (x->memory.known ? x->memory.deepest != 1 : x->calls.deepest != 1) /* memory: the owner's part of it */
        return;
    if (!x->x.s.whole || x->x.s.filters.len || x->x.s.cannot_add || data_have_callers(x))
        return;
    sp_buf_init(&b, 0);
    sp_buf_init(&settle, 0);
    sp_buf_puts(&b, "every stack has one frame: totals are self, and nothing says who calls.");
    sp_caution_add(x, "no_callers", "NO CALLERS", &b, NULL);
    if (sp_caution_of_perf(x)) {
        sp_buf_puts(&b, "who calls these functions");
        sp_caution_record(&settle, x, sp_chains_tell(&x->x.s) ? "--call-graph dwarf,16384" : "-g");
        sp_caution_add(x, "callers", NULL, &b, &settle);
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

/* What has a runtime write the names of its code: an option of the program, where it is one that is known. */
static const char *caution_map_option(const struct sp_summary *x)
{
    static const struct {
        const char *program, *option;
    } known[] = {{"java", "-XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit"},
                 {"node", "--perf-basic-prof"},
                 {"nodejs", "--perf-basic-prof"},
                 {"python", "-X perf"},
                 {"python3", "-X perf"}};
    struct sp_str first = x->command;
    const char *space = first.n ? memchr(first.p, ' ', first.n) : NULL;
    first = sp_base_name((struct sp_str){first.p, space ? (uint32_t)(space - first.p) : first.n});
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (first.n && sp_str_is(first, known[i].program))
            return known[i].option;
    return NULL;
}

/* No debug symbols name code that no file has: only its runtime can. */
static void caution_jit_names(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_dso_weight *w = &x->quality.dsos.list.v[0];
    const struct sp_dso_note *note = sp_profile_note_of(x->x.s.profile, w->dso, SP_NOTE_NAMES);
    struct sp_str why = note ? sp_pstr(x->x.s.profile, note->why) : (struct sp_str){"", 0};
    const char *option = caution_map_option(x);
    struct sp_buf settle;
    sp_buf_init(&settle, 0);
    sp_buf_puts(b, ": just-in-time code, which its runtime names");
    if (why.n)
        sp_buf_printf(b, " (%.*s)", (int)why.n, why.p);
    sp_buf_ch(b, '.');
    sp_caution_add(x, "names_missing", "NAMES MISSING", b, NULL);
    sp_buf_puts(b, "which functions of just-in-time code have ");
    sp_caution_share(b, x, w->weight);
    if (option && sp_caution_of_perf(x))
        sp_caution_record_with(&settle, x, "-g", option);
    else
        sp_buf_puts(
            &settle,
            "have the runtime write perf-PID.map (java -XX:+DumpPerfMapAtExit, node --perf-basic-prof)");
    sp_caution_add(x, "jit_names", NULL, b, &settle);
    sp_buf_free(&settle);
}

void sp_caution_names(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_quality *q = &x->quality;
    if (!sp_caution_finding(x, SP_FIND_UNRESOLVED))
        return;
    sp_answer_tells(x->x.out, SP_I320);
    sp_caution_share(b, x, q->unresolved_leaf);
    sp_buf_puts(b, " is in functions without a name");
    sp_caution_dsos(b, x, &q->dsos, x->x.s.whole);
    if (sp_summary_lacks_jit_names(x)) {
        caution_jit_names(x, b);
        return;
    }
    caution_of_whole(b, x);
    bool nowhere =
        q->dsos.list.n && sp_str_is(sp_dso_name(x->x.s.profile, q->dsos.list.v[0].dso), "[unknown]");
    sp_buf_puts(b, nowhere ? ", and of which binary is not recorded."
                           : ": debug symbols or --debug-dir DIR name them.");
    sp_caution_add(x, "names_missing", "NAMES MISSING", b, NULL);
}

/* Findings that are about counts of samples or stacks, where they pass their thresholds; else a plain line.
 */
void sp_caution_losses(struct sp_summary *x, struct sp_buf *b)
{
    const struct sp_finding *lost = sp_caution_finding(x, SP_FIND_LOST),
                            *cut = sp_caution_finding(x, SP_FIND_TRUNCATED);
    if (lost) {
        sp_text_about(b, lost->part, lost->of);
        sp_buf_puts(b, " of samples were lost by the profiler (");
        sp_text_grouped(b, lost->part, 0);
        sp_buf_puts(b, " of ");
        sp_text_grouped(b, lost->of, 0);
        sp_buf_puts(b, "): shares are of what is left.");
        sp_caution_add(x, "lost", "LOST", b, NULL);
    }
    if (cut) {
        sp_text_about(b, cut->part, cut->of);
        sp_buf_puts(b, " of stacks were cut off (");
        sp_text_grouped(b, cut->part, 0);
        sp_buf_puts(b, " of ");
        sp_text_grouped(b, cut->of, 0);
        sp_buf_puts(b, "): their callers are missing.");
        sp_caution_add(x, "cut", "CUT", b, NULL);
    }
}

/* Of the shares that the brief says, the one that is known least well: the nearest to a half. */
struct caution_widest {
    double share, distance;
    uint32_t function; /* SP_NONE: `name`, or the finding, says whose it is */
    struct sp_str name;
    const struct sp_finding *finding; /* or NULL */
};

static bool caution_consider(struct caution_widest *w, const struct sp_summary *x, int64_t weight,
                             uint32_t function, struct sp_str name)
{
    double share = 100 * (double)weight / (double)x->x.s.whole;
    double distance = share < 50 ? 50 - share : share - 50;
    if (weight <= 0 || share > 100 || (w->distance >= 0 && distance >= w->distance))
        return false;
    *w = (struct caution_widest){share, distance, function, name, NULL};
    return true;
}

/* Functions by self, with library calls beneath or by total, what stacks without one end in, and findings. */
static struct caution_widest caution_widest_of(const struct sp_summary *x)
{
    const struct sp_str none = {"", 0};
    struct caution_widest w = {50, -1, SP_NONE, none, NULL};
    bool bounds = sp_chains_tell(&x->x.s);
    for (size_t i = 0; i < x->calls.n; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[x->calls.row[i]];
        caution_consider(&w, x, bounds ? r->self : r->sum.weight, r->function, none);
        caution_consider(&w, x, r->total, r->function, none);
    }
    for (size_t i = 0; i < x->fold.rows.n; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[i];
        if (r->function == SP_NONE && r->sum.n) {
            const struct sp_own_callee *c = &x->fold.callees.v[r->sum.first];
            caution_consider(&w, x, c->weight, SP_NONE, sp_str_at(&x->fold.names, c->name));
        }
    }
    for (size_t i = 0; i < x->findings.list.n; i++) {
        const struct sp_finding *f = &x->findings.list.v[i];
        if (sp_finding_is_rule(f->kind) && !f->beneath && caution_consider(&w, x, f->weight, SP_NONE, none))
            w.finding = f;
    }
    return w;
}

/* Whether a share that is said may be another by some points. */
void sp_caution_few(struct sp_summary *x, struct sp_buf *b)
{
    enum { WIDE = 8, VERY_FEW = 100 };
    const struct sp_finding *few = sp_caution_finding(x, SP_FIND_FEW);
    double lo = 0, hi = 0;
    if (!few || (x->memory.known && x->memory.m.period > 1) || !few->part || x->x.s.cannot_add ||
        x->x.s.whole <= 0)
        return;
    struct caution_widest w = caution_widest_of(x);
    sp_share_interval(w.share, few->part, &lo, &hi);
    if (hi - lo < WIDE && few->part >= VERY_FEW)
        return;
    sp_text_count(b, (uint64_t)few->part, "sample");
    sp_buf_puts(b, ": ");
    if (w.function != SP_NONE)
        sp_summary_name(b, x, w.function);
    else if (w.finding)
        sp_finding_title(b, w.finding);
    else
        sp_buf_printf(b, "%.*s", (int)w.name.n, w.name.p);
    sp_buf_printf(b, "%s %.0f %% is %.0f to %.0f %% (95 %% confidence, if samples are independent).",
                  w.distance >= 0 ? "'s" : "a share of", w.share, lo, hi);
    sp_caution_add(x, "few_samples", "FEW SAMPLES", b, NULL);
}
