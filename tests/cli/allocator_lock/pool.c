// Eight threads that allocate and free blocks too large for the thread cache, from one arena or each its own.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double seconds;
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
__attribute__((noinline)) static unsigned fill(char *p, size_t n)
{
    unsigned s = 0;
    for (size_t i = 0; i < n; i += 64)
        s += (unsigned)(p[i] = (char)i);
    return s;
}
__attribute__((noinline)) static unsigned handle_request(unsigned *seed)
{
    void *v[16];
    unsigned s = 0;
    for (int i = 0; i < 16; i++) {
        v[i] = malloc(1200 + rand_r(seed) % 4000);
        s += fill(v[i], 64);
    }
    for (int i = 0; i < 16; i++)
        free(v[i]);
    return s;
}
static void *worker(void *arg)
{
    unsigned seed = (unsigned)(size_t)arg, s = 0;
    double end = now() + seconds;
    while (now() < end)
        s += handle_request(&seed);
    return (void *)(size_t)s;
}
int main(int argc, char **argv)
{
    pthread_t t[8];
    seconds = argc > 1 ? atof(argv[1]) : 1;
    for (size_t i = 0; i < 8; i++) {
        pthread_create(&t[i], 0, worker, (void *)(i + 1));
        pthread_setname_np(t[i], "worker");
    }
    for (size_t i = 0; i < 8; i++)
        pthread_join(t[i], 0);
}
