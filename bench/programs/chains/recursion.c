/* A recursive descent over an expression, and a tree: deep stacks, with libc at their leaves. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#define F __attribute__((noinline))
static char text[4096];
static const char *at;
typedef struct tree { struct tree *left, *right; char name[32]; } tree;
volatile long result;
static long sum_of(void);

F static long number(void) {
    char *end;
    long v = strtol(at, &end, 10);
    at = end;
    return v;
}
F static long factor(void) {
    if (*at != '(') return number();
    at++;
    long v = sum_of();
    at++;
    return v;
}
F static long product(void) {
    long v = factor();
    while (*at == '*') at++, v = v * factor() % 10007;
    return v;
}
static F long sum_of(void) {
    long v = product();
    while (*at == '+') at++, v += product();
    return v;
}
F static char *expression(char *out, int depth, unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    if (depth == 0) {
        *out++ = (char)('1' + (*seed >> 16) % 9);
        return out;
    }
    *out++ = '(';
    out = expression(out, depth - 1, seed);
    *out++ = *seed & 65536 ? '+' : '*';
    out = expression(out, depth - 1 - (depth > 3 && *seed >> 31), seed);
    *out++ = ')';
    return out;
}
F static tree *plant(int depth) {
    if (!depth) return NULL;
    tree *t = calloc(1, sizeof *t);
    memset(t->name, 'a' + depth, 31);
    t->left = plant(depth - 1), t->right = plant(depth - 1);
    return t;
}
F static long walk(const tree *t) { return t ? (long)strlen(t->name) + walk(t->left) + walk(t->right) : 0; }
F static void fell(tree *t) {
    if (!t) return;
    fell(t->left), fell(t->right);
    free(t);
}
int main(void) {
    for (unsigned r = 0; r < 32000; r++) {
        *expression(text, 9, &(unsigned){r}) = 0;
        for (int i = 0; i < 5; i++) at = text, result += sum_of();
        tree *t = plant(10);
        result += walk(t) + walk(t);
        fell(t);
    }
    return 0;
}
