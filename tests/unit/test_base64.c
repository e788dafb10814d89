/* Base64 against the vectors of RFC 4648, section 10, and texts that are none. */
#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_vectors_of_the_rfc(void **state)
{
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct sp_buf text, bytes;
        sp_buf_init(&text, 0);
        sp_buf_init(&bytes, 0);
        assert_true(sp_base64_encode(&text, (const unsigned char *)pairs[i][0], strlen(pairs[i][0])));
        assert_string_equal(sp_buf_cstr(&text), pairs[i][1]);
        assert_true(sp_base64_decode(&bytes, pairs[i][1], strlen(pairs[i][1])));
        assert_string_equal(sp_buf_cstr(&bytes), pairs[i][0]);
        sp_buf_free(&text);
        sp_buf_free(&bytes);
    }
}

static void test_what_is_none(void **state)
{
    static const char *const none[] = {"Z", "Zg=", "Zg==Zg==", "Z===", "Zm9v\n", "Zm9-", "===="};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct sp_buf bytes;
        sp_buf_init(&bytes, 0);
        assert_false(sp_base64_decode(&bytes, none[i], strlen(none[i])));
        assert_false(bytes.nomem);
        sp_buf_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors_of_the_rfc),
                                       cmocka_unit_test(test_what_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
