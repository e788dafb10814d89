/* Stalls, of hand-made intervals: who is said to have held what, and who is not. Times are in ms. */
#include "analysis/stall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

/* Stacks, and what they say. */
enum { NOTHING, LOCK, OTHER_LOCK, SLEEP, DISK, CONDITION, WAKE, TIMER, KILL, STACKS };
/* Own functions. */
enum { HANDLE = 100, REFRESH, LOAD, OTHER_HANDLE };

struct fixture {
    struct sp_diags d;
    struct sp_intervals v;
    struct sp_stalls s;
    struct sp_wait_why why[STACKS];
    unsigned char wakers[STACKS];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    sp_diags_init(&f->d);
    for (int i = 0; i < STACKS; i++)
        f->why[i].function = f->why[i].call = SP_NONE;
    f->why[LOCK].reason = f->why[OTHER_LOCK].reason = SP_WAIT_LOCK;
    f->why[LOCK].function = HANDLE;
    f->why[OTHER_LOCK].function = OTHER_HANDLE;
    f->why[SLEEP].reason = SP_WAIT_SLEEP;
    f->why[SLEEP].function = REFRESH;
    f->why[DISK].reason = SP_WAIT_DISK;
    f->why[DISK].function = LOAD;
    f->why[CONDITION].reason = SP_WAIT_CONDITION;
    f->why[CONDITION].function = HANDLE;
    f->wakers[TIMER] = SP_STALL_WAKES_INTERRUPT;
    f->wakers[KILL] = SP_STALL_WAKES_SIGNAL;
    f->v.cpus = 2;
    f->v.end = 1000 * MS;
    f->v.all_threads = true;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sp_stalls_free(&f->s);
    sp_vec_free(&f->v.threads);
    sp_vec_free(&f->v.v);
    sp_diags_free(&f->d);
    free(f);
    return 0;
}

/* Threads come by process, the idle tasks (pid 0) first; their intervals follow them. */
static uint32_t thread(struct fixture *f, int64_t pid, int64_t tid)
{
    struct sp_interval_thread t = {
        .pid = pid, .tid = tid, .comm = (uint32_t)pid, .cpu = -1, .first = (uint32_t)f->v.v.n};
    assert_true(sp_vec_push(&f->v.threads, t));
    return (uint32_t)f->v.threads.n - 1;
}

static struct sp_interval *add(struct fixture *f, int64_t from, int64_t to, enum sp_run_state state,
                               uint32_t stack, uint8_t flags)
{
    struct sp_interval_thread *t = &f->v.threads.v[f->v.threads.n - 1];
    struct sp_interval i = {.start = from * MS,
                            .end = to * MS,
                            .until = to * MS,
                            .thread = (uint32_t)f->v.threads.n - 1,
                            .stack = stack,
                            .waker = SP_NONE,
                            .waker_stack = SP_NONE,
                            .cpu = 0,
                            .state = (uint8_t)state,
                            .flags = flags,
                            .task = state == SP_RUN_BLOCKED ? SP_TASK_SLEEPING : SP_TASK_RUNNABLE};
    t->n++;
    assert_true(sp_vec_push(&f->v.v, i));
    return &f->v.v.v[f->v.v.n - 1];
}

static void runs(struct fixture *f, int64_t from, int64_t to, int32_t cpu)
{
    add(f, from, to, SP_RUN_RUNNING, SP_NONE, 0)->cpu = cpu;
}

static void waits_for_cpu(struct fixture *f, int64_t from, int64_t to)
{
    add(f, from, to, SP_RUN_RUNNABLE, NOTHING, SP_INTERVAL_PREEMPTED);
}

/* waker SP_NONE: not recorded. */
static void waits(struct fixture *f, int64_t from, int64_t to, uint32_t stack, uint32_t waker,
                  uint32_t waker_stack)
{
    struct sp_interval *i =
        add(f, from, to, SP_RUN_BLOCKED, stack, waker == SP_NONE ? SP_INTERVAL_NO_WAKE : 0);
    i->waker = waker;
    i->waker_stack = waker == SP_NONE ? SP_NONE : waker_stack;
    f->v.has_wakes = f->v.has_wakes || waker != SP_NONE;
}

static const struct sp_stall *find(struct fixture *f, size_t n)
{
    struct sp_stall_input in = {
        .v = &f->v, .why = f->why, .wakers = f->wakers, .stacks = STACKS, .waker_stacks = f->v.has_wakes};
    assert_int_equal(sp_stalls_of(&in, &f->d, &f->s), SPAA_OK);
    assert_int_equal(f->s.v.n, n);
    return n ? &f->s.v.v[f->s.order.v[0]] : NULL;
}

/* Two workers that wait from 100 to 250, and run a ms. `waker`: of the first; it wakes the second one. */
static void two_waiters(struct fixture *f, uint32_t waker, uint32_t stack)
{
    uint32_t a = thread(f, 10, 11);
    runs(f, 90, 100, 1);
    waits(f, 100, 250, LOCK, waker, stack);
    runs(f, 250, 251, 1);
    thread(f, 10, 12);
    runs(f, 80, 90, 1);
    waits(f, 105, 251, LOCK, waker == SP_NONE ? SP_NONE : a, WAKE);
    runs(f, 251, 252, 1);
}

/* The holder, thread 2 of process 10: it runs, waits for a CPU, and sleeps. */
static void holder(struct fixture *f)
{
    thread(f, 10, 13);
    runs(f, 95, 150, 0);
    waits_for_cpu(f, 150, 200);
    waits(f, 200, 210, SLEEP, SP_NONE, SP_NONE);
    runs(f, 210, 260, 0);
}

static void who_woke_the_first_waiter_held_it(void **state)
{
    struct fixture *f = *state;
    two_waiters(f, 2, WAKE);
    holder(f);
    thread(f, 20, 20); /* another process */
    runs(f, 150, 200, 0);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_WOKEN);
    assert_int_equal(s->holder, 2);
    assert_false(s->convoy);
    assert_int_equal(s->split.running, (50 + 40) * MS);
    assert_int_equal(s->split.runnable, 50 * MS);
    assert_int_equal(s->split.blocked, 10 * MS);
    assert_int_equal(s->split.reason[SP_WAIT_SLEEP], 10 * MS);
    assert_int_equal(s->split.unknown, 0);
    assert_int_equal(s->takers.n, 1);
    assert_int_equal(f->s.takers.v[s->takers.first].thread, 3);
    assert_int_equal(f->s.takers.v[s->takers.first].its_cpu, 50 * MS);
}

static void the_critical_path_adds_up(void **state)
{
    struct fixture *f = *state;
    int64_t sum = 0;
    two_waiters(f, 2, WAKE);
    holder(f);
    const struct sp_stall *s = find(f, 1);
    for (uint32_t k = 0; k < s->path.n; k++)
        sum += f->s.path.v[s->path.first + k].ns;
    assert_int_equal(sum, s->released - s->start);
    assert_int_equal(f->s.path.v[s->path.first].thread, 2);
    assert_int_equal(f->s.path.v[s->path.first].ns, 90 * MS);
}

static void without_wakings_the_one_left_is_inferred(void **state)
{
    struct fixture *f = *state;
    two_waiters(f, SP_NONE, SP_NONE);
    holder(f);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_INFERRED);
    assert_int_equal(s->holder, 2);
    assert_int_equal(s->split.runnable, 50 * MS);
}

static void of_two_left_none_is_named(void **state)
{
    struct fixture *f = *state;
    two_waiters(f, SP_NONE, SP_NONE);
    holder(f);
    thread(f, 10, 14);
    runs(f, 120, 121, 1);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_SEVERAL);
    assert_int_equal(s->holder, SP_NONE);
    assert_int_equal(s->candidates.n, 2);
}

static void nobody_ran_nobody_is_named(void **state)
{
    struct fixture *f = *state;
    two_waiters(f, SP_NONE, SP_NONE);
    thread(f, 20, 20);
    runs(f, 90, 260, 0);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_NONE);
    assert_int_equal(s->holder, SP_NONE);
}

static void who_is_not_seen_to_run_may_have_run(void **state)
{
    struct fixture *f = *state;
    f->v.unseen = 1;
    two_waiters(f, SP_NONE, SP_NONE);
    thread(f, 20, 20);
    runs(f, 90, 260, 0);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_UNSEEN);
    assert_int_equal(s->holder, SP_NONE);
}

/* Beside one that ran there is one that may have come before the first waiter went on. */
static void beside_one_that_may_have_run_none_is_named(void **state)
{
    struct fixture *f = *state;
    f->v.unseen = 1;
    two_waiters(f, SP_NONE, SP_NONE);
    holder(f);
    thread(f, 10, 14);
    add(f, 90, 252, SP_RUN_BLOCKED, SLEEP, SP_INTERVAL_AT_MOST);
    add(f, 252, 500, SP_RUN_BLOCKED, SLEEP, 0)->cpu = 0;
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_SEVERAL);
    assert_int_equal(s->holder, SP_NONE);
    assert_int_equal(s->candidates.n, 2);
}

static void an_interrupt_holds_nothing(void **state)
{
    struct fixture *f = *state;
    two_waiters(f, 2, TIMER);
    holder(f);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_INTERRUPT);
    assert_int_equal(s->holder, SP_NONE);
}

static void who_was_handed_it_first_leads_to_who_held_it(void **state)
{
    struct fixture *f = *state;
    thread(f, 10, 11); /* it waits shortly, and lets the next ones go on */
    runs(f, 90, 130, 1);
    waits(f, 130, 249, OTHER_LOCK, SP_NONE, SP_NONE);
    runs(f, 249, 250, 1);
    f->why[OTHER_LOCK].function = HANDLE;
    f->v.v.v[1].flags = SP_INTERVAL_AT_MOST | SP_INTERVAL_UNSURE; /* just when is not recorded */
    f->v.v.v[1].end = 250 * MS;
    f->v.v.v[2].start = 250 * MS;
    for (int64_t k = 0; k < 2; k++) {
        thread(f, 10, 12 + k);
        waits(f, 100 + k, 250 + k, LOCK, 0, WAKE);
    }
    holder(f);
    f->v.threads.v[3].tid = 20;
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_INFERRED); /* who let 11 go on is not recorded; who is left is */
    assert_int_equal(s->holder, 3);
}

static void a_convoy_has_no_single_holder(void **state)
{
    struct fixture *f = *state;
    for (uint32_t k = 0; k < 6; k++) { /* each has it for 30 ms, and wakes the next */
        thread(f, 10, 11 + k);
        waits(f, 100, 130 + 30 * (int64_t)k, LOCK, k ? k - 1 : 6, WAKE);
        runs(f, 130 + 30 * (int64_t)k, 161 + 30 * (int64_t)k, 0);
    }
    thread(f, 10, 30);
    runs(f, 90, 131, 0);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_WOKEN);
    assert_true(s->convoy);
    assert_int_equal(s->hands, 6);
    assert_int_equal(s->handovers, 5);
}

/* It wakes one each 20 ms, and takes the lock again before that one has run, which waits again. */
static void who_takes_it_again_let_go_between(void **state)
{
    struct fixture *f = *state;
    for (uint32_t k = 0; k < 4; k++) {
        int64_t woken = 120 + 20 * (int64_t)k;
        thread(f, 10, 11 + k);
        waits(f, 100, woken, LOCK, 4, WAKE);
        waits_for_cpu(f, woken, woken + 5);
        runs(f, woken + 5, woken + 6, 0);
        waits(f, woken + 6, 300 + (int64_t)k, LOCK, 4, WAKE);
        runs(f, 300 + (int64_t)k, 301 + (int64_t)k, 1);
    }
    thread(f, 10, 20);
    runs(f, 90, 310, 1);
    const struct sp_stall *s = find(f, 2);
    if (s->start != 100 * MS)
        s = &f->s.v.v[f->s.order.v[1]];
    assert_int_equal(s->by, SP_STALL_BY_WOKEN);
    assert_int_equal(s->holder, 4);
    assert_true(s->convoy);
    assert_int_equal(s->hands, 1);
    assert_int_equal(s->holds.n, 4);
    assert_int_equal(s->split.to - s->split.from, 20 * MS);
    /* Before the first one waits again, it may have been let go without a trace. */
    assert_int_equal(f->s.holds.v[s->holds.first + 1].from, 126 * MS);
    assert_int_equal(f->s.holds.v[s->holds.first + 1].to, 140 * MS);
}

static void a_holder_that_waits_leads_on(void **state)
{
    struct fixture *f = *state;
    two_waiters(f, 2, WAKE);
    thread(f, 10, 13);
    runs(f, 95, 101, 0);
    waits(f, 101, 249, OTHER_LOCK, 3, WAKE);
    runs(f, 249, 251, 0);
    thread(f, 10, 14);
    runs(f, 50, 255, 0);
    const struct sp_stall *s = find(f, 2); /* the other one: the holder's own wait */
    assert_int_equal(s->holder, 2);
    assert_int_equal(s->links.n, 2);
    assert_int_equal(f->s.links.v[s->links.first + 1].thread, 3);
    assert_int_equal(f->s.links.v[s->links.first + 1].split.running, 148 * MS);
    assert_int_equal(f->s.path.v[s->path.first].thread, 3); /* the path goes through it */
}

static void disks_have_no_holder(void **state)
{
    struct fixture *f = *state;
    for (int64_t k = 0; k < 3; k++) {
        thread(f, 10, 11 + k);
        waits(f, 100, 250 + k, DISK, SP_NONE, SP_NONE);
    }
    holder(f);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->by, SP_STALL_BY_DEVICE);
}

static void idle_waits_and_short_ones_are_no_stalls(void **state)
{
    struct fixture *f = *state;
    f->why[OTHER_LOCK].idle = true;
    for (int64_t k = 0; k < 4; k++) {
        thread(f, 10, 11 + k);
        waits(f, 100, 119, LOCK, SP_NONE, SP_NONE);
        waits(f, 200, 700, OTHER_LOCK, SP_NONE, SP_NONE);
        waits(f, 700, 900, CONDITION, SP_NONE, SP_NONE); /* no usual wait to compare with */
    }
    find(f, 0);
}

static void one_thread_alone_is_no_stall(void **state)
{
    struct fixture *f = *state;
    thread(f, 10, 11);
    waits(f, 100, 250, LOCK, SP_NONE, SP_NONE);
    waits(f, 300, 450, LOCK, SP_NONE, SP_NONE);
    find(f, 0);
}

static void one_thread_that_another_one_lets_wait_is(void **state)
{
    struct fixture *f = *state;
    thread(f, 10, 11);
    for (int64_t k = 0; k < 3; k++) {
        waits(f, 100 + 200 * k, 250 + 200 * k, LOCK, 1, WAKE);
        runs(f, 250 + 200 * k, 300 + 200 * k, 1);
    }
    thread(f, 10, 12);
    runs(f, 90, 800, 0);
    const struct sp_stall *s = find(f, 3);
    assert_int_equal(s->by, SP_STALL_BY_WOKEN);
    assert_int_equal(s->holder, 1);
    assert_int_equal(s->waits.n, 1);
    assert_int_equal(s->split.running, 150 * MS);
    assert_int_equal(f->s.sets.n, 1);
}

static void a_stopped_process_has_no_holder(void **state)
{
    struct fixture *f = *state;
    for (int64_t k = 0; k < 2; k++) {
        thread(f, 10, 11 + k);
        waits(f, 100, 250, NOTHING, SP_NONE, SP_NONE);
        f->v.v.v[f->v.v.n - 1].task = SP_TASK_STOPPED;
    }
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->kind, SP_STALL_STOPPED);
    assert_int_equal(s->by, SP_STALL_BY_NO_HOLDER);
}

static void a_quota_leaves_cpus_idle(void **state)
{
    struct fixture *f = *state;
    thread(f, 0, 0);
    runs(f, 100, 200, 0);
    for (int64_t k = 0; k < 2; k++) {
        thread(f, 10, 11 + k);
        runs(f, 90, 100, (int32_t)k);
        waits_for_cpu(f, 100, 200);
        runs(f, 200, 210, (int32_t)k);
    }
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->kind, SP_STALL_CPU);
    assert_int_equal(s->idle, 100 * MS);
}

static void a_process_of_which_one_runs_is_no_stall(void **state)
{
    struct fixture *f = *state;
    for (int64_t k = 0; k < 2; k++) {
        thread(f, 10, 11 + k);
        waits_for_cpu(f, 100, 200);
    }
    thread(f, 10, 13);
    runs(f, 90, 210, 0);
    find(f, 0);
}

/* Each waits at the end for what the other one let go before. */
static void a_ring_at_the_end_fits_a_deadlock(void **state)
{
    struct fixture *f = *state;
    thread(f, 10, 11);
    waits(f, 100, 101, LOCK, 1, WAKE);
    add(f, 500, 1000, SP_RUN_BLOCKED, LOCK, SP_INTERVAL_OPEN);
    thread(f, 10, 12);
    waits(f, 110, 111, OTHER_LOCK, 0, WAKE);
    add(f, 510, 1000, SP_RUN_BLOCKED, OTHER_LOCK, SP_INTERVAL_OPEN);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->kind, SP_STALL_OPEN);
    assert_int_equal(s->by, SP_STALL_BY_NOT_ENDED);
    assert_true(s->ring);
    assert_int_equal(s->lost, 990 * MS);
}

/* All wait for one lock, that somebody else has. */
static void a_pool_that_waits_for_one_lock_is_no_ring(void **state)
{
    struct fixture *f = *state;
    for (uint32_t k = 0; k < 3; k++) {
        thread(f, 10, 11 + k);
        waits(f, 100, 101, LOCK, (k + 1) % 3, WAKE);
        add(f, 500, 1000, SP_RUN_BLOCKED, LOCK, SP_INTERVAL_OPEN);
    }
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->kind, SP_STALL_OPEN);
    assert_false(s->ring);
}

static void the_end_of_a_process_lets_nothing_go(void **state)
{
    struct fixture *f = *state;
    two_waiters(f, 2, KILL);
    f->v.v.v[4].waker = 2;
    f->v.v.v[4].waker_stack = KILL;
    f->v.threads.v[0].exited = f->v.threads.v[1].exited = true;
    holder(f);
    const struct sp_stall *s = find(f, 1);
    assert_int_equal(s->kind, SP_STALL_OPEN);
    assert_int_equal(s->holder, SP_NONE);
}

static void episodes_of_one_holder_are_one_set(void **state)
{
    struct fixture *f = *state;
    for (uint32_t k = 0; k < 2; k++) {
        thread(f, 10, 11 + k);
        waits(f, 100, 250, LOCK, 2, WAKE);
        waits(f, 300, 302, LOCK, 2, WAKE);
        waits(f, 500, 640, LOCK, 2, WAKE);
    }
    thread(f, 10, 13);
    runs(f, 50, 700, 0);
    const struct sp_stall *s = find(f, 2);
    assert_int_equal(f->s.sets.n, 1);
    assert_int_equal(f->s.sets.v[0].members.n, 2);
    assert_int_equal(f->s.sets.v[0].lost, 580 * MS);
    assert_int_equal(f->s.sets.v[0].threads, 2);
    assert_int_equal(s->threshold, 100 * MS);
    assert_int_equal(s->next, 2 * MS);
    assert_int_equal(f->s.edges.n, 2);
    assert_int_equal(f->s.edges.v[0].count, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(who_woke_the_first_waiter_held_it),
        TEST(the_critical_path_adds_up),
        TEST(without_wakings_the_one_left_is_inferred),
        TEST(of_two_left_none_is_named),
        TEST(nobody_ran_nobody_is_named),
        TEST(who_is_not_seen_to_run_may_have_run),
        TEST(beside_one_that_may_have_run_none_is_named),
        TEST(an_interrupt_holds_nothing),
        TEST(who_was_handed_it_first_leads_to_who_held_it),
        TEST(a_convoy_has_no_single_holder),
        TEST(who_takes_it_again_let_go_between),
        TEST(a_holder_that_waits_leads_on),
        TEST(disks_have_no_holder),
        TEST(idle_waits_and_short_ones_are_no_stalls),
        TEST(one_thread_alone_is_no_stall),
        TEST(one_thread_that_another_one_lets_wait_is),
        TEST(a_stopped_process_has_no_holder),
        TEST(a_quota_leaves_cpus_idle),
        TEST(a_process_of_which_one_runs_is_no_stall),
        TEST(a_ring_at_the_end_fits_a_deadlock),
        TEST(a_pool_that_waits_for_one_lock_is_no_ring),
        TEST(the_end_of_a_process_lets_nothing_go),
        TEST(episodes_of_one_holder_are_one_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
