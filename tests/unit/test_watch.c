/* Who watches a call of the public interface hears how far it is, and may leave. */
#include "spaa/spaa.h"

#include "base/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct viewer {
    unsigned long heard, leave_at; /* 0: never */
    char what[64][16], name[64];   /* each what once, in order */
    size_t nwhat;
    const char *unit;
    uint64_t done, whole; /* the most of the last what */
};

static int view(void *arg, const struct spaa_progress *now)
{
    struct viewer *v = arg;
    v->heard++;
    if (!v->nwhat || strcmp(v->what[v->nwhat - 1], now->what) != 0)
        snprintf(v->what[v->nwhat++ % 64], 16, "%s", now->what);
    snprintf(v->name, sizeof v->name, "%s", now->name);
    v->unit = now->unit;
    v->done = now->done;
    v->whole = now->whole;
    return v->heard == v->leave_at;
}

static struct spaa_watch watch_of(struct viewer *v)
{
    return (struct spaa_watch){
        .size = sizeof(struct spaa_watch), .progress = view, .arg = v, .every_ms = SP_WATCH_ALL};
}

static bool told_what(const struct viewer *v, const char *what)
{
    for (size_t i = 0; i < v->nwhat && i < 64; i++)
        if (strcmp(v->what[i], what) == 0)
            return true;
    return false;
}

/* Folded stacks, malloced: main;f0;leaf 1, ... */
static char *folded_text(size_t lines, size_t *n)
{
    char *text = malloc(lines * 40 + 1);
    *n = 0;
    assert_non_null(text);
    for (size_t i = 0; i < lines; i++)
        *n += (size_t)sprintf(text + *n, "main;f%zu;leaf %zu\n", i, i % 7 + 1);
    return text;
}

static struct spaa_profile *opened(void)
{
    struct spaa_profile *p = NULL;
    size_t n;
    char *text = folded_text(3000, &n);
    assert_int_equal(spaa_profile_open_memory(text, n, "m", NULL, &p, NULL), SPAA_OK);
    free(text);
    return p;
}

static void reading_tells_bytes_up_to_the_end(void **state)
{
    (void)state;
    struct viewer v = {0};
    struct spaa_watch w = watch_of(&v);
    struct spaa_open_options o = {.size = sizeof o, .watch = &w};
    struct spaa_profile *p = NULL;
    size_t n;
    char *text = folded_text(20000, &n);
    assert_int_equal(spaa_profile_open_memory(text, n, "some.folded", &o, &p, NULL), SPAA_OK);
    assert_true(v.heard > 3 && told_what(&v, "reading"));
    assert_string_equal(v.unit, "bytes");
    assert_string_equal(v.name, "some.folded");
    assert_true(v.whole == n && v.done > n / 2 && v.done <= n);
    spaa_profile_free(p);
    free(text);
}

static void a_call_that_is_left_says_so(void **state)
{
    (void)state;
    struct viewer v = {.leave_at = 2};
    struct spaa_watch w = watch_of(&v);
    struct spaa_open_options o = {.size = sizeof o, .watch = &w};
    struct spaa_profile *p = NULL;
    struct spaa_diagnostics *said = NULL;
    struct spaa_diagnostic d = {.size = sizeof d};
    size_t n;
    char *text = folded_text(20000, &n);
    assert_int_equal(spaa_profile_open_memory(text, n, "m", &o, &p, &said), SPAA_ERR_CANCELLED);
    assert_null(p);
    assert_int_equal(v.heard, 2);
    assert_int_equal(spaa_diagnostics_count(said), 1);
    assert_int_equal(spaa_diagnostics_get(said, 0, &d), SPAA_OK);
    assert_string_equal(d.code, "SPAA-I329");
    assert_string_equal(d.severity, "info");
    assert_non_null(strstr(d.message, "while reading m"));
    spaa_diagnostics_free(said);
    free(text);
}

static void each_call_has_words_for_what_it_does(void **state)
{
    (void)state;
    struct spaa_profile *p[2] = {opened(), opened()}, *m = NULL;
    struct viewer ask = {0}, merge = {0}, write = {0}, query = {0};
    struct spaa_watch w[] = {watch_of(&ask), watch_of(&merge), watch_of(&write), watch_of(&query)};
    struct spaa_ask_options a = {.size = sizeof a, .question = "top", .watch = &w[0]};
    struct spaa_merge_options mo = {.size = sizeof mo, .watch = &w[1]};
    struct spaa_write_options wo = {.size = sizeof wo, .format = "folded", .watch = &w[2]};
    struct spaa_query_options q = {.size = sizeof q, .sql = "select name from functions", .watch = &w[3]};
    struct spaa_answer *answer = NULL;
    struct spaa_result *result = NULL;
    char *data = NULL;
    size_t n;
    assert_int_equal(spaa_ask(p, 1, &a, &answer, NULL), SPAA_OK);
    assert_int_equal(spaa_merge(p, 2, &mo, &m, NULL), SPAA_OK);
    assert_int_equal(spaa_profile_write_memory(m, &data, &n, &wo, NULL), SPAA_OK);
    assert_int_equal(spaa_query(m, &q, &result, NULL), SPAA_OK);
    assert_true(told_what(&ask, "asking") && strcmp(ask.name, "top") == 0);
    assert_true(told_what(&merge, "merging") && merge.whole == 2);
    assert_true(told_what(&write, "writing") && write.done == n && strcmp(write.unit, "bytes") == 0);
    assert_true(told_what(&query, "asking") && query.done == spaa_result_rows(result));
    spaa_answer_free(answer);
    spaa_result_free(result);
    spaa_free(data);
    spaa_profile_free(m);
    spaa_profile_free(p[0]);
    spaa_profile_free(p[1]);
}

/* Two megabytes are more than many milliseconds of questions, and no more than a few calls. */
static void nobody_is_called_too_often(void **state)
{
    (void)state;
    struct viewer v = {0};
    struct spaa_watch w = watch_of(&v);
    struct spaa_open_options o = {.size = sizeof o, .watch = &w};
    struct spaa_profile *p = NULL;
    size_t n;
    char *text = folded_text(50000, &n);
    w.every_ms = 3600 * 1000;
    assert_int_equal(spaa_profile_open_memory(text, n, "m", &o, &p, NULL), SPAA_OK);
    assert_int_equal(v.heard, 0);
    spaa_profile_free(p);
    free(text);
}

/* Nothing comes from a pipe that nobody writes to: who waits for it may leave all the same, or waits for
 * ever. */
static void waiting_for_a_pipe_can_be_left(void **state)
{
    (void)state;
    int ends[2];
    struct viewer v = {.leave_at = 1};
    struct spaa_watch w = watch_of(&v);
    struct spaa_open_options o = {.size = sizeof o, .watch = &w};
    struct spaa_profile *p = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "main;a 1\n", 9), 9);
    w.every_ms = 10;
    assert_int_equal(spaa_profile_open_fd(ends[0], "pipe", &o, &p, NULL), SPAA_ERR_CANCELLED);
    close(ends[0]);
    close(ends[1]);
}

static void a_file_that_is_left_does_not_appear(void **state)
{
    (void)state;
    char path[] = "/tmp/spaa-watch-XXXXXX.spaa";
    int fd = mkstemps(path, 5);
    struct viewer v = {.leave_at = 2};
    struct spaa_watch w = watch_of(&v);
    struct spaa_write_options o = {.size = sizeof o, .watch = &w};
    struct spaa_profile *p = opened();
    assert_true(fd >= 0 && write(fd, "as before", 9) == 9);
    close(fd);
    assert_int_equal(spaa_profile_write(p, path, &o, NULL), SPAA_ERR_CANCELLED);
    FILE *f = fopen(path, "r");
    char text[20] = "";
    assert_non_null(f);
    assert_int_equal(fread(text, 1, sizeof text - 1, f), 9);
    assert_string_equal(text, "as before");
    fclose(f);
    unlink(path);
    o.watch = NULL; /* the profile can be written afterwards */
    char *data = NULL;
    assert_int_equal(spaa_profile_write_memory(p, &data, NULL, &o, NULL), SPAA_OK);
    spaa_free(data);
    spaa_profile_free(p);
}

static void a_watch_needs_a_size(void **state)
{
    (void)state;
    struct viewer v = {0};
    struct spaa_watch w = watch_of(&v);
    struct spaa_open_options o = {.size = sizeof o, .watch = &w};
    struct spaa_profile *p = NULL;
    w.size = 0;
    assert_int_equal(spaa_profile_open_memory("a 1\n", 4, "m", &o, &p, NULL), SPAA_ERR_USAGE);
    w.size = sizeof w;
    w.progress = NULL; /* nobody */
    assert_int_equal(spaa_profile_open_memory("a;b 1\n", 6, "m", &o, &p, NULL), SPAA_OK);
    spaa_profile_free(p);
}

/* ---- base/watch.h ---- */

static void progress_does_not_go_back(void **state)
{
    (void)state;
    struct viewer v = {0};
    struct spaa_watch asked = watch_of(&v);
    struct sp_watch w;
    struct sp_diags d;
    sp_diags_init(&d);
    sp_watch_begin(&w, &asked, &d);
    assert_int_equal(sp_progress(&d, "reading", "f", "bytes", 50, 100), SPAA_OK);
    assert_int_equal(sp_progress(&d, "reading", "f", "bytes", 20, 100), SPAA_OK);
    assert_int_equal(v.done, 50);
    sp_progress(&d, "reading", "g", "bytes", 20, 100);
    assert_int_equal(v.done, 20);
    sp_progress(&d, "reading", "g", "bytes", 200, 100);
    assert_int_equal(v.done, 100);
    sp_progress_only(&d, "merging");
    sp_progress(&d, "reading", "h", "bytes", 1, 100);
    assert_string_equal(v.name, "g");
    sp_progress(&d, "merging", "", "files", 1, 3);
    assert_int_equal(v.done, 1);
    assert_int_equal(sp_watch_end(&w, &d), SPAA_OK);
    assert_null(d.watch);
    sp_diags_free(&d);
}

static void what_follows_leaving_is_not_said(void **state)
{
    (void)state;
    struct viewer v = {.leave_at = 1};
    struct spaa_watch asked = watch_of(&v);
    struct sp_watch w;
    struct sp_diags d;
    sp_diags_init(&d);
    sp_watch_begin(&w, &asked, &d);
    sp_emit(&d, SP_I322, SP_AT_NOTHING, "before");
    assert_int_equal(sp_cancelled(&d), SPAA_ERR_CANCELLED);
    assert_int_equal(sp_cancelled(&d), SPAA_ERR_CANCELLED);
    assert_int_equal(v.heard, 1);
    assert_int_equal(sp_nomem(&d), SPAA_ERR_CANCELLED);
    sp_emit(&d, SP_E010, SP_AT_NOTHING, "after");
    assert_int_equal(sp_watch_end(&w, &d), SPAA_ERR_CANCELLED);
    assert_int_equal(d.list.n, 2);
    assert_int_equal(d.list.v[0].code, SP_I322);
    assert_int_equal(d.list.v[1].code, SP_I329);
    sp_diags_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_tells_bytes_up_to_the_end),
        cmocka_unit_test(a_call_that_is_left_says_so),
        cmocka_unit_test(each_call_has_words_for_what_it_does),
        cmocka_unit_test(nobody_is_called_too_often),
        cmocka_unit_test(waiting_for_a_pipe_can_be_left),
        cmocka_unit_test(a_file_that_is_left_does_not_appear),
        cmocka_unit_test(a_watch_needs_a_size),
        cmocka_unit_test(progress_does_not_go_back),
        cmocka_unit_test(what_follows_leaving_is_not_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
