/* Texts that are recognised many bytes at a time, against one at a time. */
#include "formats/spaa/usual.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MOST = 70, BEFORE = 16 };

static char a[BEFORE + MOST + 64], b[BEFORE + MOST + 64];

static void test_one_byte_that_differs(void **state)
{
    (void)state;
    for (size_t n = 0; n <= MOST; n++) {
        for (size_t i = 0; i < sizeof a; i++) {
            a[i] = (char)('a' + i % 23);
            b[i] = i >= BEFORE && i < BEFORE + n ? a[i] : '#';
        }
        assert_true(sp_same_text(a + BEFORE, b + BEFORE, n));
        for (size_t i = 0; i < n; i++) {
            b[BEFORE + i] ^= 1;
            assert_false(sp_same_text(a + BEFORE, b + BEFORE, n));
            b[BEFORE + i] ^= 1;
        }
    }
}

static void test_where_plain_text_ends(void **state)
{
    static const char other[] = {'"', '\\', 0x1f, 0x7f, (char)0x80, (char)0xff, 0};
    (void)state;
    for (size_t n = 0; n < MOST; n++)
        for (size_t k = 0; k < sizeof other; k++) {
            memset(a, '~', sizeof a);
            a[n] = other[k];
            for (size_t limit = 0; limit <= n + 1; limit++)
                assert_ptr_equal(sp_plain_text(a, a + limit), limit > n && other[k] == '"' ? a + n : NULL);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_byte_that_differs),
        cmocka_unit_test(test_where_plain_text_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
