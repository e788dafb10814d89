/* qsort and bsearch call back: libc stands in the middle of the stacks. */
#include <stdlib.h>
#define F __attribute__((noinline))
typedef struct { unsigned key, more; } item;
static item items[2000];
volatile unsigned result;

F static unsigned weigh(unsigned v) {
    for (int i = 0; i < 3; i++) v ^= v << 7, v ^= v >> 9;
    return v;
}
F static int by_key(const void *a, const void *b) {
    unsigned x = ((const item *)a)->key, y = ((const item *)b)->key;
    return x < y ? -1 : x > y;
}
F static int by_weight(const void *a, const void *b) {
    unsigned x = weigh(((const item *)a)->key), y = weigh(((const item *)b)->key);
    return x < y ? -1 : x > y;
}
F static void order(int (*how)(const void *, const void *)) { qsort(items, 2000, sizeof *items, how); }
F static unsigned look_up(unsigned from) {
    unsigned found = 0;
    for (unsigned i = 0; i < 1000; i++) {
        item wanted = {from + i * 2654435761u, 0};
        found += bsearch(&wanted, items, 2000, sizeof *items, by_key) != NULL;
    }
    return found;
}
F static void fill(unsigned seed) {
    for (int i = 0; i < 2000; i++) items[i].key = seed = seed * 1664525u + 1013904223u;
}
int main(void) {
    for (unsigned r = 0; r < 3000; r++) {
        fill(r);
        order(by_weight);
        order(by_key);
        result += look_up(r);
    }
    return 0;
}
