/*
 * What the status of a goroutine means in the words that all formats share. The status itself stays beside
 * it, as what was waited for.
 */
#include "formats/go_goroutines/goroutines.h"

/* A `*` at the end stands for any rest. Everything else waits: the runtime has no other states. */
static const struct {
    const char *status, *state;
} states[] = {
    {"running", "RUNNABLE"},
    {"runnable", "RUN_QUEUE"},
    {"preempted", "RUN_QUEUE"},
    {"syscall", "NATIVE"}, /* in the kernel: whether it runs or waits there is not known */
    {"copystack", "RUNNABLE"},
    {"sleep", "TIMED_WAITING"},
    {"sync.Mutex.Lock", "BLOCKED"},
    {"sync.RWMutex.*", "BLOCKED"},
    {"GC worker (active)", "RUNNABLE"},
    {"idle", "IDLE"},
    {"dead", "IDLE"},
    /* the runtime's own, without work */
    {"GC worker (idle)", "IDLE"},
    {"force gc (idle)", "IDLE"},
    {"GOMAXPROCS updater (idle)", "IDLE"},
    {"GC sweep wait", "IDLE"},
    {"GC scavenge wait", "IDLE"},
    {"finalizer wait", "IDLE"},
    {"cleanup wait", "IDLE"},
    {"trace reader (blocked)", "IDLE"},
    {"???", "UNKNOWN"},
};

const char *sp_gor_state(struct sp_str status)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        size_t n = strlen(states[i].status);
        if (sp_str_is(status, states[i].status) || (states[i].status[n - 1] == '*' && status.n >= n &&
                                                    memcmp(status.p, states[i].status, n - 1) == 0))
            return states[i].state;
    }
    return "WAITING";
}
