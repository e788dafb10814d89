#include "analysis/binaries.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const sp_binary_how_names[] = {"functions", "name", "map", "candidate", NULL};

#define LEAST 0.5  /* of the functions and of the weight */
#define NEAR  0.75 /* a candidate with so much of the best one's score is as good */

/* The functions of one binary on one side: a slice of the uses, by function. */
struct binary {
    uint32_t dso;
    unsigned side;
    const struct sp_binary_use *first;
    size_t n;
    bool paired;
};

struct evidence {
    size_t n[2], same;
    double weight[2], common[2];
};

/* How well binary `base` fits `fresh`; 0: it does not. */
struct fit {
    size_t base, fresh; /* numbers of binaries */
    double score;
    size_t same, of;
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

static struct evidence evidence_of(const struct sp_strtab *strs, const struct binary *a,
                                   const struct binary *b, bool all)
{
    struct evidence e = {0};
    size_t i = 0, k = 0;
    while (i < a->n || k < b->n) {
        const struct sp_binary_use *x = i < a->n ? &a->first[i] : NULL, *y = k < b->n ? &b->first[k] : NULL;
        bool in_a = x && (!y || x->function <= y->function), in_b = y && (!x || y->function <= x->function);
        i += in_a;
        k += in_b;
        if (strs && !all && !specific(sp_str_at(strs, in_a ? x->function : y->function)))
            continue;
        e.n[0] += in_a;
        e.n[1] += in_b;
        e.same += in_a && in_b;
        e.weight[0] += in_a ? x->weight : 0;
        e.weight[1] += in_b ? y->weight : 0;
        e.common[0] += in_a && in_b ? x->weight : 0;
        e.common[1] += in_a && in_b ? y->weight : 0;
    }
    return e;
}

static double binaries_part(double x, double of)
{
    return of > 0 ? x / of : 1;
}

static struct fit fit_of(const struct sp_strtab *strs, const struct binary *v, size_t base, size_t fresh)
{
    const struct binary *a = &v[base], *b = &v[fresh];
    struct evidence all = evidence_of(strs, a, b, true), e = evidence_of(strs, a, b, false);
    struct fit f = {base, fresh, 0, all.same, all.n[0] + all.n[1] - all.same};
    if (!e.n[0] || !e.n[1]) {
        if (!names_continue(sp_str_at(strs, a->dso), sp_str_at(strs, b->dso)))
            return f;
        e = all;
    }
    size_t fewer = e.n[0] < e.n[1] ? e.n[0] : e.n[1];
    double x = binaries_part(e.common[0], e.weight[0]), y = binaries_part(e.common[1], e.weight[1]),
           least = x < y ? x : y;
    if (e.same && (double)e.same >= LEAST * (double)fewer && least >= LEAST)
        f.score = least * (double)e.same / (double)(e.n[0] + e.n[1] - e.same);
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
        v[found++] = (struct binary){uses[i].dso, uses[i].side, uses + i, k - i, false};
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

/* Whether a fit is the best of both its binaries, with no other near it. */
static bool unrivalled(const struct fit *fits, size_t n, const struct fit *f)
{
    for (size_t i = 0; i < n; i++) {
        const struct fit *x = &fits[i];
        if (x != f && (x->base == f->base || x->fresh == f->fresh) && x->score >= NEAR * f->score)
            return false;
    }
    return true;
}

static bool binaries_add_pair(const struct binary *v, const struct fit *f, enum sp_binary_how how,
                              struct sp_binary_pairs *out)
{
    struct sp_binary_pair p = {{v[f->base].dso, v[f->fresh].dso}, how, f->same, f->of};
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

static bool binaries_choose(struct binary *v, struct fit *fits, size_t n, struct sp_binary_pairs *out)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < n; i++) {
            if (v[fits[i].base].paired || v[fits[i].fresh].paired || !unrivalled(fits, n, &fits[i]))
                continue;
            if (!binaries_add_pair(v, &fits[i], SP_BINARY_BY_FUNCTIONS, out))
                return false;
            v[fits[i].base].paired = v[fits[i].fresh].paired = more = true;
        }
        n = drop_paired(v, fits, n);
    }
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

bool sp_binaries_pair(const struct sp_strtab *strs, const struct sp_binary_use *uses, size_t n,
                      struct sp_binary_pairs *out)
{
    struct binary *v;
    size_t count;
    SP_VEC(struct fit) fits = {0};
    bool ok = find_binaries(strs, uses, n, &v, &count);
    for (size_t i = 0; ok && i < count; i++)
        for (size_t k = 0; ok && k < count && !v[i].side; k++) {
            struct fit f = v[k].side ? fit_of(strs, v, i, k) : (struct fit){0};
            ok = !(f.score > 0) || sp_vec_push(&fits, f);
        }
    ok = ok && binaries_choose(v, fits.v, fits.n, out);
    if (ok && out->v.n)
        qsort_r(out->v.v, out->v.n, sizeof *out->v.v, cmp_pair, (void *)strs);
    sp_vec_free(&fits);
    free(v);
    return ok;
}

void sp_binaries_count(const struct sp_binary_use *uses, size_t n, struct sp_binary_pair *pair, uint32_t base,
                       uint32_t fresh)
{
    struct binary side[2] = {{.dso = base}, {.dso = fresh}};
    for (size_t i = 0; i < n; i++) {
        struct binary *b = &side[uses[i].side];
        if (uses[i].dso != b->dso)
            continue;
        b->first = b->n ? b->first : uses + i;
        b->n++;
    }
    struct evidence e = evidence_of(NULL, &side[0], &side[1], true);
    pair->same = e.same;
    pair->of = e.n[0] + e.n[1] - e.same;
}
