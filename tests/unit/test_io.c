/* Reading: every kind of source, any chunking, compression of any nesting, and damage at every byte. */
#include "io/input.h"
#include "io/stage.h"

#include "packed.h"

#include <stdio.h>
#include <sys/resource.h>

/* Lines of pseudo-random words, so that compression leaves several blocks. */
static struct bytes some_text(size_t n)
{
    struct bytes b = {malloc(n + 1), n};
    assert_non_null(b.p);
    uint32_t seed = 12345;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        b.p[i] = (seed >> 24) % 41 == 0 ? '\n' : (unsigned char)('a' + (seed >> 16) % 20);
    }
    return b;
}

/* Reads everything, by steps of `want`; takes all that is lent or, with `partly`, a part of it. */
static struct bytes drain(struct sp_input *in, size_t want, bool partly)
{
    struct bytes b = bytes_of("", 0);
    const unsigned char *p;
    size_t n, cap = 0;
    uint64_t begin = 0;
    for (;;) {
        assert_int_equal(sp_input_peek(in, want, &p, &n), SPAA_OK);
        if (!b.n)
            begin = sp_input_offset(in); /* behind a byte order mark */
        assert_int_equal(sp_input_offset(in), begin + b.n);
        if (!n)
            return b;
        size_t take = partly ? (n + 1) / 2 : n;
        if (b.n + take > cap) {
            cap = (b.n + take) * 2;
            b.p = realloc(b.p, cap);
            assert_non_null(b.p);
        }
        memcpy(b.p + b.n, p, take);
        b.n += take;
        sp_input_consume(in, take);
    }
}

static void assert_bytes(struct bytes got, struct bytes expected)
{
    assert_int_equal(got.n, expected.n);
    if (got.n)
        assert_memory_equal(got.p, expected.p, got.n);
}

static void any_chunking_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const nestings[] = {"", "z", "g", "zg", "gz", "zzg"};
    static const size_t chunks[] = {0, 1, 7, 4096}, wants[] = {1, 3, 5000};
    struct bytes text = some_text(20000);
    for (size_t k = 0; k < 6; k++) {
        struct bytes b = packed(bytes_of(text.p, text.n), nestings[k]);
        for (size_t c = 0; c < 4; c++)
            for (size_t w = 0; w < 3; w++) {
                struct sp_diags d;
                struct sp_input *in;
                sp_diags_init(&d);
                assert_int_equal(sp_input_memory(b.p, b.n, "memory", &d, &in), SPAA_OK);
                sp_input_set_chunk(in, chunks[c]);
                struct bytes got = drain(in, wants[w], c != 1);
                assert_bytes(got, text);
                assert_int_equal(sp_input_failed(in), SPAA_OK);
                assert_int_equal(d.list.n, 0);
                free(got.p);
                sp_input_close(in);
                sp_diags_free(&d);
            }
        free(b.p);
    }
    free(text.p);
}

/* All there is, and what was said, with so many threads. */
struct outcome {
    struct bytes got;
    struct sp_diags d;
    spaa_status failed;
};

static struct outcome outcome_of(struct bytes b, unsigned jobs, size_t chunk, size_t want)
{
    struct outcome o;
    struct sp_input *in;
    sp_diags_init(&o.d);
    assert_int_equal(sp_input_memory(b.p, b.n, "memory", &o.d, &in), SPAA_OK);
    sp_input_set_jobs(in, jobs);
    assert_int_equal(sp_input_jobs(in), jobs);
    sp_input_set_chunk(in, chunk);
    o.got = drain(in, want, chunk % 2);
    o.failed = sp_input_failed(in);
    sp_input_close(in);
    return o;
}

static void assert_same_outcome(struct bytes b, size_t chunk, size_t want)
{
    struct outcome one = outcome_of(b, 1, chunk, want), two = outcome_of(b, 2, chunk, want);
    assert_bytes(two.got, one.got);
    assert_int_equal(two.failed, one.failed);
    assert_int_equal(two.d.list.n, one.d.list.n);
    for (size_t i = 0; i < one.d.list.n; i++) {
        assert_int_equal(two.d.list.v[i].code, one.d.list.v[i].code);
        assert_int_equal(two.d.list.v[i].offset, one.d.list.v[i].offset);
        assert_string_equal(two.d.list.v[i].message, one.d.list.v[i].message);
        assert_string_equal(two.d.list.v[i].hint, one.d.list.v[i].hint);
    }
    assert_memory_equal(two.d.count, one.d.count, sizeof one.d.count);
    free(one.got.p);
    free(two.got.p);
    sp_diags_free(&one.d);
    sp_diags_free(&two.d);
}

static void a_thread_ahead_changes_nothing(void **state)
{
    (void)state;
    static const char *const nestings[] = {"z", "g", "gz"};
    static const size_t chunks[] = {1, 64, 1000, 4096};
    struct bytes text = some_text(20000);
    for (size_t k = 0; k < 3; k++) {
        struct bytes b = packed(bytes_of(text.p, text.n), nestings[k]);
        for (size_t c = 0; c < 4; c++) {
            assert_same_outcome(b, chunks[c], 1);
            assert_same_outcome(b, chunks[c], 5000);
            for (size_t cut = 1; cut < 8; cut++) { /* damage: cut off, and changed */
                struct bytes part = {b.p, b.n * cut / 8};
                assert_same_outcome(part, chunks[c], 300);
                b.p[part.n] ^= 0x55;
                assert_same_outcome(b, chunks[c], 300);
                b.p[part.n] ^= 0x55;
            }
        }
        free(b.p);
    }
    free(text.p);
}

static void large_blocks_join_at_lines_of_any_length(void **state)
{
    (void)state;
    struct bytes text = some_text((9 << 20) + 12345);
    memset(text.p + (3 << 20), 'x', 300000); /* longer than what fits before a block */
    struct bytes b = packed(bytes_of(text.p, text.n), "z");
    assert_same_outcome(b, 0, 1);
    assert_same_outcome(b, 0, 2500000);
    for (unsigned jobs = 1; jobs < 3; jobs++) {
        struct sp_diags d;
        struct sp_input *in;
        const char *line;
        size_t n, at = 0;
        sp_diags_init(&d);
        assert_int_equal(sp_input_memory(b.p, b.n, "memory", &d, &in), SPAA_OK);
        sp_input_set_jobs(in, jobs);
        while (assert_int_equal(sp_input_line(in, &line, &n), SPAA_OK), line) {
            assert_true(at + n <= text.n);
            assert_memory_equal(line, text.p + at, n);
            at += n + 1;
        }
        assert_in_range(at, text.n, text.n + 1);
        sp_input_close(in);
        sp_diags_free(&d);
    }
    free(text.p);
    free(b.p);
}

static void closing_early_ends_the_thread(void **state)
{
    (void)state;
    struct bytes text = some_text(12 << 20);
    struct bytes b = packed(bytes_of(text.p, text.n), "z");
    for (size_t mb = 0; mb < 8; mb++) {
        struct sp_diags d;
        struct sp_input *in;
        const unsigned char *p;
        size_t n;
        sp_diags_init(&d);
        assert_int_equal(sp_input_memory(b.p, b.n, "memory", &d, &in), SPAA_OK);
        sp_input_set_jobs(in, 2);
        for (size_t at = 0; at < mb << 20; at += n) {
            assert_int_equal(sp_input_peek(in, 1, &p, &n), SPAA_OK);
            sp_input_consume(in, n);
        }
        sp_input_close(in);
        sp_diags_free(&d);
    }
    free(text.p);
    free(b.p);
}

static void a_fourth_nesting_is_left_packed(void **state)
{
    (void)state;
    struct sp_diags d;
    struct sp_input *in;
    sp_diags_init(&d);
    struct bytes inner = packed(bytes_of("hello", 5), "z");
    struct bytes b = packed(bytes_of(inner.p, inner.n), "gzg");
    assert_int_equal(sp_input_memory(b.p, b.n, "memory", &d, &in), SPAA_OK);
    struct bytes got = drain(in, 1, false);
    assert_bytes(got, inner);
    sp_input_close(in);
    sp_diags_free(&d);
    free(got.p);
    free(inner.p);
    free(b.p);
}

static void a_peek_lends_at_least_what_was_asked_for(void **state)
{
    (void)state;
    struct sp_diags d;
    struct sp_input *in;
    const unsigned char *p;
    size_t n;
    sp_diags_init(&d);
    struct bytes text = some_text(5 << 20);
    struct bytes b = packed(bytes_of(text.p, text.n), "z");
    assert_int_equal(sp_input_memory(b.p, b.n, "memory", &d, &in), SPAA_OK);
    sp_input_peek(in, 10, &p, &n);
    assert_true(n >= 10);
    sp_input_consume(in, 3);
    assert_int_equal(sp_input_peek(in, 4 << 20, &p, &n), SPAA_OK);
    assert_true(n >= 4 << 20);
    assert_memory_equal(p, text.p + 3, n);
    assert_int_equal(sp_input_peek(in, SP_LINE_MAX + 1, &p, &n), SPAA_OK);
    assert_int_equal(n, text.n - 3);
    assert_int_equal(sp_input_peek(in, SP_LINE_MAX + 2, &p, &n), SPAA_ERR_LIMIT);
    sp_input_close(in);
    sp_diags_free(&d);
    free(text.p);
    free(b.p);
}

static void concatenated_and_skippable_frames_are_one_stream(void **state)
{
    (void)state;
    static const unsigned char skippable[] = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'};
    struct bytes skip = bytes_of(skippable, sizeof skippable);
    struct bytes b = joined(skip, joined(zstd_of("one ", 4), bytes_of(skippable, sizeof skippable)));
    b = joined(b, joined(zstd_of("", 0), zstd_of("two", 3)));
    struct bytes g = joined(gzip_of("one ", 4), joined(gzip_of("", 0), gzip_of("two", 3)));
    g = joined(g, bytes_of("\0\0\0\0\0", 5)); /* padding is no damage */
    for (int k = 0; k < 2; k++)
        for (size_t chunk = 0; chunk < 4; chunk++) {
            struct sp_diags d;
            struct sp_input *in;
            sp_diags_init(&d);
            assert_int_equal(sp_input_memory(k ? g.p : b.p, k ? g.n : b.n, "memory", &d, &in), SPAA_OK);
            sp_input_set_chunk(in, chunk);
            struct bytes got = drain(in, 1, false);
            assert_bytes(got, (struct bytes){(unsigned char *)"one two", 7});
            assert_int_equal(sp_input_failed(in), SPAA_OK);
            assert_int_equal(d.list.n, 0);
            free(got.p);
            sp_input_close(in);
            sp_diags_free(&d);
        }
    free(b.p);
    free(g.p);
}

static void garbage_after_compressed_data_is_damage(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        struct sp_diags d;
        struct sp_input *in;
        sp_diags_init(&d);
        struct bytes b = k ? gzip_of("good", 4) : zstd_of("good", 4);
        b = joined(b, k == 2 ? bytes_of("\0\0trailing", 10) : bytes_of("trailing", 8));
        assert_int_equal(sp_input_memory(b.p, b.n, "memory", &d, &in), SPAA_OK);
        struct bytes got = drain(in, 1, false);
        assert_bytes(got, (struct bytes){(unsigned char *)"good", 4});
        assert_int_equal(sp_input_failed(in), SPAA_ERR_INPUT);
        assert_int_equal(d.count[SP_E006], 1);
        free(got.p);
        free(b.p);
        sp_input_close(in);
        sp_diags_free(&d);
    }
}

/* What a damaged copy of b gives is a beginning of text, said once to be damaged unless it is whole. */
static size_t damaged_gives_a_beginning(struct bytes b, struct bytes text, bool may_be_whole)
{
    struct sp_diags d;
    struct sp_input *in;
    sp_diags_init(&d);
    assert_int_equal(sp_input_memory(b.p, b.n, "memory", &d, &in), SPAA_OK);
    struct bytes got = drain(in, 1, false);
    size_t n = got.n;
    if (!may_be_whole || sp_input_failed(in)) {
        assert_int_equal(sp_input_failed(in), SPAA_ERR_INPUT);
        assert_int_equal(d.count[SP_E006], 1);
        assert_int_equal(d.list.n, 1);
    }
    assert_true(n <= text.n);
    if (n)
        assert_memory_equal(got.p, text.p, n);
    free(got.p);
    sp_input_close(in);
    sp_diags_free(&d);
    return n;
}

static void a_stream_cut_at_any_byte_gives_what_came_before(void **state)
{
    (void)state;
    static const char *const nestings[] = {"z", "g", "zg", "gz"};
    struct bytes text = some_text(3000);
    for (size_t k = 0; k < 4; k++) {
        struct bytes b = packed(bytes_of(text.p, text.n), nestings[k]);
        size_t before = 0;
        for (size_t n = 4; n < b.n; n++) {
            struct bytes part = bytes_of(b.p, n);
            size_t got = damaged_gives_a_beginning(part, text, false);
            assert_true(got >= before); /* more input never gives less */
            before = got;
            free(part.p);
        }
        free(b.p);
    }
    free(text.p);
}

static void blocks_before_the_damage_are_delivered(void **state)
{
    (void)state;
    struct bytes text = some_text(1 << 20);
    for (int k = 0; k < 2; k++) {
        struct bytes b = packed(bytes_of(text.p, text.n), k ? "g" : "z");
        struct bytes cut = {b.p, b.n / 2};
        size_t got = damaged_gives_a_beginning(cut, text, false);
        assert_true(got > text.n / 2 - (160 << 10));
        for (size_t i = 0; i < 64; i++)
            b.p[b.n / 2 + i] ^= 0x55;
        struct sp_diags d;
        struct sp_input *in;
        sp_diags_init(&d);
        sp_input_memory(b.p, b.n, "memory", &d, &in);
        struct bytes all = drain(in, 1, false);
        assert_int_equal(sp_input_failed(in), SPAA_ERR_INPUT);
        assert_true(all.n > text.n / 2 - (160 << 10));
        assert_memory_equal(all.p, text.p, text.n / 2 - (160 << 10));
        assert_int_equal(d.count[SP_E006], 1);
        sp_input_close(in);
        sp_diags_free(&d);
        free(all.p);
        free(b.p);
    }
    free(text.p);
}

/* Where the header of block number `block` stands, behind a frame header without a dictionary. */
static unsigned char *zstd_block(struct bytes frame, size_t block)
{
    const unsigned sizes[] = {frame.p[4] >> 5 & 1, 2, 4, 8};
    unsigned char *at = frame.p + 5 + !(frame.p[4] >> 5 & 1) + sizes[frame.p[4] >> 6];
    for (; block; block--)
        at += 3 + ((unsigned)at[0] >> 3 | (unsigned)at[1] << 5 | (unsigned)at[2] << 13);
    return at;
}

static void all_blocks_before_a_damaged_one_are_delivered_in_any_pieces(void **state)
{
    (void)state;
    const size_t block = 128 << 10;
    struct bytes text = some_text(1 << 20);
    for (size_t good = 1; good < 4; good++) {
        struct bytes b = packed(bytes_of(text.p, text.n), "z");
        *zstd_block(b, good) |= 6; /* a type that there is not */
        for (size_t chunk = 0; chunk < 400000; chunk = chunk * 11 + 37) {
            struct sp_diags d;
            struct sp_input *in;
            sp_diags_init(&d);
            sp_input_memory(b.p, b.n, "memory", &d, &in);
            sp_input_set_chunk(in, chunk);
            struct bytes got = drain(in, 1, false);
            assert_int_equal(sp_input_failed(in), SPAA_ERR_INPUT);
            assert_bytes(got, (struct bytes){text.p, good * block});
            free(got.p);
            sp_input_close(in);
            sp_diags_free(&d);
        }
        free(b.p);
    }
    free(text.p);
}

static void flipped_bits_never_crash(void **state)
{
    (void)state;
    struct bytes text = some_text(300);
    for (int k = 0; k < 2; k++) {
        struct bytes b = packed(bytes_of(text.p, text.n), k ? "g" : "z");
        for (size_t i = 4; i < b.n; i++)
            for (unsigned bit = 0; bit < 8; bit++) {
                struct sp_diags d;
                struct sp_input *in;
                sp_diags_init(&d);
                b.p[i] ^= (unsigned char)(1u << bit);
                sp_input_memory(b.p, b.n, "memory", &d, &in);
                struct bytes got = drain(in, 1, false);
                assert_true(got.n < 2 << 20);
                assert_true(d.list.n <= 1);
                assert_true((d.list.n == 1) == (sp_input_failed(in) != SPAA_OK));
                b.p[i] ^= (unsigned char)(1u << bit);
                free(got.p);
                sp_input_close(in);
                sp_diags_free(&d);
            }
        free(b.p);
    }
    free(text.p);
}

static void too_large_a_window_is_a_limit(void **state)
{
    (void)state;
    /* A frame header: no single segment, window descriptor 2^(10+18) = 256 MiB, then an empty last block. */
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 1, 0, 0};
    struct sp_diags d;
    struct sp_input *in;
    const unsigned char *p;
    size_t n;
    sp_diags_init(&d);
    sp_input_memory(frame, sizeof frame, "memory", &d, &in);
    assert_int_equal(sp_input_peek(in, 1, &p, &n), SPAA_OK);
    assert_int_equal(n, 0);
    assert_int_equal(sp_input_failed(in), SPAA_ERR_LIMIT);
    assert_int_equal(d.count[SP_E007], 1);
    sp_input_close(in);
    sp_diags_free(&d);
}

static long peak_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static void a_bomb_is_read_in_constant_memory(void **state)
{
    (void)state;
    struct sp_diags d;
    struct sp_input *in;
    const unsigned char *p;
    size_t n;
    uint64_t total = 0;
    sp_diags_init(&d);
    struct bytes b = bomb((uint64_t)10 << 30);
    struct bytes twice = packed(b, "z"); /* packed again, it is tiny */
    assert_true(twice.n < 64 << 10);
    long before = peak_kib();
    sp_input_memory(twice.p, twice.n, "bomb", &d, &in);
    while (total < (uint64_t)300 << 20) {
        assert_int_equal(sp_input_peek(in, 1, &p, &n), SPAA_OK);
        assert_true(n > 0 && n <= SP_STAGE_BLOCK);
        total += n;
        sp_input_consume(in, n);
    }
    assert_true(peak_kib() - before < 16 << 10);
    sp_input_close(in);
    sp_diags_free(&d);
    free(twice.p);
}

/* What stands around text, under compression and not, asked for in any pieces; and the whole of it. */
static void text_is_unwrapped_in_any_pieces(void **state)
{
    (void)state;
    static const char plain[] = "a;\xC3\xA9;\xE2\x82\xAC 1\n\n\tb \xF0\x9F\x98\x80 2\nlast";
#define TEXT(p, wrapping)                                                                                    \
    {                                                                                                        \
        p, sizeof p - 1, wrapping                                                                            \
    }
    static const struct {
        const char *p;
        size_t n;
        unsigned wrapping;
    } wrapped[] = {
        TEXT("\xEF\xBB\xBF"
             "a;\xC3\xA9;\xE2\x82\xAC 1\n\n\tb \xF0\x9F\x98\x80 2\nlast",
             SP_WRAP_MARK),
        TEXT("> a;\xC3\xA9;\xE2\x82\xAC 1\n>\n>\tb \xF0\x9F\x98\x80 2\n> last", SP_WRAP_QUOTE),
        TEXT("> > a;\xC3\xA9;\xE2\x82\xAC 1\n> >\n> > \tb \xF0\x9F\x98\x80 2\n> > last", SP_WRAP_QUOTE),
        TEXT("\xFF\xFE"
             "a\0;\0\xE9\0;\0\xAC\x20 \0"
             "1\0\n\0\n\0\t\0b\0 \0\x3D\xD8\x00\xDE \0"
             "2\0\n\0l\0a\0s\0t\0",
             SP_WRAP_UTF16),
    };
#undef TEXT
    static const size_t chunks[] = {0, 1, 2, 3, 7, 4096}, wants[] = {1, 3, 5000};
    struct bytes text = {(unsigned char *)plain, sizeof plain - 1};
    for (size_t k = 0; k < 4; k++)
        for (unsigned nested = 0; nested < 2; nested++) {
            struct bytes b = packed(bytes_of(wrapped[k].p, wrapped[k].n), nested ? "z" : "");
            for (size_t c = 0; c < 6; c++)
                for (size_t w = 0; w < 4; w++) {
                    struct sp_diags d;
                    struct sp_input *in;
                    unsigned wrapping;
                    sp_diags_init(&d);
                    assert_int_equal(sp_input_memory(b.p, b.n, "memory", &d, &in), SPAA_OK);
                    sp_input_set_chunk(in, chunks[c]);
                    if (w < 3) {
                        struct bytes got = drain(in, wants[w], c != 1);
                        assert_bytes(got, text);
                        free(got.p);
                    } else {
                        struct bytes got;
                        assert_int_equal(sp_input_whole(in, (const unsigned char **)&got.p, &got.n), SPAA_OK);
                        assert_bytes(got, text);
                    }
                    assert_int_equal(sp_input_wrapping(in, &wrapping), SPAA_OK);
                    assert_int_equal(wrapping, wrapped[k].wrapping);
                    assert_int_equal(d.list.n, wrapping == SP_WRAP_QUOTE);
                    sp_input_close(in);
                    sp_diags_free(&d);
                }
            free(b.p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bomb_is_read_in_constant_memory),
        cmocka_unit_test(any_chunking_gives_the_same_bytes),
        cmocka_unit_test(a_thread_ahead_changes_nothing),
        cmocka_unit_test(large_blocks_join_at_lines_of_any_length),
        cmocka_unit_test(closing_early_ends_the_thread),
        cmocka_unit_test(a_fourth_nesting_is_left_packed),
        cmocka_unit_test(a_peek_lends_at_least_what_was_asked_for),
        cmocka_unit_test(concatenated_and_skippable_frames_are_one_stream),
        cmocka_unit_test(garbage_after_compressed_data_is_damage),
        cmocka_unit_test(a_stream_cut_at_any_byte_gives_what_came_before),
        cmocka_unit_test(blocks_before_the_damage_are_delivered),
        cmocka_unit_test(all_blocks_before_a_damaged_one_are_delivered_in_any_pieces),
        cmocka_unit_test(flipped_bits_never_crash),
        cmocka_unit_test(too_large_a_window_is_a_limit),
        cmocka_unit_test(text_is_unwrapped_in_any_pieces),
    };
    return cmocka_run_group_tests_name("io_input", tests, NULL, NULL);
}
