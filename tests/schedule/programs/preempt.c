/* Six spinners on one CPU: each runs a sixth and waits for the CPU the rest of the time. With "mixed" two of
   them have less priority (nice 10). */
#include "known.h"

enum { SPINNERS = 6 };
static int64_t until;
static int mixed;

static void *spin(void *arg)
{
    int number = (int)(long)arg;
    char name[16];
    snprintf(name, sizeof name, "spin-%d", number);
    pin(0);
    if (mixed && number < 2)
        setpriority(PRIO_PROCESS, (unsigned)syscall(SYS_gettid), 10);
    known_thread(name);
    spin_until(until);
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("preempt");
    known_thread("preempt");
    mixed = argc > 2;
    until = known_now() + known_duration(argc, argv, 400);
    pthread_t t[SPINNERS];
    for (long i = 0; i < SPINNERS; i++)
        pthread_create(&t[i], 0, spin, (void *)i);
    for (int i = 0; i < SPINNERS; i++)
        pthread_join(t[i], 0);
    known_done();
    known_print();
    return 0;
}
