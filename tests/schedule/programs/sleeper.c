/* One thread that works 2 ms and sleeps 8 ms, in a loop; one that works all the time; one that sleeps once.
 */
#include "known.h"

static int64_t length, until;

static void *timer(void *arg)
{
    (void)arg;
    known_thread("timer");
    while (known_now() < until) {
        burn(2000000);
        nap(8000000);
    }
    known_done();
    return 0;
}

static void *worker(void *arg)
{
    (void)arg;
    known_thread("worker");
    spin_until(until);
    known_done();
    return 0;
}

__attribute__((noinline)) static void retry_later(void)
{
    nap(length / 2);
}

static void *retry(void *arg)
{
    (void)arg;
    known_thread("retry");
    burn(5000000);
    retry_later();
    burn(5000000);
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("sleeper");
    known_thread("sleeper");
    length = known_duration(argc, argv, 400);
    until = known_now() + length;
    void *(*const of[])(void *) = {timer, worker, retry};
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, of[i], 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    known_done();
    known_print();
    return 0;
}
