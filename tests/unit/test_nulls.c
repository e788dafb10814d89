/*
 * Every exported function with each of its pointers NULL: a defined result, never a crash.
 *
 * The functions are those of src/api/libspaa.map; one that has no row here fails the test.
 */
#include "spaa/spaa.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char folded[] = "main;parse 10\nmain;draw 20\n";

static struct spaa_profile *profile;
static struct spaa_builder *builder;
static struct spaa_answer *answer;
static struct spaa_diagnostics *said;
static char out_path[] = "/tmp/spaa-nulls-XXXXXX.spaa", in_path[] = "/tmp/spaa-nulls-XXXXXX.folded";

#define USAGE(call)   assert_int_equal(call, SPAA_ERR_USAGE)
#define FINE(call)    assert_int_equal(call, SPAA_OK)
#define NOTHING(call) assert_true((call) == 0)

static void ask(void)
{
    struct spaa_profile *none = NULL;
    struct spaa_ask_options o = {.size = sizeof o, .question = "top"};
    struct spaa_answer *a = NULL;
    USAGE(spaa_ask(NULL, 1, &o, &a, NULL));
    USAGE(spaa_ask(&none, 1, &o, &a, NULL));
    USAGE(spaa_ask(&profile, 0, &o, &a, NULL));
    USAGE(spaa_ask(&profile, 1, NULL, &a, NULL));
    USAGE(spaa_ask(&profile, 1, &o, NULL, NULL));
    o.option_count = 1;
    USAGE(spaa_ask(&profile, 1, &o, &a, NULL));
    assert_null(a);
}

static void answer_column(void)
{
    struct spaa_column c = {.size = sizeof c};
    USAGE(spaa_answer_column(NULL, 0, 0, &c, NULL));
    USAGE(spaa_answer_column(answer, 0, 0, NULL, NULL));
}

static void answer_fact(void)
{
    struct spaa_fact f = {.size = sizeof f};
    USAGE(spaa_answer_fact(NULL, 0, &f));
    USAGE(spaa_answer_fact(answer, 0, NULL));
}

static void answer_fact_count(void)
{
    NOTHING(spaa_answer_fact_count(NULL));
}

static void answer_find_column(void)
{
    assert_true(spaa_answer_find_column(NULL, 0, "self") == SPAA_NONE);
    assert_true(spaa_answer_find_column(answer, 0, NULL) == SPAA_NONE);
}

static void answer_find_fact(void)
{
    assert_true(spaa_answer_find_fact(NULL, "whole") == SPAA_NONE);
    assert_true(spaa_answer_find_fact(answer, NULL) == SPAA_NONE);
}

static void answer_find_table(void)
{
    assert_true(spaa_answer_find_table(NULL, "rows") == SPAA_NONE);
    assert_true(spaa_answer_find_table(answer, NULL) == SPAA_NONE);
}

static void answer_free(void)
{
    spaa_answer_free(NULL);
}

static void answer_measure(void)
{
    struct spaa_measure m = {.size = sizeof m};
    USAGE(spaa_answer_measure(NULL, 0, &m));
    USAGE(spaa_answer_measure(answer, 0, NULL));
}

static void answer_next(void)
{
    NOTHING(spaa_answer_next(NULL, 0));
}

static void answer_render(void)
{
    char *text = NULL;
    size_t n;
    USAGE(spaa_answer_render(NULL, NULL, &text, &n, NULL));
    USAGE(spaa_answer_render(answer, NULL, NULL, &n, NULL));
    FINE(spaa_answer_render(answer, NULL, &text, NULL, NULL));
    spaa_free(text);
}

static void answer_table(void)
{
    struct spaa_table t = {.size = sizeof t};
    USAGE(spaa_answer_table(NULL, 0, &t));
    USAGE(spaa_answer_table(answer, 0, NULL));
}

static void answer_table_count(void)
{
    NOTHING(spaa_answer_table_count(NULL));
}

static void free_memory(void)
{
    spaa_free(NULL);
}

static void question_get(void)
{
    USAGE(spaa_question_get(0, NULL));
}

static void question_option_get(void)
{
    USAGE(spaa_question_option_get(0, 0, NULL));
}

static void builder_new(void)
{
    struct spaa_builder_options o = {.size = sizeof o, .source_tool = "t"};
    struct spaa_builder *b = NULL;
    USAGE(spaa_builder_new(NULL, &b, NULL));
    USAGE(spaa_builder_new(&o, NULL, NULL));
    assert_null(b);
}

static void builder_metric(void)
{
    size_t n;
    USAGE(spaa_builder_metric(NULL, "m", NULL, &n, NULL));
    USAGE(spaa_builder_metric(builder, NULL, NULL, &n, NULL));
    USAGE(spaa_builder_metric(builder, "m", NULL, NULL, NULL));
}

static void builder_event(void)
{
    struct spaa_event_spec e = {.size = sizeof e, .name = "e"};
    size_t n;
    USAGE(spaa_builder_event(NULL, &e, &n, NULL));
    USAGE(spaa_builder_event(builder, NULL, &n, NULL));
    USAGE(spaa_builder_event(builder, &e, NULL, NULL));
}

static void answer_verdict(void)
{
    assert_int_equal(spaa_answer_verdict(NULL), SPAA_ANSWER_FINE);
}

static void answer_write_fd(void)
{
    USAGE(spaa_answer_write_fd(NULL, 1, NULL, NULL));
    USAGE(spaa_answer_write_fd(answer, -1, NULL, NULL));
    int fd = open("/dev/null", O_WRONLY);
    FINE(spaa_answer_write_fd(answer, fd, NULL, NULL));
    assert_int_equal(close(fd), 0);
}

static void builder_dso(void)
{
    size_t n;
    USAGE(spaa_builder_dso(NULL, "/x", NULL, 0, &n, NULL));
    USAGE(spaa_builder_dso(builder, NULL, NULL, 0, &n, NULL));
    USAGE(spaa_builder_dso(builder, "/x", NULL, 0, NULL, NULL));
}

static void builder_frame(void)
{
    struct spaa_frame_spec f = {.size = sizeof f, .name = "f"};
    size_t n;
    USAGE(spaa_builder_frame(NULL, &f, &n, NULL));
    USAGE(spaa_builder_frame(builder, NULL, &n, NULL));
    USAGE(spaa_builder_frame(builder, &f, NULL, NULL));
}

static void builder_thread(void)
{
    USAGE(spaa_builder_thread(NULL, 1, 1, "t", NULL));
    FINE(spaa_builder_thread(builder, 1, 1, NULL, NULL));
}

static void builder_stack(void)
{
    struct spaa_stack_spec s = {.size = sizeof s};
    size_t n;
    USAGE(spaa_builder_stack(NULL, &s, &n, NULL));
    USAGE(spaa_builder_stack(builder, NULL, &n, NULL));
    USAGE(spaa_builder_stack(builder, &s, NULL, NULL));
}

static void builder_sample(void)
{
    struct spaa_sample_spec s = {.size = sizeof s};
    USAGE(spaa_builder_sample(NULL, &s, NULL));
    USAGE(spaa_builder_sample(builder, NULL, NULL));
}

static void builder_lost(void)
{
    USAGE(spaa_builder_lost(NULL, 1, NULL));
}

static void builder_finish(void)
{
    struct spaa_profile *p = NULL;
    USAGE(spaa_builder_finish(NULL, &p, NULL));
    USAGE(spaa_builder_finish(builder, NULL, NULL));
    assert_null(p);
}

static void builder_metric_spec(void)
{
    struct spaa_metric_spec m = {.size = sizeof m};
    size_t n;
    USAGE(spaa_builder_metric_spec(NULL, &m, &n, NULL));
    USAGE(spaa_builder_metric_spec(builder, NULL, &n, NULL));
    USAGE(spaa_builder_metric_spec(builder, &m, &n, NULL));
    USAGE(spaa_builder_metric_spec(builder, &m, NULL, NULL));
}

static void builder_process(void)
{
    struct spaa_process_spec p = {.size = sizeof p, .pid = 1};
    USAGE(spaa_builder_process(NULL, &p, NULL));
    USAGE(spaa_builder_process(builder, NULL, NULL));
    p.pid = -1;
    USAGE(spaa_builder_process(builder, &p, NULL));
}

static void builder_window(void)
{
    struct spaa_window_spec w = {.size = sizeof w, .id = "w", .stack_count = 1};
    USAGE(spaa_builder_window(NULL, &w, NULL));
    USAGE(spaa_builder_window(builder, NULL, NULL));
    USAGE(spaa_builder_window(builder, &w, NULL));
}

static void profile_window(void)
{
    struct spaa_window w = {.size = sizeof w};
    USAGE(spaa_profile_window(NULL, 0, &w));
    USAGE(spaa_profile_window(profile, 0, NULL));
}

static void profile_window_count(void)
{
    NOTHING(spaa_profile_window_count(NULL));
}

static void window_stack(void)
{
    struct spaa_window_stack s = {.size = sizeof s};
    USAGE(spaa_window_stack(NULL, 0, 0, &s));
    USAGE(spaa_window_stack(profile, 0, 0, NULL));
}

static void window_weight(void)
{
    struct spaa_weight w = {.size = sizeof w};
    USAGE(spaa_window_weight(NULL, 0, 0, 0, &w));
    USAGE(spaa_window_weight(profile, 0, 0, 0, NULL));
}

static void builder_free(void)
{
    spaa_builder_free(NULL);
}

static void merge(void)
{
    struct spaa_profile *none = NULL, *p = NULL;
    USAGE(spaa_merge(NULL, 1, NULL, &p, NULL));
    USAGE(spaa_merge(&profile, 0, NULL, &p, NULL));
    USAGE(spaa_merge(&none, 1, NULL, &p, NULL));
    USAGE(spaa_merge(&profile, 1, NULL, NULL, NULL));
    assert_null(p);
}

static void merge_files(void)
{
    const char *none = NULL, *path = in_path;
    struct spaa_profile *p = NULL;
    USAGE(spaa_merge_files(NULL, 1, NULL, NULL, &p, NULL));
    USAGE(spaa_merge_files(&path, 0, NULL, NULL, &p, NULL));
    USAGE(spaa_merge_files(&none, 1, NULL, NULL, &p, NULL));
    USAGE(spaa_merge_files(&path, 1, NULL, NULL, NULL, NULL));
    assert_null(p);
}

static void profile_open_fd(void)
{
    struct spaa_profile *p = NULL;
    USAGE(spaa_profile_open_fd(-1, "x", NULL, &p, NULL));
    USAGE(spaa_profile_open_fd(0, "x", NULL, NULL, NULL));
    assert_null(p);
}

static void profile_write_fd(void)
{
    USAGE(spaa_profile_write_fd(NULL, 1, NULL, NULL));
    USAGE(spaa_profile_write_fd(profile, -1, NULL, NULL));
}

static void profile_write_memory(void)
{
    char *data = NULL;
    USAGE(spaa_profile_write_memory(NULL, &data, NULL, NULL, NULL));
    USAGE(spaa_profile_write_memory(profile, NULL, NULL, NULL, NULL));
    FINE(spaa_profile_write_memory(profile, &data, NULL, NULL, NULL));
    spaa_free(data);
}

static void query(void)
{
    struct spaa_query_options o = {.size = sizeof o, .sql = "select 1", .param_count = 1};
    static const struct spaa_query_param none = {0};
    struct spaa_result *r = NULL;
    USAGE(spaa_query(NULL, &o, &r, NULL));
    USAGE(spaa_query(profile, NULL, &r, NULL));
    USAGE(spaa_query(profile, &o, NULL, NULL));
    USAGE(spaa_query(profile, &o, &r, NULL));
    o.params = &none;
    USAGE(spaa_query(profile, &o, &r, NULL));
    assert_null(r);
}

static void result_column_get(void)
{
    struct spaa_result_column c = {.size = sizeof c};
    struct spaa_query_options o = {.size = sizeof o, .sql = "select 1"};
    struct spaa_result *r = NULL;
    USAGE(spaa_result_column_get(NULL, 0, &c));
    FINE(spaa_query(profile, &o, &r, NULL));
    USAGE(spaa_result_column_get(r, 0, NULL));
    spaa_result_free(r);
}

static void result_columns(void)
{
    NOTHING(spaa_result_columns(NULL));
}

static void result_free(void)
{
    spaa_result_free(NULL);
}

static void result_more(void)
{
    NOTHING(spaa_result_more(NULL));
}

static void result_rows(void)
{
    NOTHING(spaa_result_rows(NULL));
}

static void profile_sample(void)
{
    struct spaa_sample s = {.size = sizeof s};
    USAGE(spaa_profile_sample(NULL, 0, &s));
    USAGE(spaa_profile_sample(profile, 0, NULL));
}

static void profile_sample_count(void)
{
    NOTHING(spaa_profile_sample_count(NULL));
}

static void stack_label(void)
{
    struct spaa_label l = {.size = sizeof l};
    USAGE(spaa_stack_label(NULL, 0, 0, &l));
    USAGE(spaa_stack_label(profile, 0, 0, NULL));
}

static void command_count(void)
{
    assert_true(spaa_command_count() > 10);
}

static void command_get(void)
{
    USAGE(spaa_command_get(0, NULL));
}

static void command_option_get(void)
{
    USAGE(spaa_command_option_get(0, 0, NULL));
}

static void did_you_mean(void)
{
    const char *const names[] = {"top", NULL};
    char text[64];
    NOTHING(spaa_did_you_mean(NULL, names, 1, text, sizeof text));
    NOTHING(spaa_did_you_mean("tpo", NULL, 1, text, sizeof text));
    NOTHING(spaa_did_you_mean("tpo", names, 1, NULL, 8));
    assert_true(spaa_did_you_mean("tpo", names, 1, NULL, 0) > 0);
    NOTHING(spaa_did_you_mean("tpo", names, 2, text, sizeof text));
}

static void diagnostics_add(void)
{
    struct spaa_diagnostics *d = NULL;
    USAGE(spaa_diagnostics_add(NULL, "SPAA-E037", NULL, "words"));
    USAGE(spaa_diagnostics_add(&d, NULL, NULL, "words"));
    USAGE(spaa_diagnostics_add(&d, "SPAA-E037", NULL, NULL));
    assert_null(d);
}

static void diagnostics_error(void)
{
    char *json = NULL;
    assert_int_equal(spaa_diagnostics_error(NULL, &json), SPAA_ERR_NOT_FOUND);
    USAGE(spaa_diagnostics_error(said, NULL));
    assert_null(json);
}

static void diagnostics_text(void)
{
    char *text = NULL;
    USAGE(spaa_diagnostics_text(NULL, 0, 0, &text));
    USAGE(spaa_diagnostics_text(said, 0, 0, NULL));
    assert_null(text);
}

static void diagnostics_unkept(void)
{
    struct spaa_unkept u = {.size = sizeof u};
    USAGE(spaa_diagnostics_unkept(NULL, 0, &u));
    USAGE(spaa_diagnostics_unkept(said, 0, NULL));
}

static void run_fd(void)
{
    const char *missing[] = {NULL};
    struct spaa_profile *none = NULL;
    struct spaa_run_options o = {.size = sizeof o};
    USAGE(spaa_run_fd(NULL, 1, NULL, NULL));
    USAGE(spaa_run_fd(&o, -1, NULL, NULL));
    USAGE(spaa_run_fd(&o, 1, NULL, NULL));
    o = (struct spaa_run_options){.size = sizeof o, .command = "top", .files = missing, .file_count = 1};
    USAGE(spaa_run_fd(&o, 1, NULL, NULL));
    o = (struct spaa_run_options){.size = sizeof o, .command = "top", .file_count = 1};
    USAGE(spaa_run_fd(&o, 1, NULL, NULL));
    o = (struct spaa_run_options){.size = sizeof o, .command = "top", .option_count = 1};
    USAGE(spaa_run_fd(&o, 1, NULL, NULL));
    o = (struct spaa_run_options){.size = sizeof o, .command = "top", .profile_count = 1};
    USAGE(spaa_run_fd(&o, 1, NULL, NULL));
    o.profiles = &none;
    USAGE(spaa_run_fd(&o, 1, NULL, NULL));
}

static void safe_text(void)
{
    char *safe = NULL;
    USAGE(spaa_safe_text(NULL, 0, &safe));
    USAGE(spaa_safe_text("words", 0, NULL));
    assert_null(safe);
}

static void shell_word(void)
{
    char *word = NULL;
    USAGE(spaa_shell_word(NULL, &word));
    USAGE(spaa_shell_word("words", NULL));
    assert_null(word);
}

static void run_memory(void)
{
    char *text = NULL;
    struct spaa_run_options o = {.size = sizeof o, .command = "formats"};
    USAGE(spaa_run_memory(NULL, &text, NULL, NULL, NULL));
    USAGE(spaa_run_memory(&o, NULL, NULL, NULL, NULL));
    assert_null(text);
    FINE(spaa_run_memory(&o, &text, NULL, NULL, NULL));
    spaa_free(text);
}

static void convert(void)
{
    USAGE(spaa_convert(NULL, out_path, NULL, NULL, NULL));
    USAGE(spaa_convert(in_path, NULL, NULL, NULL, NULL));
    USAGE(spaa_convert(NULL, NULL, NULL, NULL, NULL));
    FINE(spaa_convert(in_path, out_path, NULL, NULL, NULL));
}

static void diagnostics_count(void)
{
    NOTHING(spaa_diagnostics_count(NULL));
}

static void diagnostics_free(void)
{
    spaa_diagnostics_free(NULL);
}

static void diagnostics_get(void)
{
    struct spaa_diagnostic d = {.size = sizeof d};
    USAGE(spaa_diagnostics_get(NULL, 0, &d));
    USAGE(spaa_diagnostics_get(said, 0, NULL));
    USAGE(spaa_diagnostics_get(NULL, 0, NULL));
}

static void diagnostics_total(void)
{
    NOTHING(spaa_diagnostics_total(NULL, "error"));
    NOTHING(spaa_diagnostics_total(said, NULL));
    NOTHING(spaa_diagnostics_total(NULL, NULL));
}

static void profile_event(void)
{
    struct spaa_event e = {.size = sizeof e};
    USAGE(spaa_profile_event(NULL, 0, &e));
    USAGE(spaa_profile_event(profile, 0, NULL));
    USAGE(spaa_profile_event(NULL, 0, NULL));
}

static void profile_event_count(void)
{
    NOTHING(spaa_profile_event_count(NULL));
}

static void profile_format(void)
{
    NOTHING(spaa_profile_format(NULL));
}

static void profile_free(void)
{
    spaa_profile_free(NULL);
}

static void profile_function(void)
{
    struct spaa_function f = {.size = sizeof f};
    USAGE(spaa_profile_function(NULL, 0, &f));
    USAGE(spaa_profile_function(profile, 0, NULL));
    USAGE(spaa_profile_function(NULL, 0, NULL));
}

static void profile_function_count(void)
{
    NOTHING(spaa_profile_function_count(NULL));
}

static void profile_open(void)
{
    static const struct spaa_format_option no_value = {"value-metric", NULL}, no_name = {NULL, "samples"};
    struct spaa_open_options o = {.size = sizeof o, .own_count = 1};
    struct spaa_profile *p = NULL;
    USAGE(spaa_profile_open(NULL, NULL, &p, NULL));
    USAGE(spaa_profile_open(in_path, NULL, NULL, NULL));
    USAGE(spaa_profile_open(NULL, NULL, NULL, NULL));
    USAGE(spaa_profile_open(in_path, &o, &p, NULL));
    o.own = &no_value;
    USAGE(spaa_profile_open(in_path, &o, &p, NULL));
    o.own = &no_name;
    USAGE(spaa_profile_open(in_path, &o, &p, NULL));
    assert_null(p);
    FINE(spaa_profile_open(in_path, NULL, &p, NULL));
    spaa_profile_free(p);
}

static void profile_open_memory(void)
{
    struct spaa_profile *p = NULL;
    USAGE(spaa_profile_open_memory(NULL, 5, "x", NULL, &p, NULL));
    USAGE(spaa_profile_open_memory(folded, strlen(folded), "x", NULL, NULL, NULL));
    assert_int_equal(spaa_profile_open_memory(NULL, 0, NULL, NULL, &p, NULL), SPAA_ERR_INPUT);
    assert_null(p);
    FINE(spaa_profile_open_memory(folded, strlen(folded), NULL, NULL, &p, NULL));
    spaa_profile_free(p);
}

static void profile_source_tool(void)
{
    NOTHING(spaa_profile_source_tool(NULL));
}

static void profile_stack(void)
{
    struct spaa_stack s = {.size = sizeof s};
    USAGE(spaa_profile_stack(NULL, 0, &s));
    USAGE(spaa_profile_stack(profile, 0, NULL));
    USAGE(spaa_profile_stack(NULL, 0, NULL));
}

static void profile_stack_count(void)
{
    NOTHING(spaa_profile_stack_count(NULL));
}

static void profile_write(void)
{
    USAGE(spaa_profile_write(NULL, out_path, NULL, NULL));
    USAGE(spaa_profile_write(profile, NULL, NULL, NULL));
    USAGE(spaa_profile_write(NULL, NULL, NULL, NULL));
    FINE(spaa_profile_write(profile, out_path, NULL, NULL));
}

static void stack_frame(void)
{
    struct spaa_frame f = {.size = sizeof f};
    USAGE(spaa_stack_frame(NULL, 0, 0, &f));
    USAGE(spaa_stack_frame(profile, 0, 0, NULL));
    USAGE(spaa_stack_frame(NULL, 0, 0, NULL));
}

static void stack_weight(void)
{
    struct spaa_weight w = {.size = sizeof w};
    USAGE(spaa_stack_weight(NULL, 0, 0, &w));
    USAGE(spaa_stack_weight(profile, 0, 0, NULL));
    USAGE(spaa_stack_weight(NULL, 0, 0, NULL));
}

static void validate(void)
{
    struct spaa_verdict v = {.size = sizeof v};
    USAGE(spaa_validate(NULL, NULL, &v, NULL));
    USAGE(spaa_validate(out_path, NULL, NULL, NULL));
    USAGE(spaa_validate(NULL, NULL, NULL, NULL));
}

static void takes_no_pointer(void) {}

static const struct {
    const char *name;
    void (*with_nulls)(void);
} functions[] = {
    {"spaa_answer_column", answer_column},
    {"spaa_answer_fact", answer_fact},
    {"spaa_answer_fact_count", answer_fact_count},
    {"spaa_answer_find_column", answer_find_column},
    {"spaa_answer_find_fact", answer_find_fact},
    {"spaa_answer_find_table", answer_find_table},
    {"spaa_answer_free", answer_free},
    {"spaa_answer_measure", answer_measure},
    {"spaa_answer_next", answer_next},
    {"spaa_answer_render", answer_render},
    {"spaa_answer_table", answer_table},
    {"spaa_answer_table_count", answer_table_count},
    {"spaa_answer_verdict", answer_verdict},
    {"spaa_answer_write_fd", answer_write_fd},
    {"spaa_ask", ask},
    {"spaa_builder_dso", builder_dso},
    {"spaa_builder_event", builder_event},
    {"spaa_builder_finish", builder_finish},
    {"spaa_builder_frame", builder_frame},
    {"spaa_builder_free", builder_free},
    {"spaa_builder_lost", builder_lost},
    {"spaa_builder_metric", builder_metric},
    {"spaa_builder_new", builder_new},
    {"spaa_builder_sample", builder_sample},
    {"spaa_builder_stack", builder_stack},
    {"spaa_builder_thread", builder_thread},
    {"spaa_command_count", command_count},
    {"spaa_command_get", command_get},
    {"spaa_command_option_get", command_option_get},
    {"spaa_builder_metric_spec", builder_metric_spec},
    {"spaa_builder_process", builder_process},
    {"spaa_builder_window", builder_window},
    {"spaa_profile_window", profile_window},
    {"spaa_profile_window_count", profile_window_count},
    {"spaa_window_stack", window_stack},
    {"spaa_window_weight", window_weight},
    {"spaa_convert", convert},
    {"spaa_diagnostics_add", diagnostics_add},
    {"spaa_diagnostics_count", diagnostics_count},
    {"spaa_diagnostics_error", diagnostics_error},
    {"spaa_diagnostics_free", diagnostics_free},
    {"spaa_diagnostics_get", diagnostics_get},
    {"spaa_diagnostics_text", diagnostics_text},
    {"spaa_diagnostics_total", diagnostics_total},
    {"spaa_diagnostics_unkept", diagnostics_unkept},
    {"spaa_did_you_mean", did_you_mean},
    {"spaa_free", free_memory},
    {"spaa_merge", merge},
    {"spaa_merge_files", merge_files},
    {"spaa_profile_event", profile_event},
    {"spaa_profile_event_count", profile_event_count},
    {"spaa_profile_format", profile_format},
    {"spaa_profile_free", profile_free},
    {"spaa_profile_function", profile_function},
    {"spaa_profile_function_count", profile_function_count},
    {"spaa_profile_open", profile_open},
    {"spaa_profile_open_fd", profile_open_fd},
    {"spaa_profile_open_memory", profile_open_memory},
    {"spaa_profile_sample", profile_sample},
    {"spaa_profile_sample_count", profile_sample_count},
    {"spaa_profile_source_tool", profile_source_tool},
    {"spaa_profile_stack", profile_stack},
    {"spaa_profile_stack_count", profile_stack_count},
    {"spaa_profile_write", profile_write},
    {"spaa_profile_write_fd", profile_write_fd},
    {"spaa_profile_write_memory", profile_write_memory},
    {"spaa_query", query},
    {"spaa_question_count", takes_no_pointer},
    {"spaa_question_get", question_get},
    {"spaa_question_option_get", question_option_get},
    {"spaa_result_column_get", result_column_get},
    {"spaa_result_columns", result_columns},
    {"spaa_result_free", result_free},
    {"spaa_result_more", result_more},
    {"spaa_result_rows", result_rows},
    {"spaa_run_fd", run_fd},
    {"spaa_run_memory", run_memory},
    {"spaa_safe_text", safe_text},
    {"spaa_shell_word", shell_word},
    {"spaa_stack_frame", stack_frame},
    {"spaa_stack_label", stack_label},
    {"spaa_stack_weight", stack_weight},
    {"spaa_status_name", takes_no_pointer},
    {"spaa_validate", validate},
    {"spaa_version", takes_no_pointer},
    {"spaa_version_number", takes_no_pointer},
};

static void every_exported_function_takes_nulls(void **state)
{
    (void)state;
    const char *list = getenv("SPAA_EXPORTS");
    assert_non_null(list); /* `meson test` sets it */
    FILE *f = fopen(list, "r");
    assert_non_null(f);
    char line[200], name[100];
    size_t seen = 0;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, " spaa_%90[a-z_];", name) != 1)
            continue;
        size_t i = 0, n = sizeof functions / sizeof *functions;
        while (i < n && strcmp(functions[i].name + strlen("spaa_"), name) != 0)
            i++;
        if (i == n)
            fail_msg("spaa_%s is exported and has no row here", name);
        functions[i].with_nulls();
        seen++;
    }
    fclose(f);
    assert_int_equal(seen, sizeof functions / sizeof *functions);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    struct spaa_diagnostics *d = NULL;
    struct spaa_verdict v = {.size = sizeof v};
    USAGE(spaa_profile_open(NULL, NULL, NULL, &d));
    USAGE(spaa_profile_open_memory(NULL, 1, NULL, NULL, NULL, &d));
    USAGE(spaa_profile_write(NULL, "x.spaa", NULL, &d));
    USAGE(spaa_convert(NULL, "x.spaa", NULL, NULL, &d));
    USAGE(spaa_ask(NULL, 1, NULL, NULL, &d));
    USAGE(spaa_validate(NULL, NULL, &v, &d));
    assert_int_equal(spaa_diagnostics_count(d), 6);
    assert_int_equal(spaa_diagnostics_total(d, "error"), 6);
    spaa_diagnostics_free(d);
}

static int set_up(void **state)
{
    (void)state;
    int in = mkstemps(in_path, 7), out = mkstemps(out_path, 5);
    if (in < 0 || out < 0 || write(in, folded, strlen(folded)) != (ssize_t)strlen(folded))
        return -1;
    close(in);
    close(out);
    spaa_profile_open("/nonexistent", NULL, &profile, &said);
    struct spaa_ask_options o = {.size = sizeof o, .question = "top"};
    struct spaa_builder_options mine = {.size = sizeof mine, .source_tool = "mine"};
    return spaa_builder_new(&mine, &builder, NULL) || spaa_profile_open(in_path, NULL, &profile, NULL) ||
           spaa_ask(&profile, 1, &o, &answer, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    spaa_answer_free(answer);
    spaa_builder_free(builder);
    spaa_profile_free(profile);
    spaa_diagnostics_free(said);
    unlink(in_path);
    return unlink(out_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_exported_function_takes_nulls),
        cmocka_unit_test(what_is_missing_is_said),
    };
    return cmocka_run_group_tests_name("nulls", tests, set_up, tear_down);
}
