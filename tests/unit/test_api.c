/* The public interface, used as a program outside would: by its headers. */
#include "base/hash.h"
#include "spaa/spaa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char folded[] = "main;parse;read 30\n"
                             "main;parse 10\n"
                             "main;render;draw;draw 60\n";

static const char spaa[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"dtrace\","
    "\"frame_order\":\"leaf_to_root\",\"events\":[{\"name\":\"profile-997\",\"kind\":\"timer\","
    "\"sampling\":{\"mode\":\"frequency\",\"primary_metric\":\"samples\",\"frequency_hz\":997}}],"
    "\"stack_id_mode\":\"local\"}\n"
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/app\",\"build_id\":\"ab12\",\"is_kernel\":false}\n"
    "{\"type\":\"dso\",\"id\":2,\"name\":\"[kernel]\",\"is_kernel\":true}\n"
    "{\"type\":\"frame\",\"id\":1,\"func\":\"main\",\"dso\":1,\"ip\":\"0x10\",\"symoff\":\"0x4\","
    "\"srcline\":\"app.c:7\",\"kind\":\"user\"}\n"
    "{\"type\":\"frame\",\"id\":2,\"func\":\"0x99\",\"func_resolved\":false,\"dso\":2,\"ip\":\"0x99\","
    "\"kind\":\"kernel\"}\n"
    "{\"type\":\"stack\",\"id\":\"u\",\"frames\":[1],\"stack_type\":\"user\",\"context\":{\"pid\":4,\"tid\":"
    "5,"
    "\"event\":\"profile-997\",\"comm\":\"app\"},\"weights\":[{\"metric\":\"samples\",\"value\":7},"
    "{\"metric\":\"x_share\",\"value\":0.25,\"unit\":\"ratio\"}],\"related_stacks\":[\"k\"]}\n"
    "{\"type\":\"stack\",\"id\":\"k\",\"frames\":[2],\"stack_type\":\"kernel\",\"context\":{\"pid\":4,"
    "\"tid\":5,"
    "\"event\":\"profile-997\",\"comm\":\"app\"},\"weights\":[{\"metric\":\"samples\",\"value\":7},"
    "{\"metric\":\"x_share\",\"value\":0.25,\"unit\":\"ratio\"}],\"related_stacks\":[\"u\"]}\n";

static struct spaa_profile *opened(const char *text)
{
    struct spaa_profile *p = NULL;
    assert_int_equal(spaa_profile_open_memory(text, strlen(text), "test", NULL, &p, NULL), SPAA_OK);
    assert_non_null(p);
    return p;
}

static struct spaa_diagnostic first(const struct spaa_diagnostics *said)
{
    struct spaa_diagnostic d = {.size = sizeof d};
    assert_int_equal(spaa_diagnostics_get(said, 0, &d), SPAA_OK);
    return d;
}

static void temp_name(char *path, const char *suffix)
{
    snprintf(path, 64, "/tmp/spaa-api-XXXXXX%s", suffix);
    int fd = mkstemps(path, (int)strlen(suffix));
    assert_true(fd >= 0);
    close(fd);
}

static void versions_agree(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", SPAA_VERSION_MAJOR, SPAA_VERSION_MINOR, SPAA_VERSION_PATCH);
    assert_string_equal(spaa_version(), text);
    assert_int_equal(spaa_version_number(), SPAA_VERSION_NUMBER);
    for (int i = SPAA_OK; i <= SPAA_ERR_CANCELLED; i++)
        assert_memory_equal(spaa_status_name((spaa_status)i), i ? "SPAA_ERR_" : "SPAA_OK", i ? 9 : 8);
}

static void stacks_are_walked_from_the_leaf(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(spaa);
    struct spaa_event e = {.size = sizeof e};
    struct spaa_function fn = {.size = sizeof fn};
    struct spaa_stack s = {.size = sizeof s};
    struct spaa_frame f = {.size = sizeof f};
    struct spaa_weight w = {.size = sizeof w};

    assert_string_equal(spaa_profile_format(p), "spaa");
    assert_string_equal(spaa_profile_source_tool(p), "dtrace");
    assert_int_equal(spaa_profile_event_count(p), 1);
    assert_int_equal(spaa_profile_event(p, 0, &e), SPAA_OK);
    assert_string_equal(e.name, "profile-997");
    assert_string_equal(e.kind, "timer");
    assert_string_equal(e.mode, "frequency");
    assert_string_equal(e.primary_metric, "samples");

    assert_int_equal(spaa_profile_stack_count(p), 2);
    assert_int_equal(spaa_profile_stack(p, 0, &s), SPAA_OK);
    assert_int_equal(s.event, 0);
    assert_int_equal(s.frame_count, 1);
    assert_int_equal(s.pid, 4);
    assert_int_equal(s.tid, 5);
    assert_true(s.cpu == SPAA_ABSENT);
    assert_string_equal(s.comm, "app");
    assert_null(s.state);
    assert_string_equal(s.type, "user");
    assert_int_equal(s.linked, 1);
    assert_int_equal(spaa_stack_frame(p, 0, 0, &f), SPAA_OK);
    assert_string_equal(f.name, "main");
    assert_string_equal(f.srcline, "app.c:7");
    assert_true(f.has_address && f.address == 0x10 && f.has_symbol_offset && f.symbol_offset == 4);
    assert_true(f.resolved);
    assert_int_equal(spaa_profile_function(p, f.function, &fn), SPAA_OK);
    assert_string_equal(fn.dso, "/bin/app");
    assert_string_equal(fn.build_id, "ab12");
    assert_false(fn.is_kernel);
    assert_int_equal(spaa_stack_frame(p, 1, 0, &f), SPAA_OK);
    assert_string_equal(f.kind, "kernel");
    assert_false(f.resolved);

    assert_int_equal(s.weight_count, 2);
    assert_int_equal(spaa_stack_weight(p, 0, 0, &w), SPAA_OK);
    assert_string_equal(w.metric, "samples");
    assert_int_equal(w.value, 7);
    assert_null(w.text);
    assert_int_equal(spaa_stack_weight(p, 0, 1, &w), SPAA_OK);
    assert_true(w.value == SPAA_ABSENT);
    assert_string_equal(w.text, "0.25");
    assert_string_equal(w.unit, "ratio");
    spaa_profile_free(p);
}

static void numbers_out_of_range_are_not_found(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded);
    struct spaa_event e = {.size = sizeof e};
    struct spaa_function fn = {.size = sizeof fn};
    struct spaa_stack s = {.size = sizeof s};
    struct spaa_frame f = {.size = sizeof f};
    struct spaa_weight w = {.size = sizeof w};
    assert_int_equal(spaa_profile_event(p, 1, &e), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_profile_function(p, SPAA_NONE, &fn), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_profile_stack(p, 3, &s), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_stack_frame(p, 0, 100, &f), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_stack_frame(p, SPAA_NONE, 0, &f), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_stack_weight(p, 0, 100, &w), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_stack_weight(p, 3, 0, &w), SPAA_ERR_NOT_FOUND);
    spaa_profile_free(p);
}

static void structures_of_other_versions_fit(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded), *none = NULL;
    struct {
        struct spaa_event e;
        uint64_t later;
    } larger = {.e.size = sizeof larger, .later = 1};
    assert_int_equal(spaa_profile_event(p, 0, &larger.e), SPAA_OK);
    assert_int_equal(larger.e.size, sizeof larger);
    assert_true(larger.later == 0);

    const char *untouched = "untouched";
    struct spaa_event smaller = {.size = offsetof(struct spaa_event, kind), .kind = untouched};
    assert_int_equal(spaa_profile_event(p, 0, &smaller), SPAA_OK);
    assert_non_null(smaller.name);
    assert_ptr_equal(smaller.kind, untouched);

    struct spaa_event unsized = {0};
    assert_int_equal(spaa_profile_event(p, 0, &unsized), SPAA_ERR_USAGE);

    struct spaa_open_options old = {.size = offsetof(struct spaa_open_options, frames), .frames = "nonsense"};
    assert_int_equal(spaa_profile_open_memory(folded, strlen(folded), NULL, &old, &none, NULL), SPAA_OK);
    spaa_profile_free(none);
    none = NULL;

    struct {
        struct spaa_open_options o;
        uint64_t later;
    } newer = {.o.size = sizeof newer, .later = 1};
    struct spaa_diagnostics *said = NULL;
    assert_int_equal(spaa_profile_open_memory(folded, strlen(folded), NULL, &newer.o, &none, &said),
                     SPAA_ERR_USAGE);
    assert_null(none);
    assert_string_equal(first(said).code, "SPAA-E037");
    newer.later = 0;
    assert_int_equal(spaa_profile_open_memory(folded, strlen(folded), NULL, &newer.o, &none, &said), SPAA_OK);
    spaa_profile_free(none);
    spaa_diagnostics_free(said);
    spaa_profile_free(p);
}

static void failures_say_why_and_leave_outputs_alone(void **state)
{
    (void)state;
    struct spaa_profile *p = NULL;
    struct spaa_diagnostics *said = NULL;
    assert_int_equal(spaa_profile_open("/nonexistent/x", NULL, &p, &said), SPAA_ERR_IO);
    assert_null(p);
    struct spaa_diagnostic d = first(said);
    assert_string_equal(d.code, "SPAA-E001");
    assert_string_equal(d.severity, "error");
    assert_string_equal(d.file, "/nonexistent/x");
    assert_true(*d.hint && d.line == 0);
    assert_int_equal(spaa_diagnostics_total(said, "error"), 1);
    assert_int_equal(spaa_diagnostics_total(said, "warning"), 0);
    assert_int_equal(spaa_diagnostics_get(said, 1, &d), SPAA_ERR_NOT_FOUND);
    spaa_diagnostics_free(said);

    assert_int_equal(spaa_profile_open_memory("", 0, "empty", NULL, &p, NULL), SPAA_ERR_INPUT);
    assert_int_equal(spaa_profile_open_memory("\1\2\3\4", 4, "junk", NULL, &p, NULL), SPAA_ERR_INPUT);
    assert_int_equal(spaa_profile_open(NULL, NULL, &p, NULL), SPAA_ERR_USAGE);
    assert_null(p);
    assert_int_equal(spaa_diagnostics_count(NULL), 0);
    spaa_diagnostics_free(NULL);
    spaa_profile_free(NULL);
}

static void options_of_opening_are_checked(void **state)
{
    (void)state;
    static const struct spaa_format_option known = {"value-metric", "samples"}, unknown = {"pid", NULL};
    static const struct spaa_open_options bad[] = {
        {.frames = "word"}, {.group_by = "pid,what"}, {.format = "none"}, {.own = &unknown, .own_count = 1},
        {.own_count = 1},
    };
    struct spaa_profile *p = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct spaa_open_options o = bad[i];
        o.size = sizeof o;
        assert_int_equal(spaa_profile_open_memory(folded, strlen(folded), NULL, &o, &p, NULL),
                         SPAA_ERR_USAGE);
        assert_null(p);
    }
    struct spaa_open_options good = {.size = sizeof good, .format = "folded", .own = &known, .own_count = 1};
    struct spaa_event e = {.size = sizeof e};
    assert_int_equal(spaa_profile_open_memory(folded, strlen(folded), NULL, &good, &p, NULL), SPAA_OK);
    assert_int_equal(spaa_profile_event(p, 0, &e), SPAA_OK);
    assert_string_equal(e.primary_metric, "samples");
    spaa_profile_free(p);
}

static void spaa_is_grouped_again(void **state)
{
    (void)state;
    struct spaa_open_options o = {.size = sizeof o, .group_by = "comm", .frames = "function"};
    struct spaa_profile *p = NULL;
    struct spaa_stack s = {.size = sizeof s};
    assert_int_equal(spaa_profile_open_memory(spaa, strlen(spaa), "x", &o, &p, NULL), SPAA_OK);
    assert_int_equal(spaa_profile_stack(p, 0, &s), SPAA_OK);
    assert_true(s.pid == SPAA_ABSENT && s.tid == SPAA_ABSENT);
    assert_string_equal(s.comm, "app");

    char path[64];
    temp_name(path, ".spaa");
    assert_int_equal(spaa_profile_write(p, path, NULL, NULL), SPAA_OK);
    spaa_profile_free(p);
    p = NULL;
    struct spaa_diagnostics *said = NULL;
    o.group_by = "pid";
    assert_int_equal(spaa_profile_open(path, &o, &p, &said), SPAA_ERR_USAGE);
    assert_null(p);
    bool told = false;
    for (size_t i = 0; i < spaa_diagnostics_count(said); i++) {
        struct spaa_diagnostic d = {.size = sizeof d};
        assert_int_equal(spaa_diagnostics_get(said, i, &d), SPAA_OK);
        told = told || strcmp(d.code, "SPAA-E033") == 0;
    }
    assert_true(told);
    spaa_diagnostics_free(said);
    unlink(path);
}

static size_t content(const char *path, char *text, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(text, 1, room - 1, f);
    fclose(f);
    text[n] = '\0';
    return n;
}

/* Seen divided, by each answer and each other format; written as it stood, however often and in any order. */
static void what_leaves_have_is_told_and_kept(void **state)
{
    (void)state;
    static const char in[] =
        "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\",\"frame_"
        "order\":"
        "\"leaf_to_root\",\"events\":[{\"name\":\"cycles\",\"kind\":\"hardware\",\"sampling\":{\"mode\":"
        "\"period\","
        "\"primary_metric\":\"period\",\"sample_period\":1}}],\"stack_id_mode\":\"local\"}\n"
        "{\"type\":\"dso\",\"id\":1,\"name\":\"app\",\"is_kernel\":false}\n"
        "{\"type\":\"frame\",\"id\":1,\"func\":\"leaf\",\"dso\":1,\"kind\":\"user\"}\n"
        "{\"type\":\"stack\",\"id\":\"a\",\"frames\":[1],\"stack_type\":\"unified\",\"context\":{\"event\":"
        "\"cycles\"},"
        "\"weights\":[{\"metric\":\"period\",\"value\":10.50}],\"exclusive\":{\"frame\":1,\"weights\":[{"
        "\"metric\":"
        "\"period\",\"value\":3.25}]}}\n";
    char a[64], b[64], text[4096];
    temp_name(a, ".spaa");
    temp_name(b, ".folded");
    struct spaa_profile *p = opened(in);
    for (int i = 0; i < 2; i++) {
        struct spaa_ask_options top = {.size = sizeof top, .question = "top"};
        struct spaa_answer *answer = NULL;
        struct spaa_column name = {.size = sizeof name}, self = {.size = sizeof self};
        assert_int_equal(spaa_ask(&p, 1, &top, &answer, NULL), SPAA_OK);
        size_t rows = spaa_answer_find_table(answer, "rows");
        spaa_answer_column(answer, rows, spaa_answer_find_column(answer, rows, "function"), &name, NULL);
        spaa_answer_column(answer, rows, spaa_answer_find_column(answer, rows, "self"), &self, NULL);
        assert_int_equal(name.rows, 2);
        assert_string_equal(name.texts[0], "[callees not recorded]");
        assert_int_equal(self.integers[0], 725);
        assert_int_equal(spaa_profile_write(p, a, NULL, NULL), SPAA_OK);
        assert_int_equal(content(a, text, sizeof text), strlen(in));
        assert_string_equal(text, in);
        assert_int_equal(spaa_profile_write(p, b, NULL, NULL), SPAA_OK);
        content(b, text, sizeof text);
        assert_string_equal(text, "leaf 3.25\nleaf;[callees not recorded] 7.25\n");
        spaa_answer_free(answer);
    }
    spaa_profile_free(p);
    unlink(a);
    unlink(b);
}

static void what_is_written_is_valid_and_equal(void **state)
{
    (void)state;
    char a[64], b[64];
    temp_name(a, ".spaa");
    temp_name(b, ".spaa.zst");
    struct spaa_profile *p = opened(folded);
    struct spaa_verdict v = {.size = sizeof v};
    assert_int_equal(spaa_profile_write(p, a, NULL, NULL), SPAA_OK);
    spaa_profile_free(p);
    assert_int_equal(spaa_validate(a, NULL, &v, NULL), SPAA_OK);
    assert_true(v.valid && v.errors == 0);

    assert_int_equal(spaa_convert(a, b, NULL, NULL, NULL), SPAA_OK);
    struct spaa_write_options back = {.size = sizeof back, .format = "folded"};
    assert_int_equal(spaa_convert(b, a, NULL, &back, NULL), SPAA_OK);
    char text[sizeof folded + 16];
    FILE *f = fopen(a, "rb");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    assert_int_equal(n, strlen(folded));
    assert_memory_equal(text, "main;parse 10\nmain;parse;read 30\nmain;render;draw;draw 60\n", n);
    unlink(a);
    unlink(b);
}

/* Memory and descriptors give and take the bytes of a file. */
static void memory_and_descriptors_are_files(void **state)
{
    (void)state;
    char path[64], text[4096], *data = NULL;
    size_t n = 0;
    temp_name(path, ".spaa");
    struct spaa_profile *p = opened(folded), *again = NULL;
    assert_int_equal(spaa_profile_write(p, path, NULL, NULL), SPAA_OK);
    size_t size = content(path, text, sizeof text);
    assert_int_equal(spaa_profile_write_memory(p, &data, &n, NULL, NULL), SPAA_OK);
    assert_true(n == size && data[n] == '\0');
    assert_memory_equal(data, text, n);
    assert_int_equal(spaa_profile_open_memory(data, n, NULL, NULL, &again, NULL), SPAA_OK);
    spaa_profile_free(again);
    spaa_free(data);

    FILE *f = tmpfile();
    assert_non_null(f);
    int fd = fileno(f);
    struct spaa_write_options how = {.size = sizeof how, .format = "folded"};
    assert_int_equal(spaa_profile_write_fd(p, fd, &how, NULL), SPAA_OK);
    assert_int_equal(spaa_profile_open_fd(fd, "f", NULL, &again, NULL),
                     SPAA_ERR_INPUT); /* it is at the end */
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(spaa_profile_open_fd(fd, NULL, NULL, &again, NULL), SPAA_OK);
    assert_int_equal(spaa_profile_stack_count(again), 3);
    assert_int_equal(fclose(f), 0); /* it was open still */
    assert_int_equal(spaa_profile_open_fd(fd, NULL, NULL, &again, NULL), SPAA_ERR_IO);
    assert_int_equal(spaa_profile_write_fd(p, fd, NULL, NULL), SPAA_ERR_IO);
    spaa_profile_free(again);
    spaa_profile_free(p);
    unlink(path);
}

/* The worked example of docs/identity.md, by its own words. */
static void ids_are_what_the_documentation_says(void **state)
{
    (void)state;
    static const char text[] =
        "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\","
        "\"frame_order\":\"root_to_leaf\",\"events\":[{\"name\":\"cycles\",\"kind\":\"hardware\","
        "\"sampling\":{\"mode\":\"period\",\"primary_metric\":\"period\"}}],\"stack_id_mode\":\"local\"}\n"
        "{\"type\":\"dso\",\"id\":1,\"name\":\"/opt/app/app\",\"is_kernel\":false}\n"
        "{\"type\":\"frame\",\"id\":1,\"func\":\"main\",\"dso\":1,\"ip\":\"0x1180\",\"symoff\":\"0x20\","
        "\"kind\":\"user\"}\n"
        "{\"type\":\"frame\",\"id\":2,\"func\":\"work\",\"dso\":1,\"ip\":\"0x1140\",\"symoff\":\"0x4\","
        "\"srcline\":\"src/app.c:7\",\"kind\":\"user\","
        "\"x_func\":{\"linkage\":\"work.cold\",\"file\":\"src/app.c\",\"local\":true}}\n"
        "{\"type\":\"stack\",\"id\":\"s\",\"frames\":[1,2],\"context\":{\"pid\":10,\"tid\":11,"
        "\"event\":\"cycles\",\"comm\":\"app\"},\"weights\":[{\"metric\":\"period\",\"value\":3}]}\n";
    static const char main_bytes[] = "main\0app\0\0\0+0x20\0000",
                      work_bytes[] = "work\0app\0@app.c\0src/app.c:7\0.cold+0x4\0000";
    static const char head[] = "cycles\0unified\0app\0", run[] = "pid=10;tid=11;";
    unsigned char stack[sizeof head + 16];
    uint64_t frames[] = {sp_hash64(main_bytes, sizeof main_bytes), sp_hash64(work_bytes, sizeof work_bytes)};
    memcpy(stack, head, sizeof head);
    for (size_t i = 0; i < 16; i++)
        stack[sizeof head + i] = (unsigned char)(frames[i / 8] >> (i % 8 * 8));
    char id[64], path[64], line[1024], found[1024] = "";
    snprintf(id, sizeof id, "\"id\":\"0x%016llx.%08x\"", (unsigned long long)sp_hash64(stack, sizeof stack),
             (unsigned)sp_hash64(run, strlen(run)));
    assert_string_equal(id, "\"id\":\"0xe6776c16f70ed27b.7b308498\"");

    temp_name(path, ".spaa");
    struct spaa_open_options o = {.size = sizeof o, .frames = "address"};
    struct spaa_profile *p = NULL;
    assert_int_equal(spaa_profile_open_memory(text, strlen(text), NULL, &o, &p, NULL), SPAA_OK);
    assert_int_equal(spaa_profile_write(p, path, NULL, NULL), SPAA_OK);
    spaa_profile_free(p);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (strstr(line, "\"type\":\"stack\""))
            memcpy(found, line, sizeof found);
    fclose(f);
    unlink(path);
    assert_non_null(strstr(found, id));
}

static void an_invalid_file_is_a_verdict_not_a_failure(void **state)
{
    (void)state;
    char path[64];
    temp_name(path, ".spaa");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"9.0\"}\n", f);
    fclose(f);
    struct spaa_verdict v = {.size = sizeof v, .valid = 1};
    struct spaa_diagnostics *said = NULL;
    assert_int_equal(spaa_validate(path, NULL, &v, &said), SPAA_OK);
    assert_false(v.valid);
    assert_true(v.errors > 0);
    assert_true(spaa_diagnostics_total(said, "error") == v.errors);
    assert_int_equal(first(said).line, 1);
    spaa_diagnostics_free(said);
    unlink(path);

    struct spaa_validate_options o = {.size = sizeof o, .format = "folded"};
    assert_int_equal(spaa_validate(path, &o, &v, NULL), SPAA_ERR_IO);
    o.format = "none";
    temp_name(path, ".spaa");
    assert_int_equal(spaa_validate(path, &o, &v, NULL), SPAA_ERR_USAGE);
    unlink(path);
}

static void writing_is_checked_before_reading(void **state)
{
    (void)state;
    struct spaa_write_options o = {.size = sizeof o, .format = "perf-data"};
    struct spaa_diagnostics *said = NULL;
    assert_int_equal(spaa_convert("/nonexistent", "/tmp/x", NULL, &o, NULL), SPAA_ERR_UNSUPPORTED);
    assert_int_equal(spaa_convert("/nonexistent", "/tmp/x.unknown", NULL, NULL, &said), SPAA_ERR_USAGE);
    assert_int_equal(spaa_convert("/nonexistent", "-", NULL, NULL, NULL), SPAA_ERR_USAGE);
    assert_int_equal(spaa_convert("/nonexistent", "/tmp/x.spaa", NULL, NULL, NULL), SPAA_ERR_IO);
    struct spaa_profile *p = opened(folded);
    assert_int_equal(spaa_profile_write(p, "/nonexistent/x.spaa", NULL, &said), SPAA_ERR_IO);
    o = (struct spaa_write_options){.size = sizeof o, .frame_order = "up"};
    assert_int_equal(spaa_profile_write(p, "/tmp/x.spaa", &o, NULL), SPAA_ERR_USAGE);
    o = (struct spaa_write_options){.size = sizeof o, .event = "none"};
    assert_int_equal(spaa_profile_write(p, "/tmp/x.spaa", &o, NULL), SPAA_ERR_USAGE);
    assert_int_equal(spaa_diagnostics_count(said), 2);
    spaa_profile_free(p);
    spaa_diagnostics_free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_agree),
        cmocka_unit_test(stacks_are_walked_from_the_leaf),
        cmocka_unit_test(numbers_out_of_range_are_not_found),
        cmocka_unit_test(structures_of_other_versions_fit),
        cmocka_unit_test(failures_say_why_and_leave_outputs_alone),
        cmocka_unit_test(options_of_opening_are_checked),
        cmocka_unit_test(spaa_is_grouped_again),
        cmocka_unit_test(what_leaves_have_is_told_and_kept),
        cmocka_unit_test(what_is_written_is_valid_and_equal),
        cmocka_unit_test(memory_and_descriptors_are_files),
        cmocka_unit_test(ids_are_what_the_documentation_says),
        cmocka_unit_test(an_invalid_file_is_a_verdict_not_a_failure),
        cmocka_unit_test(writing_is_checked_before_reading),
    };
    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
