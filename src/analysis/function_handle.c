#include "analysis/function_handle.h"

#include "base/hash.h"
#include "model/functions.h"
#include "model/identity.h"

#include <stdlib.h>

uint32_t sp_function_build_hash(const struct sp_profile *p, uint32_t function)
{
    const unsigned both = SP_FUNC_START | SP_FUNC_LOCAL;
    const struct sp_dso *dso = &p->dsos.v[p->functions.v[function].dso];
    const struct sp_func_info *x = sp_function_info(p, function);
    struct sp_str path = sp_pstr(p, dso->name), id = sp_pstr(p, dso->build_id);
    uint64_t h = sp_hash64_seed(id.p, id.n, sp_hash64(path.p, path.n));
    h ^= !id.n && dso->doubtful; /* one of two files of that path (model/builds.h) */
    return (uint32_t)(sp_hash_pair(h, x && (x->flags & both) == both ? x->start : 0) >> 32);
}

struct order {
    uint64_t hash;
    uint32_t build, function;
};

static int cmp_order(const void *va, const void *vb)
{
    const struct order *a = va, *b = vb;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->build > b->build) - (a->build < b->build);
}

enum { LEAST = 4, LEAST_MORE = 2, MOST_MORE = 8 }; /* digits of a handle */

static size_t first_digits(uint64_t hash)
{
    return (size_t)(hash >> (64 - 4 * LEAST));
}

static uint8_t most(uint8_t a, unsigned b)
{
    return a > b ? a : (uint8_t)b;
}

/* Digits enough to tell two apart, for both. */
static void tell_apart(struct sp_handles *h, const struct order *a, const struct order *b)
{
    if (a->hash != b->hash) {
        unsigned need = (unsigned)__builtin_clzll(a->hash ^ b->hash) / 4 + 1;
        h->digits[a->function] = most(h->digits[a->function], need);
        h->digits[b->function] = most(h->digits[b->function], need);
        return;
    }
    unsigned need = a->build == b->build ? MOST_MORE : (unsigned)__builtin_clz(a->build ^ b->build) / 4 + 1;
    h->more[a->function] = most(most(h->more[a->function], need), LEAST_MORE);
    h->more[b->function] = most(most(h->more[b->function], need), LEAST_MORE);
}

/* Of one hash all have the digits that one of them needs. */
static void share_digits(struct sp_handles *h, const struct order *order, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (order[i].hash == order[i - 1].hash)
            h->digits[order[i].function] =
                most(h->digits[order[i].function], h->digits[order[i - 1].function]);
    for (size_t i = n; i-- > 1;)
        if (order[i].hash == order[i - 1].hash)
            h->digits[order[i - 1].function] =
                most(h->digits[order[i - 1].function], h->digits[order[i].function]);
}

spaa_status sp_handles_of(const struct sp_profile *p, struct sp_diags *d, struct sp_handles *out)
{
    size_t n = p->functions.n;
    struct sp_handles h = {p, malloc((n + 1) * sizeof *h.hash), malloc(n + 1), calloc(n + 1, 1)};
    struct order *order = malloc((n + 1) * sizeof *order);
    unsigned char *met = calloc((size_t)1 << 4 * LEAST, 1); /* 2: several */
    if (!h.hash || !h.digits || !h.more || !order || !met) {
        free(order);
        free(met);
        sp_handles_free(&h);
        return sp_nomem(d);
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
            order[alike++] = (struct order){h.hash[i], sp_function_build_hash(p, i), i};
    qsort(order, alike, sizeof *order, cmp_order);
    for (size_t i = 1; i < alike; i++)
        tell_apart(&h, &order[i - 1], &order[i]);
    share_digits(&h, order, alike);
    free(order);
    free(met);
    *out = h;
    return SPAA_OK;
}

void sp_handles_free(struct sp_handles *h)
{
    free(h->hash);
    free(h->digits);
    free(h->more);
    *h = (struct sp_handles){0};
}

static size_t put_digits(char *out, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        out[i] = "0123456789abcdef"[v >> (60 - 4 * i) & 15];
    out[n] = '\0';
    return n;
}

size_t sp_handle_text_alike(const struct sp_handles *h, uint32_t function, char out[static 32])
{
    out[0] = 'f';
    out[1] = ':';
    return 2 + put_digits(out + 2, h->hash[function], h->digits[function]);
}

size_t sp_handle_text(const struct sp_handles *h, uint32_t function, char out[static 32])
{
    size_t n = sp_handle_text_alike(h, function, out);
    if (!h->more[function])
        return n;
    out[n++] = '.';
    return n + put_digits(out + n, (uint64_t)sp_function_build_hash(h->profile, function) << 32,
                          h->more[function]);
}
