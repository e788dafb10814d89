/* Twenty workers and a refresher that share a lock. Planted: the refresher holds it for 150 ms twice, of which it runs
   a small part: it waits for a CPU that a spinner of another process takes. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static volatile unsigned long sink;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void spin(double seconds)
{
    for (double until = now() + seconds; now() < until;)
        sink = sink * 31 + 7;
}

__attribute__((noinline)) static void handle_request(void)
{
    pthread_mutex_lock(&lock);
    sink++;
    pthread_mutex_unlock(&lock);
    struct timespec nap = {0, 2000000};
    nanosleep(&nap, 0);
}

static void *worker(void *arg)
{
    char name[16];
    snprintf(name, sizeof name, "http-%d", (int)(long)arg);
    pthread_setname_np(pthread_self(), name);
    while (!stop)
        handle_request();
    return 0;
}

__attribute__((noinline)) static void refresh(void)
{
    pthread_mutex_lock(&lock);
    spin(0.15);
    pthread_mutex_unlock(&lock);
}

static void *refresher(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "refresher");
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    for (int i = 0; i < 2; i++) {
        usleep(700000);
        refresh();
    }
    return 0;
}

int main(void)
{
    pid_t spinner = fork();
    if (!spinner) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        sched_setaffinity(0, sizeof one, &one);
        execlp("sh", "spinner", "-c", "while :; do :; done", (char *)0);
        _exit(1);
    }
    pthread_t t[21];
    for (long i = 0; i < 20; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    pthread_create(&t[20], 0, refresher, 0);
    pthread_join(t[20], 0);
    usleep(300000);
    stop = 1;
    for (int i = 0; i < 20; i++)
        pthread_join(t[i], 0);
    kill(spinner, 9);
    waitpid(spinner, 0, 0);
    return 0;
}
