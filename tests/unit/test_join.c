/* Stacks that are joined afterwards, against those that were looked up one by one. */
#include "model/join.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { SAMPLES = 30000, DEPTH = 5 };

struct side {
    struct sp_diags d;
    struct sp_profile *p;
    uint32_t metrics[2], layout;
};

static void begin(struct side *x)
{
    sp_diags_init(&x->d);
    assert_int_equal(sp_profile_new(&x->d, &x->p), SPAA_OK);
    x->metrics[0] = sp_metric_intern(x->p, "samples", 7);
    x->metrics[1] = sp_metric_intern(x->p, "period", 6);
    x->layout = sp_layout_simple(x->p, x->metrics[0], 0, x->metrics[1], 0);
}

static void end(struct side *x)
{
    sp_profile_free(x->p);
    sp_diags_free(&x->d);
}

static uint32_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void add(struct side *x, uint32_t stack, bool is_new, int64_t v, const char *decimal)
{
    if (is_new)
        sp_stack_set_layout(x->p, stack, x->layout);
    assert_true(sp_weight_add(x->p, stack, x->metrics[0], 1));
    if (decimal)
        assert_true(sp_weight_add_text(x->p, stack, x->metrics[1], decimal, strlen(decimal)));
    else if (v)
        assert_true(sp_weight_add(x->p, stack, x->metrics[1], v));
}

static void same_weights(const struct sp_profile *a, uint32_t i, const struct sp_profile *b, uint32_t k)
{
    for (uint32_t m = 0; m < a->metrics.n; m++) {
        assert_true(sp_weight(a, i, m) == sp_weight(b, k, m));
        struct sp_str s = sp_weight_text(a, i, m), t = sp_weight_text(b, k, m);
        assert_int_equal(s.n, t.n);
        assert_memory_equal(s.p, t.p, s.n);
    }
}

/* The stacks of `all` are those of `one`, each once; those that are gone left room for the last ones. */
static void equals(struct sp_profile *one, const struct sp_profile *all)
{
    const size_t n = all->stacks.n;
    bool *met = calloc(n + 1, sizeof *met), is_new = false;
    assert_non_null(met);
    assert_int_equal(one->stacks.n, n);
    for (uint32_t k = 0; k < n; k++) {
        const struct sp_stack *x = &all->stacks.v[k];
        uint32_t i = sp_stack_intern(one, sp_stack_frames(all, k), x->n, x->context,
                                     (enum sp_stack_type)x->type, &is_new);
        assert_false(is_new || met[i]);
        met[i] = true;
        assert_true(x->layout == one->stacks.v[i].layout);
        same_weights(one, i, all, k);
    }
    for (uint32_t m = 0; m < all->metrics.n; m++)
        assert_true(all->columns[m].n <= n);
    free(met);
}

/* Samples of `kinds` different stacks; every 50th with a decimal if asked for; `bits` of the hashes are kept.
 */
static void compare(uint32_t kinds, bool decimals, unsigned bits)
{
    static const enum sp_stack_type types[] = {SP_UNIFIED, SP_USER_STACK};
    struct side one, all;
    uint64_t seed = kinds;
    uint32_t *hashes = malloc(SAMPLES * sizeof *hashes);
    assert_non_null(hashes);
    begin(&one);
    begin(&all);
    for (uint32_t k = 0; k < SAMPLES; k++) {
        uint32_t kind = next(&seed) % kinds, frames[DEPTH], n = kind % (DEPTH + 1);
        uint32_t context = kind % 3, value = next(&seed) % 7;
        bool is_new;
        for (uint32_t i = 0; i < DEPTH; i++)
            frames[i] = kind >> i;
        const char *text = decimals && k % 50 == 0 ? "0.25" : NULL;
        uint64_t hash = sp_stack_hash(frames, n, context, types[kind & 1]);
        uint32_t s = sp_stack_intern(one.p, frames, n, context, types[kind & 1], &is_new);
        add(&one, s, is_new, value, text);
        hashes[k] = (uint32_t)(hash >> (64 - bits));
        add(&all, sp_stack_append(all.p, frames, n, context, types[kind & 1]), true, value, text);
    }
    size_t stacks = one.p->stacks.n;
    assert_int_equal(sp_stacks_join(all.p, hashes), SAMPLES - stacks);
    equals(one.p, all.p);
    for (uint32_t i = 0; i < stacks; i++) {
        const struct sp_stack *s = &all.p->stacks.v[i];
        uint64_t hash =
            sp_stack_hash(sp_stack_frames(all.p, i), s->n, s->context, (enum sp_stack_type)s->type);
        assert_int_equal(hashes[i], (uint32_t)(hash >> (64 - bits)));
    }
    assert_int_equal(sp_stacks_join(all.p, hashes), 0);
    equals(one.p, all.p);
    free(hashes);
    end(&one);
    end(&all);
}

static void test_joined_stacks_are_those_that_were_looked_up(void **state)
{
    (void)state;
    compare(100, false, 32);
    compare(20000, false, 32);
    compare(1000000000, false, 32);
}

static void test_weights_that_are_texts_follow(void **state)
{
    (void)state;
    compare(100, true, 32);
    compare(20000, true, 32);
}

static void test_hashes_may_be_the_same(void **state)
{
    (void)state;
    compare(300, true, 4);
    compare(300, false, 1);
}

static void test_nothing_to_join(void **state)
{
    struct side x;
    uint32_t hash = 1;
    (void)state;
    begin(&x);
    assert_int_equal(sp_stacks_join(x.p, &hash), 0);
    uint32_t s = sp_stack_append(x.p, NULL, 0, 0, SP_UNIFIED);
    add(&x, s, true, INT64_MIN, NULL);
    assert_int_equal(sp_stacks_join(x.p, &hash), 0);
    assert_int_equal(x.p->stacks.n, 1);
    end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joined_stacks_are_those_that_were_looked_up),
        cmocka_unit_test(test_weights_that_are_texts_follow),
        cmocka_unit_test(test_hashes_may_be_the_same),
        cmocka_unit_test(test_nothing_to_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
