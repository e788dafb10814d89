/* A process of two threads that is stopped (SIGSTOP) for a third of the run: one would work, one sleeps. */
#include "known.h"

static int64_t until;

static void *worker(void *arg)
{
    (void)arg;
    known_thread("worker");
    spin_until(until);
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("stopped");
    known_thread("control");
    int64_t length = known_duration(argc, argv, 300);
    until = known_now() + length;
    int child = fork();
    if (!child) {
        known_thread("sleeper");
        pthread_t t;
        pthread_create(&t, 0, worker, 0);
        while (known_now() < until)
            nap(10000000);
        pthread_join(t, 0);
        known_done();
        _exit(0);
    }
    nap(length / 3);
    known_hold("stop");
    kill(child, SIGSTOP);
    nap(length / 3);
    kill(child, SIGCONT);
    known_held();
    known_wait(CHILD);
    waitpid(child, 0, 0);
    known_waited(CHILD);
    known_done();
    known_print();
    return 0;
}
