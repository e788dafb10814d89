/* Many threads through one short lock: nobody holds it long, all wait most of the time. */
#include "known.h"

enum { WORKERS = 8 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t until;

__attribute__((noinline)) static void through(void)
{
    known_wait(LOCK);
    pthread_mutex_lock(&mutex);
    known_waited(LOCK);
    burn(300000);
    usleep(200);
    pthread_mutex_unlock(&mutex);
    burn(20000);
}

static void *worker(void *arg)
{
    char name[16];
    snprintf(name, sizeof name, "convoy-%d", (int)(long)arg);
    known_thread(name);
    while (known_now() < until)
        through();
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("convoy");
    known_thread("convoy");
    until = known_now() + known_duration(argc, argv, 500);
    pthread_t t[WORKERS];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], 0);
    known_done();
    known_print();
    return 0;
}
