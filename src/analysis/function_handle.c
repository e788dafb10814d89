#include "analysis/function_handle.h"

#include "model/identity.h"

#include <stdlib.h>

static int cmp_hash(const void *va, const void *vb, void *arg)
{
    const uint64_t *hash = arg;
    uint64_t a = hash[*(const uint32_t *)va], b = hash[*(const uint32_t *)vb];
    return (a > b) - (a < b);
}

enum { LEAST = 4 }; /* digits of a handle */

static size_t first_digits(uint64_t hash)
{
    return (size_t)(hash >> (64 - 4 * LEAST));
}

static uint8_t common_digits(uint64_t a, uint64_t b)
{
    return a == b ? 16 : (uint8_t)(__builtin_clzll(a ^ b) / 4);
}

spaa_status sp_handles_of(const struct sp_profile *p, struct sp_handles *out)
{
    size_t n = p->functions.n;
    struct sp_handles h = {malloc((n + 1) * sizeof *h.hash), malloc(n + 1)};
    uint32_t *order = malloc((n + 1) * sizeof *order);
    unsigned char *met = calloc((size_t)1 << 4 * LEAST, 1); /* 2: several */
    if (!h.hash || !h.digits || !order || !met) {
        free(order);
        free(met);
        sp_handles_free(&h);
        return sp_nomem(p->diags);
    }
    for (uint32_t i = 0; i < n; i++) {
        h.hash[i] = sp_function_hash(p, i);
        h.digits[i] = LEAST;
        unsigned char *m = &met[first_digits(h.hash[i])];
        *m = *m ? 2 : 1;
    }
    size_t alike = 0; /* functions that need more digits: mostly few */
    for (uint32_t i = 0; i < n; i++)
        if (met[first_digits(h.hash[i])] > 1)
            order[alike++] = i;
    qsort_r(order, alike, sizeof *order, cmp_hash, h.hash);
    for (size_t i = 1; i < alike; i++) {
        uint32_t a = order[i - 1], b = order[i];
        uint8_t same = common_digits(h.hash[a], h.hash[b]);
        uint8_t need = same < 16 ? (uint8_t)(same + 1) : 16;
        h.digits[a] = h.digits[a] > need ? h.digits[a] : need;
        h.digits[b] = h.digits[b] > need ? h.digits[b] : need;
    }
    free(order);
    free(met);
    *out = h;
    return SPAA_OK;
}

void sp_handles_free(struct sp_handles *h)
{
    free(h->hash);
    free(h->digits);
    *h = (struct sp_handles){0};
}

size_t sp_handle_text(const struct sp_handles *h, uint32_t function, char out[static 32])
{
    uint64_t v = h->hash[function];
    size_t n = h->digits[function];
    out[0] = 'f';
    out[1] = ':';
    for (size_t i = 0; i < n; i++)
        out[2 + i] = "0123456789abcdef"[v >> (60 - 4 * i) & 15];
    out[2 + n] = '\0';
    return 2 + n;
}
