/* Profiles that a program builds. */
#include "spaa/spaa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct built {
    struct spaa_builder *b;
    size_t samples, time, peak, event, dso, main, work, inlined, hex;
};

static size_t frame(struct built *x, struct spaa_frame_spec f)
{
    size_t n = 0;
    f.size = sizeof f;
    assert_int_equal(spaa_builder_frame(x->b, &f, &n, NULL), SPAA_OK);
    return n;
}

static struct built begin(const char *group_by)
{
    struct built x = {0};
    struct spaa_builder_options o = {.size = sizeof o,
                                     .source_tool = "mine",
                                     .tool_version = "7",
                                     .command = "./app",
                                     .group_by = group_by,
                                     .clock = "monotonic",
                                     .host = "h",
                                     .cpus = 4,
                                     .lost = 2};
    assert_int_equal(spaa_builder_new(&o, &x.b, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_metric(x.b, "samples", NULL, &x.samples, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_metric(x.b, "cpu_time_ns", "ns", &x.time, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_metric(x.b, "peak_bytes", "bytes", &x.peak, NULL), SPAA_OK);
    struct spaa_event_spec e = {
        .size = sizeof e, .name = "cpu", .mode = "frequency", .metric = x.time, .frequency_hz = 99};
    assert_int_equal(spaa_builder_event(x.b, &e, &x.event, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_dso(x.b, "/bin/app", "ab12", 0, &x.dso, NULL), SPAA_OK);
    x.main = frame(&x, (struct spaa_frame_spec){.name = "main", .has_dso = 1, .dso = x.dso});
    x.work = frame(&x, (struct spaa_frame_spec){.name = "work",
                                                .has_dso = 1,
                                                .dso = x.dso,
                                                .has_address = 1,
                                                .address = 0x1010,
                                                .has_symbol_offset = 1,
                                                .symbol_offset = 0x10,
                                                .linkage = "_Z4workv",
                                                .file = "work.cc",
                                                .line = 3,
                                                .srcline = "work.cc:5"});
    x.inlined =
        frame(&x, (struct spaa_frame_spec){.name = "in\xff", .has_dso = 1, .dso = x.dso, .inline_depth = 1});
    x.hex = frame(&x, (struct spaa_frame_spec){.has_address = 1, .address = 0xbeef});
    return x;
}

static struct spaa_stack_spec stack_of(const struct built *x, const size_t *frames, size_t n,
                                       const struct spaa_stack_weight *w, size_t nw)
{
    return (struct spaa_stack_spec){.size = sizeof(struct spaa_stack_spec),
                                    .event = x->event,
                                    .frames = frames,
                                    .frame_count = n,
                                    .pid = 1,
                                    .tid = 2,
                                    .cpu = 3,
                                    .comm = "app",
                                    .weights = w,
                                    .weight_count = nw};
}

static struct spaa_profile *finished(struct built *x)
{
    struct spaa_profile *p = NULL;
    assert_int_equal(spaa_builder_finish(x->b, &p, NULL), SPAA_OK);
    spaa_builder_free(x->b);
    return p;
}

static void equal_stacks_add_up(void **state)
{
    (void)state;
    struct built x = begin(NULL);
    const size_t frames[] = {x.inlined, x.work, x.main}, other[] = {x.hex};
    const struct spaa_stack_weight w[] = {{x.samples, 1}, {x.time, 10}},
                                   more[] = {{x.samples, 2}, {x.peak, 5}};
    struct spaa_stack_spec a = stack_of(&x, frames, 3, w, 2), b = stack_of(&x, frames, 3, more, 2),
                           c = stack_of(&x, other, 1, w, 2);
    size_t first, second, third;
    assert_int_equal(spaa_builder_stack(x.b, &a, &first, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_stack(x.b, &b, &second, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_stack(x.b, &c, &third, NULL), SPAA_OK);
    assert_true(first == second && first != third);
    assert_int_equal(spaa_builder_stack(x.b, &b, &second, NULL), SPAA_ERR_USAGE); /* a peak twice */

    struct spaa_profile *p = finished(&x);
    struct spaa_stack s = {.size = sizeof s};
    struct spaa_weight v = {.size = sizeof v};
    struct spaa_frame f = {.size = sizeof f};
    assert_string_equal(spaa_profile_source_tool(p), "mine");
    assert_string_equal(spaa_profile_format(p), "spaa");
    assert_int_equal(spaa_profile_stack_count(p), 2);
    assert_int_equal(spaa_profile_stack(p, first, &s), SPAA_OK);
    assert_true(s.frame_count == 3 && s.weight_count == 3 && s.pid == 1 && s.tid == 2);
    assert_true(s.cpu == SPAA_ABSENT); /* not grouped by it */
    assert_int_equal(spaa_stack_weight(p, first, 0, &v), SPAA_OK);
    assert_int_equal(v.value, 3);
    assert_int_equal(spaa_stack_weight(p, first, 1, &v), SPAA_OK);
    assert_true(v.value == 10 && strcmp(v.unit, "ns") == 0);
    assert_int_equal(spaa_stack_weight(p, first, 2, &v), SPAA_OK);
    assert_int_equal(v.value, 5);
    assert_int_equal(spaa_stack_frame(p, first, 0, &f), SPAA_OK);
    assert_string_equal(f.name, "in\xEF\xBF\xBD");
    assert_true(f.inline_depth == 1);
    assert_int_equal(spaa_stack_frame(p, first, 1, &f), SPAA_OK);
    assert_true(f.address == 0x1010 && f.symbol_offset == 0x10 && strcmp(f.srcline, "work.cc:5") == 0);
    assert_int_equal(spaa_stack_frame(p, third, 0, &f), SPAA_OK);
    assert_true(!f.resolved && strcmp(f.name, "0xbeef") == 0 && strcmp(f.dso, "[unknown]") == 0);
    spaa_profile_free(p);
}

static void what_is_built_is_valid_and_comes_back(void **state)
{
    (void)state;
    char path[] = "/tmp/spaa-built-XXXXXX.spaa";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    struct built x = begin("pid,tid,comm,cpu");
    const size_t frames[] = {x.work, x.main};
    const struct spaa_stack_weight w[] = {{x.samples, 1}, {x.time, 10}};
    const struct spaa_stack_label labels[] = {{.key = "request", .text = "GET /"},
                                              {.key = "bytes", .number = 512, .unit = "bytes"}};
    for (int i = 0; i < 4; i++) {
        struct spaa_stack_spec s = stack_of(&x, frames, 2, w, 2);
        struct spaa_sample_spec at = {.size = sizeof at,
                                      .time_ns = 5000000000 - (int64_t)i * 1000000000,
                                      .pid = SPAA_ABSENT,
                                      .tid = SPAA_ABSENT,
                                      .cpu = i,
                                      .weight = 10};
        s.cpu = i;
        s.labels = labels;
        s.label_count = i == 3 ? 2 : 1;
        assert_int_equal(spaa_builder_stack(x.b, &s, &at.stack, NULL), SPAA_OK);
        assert_int_equal(spaa_builder_sample(x.b, &at, NULL), SPAA_OK);
    }
    assert_int_equal(spaa_builder_thread(x.b, 1, 9, "idle", NULL), SPAA_OK);
    assert_int_equal(spaa_builder_lost(x.b, 3, NULL), SPAA_OK);
    struct spaa_profile *p = finished(&x);
    assert_int_equal(spaa_profile_sample_count(p), 4);
    for (size_t i = 0; i < 4; i++) {
        struct spaa_sample at = {.size = sizeof at};
        struct spaa_stack stack = {.size = sizeof stack};
        struct spaa_label l = {.size = sizeof l};
        assert_int_equal(spaa_profile_sample(p, i, &at), SPAA_OK); /* by time */
        assert_true(at.time_ns == 2000000000 + (int64_t)i * 1000000000 && at.cpu == 3 - (int64_t)i);
        assert_true(at.weight == 10 && at.event == x.event && at.pid == 1 && at.tid == 2);
        assert_int_equal(spaa_profile_stack(p, at.stack, &stack), SPAA_OK);
        assert_true(stack.cpu == at.cpu && stack.label_count == (i ? 1 : 2));
        assert_int_equal(spaa_stack_label(p, at.stack, stack.label_count - 1, &l), SPAA_OK);
        assert_true(strcmp(l.key, "request") == 0 && strcmp(l.value, "GET /") == 0 && !l.is_number);
        assert_int_equal(spaa_stack_label(p, at.stack, stack.label_count, &l), SPAA_ERR_NOT_FOUND);
        if (!i) {
            assert_int_equal(spaa_stack_label(p, at.stack, 0, &l), SPAA_OK);
            assert_true(l.is_number && strcmp(l.value, "512") == 0 && strcmp(l.unit, "bytes") == 0);
        }
    }
    struct spaa_sample none = {.size = sizeof none};
    assert_int_equal(spaa_profile_sample(p, 4, &none), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_profile_write(p, path, NULL, NULL), SPAA_OK);
    spaa_profile_free(p);

    struct spaa_verdict v = {.size = sizeof v};
    assert_int_equal(spaa_validate(path, NULL, &v, NULL), SPAA_OK);
    assert_true(v.valid);

    struct spaa_open_options o = {.size = sizeof o, .samples = 1};
    struct spaa_ask_options by = {.size = sizeof by, .question = "timeline"};
    struct spaa_answer *a = NULL;
    struct spaa_fact lost = {.size = sizeof lost};
    assert_int_equal(spaa_profile_open(path, &o, &p, NULL), SPAA_OK);
    assert_int_equal(spaa_profile_stack_count(p), 4);
    assert_int_equal(spaa_ask(&p, 1, &by, &a, NULL), SPAA_OK);
    assert_int_equal(spaa_answer_fact(a, spaa_answer_find_fact(a, "quality.lost"), &lost), SPAA_OK);
    assert_int_equal(lost.integer, 5);
    spaa_answer_free(a);
    spaa_profile_free(p);
    unlink(path);
}

static void slips_are_told_and_change_nothing(void **state)
{
    (void)state;
    struct built x = begin(NULL);
    const size_t frames[] = {x.main}, no_frame[] = {1000};
    const struct spaa_stack_weight w = {x.samples, 1}, no_metric = {99, 1}, absent = {x.samples, SPAA_ABSENT},
                                   twice[] = {{x.samples, 1}, {x.samples, 1}};
    const struct spaa_stack_label no_key = {.text = "x"};
    struct spaa_stack_spec bad[12];
    size_t n = 0, out = 77;
    struct spaa_stack_spec good = stack_of(&x, frames, 1, &w, 1);
    for (size_t i = 0; i < 12; i++)
        bad[i] = good;
    bad[n++].event = 5;
    bad[n++].frames = no_frame;
    bad[n++].frames = NULL;
    bad[n++].frame_count = SIZE_MAX;
    bad[n++].pid = -5;
    bad[n++].type = "both";
    bad[n++].weights = &no_metric;
    bad[n++].weights = &absent;
    bad[n++].weights = NULL;
    bad[n].weights = twice, bad[n++].weight_count = 2;
    bad[n].labels = &no_key, bad[n++].label_count = 1;
    bad[n++].label_count = 1;
    for (size_t i = 0; i < n; i++) {
        struct spaa_diagnostics *said = NULL;
        assert_int_equal(spaa_builder_stack(x.b, &bad[i], &out, &said), SPAA_ERR_USAGE);
        assert_int_equal(spaa_diagnostics_count(said), 1);
        spaa_diagnostics_free(said);
    }
    struct spaa_frame_spec f[] = {{0},
                                  {.name = ""},
                                  {.name = "f", .has_dso = 1, .dso = 9},
                                  {.name = "f", .kind = "guest"},
                                  {.name = "f", .inline_depth = 1 << 30}};
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        f[i].size = sizeof *f;
        assert_int_equal(spaa_builder_frame(x.b, &f[i], &out, NULL), SPAA_ERR_USAGE);
    }
    struct spaa_event_spec e[] = {{.metric = 0},
                                  {.name = "cpu"},
                                  {.name = "e", .metric = 9},
                                  {.name = "e", .kind = "x"},
                                  {.name = "e", .mode = "x"}};
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        e[i].size = sizeof *e;
        assert_int_equal(spaa_builder_event(x.b, &e[i], &out, NULL), SPAA_ERR_USAGE);
    }
    assert_int_equal(spaa_builder_dso(x.b, "/x", "XYZ", 0, &out, NULL), SPAA_ERR_USAGE);
    assert_int_equal(spaa_builder_metric(x.b, "", NULL, &out, NULL), SPAA_ERR_USAGE);
    size_t wall;
    assert_int_equal(spaa_builder_metric(x.b, "wall", "ns", &wall, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_metric(x.b, "wall", "s", &out, NULL), SPAA_ERR_USAGE);
    assert_int_equal(spaa_builder_thread(x.b, -1, 1, "t", NULL), SPAA_ERR_USAGE);
    struct spaa_sample_spec at = {.size = sizeof at, .stack = 0};
    assert_int_equal(spaa_builder_sample(x.b, &at, NULL), SPAA_ERR_USAGE);
    assert_int_equal(out, 77);
    assert_int_equal(spaa_builder_stack(x.b, &good, &out, NULL), SPAA_OK);
    at.time_ns = -1;
    assert_int_equal(spaa_builder_sample(x.b, &at, NULL), SPAA_ERR_USAGE);

    struct spaa_profile *p = NULL;
    assert_int_equal(spaa_builder_finish(x.b, &p, NULL), SPAA_OK);
    assert_int_equal(spaa_profile_stack_count(p), 1);
    assert_int_equal(spaa_builder_stack(x.b, &good, &out, NULL), SPAA_ERR_USAGE); /* it is finished */
    spaa_builder_free(x.b);
    spaa_profile_free(p);

    struct spaa_builder_options none = {.size = sizeof none},
                                time = {.size = sizeof time, .source_tool = "x"};
    struct spaa_builder *b = NULL;
    assert_int_equal(spaa_builder_new(&none, &b, NULL), SPAA_ERR_USAGE);
    time.start_ns = 5;
    assert_int_equal(spaa_builder_new(&time, &b, NULL), SPAA_ERR_USAGE);
    time.end_ns = 6;
    time.group_by = "colour";
    assert_int_equal(spaa_builder_new(&time, &b, NULL), SPAA_ERR_USAGE);
    assert_null(b);
    time.group_by = NULL;
    assert_int_equal(spaa_builder_new(&time, &b, NULL), SPAA_OK);
    p = NULL;
    assert_int_equal(spaa_builder_finish(b, &p, NULL), SPAA_ERR_USAGE); /* no event */
    assert_null(p);
    spaa_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_add_up),
        cmocka_unit_test(what_is_built_is_valid_and_comes_back),
        cmocka_unit_test(slips_are_told_and_change_nothing),
    };
    return cmocka_run_group_tests_name("api_builder", tests, NULL, NULL);
}
