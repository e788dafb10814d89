/*
 * The program that the shipped recordings are of: a small order service with known hot spots.
 *
 * Three threads: "reader" parses orders (recursive groups), "pricer" hashes and prices them under a
 * lock, "writer" sorts and formats them and sleeps in between. Built with frame pointers.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static pthread_mutex_t ledger_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t ledger[1024];
static volatile uint64_t sink;
static volatile int stop;

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
    pthread_mutex_lock(&ledger_lock);
    for (size_t i = 0; i < 64; i++)
        ledger[(h + i) & 1023] += h;
    pthread_mutex_unlock(&ledger_lock);
}

NOINLINE uint64_t price_order(const unsigned char *p, size_t n)
{
    uint64_t h = checksum(p, n);
    post_to_ledger(h);
    return h;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

NOINLINE void sort_report(uint64_t *rows, size_t n)
{
    qsort(rows, n, sizeof *rows, by_value);
}

NOINLINE void format_report(const uint64_t *rows, size_t n, int out)
{
    char line[64];
    for (size_t i = 0; i < n; i++) {
        int used = snprintf(line, sizeof line, "%zu %llu\n", i, (unsigned long long)rows[i]);
        sink += (uint64_t)write(out, line, (size_t)used);
    }
}

/* Every report is a new file: open, write, close are where the kernel's share comes from. */
NOINLINE void write_report(const uint64_t *rows, size_t n)
{
    int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (out < 0)
        return;
    format_report(rows, n, out);
    close(out);
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
        nanosleep(&pause, NULL);
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
