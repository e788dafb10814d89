/*
 * CPU profiles: words of 4 or 8 bytes, of either endianness.
 *
 *     0 3 V PERIOD 0        V: 0, or 1 of a Java program; PERIOD in microseconds
 *     COUNT N PC1 … PCN     a stack, leaf first; callers are where they return to, but in Java's
 *     0 1 0                 the end
 *     …                     text: maps, or Java's names
 *
 * The profiler's signal handler leaves frames between the leaf and its caller. As pprof does, up to two
 * times, the second address is left out where (nearly) all stacks have the same one; and the second one where
 * it is the leaf again. --all-frames keeps them.
 */
#include "base/num.h"
#include "base/watch.h"
#include "formats/gperftools/gperftools.h"

#define SIMILAR 32 /* stacks, of which one may have another second address */

struct words {
    const unsigned char *p, *end;
    unsigned size;
    bool big, java;
};

static inline uint64_t gperftools_load_word(const unsigned char *p, unsigned size, bool big)
{
    if (size == 8) {
        uint64_t v;
        memcpy(&v, p, sizeof v);
        return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap64(v);
    }
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap32(v);
}

unsigned sp_gp_word_size(const unsigned char *p, size_t n, bool *big, bool *java)
{
    for (unsigned k = 0; k < 4; k++) {
        unsigned size = k < 2 ? 4 : 8;
        *big = k & 1;
        if (n < 5 * (size_t)size)
            continue;
        uint64_t h[5];
        for (unsigned i = 0; i < 5; i++)
            h[i] = gperftools_load_word(p + (size_t)i * size, size, *big);
        *java = h[2] == 1;
        if (!h[0] && h[1] == 3 && h[2] <= 1 && h[3] && h[3] <= INT64_MAX / 1000 && !h[4])
            return size;
    }
    return 0;
}

static uint64_t gperftools_word_at(struct words *w)
{
    uint64_t v = gperftools_load_word(w->p, w->size, w->big);
    w->p += w->size;
    return v;
}

static size_t gperftools_words_left(const struct words *w)
{
    return (size_t)(w->end - w->p) / w->size;
}

/* After damage: behind the words of the end, where text or nothing follows. NULL: nowhere. */
static const unsigned char *gperftools_find_end(const struct words *w)
{
    for (const unsigned char *p = w->p; (size_t)(w->end - p) >= 3 * (size_t)w->size; p += w->size) {
        if (gperftools_load_word(p, w->size, w->big) ||
            gperftools_load_word(p + w->size, w->size, w->big) != 1 ||
            gperftools_load_word(p + 2 * (size_t)w->size, w->size, w->big))
            continue;
        const unsigned char *text = p + 3 * (size_t)w->size;
        if (text == w->end || *text == '\n' || (*text >= ' ' && *text < 0x7f))
            return text;
    }
    return NULL;
}

static bool gperftools_words_addresses(struct sp_gp *gp, struct words *w, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++, w->p += w->size)
        if (!sp_mapped_add(&gp->m, gperftools_load_word(w->p, w->size, w->big), i && !w->java))
            return false;
    return true;
}

/* One stack; *last at the words of the end. False: damage, which is reported. */
static spaa_status gperftools_words_stack(struct sp_gp *gp, struct words *w, int64_t period, bool *last,
                                          bool *damaged)
{
    const unsigned char *from = w->p;
    size_t words = gperftools_words_left(w);
    uint64_t count = words > 1 ? gperftools_word_at(w) : 0, n = words > 1 ? gperftools_word_at(w) : 0;
    const char *what = words < 2                      ? "it ends without its last words, 0 1 0"
                       : n > gperftools_words_left(w) ? "a stack with more addresses than there are words"
                       : count > INT64_MAX / 2        ? "a count beyond all limits"
                                                      : NULL;
    if (what) {
        sp_emit(gp->d, SP_L767, SP_AT((uint64_t)((const char *)from - gp->in)), "%s", what);
        w->p = from;
        *damaged = true;
        return SPAA_OK;
    }
    if (!count && n == 1 && !gperftools_load_word(w->p, w->size, w->big)) {
        w->p += w->size;
        *last = true;
        return SPAA_OK;
    }
    if (!gperftools_words_addresses(gp, w, n))
        return sp_nomem(gp->d);
    int64_t v[2] = {(int64_t)count, 0};
    if (__builtin_mul_overflow(v[0], period, &v[1]))
        v[1] = INT64_MAX;
    return sp_mapped_row(&gp->m, gp->context, v) ? SPAA_OK : sp_nomem(gp->d);
}

/* The place that stands second in so many rows that it is no caller; SP_NONE: none. */
static spaa_status gperftools_common_second(struct sp_gp *gp, uint32_t *second)
{
    const struct sp_mapped *m = &gp->m;
    size_t margin = m->rows.n / SIMILAR;
    uint32_t *count = calloc(m->places.n + 1, sizeof *count);
    *second = SP_NONE;
    if (!count)
        return sp_nomem(gp->d);
    for (size_t i = 0; i < m->rows.n; i++)
        if (m->rows.v[i].n > 1)
            count[m->chain.v[m->rows.v[i].first + 1]]++;
    for (size_t i = 0; i < m->places.n && *second == SP_NONE; i++)
        if (count[i] && count[i] >= m->rows.n - margin)
            *second = (uint32_t)i;
    free(count);
    return SPAA_OK;
}

/* The second address of a row is not used: the leaf takes its place. */
static void gperftools_leave_out(struct sp_mapped *m, struct sp_mapped_row *row)
{
    m->chain.v[row->first + 1] = m->chain.v[row->first];
    row->first++;
    row->n--;
}

static spaa_status gperftools_leave_out_handler(struct sp_gp *gp)
{
    struct sp_mapped *m = &gp->m;
    struct sp_buf *b = &gp->notes;
    char t[16];
    for (int times = 0; times < 2; times++) {
        uint32_t second;
        uint64_t rows = 0;
        spaa_status st = gperftools_common_second(gp, &second);
        if (st || second == SP_NONE)
            return st;
        for (size_t i = 0; i < m->rows.n; i++)
            if (m->rows.v[i].n > 1 && m->chain.v[m->rows.v[i].first + 1] == second) {
                gperftools_leave_out(m, &m->rows.v[i]);
                rows++;
            }
        uint64_t addr = m->places.v[second].addr;
        sp_buf_printf(b, ",\"left_out_%d\":{\"address\":\"0x", times + 1);
        sp_buf_add(b, t, sp_hex_text(addr, t));
        sp_buf_printf(b, "\",\"stacks\":%llu}", (unsigned long long)rows);
        sp_emit(gp->d, SP_I780, SP_AT_NOTHING, "0x%llx, behind the leaf of %llu stacks",
                (unsigned long long)addr, (unsigned long long)rows);
    }
    return SPAA_OK;
}

static void gperftools_leave_out_second_leaf(struct sp_mapped *m)
{
    for (size_t i = 0; i < m->rows.n; i++) {
        struct sp_mapped_row *row = &m->rows.v[i];
        const uint32_t *places = m->chain.v + row->first;
        if (row->n > 1 && m->places.v[places[0]].addr == m->places.v[places[1]].addr)
            gperftools_leave_out(m, row);
    }
}

static spaa_status gperftools_words_declare(struct sp_gp *gp, int64_t period)
{
    struct sp_gp_event e = {
        .name = "cpu",
        .kind = SP_TIMER,
        .period = period,
        .period_unit = "nanoseconds",
        .types = {{"samples", "count", "samples", NULL}, {"cpu", "nanoseconds", "cpu", "ns"}},
        .ntypes = 2,
        .primary = 1,
    };
    return sp_gp_declare(gp, &e);
}

spaa_status sp_gp_words(struct sp_gp *gp, const unsigned char *from)
{
    struct words w = {.p = from, .end = (const unsigned char *)gp->end};
    bool last = false, damaged = false;
    w.size = sp_gp_word_size(from, (size_t)(w.end - w.p), &w.big, &w.java);
    int64_t period = (int64_t)gperftools_load_word(from + 3 * (size_t)w.size, w.size, w.big) * 1000;
    gp->kind = "cpu";
    gp->tool = "pprof";
    gp->m.plain = w.java;
    sp_buf_printf(&gp->notes, ",\"words\":\"%u%s\"", 8 * w.size, w.big ? "be" : "le");
    if (w.java)
        sp_buf_puts(&gp->notes, ",\"java\":true");
    w.p += 5 * (size_t)w.size;
    spaa_status st = gperftools_words_declare(gp, period);
    for (size_t i = 0; !st && !last && !damaged; i++)
        st = sp_leaving(gp->d, i) ? SPAA_ERR_CANCELLED
                                  : gperftools_words_stack(gp, &w, period, &last, &damaged);
    if (!st && !w.java && !sp_own_opt(gp->opts->own, gp->opts->nown, "all-frames")) {
        st = gperftools_leave_out_handler(gp);
        gperftools_leave_out_second_leaf(&gp->m);
    }
    const unsigned char *text = last ? w.p : gperftools_find_end(&w);
    if (st || !text)
        return st;
    gp->at = (const char *)text;
    gp->number = 0;
    if (w.java)
        return sp_gp_java_names(gp);
    return sp_mapped_lines(&gp->m, gp->at, gp->end, (uint64_t)(gp->at - gp->in), 0);
}
