/* A chain of locks: a waits for b's lock, b for c's, c sleeps with its own. */
#include "known.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int64_t length;

__attribute__((noinline)) static void take(pthread_mutex_t *m, const char *name)
{
    known_wait(LOCK);
    pthread_mutex_lock(m);
    known_waited(LOCK);
    known_hold(name);
}

static void *thread_c(void *arg)
{
    (void)arg;
    known_thread("thread-c");
    take(&second, "second");
    nap(length * 6 / 10);
    known_held();
    pthread_mutex_unlock(&second);
    known_done();
    return 0;
}

static void *thread_b(void *arg)
{
    (void)arg;
    known_thread("thread-b");
    nap(length / 10);
    take(&first, "first");
    struct known_hold *outer = known_my_hold;
    take(&second, "second");
    spin_until(known_now() + length / 10);
    known_held();
    pthread_mutex_unlock(&second);
    known_my_hold = outer;
    known_held();
    pthread_mutex_unlock(&first);
    known_done();
    return 0;
}

static void *thread_a(void *arg)
{
    (void)arg;
    known_thread("thread-a");
    nap(length / 5);
    take(&first, "first");
    known_held();
    pthread_mutex_unlock(&first);
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("chain");
    known_thread("chain");
    length = known_duration(argc, argv, 600);
    void *(*const of[])(void *) = {thread_c, thread_b, thread_a};
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, of[i], 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    known_done();
    known_print();
    return 0;
}
