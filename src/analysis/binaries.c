#include "analysis/binaries.h"

#include "base/hash.h"
#include "base/map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const sp_binary_how_names[] = {"functions", "name", "map", "candidate", NULL};

#define LEAST 0.5  /* of the functions and of the weight */
#define NEAR  0.75 /* a candidate with so much of the best one's score is as good */

#define LOOKED   ((size_t)1 << 24) /* pairs of binaries, each once for a function that both have; */
#define OVERLAPS ((size_t)1 << 20) /* and once: more are too many */

/* The functions of one binary on one side: a slice of the uses, by function. */
struct binary {
    uint32_t dso;
    unsigned side;
    const struct sp_binary_use *first;
    size_t n;
    bool paired;
    size_t telling;   /* functions that are evidence */
    double weight[2]; /* of all, and of these */
};

/* What two binaries have in common: of all functions, and of those that are evidence. */
struct overlap {
    uint32_t base, fresh; /* numbers of binaries */
    uint32_t same[2];     /* ALL, TELLING */
    double common[2][2];  /* by side: the weight of these */
};

enum { ALL, TELLING };

/* How well binary `base` fits `fresh`; 0: it does not. */
struct fit {
    size_t base, fresh; /* numbers of binaries */
    double score;
};

static int cmp_use(const void *va, const void *vb)
{
    const struct sp_binary_use *a = va, *b = vb;
    int c = (a->side > b->side) - (a->side < b->side);
    c = c ? c : (a->dso > b->dso) - (a->dso < b->dso);
    return c ? c : (a->function > b->function) - (a->function < b->function);
}

size_t sp_binary_uses_join(struct sp_binary_use *v, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(v, n, sizeof *v, cmp_use);
    for (size_t i = 0; i < n; i++) {
        struct sp_binary_use *last = kept ? &v[kept - 1] : NULL;
        if (last && cmp_use(last, &v[i]) == 0)
            last->weight += v[i].weight;
        else
            v[kept++] = v[i];
    }
    return kept;
}

static bool binaries_begins(struct sp_str s, const char *word)
{
    size_t n = strlen(word);
    return s.n >= n && memcmp(s.p, word, n) == 0;
}

/* Whether a function says something about which program it is of. */
static bool specific(struct sp_str name)
{
    static const char *const libraries[] = {"std::",   "core::",      "alloc::",  "<core::",   "<alloc::",
                                            "<std::",  "runtime.",    "runtime/", "internal/", "sync.",
                                            "sync/",   "syscall.",    "type:",    "__libc_",   "__do_global_",
                                            "__rust_", "__gnu_cxx::", NULL};
    static const char *const words[] = {"main",
                                        "_start",
                                        "_init",
                                        "_fini",
                                        "frame_dummy",
                                        "register_tm_clones",
                                        "main.main",
                                        "operator()",
                                        "deregister_tm_clones",
                                        "_dl_relocate_static_pie",
                                        NULL};
    for (size_t i = 0; libraries[i]; i++)
        if (binaries_begins(name, libraries[i]))
            return false;
    for (size_t i = 0; words[i]; i++)
        if (sp_str_is(name, words[i]))
            return false;
    return name.n && name.p[0] != '[';
}

/* One name goes on where the other ends, at a place where words end: shop and shop_new, shop and shop2. */
static bool names_continue(struct sp_str a, struct sp_str b)
{
    struct sp_str s = a.n < b.n ? a : b, l = a.n < b.n ? b : a;
    return s.n >= 2 && l.n > s.n && memcmp(s.p, l.p, s.n) == 0 && !isalpha((unsigned char)l.p[s.n]);
}

static double binaries_part(double x, double of)
{
    return of > 0 ? x / of : 1;
}

/* How well these fit; score 0: they do not. */
static struct fit fit_of(const struct sp_strtab *strs, const struct binary *v, const struct overlap *o)
{
    const struct binary *a = &v[o->base], *b = &v[o->fresh];
    struct fit f = {o->base, o->fresh, 0};
    bool bare = !a->telling || !b->telling;
    if (bare && !names_continue(sp_str_at(strs, a->dso), sp_str_at(strs, b->dso)))
        return f;
    unsigned by = bare ? ALL : TELLING;
    size_t same = o->same[by], n[2] = {bare ? a->n : a->telling, bare ? b->n : b->telling},
           fewer = n[0] < n[1] ? n[0] : n[1];
    double x = binaries_part(o->common[0][by], a->weight[by]),
           y = binaries_part(o->common[1][by], b->weight[by]), least = x < y ? x : y;
    if (same && (double)same >= LEAST * (double)fewer && least >= LEAST)
        f.score = least * (double)same / (double)(n[0] + n[1] - same);
    return f;
}

/* The binaries that only one side has. */
static bool find_binaries(const struct sp_strtab *strs, const struct sp_binary_use *uses, size_t n,
                          struct binary **out, size_t *count)
{
    size_t half = 0, found = 0;
    struct binary *v = calloc(n + 1, sizeof *v);
    *out = v;
    *count = 0;
    if (!v)
        return false;
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && uses[k].side == uses[i].side && uses[k].dso == uses[i].dso; k++)
            ;
        v[found++] = (struct binary){uses[i].dso, uses[i].side, uses + i, k - i, false, 0, {0, 0}};
        half += !uses[i].side;
    }
    for (size_t i = 0, k = half; i < half && k < found;) { /* both by number */
        if (v[i].dso == v[k].dso)
            v[i++].paired = v[k++].paired = true;
        else if (v[i].dso < v[k].dso)
            i++;
        else
            k++;
    }
    for (size_t i = 0; i < found; i++) {
        struct sp_str name = sp_str_at(strs, v[i].dso);
        if (!v[i].paired && name.n && name.p[0] != '[')
            v[(*count)++] = v[i];
    }
    return true;
}

/* ---- what they have in common ---- */

/* A function of a binary that one side alone has. */
struct member {
    uint32_t function, binary;
    double weight;
};

static int cmp_member(const void *va, const void *vb)
{
    const struct member *a = va, *b = vb;
    int c = (a->function > b->function) - (a->function < b->function);
    return c ? c : (a->binary > b->binary) - (a->binary < b->binary);
}

struct overlaps {
    const struct sp_strtab *strs;
    struct binary *binaries; /* those of the base first */
    size_t n;
    SP_VEC(struct member) members; /* by function */
    SP_VEC(struct overlap) v;
    struct sp_map map; /* of v, by both binaries */
    size_t looked;     /* pairs that were looked at, one for each function */
    bool too_many;
};

static struct overlap *overlap_at(struct overlaps *o, uint32_t base, uint32_t fresh)
{
    uint64_t hash = sp_hash_mix(base, fresh);
    struct sp_probe at = sp_map_probe(&o->map, hash);
    for (uint32_t i; (i = sp_map_next(&o->map, &at)) != SP_MAP_NONE;)
        if (o->v.v[i].base == base && o->v.v[i].fresh == fresh)
            return &o->v.v[i];
    struct overlap x = {.base = base, .fresh = fresh};
    if (!sp_map_add_at(&o->map, &at, (uint32_t)o->v.n) || !sp_vec_push(&o->v, x))
        return NULL;
    return &o->v.v[o->v.n - 1];
}

static bool overlap_find_members(struct overlaps *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        for (size_t k = 0; k < o->binaries[i].n; k++) {
            struct binary *b = &o->binaries[i];
            const struct sp_binary_use *u = &b->first[k];
            bool telling = specific(sp_str_at(o->strs, u->function));
            struct member m = {u->function, i, u->weight};
            b->weight[ALL] += u->weight;
            b->weight[TELLING] += telling ? u->weight : 0;
            b->telling += telling;
            if (!sp_vec_push(&o->members, m))
                return false;
        }
    if (o->members.n)
        qsort(o->members.v, o->members.n, sizeof *o->members.v, cmp_member);
    return true;
}

/* One function, which these binaries have: n of the base, then `more` of the new side. What is no evidence
 * counts where one of two binaries has nothing else. */
static bool overlap_add(struct overlaps *o, const struct member *m, size_t n, size_t more)
{
    bool telling = specific(sp_str_at(o->strs, m->function)), bare = false;
    for (size_t i = 0; i < n + more; i++)
        bare = bare || !o->binaries[m[i].binary].telling;
    if (!n || !more || (!telling && !bare))
        return true;
    o->too_many = o->too_many || more > (LOOKED - o->looked) / n;
    o->looked += o->too_many ? 0 : n * more;
    for (size_t i = 0; i < n; i++)
        for (size_t k = n; k < n + more && !o->too_many; k++) {
            bool both = o->binaries[m[i].binary].telling && o->binaries[m[k].binary].telling;
            struct overlap *x = telling || !both ? overlap_at(o, m[i].binary, m[k].binary) : NULL;
            if (!x && (telling || !both))
                return false;
            for (unsigned by = ALL; x && by <= (telling ? TELLING : ALL); by++) {
                x->same[by]++;
                x->common[0][by] += m[i].weight;
                x->common[1][by] += m[k].weight;
            }
            o->too_many = o->v.n > OVERLAPS;
        }
    return true;
}

static bool overlap_find(struct overlaps *o)
{
    bool ok = overlap_find_members(o);
    const struct member *v = o->members.v;
    for (size_t i = 0, n, more; ok && i < o->members.n; i += n + more) {
        for (n = 0; i + n < o->members.n && v[i + n].function == v[i].function &&
                    !o->binaries[v[i + n].binary].side;)
            n++;
        for (more = 0; i + n + more < o->members.n && v[i + n + more].function == v[i].function;)
            more++;
        ok = overlap_add(o, v + i, n, more);
    }
    return ok;
}

/* ---- which are one ---- */

/* The two best scores of a binary. */
struct best {
    double first, second;
};

static void best_take(struct best *b, double score)
{
    if (score > b->first)
        *b = (struct best){score, b->first};
    else if (score > b->second)
        b->second = score;
}

/* Whether a fit is the best of its binary, with no other near it. */
static bool unrivalled(const struct best *b, double score)
{
    return score >= b->first && b->second < NEAR * score;
}

static bool binaries_add_pair(const struct binary *v, const struct fit *f, enum sp_binary_how how,
                              struct sp_binary_pairs *out)
{
    struct sp_binary_pair p = {.dso = {v[f->base].dso, v[f->fresh].dso}, .how = how};
    return sp_vec_push(&out->v, p);
}

/* Fits of paired binaries leave; what was second best to them may be the best of others. */
static size_t drop_paired(const struct binary *v, struct fit *fits, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!v[fits[i].base].paired && !v[fits[i].fresh].paired)
            fits[kept++] = fits[i];
    return kept;
}

/* Each round pairs what no other comes near; one that waits for another's end has less than NEAR of its
 * score, so that there are few rounds. */
static bool binaries_choose(struct binary *v, size_t count, struct fit *fits, size_t n,
                            struct sp_binary_pairs *out)
{
    struct best *best = calloc(count + 1, sizeof *best);
    bool ok = best != NULL;
    for (bool more = true; ok && more;) {
        more = false;
        memset(best, 0, count * sizeof *best);
        for (size_t i = 0; i < n; i++) {
            best_take(&best[fits[i].base], fits[i].score);
            best_take(&best[fits[i].fresh], fits[i].score);
        }
        for (size_t i = 0; ok && i < n; i++) {
            const struct fit *f = &fits[i];
            if (!unrivalled(&best[f->base], f->score) || !unrivalled(&best[f->fresh], f->score))
                continue;
            ok = binaries_add_pair(v, f, SP_BINARY_BY_FUNCTIONS, out);
            v[f->base].paired = v[f->fresh].paired = more = true;
        }
        n = drop_paired(v, fits, n);
    }
    free(best);
    if (!ok)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!binaries_add_pair(v, &fits[i], SP_BINARY_CANDIDATE, out))
            return false;
    return true;
}

static int cmp_pair(const void *va, const void *vb, void *arg)
{
    const struct sp_strtab *strs = arg;
    const struct sp_binary_pair *a = va, *b = vb;
    int c = sp_str_cmp(sp_str_at(strs, a->dso[0]), sp_str_at(strs, b->dso[0]));
    return c ? c : sp_str_cmp(sp_str_at(strs, a->dso[1]), sp_str_at(strs, b->dso[1]));
}

static int cmp_fit(const void *va, const void *vb)
{
    const struct fit *a = va, *b = vb;
    int c = (a->base > b->base) - (a->base < b->base);
    return c ? c : (a->fresh > b->fresh) - (a->fresh < b->fresh);
}

bool sp_binaries_pair(const struct sp_strtab *strs, const struct sp_binary_use *uses, size_t n,
                      struct sp_binary_pairs *out)
{
    struct overlaps o = {.strs = strs};
    SP_VEC(struct fit) fits = {0};
    bool ok = find_binaries(strs, uses, n, &o.binaries, &o.n) && overlap_find(&o);
    for (size_t i = 0; ok && !o.too_many && i < o.v.n; i++) {
        struct fit f = fit_of(strs, o.binaries, &o.v.v[i]);
        ok = !(f.score > 0) || sp_vec_push(&fits, f);
    }
    if (ok && fits.n)
        qsort(fits.v, fits.n, sizeof *fits.v, cmp_fit);
    ok = ok && binaries_choose(o.binaries, o.n, fits.v, fits.n, out);
    for (size_t i = 0; ok && i < out->v.n; i++)
        sp_binaries_count(uses, n, &out->v.v[i], out->v.v[i].dso[0], out->v.v[i].dso[1]);
    if (ok && out->v.n)
        qsort_r(out->v.v, out->v.n, sizeof *out->v.v, cmp_pair, (void *)strs);
    out->too_many = o.too_many;
    sp_vec_free(&fits);
    sp_vec_free(&o.members);
    sp_vec_free(&o.v);
    sp_map_free(&o.map);
    free(o.binaries);
    return ok;
}

/* The uses of a binary on one side. */
static size_t uses_of(const struct sp_binary_use *uses, size_t n, unsigned side, uint32_t dso,
                      const struct sp_binary_use **first)
{
    const struct sp_binary_use *v = uses, *end = uses + n;
    while (n) {
        size_t half = n / 2;
        bool before = v[half].side != side ? v[half].side < side : v[half].dso < dso;
        v = before ? v + half + 1 : v;
        n = before ? n - half - 1 : half;
    }
    *first = v;
    while (v < end && v->side == side && v->dso == dso)
        v++;
    return (size_t)(v - *first);
}

void sp_binaries_count(const struct sp_binary_use *uses, size_t n, struct sp_binary_pair *pair, uint32_t base,
                       uint32_t fresh)
{
    const struct sp_binary_use *a, *b;
    size_t na = uses_of(uses, n, 0, base, &a), nb = uses_of(uses, n, 1, fresh, &b), same = 0;
    for (size_t i = 0, k = 0; i < na && k < nb;) {
        uint32_t x = a[i].function, y = b[k].function;
        same += x == y;
        i += x <= y;
        k += y <= x;
    }
    pair->same = same;
    pair->of = na + nb - same;
}
