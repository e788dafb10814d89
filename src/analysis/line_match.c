#include "analysis/line_match.h"

#include <stdlib.h>

/* Regions of at most so many pairs of lines are compared pair by pair; so many steps are taken in all. */
enum { PAIRS_MAX = 1 << 22, WORK_MAX = 1 << 27 };

/* Lines from..to of the base, and from..to of the other text: not what is at `to`. */
struct region {
    uint32_t a0, a1, b0, b1;
};

struct matcher {
    uint32_t *a, *b;          /* texts of lines by number: equal ones are the same */
    uint32_t *in_a, *in_b;    /* per text: how often it is in a region */
    uint32_t *at_b;           /* where in b */
    uint32_t *tails, *before; /* of the increasing sequence of unique lines */
    uint32_t *uniques;
    uint32_t *out; /* per line of b: 1 + that of a; 0 */
    uint64_t work;
    SP_VEC(struct region) todo;
    bool cut;
};

struct sp_str sp_line_trimmed(struct sp_str s)
{
    while (s.n && (*s.p == ' ' || *s.p == '\t'))
        s.p++, s.n--;
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
        s.n--;
    return s;
}

bool sp_lines_alike(struct sp_str a, struct sp_str b)
{
    a = sp_line_trimmed(a);
    b = sp_line_trimmed(b);
    uint32_t least = a.n < b.n ? a.n : b.n, from = 0, end = 0;
    while (from < least && a.p[from] == b.p[from])
        from++;
    while (end < least - from && a.p[a.n - 1 - end] == b.p[b.n - 1 - end])
        end++;
    return least && 4 * (uint64_t)(from + end) >= (uint64_t)a.n + b.n;
}

/* ---- pair by pair ---- */

static bool match_pairs(struct matcher *m, const struct region *r)
{
    size_t na = r->a1 - r->a0, nb = r->b1 - r->b0, wide = nb + 1;
    uint16_t *best = calloc((na + 1) * wide, sizeof *best); /* of what is left from there on */
    if (!best)
        return false;
    for (size_t i = na; i-- > 0;)
        for (size_t k = nb; k-- > 0;) {
            uint16_t down = best[(i + 1) * wide + k], right = best[i * wide + k + 1];
            bool same = m->a[r->a0 + i] == m->b[r->b0 + k];
            best[i * wide + k] = same           ? (uint16_t)(best[(i + 1) * wide + k + 1] + 1)
                                 : down > right ? down
                                                : right;
        }
    for (size_t i = 0, k = 0; i < na && k < nb;) {
        if (m->a[r->a0 + i] == m->b[r->b0 + k])
            m->out[r->b0 + k++] = r->a0 + (uint32_t)i++ + 1;
        else if (best[(i + 1) * wide + k] >= best[i * wide + k + 1])
            i++;
        else
            k++;
    }
    free(best);
    m->work += na * nb;
    return true;
}

/* ---- by lines that are there once ---- */

/* Those that are once in both, in the order of a; how many. */
static size_t match_uniques(struct matcher *m, const struct region *r)
{
    size_t n = 0;
    for (uint32_t i = r->a0; i < r->a1; i++)
        m->in_a[m->a[i]]++;
    for (uint32_t k = r->b0; k < r->b1; k++) {
        m->in_b[m->b[k]]++;
        m->at_b[m->b[k]] = k;
    }
    for (uint32_t i = r->a0; i < r->a1; i++)
        if (m->in_a[m->a[i]] == 1 && m->in_b[m->a[i]] == 1)
            m->uniques[n++] = i;
    for (uint32_t i = r->a0; i < r->a1; i++)
        m->in_a[m->a[i]] = 0;
    for (uint32_t k = r->b0; k < r->b1; k++)
        m->in_b[m->b[k]] = 0;
    return n;
}

/* The most of them that ascend in b, too: matched; and what is between is left to do. */
static bool match_anchors(struct matcher *m, const struct region *r, size_t n)
{
    size_t length = 0;
    for (size_t u = 0; u < n; u++) {
        uint32_t at = m->at_b[m->a[m->uniques[u]]];
        size_t lo = 0, hi = length;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (m->at_b[m->a[m->uniques[m->tails[mid]]]] < at)
                lo = mid + 1;
            else
                hi = mid;
        }
        m->before[u] = lo ? m->tails[lo - 1] : UINT32_MAX;
        m->tails[lo] = (uint32_t)u;
        length += lo == length;
    }
    struct region rest = *r;
    for (uint32_t u = length ? m->tails[length - 1] : UINT32_MAX; u != UINT32_MAX; u = m->before[u]) {
        uint32_t i = m->uniques[u], k = m->at_b[m->a[i]];
        struct region behind = {i + 1, rest.a1, k + 1, rest.b1};
        m->out[k] = i + 1;
        rest.a1 = i;
        rest.b1 = k;
        if (!sp_vec_push(&m->todo, behind))
            return false;
    }
    return sp_vec_push(&m->todo, rest);
}

static bool match_region(struct matcher *m, struct region r)
{
    while (r.a0 < r.a1 && r.b0 < r.b1 && m->a[r.a0] == m->b[r.b0])
        m->out[r.b0++] = ++r.a0;
    while (r.a0 < r.a1 && r.b0 < r.b1 && m->a[r.a1 - 1] == m->b[r.b1 - 1])
        m->out[--r.b1] = r.a1--;
    size_t na = r.a1 - r.a0, nb = r.b1 - r.b0;
    if (!na || !nb)
        return true;
    m->work += na + nb;
    if (m->work > WORK_MAX) {
        m->cut = true;
        return true;
    }
    if (na <= PAIRS_MAX / nb && na < UINT16_MAX && nb < UINT16_MAX)
        return match_pairs(m, &r);
    size_t n = match_uniques(m, &r);
    m->cut |= !n;
    return !n || match_anchors(m, &r, n);
}

static bool match_intern(const struct sp_source_text *t, struct sp_strtab *texts, uint32_t *out)
{
    for (size_t i = 0; i < t->lines.n; i++) {
        uint32_t number;
        struct sp_str line = sp_line_trimmed(sp_source_held(t, i, &number));
        out[i] = sp_intern(texts, line.n ? line.p : "", line.n);
        if (out[i] == SP_STR_FAIL)
            return false;
    }
    return true;
}

/* ---- texts with gaps ---- */

/* Lines of one file: by their numbers. */
static void match_numbers(struct matcher *m, const struct sp_source_text *base,
                          const struct sp_source_text *text)
{
    for (size_t k = 0; k < text->lines.n; k++) {
        uint32_t line, number = 0;
        sp_source_held(text, k, &line);
        size_t i = sp_source_before(base, line);
        if (i < base->lines.n)
            sp_source_held(base, i, &number);
        m->out[k] = number == line ? (uint32_t)i + 1 : 0;
    }
}

/* Whether the line before, or after, is the same one too, in both texts. */
static bool match_runs(const struct matcher *m, const struct sp_source_text *base,
                       const struct sp_source_text *text, size_t k, size_t other)
{
    uint32_t a, b, x, y;
    if (!m->out[k] || !m->out[other])
        return false;
    sp_source_held(text, k, &a);
    sp_source_held(text, other, &b);
    sp_source_held(base, m->out[k] - 1, &x);
    sp_source_held(base, m->out[other] - 1, &y);
    return a - b == x - y && (a - b == 1 || b - a == 1);
}

/* Keeps matches of lines that are once in both, and of those that follow each other from there. */
static void match_sure(struct matcher *m, const struct sp_source_text *base,
                       const struct sp_source_text *text)
{
    enum { SHORT = 4 };
    bool *sure = (bool *)(void *)m->uniques; /* as many, and not needed any more */
    size_t n = text->lines.n;
    for (size_t i = 0; i < base->lines.n; i++)
        m->in_a[m->a[i]]++;
    for (size_t k = 0; k < n; k++)
        m->in_b[m->b[k]]++;
    for (size_t k = 0; k < n; k++) {
        uint32_t line;
        sure[k] = m->out[k] && m->in_a[m->b[k]] == 1 && m->in_b[m->b[k]] == 1 &&
                  sp_line_trimmed(sp_source_held(text, k, &line)).n >= SHORT;
    }
    for (size_t k = 1; k < n; k++)
        sure[k] = sure[k] || (sure[k - 1] && match_runs(m, base, text, k, k - 1));
    for (size_t k = n; k-- > 1;)
        sure[k - 1] = sure[k - 1] || (sure[k] && match_runs(m, base, text, k - 1, k));
    for (size_t k = 0; k < n; k++)
        m->out[k] = sure[k] ? m->out[k] : 0;
}

static bool match_all(struct matcher *m, const struct sp_source_text *base, const struct sp_source_text *text)
{
    bool gaps = base->numbers || text->numbers, ok = true;
    if (gaps && sp_source_is_same(base, text)) {
        match_numbers(m, base, text);
        return true;
    }
    struct region whole = {0, (uint32_t)base->lines.n, 0, (uint32_t)text->lines.n};
    ok = sp_vec_push(&m->todo, whole);
    while (ok && m->todo.n) {
        struct region r = m->todo.v[--m->todo.n];
        ok = match_region(m, r);
    }
    if (ok && gaps)
        match_sure(m, base, text);
    return ok;
}

uint32_t *sp_match_lines(const struct sp_source_text *base, const struct sp_source_text *text, bool *cut)
{
    struct matcher m = {0};
    struct sp_strtab texts;
    size_t na = base->lines.n, nb = text->lines.n, all = na + nb + 2;
    uint32_t *room = calloc(all * 8, sizeof *room); /* numbers of texts are at most so many, too */
    m.out = calloc(nb + 1, sizeof *m.out);
    bool ok = sp_strtab_init(&texts) && room && m.out && all < UINT32_MAX / 8;
    if (ok) {
        uint32_t **parts[] = {&m.a, &m.b, &m.in_a, &m.in_b, &m.at_b, &m.tails, &m.before, &m.uniques};
        for (size_t i = 0; i < 8; i++)
            *parts[i] = room + i * all;
        ok = match_intern(base, &texts, m.a) && match_intern(text, &texts, m.b);
    }
    ok = ok && match_all(&m, base, text);
    sp_vec_free(&m.todo);
    sp_strtab_free(&texts);
    free(room);
    *cut = m.cut;
    if (ok)
        return m.out;
    free(m.out);
    return NULL;
}
