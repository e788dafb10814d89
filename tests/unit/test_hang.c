/* What hang reports print: quantities, frames with numbers of any length, and which image a frame means. */
#include "formats/common/hang/images.h"
#include "formats/common/hang/line.h"
#include "formats/spindump/spindump.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t next(uint64_t *state) /* xorshift */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A number of any length. */
static uint64_t any_number(uint64_t *state)
{
    uint64_t bits = next(state) >> 8;
    return next(state) >> bits % 64;
}

static struct sp_span span(const char *s)
{
    return (struct sp_span){s, strlen(s)};
}

static void quantities_come_in_their_units(void **state)
{
    (void)state;
    enum kind { SECONDS, COUNT, BYTES };
    static const struct {
        enum kind kind;
        const char *text;
        size_t used;
        int64_t value;
    } cases[] = {{SECONDS, "0.922s (3.2G cycles", 6, 922000000},
                 {SECONDS, "<0.001s", 7, 1000000},
                 {SECONDS, "276319s", 7, 276319000000000},
                 {SECONDS, "12ms", 4, 12000000},
                 {SECONDS, "7us", 3, 7000},
                 {SECONDS, "7 s", 0, 0},
                 {SECONDS, ".5s", 0, 0},
                 {SECONDS, "5.s", 0, 0},
                 {SECONDS, "9223372036854775807s", 0, 0},
                 {COUNT, "51.3G cycles", 5, 51300000000},
                 {COUNT, "17", 2, 17},
                 {COUNT, "1.5K", 4, 1500},
                 {COUNT, "1.5", 3, 2},
                 {COUNT, "x", 0, 0},
                 {BYTES, "6416 KB", 7, 6416 * 1024},
                 {BYTES, "11.45 MB", 8, 12006195},
                 {BYTES, "227.5M", 6, 238551040},
                 {BYTES, "12 bytes", 8, 12},
                 {BYTES, "9 widgets", 1, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t v = 0;
        struct sp_span s = span(cases[i].text);
        size_t n = cases[i].kind == SECONDS ? sp_hang_seconds(s, &v)
                   : cases[i].kind == COUNT ? sp_hang_count(s, &v)
                                            : sp_hang_bytes(s, &v);
        assert_int_equal(n, cases[i].used);
        if (n)
            assert_int_equal(v, cases[i].value);
    }
}

static void frames_have_numbers_of_any_length(void **state)
{
    (void)state;
    static const char *const symbols[] = {"start", "-[A b:] (c)", "operator()(int)", "a + b", "???"};
    static const char *const images[] = {"dyld", "My App (1)", "a:b", "lib in lib"};
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 20000; round++) {
        const char *symbol = symbols[next(&seed) % 5], *image = images[next(&seed) % 4];
        uint64_t off = any_number(&seed), image_off = any_number(&seed), address = any_number(&seed);
        bool unknown = sp_span_is(span(symbol), "???");
        char text[200], number[32] = "";
        if (!unknown)
            snprintf(number, sizeof number, " + %" PRIu64, off);
        snprintf(text, sizeof text, "%s%s (%s + %" PRIu64 ") [0x%" PRIx64 "]%s", symbol, number, image,
                 image_off, address, round % 3 ? "" : " (running, p-core)");
        struct sp_spindump_frame f;
        sp_spindump_parse_frame(span(text), &f);
        assert_true(sp_span_is(f.symbol, symbol) && sp_span_is(f.image, image));
        assert_true(f.has_image_off && f.image_off == image_off && f.address_value == address);
        assert_true(f.has_off == !unknown && (unknown || f.off == off));
        assert_true(round % 3 ? !f.state.p : sp_span_is(f.state, "running, p-core"));
    }
}

/* Of one name in one process: the newest that holds the address, else the oldest. */
static uint32_t expected_image(const struct sp_hang_images *m, const uint32_t *list, size_t n,
                               uint64_t address)
{
    uint32_t best = SP_NONE, oldest = SP_NONE;
    for (size_t i = 0; i < n; i++) {
        const struct sp_hang_image *x = &m->v.v[list[i]];
        if (x->start <= address && address <= x->end && (best == SP_NONE || list[i] > best))
            best = list[i];
        if (list[i] < oldest)
            oldest = list[i];
    }
    return best != SP_NONE ? best : oldest;
}

static void a_frame_means_the_image_of_its_process_that_holds_its_address(void **state)
{
    (void)state;
    enum { PROCESSES = 60, LINES = 400, MOST = 40 };
    static char text[LINES][96];
    struct sp_hang_images m = {0};
    uint64_t seed = 1;
    bool ok;
    for (int i = 0; i < LINES; i++) {
        uint64_t start = 0x1000 * (1 + next(&seed) % 200), size = 0x1000 * (1 + next(&seed) % 8);
        snprintf(text[i], sizeof text[i], "0x%" PRIx64 " - 0x%" PRIx64 "  lib (1)  <%032d>  /%d/lib", start,
                 start + size - 1, i, i);
    }
    for (uint32_t stamp = 1; stamp <= PROCESSES; stamp++) {
        uint32_t list[MOST];
        size_t n = next(&seed) % MOST;
        for (size_t i = 0; i < n; i++) {
            list[i] = sp_hang_image(&m, span(text[next(&seed) % LINES]), stamp, &ok);
            assert_true(ok && list[i] != SP_NONE);
        }
        for (int i = 0; i < 100; i++) {
            uint64_t address = next(&seed) % 0x100000;
            assert_int_equal(sp_hang_find_image(&m, span("lib"), address, stamp, &ok),
                             expected_image(&m, list, n, address));
            assert_true(ok);
        }
        assert_int_equal(sp_hang_find_image(&m, span("libx"), 0x1000, stamp, &ok), SP_NONE);
    }
    sp_hang_images_free(&m);
}

static void a_uuid_has_16_to_64_digits_and_any_dashes(void **state)
{
    (void)state;
    static const struct {
        const char *line, *uuid, *path;
    } cases[] = {{"0x1 - 0x2  a <b> (1)  <0975AFBA-C46B-364C-BD84-A75DAA9E455A>__TEXT  /x",
                  "0975AFBA-C46B-364C-BD84-A75DAA9E455A", "/x"},
                 {"0x1 - 0x2  a  <0123456789abcdef>  /x y", "0123456789abcdef", "/x y"},
                 {"0x1 - 0x2  a  <0123456789abcde>  /x", "", "/x"},
                 {"0x1 - 0x2  a  <<<<0123456789abcdef", "", ""},
                 {"0x1 - ???  ???  <0123456789abcdefg>  /x", "", "/x"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_hang_images m = {0};
        bool ok;
        assert_int_equal(sp_hang_image(&m, span(cases[i].line), 1, &ok), 0);
        assert_true(sp_span_is(m.v.v[0].uuid, cases[i].uuid) && sp_span_is(m.v.v[0].path, cases[i].path));
        sp_hang_images_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_come_in_their_units),
        cmocka_unit_test(frames_have_numbers_of_any_length),
        cmocka_unit_test(a_frame_means_the_image_of_its_process_that_holds_its_address),
        cmocka_unit_test(a_uuid_has_16_to_64_digits_and_any_dashes),
    };
    return cmocka_run_group_tests_name("hang", tests, NULL, NULL);
}
