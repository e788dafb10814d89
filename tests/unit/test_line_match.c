/* Lines of two texts that are the same, against a longest common subsequence over all pairs. */
#include "analysis/line_match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* needs the headers above */
#include <cmocka.h>

static unsigned seed = 1;

static unsigned draw(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

/* Lines of these numbers; indented, so that blanks are seen not to matter. */
static struct sp_source_text text_of(const unsigned *numbers, size_t n)
{
    struct sp_source_text t = {.from = SP_SOURCE_GIVEN, .data = malloc(n * 24 + 1)};
    assert_non_null(t.data);
    for (size_t i = 0; i < n; i++) {
        assert_true(sp_vec_push(&t.lines, t.n));
        t.n += (size_t)sprintf(t.data + t.n, "%*sline %u\n", (int)draw(4), "", numbers[i]);
    }
    return t;
}

static void text_free(struct sp_source_text *t)
{
    free(t->data);
    sp_vec_free(&t->lines);
}

static size_t longest(const unsigned *a, size_t na, const unsigned *b, size_t nb)
{
    size_t *best = calloc((na + 1) * (nb + 1), sizeof *best), wide = nb + 1;
    assert_non_null(best);
    for (size_t i = na; i-- > 0;)
        for (size_t k = nb; k-- > 0;) {
            size_t x = best[(i + 1) * wide + k], y = best[i * wide + k + 1];
            best[i * wide + k] = a[i] == b[k] ? best[(i + 1) * wide + k + 1] + 1 : x > y ? x : y;
        }
    size_t n = best[0];
    free(best);
    return n;
}

/* How many are matched; they ascend, and are the same. */
static size_t matched(const unsigned *a, size_t na, const unsigned *b, size_t nb, bool *cut)
{
    struct sp_source_text was = text_of(a, na), is = text_of(b, nb);
    uint32_t *pairs = sp_match_lines(&was, &is, cut), last = 0;
    size_t n = 0;
    assert_non_null(pairs);
    for (size_t k = 0; k < nb; k++) {
        if (!pairs[k])
            continue;
        assert_true(pairs[k] > last && pairs[k] <= na && a[pairs[k] - 1] == b[k]);
        last = pairs[k];
        n++;
    }
    free(pairs);
    text_free(&was);
    text_free(&is);
    return n;
}

static void as_many_as_can_be(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 500; round++) {
        unsigned a[60], b[60], kinds = 1 + draw(40);
        size_t na = draw(60), nb = draw(60);
        bool cut;
        for (size_t i = 0; i < 60; i++) {
            a[i] = draw(kinds);
            b[i] = draw(3) ? a[i] : draw(kinds);
        }
        assert_int_equal(matched(a, na, b, nb, &cut), longest(a, na, b, nb));
        assert_false(cut);
    }
}

static void large_texts_by_lines_that_are_there_once(void **state)
{
    enum { N = 20000 };
    static unsigned a[N], b[N];
    (void)state;
    bool cut;
    for (unsigned i = 0; i < N; i++) {
        a[i] = i % 5 ? i : 0;
        b[i] = i % 7 ? a[i] : N + i;
    }
    size_t least = 0;
    for (unsigned i = 0; i < N; i++)
        least += i % 7 != 0;
    assert_int_equal(matched(a, N, b, N, &cut), least);
    assert_false(cut);
    for (unsigned i = 0; i < N; i++) { /* nothing is there once: not looked for, and said */
        a[i] = i % 3;
        b[i] = 2 - i % 2;
    }
    matched(a, N, b, N, &cut);
    assert_true(cut);
}

static void lines_that_became_others(void **state)
{
    static const struct {
        const char *a, *b;
        bool alike;
    } cases[] = {{"if (s > 1e9)", "\tif (s > most)", true},
                 {"}", "return s;", false},
                 {"", "", false},
                 {"x = 1;", "x = 2;", true},
                 {"int a;", "double zzzzzz;", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_str a = {cases[i].a, (uint32_t)strlen(cases[i].a)},
                      b = {cases[i].b, (uint32_t)strlen(cases[i].b)};
        assert_int_equal(sp_lines_alike(a, b), cases[i].alike);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_can_be),
        cmocka_unit_test(large_texts_by_lines_that_are_there_once),
        cmocka_unit_test(lines_that_became_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
