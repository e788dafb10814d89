/* Workers on a condition variable: busy-* get an item every 5 ms and work 2 ms on it, idle-* never get one.
 */
#include "known.h"

enum { BUSY = 2, IDLE = 4 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int items, stop;

__attribute__((noinline)) static int take_item(pthread_cond_t *from)
{
    pthread_mutex_lock(&mutex);
    while (!stop && !(from == &work && items)) {
        known_wait(CONDITION);
        pthread_cond_wait(from, &mutex);
        known_waited(CONDITION);
    }
    int got = from == &work && items;
    items -= got;
    pthread_mutex_unlock(&mutex);
    return got;
}

static void *worker(void *arg)
{
    int number = (int)(long)arg, busy = number < BUSY;
    char name[16];
    snprintf(name, sizeof name, busy ? "busy-%d" : "idle-%d", busy ? number : number - BUSY);
    known_thread(name);
    while (take_item(busy ? &work : &never))
        burn(2000000);
    known_done();
    return 0;
}

static void *producer(void *arg)
{
    int64_t until = known_now() + *(int64_t *)arg;
    known_thread("producer");
    while (known_now() < until) {
        nap(5000000);
        pthread_mutex_lock(&mutex);
        items++;
        pthread_cond_signal(&work);
        pthread_mutex_unlock(&mutex);
    }
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("condition");
    known_thread("condition");
    int64_t length = known_duration(argc, argv, 500);
    pthread_t t[BUSY + IDLE], p;
    for (long i = 0; i < BUSY + IDLE; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    pthread_create(&p, 0, producer, &length);
    pthread_join(p, 0);
    pthread_mutex_lock(&mutex);
    stop = 1;
    pthread_cond_broadcast(&work);
    pthread_cond_broadcast(&never);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < BUSY + IDLE; i++)
        pthread_join(t[i], 0);
    known_done();
    known_print();
    return 0;
}
