/* ABBA: left has a and wants b, right has b and wants a; nobody ends it but the end of the process. Meanwhile
   worker goes on. With "timed" right gives up after half of the run. */
#include "known.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int64_t length;
static int timed;

static void *left(void *arg)
{
    (void)arg;
    known_thread("left");
    pthread_mutex_lock(&a);
    known_hold("a");
    nap(length / 10);
    known_wait(LOCK);
    pthread_mutex_lock(&b);
    known_waited(LOCK);
    pthread_mutex_unlock(&b);
    known_held();
    pthread_mutex_unlock(&a);
    known_done();
    return 0;
}

static void *right(void *arg)
{
    (void)arg;
    known_thread("right");
    pthread_mutex_lock(&b);
    known_hold("b");
    nap(length / 10);
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t end = t.tv_sec * 1000000000LL + t.tv_nsec + length / 2;
    t = (struct timespec){end / 1000000000, end % 1000000000};
    known_wait(LOCK);
    if (!(timed ? pthread_mutex_timedlock(&a, &t) : pthread_mutex_lock(&a)))
        pthread_mutex_unlock(&a);
    known_waited(LOCK);
    known_held();
    pthread_mutex_unlock(&b);
    known_done();
    return 0;
}

static void *worker(void *arg)
{
    known_thread("worker");
    while (known_now() < *(int64_t *)arg) {
        burn(1000000);
        nap(9000000);
    }
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("deadlock");
    known_thread("deadlock");
    timed = argc > 2;
    length = known_duration(argc, argv, 300);
    int64_t until = known_now() + length;
    pthread_t t[3];
    pthread_create(&t[0], 0, left, 0);
    pthread_create(&t[1], 0, right, 0);
    pthread_create(&t[2], 0, worker, &until);
    pthread_join(t[2], 0);
    if (timed) {
        pthread_join(t[0], 0);
        pthread_join(t[1], 0);
    }
    known_done();
    known_print();
    return 0;
}
