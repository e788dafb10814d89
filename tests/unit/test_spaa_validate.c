/*
 * The validator: what is in the conformance suite, whole and damaged, gets the same findings from one thread
 * and from several; bounds; and the parts that the suite cannot show.
 */
#include "formats/spaa/validate/decimal.h"
#include "formats/spaa/validate/ids.h"
#include "formats/spaa/validate/validate.h"
#include "json/json.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>

#include <cmocka.h>

/* The findings as text, for comparison. */
static spaa_status validate(const char *p, size_t n, struct sp_chunking how, unsigned per_code,
                            struct sp_buf *out)
{
    struct sp_diags d;
    struct sp_input *in = NULL;
    sp_diags_init(&d);
    d.per_code = per_code;
    assert_int_equal(sp_input_memory(p, n, "text", &d, &in), SPAA_OK);
    spaa_status st = sp_spaa_validate_chunked(in, &d, how);
    sp_input_close(in);
    for (int c = 0; c < SP_CODES; c++)
        if (d.count[c])
            sp_buf_printf(out, "%s %llu\n", sp_code_info((enum sp_code)c)->name,
                          (unsigned long long)d.count[c]);
    for (size_t i = 0; i < d.list.n; i++) {
        const struct sp_diag *g = &d.list.v[i];
        sp_buf_printf(out, "%llu %lld %s %s: %s\n", (unsigned long long)g->line, (long long)g->offset,
                      g->record ? g->record : "-", g->field ? g->field : "-", g->message);
    }
    assert_false(out->failed);
    sp_diags_free(&d);
    return st;
}

#define ALONE SP_CHUNKING(1)
/* Of a few lines each, from the first on. */
#define THREADS ((struct sp_chunking){.jobs = 3, .chunk = 700})

/* One thread and several say the same. */
static void compare(const char *p, size_t n, const char *what)
{
    struct sp_buf a, b;
    sp_buf_init(&a, 0);
    sp_buf_init(&b, 0);
    char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, p, n);
    spaa_status sa = validate(exact, n, ALONE, 10, &a), sb = validate(exact, n, THREADS, 10, &b);
    if (sa != sb || strcmp(sp_buf_cstr(&a), sp_buf_cstr(&b)) != 0)
        fail_msg("%s: one thread (status %d):\n%s\nseveral (status %d):\n%s\ntext:\n%.*s", what, (int)sa,
                 sp_buf_cstr(&a), (int)sb, sp_buf_cstr(&b), (int)n, p);
    free(exact);
    sp_buf_free(&a);
    sp_buf_free(&b);
}

static void check(const char *text, unsigned per_code, spaa_status want, const char *report)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    assert_int_equal(validate(text, strlen(text), ALONE, per_code, &b), want);
    assert_string_equal(sp_buf_cstr(&b), report);
    sp_buf_free(&b);
    compare(text, strlen(text), "text");
}

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

static size_t line_start(const struct sp_buf *b, size_t at)
{
    while (at > 0 && b->data[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const struct sp_buf *b, size_t at)
{
    while (at < b->len && b->data[at] != '\n')
        at++;
    return at < b->len ? at + 1 : at;
}

/* One random change: a byte, a piece cut out, a line repeated or dropped, a word for another. */
static void damage(struct sp_buf *b, uint64_t *x)
{
    static const char bytes[] = "{}[]\",:\\0123456789-.eE \t\r\nxidframe\x00\x7f\xc3\xff";
    static const char *const words[] = {"\"frames\"", "\"id\"",     "\"period\"", "\"samples\"",
                                        "user",       "kernel",     "null",       "-1",
                                        "0",          "1.5",        "1e3",        "\"1\"",
                                        "[]",         "{}",         "true",       "\"x_k\":1,",
                                        "99999999",   "\"cycles\"", "01",         "18446744073709551616"};
    if (!b->len)
        return;
    size_t at = next_random(x) % b->len, from = line_start(b, at), to = line_end(b, at);
    size_t cut = next_random(x) % 9, n = to - from;
    switch (next_random(x) % 7) {
    case 0:
        b->data[at] = bytes[next_random(x) % (sizeof bytes - 1)];
        return;
    case 1:
        cut = cut < b->len - at ? cut : b->len - at;
        memmove(b->data + at, b->data + at + cut, b->len - at - cut);
        b->len -= cut;
        return;
    case 2: /* the line twice */
        assert_true(sp_buf_reserve(b, n));
        memmove(b->data + to, b->data + from, b->len - from);
        b->len += n;
        return;
    case 3: /* the line is gone */
        memmove(b->data + from, b->data + to, b->len - to);
        b->len -= n;
        return;
    case 4: /* the line comes last */
        assert_true(sp_buf_reserve(b, n));
        assert_true(sp_buf_add(b, b->data + from, n));
        memmove(b->data + from, b->data + to, b->len - to);
        b->len -= n;
        return;
    case 5:
        while (at < b->len && (unsigned char)(b->data[at] - '0') > 9)
            at++;
        if (at < b->len)
            b->data[at] = (char)('0' + next_random(x) % 10);
        return;
    default: {
        const char *w = words[next_random(x) % (sizeof words / sizeof *words)];
        size_t len = strlen(w);
        assert_true(sp_buf_reserve(b, len));
        memmove(b->data + at + len, b->data + at, b->len - at);
        memcpy(b->data + at, w, len);
        b->len += len;
        if (next_random(x) % 2) { /* in the place of what stood there */
            size_t drop = len < b->len - at - len ? len : b->len - at - len;
            memmove(b->data + at + len, b->data + at + len + drop, b->len - at - len - drop);
            b->len -= drop;
        }
    }
    }
}

static void damage_and_compare(const char *p, size_t n, int rounds, const char *what)
{
    uint64_t x = 0x2545F4914F6CDD1Du ^ n;
    for (int i = 0; i < rounds; i++) {
        struct sp_buf b;
        sp_buf_init(&b, 0);
        assert_true(sp_buf_add(&b, p, n));
        for (uint64_t k = next_random(&x) % 3 + 1; k; k--)
            damage(&b, &x);
        compare(b.data, b.len, what);
        sp_buf_free(&b);
    }
}

/* The suite, from the source tree or from a build directory in it. */
static int each_file(const char *folder, void (*fn)(const char *p, size_t n, const char *name))
{
    static const char *const roots[] = {"tests/conformance", "../tests/conformance",
                                        "../../tests/conformance"};
    const char *root = getenv("SPAA_CONFORMANCE");
    int count = 0;
    for (size_t r = 0; r < sizeof roots / sizeof *roots && !count; r++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", root ? root : roots[r], folder);
        DIR *dir = opendir(path);
        for (struct dirent *e; dir && (e = readdir(dir));) {
            size_t len = strlen(e->d_name);
            if (len < 5 || strcmp(e->d_name + len - 5, ".spaa") != 0)
                continue;
            char file[1024];
            snprintf(file, sizeof file, "%s/%s", path, e->d_name);
            FILE *f = fopen(file, "rb");
            static char text[1 << 16];
            assert_non_null(f);
            size_t n = fread(text, 1, sizeof text, f);
            fclose(f);
            fn(text, n, e->d_name);
            count++;
        }
        if (dir)
            closedir(dir);
    }
    return count;
}

static void twice(const char *p, size_t n, const char *name)
{
    compare(p, n, name);
    damage_and_compare(p, n, 20, name);
}

static void the_suite_gets_the_same_findings_from_several_threads(void **state)
{
    (void)state;
    if (!each_file("valid", twice) || !each_file("invalid", twice))
        skip();
}

#define HEADER                                                                                               \
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\",\"frame_order\":" \
    "\"%s\","                                                                                                \
    "\"events\":[{\"name\":\"cycles\",\"kind\":\"hardware\",\"sampling\":{\"mode\":\"period\","              \
    "\"primary_metric\":\"period\"}},{\"name\":\"faults\",\"kind\":\"software\",\"sampling\":"               \
    "{\"mode\":\"event\",\"primary_metric\":\"samples\"}}],\"time_range\":{\"start\":1,\"end\":9},"          \
    "\"stack_id_mode\":\"content_addressable\"}\n"
#define PLAIN_HEADER                                                                                         \
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\","                 \
    "\"frame_order\":\"leaf_to_root\",\"events\":[],\"stack_id_mode\":\"local\"}\n"

/* A file as writers write it, with every kind of line that threads judge, several times. */
static void written_file(struct sp_buf *b, bool leaf_first)
{
    sp_buf_printf(b, HEADER, leaf_first ? "leaf_to_root" : "root_to_leaf");
    sp_buf_puts(b, "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"
                   "{\"type\":\"dso\",\"id\":2,\"name\":\"[kernel]\",\"is_kernel\":true}\n");
    for (int i = 1; i <= 12; i++)
        sp_buf_printf(
            b,
            "{\"type\":\"frame\",\"id\":%d,\"func\":\"f%d\",\"dso\":%d,\"ip\":\"0x%d\"%s,\"kind\":\"%s\"}\n",
            i, i, i > 10 ? 2 : 1, i == 1 || i == 2 ? 3 : i,
            i == 1   ? ",\"inlined\":true,\"inline_depth\":2"
            : i == 2 ? ",\"inlined\":true,\"inline_depth\":1"
                     : "",
            i > 10 ? "kernel" : "user");
    sp_buf_puts(b, "{\"type\":\"thread\",\"pid\":7,\"tid\":8,\"comm\":\"a}\"}\n");
    for (int i = 0; i < 16; i++) {
        const char *event = i % 3 == 2 ? "faults" : "cycles";
        int leaf = i % 4 == 0 ? 1 : i % 4 == 1 ? 11 : 4;
        sp_buf_printf(b, "{\"type\":\"stack\",\"id\":\"0x%016x\",\"frames\":[", i);
        if (leaf_first)
            sp_buf_printf(b, "%s%d,5,1,2,3,4,5,6,7,8,9,10,10,10",
                          leaf == 1    ? "1,2,3,"
                          : leaf == 11 ? "11,12,"
                                       : "4,",
                          i % 7 + 4);
        else
            sp_buf_printf(b, "10,10,9,8,7,6,5,4,3,2,1,5,%d%s", i % 7 + 4,
                          leaf == 1    ? ",3,2,1"
                          : leaf == 11 ? ",12,11"
                                       : ",4");
        sp_buf_printf(b,
                      "],\"stack_type\":\"unified\"%s,\"context\":{\"pid\":7,\"tid\":8,\"event\":\"%s\","
                      "\"comm\":\"%s\"%s},",
                      i % 5 == 4 ? ",\"x_n\":1.5,\"x_s\":\"t\"" : "", event, i % 2 ? "a}" : "b",
                      i % 4 == 3 ? ",\"probe\":{\"name\":\"entry\"}" : "");
        sp_buf_printf(b,
                      "\"weights\":[{\"metric\":\"samples\",\"value\":%d},{\"metric\":\"period\",\"value\":%"
                      "d,\"unit\":\"ns\"}]",
                      i + 1, (i + 1) * 1000);
        if (i % 6 != 5)
            sp_buf_printf(b,
                          ",\"exclusive\":{\"frame\":%d,\"weights\":[{\"metric\":\"samples\",\"value\":%d},{"
                          "\"metric\":\"period\",\"value\":%d,\"unit\":\"ns\"}]}",
                          leaf, i % 3 ? i + 1 : i, (i + 1) * 1000);
        if (i >= 12)
            sp_buf_printf(b, ",\"related_stacks\":[\"0x%016x\"]", i ^ 1);
        sp_buf_puts(b, "}\n");
    }
    for (int i = 0; i < 8; i++)
        sp_buf_printf(b,
                      "{\"type\":\"sample\",\"timestamp\":%d.%d,\"pid\":7,\"tid\":8,\"cpu\":%d,\"event\":"
                      "\"cycles\",\"period\":%d,"
                      "\"stack_id\":\"0x%016x\"%s}\n",
                      i + 1, i % 3 ? i : 0, i, i + 1, i, i % 2 ? ",\"context\":{}" : "");
    /* A list of frames at the very end of the input. */
    sp_buf_printf(b, "{\"type\":\"stack\",\"id\":\"end\",\"context\":{\"pid\":7,\"tid\":8,\"event\":"
                     "\"cycles\",\"comm\":\"b\"},"
                     "\"weights\":[{\"metric\":\"samples\",\"value\":1},{\"metric\":\"period\",\"value\":1,"
                     "\"unit\":\"ns\"}],"
                     "\"frames\":[4,10]}\n");
    assert_false(b->failed);
}

static void written_lines_get_the_same_findings_from_several_threads(void **state)
{
    (void)state;
    for (int leaf_first = 0; leaf_first < 2; leaf_first++) {
        struct sp_buf b, report;
        sp_buf_init(&b, 0);
        sp_buf_init(&report, 0);
        written_file(&b, leaf_first);
        assert_int_equal(validate(b.data, b.len, ALONE, 10, &report), SPAA_OK);
        /* Three stacks lack exclusive weights, and nothing else is there to say. */
        assert_non_null(strstr(sp_buf_cstr(&report), "SPAA-I230 3\n"));
        assert_null(strstr(sp_buf_cstr(&report), "SPAA-E"));
        assert_null(strstr(sp_buf_cstr(&report), "SPAA-W"));
        damage_and_compare(b.data, b.len, 1500, leaf_first ? "leaf first" : "root first");
        sp_buf_free(&report);
        sp_buf_free(&b);
    }
}

/* What was found wrong once is found again. */
static void repeated_faults_are_found_again(void **state)
{
    (void)state;
    static const char *const contexts[] = {
        "{\"event\":\"cycles\",\"event\":\"cycles\"}",
        "{\"event\":\"cycles\",\"trace_fields\":{\"a\":1,\"a\":1}}",
        "{\"event\":\"cycles\",\"node\":1}",
        "{\"event\":\"other\"}",
        "{\"event\":\"cycles\",\"pid\":\"1\"}",
        "{\"event\":\"cycles\",\"comm\":\"\xff\"}",
        "{\"event\":\"cycles\",\"tid\":5}",
    };
    static const char *const weights[] = {
        "[{\"metric\":\"period\",\"value\":1,\"value\":1}]",
        "[{\"metric\":\"period\",\"value\":0}]",
        "[{\"metric\":\"period\",\"value\":-1}]",
        "[{\"metric\":\"period\",\"value\":01}]",
        "[{\"metric\":\"period\",\"value\":1},{\"metric\":\"period\",\"value\":1}]",
        "[{\"metric\":\"samples\",\"value\":1}]",
        "[{\"metric\":\"period\",\"value\":1},{\"metric\":\"cpu_time_ns\",\"value\":1}]",
        "[{\"metric\":\"period\",\"value\":1,\"unit\":5}]",
    };
    const char *fine_context = "{\"event\":\"cycles\"}",
               *fine_weights = "[{\"metric\":\"period\",\"value\":1}]";
    enum { C = sizeof contexts / sizeof *contexts, W = sizeof weights / sizeof *weights };
    for (size_t i = 0; i < C + W; i++) {
        const char *context = i < C ? contexts[i] : fine_context,
                   *weight = i < C ? fine_weights : weights[i - C];
        struct sp_buf b;
        sp_buf_init(&b, 0);
        sp_buf_printf(&b, HEADER, "leaf_to_root");
        sp_buf_puts(&b, "{\"type\":\"dso\",\"id\":1,\"name\":\"a\"}\n{\"type\":\"frame\",\"id\":1,\"func\":"
                        "\"f\",\"dso\":1,\"kind\":\"user\"}\n");
        for (int k = 0; k < 6; k++)
            sp_buf_printf(&b,
                          "{\"type\":\"stack\",\"id\":\"%d\",\"frames\":[1],\"context\":%s,\"weights\":%s,"
                          "\"exclusive\":{\"frame\":1,\"weights\":%s}}\n",
                          k, k % 3 ? context : fine_context, k % 3 ? weight : fine_weights,
                          k % 3 ? weight : fine_weights);
        compare(b.data, b.len, "repeated");
        sp_buf_free(&b);
    }
}

/* A key is what its escapes stand for, of members that rules ask about as well. */
static void keys_with_escapes_are_keys(void **state)
{
    (void)state;
    check(PLAIN_HEADER "{\"type\":\"stack\",\"id\":1,\"fra\\u006des\":[],\"context\":{\"event\":\"e\"},"
                       "\"we\\u0069ghts\":[],\"\\u0065xclusive\":{\"frame\":1,\"weights\":[]}}\n"
                       "{\"type\":\"sample\",\"time\\u0073tamp\":1,\"stack_id\":1}\n",
          10, SPAA_OK,
          "SPAA-E114 1\nSPAA-E116 1\nSPAA-W204 1\n"
          "2 173 stack frames: a stack without frames\n"
          "2 195 stack context.event: the event is not declared in the header: \"e\"\n"
          "2 244 stack exclusive.frame: `exclusive.frame` is not the leaf frame: there are no frames\n");
}

static void findings_beyond_those_kept_are_counted(void **state)
{
    (void)state;
    check(PLAIN_HEADER "1\n2\n3\n", 2, SPAA_OK,
          "SPAA-E102 3\n"
          "2 136 - -: the line is not a JSON object\n"
          "3 138 - -: the line is not a JSON object\n");
}

static void findings_come_by_line(void **state)
{
    (void)state;
    check(PLAIN_HEADER "{\"type\":\"frame\",\"id\":1,\"func\":\"f\",\"dso\":9,\"kind\":\"user\"}\n"
                       "{\"type\":\"sample\",\"stack_id\":5,\"timestamp\":1}\n"
                       "{\"type\":\"sample\",\"stack_id\":5,\"timestamp\":1}\n1\n",
          10, SPAA_OK,
          "SPAA-E102 1\nSPAA-E112 1\nSPAA-E118 1\n"
          "2 176 frame dso: the frame references a DSO that does not exist: 9 (1 reference)\n"
          "3 221 sample stack_id: a reference to a stack that does not exist: 5 (2 references)\n"
          "5 283 - -: the line is not a JSON object\n");
}

static void deep_nesting_leaves_the_answer_incomplete(void **state)
{
    (void)state;
    struct sp_buf b, report;
    sp_buf_init(&b, 0);
    sp_buf_init(&report, 0);
    sp_buf_puts(&b, PLAIN_HEADER "{\"type\":\"x_a\",\"a\":");
    for (unsigned i = 0; i < SP_JSON_DEPTH + 8; i++)
        sp_buf_ch(&b, '[');
    for (unsigned i = 0; i < SP_JSON_DEPTH + 8; i++)
        sp_buf_ch(&b, ']');
    sp_buf_puts(&b, "}\n1\n");
    assert_int_equal(validate(b.data, b.len, ALONE, 10, &report), SPAA_ERR_LIMIT);
    assert_non_null(strstr(sp_buf_cstr(&report), "SPAA-E007 1\n"));
    assert_non_null(strstr(sp_buf_cstr(&report), "SPAA-E102 1\n"));
    compare(b.data, b.len, "deep");
    sp_buf_free(&report);
    sp_buf_free(&b);
}

static void duplicates_are_found_among_many_keys(void **state)
{
    (void)state;
    for (int n = 20; n < 3000; n += 7) {
        struct sp_buf b, report;
        sp_buf_init(&b, 0);
        sp_buf_init(&report, 0);
        sp_buf_puts(&b, PLAIN_HEADER "{\"type\":\"x_a\",\"o\":[{\"k1\":1},{");
        for (int i = 0; i < n; i++)
            sp_buf_printf(&b, "%s\"k%d\":{\"k%d\":1}", i ? "," : "", i, i);
        sp_buf_printf(&b, ",\"k%d\":2},{\"k1\":1}]}\n", n / 2);
        assert_int_equal(validate(b.data, b.len, ALONE, 10, &report), SPAA_OK);
        assert_non_null(strstr(sp_buf_cstr(&report), "SPAA-E124 1\n"));
        assert_non_null(strstr(sp_buf_cstr(&report), " o[1].k"));
        sp_buf_free(&report);
        sp_buf_free(&b);
    }
}

/* `n` metrics in a stack; one twice among them, one too high and one missing in the leaf's. */
static void long_lists_of_weights_are_compared(void **state)
{
    (void)state;
    for (int n = 4; n < 60; n += 11) {
        struct sp_buf b, report;
        sp_buf_init(&b, 0);
        sp_buf_init(&report, 0);
        sp_buf_printf(&b, HEADER, "leaf_to_root");
        sp_buf_puts(&b, "{\"type\":\"dso\",\"id\":1,\"name\":\"a\"}\n{\"type\":\"frame\",\"id\":1,\"func\":"
                        "\"f\",\"dso\":1,\"kind\":\"user\"}\n"
                        "{\"type\":\"stack\",\"id\":1,\"frames\":[1],\"context\":{\"event\":\"faults\"},"
                        "\"weights\":[{\"metric\":\"samples\",\"value\":5}");
        for (int i = 0; i < n; i++)
            sp_buf_printf(&b, ",{\"metric\":\"m%d\",\"value\":5}", i == 3 ? 2 : i);
        sp_buf_puts(&b, "],\"exclusive\":{\"frame\":1,\"weights\":[{\"metric\":\"samples\",\"value\":5}");
        for (int i = n - 1; i > 0; i--)
            sp_buf_printf(&b, ",{\"metric\":\"m%d\",\"value\":%d}", i, i == 1 ? 6 : 5);
        sp_buf_puts(&b, "]}}\n");
        assert_int_equal(validate(b.data, b.len, ALONE, 10, &report), SPAA_OK);
        /* m2 twice; m1 above, m3 unknown; m0 missing. */
        if (strncmp(sp_buf_cstr(&report), "SPAA-W211 2\nSPAA-W215 1\nSPAA-W220 1\n4 ", 38) != 0)
            fail_msg("%s", sp_buf_cstr(&report));
        compare(b.data, b.len, "metrics");
        sp_buf_free(&report);
        sp_buf_free(&b);
    }
}

static void stacks_of_any_depth_are_read(void **state)
{
    (void)state;
    for (int n = 1; n < 9000; n += n < 300 ? 1 : 517) {
        struct sp_buf b, report;
        sp_buf_init(&b, 0);
        sp_buf_init(&report, 0);
        sp_buf_printf(&b, HEADER, "leaf_to_root");
        sp_buf_puts(&b, "{\"type\":\"dso\",\"id\":1,\"name\":\"a\"}\n");
        for (int i = 0; i < 2000; i += 97)
            sp_buf_printf(&b, "{\"type\":\"frame\",\"id\":%d,\"func\":\"f\",\"dso\":1,\"kind\":\"user\"}\n",
                          i);
        for (int k = 0; k < 3; k++) {
            sp_buf_printf(&b,
                          "{\"type\":\"stack\",\"id\":\"%d\",\"context\":{\"event\":\"faults\"},\"weights\":["
                          "{\"metric\":\"samples\",\"value\":1}],\"frames\":[",
                          k);
            for (int i = 0; i < n; i++)
                sp_buf_printf(&b, "%s%d", i ? "," : "", i * 7 % 20 * 97);
            sp_buf_puts(&b, k == 2 ? ",5]}\n" : "]}\n");
        }
        assert_int_equal(validate(b.data, b.len, ALONE, 10, &report), SPAA_OK);
        assert_non_null(strstr(sp_buf_cstr(&report), "SPAA-E113 1\nSPAA-I230 3\n"));
        compare(b.data, b.len, "depth");
        sp_buf_free(&report);
        sp_buf_free(&b);
    }
}

static void ids_are_told_apart(void **state)
{
    (void)state;
    struct sp_ids t = {.direct = true};
    bool added;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 200000; i++) {
            char text[24];
            int n = snprintf(text, sizeof text,
                             i % 3 == 0   ? "%u"
                             : i % 3 == 1 ? "0x%x"
                                          : "%u.0",
                             i % 3 == 0 ? i / 3 : i);
            uint32_t at = sp_ids_get(&t, text, (size_t)n, &added);
            assert_int_equal(added, round == 0);
            assert_int_equal(at, i);
            if (round == 0 && i % 2)
                assert_true(sp_ids_keep_text(&t, at, text, (size_t)n));
        }
    }
    assert_int_equal(t.n, 200000);
    assert_int_equal(t.texts.n, SP_ID_TEXTS);
    assert_non_null(sp_ids_text(&t, 1));
    assert_null(sp_ids_text(&t, 2));
    /* Within what the notes allow for an id. */
    assert_true(t.cap * sizeof *t.v + (t.mask + 1) * sizeof *t.slots + t.nnumbers * 4 <=
                (size_t)t.n * 64 * 2);
    sp_ids_free(&t);
    assert_int_equal(sp_small_id("0", 1), 0);
    assert_int_equal(sp_small_id("9999999", 7), 9999999);
    assert_int_equal(sp_small_id("10000000", 8), SP_ID_NONE);
    assert_int_equal(sp_small_id("01", 2), SP_ID_NONE);
    assert_int_equal(sp_small_id("-1", 2), SP_ID_NONE);
    assert_int_equal(sp_small_id("", 0), SP_ID_NONE);
}

static void decimals_are_compared_exactly(void **state)
{
    (void)state;
    /* In ascending order; equal ones are joined by a space. */
    static const char *const rows[] = {
        "-1e400",
        "-18446744073709551617",
        "-18446744073709551616 -18446744073709551616.0 -1.8446744073709551616e19",
        "-2",
        "-1.5 -15e-1 -0.15E+1",
        "-1e-400",
        "0 -0 0.0 0e5 -0.000e-99999999999999999999",
        "1e-99999999999999999999",
        "1e-400 0.1e-399 10e-401",
        "0.1 1e-1 0.10 100e-3",
        "0.10000000000000000000001",
        "1 1.0 10e-1 0.01e2 1e0 1E+0",
        "9007199254740992",
        "9007199254740993 9007199254740993.000",
        "12345678901234567890123",
        "1e400 10e399",
        "1e99999999999999999999",
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < ROWS; j++) {
            for (const char *a = rows[i]; a; a = strchr(a, ' ') ? strchr(a, ' ') + 1 : NULL) {
                for (const char *b = rows[j]; b; b = strchr(b, ' ') ? strchr(b, ' ') + 1 : NULL) {
                    struct sp_span x = {a, strcspn(a, " ")}, y = {b, strcspn(b, " ")};
                    assert_int_equal(sp_decimal_compare(x, y), (i > j) - (i < j));
                }
            }
        }
        struct sp_span x = {rows[i], strcspn(rows[i], " ")};
        assert_int_equal(sp_decimal_is_negative(x), i < 6);
        assert_int_equal(sp_decimal_is_zero(x), i == 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_suite_gets_the_same_findings_from_several_threads),
        cmocka_unit_test(written_lines_get_the_same_findings_from_several_threads),
        cmocka_unit_test(repeated_faults_are_found_again),
        cmocka_unit_test(keys_with_escapes_are_keys),
        cmocka_unit_test(findings_beyond_those_kept_are_counted),
        cmocka_unit_test(findings_come_by_line),
        cmocka_unit_test(deep_nesting_leaves_the_answer_incomplete),
        cmocka_unit_test(duplicates_are_found_among_many_keys),
        cmocka_unit_test(long_lists_of_weights_are_compared),
        cmocka_unit_test(stacks_of_any_depth_are_read),
        cmocka_unit_test(ids_are_told_apart),
        cmocka_unit_test(decimals_are_compared_exactly),
    };
    return cmocka_run_group_tests_name("spaa_validate", tests, NULL, NULL);
}
