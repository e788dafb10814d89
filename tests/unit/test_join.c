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

static void equals(const struct sp_profile *a, const struct sp_profile *b)
{
    assert_int_equal(a->stacks.n, b->stacks.n);
    for (uint32_t i = 0; i < a->stacks.n; i++) {
        const struct sp_stack *x = &a->stacks.v[i], *y = &b->stacks.v[i];
        assert_true(x->n == y->n && x->context == y->context && x->type == y->type && x->layout == y->layout);
        assert_memory_equal(sp_stack_frames(a, i), sp_stack_frames(b, i), x->n * sizeof(uint32_t));
        for (uint32_t m = 0; m < a->metrics.n; m++) {
            assert_true(sp_weight(a, i, m) == sp_weight(b, i, m));
            struct sp_str s = sp_weight_text(a, i, m), t = sp_weight_text(b, i, m);
            assert_int_equal(s.n, t.n);
            assert_memory_equal(s.p, t.p, s.n);
        }
    }
}

/* Samples of `kinds` different stacks; every 50th with a decimal if asked for; `bits` of the hashes are kept.
 */
static void compare(uint32_t kinds, bool decimals, unsigned bits)
{
    static const enum sp_stack_type types[] = {SP_UNIFIED, SP_USER_STACK};
    struct side one, all;
    uint64_t seed = kinds, *hashes = malloc(SAMPLES * sizeof *hashes);
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
        hashes[k] = bits < 64 ? hash >> (64 - bits) : hash;
        add(&all, sp_stack_append(all.p, frames, n, context, types[kind & 1]), true, value, text);
    }
    size_t stacks = one.p->stacks.n;
    assert_int_equal(sp_stacks_join(all.p, hashes), SAMPLES - stacks);
    equals(one.p, all.p);
    for (uint32_t i = 0; i < stacks; i++) {
        const struct sp_stack *s = &all.p->stacks.v[i];
        uint64_t hash =
            sp_stack_hash(sp_stack_frames(all.p, i), s->n, s->context, (enum sp_stack_type)s->type);
        assert_true(hashes[i] == (bits < 64 ? hash >> (64 - bits) : hash));
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
    compare(100, false, 64);
    compare(20000, false, 64);
    compare(1000000000, false, 64);
}

static void test_weights_that_are_texts_follow(void **state)
{
    (void)state;
    compare(100, true, 64);
    compare(20000, true, 64);
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
    uint64_t hash = 1;
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
