/* Names of functions that Go's compiler makes (cmd/compile/internal/ir/func.go, closureName). */
#include "formats/go_goroutines/goroutines.h"

/* n: of the text before the digits that end s; s.n: none do. */
static uint32_t before_digits(struct sp_str s)
{
    uint32_t n = s.n;
    while (n && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
        n--;
    return n;
}

static bool ends_in(struct sp_str s, uint32_t n, const char *word)
{
    size_t k = strlen(word);
    return n > k && memcmp(s.p + n - k, word, k) == 0;
}

enum sp_gor_naming sp_gor_naming(struct sp_str s)
{
    uint32_t n = before_digits(s);
    if (n == s.n)
        return SP_GOR_WRITTEN;
    if (ends_in(s, n, ".gowrap") || ends_in(s, n, ".deferwrap"))
        return SP_GOR_WRAPPER;
    while (n > 1 && n < s.n && s.p[n - 1] == '.') { /* func14.1.2 */
        s.n = n - 1;
        n = before_digits(s);
    }
    return n < s.n && (ends_in(s, n, ".func") || ends_in(s, n, "-range")) ? SP_GOR_CLOSURE : SP_GOR_WRITTEN;
}

struct sp_str sp_gor_package(struct sp_str s)
{
    uint32_t last = 0, i = 0;
    for (uint32_t k = 0; k < s.n && s.p[k] != '(' && s.p[k] != '['; k++) /* of types, others' packages */
        last = s.p[k] == '/' ? k + 1 : last;
    for (i = last; i < s.n && s.p[i] != '.';)
        i++;
    return (struct sp_str){s.p, i};
}
