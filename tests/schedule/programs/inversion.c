/* Priority inversion on one CPU: low holds a lock and needs 40 ms of the CPU, high waits for the lock, middle
   works and takes the CPU from low. Real-time priorities where they are allowed, else nice. */
#include "known.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t length, begin;

static void priority(int fifo, int nice)
{
    struct sched_param p = {.sched_priority = fifo};
    if (fifo && !sched_setscheduler(0, SCHED_FIFO, &p))
        return;
    setpriority(PRIO_PROCESS, (unsigned)syscall(SYS_gettid), nice);
}

static void *low(void *arg)
{
    (void)arg;
    pin(0);
    priority(0, 19);
    known_thread("low");
    pthread_mutex_lock(&mutex);
    known_hold("mutex");
    burn(length / 10);
    known_held();
    pthread_mutex_unlock(&mutex);
    known_done();
    return 0;
}

static void *high(void *arg)
{
    (void)arg;
    pin(0);
    priority(20, -10);
    known_thread("high");
    nap(length / 20);
    known_wait(LOCK);
    pthread_mutex_lock(&mutex);
    known_waited(LOCK);
    pthread_mutex_unlock(&mutex);
    known_done();
    return 0;
}

static void *middle(void *arg)
{
    (void)arg;
    pin(0);
    priority(10, 0);
    known_thread("middle");
    nap(length / 16);
    spin_until(begin + length * 7 / 10);
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("inversion");
    known_thread("inversion");
    length = known_duration(argc, argv, 400);
    begin = known_now();
    void *(*const of[])(void *) = {low, high, middle};
    pthread_t t[3];
    pin(1);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, of[i], 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    known_done();
    known_print();
    return 0;
}
