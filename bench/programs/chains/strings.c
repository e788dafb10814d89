/* String functions of libc, which keep no frame pointers, called from several depths. */
#include <string.h>
#include <stdlib.h>
#define F __attribute__((noinline))
static char words[512][64], page[65536];
volatile unsigned long result;

F static unsigned long length_of(int i) { return strlen(words[i]) + 1; }
F static unsigned long compare_with(int i, int j) { return (unsigned long)strcmp(words[i], words[j]) & 3; }
F static unsigned long find_in(const char *p, int i) { return strstr(p, words[i] + 50) ? 1 : strchr(p, '!') ? 2 : 3; }
F static unsigned long move_page(size_t n) {
    memcpy(page, page + 32768, n);
    memset(page + n, 'x', 64);
    return (unsigned long)page[n / 2];
}
F static unsigned long index_words(int round) {
    unsigned long sum = 0;
    for (int i = 0; i < 512; i++) sum += length_of(i) + compare_with(i, (i + round) & 511);
    return sum;
}
F static unsigned long search(int round) {
    unsigned long sum = 0;
    for (int i = 0; i < 8; i++) sum += find_in(words[(i + round) & 511], (i * 7) & 511);
    return sum;
}
F static unsigned long own_work(int round) {
    unsigned long h = 14695981039346656037ul;
    for (int i = 0; i < 4000; i++) h = (h ^ (unsigned char)page[i + (round & 1023)]) * 1099511628211ul;
    return h;
}
int main(void) {
    for (int i = 0; i < 512; i++) for (int k = 0; k < 62; k++) words[i][k] = (char)('a' + (k < 55 ? k % 26 : (i * k) % 26));
    memset(page, 'y', sizeof page);
    for (int r = 0; r < 130000; r++) result += index_words(r) + search(r) + move_page(16000) + own_work(r);
    return 0;
}
