/* What threads may do at the same time; `make tsan` runs it under the sanitizer of threads. */
#include "spaa/spaa.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 3 };

/* The sanitizer of threads has a large TLS block, which glibc takes out of the stack that was asked for. */
#if defined(__SANITIZE_THREAD__)
#define SANITIZER_STACK ((size_t)1 << 20)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZER_STACK ((size_t)1 << 20)
#endif
#endif
#ifndef SANITIZER_STACK
#define SANITIZER_STACK ((size_t)0)
#endif

/* Stacks with labels, samples of two CPUs, and a window; as a SPAA file that is not grouped by CPU. */
static char *recorded(size_t *size)
{
    struct spaa_builder_options o = {.size = sizeof o, .source_tool = "spaa", .group_by = "pid,tid,comm"};
    struct spaa_builder *b = NULL;
    struct spaa_profile *p = NULL;
    struct spaa_event_spec e = {.size = sizeof e, .name = "cpu"};
    size_t event, frames[3];
    char *text = NULL;
    assert_int_equal(spaa_builder_new(&o, &b, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_metric(b, "samples", NULL, &e.metric, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_event(b, &e, &event, NULL), SPAA_OK);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"leaf", "work", "main"};
        struct spaa_frame_spec f = {.size = sizeof f, .name = names[i], .srcline = "a.c:1"};
        assert_int_equal(spaa_builder_frame(b, &f, &frames[i], NULL), SPAA_OK);
    }
    const struct spaa_stack_label label = {.key = "request", .text = "GET /"};
    const struct spaa_stack_weight w = {e.metric, 1};
    struct spaa_window_weights in = {.weights = &w, .weight_count = 1};
    for (int i = 0; i < 40; i++) {
        struct spaa_stack_spec s = {.size = sizeof s,
                                    .event = event,
                                    .frames = frames + i % 3,
                                    .frame_count = 3 - (size_t)i % 3,
                                    .pid = 1,
                                    .tid = 1 + i % 2,
                                    .cpu = SPAA_ABSENT,
                                    .comm = "app",
                                    .labels = &label,
                                    .label_count = i % 2 ? 1 : 0,
                                    .weights = &w,
                                    .weight_count = 1};
        struct spaa_sample_spec at = {
            .size = sizeof at, .time_ns = 1000 * i, .pid = 1, .tid = s.tid, .cpu = i / 2 % 2, .weight = 1};
        assert_int_equal(spaa_builder_stack(b, &s, &at.stack, NULL), SPAA_OK);
        assert_int_equal(spaa_builder_sample(b, &at, NULL), SPAA_OK);
        in.stack = at.stack;
    }
    struct spaa_window_spec window = {
        .size = sizeof window, .id = "w", .end_ns = 40000, .stacks = &in, .stack_count = 1};
    assert_int_equal(spaa_builder_window(b, &window, NULL), SPAA_OK);
    assert_int_equal(spaa_builder_finish(b, &p, NULL), SPAA_OK);
    spaa_builder_free(b);
    assert_int_equal(spaa_profile_write_memory(p, &text, size, NULL, NULL), SPAA_OK);
    spaa_profile_free(p);
    return text;
}

static struct spaa_profile *opened(const char *text, size_t size)
{
    struct spaa_open_options o = {.size = sizeof o, .samples = 1};
    struct spaa_profile *p = NULL;
    return spaa_profile_open_memory(text, size, "p", &o, &p, NULL) ? NULL : p;
}

/* Runs `f` in threads, each with the argument; they return how much they have seen: all the same, not 0. */
static void in_threads(void *(*f)(void *arg), void *arg)
{
    pthread_t threads[THREADS];
    void *seen[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, f, arg), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], &seen[i]), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_true(seen[i] && seen[i] == seen[0]);
}

/* ---- any number at a time: the functions that take the profile as const ---- */

static size_t walk_stack(const struct spaa_profile *p, size_t i)
{
    struct spaa_stack s = {.size = sizeof s};
    struct spaa_frame f = {.size = sizeof f};
    struct spaa_weight w = {.size = sizeof w};
    struct spaa_label l = {.size = sizeof l};
    size_t seen = spaa_profile_stack(p, i, &s) == SPAA_OK;
    for (size_t k = 0; spaa_stack_frame(p, i, k, &f) == SPAA_OK; k++)
        seen += strlen(f.name) + strlen(f.dso);
    for (size_t k = 0; spaa_stack_weight(p, i, k, &w) == SPAA_OK; k++)
        seen += (size_t)w.value;
    for (size_t k = 0; spaa_stack_label(p, i, k, &l) == SPAA_OK; k++)
        seen += strlen(l.value);
    return seen;
}

static void *walk(void *arg)
{
    const struct spaa_profile *p = arg;
    struct spaa_event e = {.size = sizeof e};
    struct spaa_function f = {.size = sizeof f};
    struct spaa_window w = {.size = sizeof w};
    struct spaa_window_stack row = {.size = sizeof row};
    struct spaa_weight v = {.size = sizeof v};
    size_t seen = strlen(spaa_profile_format(p)) + strlen(spaa_profile_source_tool(p));
    for (size_t i = 0; spaa_profile_event(p, i, &e) == SPAA_OK; i++)
        seen += strlen(e.name);
    for (size_t i = 0; spaa_profile_function(p, i, &f) == SPAA_OK; i++)
        seen += strlen(f.name);
    for (size_t i = 0; i < spaa_profile_stack_count(p); i++)
        seen += walk_stack(p, i);
    for (size_t i = 0; spaa_profile_window(p, i, &w) == SPAA_OK; i++)
        for (size_t k = 0; spaa_window_stack(p, i, k, &row) == SPAA_OK; k++)
            seen += strlen(w.id) + (spaa_window_weight(p, i, k, 0, &v) == SPAA_OK);
    return (void *)(seen + spaa_profile_sample_count(p));
}

static void threads_walk_one_profile(void **state)
{
    (void)state;
    size_t size;
    char *text = recorded(&size);
    struct spaa_profile *p = opened(text, size);
    assert_non_null(p);
    in_threads(walk, p);
    spaa_profile_free(p);
    spaa_free(text);
}

/* ---- in turn: what needs the profile alone ---- */

struct shared {
    struct spaa_profile *p;
    pthread_mutex_t turn;
};

/* Length of the answer; 0: none. By CPU the file's stacks are told apart anew. */
static size_t ask(struct spaa_profile *p, const char *by)
{
    struct spaa_ask_option option = {"by", by};
    struct spaa_ask_options o = {.size = sizeof o, .question = "top", .options = &option, .option_count = 1};
    struct spaa_answer *a = NULL;
    char *text = NULL;
    size_t n = 0;
    if (spaa_ask(&p, 1, &o, &a, NULL) == SPAA_OK)
        spaa_answer_render(a, NULL, &text, &n, NULL);
    spaa_free(text);
    spaa_answer_free(a);
    return n;
}

static size_t query(struct spaa_profile *p)
{
    struct spaa_query_options o = {.size = sizeof o, .sql = "select * from samples"};
    struct spaa_result *r = NULL;
    size_t n = spaa_query(p, &o, &r, NULL) == SPAA_OK ? spaa_result_rows(r) : 0;
    spaa_result_free(r);
    return n;
}

static void *take_turns(void *arg)
{
    struct shared *x = arg;
    struct spaa_sample s = {.size = sizeof s};
    size_t seen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&x->turn);
        size_t cpus = ask(x->p, "cpu"), functions = ask(x->p, "function"), rows = query(x->p);
        bool sample = spaa_profile_sample(x->p, 0, &s) == SPAA_OK;
        pthread_mutex_unlock(&x->turn);
        seen += cpus && functions && rows == 40 && sample ? cpus + functions : 0;
    }
    return (void *)seen;
}

static void threads_ask_one_profile_in_turn(void **state)
{
    (void)state;
    size_t size;
    char *text = recorded(&size);
    struct shared x = {.p = opened(text, size), .turn = PTHREAD_MUTEX_INITIALIZER};
    assert_non_null(x.p);
    in_threads(take_turns, &x);
    in_threads(walk, x.p);
    struct spaa_diagnostics *said = NULL;
    char *no = NULL; /* told apart by CPU: it is no more what was read */
    assert_int_equal(spaa_profile_write_memory(x.p, &no, NULL, NULL, &said), SPAA_ERR_UNSUPPORTED);
    spaa_diagnostics_free(said);
    spaa_profile_free(x.p);
    pthread_mutex_destroy(&x.turn);
    spaa_free(text);
}

/* ---- at a time: profiles of one's own ---- */

static void *live_alone(void *arg)
{
    const char *text = arg;
    struct spaa_profile *p[2] = {opened(text, strlen(text)), opened(text, strlen(text))}, *both = NULL;
    char *written = NULL;
    size_t n = 0, seen = 0;
    if (p[0] && p[1] && spaa_merge(p, 2, NULL, &both, NULL) == SPAA_OK &&
        spaa_profile_write_memory(both, &written, &n, NULL, NULL) == SPAA_OK)
        seen = n + ask(p[0], "cpu") + ask(both, "function") + query(p[1]);
    spaa_free(written);
    spaa_profile_free(both);
    spaa_profile_free(p[0]);
    spaa_profile_free(p[1]);
    return (void *)seen;
}

static void threads_have_profiles_of_their_own(void **state)
{
    (void)state;
    size_t size;
    char *text = recorded(&size);
    in_threads(live_alone, text);
    spaa_free(text);
}

struct small {
    const char *text;
    size_t size;
    spaa_status st;
    bool told;
};

static void *open_in_thread(void *arg)
{
    struct small *x = arg;
    struct spaa_profile *p = NULL;
    struct spaa_diagnostics *d = NULL;
    x->st = spaa_profile_open_memory(x->text, x->size, "p", NULL, &p, &d);
    struct spaa_diagnostic said = {.size = sizeof said};
    x->told = spaa_diagnostics_count(d) == 1 && spaa_diagnostics_get(d, 0, &said) == SPAA_OK &&
              strstr(said.message, "stack left");
    spaa_profile_free(p);
    spaa_diagnostics_free(d);
    return NULL;
}

static void a_thread_with_little_stack_is_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {16 << 10, 32 << 10, 128 << 10, (320 << 10) + SANITIZER_STACK};
    size_t size;
    char *text = recorded(&size);
    for (unsigned i = 0; i < 4; i++) {
        struct small x = {text, size, SPAA_ERR_BUG, false};
        pthread_attr_t how;
        pthread_t t;
        assert_int_equal(pthread_attr_init(&how), 0);
        assert_int_equal(pthread_attr_setstacksize(&how, sizes[i]), 0);
        assert_int_equal(pthread_create(&t, &how, open_in_thread, &x), 0);
        pthread_join(t, NULL);
        pthread_attr_destroy(&how);
        assert_int_equal(x.st, i < 3 ? SPAA_ERR_LIMIT : SPAA_OK);
        assert_int_equal(x.told, i < 3);
    }
    spaa_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_walk_one_profile),
        cmocka_unit_test(threads_ask_one_profile_in_turn),
        cmocka_unit_test(threads_have_profiles_of_their_own),
        cmocka_unit_test(a_thread_with_little_stack_is_refused),
    };
    return cmocka_run_group_tests_name("api_threads", tests, NULL, NULL);
}
