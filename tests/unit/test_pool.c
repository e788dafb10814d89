/* Thread pools: which threads are one, what they are called, and which are not. */
#include "analysis/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct sp_diags d;
    struct sp_profile *p;
    struct sp_pools x;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    sp_diags_init(&f->d);
    *state = f;
    return sp_profile_new(&f->d, &f->p) ? -1 : 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sp_pools_free(&f->x);
    sp_profile_free(f->p);
    sp_diags_free(&f->d);
    free(f);
    return 0;
}

/* A context, and the thread record that profiles with tids have. */
static uint32_t thread(struct fixture *f, int64_t pid, int64_t tid, const char *comm)
{
    struct sp_context c = {.pid = pid, .tid = tid, .cpu = SP_ABSENT, .comm = sp_profile_cstr(f->p, comm)};
    if (tid != SP_ABSENT)
        sp_thread_intern(f->p, pid == SP_ABSENT ? tid : pid, tid, c.comm);
    return sp_context_intern(f->p, &c);
}

/* Names with each number in place of the %; tids count up, where there are some. */
static void many(struct fixture *f, int64_t pid, int64_t tid, const char *format, const char *const numbers[])
{
    char name[64];
    for (int i = 0; numbers[i]; i++) {
        const char *at = strchr(format, '%');
        snprintf(name, sizeof name, "%.*s%s%s", at ? (int)(at - format) : (int)strlen(format), format,
                 at ? numbers[i] : "", at ? at + 1 : "");
        thread(f, pid, tid == SP_ABSENT ? tid : tid + i, name);
    }
}

static void find(struct fixture *f, bool apart)
{
    sp_pools_free(&f->x);
    assert_int_equal((apart ? sp_pools_none(f->p, &f->d, &f->x) : sp_pools_of(f->p, NULL, &f->d, &f->x)),
                     SPAA_OK);
}

static const char *by_thread(const struct fixture *f, uint32_t context)
{
    const struct sp_pool *x = sp_pool_of_thread(&f->x, context);
    return x ? sp_str_cstr(&f->x.names, x->name) : "-";
}

static const char *by_comm(const struct fixture *f, uint32_t context)
{
    return sp_str_cstr(&f->x.names, f->x.comm[context]);
}

static const char *const three[] = {"1", "2", "10", NULL};

static void test_digits_only(void **state)
{
    struct fixture *f = *state;
    uint32_t main = thread(f, 1, 1, "server"), other = thread(f, 1, 2, "logger-7");
    many(f, 1, 10, "http-%", three);
    find(f, false);
    assert_string_equal(by_thread(f, main), "-");
    assert_string_equal(by_thread(f, other), "-");
    assert_string_equal(by_comm(f, other), "logger-7");
    for (uint32_t i = 2; i < 5; i++) {
        assert_string_equal(by_thread(f, i), "http-* (3)");
        assert_string_equal(by_comm(f, i), "http-* (3)");
        assert_int_equal(f->x.of_record[i], 0);
    }
    assert_int_equal(f->x.pools.v[0].pid, 1);
    find(f, true);
    assert_string_equal(by_thread(f, 2), "-");
    assert_string_equal(by_comm(f, 2), "http-1");
}

static void test_two_are_no_pool(void **state)
{
    struct fixture *f = *state;
    many(f, 1, 10, "http-%", (const char *const[]){"1", "2", NULL});
    /* Three names of one thread, which was renamed. */
    for (int i = 0; i < 3; i++)
        thread(f, 2, 20, i == 0 ? "job-1" : i == 1 ? "job-2" : "job-3");
    find(f, false);
    assert_int_equal(f->x.pools.n, 0);
}

static void test_what_stays_the_same(void **state)
{
    struct fixture *f = *state;
    many(f, 1, 10, "http-nio-8080-exec-%", three);
    many(f, 1, 20, "pool-%-thread-7", three);
    many(f, 1, 30, "w%", three);
    thread(f, 1, 40, "kworker/0:1");
    thread(f, 1, 41, "kworker/1:0");
    thread(f, 1, 42, "kworker/1:1");
    find(f, false);
    assert_string_equal(by_thread(f, 0), "http-nio-8080-exec-* (3)");
    assert_string_equal(by_thread(f, 3), "pool-*-thread-7 (3)");
    assert_string_equal(by_thread(f, 6), "w* (3)");
    assert_string_equal(by_thread(f, 9), "kworker/*:* (3)");
}

static void test_processes_are_not_joined(void **state)
{
    struct fixture *f = *state;
    /* One worker each, as nginx has them: the rows by comm stay. */
    for (int i = 0; i < 4; i++)
        thread(f, 100 + i, 100 + i, "nginx");
    many(f, 1, 10, "http-%", three);
    many(f, 2, 20, "http-%", three);
    uint32_t lone = thread(f, 3, 30, "http-1");
    find(f, false);
    assert_string_equal(by_thread(f, 0), "-");
    assert_string_equal(by_comm(f, 0), "nginx");
    assert_string_equal(by_thread(f, 4), "http-* (3, pid 1)");
    assert_string_equal(by_thread(f, 7), "http-* (3, pid 2)");
    assert_string_equal(by_thread(f, lone), "-");
    /* A comm is one row whatever the process. */
    assert_string_equal(by_comm(f, 4), "http-* (7)");
    assert_string_equal(by_comm(f, 7), "http-* (7)");
    assert_string_equal(by_comm(f, lone), "http-* (7)");
}

static void test_equal_names(void **state)
{
    struct fixture *f = *state;
    thread(f, 1, 1, "app");
    many(f, 1, 2, "app", three);
    many(f, 1, 10, "tokio-runtime-w", three);
    find(f, false);
    assert_string_equal(by_thread(f, 0), "-"); /* nobody named these */
    assert_string_equal(by_thread(f, 1), "-");
    assert_string_equal(by_thread(f, 4), "tokio-runtime-w (3)");
    assert_string_equal(by_comm(f, 4), "tokio-runtime-w");
}

static void test_names_cut(void **state)
{
    struct fixture *f = *state;
    thread(f, 1, 10, "pool-1-thread-1"); /* the 15 bytes of pool-1-thread-10 too */
    thread(f, 1, 11, "pool-1-thread-1");
    thread(f, 1, 12, "pool-12-thread-");
    thread(f, 1, 13, "pool-123-thread");
    thread(f, 1, 14, "pool-1");
    find(f, false);
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(by_thread(f, i), "pool-*-thread-1 (4)");
    assert_string_equal(by_thread(f, 4), "-"); /* shorter than what the kernel cuts to */
}

static void test_cut_names_of_two_pools(void **state)
{
    struct fixture *f = *state;
    many(f, 1, 10, "abcdefghijkl-x%", three);
    many(f, 1, 20, "abcdefghijkl-y%", three);
    uint32_t cut = thread(f, 1, 30, "abcdefghijkl-");
    find(f, false);
    assert_string_equal(by_thread(f, cut), "-");
    assert_string_equal(by_thread(f, 0), "abcdefghijkl-x* (3)");
}

static void test_without_tids(void **state)
{
    struct fixture *f = *state;
    many(f, SP_ABSENT, SP_ABSENT, "http-%", three);
    thread(f, SP_ABSENT, SP_ABSENT, "worker");
    find(f, false);
    assert_string_equal(by_thread(f, 0), "http-* (3 names)");
    assert_string_equal(by_comm(f, 0), "http-* (3 names)");
    assert_string_equal(by_comm(f, 3), "worker");
}

static void test_records_know_the_tids(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "http-%d", i);
        uint32_t comm = sp_profile_cstr(f->p, name);
        sp_thread_intern(f->p, 7, 70 + i, comm);
        struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .comm = comm};
        sp_context_intern(f->p, &c);
    }
    find(f, false);
    assert_string_equal(by_comm(f, 3), "http-* (4)");
    assert_int_equal(f->x.pools.v[0].pid, 7);
}

static void test_before_it_was_named(void **state)
{
    struct fixture *f = *state;
    thread(f, 1, 1, "app");
    many(f, 1, 10, "http-%", three);
    uint32_t before = thread(f, 1, 11, "app"), unsaid = thread(f, 1, 12, "");
    find(f, false);
    assert_string_equal(by_thread(f, unsaid), "http-* (3)");
    assert_string_equal(by_thread(f, before), "http-* (3)");
    assert_string_equal(by_comm(f, before), "app");
}

static void test_what_the_profiler_calls_them(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++) {
        char name[64];
        uint32_t c = thread(f, 1, 10 + i, "java");
        snprintf(name, sizeof name, "exec-%d", i);
        f->p->threads.v[c].name = sp_profile_cstr(f->p, name);
    }
    find(f, false);
    assert_string_equal(by_thread(f, 0), "exec-* (3)");
    assert_string_equal(by_comm(f, 0), "java");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_digits_only),
        TEST(test_two_are_no_pool),
        TEST(test_what_stays_the_same),
        TEST(test_processes_are_not_joined),
        TEST(test_equal_names),
        TEST(test_names_cut),
        TEST(test_cut_names_of_two_pools),
        TEST(test_without_tids),
        TEST(test_records_know_the_tids),
        TEST(test_before_it_was_named),
        TEST(test_what_the_profiler_calls_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
