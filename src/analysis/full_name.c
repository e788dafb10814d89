#include "analysis/full_name.h"

#include "base/num.h"
#include "model/functions.h"
#include "symbols/demangle.h"

#include <stdlib.h>

static int cmp_name(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_function *a = &p->functions.v[*(const uint32_t *)va],
                             *b = &p->functions.v[*(const uint32_t *)vb];
    uint32_t da = p->dsos.v[a->dso].name, db = p->dsos.v[b->dso].name;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (da > db) - (da < db);
}

static struct sp_str path_of(const struct sp_profile *p, uint32_t function)
{
    const struct sp_func_info *x = sp_function_info(p, function);
    return sp_pstr(p, x ? x->file : SP_STR_NONE);
}

/* The last `folders` folders of a path and its last part. */
static struct sp_str last_folders(struct sp_str path, unsigned folders)
{
    uint32_t at = path.n;
    for (folders++; at && (path.p[at - 1] != '/' || --folders); at--)
        ;
    return (struct sp_str){path.p + at, path.n - at};
}

enum { TWINS_MAX = 64, FOLDERS_MAX = 200 };

/* Of two functions of one name and one base name of a file, both get the folders that it takes to tell them
 * apart. */
static bool tell_by_folders(struct sp_full_names *l, uint32_t a, uint32_t b)
{
    struct sp_str x = path_of(l->profile, a), y = path_of(l->profile, b);
    unsigned n = 1;
    while (n < FOLDERS_MAX && sp_str_cmp(last_folders(x, n), last_folders(y, n)) == 0 &&
           (last_folders(x, n).n < x.n || last_folders(y, n).n < y.n))
        n++;
    if (sp_str_cmp(last_folders(x, n), last_folders(y, n)) == 0)
        return false;
    l->folders[a] = l->folders[a] > n ? l->folders[a] : (unsigned char)n;
    l->folders[b] = l->folders[b] > n ? l->folders[b] : (unsigned char)n;
    return true;
}

/* Functions of one name in one DSO, of which some may be equal but for where they start. */
static void tell_twins(struct sp_full_names *l, const uint32_t *twin, size_t n)
{
    const struct sp_profile *p = l->profile;
    uint64_t start;
    bool told = n <= TWINS_MAX;
    for (size_t i = 0; told && i < n; i++)
        for (size_t k = 0; told && k < i; k++)
            if (p->functions.v[twin[i]].tells == p->functions.v[twin[k]].tells &&
                sp_function_start(p, twin[i], &start) && sp_function_start(p, twin[k], &start))
                told = tell_by_folders(l, twin[i], twin[k]);
    for (size_t i = 0; !told && i < n; i++)
        l->folders[twin[i]] = 0;
}

spaa_status sp_full_names_of(const struct sp_profile *p, struct sp_full_names *out)
{
    size_t n = p->functions.n;
    struct sp_full_names l = {p, calloc(n + 1, 1), calloc(n + 1, 1)};
    uint32_t *order = malloc((n + 1) * sizeof *order);
    if (!l.shared || !l.folders || !order) {
        free(order);
        sp_full_names_free(&l);
        return sp_nomem(p->diags);
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, cmp_name, (void *)(uintptr_t)p);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !cmp_name(&order[i], &order[end], (void *)(uintptr_t)p);)
            end++;
        for (size_t k = i; k < end; k++)
            l.shared[order[k]] = end > i + 1;
        if (p->twins && end > i + 1)
            tell_twins(&l, order + i, end - i);
    }
    free(order);
    *out = l;
    return SPAA_OK;
}

void sp_full_names_free(struct sp_full_names *l)
{
    free(l->shared);
    free(l->folders);
    *l = (struct sp_full_names){0};
}

/* What the linkage name says of it, where that is more than its name; else the name. */
static bool put_full_name(struct sp_buf *out, const struct sp_profile *p, uint32_t function)
{
    const struct sp_func_info *x = sp_function_info(p, function);
    struct sp_str linkage = sp_linkage_whole(sp_pstr(p, x ? x->linkage : SP_STR_NONE)),
                  name = sp_pstr(p, p->functions.v[function].name);
    struct sp_buf symbol, full;
    sp_buf_init(&symbol, 0);
    sp_buf_init(&full, 0);
    sp_buf_add(&symbol, linkage.p, linkage.n);
    if (!symbol.failed && !sp_linkage_is_hashed(linkage) && linkage.n &&
        sp_demangle(sp_buf_cstr(&symbol), &full))
        sp_buf_add(out, full.data, full.len);
    else
        sp_buf_add(out, name.p, name.n);
    bool ok = !symbol.failed && !full.failed && !out->failed;
    sp_buf_free(&symbol);
    sp_buf_free(&full);
    return ok;
}

bool sp_full_name_put(struct sp_buf *out, const struct sp_full_names *l, uint32_t function)
{
    const struct sp_profile *p = l->profile;
    struct sp_str name = sp_pstr(p, p->functions.v[function].name), file = sp_function_file(p, function);
    uint64_t start;
    char hex[16];
    if (!l->shared[function])
        return sp_buf_add(out, name.p, name.n);
    if (!put_full_name(out, p, function))
        return false;
    bool by_start = !l->folders[function] && sp_function_start(p, function, &start);
    if (l->folders[function])
        file = last_folders(path_of(p, function), l->folders[function]);
    if (!file.n && !by_start)
        return true;
    sp_buf_puts(out, " (");
    sp_buf_add(out, file.p, file.n);
    if (by_start) {
        sp_buf_puts(out, file.n ? " 0x" : "0x");
        sp_buf_add(out, hex, sp_hex_text(start, hex));
    }
    return sp_buf_ch(out, ')');
}
