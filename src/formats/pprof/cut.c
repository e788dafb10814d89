/*
 * Cuts samples into what they consist of: location ids packed in one field, values, and labels behind each
 * other, with lengths of one or two bytes. Nearly all have the fields in this order, and packed values.
 *
 * Behind all that is cut, 16 bytes can still be read, so that whole words are loaded.
 */
#include "formats/pprof/pprof.h"

#define AHEAD 1024u /* bytes of the input that are asked for ahead */

enum {
    SAMPLE = PP_SAMPLE << 3 | SP_WIRE_BYTES,
    IDS = 1 << 3 | SP_WIRE_BYTES,
    VALUES = 2 << 3 | SP_WIRE_BYTES,
    VALUE = 2 << 3 | SP_WIRE_VARINT,
    LABEL = 3 << 3 | SP_WIRE_BYTES
};

static inline const unsigned char *cut_number(const unsigned char *p, const unsigned char *end, int64_t *out)
{
    uint64_t v = 0;
    size_t n = sp_wire_varint_word(p, &v);
    p = n ? p + n : sp_wire_varint(p, end, &v);
    *out = (int64_t)v;
    return p;
}

/* The fields of a sample, in any order, into x, values and, as they stand there, *labels; false: of another
 * shape. */
static bool cut_any(const struct sp_pp *pp, const unsigned char *p, const unsigned char *end,
                    struct sp_pp_entry *x, int64_t *value, struct sp_pp_slice *labels)
{
    const unsigned char *ids = NULL, *first = NULL, *last = NULL;
    const int64_t *const all = value + pp->ntypes;
    size_t nids = 0, n, size;
    while (p < end) {
        const unsigned char *field = p;
        unsigned tag = *p++;
        if (tag == VALUE) {
            if (value == all || !(p = cut_number(p, end, value++)))
                return false;
            continue;
        }
        if (!(size = sp_pp_length(p, &n)) || (ptrdiff_t)n > end - (p += size))
            return false;
        const unsigned char *next = p + n;
        if (tag == IDS && !ids && n) {
            ids = p;
            nids = n;
        } else if (tag == VALUES) {
            while (p < next)
                if (value == all || !(p = cut_number(p, next, value++)))
                    return false;
            if (p > next)
                return false;
        } else if (tag == LABEL && (!first || last == field)) {
            first = first ? first : field;
            last = next;
        } else {
            return false;
        }
        p = next;
    }
    x->ids = ids;
    x->nids = (uint32_t)nids;
    *labels = (struct sp_pp_slice){first, first ? (size_t)(last - first) : 0};
    return ids && value == all && p == end;
}

/* The same in the usual order; what stands behind the values is to be labels. False: cut_any can tell. */
PP_INLINE bool cut_usual(const struct sp_pp *pp, const unsigned char *p, const unsigned char *end,
                         struct sp_pp_entry *x, int64_t *value, struct sp_pp_slice *labels,
                         sp_pp_number *number)
{
    const int64_t *const all = value + pp->ntypes;
    size_t n, size = sp_pp_length(p + 1, &n);
    x->ids = p + 1 + size;
    x->nids = (uint32_t)n;
    if (*p != IDS || !size || !n || (ptrdiff_t)n > end - x->ids - 2)
        return false;
    p = x->ids + n;
    const unsigned char *const next = p + 2 + p[1];
    if (*p != VALUES || p[1] >= 0x80 || next > end)
        return false;
    for (p += 2; p < next && value < all; value++) {
        uint64_t v = 0;
        if (!(n = number(p, &v)))
            return false;
        *value = (int64_t)v;
        p += n;
    }
    *labels = (struct sp_pp_slice){p, (size_t)(end - p)};
    return value == all && p == next;
}

/* How an entry is found among those seen; it is asked for. */
static void look_for(const struct sp_pp *pp, struct sp_pp_entry *x)
{
    x->seen_hash = sp_hash_mix(sp_hash64(x->ids, x->nids), x->context);
    if (pp->seen)
        __builtin_prefetch(&pp->seen[x->seen_hash & pp->seen_mask]);
}

/* The next entry is x, but for another event; false: out of memory. */
static bool add_entry(struct sp_pp *pp, const struct sp_pp_entry *x, uint32_t set, uint32_t event)
{
    struct sp_pp_entry *to = &pp->queue[pp->nqueued++];
    if (to != x)
        *to = *x;
    to->event = event;
    to->context = sp_pp_context(pp, set, event);
    if (pp->use_seen)
        look_for(pp, to);
    return to->context != SP_NONE;
}

/* An entry for each event in which there is a value. */
static __attribute__((noinline)) bool add_entries(struct sp_pp *pp, const struct sp_pp_entry *x, uint32_t set)
{
    const int64_t *values = pp->queued_values.v + x->values;
    bool ok = true, any = false;
    for (uint32_t e = 0; ok && e < pp->nevents; e++)
        if (sp_pp_has_value(&pp->event[e], values)) {
            ok = add_entry(pp, x, set, e);
            any = true;
        }
    return ok && (any || add_entry(pp, x, set, 0)); /* nothing but zeros is a sample, too */
}

/*
 * Cuts the sample at `at`, all of which is to lie before `limit`, and says in which set its labels are.
 * Returns where it ends; NULL: it has another shape.
 */
PP_INLINE const unsigned char *cut(struct sp_pp *pp, const unsigned char *at, const unsigned char *limit,
                                   struct sp_pp_entry *x, int64_t *values, uint32_t *set,
                                   sp_pp_number *number)
{
    struct sp_pp_slice labels;
    size_t n, size;
    if (at >= limit || *at != SAMPLE || !(size = sp_pp_length(at + 1, &n)))
        return NULL;
    x->field = at;
    x->stack = SP_NONE;
    at += 1 + size;
    if ((ptrdiff_t)n > limit - at)
        return NULL;
    __builtin_prefetch(at + AHEAD);
    __builtin_prefetch(at + AHEAD + 64);
    *set = 0; /* of no labels */
    if (cut_usual(pp, at, at + n, x, values, &labels, number) &&
        (!labels.n || (*set = sp_pp_label_again(pp, labels.p, labels.n)) != SP_NONE))
        return at + n;
    if (!cut_any(pp, at, at + n, x, values, &labels) ||
        (*set = sp_pp_label_find(pp, labels.p, labels.n)) == SP_NONE)
        return NULL;
    return at + n;
}

PP_INLINE bool cut_group(struct sp_pp *pp, const unsigned char **at, const unsigned char *limit,
                         spaa_status *st, sp_pp_number *number)
{
    const unsigned char *p = *at, *next;
    int64_t *values = pp->queued_values.v;
    struct sp_pp_entry *x = pp->queue;
    const bool one = pp->nevents == 1 && !pp->use_seen;
    const uint32_t ntypes = pp->ntypes, most = PP_QUEUE / pp->nevents;
    bool ok = true;
    uint32_t set, left = most < PP_GROUP ? most : PP_GROUP, at_value = 0;
    for (; ok && left && (next = cut(pp, p, limit, x, values + at_value, &set, number)); left--) {
        p = next;
        x->values = at_value;
        at_value += ntypes;
        if (one) {
            x->event = 0;
            x->context = sp_pp_context(pp, set, 0);
            ok = x++->context != SP_NONE;
        } else {
            pp->nqueued = (uint32_t)(x - pp->queue);
            ok = pp->nevents == 1 ? add_entry(pp, x, set, 0) : add_entries(pp, x, set);
            x = pp->queue + pp->nqueued;
        }
    }
    *at = p;
    pp->nqueued = (uint32_t)(x - pp->queue);
    *st = ok ? SPAA_OK : sp_nomem(pp->d);
    return ok && !left;
}

#ifdef PP_NEEDED
PP_NEEDED static bool quick_group(struct sp_pp *pp, const unsigned char **at, const unsigned char *limit,
                                  spaa_status *st)
{
    return cut_group(pp, at, limit, st, sp_pp_number_quick);
}
#endif

bool sp_pp_cut(struct sp_pp *pp, const unsigned char **at, const unsigned char *limit, spaa_status *st)
{
#ifdef PP_NEEDED
    if (pp->shapes.usable)
        return quick_group(pp, at, limit, st);
#endif
    return cut_group(pp, at, limit, st, sp_wire_varint_word);
}
