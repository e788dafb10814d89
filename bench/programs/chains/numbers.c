/* No library at all in the work: with frame pointers every stack is whole. With ALONE not even libc starts it. */
#define F __attribute__((noinline))
#ifndef THREADS
#define THREADS 0
#endif
volatile unsigned result;
static unsigned values[4096];
F static unsigned turn(unsigned v, int n) {
    while (n-- > 0) v ^= v << 13, v ^= v >> 17, v ^= v << 5;
    return v;
}
F static unsigned fill(unsigned seed) {
    for (int i = 0; i < 4096; i++) values[i] = seed = turn(seed, 2);
    return seed;
}
F static unsigned add(int from, int n) {
    if (n < 64) {
        unsigned sum = 0;
        for (int i = from; i < from + n; i++) sum += turn(values[i], 3);
        return sum;
    }
    return add(from, n / 2) + add(from + n / 2, n - n / 2) + 1;
}
F static unsigned both(unsigned seed) { return fill(seed) + add(0, 4096) + 1; }
F static void work(void) {
    unsigned sum = 1;
    for (unsigned r = 0; r < 52000 / (THREADS ? THREADS : 1); r++) sum += both(r + 1);
    result = sum;
}
#ifdef ALONE
__attribute__((force_align_arg_pointer)) void _start(void);
void _start(void) {
    work();
    __asm__ volatile("syscall" : : "a"(231), "D"(0));
}
#elif THREADS
#include <pthread.h>
F static void *start(void *unused) {
    work();
    return unused;
}
int main(void) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, start, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    return 0;
}
#else
int main(void) {
    work();
    return 0;
}
#endif
