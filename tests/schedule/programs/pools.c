/* Pools by name: http-0 to http-39 handle what comes over one queue, db-0 to db-3 answer to them, log-0
   writes. Once in the run log-0 has the lock of the queue for a fifth of it, and sleeps. */
#include "known.h"

enum { HTTP = 40, DB = 4 };
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, rows = PTHREAD_MUTEX_INITIALIZER;
static int64_t length, until;

__attribute__((noinline)) static void get(pthread_mutex_t *m)
{
    known_wait(LOCK);
    pthread_mutex_lock(m);
    known_waited(LOCK);
}

static void *http(void *arg)
{
    char name[16];
    snprintf(name, sizeof name, "http-%d", (int)(long)arg);
    known_thread(name);
    while (known_now() < until) {
        get(&queue);
        known_sink++;
        pthread_mutex_unlock(&queue);
        burn(200000);
        nap(20000000);
    }
    known_done();
    return 0;
}

static void *db(void *arg)
{
    char name[16];
    snprintf(name, sizeof name, "db-%d", (int)(long)arg);
    known_thread(name);
    while (known_now() < until) {
        get(&rows);
        burn(2000000);
        pthread_mutex_unlock(&rows);
        nap(10000000);
    }
    known_done();
    return 0;
}

static void *logger(void *arg)
{
    (void)arg;
    known_thread("log-0");
    nap(length * 2 / 5);
    get(&queue);
    known_hold("queue");
    nap(length / 5);
    known_held();
    pthread_mutex_unlock(&queue);
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("pools");
    known_thread("pools");
    length = known_duration(argc, argv, 500);
    until = known_now() + length;
    pthread_t t[HTTP + DB + 1];
    for (long i = 0; i < HTTP; i++)
        pthread_create(&t[i], 0, http, (void *)i);
    for (long i = 0; i < DB; i++)
        pthread_create(&t[HTTP + i], 0, db, (void *)i);
    pthread_create(&t[HTTP + DB], 0, logger, 0);
    for (int i = 0; i < COUNT(t); i++)
        pthread_join(t[i], 0);
    known_done();
    known_print();
    return 0;
}
