/* Takes a fresh mapping for each buffer and gives it back. Planted: most of its time are page faults of fill. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) static unsigned long fill(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i += 4096)
        p[i] = (unsigned char)i;
    return p[n / 2];
}

__attribute__((noinline)) static unsigned long one_buffer(size_t n)
{
    unsigned char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 0;
    unsigned long x = fill(p, n);
    munmap(p, n);
    return x;
}

int main(int argc, char **argv)
{
    unsigned long sum = 0;
    for (int i = 0, n = argc > 1 ? atoi(argv[1]) : 3000; i < n; i++)
        sum += one_buffer(4u << 20);
    printf("%lu\n", sum);
    return 0;
}
