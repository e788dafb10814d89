/* A shared library of its own, built without frame pointers, that also calls back; see host.c. */
#include <stdlib.h>
#define F __attribute__((noinline))
F static unsigned scramble(unsigned v) {
    for (int i = 0; i < 40; i++) v = v * 1664525u + 1013904223u, v ^= v >> 11;
    return v;
}
F static unsigned each(unsigned n, unsigned (*f)(unsigned)) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) sum += f(i) + scramble(i);
    return sum;
}
unsigned plugin_apply(unsigned n, unsigned (*f)(unsigned));
unsigned plugin_filter(unsigned n);
unsigned plugin_apply(unsigned n, unsigned (*f)(unsigned)) { return each(n, f) * 3; }
unsigned plugin_filter(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) sum += scramble(i) & 7;
    return sum;
}
