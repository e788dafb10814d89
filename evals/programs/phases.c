/* Works evenly, but for the third quarter of its time: planted: then rebuild_index runs beside the usual work. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) unsigned long serve(unsigned long x)
{
    for (int i = 0; i < 2000; i++)
        x = x * 6364136223846793005ul + 1442695040888963407ul;
    return x;
}

__attribute__((noinline)) unsigned long rebuild_index(unsigned long x)
{
    for (int i = 0; i < 6000; i++)
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    double whole = argc > 1 ? atof(argv[1]) : 8, began = now(), at;
    unsigned long x = 1;
    while ((at = (now() - began) / whole) < 1) {
        x = serve(x);
        if (at > 0.5 && at < 0.75)
            x = rebuild_index(x | 1);
        else {
            struct timespec nap = {0, 20000};
            nanosleep(&nap, 0);
        }
    }
    printf("%lu\n", x);
    return 0;
}
