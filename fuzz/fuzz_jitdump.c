/*
 * jitdumps: whatever the bytes, symbols that are found hold the address, and the code that stood somewhere at
 * a time is what a search of all of it says.
 */
#include "symbols/jitdump.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEARCHED_MAX = 400, ASKED_MAX = 100 };

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

static void die(const char *what)
{
    fprintf(stderr, "jitdump: %s\n", what);
    abort();
}

/* The latest that was there by then, else the first that came; codes are in order of time. */
static uint32_t plain_search(const struct sp_jitdump *jit, uint64_t addr, uint64_t time, size_t *there)
{
    uint32_t best = SP_JIT_ONE;
    *there = 0;
    for (uint32_t i = 0; i < jit->codes.n; i++) {
        const struct sp_jit_code *c = &jit->codes.v[i];
        if (addr < c->start || addr >= c->end)
            continue;
        ++*there;
        if (best == SP_JIT_ONE || c->time <= time)
            best = i;
    }
    return best;
}

static void ask_address(const struct sp_symtab *t, const struct sp_jitdump *jit, uint64_t addr, uint64_t time)
{
    size_t there;
    uint32_t code = sp_jitdump_code(jit, addr, time), want = plain_search(jit, addr, time, &there);
    const struct sp_sym *s = sp_symtab_find(t, addr);
    if (s && (addr < s->start || addr >= s->end))
        die("a symbol that is elsewhere");
    if (!s != !there)
        die("code without a symbol, or a symbol without code");
    if (s)
        sp_jitdump_line(jit, s, addr);
    if (code == SP_JIT_ONE ? there > 1 : code != want)
        die("other code stood there");
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    struct sp_symtab t;
    struct sp_jitdump jit = {0};
    bool is_one;
    sp_symtab_init(&t);
    if (!sp_jitdump_parse(p, n, &t, &jit, &is_one))
        die("out of memory");
    for (size_t i = 0; jit.codes.n <= SEARCHED_MAX && i < jit.codes.n && i < ASKED_MAX; i++) {
        const struct sp_jit_code *c = &jit.codes.v[i];
        const uint64_t addresses[] = {c->start, c->start - 1, c->start + (c->end - c->start) / 2, c->end - 1,
                                      c->end};
        const uint64_t times[] = {0, c->time - 1, c->time, c->time + 1, UINT64_MAX};
        for (size_t k = 0; k < 25; k++)
            ask_address(&t, &jit, addresses[k / 5], times[k % 5]);
    }
    sp_symtab_free(&t);
    sp_jitdump_free(&jit);
    return 0;
}
