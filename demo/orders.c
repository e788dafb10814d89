/*
 * The program that the shipped recordings are of: a small order service with known hot spots.
 *
 * Three threads: "reader" parses orders (recursive groups), "pricer" hashes and prices them under a
 * lock, "writer" sorts and formats them and sleeps in between. Built with frame pointers; what it does in
 * libraries that have none would break the stacks, so that it sorts, formats, locks and asks the kernel
 * itself.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static uint32_t ledger_lock; /* 0: free, 1: taken, 2: waited for */
static uint64_t ledger[1024];
static volatile uint64_t sink;
static volatile int stop;

/* The kernel is asked where the caller's frame stands. */
static inline long ask(long number, long a, long b, long c)
{
    long result;
#ifdef __x86_64__
    register long d __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d)
                     : "rcx", "r11", "memory");
#elif defined __aarch64__
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    result = x0;
#endif
    return result;
}

NOINLINE void lock_ledger(void)
{
    uint32_t seen = 0;
    if (__atomic_compare_exchange_n(&ledger_lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&ledger_lock, 2, __ATOMIC_ACQUIRE))
        ask(SYS_futex, (long)&ledger_lock, FUTEX_WAIT_PRIVATE, 2);
}

NOINLINE void unlock_ledger(void)
{
    if (__atomic_exchange_n(&ledger_lock, 0, __ATOMIC_RELEASE) == 2)
        ask(SYS_futex, (long)&ledger_lock, FUTEX_WAKE_PRIVATE, 1);
}

NOINLINE uint64_t parse_field(const char *s, size_t n)
{
    uint64_t v = 0;
    for (size_t k = 0; k < 12; k++)
        for (size_t i = 0; i < n; i++)
            v = v * 31 + (unsigned char)s[i];
    return v;
}

NOINLINE uint64_t parse_group(const char *s, size_t n, int depth)
{
    if (depth == 0)
        return parse_field(s, n);
    uint64_t v = 0;
    for (int i = 0; i < 3; i++)
        v += parse_group(s + i, n - (size_t)i, depth - 1) + 1;
    return v;
}

NOINLINE uint64_t checksum(const unsigned char *p, size_t n)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

NOINLINE void post_to_ledger(uint64_t h)
{
    lock_ledger();
    for (size_t i = 0; i < 64; i++)
        ledger[(h + i) & 1023] += h;
    unlock_ledger();
}

NOINLINE uint64_t price_order(const unsigned char *p, size_t n)
{
    uint64_t h = checksum(p, n);
    post_to_ledger(h);
    return h;
}

NOINLINE int by_value(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

/* Merge sort: runs of one row, of two, of four, … */
NOINLINE void merge_runs(uint64_t *to, const uint64_t *from, size_t half, size_t n)
{
    for (size_t i = 0, a = 0, b = half; i < n; i++)
        to[i] = b == n || (a < half && by_value(from[a], from[b]) <= 0) ? from[a++] : from[b++];
}

NOINLINE void sort_report(uint64_t *rows, size_t n)
{
    static uint64_t room[2048];
    for (size_t half = 1; half < n; half *= 2) {
        for (size_t i = 0; i < n; i++)
            room[i] = rows[i];
        for (size_t at = 0; at + half < n; at += 2 * half)
            merge_runs(rows + at, room + at, half, n - at < 2 * half ? n - at : 2 * half);
    }
}

NOINLINE size_t format_number(char *out, uint64_t v)
{
    char digits[20];
    size_t n = 0, at = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n)
        out[at++] = digits[--n];
    return at;
}

NOINLINE void write_line(int out, const char *line, size_t n)
{
    sink += (uint64_t)ask(SYS_write, out, (long)line, (long)n);
}

NOINLINE void format_report(const uint64_t *rows, size_t n, int out)
{
    char line[64];
    for (size_t i = 0; i < n; i++) {
        size_t used = format_number(line, i);
        line[used++] = ' ';
        used += format_number(line + used, rows[i]);
        line[used++] = '\n';
        write_line(out, line, used);
    }
}

/* Every report is a new file: open, write, close are where the kernel's share comes from. */
NOINLINE void write_report(const uint64_t *rows, size_t n)
{
    long out = ask(SYS_openat, AT_FDCWD, (long)"/dev/null", O_WRONLY | O_CLOEXEC);
    if (out < 0)
        return;
    format_report(rows, n, (int)out);
    ask(SYS_close, out, 0, 0);
}

static void *reader(void *arg)
{
    pthread_setname_np(pthread_self(), "reader");
    while (!stop) {
        sink += parse_group("order=17;item=book;count=3;price=1999", 36, 5);
        post_to_ledger(sink);
    }
    return arg;
}

static void *pricer(void *arg)
{
    static unsigned char orders[8192];
    pthread_setname_np(pthread_self(), "pricer");
    while (!stop)
        sink += price_order(orders, sizeof orders);
    return arg;
}

static void *writer(void *arg)
{
    uint64_t rows[2048];
    pthread_setname_np(pthread_self(), "writer");
    while (!stop) {
        for (size_t i = 0; i < 2048; i++)
            rows[i] = checksum((const unsigned char *)&i, sizeof i);
        sort_report(rows, 2048);
        write_report(rows, 2048);
        struct timespec pause = {0, 1000000};
        ask(SYS_nanosleep, (long)&pause, 0, 0);
    }
    return arg;
}

int main(int argc, char **argv)
{
    void *(*const work[3])(void *) = {reader, pricer, writer};
    pthread_t threads[3];
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work[i], NULL);
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}, NULL);
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%llu\n", (unsigned long long)sink);
    return 0;
}
