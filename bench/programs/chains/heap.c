/* The allocator: short paths into malloc and free, and longer ones below them. */
#include <stdlib.h>
#include <string.h>
#define F __attribute__((noinline))
typedef struct node { struct node *next; char *text; } node;
volatile unsigned result;

F static char *copy_text(unsigned n) {
    char *t = malloc(n);
    memset(t, 'a', n);
    return t;
}
F static node *push(node *list, unsigned n) {
    node *x = malloc(sizeof *x);
    x->next = list;
    x->text = copy_text(n);
    return x;
}
F static node *build(unsigned seed) {
    node *list = NULL;
    for (int i = 0; i < 300; i++) list = push(list, 16 + (seed = seed * 1664525u + 1013904223u) % 3000);
    return list;
}
F static void drop(node *list) {
    while (list) {
        node *next = list->next;
        free(list->text);
        free(list);
        list = next;
    }
}
F static unsigned grow(unsigned n) {
    char *p = NULL;
    for (unsigned i = 1; i <= n; i++) p = realloc(p, i * 97), p[i * 97 - 1] = (char)i;
    unsigned v = (unsigned char)p[n];
    free(p);
    return v;
}
F static unsigned tidy(node *list) {
    unsigned sum = 0;
    for (; list; list = list->next) for (int i = 0; i < 16; i++) sum = sum * 31 + (unsigned char)list->text[i];
    return sum;
}
int main(void) {
    for (unsigned r = 0; r < 33000; r++) {
        node *list = build(r);
        result += tidy(list) + grow(60);
        drop(list);
    }
    return 0;
}
