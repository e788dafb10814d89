/* Two releases of one program. The new one (-DNEW) has renamed sum_rows to total_rows, which is as fast as before;
   planted: format_row has become about twice as slow, and is the only one. Both have about a fifth of the old CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef NEW
#define sum_rows total_rows
#define WORK 2
#else
#define WORK 1
#endif

__attribute__((noinline)) unsigned long sum_rows(const unsigned *rows, size_t n)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + (rows[i] ^ sum >> 7);
    return sum;
}

__attribute__((noinline)) size_t format_row(char *out, unsigned v)
{
    size_t n = 0;
    for (int w = 0; w < WORK; w++) {
        unsigned x = v + (unsigned)w;
        n = 0;
        for (int i = 0; i < 24; i++) {
            out[n++] = (char)('0' + x % 10);
            x = x / 10 + 7u * v;
        }
    }
    return n;
}

__attribute__((noinline)) unsigned long sort_rows(unsigned *rows, size_t n)
{
    for (size_t gap = n / 2; gap; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            unsigned x = rows[i];
            size_t k = i;
            for (; k >= gap && rows[k - gap] > x; k -= gap)
                rows[k] = rows[k - gap];
            rows[k] = x;
        }
    return rows[n / 2];
}

int main(int argc, char **argv)
{
    enum { N = 20000 };
    static unsigned rows[N];
    char text[64];
    unsigned long out = 0;
    int rounds = argc > 1 ? atoi(argv[1]) : 600;
    for (int r = 0; r < rounds; r++) {
        for (size_t i = 0; i < N; i++)
            rows[i] = (unsigned)(i * 2654435761u + (unsigned)r);
        out += sort_rows(rows, N);
        for (int k = 0; k < 24; k++) {
            out += sum_rows(rows, N);
            rows[k] = (unsigned)out; // another sum each time, so that it is taken each time
        }
        for (size_t i = 0; i < N; i += 2)
            out += format_row(text, rows[i]);
    }
    printf("%lu\n", out);
    return 0;
}
