/* Sums by groups against a plain counting of random stacks, which recur. */
#include "analysis/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 40, CONTEXTS = 6, STACKS = 300, DEEPEST = 30, GROUPS = 9, ROUNDS = 20 };

struct made {
    struct sp_diags d;
    struct sp_profile *p;
    struct sp_selection s;
    uint64_t seed;
    uint32_t frame_group[FRAMES], context_group[CONTEXTS + 1]; /* SP_NONE: in none */
    uint32_t bare;
};

static uint32_t below(struct made *m, uint32_t n)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->seed >> 33) % n;
}

static void add_stack(struct made *m, uint32_t event, uint32_t metric, uint32_t samples)
{
    struct sp_profile *p = m->p;
    uint32_t frames[DEEPEST], n = below(m, 8) ? below(m, DEEPEST) : 0, few = 1 + below(m, FRAMES);
    char text[32];
    for (uint32_t i = 0; i < n; i++)
        frames[i] = below(m, few);
    struct sp_context c = {.pid = 1, .tid = 1 + below(m, CONTEXTS), .cpu = SP_ABSENT, .event = event};
    uint32_t s = sp_stack_append(p, frames, n, sp_context_intern(p, &c), SP_UNIFIED);
    bool counted = below(m, 2);
    sp_stack_set_layout(p, s, sp_layout_simple(p, metric, 0, counted ? samples : SP_NONE, 0));
    snprintf(text, sizeof text, "%d", (int)below(m, 1000) - 100);
    assert_true(sp_weight_set_text(p, s, metric, text, strlen(text)));
    snprintf(text, sizeof text, "%u", below(m, 9));
    if (counted)
        assert_true(sp_weight_set_text(p, s, samples, text, strlen(text)));
}

static void make(struct made *m, uint64_t seed)
{
    *m = (struct made){.seed = seed};
    sp_diags_init(&m->d);
    assert_int_equal(sp_profile_new(&m->d, &m->p), SPAA_OK);
    uint32_t metric = sp_metric_intern(m->p, "value", 5), samples = sp_metric_intern(m->p, "samples", 7);
    struct sp_event e = {.name = sp_profile_cstr(m->p, "e"), .primary = metric};
    uint32_t event = sp_event_add(m->p, &e);
    struct sp_dso so = {.name = sp_profile_cstr(m->p, "/bin/a")};
    for (uint32_t i = 0; i < FRAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i);
        struct sp_frame f = {
            .function = sp_function_intern(m->p, sp_profile_cstr(m->p, name), sp_dso_intern(m->p, &so)),
            .kind = SP_USER};
        assert_int_equal(sp_frame_intern(m->p, &f), i);
    }
    for (int i = 0; i < STACKS; i++)
        add_stack(m, event, metric, samples);
    struct sp_select_opts o = {0};
    assert_int_equal(sp_select(m->p, &o, &m->d, &m->s), SPAA_OK);
    for (int i = 0; i < FRAMES; i++)
        m->frame_group[i] = below(m, 4) ? below(m, GROUPS) : SP_NONE;
    for (int i = 0; i <= CONTEXTS; i++)
        m->context_group[i] = below(m, 4) ? below(m, 3) : SP_NONE;
    m->bare = below(m, 2) ? below(m, GROUPS) : SP_NONE;
}

static void unmake(struct made *m)
{
    sp_selection_free(&m->s);
    sp_profile_free(m->p);
    sp_diags_free(&m->d);
}

/* ---- the plain way ---- */

static void count(struct sp_fold_sum *to, const struct sp_selected *row, const int64_t *weight)
{
    to->weight += weight ? *weight : row->weight;
    if (!weight && row->samples != SP_ABSENT)
        to->samples = (to->samples == SP_ABSENT ? 0 : to->samples) + row->samples;
}

/* Of group g of frames and group c of contexts; SP_NONE: of all. */
static void plainly(struct made *m, uint32_t g, uint32_t c, const int64_t *weights,
                    struct sp_fold_sum sums[2])
{
    sums[0] = sums[1] = (struct sp_fold_sum){.samples = SP_ABSENT};
    for (size_t i = 0; i < m->s.rows.n; i++) {
        const struct sp_selected *row = &m->s.rows.v[i];
        const struct sp_stack *s = &m->p->stacks.v[row->stack];
        const uint32_t *f = sp_stack_frames(m->p, row->stack);
        bool has = g == SP_NONE || (!s->n && m->bare == g), leaf = has;
        if (c != SP_NONE && m->context_group[s->context] != c)
            continue;
        if (g == SP_NONE && m->context_group[s->context] == SP_NONE)
            continue;
        for (uint32_t k = 0; k < s->n; k++) {
            has = has || m->frame_group[f[k]] == g;
            leaf = leaf || (!k && m->frame_group[f[k]] == g);
        }
        if (leaf)
            count(&sums[0], row, weights ? &weights[i] : NULL);
        if (has)
            count(&sums[1], row, weights ? &weights[i] : NULL);
    }
}

static void same(const struct sp_fold *f, uint32_t group, const struct sp_fold_sum sums[2], bool self_only)
{
    struct sp_fold_sum none = {.samples = SP_ABSENT};
    struct sp_fold_sum self = group < f->self.n ? f->self.v[group] : none;
    struct sp_fold_sum total = group < f->total.n ? f->total.v[group] : none;
    assert_int_equal(self.weight, sums[0].weight);
    assert_int_equal(self.samples, sums[0].samples);
    assert_int_equal(total.weight, self_only ? 0 : sums[1].weight);
    assert_int_equal(total.samples, self_only ? SP_ABSENT : sums[1].samples);
}

/* ---- tests ---- */

static uint32_t group_of_frame(void *arg, uint32_t frame)
{
    struct made *m = arg;
    return frame == SP_NONE ? m->bare : m->frame_group[frame];
}

static uint32_t group_of_context(void *arg, uint32_t context)
{
    return ((struct made *)arg)->context_group[context];
}

static struct sp_fold_key lazy(uint32_t *of, size_t n, uint32_t (*make_group)(void *, uint32_t),
                               struct made *m)
{
    for (size_t i = 0; i < n; i++)
        of[i] = SP_FOLD_NEW;
    return (struct sp_fold_key){of, SP_FOLD_NEW, make_group, m};
}

static void groups_of_frames(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct made m;
        uint32_t of[FRAMES];
        int64_t weights[STACKS];
        struct sp_fold_sum sums[2];
        make(&m, round);
        assert_true(m.s.rows.n <= STACKS);
        for (int i = 0; i < STACKS; i++)
            weights[i] = below(&m, 100);
        for (int way = 0; way < 8; way++) {
            struct sp_fold f = {0};
            struct sp_fold_key key = lazy(of, FRAMES, group_of_frame, &m);
            if (way & 4) { /* known beforehand */
                memcpy(of, m.frame_group, sizeof of);
                key = (struct sp_fold_key){.of = of, .bare = m.bare};
            }
            struct sp_fold_by by = {
                .frames = &key, .weights = way & 1 ? weights : NULL, .self_only = way & 2 ? true : false};
            assert_true(sp_fold(&m.s, &by, &f));
            for (uint32_t g = 0; g < GROUPS; g++) {
                plainly(&m, g, SP_NONE, by.weights, sums);
                same(&f, g, sums, by.self_only);
            }
            sp_fold_free(&f);
        }
        unmake(&m);
    }
}

static void groups_of_stacks(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct made m;
        uint32_t of[CONTEXTS + 1];
        struct sp_fold_sum sums[2];
        make(&m, round);
        struct sp_fold f = {0};
        struct sp_fold_key key = lazy(of, CONTEXTS + 1, group_of_context, &m);
        assert_true(sp_fold(&m.s, &(struct sp_fold_by){.contexts = &key}, &f));
        for (uint32_t c = 0; c < 3; c++) {
            plainly(&m, SP_NONE, c, NULL, sums);
            same(&f, c, sums, false);
        }
        sp_fold_free(&f);
        unmake(&m);
    }
}

struct pairs {
    uint32_t of[3][GROUPS], n;
};

static uint32_t pair_of(void *arg, uint32_t context, uint32_t frame)
{
    struct pairs *x = arg;
    assert_true(context < 3 && frame < GROUPS);
    assert_int_equal(x->of[context][frame], SP_NONE); /* each is asked for once */
    return x->of[context][frame] = x->n++;
}

static void groups_of_both(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct made m;
        uint32_t frames[FRAMES], contexts[CONTEXTS + 1];
        struct sp_fold_sum sums[2];
        struct pairs pairs;
        make(&m, round);
        struct sp_fold f = {0};
        struct sp_fold_key a = lazy(frames, FRAMES, group_of_frame, &m),
                           b = lazy(contexts, CONTEXTS + 1, group_of_context, &m);
        memset(&pairs, 0xff, sizeof pairs);
        pairs.n = 0;
        struct sp_fold_by by = {.frames = &a, .contexts = &b, .pair = pair_of, .arg = &pairs};
        assert_true(sp_fold(&m.s, &by, &f));
        assert_int_equal(f.self.n, pairs.n);
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t g = 0; g < GROUPS; g++) {
                plainly(&m, g, c, NULL, sums);
                same(&f, pairs.of[c][g] == SP_NONE ? (uint32_t)f.self.n : pairs.of[c][g], sums, false);
            }
        sp_fold_free(&f);
        unmake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_frames),
        cmocka_unit_test(groups_of_stacks),
        cmocka_unit_test(groups_of_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
