/* Calls a library without frame pointers, which calls back. */
#define F __attribute__((noinline))
unsigned plugin_apply(unsigned n, unsigned (*f)(unsigned));
unsigned plugin_filter(unsigned n);
volatile unsigned result;
F static unsigned price(unsigned v) {
    for (int i = 0; i < 30; i++) v ^= v << 13, v ^= v >> 17;
    return v;
}
F static unsigned tax(unsigned v) { return price(v) / 7 + v; }
F static unsigned batch(unsigned n) { return plugin_apply(n, tax) + 1; }
F static unsigned report(unsigned n) { return plugin_filter(n) + price(n); }
F static unsigned day(unsigned n) { return batch(n) + report(n) + 1; }
int main(void) {
    for (unsigned r = 0; r < 20000; r++) result += day(600);
    return 0;
}
