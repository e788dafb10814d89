/* The rules of waits: names as kernels, compilers, libraries and runtimes write them. */
#include "analysis/wait_rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NONE SP_WAIT_REASONS

struct name {
    const char *name;
    bool kernel;
    unsigned reason; /* NONE: no rule */
    bool idle;
};

static const struct name names[] = {
    {"rwsem_down_read_slowpath", true, SP_WAIT_LOCK, false},
    {"__mutex_lock.constprop.0", true, SP_WAIT_LOCK, false},
    {"futex_wait_queue", true, SP_WAIT_FUTEX, false},
    {"do_nanosleep", true, SP_WAIT_SLEEP, false},
    {"ep_poll", true, SP_WAIT_POLL, true},
    {"poll_schedule_timeout.constprop.0", true, SP_WAIT_POLL, false},
    {"io_schedule", true, SP_WAIT_DISK, false},
    {"folio_wait_bit_common", true, SP_WAIT_DISK, false},
    {"inet_csk_accept", true, SP_WAIT_NETWORK, true},
    {"tcp_recvmsg_locked", true, SP_WAIT_NETWORK, false},
    {"handle_mm_fault", true, SP_WAIT_FAULT, false},
    {"anon_pipe_read", true, SP_WAIT_PIPE, false},
    {"do_wait", true, SP_WAIT_CHILD, false},
    {"do_signal_stop", true, SP_WAIT_STOPPED, false},
    {"schedule", true, NONE, false},
    {"schedule_timeout", true, NONE, false},
    {"vfs_read", true, NONE, false},
    {"pthread_mutex_lock", true, NONE, false}, /* no function of the kernel */
    {"pthread_mutex_lock", false, SP_WAIT_LOCK, false},
    {"__pthread_mutex_lock", false, SP_WAIT_LOCK, false},
    {"pthread_mutex_lock@@GLIBC_2.2.5", false, SP_WAIT_LOCK, false},
    {"__GI___lll_lock_wait", false, SP_WAIT_LOCK, false},
    {"__lll_lock_wait_private", false, SP_WAIT_LOCK, false},
    {"pthread_cond_wait@@GLIBC_2.3.2", false, SP_WAIT_CONDITION, false},
    {"std::condition_variable::wait(std::unique_lock<std::mutex>&)", false, SP_WAIT_CONDITION, false},
    {"std::mutex::lock()", false, SP_WAIT_LOCK, false},
    {"__new_sem_wait_slow64.constprop.0", false, SP_WAIT_CONDITION, false},
    {"clock_nanosleep@GLIBC_2.2.5", false, SP_WAIT_SLEEP, false},
    {"__GI___wait4", false, SP_WAIT_CHILD, false},
    {"__poll", false, SP_WAIT_POLL, false},
    {"epoll_wait", false, SP_WAIT_POLL, true},
    {"sync.(*Mutex).Lock", false, SP_WAIT_LOCK, false},
    {"sync.(*WaitGroup).Wait", false, SP_WAIT_CONDITION, false},
    {"runtime.chanrecv1", false, SP_WAIT_CONDITION, false},
    {"runtime.gopark", false, SP_WAIT_FUTEX, false},
    {"runtime.stopm", false, SP_WAIT_CONDITION, true},
    {"internal/poll.(*FD).Accept", false, SP_WAIT_NETWORK, true},
    {"std::sys::sync::mutex::futex::Mutex::lock_contended", false, SP_WAIT_LOCK, false},
    {"parking_lot::raw_mutex::RawMutex::lock_slow", false, SP_WAIT_LOCK, false},
    {"java.util.concurrent.locks.LockSupport.park", false, SP_WAIT_FUTEX, false},
    {"Ljava/lang/Object;::wait", false, SP_WAIT_CONDITION, false},
    {"java/lang/Thread.sleep", false, SP_WAIT_SLEEP, false},
    {"ObjectMonitor::enter(JavaThread*)", false, SP_WAIT_LOCK, false},
    {"Unsafe_Park", false, SP_WAIT_FUTEX, false},
    {"take_gil", false, SP_WAIT_LOCK, false},
    {"buf_biowait", true, SP_WAIT_DISK, false},
    {"apfs_vnop_read", true, SP_WAIT_DISK, false},
    {"VNOP_READ", true, SP_WAIT_DISK, false},
    {"apfs", true, NONE, false}, /* an image */
    {"__psynch_cvwait", false, SP_WAIT_CONDITION, false},
    {"mach_msg2_trap", false, SP_WAIT_POLL, false},
    {"my::poll(int)", false, NONE, false}, /* another's */
    {"poll_queue", false, NONE, false},
    {"lock", false, NONE, false},
    {"main", false, NONE, false},
    {"_", false, NONE, false},
    {"", false, NONE, false},
};

static void names_have_their_reasons(void **state)
{
    struct sp_buf b;
    (void)state;
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sp_str s = {names[i].name, (uint32_t)strlen(names[i].name)};
        const struct sp_wait_rule *r = sp_wait_rule_of(s, names[i].kernel, &b);
        unsigned reason = r ? r->reason : NONE;
        if (reason != names[i].reason || (r && r->idle != names[i].idle))
            fail_msg("%s: %u", names[i].name, reason);
    }
    sp_buf_free(&b);
}

static void rules_are_well_formed(void **state)
{
    (void)state;
    for (const struct sp_wait_rule *r = sp_wait_rules; r->name; r++) {
        assert_true(r->name[0] && r->reason < SP_WAIT_REASONS && r->rank <= 5);
        if (r->reason == SP_WAIT_FUTEX)
            assert_true(r->unsure);
        if (r->kernel && r->unsure) /* what waits deeper in the kernel says more */
            assert_true(r->reason == SP_WAIT_FUTEX || (r->reason == SP_WAIT_DISK && r->rank <= 1));
        for (const struct sp_wait_rule *o = sp_wait_rules; o < r; o++)
            assert_false(o->kernel == r->kernel && o->image == r->image && strcmp(o->name, r->name) == 0);
    }
    assert_null(sp_wait_reason_names[SP_WAIT_REASONS]);
    assert_string_equal(sp_wait_reason_names[SP_WAIT_FUTEX], "lock or condition");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_have_their_reasons),
                                       cmocka_unit_test(rules_are_well_formed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
