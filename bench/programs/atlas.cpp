/* Another program of a dozen hot functions: pictures, paths, digests and strings. */
#include "driver.h"
#include <algorithm>
#include <complex>
#include <queue>
#include <vector>

namespace atlas {

constexpr unsigned Side = 96;
constexpr unsigned Entries = 1u << 15;

unsigned char picture[Side][Side], smooth[Side][Side];
unsigned char cells[66][66], next_cells[66][66];
unsigned char cost[1024];
unsigned char message[1024];
char encoded[2048], document[4096];
std::complex<double> wave[256];
struct Body { double x, y, z, vx, vy, vz, mass; } bodies[12];
struct Entry { uint32_t key, newer, older, pad[13]; } entries[Entries];
struct Trie { uint16_t child[16]; uint32_t hits; } trie[6000];
uint16_t trie_used = 1;
std::vector<const char *> names;

class Digest {
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

public:
    PART void block(const unsigned char *p) {
        uint32_t w[64];
        for (int i = 0; i < 16; i++) memcpy(&w[i], p + 4 * i, 4);
        for (int i = 16; i < 64; i++) {
            uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + a + w[i - 7] + b;
        }
        uint32_t s[8];
        memcpy(s, h, sizeof s);
        for (int i = 0; i < 64; i++) {
            uint32_t t = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + w[i];
            uint32_t u = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += t;
            s[0] = t + u;
        }
        for (int i = 0; i < 8; i++) h[i] += s[i];
    }
    uint32_t value() const { return h[0]; }
};

PART unsigned digest_message(unsigned seed) {
    Digest d;
    message[0] = (unsigned char)seed;
    for (int i = 0; i < 1024; i += 64) d.block(message + i);
    return d.value();
}

PART unsigned step_bodies(unsigned) {
    for (auto &a : bodies) {
        for (auto &b : bodies) {
            double x = b.x - a.x, y = b.y - a.y, z = b.z - a.z, d = x * x + y * y + z * z + 0.1, f = b.mass * 1e-6 / d;
            a.vx += x * f, a.vy += y * f, a.vz += z * f;
        }
    }
    for (auto &a : bodies) a.x += a.vx, a.y += a.vy, a.z += a.vz;
    return (unsigned)(bodies[0].x > 0);
}

PART unsigned blur_rows(unsigned seed) {
    unsigned y0 = seed % (Side - 12);
    for (unsigned y = y0 + 1; y < y0 + 11; y++)
        for (unsigned x = 1; x + 1 < Side; x++) {
            unsigned sum = 0;
            for (unsigned i = y - 1; i <= y + 1; i++)
                for (unsigned j = x - 1; j <= x + 1; j++) sum += picture[i][j];
            smooth[y][x] = (unsigned char)(sum / 9);
        }
    return smooth[y0 + 3][5];
}

PART unsigned shortest_path(unsigned seed) {
    using Step = std::pair<unsigned, unsigned>;
    static unsigned best[1024];
    std::fill(best, best + 1024, ~0u);
    std::priority_queue<Step, std::vector<Step>, std::greater<Step>> open;
    unsigned from = seed % 1024;
    open.push({0, from});
    best[from] = 0;
    for (int n = 0; n < 120 && !open.empty(); n++) {
        auto [so_far, at] = open.top();
        open.pop();
        if (so_far > best[at]) continue;
        for (unsigned to : {at + 1, at - 1, at + 32, at - 32}) {
            if (to >= 1024) continue;
            unsigned c = so_far + cost[to];
            if (c < best[to]) {
                best[to] = c;
                open.push({c, to});
            }
        }
    }
    return best[(from + 3) % 1024];
}

PART unsigned trie_find(unsigned seed) {
    uint32_t s = seed | 1;
    unsigned hits = 0;
    for (int i = 0; i < 100; i++) {
        uint32_t word = rnd(&s);
        uint16_t at = 0;
        do {
            at = trie[at].child[word & 15];
            word >>= 4;
            hits += trie[at].hits;
        } while (at);
    }
    return hits;
}

PART unsigned encode_message(unsigned seed) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    message[1] = (unsigned char)seed;
    char *out = encoded;
    for (int i = 0; i + 2 < 1024; i += 3) {
        unsigned v = (unsigned)message[i] << 16 | (unsigned)message[i + 1] << 8 | message[i + 2];
        for (int k = 18; k >= 0; k -= 6) *out++ = alphabet[v >> k & 63];
    }
    return (unsigned)encoded[7];
}

PART const char *skip_string(const char *p) {
    while (*p && *p != '"') p += *p == '\\' && p[1] ? 2 : 1;
    return *p ? p + 1 : p;
}

PART unsigned scan_document(unsigned seed) {
    unsigned depth = 0, members = 0;
    for (const char *p = document + seed % 128; *p;) {
        switch (*p++) {
        case '{': case '[': depth++; break;
        case '}': case ']': depth--; break;
        case ',': case ':': members++; break;
        case '"': p = skip_string(p); break;
        default: break;
        }
    }
    return depth + members;
}

PART unsigned transform(unsigned seed) {
    static std::complex<double> w[256];
    std::copy(wave, wave + 256, w);
    w[0] = seed % 5;
    for (unsigned half = 128; half; half /= 2) {
        std::complex<double> turn = std::polar(1.0, -3.14159265358979 / half);
        for (unsigned at = 0; at < 256; at += 2 * half) {
            std::complex<double> f = 1;
            for (unsigned i = at; i < at + half; i++) {
                auto a = w[i], b = w[i + half];
                w[i] = a + b;
                auto d = a - b;
                w[i + half] = {d.real() * f.real() - d.imag() * f.imag(), d.real() * f.imag() + d.imag() * f.real()};
                f = {f.real() * turn.real() - f.imag() * turn.imag(), f.real() * turn.imag() + f.imag() * turn.real()};
            }
        }
    }
    return (unsigned)std::abs(w[17].real());
}

PART unsigned grow_cells(unsigned) {
    for (int y = 1; y < 17; y++)
        for (int x = 1; x < 65; x++) {
            int n = cells[y - 1][x - 1] + cells[y - 1][x] + cells[y - 1][x + 1] + cells[y][x - 1] + cells[y][x + 1] +
                    cells[y + 1][x - 1] + cells[y + 1][x] + cells[y + 1][x + 1];
            next_cells[y][x] = n == 3 || (n == 2 && cells[y][x]);
        }
    return next_cells[3][4];
}

PART void make_newest(uint32_t at) {
    Entry &e = entries[at];
    entries[e.newer].older = e.older;
    entries[e.older].newer = e.newer;
    e.older = entries[0].older;
    e.newer = 0;
    entries[e.older].newer = at;
    entries[0].older = at;
}

PART unsigned touch_cache(unsigned seed) {
    uint32_t s = seed | 1;
    for (int i = 0; i < 60; i++) make_newest(rnd(&s) % (Entries - 1) + 1);
    return entries[0].older;
}

PART unsigned align_strings(unsigned seed) {
    int row[49] = {0}, best = 0;
    const char *a = document + seed % 1024, *b = document + 1024 + seed % 512;
    for (int i = 0; i < 48; i++) {
        int diagonal = 0;
        for (int j = 1; j <= 48; j++) {
            int v = diagonal + (a[i] == b[j] ? 3 : -2);
            diagonal = row[j];
            v = std::max({v, row[j] - 1, row[j - 1] - 1, 0});
            row[j] = v;
            best = std::max(best, v);
        }
    }
    return (unsigned)best;
}

PART unsigned sort_names(unsigned seed) {
    std::vector<const char *> some(names.begin() + seed % 100, names.begin() + seed % 100 + 120);
    std::sort(some.begin(), some.end(), [](const char *a, const char *b) { return strcmp(a, b) < 0; });
    return (unsigned)some[3][0];
}

PART unsigned escape_time(unsigned seed) {
    unsigned total = 0;
    for (int i = 0; i < 32; i++) {
        double cx = -1.5 + (seed + (unsigned)i * 37) % 100 * 0.02, cy = (seed + (unsigned)i * 11) % 70 * 0.01, x = 0, y = 0;
        int n = 0;
        for (; n < 60 && x * x + y * y < 4; n++) {
            double t = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = t;
        }
        total += (unsigned)n;
    }
    return total;
}

void prepare() {
    uint32_t s = 4711;
    for (auto &row : picture) for (auto &c : row) c = (unsigned char)rnd(&s);
    for (auto &row : cells) for (auto &c : row) c = rnd(&s) % 3 == 0;
    for (auto &c : cost) c = (unsigned char)(1 + rnd(&s) % 20);
    for (auto &c : message) c = (unsigned char)rnd(&s);
    for (unsigned i = 0; i + 1 < sizeof document; i++) document[i] = "{}[],:\"\\abcdefghijk0123"[rnd(&s) % 23];
    for (auto &c : wave) c = rnd(&s) % 100;
    for (auto &b : bodies) b = {(double)(rnd(&s) % 99), (double)(rnd(&s) % 99), (double)(rnd(&s) % 99), 0, 0, 0, 1.0 + rnd(&s) % 9};
    for (uint32_t i = 0; i < Entries; i++) entries[i] = {i, (i + Entries - 1) % Entries, (i + 1) % Entries, {0}};
    while (trie_used < 5990) {
        uint32_t word = rnd(&s);
        uint16_t at = 0;
        for (int d = 0; d < 8 && trie_used < 5999; d++, word >>= 4) {
            uint16_t &child = trie[at].child[word & 15];
            if (!child) {
                child = trie_used++;
                break;
            }
            at = child;
        }
        trie[at].hits++;
    }
    for (int i = 0; i < 220; i++) {
        char *name = (char *)malloc(16);
        for (int k = 0; k < 15; k++) name[k] = (char)('a' + rnd(&s) % (k < 6 ? 2 : 26));
        name[15] = 0;
        names.push_back(name);
    }
}

} // namespace atlas

int main(int argc, char **argv) {
    using namespace atlas;
    static const part parts[] = {
        {"digest_message", digest_message}, {"step_bodies", step_bodies},       {"blur_rows", blur_rows},
        {"shortest_path", shortest_path},   {"trie_find", trie_find},           {"encode_message", encode_message},
        {"scan_document", scan_document},   {"transform", transform},           {"grow_cells", grow_cells},
        {"touch_cache", touch_cache},       {"align_strings", align_strings},   {"sort_names", sort_names},
        {"escape_time", escape_time},
    };
    prepare();
    return run(parts, sizeof parts / sizeof *parts, argc, argv);
}
