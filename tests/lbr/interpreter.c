/*
 * A program for profiles of branches: an interpreter of a small machine, most of whose instructions are rare.
 * What it computes says whether an optimised build still does the same. Built and run by tests/lbr/simulate.py
 * and by the measurement of docs/optimiser.md.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 256 };

struct machine {
    uint64_t r[8], memory[WORDS];
    uint64_t traps, checks;
};

static uint64_t trap(struct machine *m, uint64_t code)
{
    m->traps++;
    m->memory[code % WORDS] ^= code * 0x9e3779b97f4a7c15u;
    if (m->traps % 3 == 0)
        m->checks += m->traps / 3;
    return m->traps;
}

static uint64_t load(struct machine *m, uint64_t at)
{
    if (at >= WORDS)
        return trap(m, at);
    return m->memory[at];
}

static void store(struct machine *m, uint64_t at, uint64_t value)
{
    if (at >= WORDS) {
        trap(m, at);
        return;
    }
    m->memory[at] = value;
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
    if (b == 0)
        return trap(m, 7);
    return a / b;
}

static int step(struct machine *m, uint32_t word)
{
    uint64_t *a = &m->r[word >> 8 & 7], b = m->r[word >> 11 & 7], c = word >> 14;
    switch (word & 31) {
    case 0: *a = trap(m, c); break;
    case 1: *a = divide(m, *a, b); break;
    case 2: *a = divide(m, b, *a) + c; break;
    case 3: *a = *a << (b & 63) | *a >> (63 - (b & 63)); break;
    case 4: *a = ~*a ^ trap(m, b); break;
    case 5: m->checks ^= load(m, b); break;
    case 6: *a = (uint64_t)__builtin_popcountll(b) * c; break;
    case 7: *a += *a % (c + 1) + b % (c + 3); break;
    case 8: store(m, (b + c) % (WORDS + 1), *a); break;
    case 9: if (*a > b) return (int)(c & 3); break;
    case 10: *a = b + c; break;
    case 11: *a ^= b >> 7 ^ c; break;
    case 12: *a += load(m, (b + c) % WORDS); break;
    case 13: store(m, (b ^ c) % WORDS, *a); break;
    case 14: if (*a & 1) *a = *a * 3 + 1; else *a >>= 1; break;
    case 15: if (b == 0) trap(m, c); else *a -= b & c; break;
    default:
        if (word & 64)
            *a = divide(m, *a + c, (b | 1) & 0xff);
        else
            m->checks += *a & 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const unsigned char usual[] = {10, 11, 12, 13, 14, 14, 11, 15, 12, 10, 14, 13, 9, 11, 14, 12};
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    static struct machine m;
    uint32_t code[512], seed = 12345;
    for (unsigned i = 0; i < 512; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t op = seed >> 28 || i % 64 ? usual[seed >> 28] : seed >> 20 & 31;
        code[i] = op | (seed >> 6 & 0x3fff) << 8;
    }
    for (unsigned i = 0; i < 8; i++)
        m.r[i] = i + 1;
    for (unsigned long n = 0; n < rounds; n++)
        for (unsigned i = 0; i < 512; i++)
            i += (unsigned)step(&m, code[i]);
    uint64_t sum = m.checks + m.traps;
    for (unsigned i = 0; i < WORDS; i++)
        sum = sum * 31 + m.memory[i];
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}
