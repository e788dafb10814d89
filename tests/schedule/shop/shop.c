/* A server whose threads wait in known ways, for tests of waits: see README.md. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, stock_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_has = PTHREAD_COND_INITIALIZER, answer_is = PTHREAD_COND_INITIALIZER;
static int queued, answers;
static double end;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
#define PLAIN __attribute__((noinline, noclone))

PLAIN static void nap(long ms)
{
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}
/* 20 ms under the lock. */
PLAIN static void reserve_stock(void)
{
    pthread_mutex_lock(&stock_lock);
    for (double until = now() + 0.004; now() < until;)
        ;
    pthread_mutex_unlock(&stock_lock);
}
/* In the middle of a request: another thread answers, every 25 ms. */
PLAIN static void ask_prices(void)
{
    pthread_mutex_lock(&queue_lock);
    for (int had = answers; answers == had && now() < end;)
        pthread_cond_wait(&answer_is, &queue_lock);
    pthread_mutex_unlock(&queue_lock);
}
PLAIN static void handle_request(void)
{
    ask_prices();
    reserve_stock();
}
PLAIN static int take_request(void)
{
    pthread_mutex_lock(&queue_lock);
    while (!queued && now() < end)
        pthread_cond_wait(&queue_has, &queue_lock);
    int some = queued > 0;
    queued -= some;
    pthread_mutex_unlock(&queue_lock);
    return some;
}
PLAIN static void serve(void)
{
    while (now() < end)
        if (take_request())
            handle_request();
}
PLAIN static void price_loop(void)
{
    while (now() < end) {
        nap(25);
        pthread_mutex_lock(&queue_lock);
        answers++;
        pthread_cond_broadcast(&answer_is);
        pthread_mutex_unlock(&queue_lock);
    }
}
PLAIN static void accept_loop(int epoll)
{
    struct epoll_event e;
    for (int i = 0; now() < end; i++) {
        epoll_wait(epoll, &e, 1, 10);
        pthread_mutex_lock(&queue_lock);
        queued += 1;
        pthread_cond_signal(&queue_has);
        pthread_mutex_unlock(&queue_lock);
    }
}
PLAIN static void write_journal(int fd)
{
    static char page[65536];
    pwrite(fd, page, sizeof page, 0);
    fsync(fd);
}
PLAIN static void journal_loop(void)
{
    int fd = open("shop.journal", O_CREAT | O_RDWR, 0600);
    while (now() < end)
        write_journal(fd);
    unlink("shop.journal");
}
PLAIN static void rotate_logs(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t p = fork();
        if (!p) {
            nap(40);
            _exit(0);
        }
        waitpid(p, NULL, 0);
    }
}
PLAIN static void follow_pipe(int fd)
{
    char c;
    while (read(fd, &c, 1) > 0)
        ;
}
static int ends[2];
#define THREAD(function, call, text)                                                                         \
    static void *function(void *arg)                                                                         \
    {                                                                                                        \
        char name[16];                                                                                       \
        snprintf(name, sizeof name, text, (int)(long)arg);                                                   \
        pthread_setname_np(pthread_self(), name);                                                            \
        call;                                                                                                \
        return NULL;                                                                                         \
    }
THREAD(worker, serve(), "http-%d")
THREAD(prices, price_loop(), "prices")
THREAD(accepter, accept_loop(epoll_create1(0)), "accepter")
THREAD(journal, journal_loop(), "journal")
THREAD(logs, rotate_logs(), "logs")
THREAD(follow, follow_pipe(ends[0]), "follow")

int main(int argc, char **argv)
{
    pthread_t t;
    end = now() + (argc > 1 ? atof(argv[1]) : 0.6);
    if (pipe(ends))
        return 1;
    for (long i = 0; i < 4; i++)
        pthread_create(&t, NULL, worker, (void *)i);
    pthread_create(&t, NULL, prices, NULL);
    pthread_create(&t, NULL, accepter, NULL);
    pthread_create(&t, NULL, journal, NULL);
    pthread_create(&t, NULL, logs, NULL);
    pthread_create(&t, NULL, follow, NULL);
    while (now() < end) {
        nap(100);
        if (write(ends[1], "x", 1) < 0)
            return 1;
    }
    _exit(0);
}
