/* The tables of ids.h: entries in a dense array, found through an open-addressing index of their numbers. */
#include "formats/spaa/validate/ids.h"

#include "base/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct sp_fp sp_fingerprint(const void *p, size_t n)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(p, n, sp_hash_secret[0]);
    return (struct sp_fp){h.low64, h.high64};
}

void sp_ids_free(struct sp_ids *t)
{
    free(t->v);
    free(t->slots);
    free(t->numbers);
    sp_vec_free(&t->texts);
    *t = (struct sp_ids){.direct = t->direct};
}

static inline uint32_t tag_of(struct sp_fp fp)
{
    return (uint32_t)(fp.b >> 56) << 24;
}

uint32_t sp_ids_find(const struct sp_ids *t, struct sp_fp fp)
{
    if (!t->slots)
        return SP_ID_NONE;
    for (size_t i = fp.a & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
        uint32_t s = t->slots[i], at = (s & 0xFFFFFF) - 1;
        if ((s & 0xFF000000) == tag_of(fp) && sp_fp_equal(t->v[at].fp, fp))
            return at;
    }
    return SP_ID_NONE;
}

static void ids_put(uint32_t *slots, size_t mask, struct sp_fp fp, uint32_t entry)
{
    size_t i = fp.a & mask;
    while (slots[i])
        i = (i + 1) & mask;
    slots[i] = tag_of(fp) | (entry + 1);
}

/* Room for one more entry, the index at most 3/4 full. */
static bool room(struct sp_ids *t)
{
    if (t->n == t->cap && !sp_vec_grow((void **)&t->v, &t->cap, (size_t)t->n + 1, sizeof *t->v))
        return false;
    if (t->slots && t->n < (t->mask + 1) / 4 * 3)
        return true;
    size_t slots = t->slots ? (t->mask + 1) * 2 : 64;
    uint32_t *bigger = calloc(slots, sizeof *bigger);
    if (!bigger)
        return false;
    for (uint32_t i = 0; i < t->n; i++)
        ids_put(bigger, slots - 1, t->v[i].fp, i);
    free(t->slots);
    t->slots = bigger;
    t->mask = slots - 1;
    return true;
}

uint32_t sp_ids_get_fp(struct sp_ids *t, struct sp_fp fp, bool *added)
{
    *added = false;
    uint32_t at = sp_ids_find(t, fp);
    if (at != SP_ID_NONE)
        return at;
    if (t->n == SP_IDS_MAX) {
        t->full = true;
        return SP_ID_NONE;
    }
    if (!room(t))
        return SP_ID_NONE;
    at = t->n++;
    t->v[at] = (struct sp_id){.fp = fp};
    ids_put(t->slots, t->mask, fp, at);
    *added = true;
    return at;
}

/* The cache reaches as far as its cost stays in proportion to the entries. */
static bool reach(struct sp_ids *t, uint32_t small)
{
    if (small < t->nnumbers)
        return true;
    size_t limit = (size_t)t->n + t->n / 2 + 1024;
    if (small >= limit)
        return false;
    size_t want = t->nnumbers ? t->nnumbers : 1024;
    while (want <= small)
        want *= 2;
    want = want < limit ? want : limit;
    uint32_t *numbers = realloc(t->numbers, want * sizeof *numbers);
    if (!numbers)
        return false;
    t->numbers = numbers;
    memset(numbers + t->nnumbers, 0, (want - t->nnumbers) * sizeof *numbers);
    t->nnumbers = want;
    return true;
}

void sp_ids_note_small(struct sp_ids *t, uint32_t small, uint32_t entry)
{
    if (small == SP_ID_NONE || !reach(t, small))
        return;
    const struct sp_id *e = &t->v[entry];
    t->numbers[small] = (e->bits & SP_ID_DEFINED ? (uint32_t)e->bits << 24 : 0) | (entry + 1);
}

uint32_t sp_ids_get(struct sp_ids *t, const char *p, size_t n, bool *added)
{
    uint32_t small = t->direct ? sp_small_id(p, n) : SP_ID_NONE, known = sp_ids_small(t, small);
    if (known) {
        *added = false;
        return (known & 0xFFFFFF) - 1;
    }
    uint32_t at = sp_ids_get_fp(t, sp_fingerprint(p, n), added);
    if (at != SP_ID_NONE && t->direct)
        sp_ids_note_small(t, small, at);
    return at;
}

/* Forgets the texts of ids that were defined in the meantime. */
static void sweep(struct sp_ids *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->texts.n; i++)
        if (!(t->v[t->texts.v[i].entry].bits & SP_ID_DEFINED))
            t->texts.v[kept++] = t->texts.v[i];
    t->texts.n = kept;
    t->texts_full = kept > SP_ID_TEXTS / 2; /* not worth another sweep for every few ids */
}

bool sp_ids_keep_text(struct sp_ids *t, uint32_t entry, const char *p, size_t n)
{
    if (t->texts.n >= SP_ID_TEXTS && !t->texts_full)
        sweep(t);
    if (t->texts_full)
        return true;
    struct sp_id_text x = {.entry = entry, .cut = n > sizeof x.text};
    x.n = (unsigned char)(x.cut ? sizeof x.text : n);
    memcpy(x.text, p, x.n);
    return sp_vec_push(&t->texts, x);
}

const struct sp_id_text *sp_ids_text(const struct sp_ids *t, uint32_t entry)
{
    size_t lo = 0, hi = t->texts.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->texts.v[mid].entry < entry)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < t->texts.n && t->texts.v[lo].entry == entry ? &t->texts.v[lo] : NULL;
}
