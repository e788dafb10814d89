/* N workers through one lock that a holder keeps, twice, for a third of the run, each time in a way of its
   own: lock spin: it works; lock cpu: a spinner of another process takes its CPU; lock sleep; lock disk: it
   writes and waits for that. */
#include "known.h"

enum { WORKERS = 8 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t length;
static const char *how;
static volatile int stop;

__attribute__((noinline)) static void handle_request(void)
{
    known_wait(LOCK);
    pthread_mutex_lock(&mutex);
    known_waited(LOCK);
    known_sink++;
    pthread_mutex_unlock(&mutex);
    nap(4000000);
}

static void *worker(void *arg)
{
    char name[16];
    snprintf(name, sizeof name, "http-%d", (int)(long)arg);
    known_thread(name);
    while (!stop)
        handle_request();
    known_done();
    return 0;
}

__attribute__((noinline)) static void write_disk(int64_t end)
{
    static char block[65536];
    int file = open("known.tmp", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    while (known_now() < end) {
        known_wait(DISK);
        if (write(file, block, sizeof block) < 0 || fsync(file) < 0)
            exit(3);
        known_waited(DISK);
    }
    close(file);
    unlink("known.tmp");
}

__attribute__((noinline)) static void refresh(void)
{
    known_wait(LOCK);
    pthread_mutex_lock(&mutex);
    known_waited(LOCK);
    known_hold("mutex");
    int64_t end = known_now() + length / 3;
    if (!strcmp(how, "sleep"))
        nap(length / 3);
    else if (!strcmp(how, "disk"))
        write_disk(end);
    else
        spin_until(end);
    known_held();
    pthread_mutex_unlock(&mutex);
}

static void *refresher(void *arg)
{
    (void)arg;
    if (!strcmp(how, "cpu"))
        pin(0);
    known_thread("refresher");
    for (int i = 0; i < 2; i++) {
        nap(length / 9);
        refresh();
    }
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    how = argc > 2 ? argv[2] : "spin";
    known_begin("lock");
    known_thread("lock");
    length = known_duration(argc, argv, 900);
    int other = strcmp(how, "cpu") ? 0 : spinner(0, "spinner");
    pthread_t t[WORKERS + 1];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    pthread_create(&t[WORKERS], 0, refresher, 0);
    pthread_join(t[WORKERS], 0);
    nap(length / 9);
    stop = 1;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], 0);
    if (other)
        end_process(other);
    known_done();
    known_print();
    return 0;
}
