/* What the programs of diff_verdicts.py share: rounds of fixed work, divided among the parts by CALLS.
 *
 * `program` does the work; `program N` does N rounds and prints the nanoseconds that each part took, which is what
 * CALLS is calibrated with. CALLS has the calls a round of each part in the order of PARTS.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef CALLS
#define CALLS
#endif
#ifndef ROUNDS
#define ROUNDS 50
#endif

#define PART __attribute__((noinline, noclone))

typedef struct {
    const char *name;
    unsigned (*call)(unsigned);
} part;

static const int calls[] = {CALLS};
volatile unsigned result;

__attribute__((always_inline)) static inline uint32_t rnd(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

static PART unsigned do_part(const part *p, int n, unsigned seed) {
    unsigned sum = 0;
    for (int i = 0; i < n; i++) sum += p->call(seed + (unsigned)i * 7919);
    return sum;
}

static int run(const part *parts, int count, int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    double spent[64] = {0};
    unsigned sum = 0;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < count; i++) {
            struct timespec a, b;
            int n = (unsigned)i < sizeof calls / sizeof *calls ? calls[i] : 1;
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
            sum += do_part(&parts[i], n, (unsigned)r * 104729 + 1); /* each part does the same whatever the others do */
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
            spent[i] += (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
        }
    }
    result = sum;
    for (int i = 0; argc > 1 && i < count; i++) printf("%s %.0f\n", parts[i].name, spent[i] / rounds);
    return 0;
}
