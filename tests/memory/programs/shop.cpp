/*
 * A shop whose memory is known: what each function leaves behind stands in ../truth.py, to the byte.
 *
 *     shop [STEPS]     3000 steps, 5 ms of sleep after each 10; dumps the heap (jemalloc, tcmalloc) after each third
 */
#include "feed.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#define KEEP __attribute__((noinline))

extern "C" int mallctl(const char *, void *, size_t *, void *, size_t) __attribute__((weak));
extern "C" void HeapProfilerDump(const char *) __attribute__((weak));

struct Order { char text[192]; };
struct Basket { int id; std::vector<int> items; };
struct Visit { char page[48]; };

/* Nothing here is given back at the end, as a server's is not. */
static auto &audit = *new std::vector<std::string>;
static auto &baskets = *new std::unordered_map<int, std::shared_ptr<Basket>>;
static auto &prices = *new std::map<int, double>;
static auto &catalog = *new std::vector<char>;
static void *volatile sink;

/* The program's own wrappers of malloc: one by a common name, one by its own. */
KEEP void *xmalloc(size_t n) {
    void *p = malloc(n);
    if (!p) abort();
    return p;
}
KEEP void *shop_get(size_t n) {
    void *p = malloc(n);
    if (!p) abort();
    memset(p, 1, n);
    return p;
}

/* Its own pool: 32 bytes each out of chunks of 64 KiB. */
struct Pool {
    std::vector<char *> &chunks = *new std::vector<char *>;
    size_t left = 0;
    KEEP void refill() {
        chunks.push_back((char *)malloc(65536));
        left = 65536;
    }
    KEEP char *take() {
        if (left < 32) refill();
        left -= 32;
        return chunks.back() + left;
    }
};
static auto &pool = *new Pool;

KEEP void copy_request(int i) { /* leaks: 100 bytes */
    char *p = (char *)shop_get(100);
    p[0] = (char)i;
    sink = p;
}
KEEP void read_config() { /* held: 64 of 512 bytes, once */
    static char *lines[64];
    for (auto &line : lines) line = (char *)shop_get(512);
}
KEEP void name_customer(int i) { /* leaks: 40 bytes, of each fourth step */
    char *p = (char *)xmalloc(40);
    p[0] = (char)i;
    sink = p;
}
KEEP void keep_order(int i) { /* leaks: 192 bytes */
    Order *o = new Order;
    o->text[0] = (char)i;
    sink = o;
}
KEEP void write_audit(int i) { /* grows: 64 bytes, and 32 in a vector */
    audit.emplace_back(63, (char)('a' + i % 26));
}
KEEP void open_basket(int i) { /* each 100th stays */
    auto b = std::make_shared<Basket>();
    b->id = i;
    b->items.reserve(10);
    baskets[i] = b;
}
KEEP void close_basket(int i) { baskets.erase(i); }
KEEP size_t render_page(int i) { /* churn */
    size_t n = 0;
    for (int k = 0; k < 20; k++) {
        std::string page;
        page.reserve(500);
        page += std::to_string(i);
        n += page.size();
        sink = (void *)page.data();
    }
    return n;
}
KEEP size_t collect_ids(int i) { /* churn, of the same container as collect_stats */
    std::vector<int> ids;
    for (int k = 0; k < 10; k++) ids.push_back(i + k);
    sink = ids.data();
    return ids.size();
}
KEEP void collect_stats(int i) { /* leaks a vector: 24 bytes, and 64 that only it leads to */
    auto *stats = new std::vector<int>;
    for (int k = 0; k < 10; k++) stats->push_back(i * k);
    sink = stats;
}
KEEP void take_ticket(int i) { *pool.take() = (char)i; }
KEEP void parse_feed(int i) { /* the library's title is not freed: 32 bytes */
    Feed *f = feed_parse(i);
    sink = f->title;
    feed_free(f);
}
KEEP void remember_price(int i) { prices[i % 500] = i; } /* held: 500 nodes of 48 bytes */
KEEP void load_catalog() { catalog.resize(1 << 20); }    /* held: 1 MiB */
KEEP size_t monthly_report() {                           /* 8 MiB for a moment: the peak */
    std::vector<char> pages(8 << 20, 'x');
    return (size_t)pages[12345];
}
KEEP void count_visit() { /* leaks in two threads: 48 bytes */
    Visit *v = new Visit;
    v->page[0] = 1;
    sink = v;
}
static void poll_visits() {
    for (int i = 0; i < 100; i++) count_visit();
}
static void dump(int n) {
    if (mallctl) mallctl("prof.dump", nullptr, nullptr, nullptr, 0);
    if (HeapProfilerDump && getenv("HEAPPROFILE")) HeapProfilerDump(n == 1 ? "first" : n == 2 ? "second" : "third");
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 3000;
    size_t total = 0;
    load_catalog();
    read_config();
    std::thread a(poll_visits), b(poll_visits);
    a.join();
    b.join();
    for (int i = 0; i < steps; i++) {
        copy_request(i);
        keep_order(i);
        write_audit(i);
        open_basket(i);
        if (i % 100) close_basket(i);
        total += render_page(i) + collect_ids(i);
        take_ticket(i);
        remember_price(i);
        if (i % 4 == 0) name_customer(i);
        if (i % 10 == 0) {
            collect_stats(i);
            parse_feed(i);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        if (i == steps / 2) total += monthly_report();
        if ((i + 1) % (steps / 3) == 0) dump((i + 1) / (steps / 3));
    }
    sink = nullptr;
    return total == 42;
}
