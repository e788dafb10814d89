/* Numbers and blanks of hang reports eight bytes at a time, against one byte at a time. */
#include "formats/hang.h"
#include "formats/hang_digits.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t next(uint64_t *state) /* xorshift */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Bytes of any kind, such as stand beside digits, or digits alone. */
static void fill(char *t, size_t n, uint64_t *state)
{
    static const char beside[] = "0123456789abcdefABCDEF/:@G`g \x80\xB0\xE1\xFF";
    unsigned kind = (unsigned)(next(state) % 3);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = next(state) >> 8;
        t[i] = (char)(kind ? beside[r % (kind == 1 ? sizeof beside : 22)] : (int)(r & 0xFF));
    }
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static void eight_bytes_are_as_one_by_one(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 200000; round++) {
        char t[9] = "", number[9] = "";
        fill(t, 8, &seed);
        if (round % 4 == 0)
            memset(t, ' ', (size_t)(round / 4 % 9));
        uint64_t v = sp_load_le64(t);
        unsigned spaces = 0, front = 0, back = 0, hex_front = 0, hex_back = 0;
        uint32_t got;
        for (; spaces < 8 && t[spaces] == ' '; spaces++)
            ;
        for (; front < 8 && digit(t[front]); front++)
            ;
        for (; back < 8 && digit(t[7 - back]); back++)
            ;
        for (; hex_front < 8 && isxdigit((unsigned char)t[hex_front]); hex_front++)
            ;
        for (; hex_back < 8 && isxdigit((unsigned char)t[7 - hex_back]); hex_back++)
            ;
        assert_int_equal(sp_hang_leading_spaces(v), spaces);
        assert_int_equal(sp_hang_leading_digits(v), front);
        assert_int_equal(sp_hang_trailing_digits(v), back);
        if (back)
            assert_int_equal(sp_hang_last_digits(v, back), strtoul(t + 8 - back, NULL, 10));
        assert_int_equal(sp_hang_trailing_hex(v, &got), hex_back);
        assert_int_equal(got, hex_back ? strtoul(t + 8 - hex_back, NULL, 16) : 0);
        memcpy(number, t, hex_front);
        assert_int_equal(sp_hang_leading_hex(v, &got), hex_front);
        assert_int_equal(got, hex_front ? strtoul(number, NULL, 16) : 0);
    }
}

static void hexadecimal_is_read_as_everywhere(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 100000; round++) {
        char t[40];
        size_t n = next(&seed) % sizeof t;
        fill(t, sizeof t, &seed);
        uint64_t want = 7, got = 7;
        size_t length = sp_parse_hex(t, t + n, &want);
        assert_int_equal(sp_hang_parse_hex(t, t + n, &got), length);
        assert_true(got == want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_bytes_are_as_one_by_one),
        cmocka_unit_test(hexadecimal_is_read_as_everywhere),
    };
    return cmocka_run_group_tests_name("hang_digits", tests, NULL, NULL);
}
