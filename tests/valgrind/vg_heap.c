/* Known amounts: what is lost, how, and how much of it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    char data[56];
};

static void *kept;              /* still reachable */
static char *inside;            /* possibly lost: points into the middle */

static struct node *list(int n) /* the head is lost directly, the rest indirectly */
{
    struct node *head = NULL;
    for (int i = 0; i < n; i++) {
        struct node *x = malloc(sizeof *x);
        x->next = head;
        head = x;
    }
    return head;
}

static inline __attribute__((always_inline)) char *inner(size_t n)
{
    char *p = malloc(n);
    memset(p, 1, n);
    __asm__ volatile("" : "+r"(p));
    return p;
}

static __attribute__((noinline)) void lose(size_t n)
{
    inner(n);
}

static __attribute__((noinline)) void deep(int depth)
{
    if (depth)
        deep(depth - 1);
    else
        lose(3000);
}

static void *work(void *arg)
{
    for (int i = 0; i < 20; i++)
        free(inner(10000));
    lose(500);
    return arg;
}

int main(void)
{
    pthread_t t;
    char *big = inner(200000);
    kept = malloc(4000);
    inside = (char *)malloc(700) + 100;
    list(10);
    for (int i = 0; i < 5; i++)
        lose(1000);
    deep(3);
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    free(big);
    char *again = calloc(30, 100);
    again = realloc(again, 6000);
    memcpy(again + 3000, again, 3000);
    free(again);
    return 0;
}
