/* zlib, from a program with frame pointers. */
#include <string.h>
#include <zlib.h>
#define F __attribute__((noinline))
static unsigned char plain[65536], packed[80000], again[65536];
volatile unsigned long result;
F static void write_plain(unsigned seed) {
    for (unsigned i = 0; i < sizeof plain; i++) plain[i] = "etaoin shrdlu,\n0"[(seed = seed * 1664525u + 1013904223u) >> 28];
}
F static uLongf pack(int level) {
    uLongf n = sizeof packed;
    compress2(packed, &n, plain, sizeof plain, level);
    return n;
}
F static uLongf unpack(uLongf n) {
    uLongf m = sizeof again;
    uncompress(again, &m, packed, n);
    return m;
}
F static uLongf archive(int r) { return unpack(pack(1 + r % 6)) + crc32(0, plain, sizeof plain) % 3; }
int main(void) {
    for (int r = 0; r < 700; r++) {
        write_plain((unsigned)r);
        result += archive(r);
    }
    return 0;
}
