// What a heap holds in many ways at once: see README.md.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>
#define NOINLINE __attribute__((noinline))
static auto &registry = *new std::map<int, std::string>; // never erased
static auto &pool = *new std::vector<std::string *>;     // goes up and down
static std::vector<char> *cache;
static auto &logs = *new std::vector<FILE *>; // never closed
static std::mt19937 rnd(7);

NOINLINE void remember(int id)
{
    registry[id] = std::string("a name that is long enough to be allocated ") + std::to_string(id);
}
NOINLINE size_t scratch(int id)
{
    std::map<int, std::string> m;
    for (int i = 0; i < 20; i++)
        m[i] = std::string("a name that is long enough to be allocated ") + std::to_string(id);
    return m.size();
}
NOINLINE void churn_pool()
{
    if (pool.size() < 200 || (rnd() % 2 && pool.size() < 400))
        pool.push_back(new std::string(500 + rnd() % 100, 'x'));
    else {
        size_t k = rnd() % pool.size();
        delete pool[k];
        pool[k] = pool.back();
        pool.pop_back();
    }
}
NOINLINE void fill_cache()
{
    cache = new std::vector<char>(2 << 20);
}
NOINLINE void open_log()
{
    if (FILE *f = fopen("/dev/null", "r"))
        logs.push_back(f);
}
NOINLINE long read_conf()
{
    FILE *f = fopen("/dev/zero", "r");
    long v = 0;
    if (f) {
        v = fgetc(f);
        fclose(f);
    }
    return v;
}
NOINLINE char *parse_two(int i)
{
    char *kept = i % 50 == 0 ? (char *)malloc(300) : nullptr; // line A: never freed
    char *tmp = (char *)malloc(4000);                         // line B: freed
    tmp[0] = (char)i;
    if (kept)
        kept[0] = tmp[0];
    free(tmp);
    return kept;
}
int main(int argc, char **argv)
{
    long sum = 0;
    int n = argc > 1 ? atoi(argv[1]) : 4000;
    fill_cache();
    for (int i = 0; i < n; i++) {
        if (i % 10 == 0)
            remember(i);
        sum += (long)scratch(i);
        churn_pool();
        if (i % 400 == 0)
            open_log();
        if (i % 100 == 0)
            sum += read_conf();
        sum += parse_two(i) != nullptr;
        if (i % 40 == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    printf("%ld\n", sum);
    return 0;
}
