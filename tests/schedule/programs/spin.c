/* Two threads: one works all the time, one half of it (5 ms of each 10). */
#include "known.h"

static int64_t until;

static void *full(void *arg)
{
    (void)arg;
    known_thread("full");
    spin_until(until);
    known_done();
    return 0;
}

static void *half(void *arg)
{
    (void)arg;
    known_thread("half");
    while (known_now() < until) {
        burn(5000000);
        nap(5000000);
    }
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("spin");
    known_thread("spin");
    until = known_now() + known_duration(argc, argv, 300);
    pthread_t t[2];
    pthread_create(&t[0], 0, full, 0);
    pthread_create(&t[1], 0, half, 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    known_done();
    known_print();
    return 0;
}
