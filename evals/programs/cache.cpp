// Keeps what it looks up. Planted: remember(), behind two wrappers, never frees its copies (a leak of 48 bytes to
// 4 KB a time), while parse() allocates more and frees all.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

static void *checked(size_t n)
{
    void *p = malloc(n);
    if (!p)
        abort();
    return p;
}

__attribute__((noinline)) static char *copy_of(const char *s, size_t n)
{
    char *p = static_cast<char *>(checked(n + 1));
    memcpy(p, s, n);
    p[n] = 0;
    return p;
}

static std::vector<const char *> *seen = new std::vector<const char *>;

__attribute__((noinline)) static void remember(const std::string &s)
{
    seen->push_back(copy_of(s.data(), s.size()));
    if (seen->size() == 1000)
        seen->clear();
}

__attribute__((noinline)) static size_t parse(const std::string &s)
{
    std::vector<std::string> parts;
    for (size_t i = 0; i < s.size(); i += 16)
        parts.push_back(s.substr(i, 16) + std::string(64, 'x'));
    return parts.size();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20000;
    size_t sum = 0;
    for (int i = 0; i < rounds; i++) {
        std::string s(static_cast<size_t>(48 + i % 16 * 256), 'a');
        sum += parse(s);
        if (i % 3 == 0)
            remember(s);
    }
    printf("%zu\n", sum);
}
