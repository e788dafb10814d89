/*
 * What programs with known shares have in common: each thread notes what it did itself, by its own clocks,
 * and main prints it as JSON at the end. The table is shared memory, so that children and threads that never
 * return are in it.
 *
 *     known_thread("http-0");                  a thread's first call; main calls known_begin("lock") before
 *     known_wait(LOCK); pthread_mutex_lock(&m); known_waited(LOCK);
 *     known_hold("m"); ...; known_held();      from when it had it until before it gave it back
 *     known_done();                            a thread's last call
 *     known_print();                           main, when the others are done
 *
 * Times are nanoseconds of CLOCK_MONOTONIC: recordings are made with -k CLOCK_MONOTONIC. What a thread
 * measured around a call is a little longer than what the scheduler sees, and holds short calls that did not
 * block.
 */
#ifndef KNOWN_H
#define KNOWN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum known_reason { LOCK, CONDITION, SLEEP, POLL, DISK, NETWORK, FAULT, PIPE, CHILD, STOPPED, KNOWN_REASONS };
static const char *const known_reasons[] = {"lock",    "condition",  "sleep", "poll",  "disk",
                                            "network", "page fault", "pipe",  "child", "stopped"};

struct known_waits {
    int64_t ns, longest, n, since; /* since: it waits now */
};

struct known_thread {
    int pid, tid;
    char name[16];
    int64_t start, end, cpu;
    struct known_waits waits[KNOWN_REASONS];
};

struct known_hold {
    const char *what;
    int tid;
    int64_t from, to, cpu; /* cpu: what the holder ran of it */
};

enum { KNOWN_THREADS = 4096, KNOWN_HOLDS = 4096 };
struct known {
    const char *program;
    int64_t begin;
    int threads, holds;
    struct known_thread thread[KNOWN_THREADS];
    struct known_hold hold[KNOWN_HOLDS];
};

static struct known *known;
static __thread struct known_thread *known_me;
static __thread struct known_hold *known_my_hold;
static volatile unsigned long known_sink;

static inline int64_t known_clock(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t known_now(void)
{
    return known_clock(CLOCK_MONOTONIC);
}

static inline void known_begin(const char *program)
{
    known = mmap(0, sizeof *known, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (known == MAP_FAILED)
        exit(3);
    known->program = program;
    known->begin = known_now();
}

static inline void known_thread(const char *name)
{
    int at = __atomic_fetch_add(&known->threads, 1, __ATOMIC_RELAXED);
    if (at >= KNOWN_THREADS)
        exit(3);
    pthread_setname_np(pthread_self(), name);
    known_me = &known->thread[at];
    known_me->pid = getpid();
    known_me->tid = (int)syscall(SYS_gettid);
    snprintf(known_me->name, sizeof known_me->name, "%s", name);
    known_me->start = known_now();
}

static inline void known_wait(enum known_reason why)
{
    known_me->waits[why].since = known_now();
}

static inline void known_waited(enum known_reason why)
{
    struct known_waits *w = &known_me->waits[why];
    int64_t took = known_now() - w->since;
    w->since = 0;
    w->ns += took;
    w->n++;
    w->longest = took > w->longest ? took : w->longest;
}

static inline void known_hold(const char *what)
{
    int at = __atomic_fetch_add(&known->holds, 1, __ATOMIC_RELAXED);
    known_my_hold = &known->hold[at % KNOWN_HOLDS];
    *known_my_hold = (struct known_hold){what, known_me->tid, known_now(), 0, 0};
    known_my_hold->cpu = -known_clock(CLOCK_THREAD_CPUTIME_ID);
}

static inline void known_held(void)
{
    known_my_hold->cpu += known_clock(CLOCK_THREAD_CPUTIME_ID);
    known_my_hold->to = known_now();
}

static inline void known_done(void)
{
    known_me->cpu = known_clock(CLOCK_THREAD_CPUTIME_ID);
    known_me->end = known_now();
}

static inline void known_print_thread(const struct known_thread *t, const char *before)
{
    printf("%s\n  {\"pid\": %d, \"tid\": %d, \"name\": \"%s\", \"start\": %lld, \"end\": %lld, \"cpu_ns\": "
           "%lld, \"waits\": {",
           before, t->pid, t->tid, t->name, (long long)t->start, (long long)t->end, (long long)t->cpu);
    const char *comma = "";
    for (int r = 0; r < KNOWN_REASONS; r++) {
        const struct known_waits *w = &t->waits[r];
        if (!w->n && !w->since)
            continue;
        printf("%s\"%s\": {\"ns\": %lld, \"n\": %lld, \"longest\": %lld, \"since\": %lld}", comma,
               known_reasons[r], (long long)w->ns, (long long)w->n, (long long)w->longest,
               (long long)w->since);
        comma = ", ";
    }
    printf("}}");
}

static inline void known_print(void)
{
    printf("{\"program\": \"%s\", \"pid\": %d, \"begin\": %lld, \"end\": %lld,\n \"threads\": [",
           known->program, getpid(), (long long)known->begin, (long long)known_now());
    for (int i = 0; i < known->threads; i++)
        known_print_thread(&known->thread[i], i ? "," : "");
    printf("],\n \"holds\": [");
    for (int i = 0; i < known->holds && i < KNOWN_HOLDS; i++) {
        const struct known_hold *h = &known->hold[i];
        printf("%s\n  {\"what\": \"%s\", \"tid\": %d, \"from\": %lld, \"to\": %lld, \"cpu_ns\": %lld}",
               i ? "," : "", h->what, h->tid, (long long)h->from, (long long)h->to, (long long)h->cpu);
    }
    printf("]}\n");
    fflush(stdout);
}

/* The whole run is `milliseconds` of the first argument, or as many as the program says. */
static inline int64_t known_duration(int argc, char **argv, int64_t milliseconds)
{
    return (argc > 1 ? strtoll(argv[1], 0, 10) : milliseconds) * 1000000;
}

/* Until a time of CLOCK_MONOTONIC, on the CPU as far as there is one. */
__attribute__((noinline, unused)) static void spin_until(int64_t until)
{
    while (known_now() < until)
        known_sink = known_sink * 31 + 7;
}

/* As much of the CPU, however long that takes. */
__attribute__((noinline, unused)) static void burn(int64_t ns)
{
    int64_t until = known_clock(CLOCK_THREAD_CPUTIME_ID) + ns;
    while (known_clock(CLOCK_THREAD_CPUTIME_ID) < until)
        for (int i = 0; i < 1000; i++)
            known_sink = known_sink * 31 + 7;
}

__attribute__((noinline, unused)) static void nap(int64_t ns)
{
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    known_wait(SLEEP);
    nanosleep(&t, 0);
    known_waited(SLEEP);
}

static inline void pin(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* A process of its own that takes a CPU until it is killed: another program by its name. */
static inline int spinner(int cpu, const char *name)
{
    int pid = fork();
    if (pid)
        return pid;
    if (cpu >= 0)
        pin(cpu);
    known_thread(name);
    for (;;)
        known_sink = known_sink * 31 + 7;
}

static inline void end_process(int pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, 0, 0);
}

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#endif
