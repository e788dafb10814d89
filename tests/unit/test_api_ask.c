/* Questions and their answers through the public interface. */
#include "spaa/spaa.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char folded[] = "main;parse;read 30\n"
                             "main;parse 10\n"
                             "main;render;draw;draw 60\n";

static struct spaa_profile *opened(const char *text, const char *name)
{
    struct spaa_profile *p = NULL;
    assert_int_equal(spaa_profile_open_memory(text, strlen(text), name, NULL, &p, NULL), SPAA_OK);
    return p;
}

static struct spaa_answer *asked(struct spaa_profile *p, const char *question, const char *argument,
                                 const char *name, const char *value)
{
    struct spaa_ask_option option = {name, value};
    struct spaa_ask_options o = {.size = sizeof o,
                                 .question = question,
                                 .argument = argument,
                                 .options = &option,
                                 .option_count = name ? 1 : 0};
    struct spaa_answer *a = NULL;
    assert_int_equal(spaa_ask(&p, 1, &o, &a, NULL), SPAA_OK);
    assert_non_null(a);
    return a;
}

static struct spaa_column column(struct spaa_answer *a, const char *table, const char *name)
{
    struct spaa_column c = {.size = sizeof c};
    size_t t = spaa_answer_find_table(a, table);
    assert_true(t != SPAA_NONE);
    assert_int_equal(spaa_answer_column(a, t, spaa_answer_find_column(a, t, name), &c, NULL), SPAA_OK);
    return c;
}

static void questions_tell_their_options(void **state)
{
    (void)state;
    size_t n = spaa_question_count();
    struct spaa_question q = {.size = sizeof q};
    struct spaa_question_option o = {.size = sizeof o};
    int by = 0, argument = 0;
    assert_true(n >= 2);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(spaa_question_get(i, &q), SPAA_OK);
        assert_true(*q.name && *q.title && strncmp(q.schema, "spaa.", 5) == 0);
        argument |= strcmp(q.name, "function") == 0 && q.takes_argument;
        size_t k = 0;
        for (; spaa_question_option_get(i, k, &o) == SPAA_OK; k++) {
            by |= strcmp(q.name, "top") == 0 && strcmp(o.name, "by") == 0 && o.value;
            assert_true(strcmp(o.name, "json") && strcmp(o.name, "symfs") && strcmp(o.name, "help"));
        }
        assert_int_equal(spaa_question_option_get(i, k, &o), SPAA_ERR_NOT_FOUND);
    }
    assert_true(by && argument);
    assert_int_equal(spaa_question_get(n, &q), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_question_option_get(n, 0, &o), SPAA_ERR_NOT_FOUND);
}

static void columns_are_those_of_the_declaration(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded, "f");
    struct spaa_answer *a = asked(p, "top", NULL, "sort", "total");
    struct spaa_column name = column(a, "rows", "function"), total = column(a, "rows", "total"),
                       self = column(a, "rows", "self"), share = column(a, "rows", "self_percent");
    assert_string_equal(name.type, "name");
    assert_string_equal(total.type, "weight");
    assert_string_equal(share.type, "percent");
    assert_string_equal(share.of, "self");
    assert_true(name.rows == 5 && name.texts && !name.integers && !name.reals);
    assert_string_equal(name.texts[0], "main");
    assert_true(total.integers[0] == 100 && self.integers[0] == 0);
    for (size_t i = 0; i < name.rows; i++)
        if (strcmp(name.texts[i], "draw") == 0)
            assert_true(self.integers[i] == 60 && total.integers[i] == 60 && share.reals[i] == 60);

    struct spaa_measure m = {.size = sizeof m};
    assert_int_equal(spaa_answer_measure(a, total.measure, &m), SPAA_OK);
    assert_true(m.whole == 100 && m.scale == 0 && !m.cannot_add);
    assert_int_equal(spaa_answer_measure(a, 1000, &m), SPAA_ERR_NOT_FOUND);
    struct spaa_column again = column(a, "rows", "total"), none = {.size = sizeof none};
    assert_ptr_equal(again.integers, total.integers);
    assert_int_equal(spaa_answer_column(a, 1000, 0, &none, NULL), SPAA_ERR_NOT_FOUND);
    assert_int_equal(spaa_answer_column(a, 0, SPAA_NONE, &none, NULL), SPAA_ERR_NOT_FOUND);
    assert_true(spaa_answer_find_table(a, "none") == SPAA_NONE);
    assert_true(spaa_answer_find_column(a, 0, "none") == SPAA_NONE);
    spaa_answer_free(a);
    spaa_profile_free(p);
}

/* A weight of the answer's facts. */
static int64_t weight(const struct spaa_answer *a, const char *name)
{
    struct spaa_fact f = {.size = sizeof f};
    assert_int_equal(spaa_answer_fact(a, spaa_answer_find_fact(a, name), &f), SPAA_OK);
    assert_string_equal(f.type, "weight");
    return f.integer;
}

static void top_joins_the_threads_of_a_pool(void **state)
{
    (void)state;
    static const char threads[] =
        "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"t\",\"frame_order\":"
        "\"leaf_to_root\",\"events\":[{\"name\":\"e\",\"kind\":\"software\",\"sampling\":{\"mode\":"
        "\"period\","
        "\"primary_metric\":\"period\"}}],\"stack_id_mode\":\"local\"}\n"
        "{\"type\":\"dso\",\"id\":1,\"name\":\"a\",\"is_kernel\":false}\n"
        "{\"type\":\"frame\",\"id\":1,\"func\":\"f\",\"dso\":1,\"kind\":\"user\"}\n"
        "{\"type\":\"stack\",\"id\":1,\"frames\":[1],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":2,"
        "\"comm\":"
        "\"w1\"},\"weights\":[{\"metric\":\"period\",\"value\":1}]}\n"
        "{\"type\":\"stack\",\"id\":2,\"frames\":[1],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":3,"
        "\"comm\":"
        "\"w2\"},\"weights\":[{\"metric\":\"period\",\"value\":2}]}\n"
        "{\"type\":\"stack\",\"id\":3,\"frames\":[1],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":4,"
        "\"comm\":"
        "\"w3\"},\"weights\":[{\"metric\":\"period\",\"value\":4}]}\n";
    struct spaa_profile *p = opened(threads, "t");
    for (int apart = 0; apart < 2; apart++) {
        const struct spaa_ask_option options[] = {{"by", "thread"}, {"no-pool", NULL}};
        struct spaa_ask_options o = {
            .size = sizeof o, .question = "top", .options = options, .option_count = apart ? 2 : 1};
        struct spaa_answer *a = NULL;
        assert_int_equal(spaa_ask(&p, 1, &o, &a, NULL), SPAA_OK);
        struct spaa_column thread = column(a, "rows", "name"), self = column(a, "rows", "self");
        assert_int_equal(thread.rows, apart ? 3 : 1);
        assert_string_equal(thread.texts[0], apart ? "w3 (tid 4)" : "w* (3)");
        assert_int_equal(self.integers[0], apart ? 4 : 7);
        spaa_answer_free(a);
    }
    spaa_profile_free(p);
}

static void filters_are_told_and_slips_say_why(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded, "f");
    struct spaa_answer *a = asked(p, "top", NULL, "focus", "^parse$");
    struct spaa_fact filters = {.size = sizeof filters};
    assert_int_equal(weight(a, "kept"), 40);
    assert_int_equal(weight(a, "whole"), 100);
    assert_int_equal(spaa_answer_fact(a, spaa_answer_find_fact(a, "profile.filters"), &filters), SPAA_OK);
    assert_non_null(strstr(filters.text, "parse"));
    spaa_answer_free(a);
    a = NULL;

    static const struct {
        struct spaa_ask_option o;
        spaa_status st;
    } slips[] = {
        {{"by", "functoin"}, SPAA_ERR_USAGE},   {{"sort", "x"}, SPAA_ERR_USAGE},
        {{"view", "x"}, SPAA_ERR_USAGE},        {{"event", "cycles"}, SPAA_ERR_USAGE},
        {{"metric", "x"}, SPAA_ERR_USAGE},      {{"focus", "("}, SPAA_ERR_USAGE},
        {{"root-at", "x"}, SPAA_ERR_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        struct spaa_diagnostics *said = NULL;
        struct spaa_ask_options o = {
            .size = sizeof o, .question = "top", .options = &slips[i].o, .option_count = 1};
        assert_int_equal(spaa_ask(&p, 1, &o, &a, &said), slips[i].st);
        assert_null(a);
        assert_true(spaa_diagnostics_count(said) > 0);
        spaa_diagnostics_free(said);
    }
    spaa_profile_free(p);
}

static void facts_have_the_paths_of_json(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded, "f");
    struct spaa_answer *a = asked(p, "top", NULL, NULL, NULL);
    struct spaa_fact f = {.size = sizeof f};
    assert_int_equal(spaa_answer_fact(a, spaa_answer_find_fact(a, "whole"), &f), SPAA_OK);
    assert_string_equal(f.type, "weight");
    assert_true(f.integer == 100 && !f.is_null && f.measure == 0);
    assert_int_equal(spaa_answer_fact(a, spaa_answer_find_fact(a, "profile.event"), &f), SPAA_OK);
    assert_non_null(f.text);
    assert_int_equal(spaa_answer_fact(a, spaa_answer_find_fact(a, "quality.frames"), &f), SPAA_OK);
    assert_true(f.integer > 0 && isnan(f.real));
    assert_true(spaa_answer_find_fact(a, "none") == SPAA_NONE);
    assert_int_equal(spaa_answer_fact(a, spaa_answer_fact_count(a), &f), SPAA_ERR_NOT_FOUND);
    assert_string_equal(spaa_answer_next(a, 0), "spaa tree f --inverted --depth 4");
    assert_null(spaa_answer_next(a, 1000));
    spaa_answer_free(a);
    spaa_profile_free(p);
}

static void limits_and_details_are_told(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded, "f");
    struct spaa_answer *a = asked(p, "top", NULL, "limit", "2");
    struct spaa_table t = {.size = sizeof t};
    assert_int_equal(spaa_answer_table(a, spaa_answer_find_table(a, "rows"), &t), SPAA_OK);
    assert_true(t.rows == 2 && t.omitted == 3 && t.of == SPAA_NONE);
    assert_true(column(a, "rows", "self").rows == 2);
    for (size_t i = 0; i < spaa_answer_table_count(a); i++) /* each column has an array */
        for (size_t k = 0; spaa_answer_table(a, i, &t) == SPAA_OK && k < t.columns; k++) {
            struct spaa_column c = {.size = sizeof c};
            assert_int_equal(spaa_answer_column(a, i, k, &c, NULL), SPAA_OK);
            assert_int_equal((c.integers != NULL) + (c.reals != NULL) + (c.texts != NULL), 1);
            assert_true(c.rows == t.rows && (!c.first || c.first[0] == 0));
        }
    spaa_answer_free(a);

    a = asked(p, "tree", NULL, "min-percent", "0");
    struct spaa_column name = column(a, "nodes", "name"), depth = column(a, "nodes", "depth");
    assert_true(name.rows == 6 || name.rows == 7);
    char *csv = NULL;
    struct spaa_render_options o = {.size = sizeof o, .form = "csv", .budget = 60};
    assert_int_equal(spaa_answer_render(a, &o, &csv, NULL, NULL), SPAA_OK);
    spaa_free(csv);
    assert_true(column(a, "nodes", "total").rows == name.rows && depth.integers[name.rows - 1] > 0);
    spaa_answer_free(a);
    a = asked(p, "function", "draw", NULL, NULL);
    assert_true(spaa_answer_table_count(a) > 1);
    spaa_answer_free(a);
    spaa_profile_free(p);
}

static void answers_render_in_each_form(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded, "f");
    struct spaa_answer *a = asked(p, "top", NULL, NULL, NULL);
    static const char *const forms[] = {"json", "text", "markdown", "csv"};
    static const char *const begin[] = {"{\"schema\":\"spaa.top/", "event ", "event ", "self"};
    for (size_t i = 0; i < 4; i++) {
        struct spaa_render_options o = {.size = sizeof o, .form = forms[i]};
        char *text = NULL;
        size_t n = 0;
        assert_int_equal(spaa_answer_render(a, &o, &text, &n, NULL), SPAA_OK);
        assert_int_equal(n, strlen(text));
        assert_non_null(strstr(text, begin[i]));
        assert_non_null(strstr(text, "draw"));
        spaa_free(text);
    }
    struct spaa_render_options bad = {.size = sizeof bad, .form = "xml"};
    char *text = NULL;
    assert_int_equal(spaa_answer_render(a, &bad, &text, NULL, NULL), SPAA_ERR_USAGE);
    assert_null(text);
    spaa_answer_free(a);
    spaa_profile_free(p);
}

/* What a descriptor is written; ends in a NUL. */
static size_t written(struct spaa_answer *a, const struct spaa_render_options *o, char *text, size_t room)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(spaa_answer_write_fd(a, fileno(f), o, NULL), SPAA_OK);
    rewind(f);
    size_t n = fread(text, 1, room - 1, f);
    text[n] = '\0';
    fclose(f);
    return n;
}

static void descriptors_get_what_memory_gets(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded, "f");
    struct spaa_answer *a = asked(p, "function", "parse", NULL, NULL);
    static const struct spaa_render_options how[] = {
        {.form = NULL},
        {.form = "text", .width = 60, .colour = 1},
        {.form = "csv"},
        {.form = "markdown"},
        {.form = "text", .no_notes = 1, .full_names = 1},
        {.form = "csv", .budget = 600}, /* more than the names of the columns take */
    };
    char text[16384];
    for (size_t again = 0; again < 2; again++) /* a budget leaves the answer as it was */
        for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
            struct spaa_render_options o = how[i];
            char *memory = NULL;
            size_t n = 0;
            o.size = sizeof o;
            assert_int_equal(spaa_answer_render(a, &o, &memory, &n, NULL), SPAA_OK);
            assert_int_equal(written(a, &o, text, sizeof text), n);
            assert_string_equal(text, memory);
            assert_true(o.colour || !strchr(text, 27));
            assert_true(!o.budget || n <= o.budget);
            spaa_free(memory);
        }
    spaa_answer_free(a);
    spaa_profile_free(p);
}

static void terminals_get_colour(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded, "f");
    struct spaa_answer *a = asked(p, "summary", NULL, NULL, NULL);
    struct spaa_render_options o = {.size = sizeof o, .form = "text", .colour = 1};
    char text[8192];
    written(a, &o, text, sizeof text);
    assert_non_null(strstr(text, "\033[1mfolded "));
    spaa_answer_free(a);
    spaa_profile_free(p);
}

static void descriptors_that_take_nothing_say_so(void **state)
{
    (void)state;
    struct spaa_profile *p = opened(folded, "f");
    struct spaa_answer *a = asked(p, "top", NULL, NULL, NULL);
    struct spaa_diagnostics *said = NULL;
    struct spaa_render_options bad = {.size = sizeof bad, .form = "xml"};
    int ends[2], full = open("/dev/full", O_WRONLY);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(spaa_answer_write_fd(a, ends[1], &bad, &said), SPAA_ERR_USAGE);
    assert_int_equal(spaa_answer_write_fd(a, ends[1], NULL, &said), SPAA_ERR_CLOSED);
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(close(ends[1]), 0); /* it stayed open */
    if (full >= 0) {
        size_t before = spaa_diagnostics_count(said);
        assert_int_equal(spaa_answer_write_fd(a, full, NULL, &said), SPAA_ERR_IO);
        assert_true(spaa_diagnostics_count(said) > before);
        close(full);
    }
    spaa_diagnostics_free(said);
    spaa_answer_free(a);
    spaa_profile_free(p);
}

static void a_judging_answer_has_a_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *fail_on;
        int verdict;
    } cases[] = {{NULL, SPAA_ANSWER_FINE},
                 {"whole>50%", SPAA_ANSWER_FINE},
                 {"whole>5%", SPAA_ANSWER_NO},
                 {"whole>20.001%", SPAA_ANSWER_UNSURE}};
    static const char *const runs[] = {"main;a 60001\nmain;b 40000\n", "main;a 60002\nmain;b 40000\n",
                                       "main;a 60003\nmain;b 40000\n", "main;a 80001\nmain;b 40000\n",
                                       "main;a 80002\nmain;b 40000\n", "main;a 80003\nmain;b 40000\n"};
    struct spaa_profile *p[6];
    for (size_t i = 0; i < 6; i++)
        p[i] = opened(runs[i], "run");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct spaa_ask_option fail_on = {"fail-on", cases[i].fail_on};
        struct spaa_ask_options o = {.size = sizeof o,
                                     .question = "diff",
                                     .options = &fail_on,
                                     .option_count = cases[i].fail_on ? 1 : 0,
                                     .split = 3};
        struct spaa_answer *a = NULL;
        assert_int_equal(spaa_ask(p, 6, &o, &a, NULL), SPAA_OK);
        assert_int_equal(spaa_answer_verdict(a), cases[i].verdict);
        for (int quiet = 0; quiet < 2; quiet++) { /* what the data lack is a warning */
            struct spaa_render_options how = {.size = sizeof how, .form = "text", .no_notes = quiet};
            char text[8192];
            written(a, &how, text, sizeof text);
            assert_true((strstr(text, "SPAA-W642") != NULL) ==
                        (cases[i].verdict == SPAA_ANSWER_UNSURE && !quiet));
        }
        spaa_answer_free(a);
    }
    for (size_t i = 0; i < 6; i++)
        spaa_profile_free(p[i]);
}

static void several_profiles_are_asked_as_one(void **state)
{
    (void)state;
    struct spaa_profile *p[] = {opened(folded, "one"), opened("main;draw 100\n", "two")};
    struct spaa_ask_option by = {"by", "source"};
    struct spaa_ask_options o = {.size = sizeof o, .question = "top", .options = &by, .option_count = 1};
    struct spaa_answer *a = NULL;
    for (int again = 0; again < 2; again++) { /* the profiles are as they were */
        assert_int_equal(spaa_ask(p, 2, &o, &a, NULL), SPAA_OK);
        struct spaa_column self = column(a, "rows", "self");
        assert_true(self.rows == 2 && self.integers[0] == 100 && self.integers[1] == 100);
        spaa_answer_free(a);
    }
    assert_int_equal(spaa_profile_stack_count(p[0]), 3);
    spaa_profile_free(p[0]);
    spaa_profile_free(p[1]);
}

static void sides_are_compared_and_not_added_up(void **state)
{
    struct spaa_profile *p[2] = {opened("main;a 60\nmain;b 40\n", "a.folded"),
                                 opened("main;a 10\nmain;c 90\n", "b.folded")};
    struct spaa_ask_options o = {.size = sizeof o, .question = "diff", .split = 1};
    struct spaa_answer *a = NULL;
    (void)state;
    assert_int_equal(spaa_ask(p, 2, &o, &a, NULL), SPAA_OK);
    char *text = NULL;
    assert_int_equal(spaa_answer_render(a, NULL, &text, NULL, NULL), SPAA_OK);
    assert_non_null(strstr(text, "\"change_percent\":0"));
    assert_non_null(strstr(text, "\"base\":100"));
    spaa_free(text);
    spaa_answer_free(a);
    spaa_profile_free(p[0]);
    spaa_profile_free(p[1]);
}

static void *ask_alone(void *weight)
{
    struct spaa_profile *p = NULL;
    struct spaa_ask_options o = {.size = sizeof o, .question = "top"};
    struct spaa_answer *a = NULL;
    struct spaa_fact whole = {.size = sizeof whole};
    if (!spaa_profile_open_memory(folded, strlen(folded), "t", NULL, &p, NULL) &&
        !spaa_ask(&p, 1, &o, &a, NULL) && !spaa_answer_fact(a, spaa_answer_find_fact(a, "whole"), &whole))
        *(int64_t *)weight = whole.integer;
    spaa_answer_free(a);
    spaa_profile_free(p);
    return NULL;
}

static void threads_ask_profiles_of_their_own(void **state)
{
    (void)state;
    pthread_t threads[4];
    int64_t weights[4] = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_alone, &weights[i]), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(weights[i], 100);
    }
}

static void slips_are_told(void **state)
{
    (void)state;
    static const struct {
        struct spaa_ask_options o;
        struct spaa_ask_option option;
        spaa_status st;
    } slips[] = {
        {{.question = "topp"}, {0}, SPAA_ERR_USAGE},
        {{.question = NULL}, {0}, SPAA_ERR_USAGE},
        {{.question = "function"}, {0}, SPAA_ERR_USAGE},
        {{.question = "top", .argument = "x"}, {0}, SPAA_ERR_USAGE},
        {{.question = "top", .split = 1}, {0}, SPAA_ERR_USAGE},
        {{.question = "top"}, {"bye", "x"}, SPAA_ERR_USAGE},
        {{.question = "top"}, {"by", NULL}, SPAA_ERR_USAGE},
        {{.question = "top"}, {NULL, "x"}, SPAA_ERR_USAGE},
        {{.question = "top"}, {"by", "functoin"}, SPAA_ERR_USAGE},
        {{.question = "top"}, {"json", NULL}, SPAA_ERR_USAGE},
        {{.question = "top"}, {"symfs", "/"}, SPAA_ERR_USAGE},
        {{.question = "top"}, {"event", "cycles"}, SPAA_ERR_USAGE},
        {{.question = "top"}, {"focus", "("}, SPAA_ERR_USAGE},
        {{.question = "top"}, {"root-at", "x"}, SPAA_ERR_NOT_FOUND},
        {{.question = "function", .argument = "nothing"}, {0}, SPAA_ERR_NOT_FOUND},
    };
    struct spaa_profile *p = opened(folded, "f");
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        struct spaa_ask_options o = slips[i].o;
        struct spaa_answer *a = NULL;
        struct spaa_diagnostics *said = NULL;
        o.size = sizeof o;
        o.options = &slips[i].option;
        o.option_count = slips[i].option.name || slips[i].option.value ? 1 : 0;
        assert_int_equal(spaa_ask(&p, 1, &o, &a, &said), slips[i].st);
        assert_null(a);
        assert_true(spaa_diagnostics_count(said) > 0);
        spaa_diagnostics_free(said);
    }
    spaa_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_tell_their_options),
        cmocka_unit_test(columns_are_those_of_the_declaration),
        cmocka_unit_test(top_joins_the_threads_of_a_pool),
        cmocka_unit_test(filters_are_told_and_slips_say_why),
        cmocka_unit_test(facts_have_the_paths_of_json),
        cmocka_unit_test(limits_and_details_are_told),
        cmocka_unit_test(answers_render_in_each_form),
        cmocka_unit_test(descriptors_get_what_memory_gets),
        cmocka_unit_test(terminals_get_colour),
        cmocka_unit_test(descriptors_that_take_nothing_say_so),
        cmocka_unit_test(a_judging_answer_has_a_verdict),
        cmocka_unit_test(several_profiles_are_asked_as_one),
        cmocka_unit_test(sides_are_compared_and_not_added_up),
        cmocka_unit_test(threads_ask_profiles_of_their_own),
        cmocka_unit_test(slips_are_told),
    };
    return cmocka_run_group_tests_name("api_ask", tests, NULL, NULL);
}
