/* A program of a dozen hot functions: texts, tables, trees and numbers, as a ledger's import might have. */
#include "driver.h"

#define TABLE (1u << 16)
#define NODES (1u << 14)
#define RING (1u << 16)

static uint32_t crc_table[256];
static unsigned char bytes[4096];
static char text[4096];
static uint64_t table[TABLE];
static struct {
    uint32_t key, left, right;
} nodes[NODES];
static struct {
    uint32_t next, pad[15];
} ring[RING];
static uint32_t numbers[256], heap[512], histogram[4][256];
static double coefficients[24];
static unsigned char sieve[8192];

static PART unsigned crc_update(unsigned seed) {
    uint32_t c = seed;
    for (int i = 0; i < 2048; i++) c = crc_table[(c ^ bytes[i]) & 255] ^ (c >> 8);
    return c;
}

static PART unsigned parse_number(const char **at) {
    unsigned n = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) n = n * 10 + (unsigned)(**at - '0');
    return n;
}

static PART unsigned split_fields(unsigned seed) {
    const char *at = text + seed % 64;
    unsigned fields = 0, sum = 0;
    while (*at) {
        if (*at >= '0' && *at <= '9') {
            sum += parse_number(&at);
        } else {
            fields += *at == ',' || *at == '\n';
            at++;
        }
    }
    return fields + sum;
}

static PART unsigned table_find(unsigned seed) {
    unsigned found = 0;
    uint32_t s = seed | 1;
    for (int i = 0; i < 200; i++) {
        uint32_t key = rnd(&s) % TABLE;
        uint32_t at = key * 2654435761u >> 16;
        while (table[at] && table[at] != key) at = (at + 1) % TABLE;
        found += table[at] != 0;
    }
    return found;
}

static PART unsigned sort_batch(unsigned seed) {
    uint32_t s = seed | 1;
    for (int i = 0; i < 256; i++) numbers[i] = rnd(&s);
    for (int gap = 121; gap > 0; gap /= 3) {
        for (int i = gap; i < 256; i++) {
            uint32_t v = numbers[i];
            int j = i;
            for (; j >= gap && numbers[j - gap] > v; j -= gap) numbers[j] = numbers[j - gap];
            numbers[j] = v;
        }
    }
    return numbers[7];
}

static PART void sift_down(uint32_t *h, unsigned n, unsigned i) {
    for (;;) {
        unsigned c = 2 * i + 1;
        if (c >= n) return;
        if (c + 1 < n && h[c + 1] < h[c]) c++;
        if (h[i] <= h[c]) return;
        uint32_t t = h[i];
        h[i] = h[c];
        h[c] = t;
        i = c;
    }
}

static PART unsigned heap_replace(unsigned seed) {
    uint32_t s = seed | 1;
    for (int i = 0; i < 100; i++) {
        heap[0] = rnd(&s);
        sift_down(heap, 512, 0);
    }
    return heap[0];
}

static PART unsigned edit_distance(unsigned seed) {
    unsigned char row[65];
    const char *a = text + seed % 512, *b = text + seed % 1024 + 512;
    for (int i = 0; i <= 64; i++) row[i] = (unsigned char)i;
    for (int i = 0; i < 64; i++) {
        unsigned char diagonal = row[0];
        row[0] = (unsigned char)(i + 1);
        for (int j = 0; j < 64; j++) {
            int best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j + 1] + 1 < best) best = row[j + 1] + 1;
            row[j + 1] = (unsigned char)best;
        }
    }
    return row[64];
}

static PART unsigned price_curve(unsigned seed) {
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        double x = (seed % 100 + (unsigned)i) * 0.001, y = 0;
        for (int k = 0; k < 24; k++) y = y * x + coefficients[k];
        sum += y;
    }
    return (unsigned)sum;
}

static PART unsigned longest_match(unsigned seed) {
    unsigned best = 0, here = 1024 + seed % 1024;
    for (unsigned at = here - 1000; at < here; at++) {
        unsigned n = 0;
        while (n < 64 && text[at + n] == text[here + n]) n++;
        if (n > best) best = n;
    }
    return best;
}

static PART unsigned tree_find(unsigned seed) {
    uint32_t s = seed | 1;
    unsigned depth = 0;
    for (int i = 0; i < 50; i++) {
        uint32_t key = rnd(&s);
        for (uint32_t at = 1; at; depth++) at = key < nodes[at].key ? nodes[at].left : nodes[at].right;
    }
    return depth;
}

static PART unsigned follow_ring(unsigned seed) {
    uint32_t at = seed % RING;
    for (int i = 0; i < 200; i++) at = ring[at].next;
    return at;
}

static PART unsigned count_bytes(unsigned seed) {
    memset(histogram, 0, sizeof histogram);
    for (int i = 0; i < 4096; i += 4) /* four tables: adding to one counter twice in a row waits, more in some layouts */
        for (int k = 0; k < 4; k++) histogram[k][bytes[i + k]]++;
    return histogram[0][seed & 255];
}

static PART unsigned sieve_primes(unsigned seed) {
    memset(sieve, 1, sizeof sieve);
    for (unsigned i = 2; i * i < sizeof sieve; i++) {
        if (!sieve[i]) continue;
        for (unsigned j = i * i; j < sizeof sieve; j += i) sieve[j] = 0;
    }
    return sieve[seed % sizeof sieve];
}

static void tree_add(uint32_t at) {
    for (uint32_t up = 1;;) {
        uint32_t *down = nodes[at].key < nodes[up].key ? &nodes[up].left : &nodes[up].right;
        if (!*down) {
            *down = at;
            return;
        }
        up = *down;
    }
}

static void prepare(void) {
    uint32_t s = 12345;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        crc_table[i] = c;
    }
    for (int i = 0; i < 4096; i++) bytes[i] = (unsigned char)rnd(&s);
    for (int i = 0; i < 4095; i++) text[i] = "0123456789,abcde\n"[rnd(&s) % 17];
    for (uint32_t i = 0; i < TABLE / 2; i++) {
        uint32_t key = rnd(&s) % (TABLE - 1) + 1, at = key * 2654435761u >> 16;
        while (table[at] && table[at] != key) at = (at + 1) % TABLE;
        table[at] = key;
    }
    for (uint32_t i = 1; i < NODES; i++) nodes[i].key = rnd(&s);
    for (uint32_t i = 2; i < NODES; i++) tree_add(i);
    for (uint32_t i = 0; i < RING; i++) ring[i].next = i;
    for (uint32_t i = RING - 1; i > 0; i--) { /* Sattolo: one cycle */
        uint32_t j = rnd(&s) % i, t = ring[i].next;
        ring[i].next = ring[j].next;
        ring[j].next = t;
    }
    for (int i = 0; i < 512; i++) heap[i] = rnd(&s);
    for (int i = 0; i < 24; i++) coefficients[i] = (double)(rnd(&s) % 9);
}

int main(int argc, char **argv) {
    static const part parts[] = {
        {"crc_update", crc_update},       {"split_fields", split_fields},     {"table_find", table_find},
        {"sort_batch", sort_batch},       {"heap_replace", heap_replace},     {"edit_distance", edit_distance},
        {"price_curve", price_curve},     {"longest_match", longest_match},   {"tree_find", tree_find},
        {"follow_ring", follow_ring},     {"count_bytes", count_bytes},       {"sieve_primes", sieve_primes},
    };
    prepare();
    return run(parts, sizeof parts / sizeof *parts, argc, argv);
}
