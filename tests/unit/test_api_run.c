/* Whole commands through the public interface. */
#include "spaa/spaa.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char stacks[] = "main;parse;read 30\n"
                             "main;parse 10\n"
                             "main;render;draw;draw 60\n";
static const char later[] = "main;parse;read 90\n"
                            "main;render;draw;draw 60\n";
/* Two processes of one stack, told apart by samples only; and a label that only samples have. */
static const char labelled[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"mine\",\"frame_order\":"
    "\"leaf_to_root\",\"events\":[{\"name\":\"e\",\"kind\":\"software\",\"sampling\":{\"mode\":\"period\","
    "\"primary_metric\":\"period\"}}],\"stack_id_mode\":\"local\",\"x_spaa\":{\"group_by\":[]}}\n"
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":1,\"func\":\"f\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":\"s1\",\"frames\":[1],\"context\":{\"event\":\"e\",\"x_labels\":{\"k\":\"v\"}"
    "},"
    "\"weights\":[{\"metric\":\"samples\",\"value\":2},{\"metric\":\"period\",\"value\":3}]}\n"
    "{\"type\":\"stack\",\"id\":\"s2\",\"frames\":[1],\"context\":{\"event\":\"e\",\"x_labels\":{\"k\":\"w\"}"
    "},"
    "\"weights\":[{\"metric\":\"samples\",\"value\":1},{\"metric\":\"period\",\"value\":5}]}\n";

static char stacks_path[] = "/tmp/spaa-run-XXXXXX.folded", later_path[] = "/tmp/spaa-run-XXXXXX.folded";

static struct spaa_profile *opened(const char *text, const char *name)
{
    struct spaa_profile *p = NULL;
    assert_int_equal(spaa_profile_open_memory(text, strlen(text), name, NULL, &p, NULL), SPAA_OK);
    return p;
}

/* Runs it into memory, which is the caller's. */
static char *ran(const struct spaa_run_options *o, int code)
{
    struct spaa_run_result r = {.size = sizeof r};
    char *text = NULL;
    size_t n = 0;
    assert_int_equal(spaa_run_memory(o, &text, &n, &r, NULL), SPAA_OK);
    assert_int_equal(r.exit_code, code);
    assert_true(strlen(text) == n || memchr(text, 0, n));
    return text;
}

static void has(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in: %s", words, text);
}

/* ---- what there is ---- */

static void commands_and_their_options_are_listed(void **state)
{
    (void)state;
    struct spaa_command c = {.size = sizeof c};
    struct spaa_command_option o = {.size = sizeof o};
    bool top = false, convert = false, upload = false;
    for (size_t i = 0; i < spaa_command_count(); i++) {
        assert_int_equal(spaa_command_get(i, &c), SPAA_OK);
        top = top || (strcmp(c.name, "top") == 0 && c.is_question && !c.writes && !c.two_sides && c.schema);
        convert = convert || (strcmp(c.name, "convert") == 0 && !c.is_question && c.writes);
        upload = upload || (strcmp(c.name, "upload") == 0 && c.of_program);
        assert_int_equal(spaa_command_option_get(i, 0, &o), SPAA_OK);
        assert_true(*o.name && *o.help && *o.group);
        assert_int_equal(spaa_command_option_get(i, 10000, &o), SPAA_ERR_NOT_FOUND);
    }
    assert_true(top && convert && upload);
    assert_int_equal(spaa_command_get(spaa_command_count(), &c), SPAA_ERR_NOT_FOUND);
    c.size = 0;
    assert_int_equal(spaa_command_get(0, &c), SPAA_ERR_USAGE);
}

/* Option `name` of command `command`. */
static struct spaa_command_option option_of(const char *command, const char *name)
{
    struct spaa_command c = {.size = sizeof c};
    struct spaa_command_option o = {.size = sizeof o};
    for (size_t i = 0; spaa_command_get(i, &c) == SPAA_OK; i++)
        for (size_t k = 0; strcmp(c.name, command) == 0 && spaa_command_option_get(i, k, &o) == SPAA_OK; k++)
            if (strcmp(o.name, name) == 0)
                return o;
    fail_msg("%s has no option %s", command, name);
    return o;
}

static void options_say_what_they_are_like(void **state)
{
    (void)state;
    assert_true(option_of("top", "label").repeats && option_of("query", "param").repeats);
    assert_true(!option_of("top", "by").repeats && !option_of("convert", "start").repeats);
    assert_true(option_of("top", "by").common && option_of("diff", "new-where").common);
    assert_true(!option_of("top", "jobs").common && !option_of("convert", "start").common);
}

static void near_names_are_found(void **state)
{
    (void)state;
    const char *const names[] = {"top", "tree"};
    char text[64];
    assert_true(spaa_did_you_mean("tpo", names, 2, text, sizeof text) > 0);
    has(text, "top");
    assert_int_equal(spaa_did_you_mean("zzzzzzzzz", names, 2, text, sizeof text), 0);
    assert_string_equal(text, "");
}

/* ---- files ---- */

static void a_question_of_a_file_answers_into_memory(void **state)
{
    (void)state;
    const char *files[] = {stacks_path};
    struct spaa_run_options o = {
        .size = sizeof o, .command = "top", .files = files, .file_count = 1, .form = "json"};
    char *json = ran(&o, 0);
    has(json, "\"schema\":\"spaa.top/");
    has(json, "\"function\":\"draw\"");
    spaa_free(json);
    const struct spaa_ask_option csv[] = {{"format", "csv"}, {"limit", "1"}};
    o.options = csv;
    o.option_count = 2;
    char *text = ran(&o, 0);
    assert_null(strstr(text, "read")); /* one row, and the option goes before the form */
    has(text, "draw");
    spaa_free(text);
}

static void a_file_is_converted_into_memory_and_to_a_descriptor(void **state)
{
    (void)state;
    const char *files[] = {stacks_path};
    const struct spaa_ask_option to[] = {{"to", "folded"}, {"output", "-"}};
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = "convert",
                                 .files = files,
                                 .file_count = 1,
                                 .options = to,
                                 .option_count = 2};
    char *text = ran(&o, 0), back[256] = "";
    has(text, "main;parse;read 30\n");
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    struct spaa_run_result r = {.size = sizeof r};
    assert_int_equal(spaa_run_fd(&o, fds[1], &r, NULL), SPAA_OK);
    assert_int_equal(close(fds[1]), 0); /* it is the caller's still */
    assert_true(read(fds[0], back, sizeof back - 1) > 0);
    assert_string_equal(back, text);
    close(fds[0]);
    spaa_free(text);
}

struct told {
    char path[256];
    int made, gone, answering;
};

static void tell(void *arg, const char *path)
{
    struct told *t = arg;
    if (path) {
        assert_int_equal(access(path, F_OK), 0);
        snprintf(t->path, sizeof t->path, "%s", path);
        t->made++;
    } else {
        assert_int_not_equal(access(t->path, F_OK), 0);
        t->gone++;
    }
}

static void tell_answering(void *arg)
{
    ((struct told *)arg)->answering++;
}

static void half_written_files_and_answers_are_told(void **state)
{
    (void)state;
    char out[] = "/tmp/spaa-run-XXXXXX.spaa";
    int fd = mkstemps(out, 5);
    assert_true(fd >= 0);
    close(fd);
    const char *files[] = {stacks_path};
    const struct spaa_ask_option to = {"output", out};
    struct told t = {.made = 0};
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = "convert",
                                 .files = files,
                                 .file_count = 1,
                                 .options = &to,
                                 .option_count = 1,
                                 .temporary = tell,
                                 .temporary_arg = &t,
                                 .answering = tell_answering,
                                 .answering_arg = &t};
    spaa_free(ran(&o, 0));
    assert_int_equal(t.made, 1);
    assert_int_equal(t.gone, 1);
    assert_int_equal(t.answering, 0);
    o.command = "info";
    o.option_count = 0;
    spaa_free(ran(&o, 0));
    assert_int_equal(t.answering, 1);
    unlink(out);
}

static void codes_say_how_it_went(void **state)
{
    (void)state;
    const char *files[] = {stacks_path, later_path};
    const struct spaa_ask_option gate = {"fail-on", "total>1%"};
    struct spaa_run_options o = {.size = sizeof o, .command = "diff", .files = files, .file_count = 2};
    spaa_free(ran(&o, 0));
    o.options = &gate;
    o.option_count = 1;
    struct spaa_run_result r = {.size = sizeof r};
    char *text = NULL;
    assert_int_equal(spaa_run_memory(&o, &text, NULL, &r, NULL), SPAA_OK);
    assert_true(r.exit_code == 1 || r.exit_code == 5);
    spaa_free(text);
}

static void slips_are_said(void **state)
{
    (void)state;
    const char *none[] = {"/nonexistent"}, *files[] = {stacks_path};
    const struct spaa_ask_option unknown = {"lmit", "1"}, empty = {"limit", NULL}, bad = {"by", "nothing"},
                                 flag = {"json", "no"};
    const struct {
        const char *command;
        const char *const *files;
        const struct spaa_ask_option *option;
        spaa_status st;
        int code;
        const char *says;
    } slips[] = {{"tpo", files, NULL, SPAA_ERR_USAGE, 2, "top"},
                 {"top", files, &unknown, SPAA_ERR_USAGE, 2, "--lmit"},
                 {"top", files, &empty, SPAA_ERR_USAGE, 2, "needs a value"},
                 {"top", files, &bad, SPAA_ERR_USAGE, 2, "nothing"},
                 {"top", files, &flag, SPAA_ERR_USAGE, 2, "takes no value"},
                 {"top", none, NULL, SPAA_ERR_IO, 3, "/nonexistent"},
                 {"convert", files, NULL, SPAA_ERR_USAGE, 2, "output"},
                 {"upload", files, NULL, SPAA_ERR_UNSUPPORTED, 2, "program"}};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        struct spaa_diagnostics *said = NULL;
        struct spaa_run_result r = {.size = sizeof r};
        char *text = NULL, *line = NULL, *json = NULL;
        struct spaa_run_options o = {.size = sizeof o,
                                     .command = slips[i].command,
                                     .files = slips[i].files,
                                     .file_count = 1,
                                     .options = slips[i].option,
                                     .option_count = slips[i].option != NULL};
        assert_int_equal(spaa_run_memory(&o, &text, NULL, &r, &said), slips[i].st);
        assert_int_equal(r.exit_code, slips[i].code);
        assert_null(text);
        assert_int_equal(spaa_diagnostics_text(said, 0, 0, &line), SPAA_OK);
        has(line, slips[i].says);
        assert_int_equal(strncmp(line, "error: ", 7), 0);
        assert_int_equal(spaa_diagnostics_error(said, &json), SPAA_OK);
        has(json, "\"schema\":\"spaa.error/1\"");
        spaa_free(line);
        spaa_free(json);
        spaa_diagnostics_free(said);
    }
}

static void messages_of_ones_own(void **state)
{
    (void)state;
    struct spaa_diagnostics *said = NULL;
    char *line = NULL;
    struct spaa_unkept u = {.size = sizeof u};
    for (int i = 0; i < 12; i++)
        assert_int_equal(spaa_diagnostics_add(&said, "SPAA-E037", "try that", "a\033[31mb"), SPAA_OK);
    assert_int_equal(spaa_diagnostics_count(said), 10);
    assert_int_equal(spaa_diagnostics_unkept(said, 0, &u), SPAA_OK);
    assert_string_equal(u.code, "SPAA-E037");
    assert_int_equal(u.count, 2);
    assert_int_equal(spaa_diagnostics_unkept(said, 1, &u), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_diagnostics_text(said, 0, 0, &line), SPAA_OK);
    assert_null(strchr(line, '\033'));
    has(line, "\n  try that\n");
    spaa_free(line);
    assert_int_equal(spaa_diagnostics_text(said, 10, 0, &line), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_safe_text("a\033b", 0, &line), SPAA_OK);
    assert_null(strchr(line, '\033'));
    spaa_free(line);
    assert_int_equal(spaa_safe_text("a long name of a file", 8, &line), SPAA_OK);
    assert_true(strlen(line) < 12);
    spaa_free(line);
    assert_int_equal(spaa_shell_word("plain.json", &line), SPAA_OK);
    assert_string_equal(line, "plain.json");
    spaa_free(line);
    assert_int_equal(spaa_shell_word("it's here", &line), SPAA_OK);
    assert_string_equal(line, "'it'\\''s here'");
    spaa_free(line);
    assert_int_equal(spaa_diagnostics_add(&said, "SPAA-X000", NULL, "no code"), SPAA_ERR_USAGE);
    spaa_diagnostics_free(said);
}

/* ---- leaving ---- */

struct heard {
    size_t calls, leave_at; /* 0: never */
};

static int hear(void *arg, const struct spaa_progress *now)
{
    struct heard *h = arg;
    assert_true(!now->whole || now->done <= now->whole);
    return ++h->calls == h->leave_at;
}

static void every_command_can_be_left(void **state)
{
    (void)state;
    static const struct spaa_ask_option folded = {"to", "folded"}, svg = {"output", "-"};
    const char *files[] = {stacks_path, later_path}, *query[] = {stacks_path, "SELECT * FROM functions"};
    const struct {
        const char *command, *const *files;
        size_t nfiles;
        const struct spaa_ask_option *option;
    } left[] = {{"top", files, 2, NULL},      {"diff", files, 2, NULL},       {"convert", files, 1, &folded},
                {"merge", files, 2, &folded}, {"flamegraph", files, 1, &svg}, {"query", query, 2, NULL}};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        for (size_t at = 1;; at++) {
            struct heard h = {.leave_at = at};
            struct spaa_watch w = {.size = sizeof w, .progress = hear, .arg = &h, .every_ms = UINT_MAX};
            struct spaa_run_result r = {.size = sizeof r};
            struct spaa_diagnostics *said = NULL;
            struct spaa_run_options o = {.size = sizeof o,
                                         .command = left[i].command,
                                         .files = left[i].files,
                                         .file_count = left[i].nfiles,
                                         .options = left[i].option,
                                         .option_count = left[i].option != NULL,
                                         .watch = &w};
            char *text = NULL;
            spaa_status st = spaa_run_memory(&o, &text, NULL, &r, &said);
            bool done = h.calls < at;
            assert_int_equal(st, done ? SPAA_OK : SPAA_ERR_CANCELLED);
            assert_int_equal(r.exit_code, done ? 0 : 3);
            assert_true(done == (text != NULL) && (done || spaa_diagnostics_count(said)));
            spaa_free(text);
            spaa_diagnostics_free(said);
            if (done)
                break;
        }
}

/* ---- profiles ---- */

static char *of_profiles(const char *command, struct spaa_profile *const *p, size_t n, const char *word,
                         const struct spaa_ask_option *option, const char *form)
{
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = command,
                                 .profiles = p,
                                 .profile_count = n,
                                 .files = &word,
                                 .file_count = word != NULL,
                                 .options = option,
                                 .option_count = option != NULL,
                                 .form = form};
    return ran(&o, 0);
}

/* JSON of spaa_ask, of the same question. */
static char *asked(struct spaa_profile *const *p, size_t n, const char *question, const char *word,
                   const struct spaa_ask_option *option, const char *form)
{
    struct spaa_ask_options o = {.size = sizeof o,
                                 .form = form,
                                 .question = question,
                                 .argument = word,
                                 .options = option,
                                 .option_count = option != NULL};
    struct spaa_render_options how = {.size = sizeof how, .form = form, .width = 120};
    struct spaa_answer *a = NULL;
    char *text = NULL;
    assert_int_equal(spaa_ask(p, n, &o, &a, NULL), SPAA_OK);
    assert_int_equal(spaa_answer_render(a, &how, &text, NULL, NULL), SPAA_OK);
    spaa_answer_free(a);
    return text;
}

static void commands_and_asking_say_the_same(void **state)
{
    (void)state;
    const struct spaa_ask_option label = {"by", "label:k"}, filter = {"label", "k=w"}, tag = {"tagroot", "k"},
                                 depth = {"depth", "1"};
    const struct {
        const char *question, *word;
        const struct spaa_ask_option *option;
        bool labels;
    } same[] = {{"top", NULL, NULL, false},    {"tree", NULL, NULL, false},    {"function", "f", NULL, true},
                {"stacks", NULL, NULL, false}, {"summary", NULL, NULL, false}, {"info", NULL, NULL, false},
                {"top", NULL, &label, true},   {"top", NULL, &filter, true},   {"tree", NULL, &tag, true},
                {"tree", NULL, &depth, false}};
    static const char *const forms[] = {"text", "json", "markdown"};
    struct spaa_profile *p[2] = {opened(stacks, "a.folded"), opened(labelled, "b.spaa")};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        for (int form = 0; form < 3; form++) {
            struct spaa_profile *const *of = &p[same[i].labels];
            char *run = of_profiles(same[i].question, of, 1, same[i].word, same[i].option,
                                    form ? forms[form] : "table");
            char *ask =
                asked(of, 1, same[i].question, same[i].word, same[i].option, form ? forms[form] : "text");
            assert_string_equal(run, ask);
            spaa_free(run);
            spaa_free(ask);
        }
    spaa_profile_free(p[0]);
    spaa_profile_free(p[1]);
}

static void labels_as_frames_leave_the_profile_as_it_is(void **state)
{
    (void)state;
    const struct spaa_ask_option tag = {"tagroot", "k"};
    struct spaa_profile *p = opened(labelled, "b.spaa");
    char *before = of_profiles("tree", &p, 1, NULL, NULL, "json");
    char *tagged = of_profiles("tree", &p, 1, NULL, &tag, "json");
    char *after = of_profiles("tree", &p, 1, NULL, NULL, "json");
    has(tagged, "k:v");
    assert_string_equal(before, after);
    spaa_free(before);
    spaa_free(tagged);
    spaa_free(after);
    spaa_profile_free(p);
}

/* What a command names as next is to find the same functions. */
static void next_commands_read_as_the_profile_was_read(void **state)
{
    (void)state;
    struct spaa_open_options how = {.size = sizeof how, .symfs = "/a b", .no_inline = 1};
    struct spaa_profile *p = NULL;
    assert_int_equal(spaa_profile_open_memory(stacks, strlen(stacks), "a.folded", &how, &p, NULL), SPAA_OK);
    char *run = of_profiles("summary", &p, 1, NULL, NULL, NULL);
    char *ask = asked(&p, 1, "summary", NULL, NULL, "text");
    has(run, "--symfs '/a b' --no-inline");
    assert_string_equal(run, ask);
    spaa_free(run);
    spaa_free(ask);
    spaa_profile_free(p);
}

static void a_file_beside_profiles_is_no_input(void **state)
{
    (void)state;
    static const char *const commands[] = {"diff", "top", "flamegraph"};
    const char *file = "/nonexistent";
    struct spaa_profile *p = opened(stacks, "a.folded");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct spaa_run_options o = {.size = sizeof o,
                                     .command = commands[i],
                                     .profiles = &p,
                                     .profile_count = 1,
                                     .files = &file,
                                     .file_count = 1};
        char *text = NULL;
        assert_int_equal(spaa_run_memory(&o, &text, NULL, NULL, NULL), SPAA_ERR_USAGE);
        assert_null(text);
    }
    spaa_profile_free(p);
}

static void profiles_are_drawn_queried_and_compared(void **state)
{
    (void)state;
    struct spaa_profile *p[2] = {opened(stacks, "a.folded"), opened(later, "b.folded")};
    const struct spaa_ask_option out = {"output", "-"};
    char *svg = of_profiles("flamegraph", p, 1, NULL, &out, NULL);
    has(svg, "<svg");
    has(svg, "a.folded");
    char *rows = of_profiles("query", p, 1, "SELECT name FROM functions WHERE name = 'draw'", NULL, "csv");
    assert_string_equal(rows, "name\ndraw\n");
    char *both = of_profiles("top", p, 2, NULL, NULL, "json");
    has(both, "\"whole\":250"); /* of 100 and 150 */
    char *diff = of_profiles("diff", p, 2, NULL, NULL, "json");
    has(diff, "spaa.diff/");
    spaa_free(svg);
    struct spaa_run_options two = {.size = sizeof two,
                                   .command = "flamegraph",
                                   .profiles = p,
                                   .profile_count = 2,
                                   .has_split = 1,
                                   .split = 1,
                                   .options = &out,
                                   .option_count = 1};
    svg = ran(&two, 0);
    has(svg, "against a.folded");
    has(svg, "b.folded \302\267 event");
    spaa_free(svg);
    spaa_free(rows);
    spaa_free(both);
    spaa_free(diff);
    struct spaa_run_options o = {.size = sizeof o, .command = "convert", .profiles = p, .profile_count = 1};
    char *none = NULL;
    assert_int_equal(spaa_run_memory(&o, &none, NULL, NULL, NULL), SPAA_ERR_USAGE);
    spaa_profile_free(p[0]);
    spaa_profile_free(p[1]);
}

/* What was said when a profile was opened is told by answers about it, where it is given. */
static void answers_tell_what_opening_said(void **state)
{
    (void)state;
    static const char damaged[] = "main;draw 3\nno stack at all\n";
    struct spaa_profile *p = NULL;
    struct spaa_diagnostics *opening = NULL, *said = NULL;
    const struct spaa_open_options how = {.size = sizeof how, .format = "folded"};
    assert_int_equal(spaa_profile_open_memory(damaged, sizeof damaged - 1, "d.folded", &how, &p, &opening),
                     SPAA_OK);
    assert_true(spaa_diagnostics_total(opening, "data-loss") > 0);
    const struct spaa_diagnostics *of[] = {opening};
    for (int given = 0; given < 2; given++) {
        struct spaa_run_options o = {.size = sizeof o,
                                     .command = "top",
                                     .profiles = &p,
                                     .profile_count = 1,
                                     .form = "json",
                                     .said = given ? of : NULL};
        char *text = NULL;
        assert_int_equal(spaa_run_memory(&o, &text, NULL, NULL, &said), SPAA_OK);
        assert_int_equal(strstr(text, "data-loss") != NULL, given);
        assert_int_equal(spaa_diagnostics_total(said, "data-loss") > 0, given);
        spaa_free(text);
    }
    spaa_diagnostics_free(said);
    spaa_diagnostics_free(opening);
    spaa_profile_free(p);
}

static int set_up(void **state)
{
    (void)state;
    int a = mkstemps(stacks_path, 7), b = mkstemps(later_path, 7);
    if (a < 0 || b < 0 || write(a, stacks, strlen(stacks)) != (ssize_t)strlen(stacks) ||
        write(b, later, strlen(later)) != (ssize_t)strlen(later))
        return -1;
    close(a);
    close(b);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(stacks_path);
    return unlink(later_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_and_their_options_are_listed),
        cmocka_unit_test(options_say_what_they_are_like),
        cmocka_unit_test(answers_tell_what_opening_said),
        cmocka_unit_test(near_names_are_found),
        cmocka_unit_test(a_question_of_a_file_answers_into_memory),
        cmocka_unit_test(a_file_is_converted_into_memory_and_to_a_descriptor),
        cmocka_unit_test(half_written_files_and_answers_are_told),
        cmocka_unit_test(codes_say_how_it_went),
        cmocka_unit_test(slips_are_said),
        cmocka_unit_test(messages_of_ones_own),
        cmocka_unit_test(every_command_can_be_left),
        cmocka_unit_test(commands_and_asking_say_the_same),
        cmocka_unit_test(labels_as_frames_leave_the_profile_as_it_is),
        cmocka_unit_test(next_commands_read_as_the_profile_was_read),
        cmocka_unit_test(a_file_beside_profiles_is_no_input),
        cmocka_unit_test(profiles_are_drawn_queried_and_compared),
    };
    return cmocka_run_group_tests_name("api_run", tests, set_up, tear_down);
}
