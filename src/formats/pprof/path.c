/*
 * The packed location ids of a sample as frames, in a hurry.
 *
 * They are read from the end, where the outermost function is: the part that is the same as in the sample
 * before, byte for byte, is not read again, for its frames stand ready in an array that grows towards its
 * beginning. The beginnings of ids come from a mask of 64 bytes at a time, so that no branch depends on how
 * long an id is.
 *
 * What is new or unusual is left to the slow way (samples.c), which also reports it.
 */
#include "formats/pprof/pprof.h"

#include <stdlib.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#if defined __x86_64__ && defined __GNUC__
#define HAVE_BMI2
#endif

#define BLOCK 64u
#define ROOM  (3 * BLOCK) /* frames of the quick ids of a block */

void sp_pp_path_free(struct sp_pp_path *x)
{
    free(x->frames);
    free(x->depths);
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

/* Bit i is set where the byte p[i] of 64 ends a number. */
static inline uint64_t ends_of(const unsigned char *p)
{
    uint64_t more = 0;
#ifdef __SSE2__
    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        more |= (uint64_t)(unsigned)_mm_movemask_epi8(v) << i;
    }
#else
    for (unsigned i = 0; i < BLOCK; i += 8) /* the eight high bits, side by side in the last byte */
        more |= ((load64(p + i) >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56) << i;
#endif
    return ~more;
}

/* How many bytes of ids at the end are those of the sample before, up to the beginning of an id in both. */
static size_t shared_bytes(const struct sp_pp_path *x, const unsigned char *end, size_t n)
{
    size_t max = n < x->n ? n : x->n, same = 0;
    const unsigned char *last = x->end;
    while (same + 8 <= max) {
        uint64_t differ = load64(end - same - 8) ^ load64(last - same - 8);
        if (differ) {
            same += (size_t)__builtin_clzll(differ) / 8;
            break;
        }
        same += 8;
    }
    while (same < max && end[-1 - (ptrdiff_t)same] == last[-1 - (ptrdiff_t)same])
        same++;
    if (same && (end[-1 - (ptrdiff_t)same] >= 0x80 || last[-1 - (ptrdiff_t)same] >= 0x80))
        do
            same--;
        while (same && end[-1 - (ptrdiff_t)same] >= 0x80);
    return same;
}

struct sp_pp_place {
    const unsigned char *end; /* of the ids */
    ptrdiff_t depth;          /* minus the frames so far */
    bool nomem;
};

/* Frames of a location that takes longer, before `to`; NULL: not this way, or out of memory. */
static __attribute__((noinline)) uint32_t *put_location(struct sp_pp *pp, const unsigned char *at,
                                                        uint32_t *to, struct sp_pp_place *place)
{
    uint64_t id;
    if (!sp_wire_varint(at, pp->in + pp->n, &id))
        return NULL;
    uint32_t i = sp_pp_ids_find(&pp->location_ids, id);
    if (i == SP_NONE)
        return NULL;
    if (pp->locs[i].first == SP_NONE && !sp_pp_location_read(pp, i)) {
        place->nomem = true;
        return NULL;
    }
    const struct sp_pp_location *l = &pp->locs[i];
    if (l->n + ROOM > (size_t)(to - pp->path.frames))
        return NULL;
    to -= l->n;
    memcpy(to, pp->loc_frames.v + l->first, l->n * sizeof *to);
    return to;
}

/* The number in the bytes of `mask`, its lower seven bits each. */
static inline __attribute__((always_inline)) uint32_t number(uint32_t bytes, uint32_t mask, bool bmi2)
{
#ifdef HAVE_BMI2
    if (bmi2) {
        uint32_t v;
        __asm__("pext %2, %1, %0" : "=r"(v) : "r"(bytes), "rm"(mask));
        return v;
    }
#endif
    (void)bmi2;
    uint32_t v = bytes & mask;
    v = (v & 0x7f007f) + (v >> 1 & 0x3f803f80);
    return (v & 0x3fff) + (v >> 16) * 0x4000;
}

/*
 * Frames of the ids that begin in the block where `starts` says, from the last one on; after each, `depths`
 * gets how many there are. Where the first of them begins, or NULL.
 */
static inline __attribute__((always_inline)) const unsigned char *
put_block(struct sp_pp *pp, const unsigned char *behind, uint64_t starts, struct sp_pp_place *place,
          bool bmi2)
{
    static const uint32_t masks[] = {0, 0x7f, 0x7f7f, 0x7f7f7f, 0x7f7f7f7f};
    const unsigned char *block = behind - BLOCK, *end = place->end;
    const uint32_t *shorts = pp->shorts;
    uint32_t *top = pp->path.frames + PP_PATH_MAX, *to = top + place->depth;
    int16_t *depths = pp->path.depths;
    uint32_t ndense = (uint32_t)pp->location_ids.ndense;
    do {
        unsigned bit = 63 ^ (unsigned)__builtin_clzll(starts);
        starts ^= (uint64_t)1 << bit;
        const unsigned char *at = block + bit;
        size_t n = (size_t)(behind - at);
        uint32_t known = 0;
        if (n <= 4) {
            uint32_t id = number((uint32_t)load64(at), masks[n], bmi2);
            known = id < ndense ? shorts[id] : 0;
        }
        behind = at;
        if (known) { /* two in any case: hardly a branch depends on how many count */
            uint32_t last = known >> 2, count = known & 3;
            to[-1] = last;
            to[-2] = last - 1;
            if (count == 3)
                to[-3] = last - 2;
            to -= count;
        } else if (!(to = put_location(pp, at, to, place))) {
            return NULL;
        }
        depths[end - at] = (int16_t)(to - top);
    } while (starts);
    place->depth = to - top;
    return behind;
}

static const unsigned char *put_block_any(struct sp_pp *pp, const unsigned char *behind, uint64_t starts,
                                          struct sp_pp_place *place)
{
    return put_block(pp, behind, starts, place, false);
}

#ifdef HAVE_BMI2
/* Where the processor takes the bits of a number together by itself. */
__attribute__((target("bmi,bmi2,lzcnt"))) static const unsigned char *
put_block_bmi2(struct sp_pp *pp, const unsigned char *behind, uint64_t starts, struct sp_pp_place *place)
{
    return put_block(pp, behind, starts, place, true);
}
#endif

bool sp_pp_path_begin(struct sp_pp_path *x)
{
    x->frames = malloc(PP_PATH_MAX * sizeof *x->frames);
    x->depths = malloc((PP_PATH_MAX + 1) * sizeof *x->depths);
    if (!x->frames || !x->depths)
        return false;
    x->depths[0] = 0;
    x->put_block = put_block_any;
#ifdef HAVE_BMI2
    if (__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("bmi"))
        x->put_block = put_block_bmi2;
#endif
    return true;
}

bool sp_pp_path(struct sp_pp *pp, const unsigned char *p, size_t n, struct sp_pp_frames *out, bool *nomem)
{
    struct sp_pp_path *x = &pp->path;
    const unsigned char *end = p + n;
    /* Whole blocks and words are loaded, whatever part of them counts. */
    if (!n || n > PP_PATH_MAX || (size_t)(p - pp->in) <= BLOCK || (size_t)(pp->in + pp->n - end) < 8 ||
        end[-1] >= 0x80)
        return false;
    size_t same = shared_bytes(x, end, n);
    struct sp_pp_place place = {.end = end, .depth = x->depths[same]};
    const unsigned char *behind = end - same;
    x->n = 0;
    while (behind > p) {
        uint64_t starts = ends_of(behind - BLOCK - 1);
        size_t left = (size_t)(behind - p);
        if (left < BLOCK)
            starts &= ~(uint64_t)0 << (BLOCK - left);
        if (!starts || (ptrdiff_t)PP_PATH_MAX + place.depth < (ptrdiff_t)ROOM)
            return false;
        behind = x->put_block(pp, behind, starts, &place);
        if (!behind) {
            *nomem = place.nomem;
            return false;
        }
    }
    x->end = end;
    x->n = n;
    *out = (struct sp_pp_frames){x->frames + PP_PATH_MAX + place.depth, (size_t)-place.depth};
    return true;
}
