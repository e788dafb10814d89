/* A pool of threads that take jobs under a lock: libc starts them, and does part of their work. */
#include <pthread.h>
#include <string.h>
#define F __attribute__((noinline))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next_job;
volatile unsigned long result;

F static unsigned long checksum(const unsigned char *p, int n) {
    unsigned long h = 5381;
    for (int i = 0; i < n; i++) h = h * 33 + p[i];
    return h;
}
F static unsigned long copy_job(int j) {
    unsigned char from[4096], to[4096];
    memset(from, j, sizeof from);
    for (int i = 0; i < 30; i++) memcpy(to, from, sizeof to), from[i] = to[i + 1];
    return to[7];
}
F static unsigned long hash_job(int j) {
    unsigned char block[2048];
    memset(block, j, sizeof block);
    return checksum(block, sizeof block);
}
F static int take(void) {
    pthread_mutex_lock(&lock);
    int j = next_job++;
    pthread_mutex_unlock(&lock);
    return j;
}
F static void *work(void *arg) {
    unsigned long sum = 0;
    for (int j; (j = take()) < 900000;) sum += j % 2 ? copy_job(j) : hash_job(j);
    *(unsigned long *)arg = sum;
    return NULL;
}
int main(void) {
    pthread_t t[4];
    unsigned long sums[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, &sums[i]);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL), result += sums[i];
    return 0;
}
