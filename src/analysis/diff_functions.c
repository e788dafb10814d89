/*
 * Functions of which one side tells more of the name than the other: shop::f(int) of a symbol table, shop::f
 * of folded stacks, f of debug information about inlined functions.
 *
 * Only what one side alone has is matched this way, in the same binary: first by the name without the file
 * that tells it from others, which not every source knows, then without parameters, then without template
 * arguments too, then by the last part of the name where it is the only one. Last come instances of Rust's
 * generic functions, whose arguments two manglings spell otherwise. Of overloads that the other side
 * does not tell apart all together are its one function; what stacks have of several of them is counted once
 * while a run is taken in, under a key of its own (SP_DIFF_OVERLOADS).
 */
#include "analysis/diff_private.h"

#include "analysis/signature.h"

#include <stdlib.h>

/* A key under one form of its name. */
struct form {
    uint32_t dso, name, key;
};

static int cmp_form(const void *va, const void *vb)
{
    const struct form *a = va, *b = vb;
    if (a->dso != b->dso)
        return a->dso < b->dso ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

/* A key's name without the file that tells it from others. */
static struct sp_str diff_functions_name(const struct sp_diff *d, uint32_t key)
{
    return sp_diff_without_file(sp_str_at(&d->strs, d->keys.v[key].function));
}

static bool has_file(const struct sp_diff *d, uint32_t key)
{
    return diff_functions_name(d, key).n < sp_str_at(&d->strs, d->keys.v[key].function).n;
}

#define WITHOUT_FILE SP_NAME_FORMS /* the form that lacks the file alone */

/* The number of that form of a key's name; SP_STR_FAIL: out of memory. */
static uint32_t form_of(struct sp_diff *d, uint32_t key, enum sp_name_form which, struct sp_buf *text)
{
    struct sp_str name = diff_functions_name(d, key);
    sp_buf_clear(text);
    if (which == WITHOUT_FILE)
        sp_buf_add(text, name.p, name.n);
    else
        sp_name_form(text, name, which);
    return text->failed ? SP_STR_FAIL : sp_intern(&d->strs, text->data ? text->data : "", text->len);
}

static bool diff_functions_holds(struct sp_str s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= s.n; i++)
        if (memcmp(s.p + i, word, n) == 0)
            return true;
    return false;
}

/* The first of n sorted forms that is not before this one. */
static size_t diff_functions_lower(const struct form *v, size_t n, uint32_t dso, uint32_t name)
{
    size_t lo = 0;
    while (n) {
        size_t half = n / 2;
        const struct form *x = &v[lo + half];
        bool before = x->dso != dso ? x->dso < dso : x->name < name;
        lo = before ? lo + half + 1 : lo;
        n = before ? n - half - 1 : half;
    }
    return lo;
}

static size_t diff_functions_run_of(const struct form *v, size_t n, size_t at)
{
    size_t k = at;
    while (k < n && v[k].dso == v[at].dso && v[k].name == v[at].name)
        k++;
    return k - at;
}

/* ---- while a run is taken in ---- */

/* The distinct keys of frames under a form of their names, sorted. */
static bool forms_of_frames(struct sp_diff *d, const uint32_t *frame_keys, size_t frames,
                            enum sp_name_form which, struct form **out, size_t *n)
{
    struct form *v = calloc(frames + 1, sizeof *v);
    unsigned char *met = calloc(d->keys.n + 1, 1);
    struct sp_buf text;
    bool ok = v && met;
    *n = 0;
    sp_buf_init(&text, 0);
    for (size_t i = 0; ok && i < frames; i++) {
        uint32_t key = frame_keys[i];
        if (met[key] || d->keys.v[key].build)
            continue;
        met[key] = 1;
        v[*n] = (struct form){d->keys.v[key].dso, form_of(d, key, which, &text), key};
        ok = v[(*n)++].name != SP_STR_FAIL;
    }
    if (ok && *n)
        qsort(v, *n, sizeof *v, cmp_form);
    sp_buf_free(&text);
    free(met);
    *out = v;
    return ok;
}

/* Whether all that is known of a function's name is the last part of it. */
static bool is_last_part(struct sp_str name)
{
    return name.n && !diff_functions_holds(name, "::") && !diff_functions_holds(name, "<") &&
           !sp_has_parameters(name) && !diff_functions_holds(name, "operator");
}

/* Whether a name whose last part is all that another source tells can be trusted to be that function's. */
static bool is_full(struct sp_str name)
{
    return (diff_functions_holds(name, "::") || sp_has_parameters(name)) &&
           !diff_functions_holds(name, "operator");
}

static uint32_t linkage_of(const struct sp_profile *p, size_t frame)
{
    const struct sp_func_info *x = sp_frame_known(p, (uint32_t)frame);
    return x ? x->linkage : SP_STR_NONE;
}

bool sp_diff_join_inlined(struct sp_diff *d, const struct sp_profile *p, uint32_t *frame_keys)
{
    struct form *v = NULL;
    size_t n = 0;
    bool ok = true, any = false;
    for (size_t i = 0; i < p->frames.n && !any; i++)
        any = p->frames.v[i].flags & SP_FRAME_INLINED && !linkage_of(p, i);
    ok = !any || forms_of_frames(d, frame_keys, p->frames.n, SP_NAME_LAST, &v, &n);
    for (size_t i = 0; any && ok && i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        const struct sp_diff_key *key = &d->keys.v[frame_keys[i]];
        struct sp_str name = diff_functions_name(d, frame_keys[i]);
        if (!(f->flags & SP_FRAME_INLINED) || linkage_of(p, i) || !is_last_part(name))
            continue;
        uint32_t last = sp_intern(&d->strs, name.p, name.n);
        size_t at = diff_functions_lower(v, n, key->dso, last),
               end = at < n ? at + diff_functions_run_of(v, n, at) : at, full = 0;
        uint32_t found = SP_NONE;
        for (; at < end && v[at].dso == key->dso && v[at].name == last; at++)
            if (is_full(diff_functions_name(d, v[at].key))) {
                found = v[at].key;
                full++;
            }
        if (full == 1 && !diff_functions_holds(sp_str_at(&d->strs, d->keys.v[found].function), "<"))
            frame_keys[i] = found;
    }
    free(v);
    return ok;
}

bool sp_diff_group_overloads(struct sp_diff *d, const struct sp_profile *p, const uint32_t *frame_keys,
                             uint32_t *frame_alls, bool *any)
{
    struct form *v = NULL;
    size_t n = 0;
    uint32_t *all = NULL, keys = (uint32_t)d->keys.n;
    bool ok = forms_of_frames(d, frame_keys, p->frames.n, SP_NAME_PLAIN, &v, &n);
    all = ok ? malloc((keys + 1) * sizeof *all) : NULL;
    ok = all != NULL;
    for (size_t i = 0; ok && i < keys; i++)
        all[i] = SP_NONE;
    for (size_t i = 0, k; ok && i < n; i += k) {
        k = diff_functions_run_of(v, n, i);
        for (size_t m = i; k > 1 && ok && m < i + k; m++) {
            all[v[m].key] = sp_diff_overloads_key(d, v[i].name, v[i].dso);
            ok = all[v[m].key] != SP_NONE;
            *any = true;
        }
    }
    for (size_t i = 0; ok && i < p->frames.n; i++)
        if (all[frame_keys[i]] != SP_NONE)
            frame_alls[i] = all[frame_keys[i]];
    free(all);
    free(v);
    return ok;
}

/* ---- when all runs are in ---- */

struct matching {
    struct sp_diff *d;
    unsigned char *sides; /* per key: bits 1 << side that have it */
    struct form *v;       /* of one-sided keys, under one form */
    size_t n;
    struct form *all, *groups; /* of all keys without parameters; of those that count overloads together */
    size_t nall, ngroups;
    bool any_dso; /* some run names no binaries: names alone decide */
};

static uint32_t diff_functions_dso_of(const struct matching *m, uint32_t key)
{
    return m->any_dso ? SP_STR_NONE : m->d->keys.v[key].dso;
}

static bool present(const struct sp_diff_run *r, uint32_t key)
{
    const struct sp_diff_value *self = &r->values[SP_SELF][key], *total = &r->values[SP_TOTAL][key];
    return self->weight || total->weight;
}

static void find_sides(struct matching *m)
{
    for (uint32_t k = 0; k < m->d->keys.n; k++) {
        const struct sp_diff_key *key = &m->d->keys.v[k];
        struct sp_str name = sp_str_at(&m->d->strs, key->function);
        m->sides[k] = 0;
        for (unsigned side = 0; side < SP_SIDES && !key->build && name.n && name.p[0] != '['; side++)
            for (size_t i = 0; i < m->d->runs[side].n; i++)
                m->sides[k] |= present(m->d->runs[side].v[i], k) ? 1u << side : 0;
    }
}

static bool one_sided(const struct matching *m, uint32_t key)
{
    return m->sides[key] == 1 || m->sides[key] == 2;
}

/* One-sided keys whose names tell more than this form. */
static bool find_forms(struct matching *m, enum sp_name_form which)
{
    struct sp_buf text;
    bool ok = true;
    sp_buf_init(&text, 0);
    m->n = 0;
    for (uint32_t k = 0; ok && k < m->d->keys.n; k++) {
        if (!one_sided(m, k))
            continue;
        uint32_t name = form_of(m->d, k, which, &text);
        ok = name != SP_STR_FAIL;
        if (ok && name != m->d->keys.v[k].function)
            m->v[m->n++] = (struct form){diff_functions_dso_of(m, k), name, k};
    }
    if (m->n)
        qsort(m->v, m->n, sizeof *m->v, cmp_form);
    sp_buf_free(&text);
    return ok;
}

/* A source that tells less of a name may have left its suffix out, too. */
static void forget_suffixes(struct sp_diff *d, uint32_t key)
{
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            struct sp_diff_forms *x = sp_diff_forms_of(d->runs[side].v[i], key);
            for (unsigned f = SP_FORM_WHOLE + 1; x && f < SP_FORM_INLINED; f++) {
                x->weight[SP_FORM_WHOLE] += x->weight[f];
                x->samples[SP_FORM_WHOLE] += x->samples[f];
                x->weight[f] = x->samples[f] = 0;
            }
        }
}

static void diff_functions_move(struct matching *m, uint32_t from, uint32_t to)
{
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < m->d->runs[side].n; i++)
            if (present(m->d->runs[side].v[i], from)) {
                struct sp_diff_run *r = m->d->runs[side].v[i];
                sp_diff_move_key(r, from, to);
                r->names[to].function = m->d->keys.v[to].function; /* the one that tells more */
            }
    forget_suffixes(m->d, to);
    m->sides[to] |= m->sides[from];
    m->sides[from] = 0;
}

/* The key under which a run counted all overloads of a name together; SP_NONE: there is none. */
static uint32_t together(const struct matching *m, const struct sp_diff_run *r, uint32_t name, uint32_t dso)
{
    for (size_t i = diff_functions_lower(m->groups, m->ngroups, dso, name);
         i < m->ngroups && m->groups[i].dso == dso && m->groups[i].name == name; i++)
        if (present(r, m->groups[i].key))
            return m->groups[i].key;
    return SP_NONE;
}

/* How many of these keys a run has, and how many others with the same name but for parameters. */
static void diff_functions_count(const struct matching *m, const struct sp_diff_run *r, const struct form *v,
                                 size_t n, uint32_t name, size_t *in, size_t *besides)
{
    uint32_t dso = m->d->keys.v[v->key].dso;
    *in = *besides = 0;
    for (size_t i = 0; i < n; i++)
        *in += present(r, v[i].key);
    for (size_t i = diff_functions_lower(m->all, m->nall, dso, name);
         i < m->nall && m->all[i].dso == dso && m->all[i].name == name; i++)
        *besides += present(r, m->all[i].key);
    *besides -= *in < *besides ? *in : *besides;
}

/* Every key under its name without parameters, and the keys of overloads. */
static bool find_overloads(struct matching *m)
{
    struct sp_buf text;
    bool ok = true;
    sp_buf_init(&text, 0);
    for (uint32_t k = 0; ok && k < m->d->keys.n; k++) {
        const struct sp_diff_key *key = &m->d->keys.v[k];
        uint32_t name = key->build ? key->function : form_of(m->d, k, SP_NAME_PLAIN, &text);
        ok = name != SP_STR_FAIL;
        if (sp_diff_is_overloads(m->d, k))
            m->groups[m->ngroups++] = (struct form){key->dso, name, k};
        else if (!key->build)
            m->all[m->nall++] = (struct form){key->dso, name, k};
    }
    if (m->nall)
        qsort(m->all, m->nall, sizeof *m->all, cmp_form);
    if (m->ngroups)
        qsort(m->groups, m->ngroups, sizeof *m->groups, cmp_form);
    sp_buf_free(&text);
    return ok;
}

/* Several functions of one side are the one `plain` of the other. Nothing is done where that cannot be
 * counted. */
static void diff_functions_join(struct matching *m, const struct form *v, size_t n, uint32_t plain,
                                enum sp_name_form which)
{
    struct sp_diff *d = m->d;
    unsigned side = m->sides[plain] == 1 ? SP_NEW : SP_BASE;
    uint32_t name = v->name, dso = d->keys.v[v->key].dso;
    for (size_t i = 0; i < d->runs[side].n; i++) {
        size_t in, besides;
        diff_functions_count(m, d->runs[side].v[i], v, n, name, &in, &besides);
        if (in > 1 && ((which != SP_NAME_PLAIN && which != WITHOUT_FILE) || besides ||
                       together(m, d->runs[side].v[i], name, dso) == SP_NONE))
            return;
    }
    for (size_t i = 0; i < d->runs[side].n; i++) {
        struct sp_diff_run *r = d->runs[side].v[i];
        size_t in, besides;
        diff_functions_count(m, r, v, n, name, &in, &besides);
        uint32_t all = in > 1 ? together(m, r, name, dso) : SP_NONE;
        for (size_t k = 0; k < n; k++)
            if (present(r, v[k].key))
                sp_diff_move_key(r, v[k].key, plain);
        for (unsigned f = 0; f < SP_FAMILIES && all != SP_NONE; f++)
            r->values[f][plain] = r->values[f][all];
        r->names[plain].function = d->keys.v[plain].function; /* of no overload more than of the others */
    }
    for (size_t k = 0; k < n; k++)
        m->sides[v[k].key] = 0;
    forget_suffixes(d, plain);
    m->sides[plain] = 3;
}

/* Keys that are in this form already, but for the type that they return, against those that tell more. */
static bool match_form(struct matching *m, enum sp_name_form which)
{
    struct sp_diff *d = m->d;
    struct sp_buf text;
    bool ok = true;
    sp_buf_init(&text, 0);
    for (uint32_t k = 0; ok && k < d->keys.n; k++) {
        if (!one_sided(m, k))
            continue;
        struct form found[64];
        bool file = has_file(d, k),
             whole = which == WITHOUT_FILE || sp_has_parameters(diff_functions_name(d, k));
        uint32_t name = form_of(d, k, whole ? WITHOUT_FILE : SP_NAME_PLAIN, &text);
        size_t alike = 0; /* of this side */
        ok = name != SP_STR_FAIL;
        size_t n = 0, at = diff_functions_lower(m->v, m->n, diff_functions_dso_of(m, k), name);
        for (; at < m->n && m->v[at].dso == diff_functions_dso_of(m, k) && m->v[at].name == name; at++) {
            if (!one_sided(m, m->v[at].key))
                continue;
            alike += m->sides[m->v[at].key] == m->sides[k];
            if (m->sides[m->v[at].key] != m->sides[k] && n < 64 && !(file && which != WITHOUT_FILE))
                found[n++] = m->v[at];
        }
        if (file && (n > 1 || alike > 1)) /* not known to be the same file under another name */
            continue;
        struct sp_str full = n ? diff_functions_name(d, found->key) : (struct sp_str){"", 0};
        if (!n || (which == SP_NAME_LAST &&
                   (n > 1 || diff_functions_holds(full, "<") || diff_functions_holds(full, "operator"))))
            continue;
        if (n == 1)
            diff_functions_move(m, k, found->key);
        else
            diff_functions_join(m, found, n, k, which);
    }
    sp_buf_free(&text);
    return ok;
}

/* Whether arguments stand in it as Rust's do. */
static bool is_of_rust(struct sp_str name)
{
    return diff_functions_holds(name, "::<") || diff_functions_holds(name, "::{closure") ||
           (name.n && name.p[0] == '<');
}

/* Every key that is somewhere under its name without arguments, into v. */
static bool find_instances(struct matching *m)
{
    struct sp_buf text;
    bool ok = true;
    sp_buf_init(&text, 0);
    m->n = 0;
    for (uint32_t k = 0; ok && k < m->d->keys.n; k++) {
        if (!m->sides[k])
            continue;
        m->v[m->n] = (struct form){diff_functions_dso_of(m, k), form_of(m->d, k, SP_NAME_BARE, &text), k};
        ok = m->v[m->n++].name != SP_STR_FAIL;
    }
    if (m->n)
        qsort(m->v, m->n, sizeof *m->v, cmp_form);
    sp_buf_free(&text);
    return ok;
}

/*
 * Rust's older linkage names and debug information spell types and generic methods otherwise than the newer
 * names do: of a function of which each side has one instance that is the same one.
 */
static bool match_instances(struct matching *m)
{
    if (!find_instances(m))
        return false;
    for (size_t i = 0, n; i < m->n; i += n) {
        n = diff_functions_run_of(m->v, m->n, i);
        if (n != 2)
            continue;
        uint32_t a = m->v[i].key, b = m->v[i + 1].key;
        if (!is_of_rust(diff_functions_name(m->d, a)) || !is_of_rust(diff_functions_name(m->d, b)) ||
            m->sides[a] + m->sides[b] != 3 || !one_sided(m, a) || !one_sided(m, b))
            continue;
        diff_functions_move(m, m->sides[a] == 1 ? a : b, m->sides[a] == 1 ? b : a);
    }
    return true;
}

static void drop_overloads(struct sp_diff *d)
{
    for (uint32_t k = 0; k < d->keys.n; k++) {
        if (!sp_diff_is_overloads(d, k))
            continue;
        for (unsigned i = 0; i < SP_SIDES * SP_FAMILIES; i++)
            for (size_t r = 0; r < d->runs[i / SP_FAMILIES].n; r++)
                d->runs[i / SP_FAMILIES].v[r]->values[i % SP_FAMILIES][k] = (struct sp_diff_value){0};
    }
}

bool sp_diff_match_functions(struct sp_diff *d)
{
    struct matching m = {.d = d,
                         .sides = calloc(d->keys.n + 1, 1),
                         .v = calloc(d->keys.n + 1, sizeof *m.v),
                         .all = calloc(d->keys.n + 1, sizeof *m.all),
                         .groups = calloc(d->keys.n + 1, sizeof *m.groups)};
    bool ok = m.sides && m.v && m.all && m.groups && find_overloads(&m);
    bool with = false;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++)
            *(d->runs[side].v[i]->no_binaries ? &m.any_dso : &with) = true;
    m.any_dso = m.any_dso && with;
    if (ok)
        find_sides(&m);
    ok = ok && find_forms(&m, WITHOUT_FILE) && match_form(&m, WITHOUT_FILE);
    for (enum sp_name_form which = SP_NAME_PLAIN; ok && which < SP_NAME_FORMS; which++)
        ok = find_forms(&m, which) && match_form(&m, which);
    ok = ok && match_instances(&m);
    drop_overloads(d);
    free(m.sides);
    free(m.v);
    free(m.all);
    free(m.groups);
    return ok;
}
