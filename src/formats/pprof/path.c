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
#include <immintrin.h>
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

/* Frames of a location that takes longer; false: not this way, or (*nomem) out of memory. */
static bool put_location(struct sp_pp *pp, const unsigned char *at, ptrdiff_t *depth, bool *nomem)
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
    if (l->n + ROOM > (size_t)((ptrdiff_t)PP_PATH_MAX + *depth))
        return false;
    *depth -= l->n;
    memcpy(pp->path.frames + PP_PATH_MAX + *depth, pp->loc_frames.v + l->first, l->n * sizeof(uint32_t));
    return true;
}

/* Ids of a block, the first one first. */
struct sp_pp_block {
    uint32_t n;
    uint32_t id[BLOCK];      /* NO_ID: too long for here */
    uint8_t from_end[BLOCK]; /* where it begins, in bytes before the end of the block */
};
#define NO_ID UINT32_MAX

static inline uint32_t short_number(const unsigned char *p, uint32_t n)
{
    static const uint32_t masks[] = {0, 0x7f, 0x7f7f, 0x7f7f7f, 0x7f7f7f7f};
    if (n > 4)
        return NO_ID;
    uint32_t v = (uint32_t)load64(p) & masks[n];
    v = (v & 0x7f007f) + (v >> 1 & 0x3f803f80);
    return (v & 0x3fff) + (v >> 16) * 0x4000;
}

/* The ids that begin where `starts` says; the last one ends with the block. */
static void split(const unsigned char *block, uint64_t starts, struct sp_pp_block *out)
{
    uint32_t n = 0, at = (uint32_t)__builtin_ctzll(starts);
    while (starts &= starts - 1) {
        uint32_t next = (uint32_t)__builtin_ctzll(starts);
        out->id[n] = short_number(block + at, next - at);
        out->from_end[n++] = (uint8_t)(BLOCK - at);
        at = next;
    }
    out->id[n] = short_number(block + at, BLOCK - at);
    out->from_end[n++] = (uint8_t)(BLOCK - at);
    out->n = n;
}

#ifdef HAVE_BMI2
/* The same where the processor takes the bits of a number together by itself. */
__attribute__((target("bmi,bmi2"))) static void split_bmi2(const unsigned char *block, uint64_t starts,
                                                           struct sp_pp_block *out)
{
    static const uint32_t masks[] = {0, 0x7f, 0x7f7f, 0x7f7f7f, 0x7f7f7f7f};
    uint32_t n = 0, at = (uint32_t)__builtin_ctzll(starts);
    do {
        starts = _blsr_u64(starts);
        uint32_t next = (uint32_t)_tzcnt_u64(starts), v; /* 64 behind the last one */
        memcpy(&v, block + at, sizeof v);
        out->id[n] = next - at <= 4 ? _pext_u32(v, masks[next - at]) : NO_ID;
        out->from_end[n++] = (uint8_t)(BLOCK - at);
        at = next;
    } while (starts);
    out->n = n;
}
#endif

/*
 * Frames of the ids, the last one's first, and in `depths` how many there are then. A loop of its own, as
 * short as can be: many look-ups are under way at once.
 */
static bool put_block(struct sp_pp *pp, const unsigned char *behind, const struct sp_pp_block *ids,
                      int16_t *depths, ptrdiff_t *depth, bool *nomem)
{
    const uint32_t *shorts = pp->shorts;
    uint32_t *top = pp->path.frames + PP_PATH_MAX;
    size_t ndense = pp->location_ids.ndense;
    ptrdiff_t d = *depth; /* negative */
    for (uint32_t i = ids->n; i-- > 0;) {
        uint32_t id = ids->id[i], known = id < ndense ? shorts[id] : 0;
        if (known) { /* two in any case: hardly a branch depends on how many count */
            uint32_t last = known >> 2, count = known & 3;
            top[d - 1] = last;
            top[d - 2] = last - 1;
            if (count == 3)
                top[d - 3] = last - 2;
            d -= count;
        } else if (!put_location(pp, behind - ids->from_end[i], &d, nomem)) {
            return false;
        }
        depths[ids->from_end[i]] = (int16_t)d;
    }
    *depth = d;
    return true;
}

bool sp_pp_path_begin(struct sp_pp_path *x)
{
    x->frames = malloc(PP_PATH_MAX * sizeof *x->frames);
    x->depths = malloc((PP_PATH_MAX + 1) * sizeof *x->depths);
    if (!x->frames || !x->depths)
        return false;
    x->depths[0] = 0;
    x->split = split;
#ifdef HAVE_BMI2
    if (__builtin_cpu_supports("bmi2"))
        x->split = split_bmi2;
#endif
    return true;
}

bool sp_pp_path(struct sp_pp *pp, const unsigned char *p, size_t n, struct sp_pp_frames *out, bool *nomem)
{
    struct sp_pp_path *x = &pp->path;
    const unsigned char *end = p + n;
    struct sp_pp_block ids;
    /* Whole blocks and words are loaded, whatever part of them counts. */
    if (!n || n > PP_PATH_MAX || (size_t)(p - pp->in) <= BLOCK || (size_t)(pp->in + pp->n - end) < 8 ||
        end[-1] >= 0x80)
        return false;
    size_t same = shared_bytes(x, end, n);
    ptrdiff_t depth = x->depths[same];
    const unsigned char *behind = end - same;
    x->n = 0;
    while (behind > p) {
        uint64_t starts = ends_of(behind - BLOCK - 1);
        size_t left = (size_t)(behind - p);
        if (left < BLOCK)
            starts &= ~(uint64_t)0 << (BLOCK - left);
        if (!starts || (ptrdiff_t)PP_PATH_MAX + depth < (ptrdiff_t)ROOM)
            return false;
        x->split(behind - BLOCK, starts, &ids);
        if (!put_block(pp, behind, &ids, x->depths + (end - behind), &depth, nomem))
            return false;
        behind -= ids.from_end[0];
    }
    x->end = end;
    x->n = n;
    *out = (struct sp_pp_frames){x->frames + PP_PATH_MAX + depth, (size_t)-depth};
    return true;
}
