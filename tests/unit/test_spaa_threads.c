/*
 * SPAA by several threads, in any pieces, plain and compressed: the profile, the bytes written and what is
 * told are those of one thread. Texts are made from a seed: usual records with everything else strewn in.
 * With files as arguments, those are taken instead (tests/formats/test_spaa.py makes some).
 */
#include "formats/spaa/spaa.h"
#include "formats/spaa/validate/validate.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

struct text {
    char *p;
    size_t n;
};

static uint32_t next(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

/* ---- texts ---- */

/* A usual record; `odd` makes something of it unusual, or wrong. */
static void put_frame(struct sp_buf *b, uint32_t *seed, uint32_t id, uint32_t func, unsigned odd)
{
    static const char *const lines[] = {
        /* sorted keys, of an id that is new, and of one that is not */
        "{\"dso\":1,\"func\":\"sorted\",\"id\":%u,\"kind\":\"user\",\"type\":\"frame\"}\n",
        "{\"type\":\"frame\",\"id\":5,\"func\":\"again%u\",\"dso\":1,\"kind\":\"user\"}\n",
        "{\"type\":\"frame\",\"id\":\"%u\",\"func\":\"f\",\"dso\":1,\"kind\":\"user\"}\n",
        /* a dso that comes later, or never */
        "{\"type\":\"dso\",\"id\":%u,\"name\":\"/late\",\"is_kernel\":false}\n",
        "{\"type\":\"frame\",\"id\":%u,\"func\":\"forward\",\"dso\":9,\"kind\":\"user\"}\n",
        "{\"type\":\"dso\",\"id\":9,\"name\":\"/nine%u\",\"is_kernel\":false}\n",
        "{\"type\":\"thread\",\"pid\":1,\"tid\":%u,\"comm\":\"c\"}\n",
        /* no JSON, and what looks like it for long */
        "{\"type\":\"frame\",\"id\":%u,\"func\":\"f\",\"dso\":1,\"kind\":\"user\"\n",
        "{\"type\":\"frame\",\"id\":%u,\"func\":\"\xFF\",\"dso\":1,\"kind\":\"user\"}\n",
        "{\"type\":\"frame\",\"id\":%u,\"func\":\"esc\\n\",\"dso\":1,\"kind\":\"other\"}\n",
        "{\"type\":\"frame\",\"id\":4%09u,\"func\":\"large\",\"dso\":1,\"kind\":\"user\"}\n",
        "{\"type\":\"frame\",\"id\":%u,\"func\":\"f\",\"func_resolved\":false,\"dso\":1,\"kind\":\"user\"}\n",
        "{\"type\":\"frame\",\"id\":%u,\"func\":\"f\",\"dso\":1,\"srcline\":\"a.c:3\",\"kind\":\"user\"}\n",
        "\n%.0u",
    };
    if (odd > 0 && odd <= sizeof lines / sizeof *lines) {
        sp_buf_printf(b, lines[odd - 1], id);
        return;
    }
    bool kernel = !next(seed, 9), inlined = !next(seed, 40);
    if (odd) /* the same frame under two ids, or one that stands out of order */
        id = next(seed, 300);
    sp_buf_printf(b, "{\"type\":\"frame\",\"id\":%u,\"func\":\"f%u\",\"dso\":%d,\"ip\":\"0x%x\"", id, func,
                  kernel ? 2 : 1, inlined ? 0x1000 : 0x1000 + id);
    sp_buf_printf(b, "%s,\"kind\":\"%s\"}\n", inlined ? ",\"inlined\":true,\"inline_depth\":1" : "",
                  kernel ? "kernel" : "user");
}

static void put_dictionary(struct sp_buf *b, uint32_t *seed, bool root_first, uint32_t frames)
{
    sp_buf_printf(b,
                  "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\","
                  "\"frame_order\":\"%s\",\"events\":[{\"name\":\"e\",\"kind\":\"hardware\",\"sampling\":{"
                  "\"mode\":\"period\",\"primary_metric\":\"period\"}}],"
                  "\"stack_id_mode\":\"content_addressable\"}\n"
                  "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"
                  "{\"type\":\"dso\",\"id\":2,\"name\":\"[kernel]\",\"is_kernel\":true}\n",
                  root_first ? "root_to_leaf" : "leaf_to_root");
    /* ids from 0, 1 or 7 */
    uint32_t base = next(seed, 3) ? 1 : next(seed, 2) * 7, often = next(seed, 3) ? 1 + next(seed, 200) : 0;
    for (uint32_t i = 0; i < frames; i++)
        put_frame(b, seed, i + base, i / 3, often && !next(seed, often) ? 1 + next(seed, 15) : 0);
}

static void put_frames(struct sp_buf *b, uint32_t *seed, uint32_t *leaf, bool root_first)
{
    uint32_t n = 1 + next(seed, next(seed, 5) ? 12 : 90);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = 7 + next(seed, next(seed, 400) ? 250 : 330); /* some are not there, or come later */
        *leaf = i && !root_first ? *leaf : f;
        sp_buf_printf(b, i ? ",%u" : "%u", f);
    }
}

/* A usual record; `odd` makes something of it unusual, or wrong. */
static void put_stack(struct sp_buf *b, uint32_t *seed, unsigned odd, bool root_first)
{
    static const char *const tails[] = {"", ",\"x_own\":7", ",\"other\":[1,{\"a\":null}]",
                                        ",\"id\":\"again\""};
    uint32_t leaf = 0, value = next(seed, 8) ? 1 + next(seed, 1000) : next(seed, 1 << 24) * 4096;
    uint32_t id = next(seed, 300) ? next(seed, 1 << 24) : 77; /* some twice */
    sp_buf_printf(b,
                  odd == 1 ? "{\"type\":\"stack\",\"id\":\"own-%u\",\"frames\":["
                           : "{\"type\":\"stack\",\"id\":\"0x%016x.0000000a\",\"frames\":[",
                  id);
    put_frames(b, seed, &leaf, root_first);
    sp_buf_printf(b, "],\"stack_type\":\"%s\",\"context\":{\"pid\":1,\"tid\":%u,\"event\":\"%s\"%s},",
                  odd == 2 ? "user" : "unified", next(seed, next(seed, 30) ? 3 : 90), odd == 3 ? "none" : "e",
                  odd == 4 ? ",\"comm\":\"}{\\\"\"" : "");
    sp_buf_printf(b, "\"weights\":[{\"metric\":\"period\",\"value\":%u%s}]", value, odd == 5 ? ".50" : "");
    if (odd != 6)
        sp_buf_printf(b, ",\"exclusive\":{\"frame\":%u,\"weights\":[{\"metric\":\"period\",\"value\":%u%s}]}",
                      odd == 7 ? leaf + 1 : leaf, odd == 8 ? value + 1 : value, odd == 5 ? ".50" : "");
    if (odd == 9)
        sp_buf_printf(b, ",\"related_stacks\":[\"0x%016x.0000000a\"]", next(seed, 2) ? 77 : id + 1);
    sp_buf_printf(b, "%s}%s\n", odd == 10 ? tails[next(seed, 4)] : "",
                  odd == 11   ? " \r"
                  : odd == 12 ? "}"
                              : "");
}

static void put_other(struct sp_buf *b, uint32_t *seed)
{
    switch (next(seed, 8)) {
    case 0:
        sp_buf_printf(b, "{\"type\":\"frame\",\"id\":%u,\"func\":\"late\",\"dso\":1,\"kind\":\"user\"}\n",
                      300 + next(seed, 40));
        break;
    case 1:
        sp_buf_puts(b, "\n");
        break;
    case 2:
        sp_buf_puts(b, "{\"type\":\"x_own\",\"v\":[1, 2]}\n");
        break;
    case 3:
        sp_buf_puts(b, "{\"type\":\"stack\",\"frames\":[1,2\n");
        break;
    case 4:
        sp_buf_puts(b, "{\"type\":\"stack\",\"id\":\"\xFF\"}\n");
        break;
    case 5:
        sp_buf_printf(b, "{\"type\":\"thread\",\"pid\":1,\"tid\":%u,\"comm\":\"c\"}\n", next(seed, 5));
        break;
    case 6:
        sp_buf_printf(b, "{\"type\":\"window\",\"id\":%u,\"start\":1,\"end\":2,\"by_stack\":[]}\n",
                      next(seed, 99));
        break;
    default:
        sp_buf_printf(
            b,
            "{\"type\":\"sample\",\"timestamp\":%u.25,\"pid\":1,\"tid\":%u,\"event\":\"e\",\"period\":3,"
            "\"stack_id\":\"0x%016x.0000000a\"}\n",
            next(seed, 99), next(seed, 5), next(seed, 3) ? 77 : next(seed, 1 << 24));
    }
}

static struct text made(uint32_t seed, unsigned lines)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    bool root_first = seed % 3 == 0;
    unsigned often = 1 + next(&seed, 60); /* how rare what is odd is */
    put_dictionary(&b, &seed, root_first, 300 + lines);
    for (unsigned i = 0; i < lines; i++) {
        if (!next(&seed, often * 2))
            put_other(&b, &seed);
        put_stack(&b, &seed, next(&seed, often) ? 0 : next(&seed, 13), root_first);
    }
    if (next(&seed, 2))
        b.len--; /* no newline at the end */
    assert_false(b.failed);
    return (struct text){b.data, b.len};
}

static struct text zstd_of(struct text t)
{
    size_t room = ZSTD_compressBound(t.n);
    struct text z = {malloc(room), 0};
    assert_non_null(z.p);
    z.n = ZSTD_compress(z.p, room, t.p, t.n, 1);
    assert_false(ZSTD_isError(z.n));
    return z;
}

static struct text gzip_of(struct text t)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, t.n) + 64;
    struct text g = {malloc(room), 0};
    assert_non_null(g.p);
    z.next_in = (z_const Bytef *)t.p;
    z.avail_in = (uInt)t.n;
    z.next_out = (Bytef *)g.p;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    g.n = room - z.avail_out;
    deflateEnd(&z);
    return g;
}

/* ---- what comes of them ---- */

struct how {
    struct sp_chunking threads;
    size_t piece; /* of the input */
    bool strict;
};

static struct sp_input *open_text(struct text t, const struct how *how, struct sp_diags *d)
{
    struct sp_input *in = NULL;
    sp_diags_init(d);
    assert_int_equal(sp_input_memory(t.p, t.n, "text", d, &in), SPAA_OK);
    sp_input_set_jobs(in, how->threads.jobs);
    sp_input_set_chunk(in, how->piece);
    return in;
}

static void put_findings(struct sp_buf *out, struct sp_diags *d, spaa_status st)
{
    sp_buf_printf(out, "status %d\n", (int)st);
    for (int c = 0; c < SP_CODES; c++)
        if (d->count[c])
            sp_buf_printf(out, "%s %llu\n", sp_code_info((enum sp_code)c)->name,
                          (unsigned long long)d->count[c]);
    for (size_t i = 0; i < d->list.n; i++) {
        const struct sp_diag *g = &d->list.v[i];
        sp_buf_printf(out, "%llu %lld %s %s: %s\n", (unsigned long long)g->line, (long long)g->offset,
                      g->record ? g->record : "-", g->field ? g->field : "-", g->message);
    }
    sp_diags_free(d);
}

static void put_profile(struct sp_buf *out, struct sp_profile *p, struct sp_diags *d)
{
    struct sp_output *o;
    struct sp_write_opts opts = {.event = SP_NONE, .metric = SP_NONE};
    size_t n;
    assert_int_equal(sp_output_memory(d, &o), SPAA_OK);
    assert_int_equal(sp_spaa_write(p, &opts, d, o), SPAA_OK);
    const char *bytes = sp_output_data(o, &n);
    sp_buf_add(out, bytes, n);
    sp_output_close(o);
}

/* The numbers of frames and functions are seen as well: they are ids of `spaa query`. */
static void put_numbers(struct sp_buf *out, const struct sp_profile *p)
{
    for (uint32_t i = 0; i < p->frames.n; i++)
        sp_buf_printf(out, "frame %u %llx\n", p->frames.v[i].function, (unsigned long long)p->frames.v[i].ip);
    for (uint32_t i = 0; i < p->functions.n; i++)
        sp_buf_printf(out, "function %s %u\n", sp_pstr(p, p->functions.v[i].name).p, p->functions.v[i].dso);
    sp_buf_printf(out, "%zu stacks of %zu frames\n", p->stacks.n, p->stack_frames.n);
}

static void put_read(struct sp_buf *out, struct text t, const struct how *how)
{
    struct sp_diags d;
    struct sp_profile *p;
    struct sp_input *in = open_text(t, how, &d);
    struct sp_read_opts opts = {
        .frames = SP_FRAMES_ADDRESS, .samples = true, .strict = how->strict, .jobs = how->threads.jobs};
    assert_int_equal(sp_profile_new(&d, &p), SPAA_OK);
    spaa_status st = sp_spaa_read_with(in, &opts, how->threads, &d, p);
    sp_input_close(in);
    if (!st)
        put_numbers(out, p);
    if (!st)
        put_profile(out, p, &d);
    sp_profile_free(p);
    put_findings(out, &d, st);
}

static void put_validated(struct sp_buf *out, struct text t, const struct how *how)
{
    struct sp_diags d;
    struct sp_input *in = open_text(t, how, &d);
    spaa_status st = sp_spaa_validate_chunked(in, &d, how->threads);
    sp_input_close(in);
    put_findings(out, &d, st);
}

typedef void put_fn(struct sp_buf *out, struct text t, const struct how *how);

static void assert_as_with_one(struct text t, struct text packed, const struct how *how, put_fn *put)
{
    struct sp_buf one, many;
    sp_buf_init(&one, 0);
    sp_buf_init(&many, 0);
    put(&one, t, &(struct how){.threads = SP_CHUNKING(1), .strict = how->strict});
    put(&many, packed, how);
    assert_false(one.failed || many.failed);
    const char *a = sp_buf_cstr(&one), *b = sp_buf_cstr(&many);
    size_t at = 0;
    while (a[at] && a[at] == b[at])
        at++;
    if (a[at] != b[at]) /* they may be long */
        fail_msg("from byte %zu on, one thread: %.300s\nand %u: %.300s", at, a + (at < 100 ? 0 : at - 100),
                 how->threads.jobs, b + (at < 100 ? 0 : at - 100));
    sp_buf_free(&one);
    sp_buf_free(&many);
}

/* With pieces that are large and small, and chunks of several lines and of one. */
static void check_text(struct text t, uint32_t seed, unsigned rounds)
{
    static put_fn *const puts[] = {put_read, put_validated};
    struct text z = zstd_of(t), g = gzip_of(t);
    const struct text *const all[] = {&t, &z, &g};
    for (unsigned i = 0; i < rounds; i++) {
        struct how how = {.threads = {.jobs = 1 + next(&seed, 4),
                                      .least = next(&seed, 2000),
                                      .chunk = 1 + next(&seed, next(&seed, 2) ? 400 : 9000),
                                      .learned = next(&seed, 20)},
                          .piece = next(&seed, 3) ? 0 : 1 + next(&seed, next(&seed, 2) ? 200 : 30000),
                          .strict = !next(&seed, 6)};
        for (unsigned k = 0; k < 2; k++)
            assert_as_with_one(t, *all[next(&seed, 3)], &how, puts[k]);
    }
    free(z.p);
    free(g.p);
}

static void test_any_threads_and_pieces_give_the_same(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        struct text t = made(seed, 150);
        check_text(t, seed, 6);
        free(t.p);
    }
}

/* As in use: large views, chunks of many lines, and enough compressed blocks for the thread that works ahead.
 */
static void test_large_texts(void **state)
{
    (void)state;
    struct text t = made(12, 40000), z = zstd_of(t);
    assert_true(t.n > 8 << 20);
    for (unsigned jobs = 2; jobs < 4; jobs++) {
        struct how how = {.threads = SP_CHUNKING(jobs)};
        assert_as_with_one(t, t, &how, put_read);
        assert_as_with_one(t, z, &how, put_read);
        assert_as_with_one(t, t, &how, put_validated);
        assert_as_with_one(t, z, &how, put_validated);
    }
    free(t.p);
    free(z.p);
}

static int check_files(int n, char **paths)
{
    for (int i = 0; i < n; i++) {
        FILE *f = fopen(paths[i], "rb");
        struct sp_buf b;
        char block[4096];
        sp_buf_init(&b, 0);
        if (!f)
            return 2;
        for (size_t got; (got = fread(block, 1, sizeof block, f)) > 0;)
            sp_buf_add(&b, block, got);
        fclose(f);
        check_text((struct text){b.data, b.len}, (uint32_t)i, 8);
        sp_buf_free(&b);
    }
    return 0;
}

static char **files;
static int nfiles;

static void test_files(void **state)
{
    (void)state;
    assert_int_equal(check_files(nfiles, files), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_threads_and_pieces_give_the_same),
        cmocka_unit_test(test_large_texts),
    };
    const struct CMUnitTest given[] = {cmocka_unit_test(test_files)};
    files = argv + 1;
    nfiles = argc - 1;
    return argc > 1 ? cmocka_run_group_tests(given, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
