/* Many threads that live shortly, one after another and eight at a time: each works 0.2 ms and sleeps 1 ms.
 */
#include "known.h"

static void *briefly(void *arg)
{
    char name[16];
    snprintf(name, sizeof name, "brief-%d", (int)(long)arg);
    known_thread(name);
    burn(200000);
    nap(1000000);
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("many");
    known_thread("many");
    int64_t until = known_now() + known_duration(argc, argv, 250);
    long number = 0;
    while (known_now() < until) {
        pthread_t t[8];
        for (int i = 0; i < 8; i++)
            pthread_create(&t[i], 0, briefly, (void *)number++);
        known_wait(LOCK); /* a join is a futex */
        for (int i = 0; i < 8; i++)
            pthread_join(t[i], 0);
        known_waited(LOCK);
    }
    known_done();
    known_print();
    return 0;
}
