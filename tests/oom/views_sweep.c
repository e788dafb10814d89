/*
 * Every view with every allocation failing in turn: then a view either says that memory ran out, or answers
 * as it does without the failure. Nothing that was allocated may be left.
 */
#include "analysis/chains.h"
#include "analysis/findings.h"
#include "analysis/function.h"
#include "analysis/function_handle.h"
#include "analysis/leaks.h"
#include "analysis/own_fold.h"
#include "analysis/stacks.h"
#include "analysis/timeline.h"
#include "analysis/timeline_phases.h"
#include "analysis/top.h"
#include "analysis/tree.h"
#include "formats/open.h"
#include "heap.h"
#include "io/input.h"

#include <stdio.h>
#include <string.h>

static const char text[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\",\"frame_order\":"
    "\"leaf_to_root\",\"events\":[{\"name\":\"e\",\"kind\":\"software\",\"sampling\":{\"mode\":\"period\","
    "\"primary_metric\":\"period\"}}],\"stack_id_mode\":\"local\"}\n"
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":1,\"func\":\"malloc\",\"dso\":1,\"kind\":\"user\",\"srcline\":\"a.c:1\"}\n"
    "{\"type\":\"frame\",\"id\":2,\"func\":\"main\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"frame\",\"id\":3,\"func\":\"inl\",\"dso\":1,\"kind\":\"user\",\"inlined\":true,\"inline_"
    "depth\":1}\n"
    "{\"type\":\"thread\",\"pid\":1,\"tid\":2,\"comm\":\"t\"}\n"
    "{\"type\":\"stack\",\"id\":\"s1\",\"frames\":[1,2,2,2,2,2,2,2,2,2],\"context\":{\"event\":\"e\",\"pid\":"
    "1,\"tid\":2,"
    "\"comm\":"
    "\"t\"},\"weights\":[{\"metric\":\"samples\",\"value\":2},{\"metric\":\"period\",\"value\":3}]}\n"
    "{\"type\":\"stack\",\"id\":\"s2\",\"frames\":[3,1,2,2,2,2,2,2,2,2,2],\"context\":{\"event\":\"e\","
    "\"pid\":1,\"tid\":3},"
    "\"weights\":[{\"metric\":\"samples\",\"value\":1},{\"metric\":\"period\",\"value\":7}]}\n"
    "{\"type\":\"frame\",\"id\":4,\"func\":\"0x5\",\"dso\":1,\"kind\":\"user\",\"ip\":\"0x5\"}\n"
    "{\"type\":\"stack\",\"id\":\"s3\",\"frames\":[1,4],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":2},"
    "\"weights\":[{\"metric\":\"samples\",\"value\":1},{\"metric\":\"period\",\"value\":2}]}\n"
    "{\"type\":\"stack\",\"id\":\"p0\",\"frames\":[2],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":10,"
    "\"comm\":\"w-0\"},\"weights\":[{\"metric\":\"samples\",\"value\":1},{\"metric\":\"period\",\"value\":1}]"
    "}\n"
    "{\"type\":\"stack\",\"id\":\"p1\",\"frames\":[2],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":11,"
    "\"comm\":\"w-1\"},\"weights\":[{\"metric\":\"samples\",\"value\":1},{\"metric\":\"period\",\"value\":1}]"
    "}\n"
    "{\"type\":\"stack\",\"id\":\"p2\",\"frames\":[2],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":12,"
    "\"comm\":\"w-2\"},\"weights\":[{\"metric\":\"samples\",\"value\":1},{\"metric\":\"period\",\"value\":1}]"
    "}\n"
    "{\"type\":\"sample\",\"timestamp\":1.5,\"period\":3,\"stack_id\":\"s1\"}\n"
    "{\"type\":\"sample\",\"timestamp\":2,\"period\":7,\"stack_id\":\"s2\"}\n";

/* What only `leaks` can be asked about. */
static const char memory[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"heaptrack\",\"frame_"
    "order\":"
    "\"leaf_to_root\",\"events\":[{\"name\":\"malloc\",\"kind\":\"allocation\",\"sampling\":{\"mode\":"
    "\"event\","
    "\"primary_metric\":\"live_bytes\"},\"allocation_tracking\":{\"x_peak\":\"of_total\"}}],\"stack_id_"
    "mode\":"
    "\"local\"}\n"
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":1,\"func\":\"malloc\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"frame\",\"id\":2,\"func\":\"main\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":1,\"frames\":[1,2,2],\"context\":{\"event\":\"malloc\"},\"weights\":[{"
    "\"metric\":"
    "\"live_bytes\",\"value\":8},{\"metric\":\"peak_bytes\",\"value\":3}]}\n"
    "{\"type\":\"stack\",\"id\":2,\"frames\":[2],\"context\":{\"event\":\"malloc\"},\"weights\":[{\"metric\":"
    "\"live_bytes\",\"value\":7}],\"x_heaptrack\":{\"suppressed\":\"x\"}}\n"
    "{\"type\":\"window\",\"id\":1,\"start\":0,\"end\":1,\"by_stack\":[{\"stack_id\":1,\"weights\":[{"
    "\"metric\":"
    "\"live_bytes\",\"value\":2}]}]}\n"
    "{\"type\":\"window\",\"id\":2,\"start\":1,\"end\":2,\"by_stack\":[{\"stack_id\":1,\"weights\":[{"
    "\"metric\":"
    "\"live_bytes\",\"value\":3}]}]}\n"
    "{\"type\":\"window\",\"id\":3,\"start\":2,\"end\":3,\"by_stack\":[{\"stack_id\":1,\"weights\":[{"
    "\"metric\":"
    "\"live_bytes\",\"value\":1}]}]}\n"
    "{\"type\":\"window\",\"id\":4,\"start\":3,\"end\":4,\"by_stack\":[{\"stack_id\":1,\"weights\":[{"
    "\"metric\":"
    "\"live_bytes\",\"value\":2}]}]}\n";

/* What a view answers, as one number: a sum of everything in it. */
typedef spaa_status view(struct sp_selection *s, struct sp_diags *d, int64_t *sum);

static spaa_status ask_top(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    spaa_status st = SPAA_OK;
    for (int by = 0; !st && sp_by_names[by]; by++) {
        struct sp_top t, u;
        st = sp_top_build(s, (enum sp_by)by, by % 2, d, &t);
        if (st)
            break;
        st = sp_top_build(s, (enum sp_by)by, false, d, &u);
        if (!st) {
            st = sp_top_join(&t, &u, d);
            sp_top_free(&u);
        }
        for (size_t i = 0; i < t.rows.n; i++)
            *sum += t.rows.v[i].self + 3 * t.rows.v[i].total;
        sp_top_free(&t);
    }
    struct sp_by_list several;
    struct sp_top t, u;
    bool any;
    if (!st)
        st = sp_by_parse("comm,dso,function,thread", d, &several);
    if (!st)
        st = sp_top_by(s, &several, false, d, &t);
    if (st)
        return st;
    st = sp_top_by(s, &several, true, d, &u);
    if (!st) {
        st = sp_top_join(&t, &u, d);
        sp_top_free(&u);
    }
    for (size_t i = 0; i < t.rows.n; i++)
        *sum += 5 * t.rows.v[i].total;
    sp_top_free(&t);
    return st ? st : sp_top_sum(s, "m.*", d, sum, sum, &any);
}

/* As the whole tree's sum is made below, of a part. */
static void sum_part(void *arg, const struct sp_tree *part, uint32_t first)
{
    int64_t *sum = arg;
    for (size_t k = 0; k < part->nodes.n; k++)
        *sum += part->nodes.v[k].total * (int64_t)(first + k + 1);
}

static spaa_status ask_tree_in_parts(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    struct sp_tree t;
    struct sp_tree_opts o = {.take = sum_part, .arg = sum};
    spaa_status st = sp_tree_build(s, &o, d, &t);
    if (!st)
        sp_tree_free(&t);
    return st;
}

static spaa_status ask_tree(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    spaa_status st = SPAA_OK;
    for (unsigned i = 0; !st && i < 8; i++) {
        struct sp_tree t;
        struct sp_tree_opts o = {.inverted = i & 1, .by_comm = i & 2, .max_nodes = i & 4 ? 3 : 0};
        st = sp_tree_build(s, &o, d, &t);
        if (st)
            break;
        for (size_t k = 0; k < t.nodes.n; k++)
            *sum += t.nodes.v[k].total * (int64_t)(k + 1) + t.nodes.v[k].elided;
        sp_tree_free(&t);
    }
    return st;
}

static spaa_status ask_function(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    struct sp_function_lookup lookup;
    struct sp_function_view v;
    spaa_status st = sp_lookup_functions(s->profile, "/ma/", d, &lookup);
    if (st)
        return st;
    st = sp_function_build(s, &lookup, d, &v);
    sp_function_lookup_free(&lookup);
    if (st)
        return st;
    *sum = v.total + 3 * v.self + (int64_t)(v.callers.n + 5 * v.callees.n + 7 * v.lines.n + 11 * v.threads.n);
    sp_function_free(&v);
    return SPAA_OK;
}

/* Totals are bounds: of top and function, which know of chains what was found before. */
static spaa_status ask_bounds(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    int64_t more;
    spaa_status st = sp_chains_of(s, d);
    if (!st)
        st = ask_function(s, d, &more);
    if (!st)
        st = ask_top(s, d, sum);
    if (!st)
        *sum += more + s->chains->broken;
    return st;
}

/* What own functions call; frees the findings where it fails. */
static spaa_status ask_own(struct sp_selection *s, const struct sp_own *own, struct sp_diags *d, int64_t *sum,
                           struct sp_findings *f)
{
    struct sp_own_fold fold;
    spaa_status st = sp_own_fold(s, own, d, &fold);
    if (st) {
        sp_findings_free(f);
        return st;
    }
    for (size_t i = 0; i < fold.rows.n; i++)
        *sum += fold.rows.v[i].sum.weight * (int64_t)(i + 1);
    for (size_t i = 0; i < fold.nsteps; i++)
        *sum += fold.steps[i].total + (int64_t)fold.steps[i].sum.n;
    sp_own_fold_free(&fold);
    return SPAA_OK;
}

static spaa_status ask_findings(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    struct sp_quality q;
    struct sp_findings f;
    struct sp_own own;
    spaa_status st = sp_quality_of(s, d, &q);
    if (st)
        return st;
    st = sp_own_of(s, NULL, d, &own);
    if (!st) {
        st = sp_findings_of(s, &q, &own, d, &f);
        if (!st)
            st = ask_own(s, &own, d, sum, &f);
        sp_own_free(&own);
    }
    sp_quality_free(&q);
    for (size_t i = 0; !st && i < f.list.n; i++)
        *sum += f.list.v[i].part * (int64_t)(i + 1);
    if (!st)
        sp_findings_free(&f);
    return st;
}

static spaa_status ask_timeline(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    struct sp_sample_times m;
    struct sp_timeline t;
    spaa_status st = sp_sample_times_of(s->profile, d, &m);
    if (st)
        return st;
    st = sp_timeline_build(s, &m, NULL, 3, 2, d, &t);
    for (size_t i = 0; !st && i < t.buckets.n; i++)
        *sum += t.buckets.v[i].weight * (int64_t)(i + 1) + (int64_t)t.buckets.v[i].nhot;
    if (!st)
        sp_timeline_free(&t);
    sp_sample_times_free(&m);
    return st;
}

static spaa_status ask_phases(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    struct sp_sample_times m;
    struct sp_phases phases = {0};
    struct sp_own own;
    spaa_status st = sp_sample_times_of(s->profile, d, &m);
    if (st)
        return st;
    st = sp_own_of(s, NULL, d, &own);
    if (!st) {
        st = sp_phases_of(s, &own, &m, d, &phases);
        for (size_t i = 0; !st && i < phases.list.n; i++)
            *sum += phases.list.v[i].weight * (int64_t)(i + 1) + phases.list.v[i].ns +
                    (int64_t)phases.functions.n;
        sp_phases_free(&phases);
        sp_own_free(&own);
    }
    sp_sample_times_free(&m);
    return st;
}

static spaa_status ask_stacks(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    struct sp_stack_row *rows;
    size_t n;
    struct sp_handles h;
    spaa_status st = sp_stacks_by_weight(s, d, &rows, &n);
    if (st)
        return st;
    for (size_t i = 0; i < n; i++)
        *sum += (int64_t)rows[i].row * (int64_t)(i + 1) + rows[i].weight;
    free(rows);
    st = sp_handles_of(s->profile, s->profile->diags, &h);
    if (!st)
        sp_handles_free(&h);
    return st;
}

static spaa_status ask_leaks(struct sp_selection *s, struct sp_diags *d, int64_t *sum)
{
    struct sp_own own;
    spaa_status st = sp_own_of(s, NULL, d, &own);
    if (st)
        return st;
    for (int i = 0; !st && i < 4; i++) {
        struct sp_leaks l;
        struct sp_leaks_opts o = {
            .by_stack = i & 1, .suppressed = i & 2, .by_reach = i & 2, .own = i ? &own : NULL};
        st = sp_leaks_of(s, &o, d, &l);
        for (size_t k = 0; !st && k < l.rows.n; k++)
            *sum += l.rows.v[k].rank * (int64_t)(k + 1) + l.rows.v[k].growth.quarters[2] + l.rows.v[k].kind;
        for (size_t k = 0; !st && k < l.parts[SP_LEAK_THROUGH].n; k++)
            *sum += l.parts[SP_LEAK_THROUGH].v[k].now.v[0] * (int64_t)(k + 1);
        if (!st)
            sp_leaks_free(&l);
    }
    sp_own_free(&own);
    return st;
}

static const struct {
    const char *name;
    view *ask;
} views[] = {{"top", ask_top},           {"tree", ask_tree},         {"tree in parts", ask_tree_in_parts},
             {"function", ask_function}, {"findings", ask_findings}, {"bounds", ask_bounds},
             {"timeline", ask_timeline}, {"stacks", ask_stacks}};

static const struct sp_select_opts selections[] = {{0},
                                                   {.time = "0..0.5"},
                                                   {.merge_inlined = true, .hide = "xyz", .root_at = "/./"},
                                                   {.focus = "mal", .dso = "a"},
                                                   {.comm = "w-*", .pools = true},
                                                   {.thread = "/w/", .comm = "w-* (3)", .pools = true},
                                                   {.pools = true}};

/* One view of one selection with an allocation failing; *sum is what it answers. */
static spaa_status run(const struct sp_profile *p, const struct sp_select_opts *o, view *ask,
                       struct sp_diags *d, int64_t *sum)
{
    struct sp_selection s;
    *sum = 0;
    spaa_status st = sp_select(p, o, d, &s);
    if (st)
        return st;
    st = ask(&s, d, sum);
    *sum += s.kept + s.whole;
    sp_selection_free(&s);
    return st;
}

static int sweep(struct sp_profile *p, const char *name, const struct sp_select_opts *o, view *ask)
{
    int wrong = 0, runs = 0;
    int64_t normal, sum;
    struct sp_diags d;
    sp_diags_init(&d);
    struct sp_diags *own = p->diags;
    p->diags = &d;
    spaa_status expected = run(p, o, ask, &d, &normal);
    sp_diags_free(&d);
    for (unsigned long at = 1; expected == SPAA_OK && wrong < 5; at++, runs++) {
        long before = heap.live;
        sp_diags_init(&d);
        heap_arm(at, false);
        spaa_status st = run(p, o, ask, &d, &sum);
        bool said = d.count[SP_E008] > 0, failed = heap.failed;
        heap_arm(0, false);
        sp_diags_free(&d);
        if (heap.live != before || (st == SPAA_ERR_NOMEM && !said) || (st && st != SPAA_ERR_NOMEM) ||
            (!st && sum != normal)) {
            printf("%s: allocation %lu: status %d, %ld left, %lld instead of %lld\n", name, at, (int)st,
                   heap.live - before, (long long)sum, (long long)normal);
            wrong++;
        }
        if (!failed)
            break;
    }
    p->diags = own;
    printf("%s: %d runs\n", name, runs);
    return wrong + (expected != SPAA_OK);
}

/* 400 samples, of which 100 in the middle are of another function: what phases are looked for in. */
static void put_phased(struct sp_buf *b)
{
    sp_buf_puts(b, "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\","
                   "\"frame_order\":"
                   "\"leaf_to_root\",\"events\":[{\"name\":\"e\",\"kind\":\"software\",\"sampling\":{"
                   "\"mode\":\"period\","
                   "\"primary_metric\":\"period\"}}],\"stack_id_mode\":\"local\"}\n"
                   "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n");
    for (int i = 0; i < 4; i++)
        sp_buf_printf(
            b,
            "{\"type\":\"frame\",\"id\":%d,\"func\":\"f%d\",\"dso\":1,\"kind\":\"user\"}\n"
            "{\"type\":\"stack\",\"id\":\"s%d\",\"frames\":[%d,1],\"context\":{\"event\":\"e\",\"pid\":1,"
            "\"tid\":2},\"weights\":[{\"metric\":\"period\",\"value\":100}]}\n",
            i + 1, i, i, i + 1);
    for (int i = 0; i < 400; i++)
        sp_buf_printf(b, "{\"type\":\"sample\",\"timestamp\":%d,\"period\":1,\"stack_id\":\"s%d\"}\n", i,
                      i >= 150 && i < 250 ? 3 : i * 7 % 3);
}

static spaa_status open_text(const char *p, size_t n, struct sp_diags *d, struct sp_input **in,
                             struct sp_profile **out)
{
    struct sp_read_opts opts = {.frames = SP_FRAMES_ADDRESS, .samples = true};
    spaa_status st = sp_input_memory(p, n, "views", d, in);
    if (!st)
        st = sp_read_profile(*in, sp_format_by_name("spaa"), &opts, d, out);
    if (!st)
        st = sp_stack_ids(*out);
    if (st)
        printf("cannot even begin: %d\n", (int)st);
    return st;
}

int main(void)
{
    struct sp_diags d;
    struct sp_input *in = NULL, *in_memory = NULL, *in_phased = NULL;
    struct sp_profile *p = NULL, *m = NULL, *phased = NULL;
    struct sp_buf b;
    int wrong = 0;
    sp_diags_init(&d);
    sp_buf_init(&b, 0);
    put_phased(&b);
    if (open_text(text, sizeof text - 1, &d, &in, &p) ||
        open_text(memory, sizeof memory - 1, &d, &in_memory, &m) ||
        open_text(b.data, b.len, &d, &in_phased, &phased))
        return 1;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        for (size_t k = 0; k < sizeof selections / sizeof *selections; k++)
            wrong += sweep(p, views[i].name, &selections[k], views[i].ask);
    wrong += sweep(m, "leaks", &selections[0], ask_leaks);
    wrong += sweep(phased, "phases", &selections[0], ask_phases);
    sp_profile_free(p);
    sp_profile_free(m);
    sp_profile_free(phased);
    sp_input_close(in);
    sp_input_close(in_memory);
    sp_input_close(in_phased);
    sp_buf_free(&b);
    sp_diags_free(&d);
    return wrong != 0;
}
