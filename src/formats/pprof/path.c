/*
 * The packed location ids of a sample as frames, in a hurry.
 *
 * The outermost functions stand at the end: the part that is the same as in the sample before, byte for byte,
 * is not read again, for its frames stand ready in an array that grows towards its beginning. The other ids
 * are read in two steps: where they end comes from a mask of 64 bytes at a time, so that no branch depends on
 * how long an id is, and what is known of them is looked up; then their frames are put down, from the last id
 * on.
 *
 * What is new or unusual is left to the slow way (samples.c), which also reports it.
 */
#include "formats/pprof/pprof.h"

#include <stdlib.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK 64u

typedef uint32_t four __attribute__((vector_size(16)));

static void powers(struct sp_pp_powers *x)
{
    x[0] = (struct sp_pp_powers){.power = 1};
    for (uint32_t n = 1; n <= PP_SHORT_MAX; n++) {
        x[n].power = x[n - 1].power * PP_HASH_BASE;
        x[n].sum = x[n - 1].sum * PP_HASH_BASE + 1;
        x[n].weighted = x[n - 1].weighted * PP_HASH_BASE + n - 1;
    }
}

bool sp_pp_path_begin(struct sp_pp_path *x)
{
    powers(x->powers);
    x->frames = calloc(PP_PATH_MAX + PP_PATH_SLACK, sizeof *x->frames);
    x->steps = calloc(PP_PATH_MAX + 1, sizeof *x->steps);
    x->known = calloc(PP_PATH_MAX, sizeof *x->known);
    x->begins = calloc(PP_PATH_MAX, sizeof *x->begins);
    return x->frames && x->steps && x->known && x->begins;
}

void sp_pp_path_free(struct sp_pp_path *x)
{
    free(x->frames);
    free(x->steps);
    free(x->known);
    free(x->begins);
}

static inline uint64_t load64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

#ifdef __SSE2__
static inline __m128i load128(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}
static inline uint64_t bits_of(__m128i v)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(v);
}
#else
/* The high bits of eight bytes, side by side. */
static inline uint64_t bits_of(uint64_t v)
{
    return (v >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56;
}
#endif

/* Bit i is set where the byte p[i] of 64 ends a number. */
static inline uint64_t ends_of(const unsigned char *p)
{
#ifdef __SSE2__
    return ~(bits_of(load128(p)) | bits_of(load128(p + 16)) << 16 | bits_of(load128(p + 32)) << 32 |
             bits_of(load128(p + 48)) << 48);
#else
    uint64_t more = 0;
    for (unsigned i = 0; i < BLOCK; i += 8)
        more |= bits_of(load64(p + i)) << i;
    return ~more;
#endif
}

/* How many of the 64 bytes before a and before b are equal, counted from their ends. */
static inline size_t equal_before(const unsigned char *a, const unsigned char *b)
{
#ifdef __SSE2__
    uint64_t equal = bits_of(_mm_cmpeq_epi8(load128(a - 16), load128(b - 16))) << 48 |
                     bits_of(_mm_cmpeq_epi8(load128(a - 32), load128(b - 32))) << 32 |
                     bits_of(_mm_cmpeq_epi8(load128(a - 48), load128(b - 48))) << 16 |
                     bits_of(_mm_cmpeq_epi8(load128(a - 64), load128(b - 64)));
    return ~equal ? (size_t)__builtin_clzll(~equal) : BLOCK;
#else
    for (size_t i = 8; i <= BLOCK; i += 8) {
        uint64_t differ = load64(a - i) ^ load64(b - i);
        if (differ)
            return i - 8 + (size_t)__builtin_clzll(differ) / 8;
    }
    return BLOCK;
#endif
}

/* How many bytes of ids at the end are those of the sample before, up to the beginning of an id in both. */
static size_t shared_bytes(const struct sp_pp_path *x, const unsigned char *end, size_t n)
{
    size_t max = n < x->n ? n : x->n, same = 0, more = BLOCK;
    for (; same < max && more == BLOCK; same += more)
        more = equal_before(end - same, x->end - same);
    if (same > max)
        same = max;
    if (!same)
        return 0;
    /* The bytes from the one before on: an id begins behind one that ends. */
    uint64_t ends = ~load64(end - same - 1) & 0x8080808080808080u;
    if (x->end[-1 - (ptrdiff_t)same] >= 0x80)
        ends &= ~(uint64_t)0xff;
    size_t cut = ends ? (size_t)__builtin_ctzll(ends) / 8 : same;
    return cut < same ? same - cut : 0;
}

/* Frames of a location that takes longer, before which `left` ids come; false: not this way, or out of
 * memory. */
static __attribute__((noinline)) bool put_location(struct sp_pp *pp, const unsigned char *at,
                                                   struct sp_pp_step *step, size_t left, bool *nomem)
{
    uint64_t id;
    if (!sp_wire_varint(at, pp->in + pp->n, &id))
        return false;
    uint32_t i = sp_pp_ids_find(&pp->location_ids, id);
    if (i == SP_NONE)
        return false;
    if (pp->locs[i].first == SP_NONE && !sp_pp_location_read(pp, i)) {
        *nomem = true;
        return false;
    }
    const struct sp_pp_location *l = &pp->locs[i];
    const uint32_t *frames = pp->loc_frames.v + l->first;
    if (l->n + PP_PATH_ROOM(left) > PP_PATH_MAX - (size_t)-step->depth)
        return false;
    step->depth -= (ptrdiff_t)l->n;
    memcpy(pp->path.frames + PP_PATH_MAX + step->depth, frames, l->n * sizeof *frames);
    for (uint32_t k = l->n; k--;)
        step->hash = sp_pp_hash_frame(step->hash, frames[k]);
    return true;
}

/* The ids in n bytes: what is known of them, and where they begin; how many, or 0: not this way. */
static size_t find_ids(const struct sp_pp *pp, const unsigned char *p, size_t n)
{
    /* By the length of an id: its bits in four bytes. Longer ones become 0, which is no id. */
    static const uint32_t all_masks[2 * BLOCK] = {0, 0x7f, 0x7f7f, 0x7f7f7f, 0x7f7f7f7f};
    const uint32_t *shorts = pp->shorts, *masks = all_masks;
    uint32_t nshorts = (uint32_t)pp->nshorts;
    uint32_t *known = pp->path.known;
    uint16_t *begins = pp->path.begins;
    uint64_t begin = 0;
    size_t count = 0;
    for (size_t done = 0; done < n; done += BLOCK) {
        uint64_t ends = ends_of(p + done);
        if (n - done < BLOCK)
            ends &= ((uint64_t)1 << (n - done)) - 1;
        if (!ends)
            return 0;
        do {
            uint64_t end = done + 1 + (unsigned)__builtin_ctzll(ends);
            uint32_t id = sp_pp_short_of((uint32_t)load64(p + begin) & masks[end - begin]);
            known[count] = shorts[id < nshorts ? id : 0];
            begins[count++] = (uint16_t)begin;
            begin = end;
            ends &= ends - 1;
        } while (ends);
    }
    return count;
}

/* Puts the frames of ids, from the last one on, before those that are there. */
static bool put_ids(struct sp_pp *pp, const unsigned char *p, size_t n, struct sp_pp_step *steps,
                    struct sp_pp_step *step, bool *nomem)
{
    const uint16_t *begins = pp->path.begins;
    const struct sp_pp_powers *by = pp->path.powers;
    uint32_t *top = pp->path.frames + PP_PATH_MAX;
    struct sp_pp_step x = *step;
    while (n--) {
        uint32_t known = pp->path.known[n], count = known & 7, last = known >> 3;
        if (__builtin_expect(!known, 0)) {
            struct sp_pp_step y = x;
            if (!put_location(pp, p + begins[n], &y, n, nomem))
                return false;
            x = y;
        } else { /* four in any case: it does not matter how many count */
            four all = (four){last, last, last, last} - (four){3, 2, 1, 0};
            memcpy(top + x.depth - 4, &all, sizeof all);
            if (__builtin_expect(count > 4, 0)) {
                all -= 4;
                memcpy(top + x.depth - 8, &all, sizeof all);
            }
            x.depth -= count;
            x.hash = x.hash * by[count].power + last * by[count].sum - by[count].weighted;
        }
        steps[begins[n]] = x;
    }
    *step = x;
    return true;
}

bool sp_pp_path(struct sp_pp *pp, const unsigned char *p, size_t n, struct sp_pp_frames *out, bool *nomem)
{
    struct sp_pp_path *x = &pp->path;
    const unsigned char *end = p + n;
    /* Whole blocks are loaded, whatever part of them counts. */
    if (!n || n > PP_PATH_MAX || (size_t)(p - pp->in) < BLOCK || (size_t)(pp->in + pp->n - end) < BLOCK ||
        end[-1] >= 0x80)
        return false;
    size_t same = shared_bytes(x, end, n);
    struct sp_pp_step step = x->steps[PP_PATH_MAX - same];
    x->n = 0;
    if (same < n) {
        size_t ids = find_ids(pp, p, n - same);
        if (!ids || PP_PATH_ROOM(ids) > PP_PATH_MAX - (size_t)-step.depth ||
            !put_ids(pp, p, ids, x->steps + PP_PATH_MAX - n, &step, nomem))
            return false;
    }
    x->end = end;
    x->n = n;
    *out = (struct sp_pp_frames){x->frames + PP_PATH_MAX + step.depth, (size_t)-step.depth, step.hash};
    return true;
}
