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
                                   more[] = {{x.time, 0}, {x.samples, 2}, {x.peak, 5}};
    struct spaa_stack_spec a = stack_of(&x, frames, 3, w, 2), b = stack_of(&x, frames, 3, more, 3),
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

/* What `refused` is of is refused, and said in words with `says` in them. */
static void stack_refused(struct built *x, const struct spaa_stack_spec *s, const char *says)
{
    struct spaa_diagnostics *said = NULL;
    struct spaa_diagnostic d = {.size = sizeof d};
    size_t out = 77;
    assert_int_equal(spaa_builder_stack(x->b, s, &out, &said), SPAA_ERR_USAGE);
    assert_int_equal(out, 77);
    assert_int_equal(spaa_diagnostics_get(said, 0, &d), SPAA_OK);
    if (!strstr(d.message, says))
        fail_msg("\"%s\" does not say \"%s\"", d.message, says);
    spaa_diagnostics_free(said);
}

static void a_stack_has_the_weight_of_its_event(void **state)
{
    (void)state;
    struct built x = begin(NULL);
    const struct spaa_stack_weight others[] = {{x.samples, 1}, {x.peak, 1}}, derived = {x.time, 1},
                                   both[] = {{x.samples, 1}, {x.time, 1}};
    struct spaa_stack_spec s = stack_of(&x, &x.main, 1, others, 2);
    stack_refused(&x, &s, "lacks its weight, cpu_time_ns");
    s.weight_count = 0;
    stack_refused(&x, &s, "lacks its weight, cpu_time_ns");
    s.weights = &derived, s.weight_count = 1;
    stack_refused(&x, &s, "derived weights only");
    size_t stack;
    s.weights = both, s.weight_count = 2;
    assert_int_equal(spaa_builder_stack(x.b, &s, &stack, NULL), SPAA_OK);
    struct spaa_profile *p = finished(&x);
    assert_int_equal(spaa_profile_stack_count(p), 1);
    spaa_profile_free(p);
}

static void inlined_frames_stand_before_their_physical_one(void **state)
{
    (void)state;
    struct built x = begin(NULL);
    struct spaa_frame_spec at = {
        .name = "at", .has_dso = 1, .dso = x.dso, .has_address = 1, .address = 0x20, .inline_depth = 1};
    size_t one = x.inlined, two, placed, elsewhere, physical;
    two = frame(&x, (struct spaa_frame_spec){.name = "two", .inline_depth = 2});
    placed = frame(&x, at);
    at.address = 0x30;
    elsewhere = frame(&x, at);
    at.name = "physical", at.address = 0x20, at.inline_depth = 0;
    physical = frame(&x, at);
    const struct spaa_stack_weight w[] = {{x.samples, 1}, {x.time, 1}};
    const struct {
        size_t frames[4], n;
        const char *says; /* NULL: it is fine */
    } cases[] = {
        {{two, one, x.work, x.main}, 4, NULL},
        {{placed, physical}, 2, NULL},
        {{one, x.work, one, x.main}, 4, NULL},
        {{one}, 1, "frame 0 of a stack is inlined 1 levels deep, and the frame after it is missing"},
        {{x.work, one}, 2, "frame 1 of a stack"},
        {{one, two, x.work}, 3, "the frame after it 2 levels"},
        {{two, x.work}, 2, "the frame after it 0 levels"},
        {{one, one, x.work}, 3, "count down"},
        {{elsewhere, physical}, 2, "another binary, address or offset"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct spaa_stack_spec s = stack_of(&x, cases[i].frames, cases[i].n, w, 2);
        size_t out;
        if (cases[i].says)
            stack_refused(&x, &s, cases[i].says);
        else
            assert_int_equal(spaa_builder_stack(x.b, &s, &out, NULL), SPAA_OK);
    }
    struct spaa_profile *p = finished(&x);
    assert_int_equal(spaa_profile_stack_count(p), 3);
    spaa_profile_free(p);
}

static void kernel_frames_are_in_kernel_binaries(void **state)
{
    (void)state;
    struct built x = begin(NULL);
    size_t kernel, vmlinux, user, out = 77;
    assert_int_equal(spaa_builder_dso(x.b, "/boot/vmlinux", NULL, 1, &vmlinux, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_dso(x.b, "[kernel]", NULL, 0, &out, NULL), SPAA_ERR_USAGE);
    struct spaa_frame_spec bad[] = {{.name = "f", .has_dso = 1, .dso = vmlinux, .kind = "user"},
                                    {.name = "f", .has_dso = 1, .dso = x.dso, .kind = "kernel"}};
    for (size_t i = 0; i < 2; i++) {
        bad[i].size = sizeof *bad;
        assert_int_equal(spaa_builder_frame(x.b, &bad[i], &out, NULL), SPAA_ERR_USAGE);
    }
    assert_int_equal(out, 77);
    kernel = frame(&x, (struct spaa_frame_spec){.name = "schedule", .kind = "kernel"});
    user = x.main;
    const struct spaa_stack_weight w[] = {{x.samples, 1}, {x.time, 1}};
    struct spaa_stack_spec s = stack_of(&x, &kernel, 1, w, 2);
    s.type = "user";
    stack_refused(&x, &s, "a kernel frame in a stack of type user");
    s.frames = &user, s.type = "kernel";
    stack_refused(&x, &s, "a user frame in a stack of type kernel");
    s.frames = &kernel;
    assert_int_equal(spaa_builder_stack(x.b, &s, &out, NULL), SPAA_OK);
    struct spaa_profile *p = finished(&x);
    struct spaa_frame f = {.size = sizeof f};
    assert_int_equal(spaa_stack_frame(p, out, 0, &f), SPAA_OK);
    assert_string_equal(f.dso, "[kernel]");
    spaa_profile_free(p);
}

/* Two windows of two stacks, the later one first. */
static struct spaa_profile *with_windows(size_t stacks[2])
{
    struct built x = begin(NULL);
    const struct spaa_stack_weight w[] = {{x.samples, 3}, {x.time, 30}},
                                   first[] = {{x.samples, 1}, {x.time, 10}},
                                   rest[] = {{x.samples, 2}, {x.time, 20}}, less = {x.time, -5};
    struct spaa_stack_spec a = stack_of(&x, &x.main, 1, w, 2), b = stack_of(&x, &x.work, 1, w, 2);
    assert_int_equal(spaa_builder_stack(x.b, &a, &stacks[0], NULL), SPAA_OK);
    assert_int_equal(spaa_builder_stack(x.b, &b, &stacks[1], NULL), SPAA_OK);
    const struct spaa_window_weights late[] = {{stacks[1], w, 2}, {stacks[0], rest, 2}},
                                     early[] = {{stacks[0], first, 2}}, twice[] = {late[0], late[0]},
                                     none = {99, w, 2}, empty = {stacks[0], w, 0},
                                     negative = {stacks[0], &less, 1};
    struct spaa_window_spec good[] = {
        {.id = "\"b\"", .start_ns = 2000000000, .end_ns = 3500000000, .stacks = late, .stack_count = 2},
        {.id = "a", .start_ns = 1000000000, .end_ns = 2000000000, .stacks = early, .stack_count = 1},
        {.id = "c", .start_ns = 1500000000, .end_ns = 1500000000, .stacks = &negative, .stack_count = 1},
    };
    struct spaa_window_spec bad[] = {
        {.start_ns = 1, .end_ns = 2},
        {.id = "x", .start_ns = -1},
        {.id = "x", .start_ns = 2, .end_ns = 1},
        {.id = "x", .stack_count = 1},
        {.id = "x", .stack_count = SIZE_MAX, .stacks = early},
        {.id = "x", .stacks = twice, .stack_count = 2},
        {.id = "x", .stacks = &none, .stack_count = 1},
        {.id = "x", .stacks = &empty, .stack_count = 1},
        {.id = "a", .stacks = early, .stack_count = 1},
    };
    for (size_t i = 0; i < 3; i++) {
        good[i].size = sizeof *good;
        assert_int_equal(spaa_builder_window(x.b, &good[i], NULL), SPAA_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bad[i].size = sizeof *bad;
        assert_int_equal(spaa_builder_window(x.b, &bad[i], NULL), SPAA_ERR_USAGE);
    }
    return finished(&x);
}

static void check_windows(const struct spaa_profile *p)
{
    struct spaa_window w = {.size = sizeof w};
    struct spaa_window_stack s = {.size = sizeof s};
    struct spaa_weight v = {.size = sizeof v};
    struct spaa_stack stack = {.size = sizeof stack};
    struct spaa_frame f = {.size = sizeof f};
    assert_int_equal(spaa_profile_window_count(p), 3);
    assert_int_equal(spaa_profile_window(p, 0, &w), SPAA_OK);
    assert_string_equal(w.id, "\"b\"");
    assert_true(w.start_ns == 2000000000 && w.end_ns == 3500000000 && w.stack_count == 2);
    int64_t sum = 0;
    for (size_t i = 0; i < w.stack_count; i++) {
        assert_int_equal(spaa_window_stack(p, 0, i, &s), SPAA_OK);
        assert_int_equal(s.weight_count, 2);
        assert_int_equal(spaa_profile_stack(p, s.stack, &stack), SPAA_OK);
        assert_int_equal(spaa_stack_frame(p, s.stack, 0, &f), SPAA_OK);
        assert_int_equal(spaa_window_weight(p, 0, i, 1, &v), SPAA_OK);
        assert_string_equal(v.metric, "cpu_time_ns");
        assert_string_equal(v.unit, "ns");
        assert_int_equal(v.value, strcmp(f.name, "main") == 0 ? 20 : 30);
        sum += v.value;
    }
    assert_int_equal(sum, 50);
    assert_int_equal(spaa_window_stack(p, 0, 2, &s), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_window_stack(p, 3, 0, &s), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_window_weight(p, 0, 0, 2, &v), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_profile_window(p, 3, &w), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_window_weight(p, 2, 0, 0, &v), SPAA_OK);
    assert_int_equal(v.value, -5);
}

static void windows_are_kept_and_answer_when(void **state)
{
    (void)state;
    size_t stacks[2], size;
    char *text = NULL;
    struct spaa_profile *p = with_windows(stacks), *again = NULL;
    check_windows(p);
    assert_int_equal(spaa_profile_write_memory(p, &text, &size, NULL, NULL), SPAA_OK);
    spaa_profile_free(p);
    assert_int_equal(spaa_profile_open_memory(text, size, NULL, NULL, &again, NULL), SPAA_OK);
    check_windows(again);

    struct spaa_ask_options o = {.size = sizeof o, .question = "timeline"};
    struct spaa_answer *a = NULL;
    struct spaa_column weight = {.size = sizeof weight}, window = {.size = sizeof window};
    assert_int_equal(spaa_ask(&again, 1, &o, &a, NULL), SPAA_OK);
    size_t t = spaa_answer_find_table(a, "rows");
    assert_int_equal(spaa_answer_column(a, t, spaa_answer_find_column(a, t, "weight"), &weight, NULL),
                     SPAA_OK);
    assert_int_equal(spaa_answer_column(a, t, spaa_answer_find_column(a, t, "window"), &window, NULL),
                     SPAA_OK);
    assert_int_equal(weight.rows, 3);
    assert_string_equal(window.texts[2], "\"b\"");
    assert_true(weight.integers[0] == 10 && weight.integers[2] == 50); /* by time */
    spaa_answer_free(a);
    spaa_profile_free(again);
    spaa_free(text);
}

/* A heap as it is after `times` as many allocations, with a window of all of it. */
static struct spaa_profile *heap(int64_t times)
{
    struct spaa_builder_options o = {.size = sizeof o, .source_tool = "heaptrack"};
    struct spaa_builder *b = NULL;
    struct spaa_profile *p = NULL;
    struct spaa_event_spec e = {.size = sizeof e, .name = "alloc", .kind = "allocation", .mode = "event"};
    struct spaa_frame_spec f = {.size = sizeof f, .name = "main"};
    size_t event, main;
    assert_int_equal(spaa_builder_new(&o, &b, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_metric(b, "live_bytes", "bytes", &e.metric, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_event(b, &e, &event, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_frame(b, &f, &main, NULL), SPAA_OK);
    const struct spaa_stack_weight w = {e.metric, 1000 * times};
    struct spaa_stack_spec s = {.size = sizeof s,
                                .event = event,
                                .frames = &main,
                                .frame_count = 1,
                                .pid = SPAA_ABSENT,
                                .tid = SPAA_ABSENT,
                                .cpu = SPAA_ABSENT,
                                .weights = &w,
                                .weight_count = 1};
    struct spaa_window_weights in = {.weights = &w, .weight_count = 1};
    struct spaa_window_spec all = {
        .size = sizeof all, .id = "all", .end_ns = 1000, .stacks = &in, .stack_count = 1};
    assert_int_equal(spaa_builder_stack(b, &s, &in.stack, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_window(b, &all, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_finish(b, &p, NULL), SPAA_OK);
    spaa_builder_free(b);
    return p;
}

static void asking_what_leaks_leaves_profiles_as_they_were(void **state)
{
    (void)state;
    struct spaa_profile *p[2] = {heap(1), heap(3)};
    struct spaa_ask_options o = {.size = sizeof o, .question = "leaks"};
    char *before = NULL, *after = NULL, *said[2] = {NULL, NULL};
    assert_int_equal(spaa_profile_write_memory(p[0], &before, NULL, NULL, NULL), SPAA_OK);
    for (int i = 0; i < 2; i++) {
        struct spaa_answer *a = NULL;
        assert_int_equal(spaa_ask(p, 2, &o, &a, NULL), SPAA_OK);
        assert_int_equal(spaa_answer_render(a, NULL, &said[i], NULL, NULL), SPAA_OK);
        spaa_answer_free(a);
    }
    assert_string_equal(said[0], said[1]);
    assert_int_equal(spaa_profile_write_memory(p[0], &after, NULL, NULL, NULL), SPAA_OK);
    assert_string_equal(before, after);
    assert_non_null(strstr(after, "\"type\":\"window\""));
    spaa_free(before);
    spaa_free(after);
    spaa_free(said[0]);
    spaa_free(said[1]);
    spaa_profile_free(p[0]);
    spaa_profile_free(p[1]);
}

/* A profile with a mean and a peak of its own beside samples; `combine` is of the mean. */
static struct spaa_profile *with_mean(const char *combine)
{
    struct built x = begin(NULL);
    struct spaa_metric_spec
        mean = {.size = sizeof mean, .name = "x_rss_mean", .unit = "bytes", .combine = combine},
        slowest = {.size = sizeof slowest, .name = "x_slowest", .unit = "ns", .combine = "max"}, other = mean,
        known = {.size = sizeof known, .name = "samples", .combine = "max"},
        odd = {.size = sizeof odd, .name = "x_odd", .combine = "average"};
    size_t m, s, n = 77;
    assert_int_equal(spaa_builder_metric_spec(x.b, &mean, &m, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_metric_spec(x.b, &slowest, &s, NULL), SPAA_OK);
    other.combine = "min";
    assert_int_equal(spaa_builder_metric_spec(x.b, &other, &n, NULL), SPAA_ERR_USAGE);
    assert_int_equal(spaa_builder_metric_spec(x.b, &known, &n, NULL), SPAA_ERR_USAGE);
    assert_int_equal(spaa_builder_metric_spec(x.b, &odd, &n, NULL), SPAA_ERR_USAGE);
    assert_int_equal(n, 77);
    assert_int_equal(spaa_builder_metric(x.b, "x_rss_mean", "bytes", &n, NULL), SPAA_OK);
    assert_int_equal(n, m);

    const struct spaa_stack_weight w[] = {{x.samples, 1}, {x.time, 10}, {m, 100}, {s, 7}},
                                   more[] = {{x.samples, 1}, {x.time, 10}, {s, 9}};
    struct spaa_stack_spec a = stack_of(&x, &x.main, 1, w, 4), b = stack_of(&x, &x.work, 1, w, 4),
                           again = stack_of(&x, &x.main, 1, more, 3);
    assert_int_equal(spaa_builder_stack(x.b, &a, &n, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_stack(x.b, &b, &n, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_stack(x.b, &again, &n, NULL), SPAA_OK);
    if (strcmp(combine, "none") == 0)
        assert_int_equal(spaa_builder_stack(x.b, &a, &n, NULL), SPAA_ERR_USAGE);
    return finished(&x);
}

/* How a metric of the first stack of a profile combines, and its value. */
static int64_t value_of(const struct spaa_profile *p, const char *metric, const char *combine)
{
    struct spaa_weight v = {.size = sizeof v};
    for (size_t i = 0; spaa_stack_weight(p, 0, i, &v) == SPAA_OK; i++)
        if (strcmp(v.metric, metric) == 0) {
            assert_string_equal(v.combine, combine);
            return v.value;
        }
    fail();
    return 0;
}

static void check_means(struct spaa_profile *p)
{
    struct spaa_ask_option metric = {"metric", "x_rss_mean"};
    struct spaa_ask_options o = {.size = sizeof o, .question = "top", .options = &metric, .option_count = 1};
    struct spaa_answer *a = NULL;
    struct spaa_measure m = {.size = sizeof m};
    struct spaa_column self = {.size = sizeof self};
    value_of(p, "x_rss_mean", "none");
    value_of(p, "x_slowest", "max");
    value_of(p, "samples", "sum");
    assert_int_equal(spaa_ask(&p, 1, &o, &a, NULL), SPAA_OK);
    assert_int_equal(spaa_answer_measure(a, 0, &m), SPAA_OK);
    assert_true(m.cannot_add);
    size_t t = spaa_answer_find_table(a, "rows");
    assert_int_equal(spaa_answer_column(a, t, spaa_answer_find_column(a, t, "self"), &self, NULL), SPAA_OK);
    for (size_t i = 0; i < self.rows; i++)
        assert_true(self.integers[i] == SPAA_ABSENT);
    spaa_answer_free(a);
}

static void what_does_not_add_up_is_not_added(void **state)
{
    (void)state;
    struct spaa_profile *p = with_mean("none"), *again = NULL, *merged = NULL;
    struct spaa_diagnostics *said = NULL;
    char *text = NULL;
    size_t size;
    assert_int_equal(value_of(p, "x_slowest", "max"), 9);
    check_means(p);
    assert_int_equal(spaa_profile_write_memory(p, &text, &size, NULL, NULL), SPAA_OK);
    assert_non_null(strstr(text, "\"combine\":{\"x_rss_mean\":\"none\",\"x_slowest\":\"max\"}"));
    assert_int_equal(spaa_profile_open_memory(text, size, NULL, NULL, &again, NULL), SPAA_OK);
    check_means(again);

    struct spaa_profile *both[] = {p, again}, *unlike[] = {p, with_mean("sum")};
    assert_int_equal(spaa_merge(both, 2, NULL, &merged, NULL), SPAA_OK);
    check_means(merged);
    spaa_profile_free(merged);
    merged = NULL;
    assert_int_equal(spaa_merge(unlike, 2, NULL, &merged, &said), SPAA_ERR_USAGE);
    assert_null(merged);
    assert_int_equal(spaa_diagnostics_count(said), 1);
    spaa_diagnostics_free(said);
    spaa_profile_free(unlike[1]);
    spaa_profile_free(again);
    spaa_profile_free(p);
    spaa_free(text);
}

/* All that a builder says, of a tool that is known: spaa validate finds nothing. */
static void validation_finds_nothing(void **state)
{
    (void)state;
    char path[] = "/tmp/spaa-built-XXXXXX.spaa";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    struct spaa_builder_options o = {.size = sizeof o, .source_tool = "spaa", .clock = "monotonic"};
    struct spaa_metric_spec time = {
        .size = sizeof time, .name = "cpu_time_ns", .unit = "ns", .derivation = "read from the \"clock\""};
    struct built x = {0};
    assert_int_equal(spaa_builder_new(&o, &x.b, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_metric(x.b, "samples", NULL, &x.samples, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_metric_spec(x.b, &time, &x.time, NULL), SPAA_OK);
    struct spaa_event_spec e = {.size = sizeof e, .name = "cpu", .metric = x.samples, .sample_period = 1};
    assert_int_equal(spaa_builder_event(x.b, &e, &x.event, NULL), SPAA_OK);
    x.work = frame(&x, (struct spaa_frame_spec){.name = "work", .has_address = 1, .address = 16});
    x.inlined =
        frame(&x, (struct spaa_frame_spec){.name = "in", .has_address = 1, .address = 16, .inline_depth = 1});
    x.main = frame(&x, (struct spaa_frame_spec){.name = "syscall", .kind = "kernel"});
    const size_t frames[] = {x.main, x.inlined, x.work};
    const struct spaa_stack_weight w[] = {{x.samples, 1}, {x.time, 10}};
    struct spaa_stack_spec s = stack_of(&x, frames, 3, w, 2);
    struct spaa_sample_spec at = {
        .size = sizeof at, .time_ns = 50, .pid = 1, .tid = 77, .cpu = SPAA_ABSENT, .weight = 1};
    struct spaa_window_weights in = {.weights = w, .weight_count = 2};
    struct spaa_window_spec window = {
        .size = sizeof window, .id = "w", .start_ns = 40, .end_ns = 60, .stacks = &in, .stack_count = 1};
    assert_int_equal(spaa_builder_stack(x.b, &s, &at.stack, NULL), SPAA_OK);
    in.stack = at.stack;
    assert_int_equal(spaa_builder_sample(x.b, &at, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_window(x.b, &window, NULL), SPAA_OK);
    struct spaa_profile *p = finished(&x);
    struct spaa_write_options how = {.size = sizeof how, .format = "spaa"};
    assert_int_equal(spaa_profile_write_fd(p, fd, &how, NULL), SPAA_OK);
    spaa_profile_free(p);
    close(fd);

    struct spaa_verdict v = {.size = sizeof v};
    struct spaa_diagnostics *said = NULL;
    struct spaa_diagnostic first = {.size = sizeof first};
    assert_int_equal(spaa_validate(path, NULL, &v, &said), SPAA_OK);
    if (spaa_diagnostics_get(said, 0, &first) == SPAA_OK)
        fail_msg("%s %s %s", first.code, first.field ? first.field : "", first.message);
    assert_true(v.valid && !v.errors && !v.warnings);
    spaa_diagnostics_free(said);
    unlink(path);
}

static void samples_have_labels_of_their_own(void **state)
{
    (void)state;
    struct built x = begin(NULL);
    const struct spaa_stack_weight w[] = {{x.samples, 2}, {x.time, 20}};
    struct spaa_stack_spec s = stack_of(&x, &x.main, 1, w, 2);
    struct spaa_sample_spec at = {.size = sizeof at,
                                  .pid = SPAA_ABSENT,
                                  .tid = SPAA_ABSENT,
                                  .cpu = SPAA_ABSENT,
                                  .weight = 10,
                                  .label_count = 1};
    struct spaa_profile *p, *again = NULL;
    struct spaa_open_options with = {.size = sizeof with, .samples = 1};
    char *text = NULL;
    size_t size;
    assert_int_equal(spaa_builder_stack(x.b, &s, &at.stack, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_sample(x.b, &at, NULL), SPAA_ERR_USAGE); /* no labels are there */
    for (int i = 0; i < 2; i++) {
        const struct spaa_stack_label label = {.key = "request", .text = i ? "GET \"/\"" : "POST /"};
        at.labels = &label;
        at.time_ns = i;
        assert_int_equal(spaa_builder_sample(x.b, &at, NULL), SPAA_OK);
    }
    p = finished(&x);
    assert_int_equal(spaa_profile_stack_count(p), 1);
    assert_int_equal(spaa_profile_write_memory(p, &text, &size, NULL, NULL), SPAA_OK);
    spaa_profile_free(p);
    assert_non_null(strstr(text, "\"context\":{\"x_labels\":{\"request\":\"POST /\"}}"));
    assert_int_equal(spaa_profile_open_memory(text, size, NULL, &with, &again, NULL), SPAA_OK);
    assert_int_equal(spaa_profile_sample_count(again), 2);
    char *back = NULL;
    assert_int_equal(spaa_profile_write_memory(again, &back, NULL, NULL, NULL), SPAA_OK);
    assert_string_equal(back, text);
    assert_non_null(strstr(text, "{\"request\":\"GET \\\"/\\\"\"}"));
    spaa_profile_free(again);
    spaa_free(back);
    spaa_free(text);
}

static void processes_are_kept(void **state)
{
    (void)state;
    struct built x = begin(NULL);
    struct spaa_process_spec app = {.size = sizeof app,
                                    .pid = 1,
                                    .parent_pid = 0,
                                    .name = "app",
                                    .path = "/bin/app",
                                    .start_ns = 5,
                                    .exit_ns = SPAA_ABSENT,
                                    .cpu_time_ns = 70,
                                    .footprint_bytes = SPAA_ABSENT,
                                    .rss_bytes = SPAA_ABSENT},
                             bad = app;
    bad.pid = SPAA_ABSENT;
    assert_int_equal(spaa_builder_process(x.b, &bad, NULL), SPAA_ERR_USAGE);
    bad.pid = 1, bad.start_ns = -1;
    assert_int_equal(spaa_builder_process(x.b, &bad, NULL), SPAA_ERR_USAGE);
    assert_int_equal(spaa_builder_process(x.b, &app, NULL), SPAA_OK);
    struct spaa_profile *p = finished(&x);
    struct spaa_query_options o = {.size = sizeof o, .sql = "select name, cpu_time_ns from processes"};
    struct spaa_result *r = NULL;
    struct spaa_result_column names = {.size = sizeof names};
    char *text = NULL;
    assert_int_equal(spaa_query(p, &o, &r, NULL), SPAA_OK);
    assert_int_equal(spaa_result_rows(r), 1);
    assert_int_equal(spaa_result_column_get(r, 0, &names), SPAA_OK);
    assert_string_equal(names.texts[0], "app");
    spaa_result_free(r);
    assert_int_equal(spaa_profile_write_memory(p, &text, NULL, NULL, NULL), SPAA_OK);
    assert_non_null(strstr(text, "\"path\":\"/bin/app\""));
    spaa_free(text);
    spaa_profile_free(p);
}

static void slips_are_told_and_change_nothing(void **state)
{
    (void)state;
    struct built x = begin(NULL);
    const size_t frames[] = {x.main}, no_frame[] = {1000};
    const struct spaa_stack_weight w[] = {{x.time, 5}, {x.samples, 1}}, no_metric = {99, 1},
                                   absent = {x.samples, SPAA_ABSENT},
                                   twice[] = {{x.samples, 1}, {x.samples, 1}};
    const struct spaa_stack_label no_key = {.text = "x"};
    struct spaa_stack_spec bad[14];
    size_t n = 0, out = 77;
    struct spaa_stack_spec good = stack_of(&x, frames, 1, w, 2);
    for (size_t i = 0; i < 14; i++)
        bad[i] = good;
    bad[n++].event = 5;
    bad[n++].frames = no_frame;
    bad[n++].frames = NULL;
    bad[n++].frame_count = SIZE_MAX;
    bad[n++].pid = -5;
    bad[n++].pid = SPAA_ABSENT;
    bad[n++].weight_count = 0;
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
        cmocka_unit_test(a_stack_has_the_weight_of_its_event),
        cmocka_unit_test(inlined_frames_stand_before_their_physical_one),
        cmocka_unit_test(kernel_frames_are_in_kernel_binaries),
        cmocka_unit_test(windows_are_kept_and_answer_when),
        cmocka_unit_test(asking_what_leaks_leaves_profiles_as_they_were),
        cmocka_unit_test(what_does_not_add_up_is_not_added),
        cmocka_unit_test(validation_finds_nothing),
        cmocka_unit_test(samples_have_labels_of_their_own),
        cmocka_unit_test(processes_are_kept),
        cmocka_unit_test(slips_are_told_and_change_nothing),
    };
    return cmocka_run_group_tests_name("api_builder", tests, NULL, NULL);
}
