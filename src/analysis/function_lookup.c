#include "analysis/function_lookup.h"

#include "analysis/full_name.h"
#include "analysis/function_handle.h"
#include "analysis/match.h"
#include "analysis/own_name.h"
#include "analysis/short_name.h"
#include "base/nearest.h"
#include "base/num.h"
#include "model/identity.h"

#include <stdlib.h>

spaa_status sp_no_such(struct sp_diags *d, enum sp_code code, const char *asked, const struct sp_str *names,
                       size_t n)
{
    struct sp_buf hint;
    sp_buf_init(&hint, 64 << 10);
    sp_nearest_words(&hint, asked, names, n);
    sp_emit_hint(d, code, SP_AT_NOTHING, hint.len ? sp_buf_cstr(&hint) : NULL, "%s", asked);
    sp_buf_free(&hint);
    return SPAA_ERR_NOT_FOUND;
}

/* Behind *n names those short ones that are a slip away from what was asked: their parameters hide it. */
static bool near_short_names(const struct sp_profile *p, const char *text, struct sp_strtab *shorts,
                             struct sp_str *names, size_t *n)
{
    enum { SLIPS = 2, LEAST = 4 };
    struct sp_str asked = {text, (uint32_t)strlen(text)};
    struct sp_buf b;
    bool ok = true;
    sp_buf_init(&b, 0);
    for (size_t i = 0; ok && asked.n >= LEAST && i < p->functions.n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[i].name);
        sp_buf_clear(&b);
        sp_short_name(&b, name.p, name.n, SP_SHORTEST);
        if (b.len >= name.n ||
            sp_edit_distance(asked, (struct sp_str){b.data, (uint32_t)b.len}, SLIPS) > SLIPS ||
            sp_strtab_find(shorts, b.data, b.len) != SP_STR_NONE)
            continue;
        uint32_t id = sp_intern(shorts, b.data, b.len);
        ok = id != SP_STR_FAIL;
        if (ok)
            names[(*n)++] = sp_str_at(shorts, id);
    }
    ok = ok && !b.failed;
    sp_buf_free(&b);
    return ok;
}

static spaa_status function_lookup_unknown(const struct sp_profile *p, const char *text, size_t skip,
                                           struct sp_diags *d)
{
    struct sp_str *names = malloc((2 * p->functions.n + 1) * sizeof *names);
    struct sp_strtab shorts;
    struct sp_buf asked;
    if (!names)
        return sp_nomem(d);
    if (!sp_strtab_init(&shorts)) {
        free(names);
        return sp_nomem(d);
    }
    /* Bare addresses help nobody who asked for a name. */
    size_t n = 0;
    for (size_t i = 0; i < p->functions.n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[i].name);
        if (name.n < 2 || memcmp(name.p, "0x", 2) != 0 || strncmp(text + skip, "0x", 2) == 0)
            names[n++] = name;
    }
    sp_buf_init(&asked, 0);
    sp_buf_puts(&asked, text + skip);
    if (skip && asked.len) /* between slashes */
        asked.len--;
    spaa_status st = SPAA_OK;
    if (!near_short_names(p, sp_buf_cstr(&asked), &shorts, names, &n))
        st = sp_nomem(d);
    else
        st = sp_no_such(d, SP_E032, sp_buf_cstr(&asked), names, n);
    sp_buf_free(&asked);
    sp_strtab_free(&shorts);
    free(names);
    return st;
}

static size_t hex_digits(const char *text)
{
    return strspn(text, "0123456789abcdef");
}

/* "f:1a2b", or "f:1a2b.3c". */
static bool is_handle(const char *text)
{
    if (text[0] != 'f' || text[1] != ':')
        return false;
    size_t n = hex_digits(text + 2), more = text[2 + n] == '.' ? hex_digits(text + 3 + n) : 0;
    return n && n <= 16 && more <= 8 && text[2 + n + (more ? 1 + more : 0)] == '\0';
}

/* The bytes before " (" at the end of "hash (a.c)", and those of "a.c)"; 0: there is no such end. */
static size_t before_file(const char *p, size_t n)
{
    const char *at = n && p[n - 1] == ')' ? memrchr(p, '(', n) : NULL;
    return at && at - p > 1 && at[-1] == ' ' ? (size_t)(at - p) - 1 : 0;
}

/*
 * `hash (a.c)` is also what several of that file have whom only folders or addresses tell apart: `hash
 * (x/a.c)`, `hash (a.c 0x1280)`.
 */
static bool is_full_name(struct sp_str full, const char *text)
{
    size_t n = strlen(text), name = before_file(text, n);
    if (full.n == n && n && memcmp(full.p, text, n) == 0)
        return true;
    if (!name || full.n <= n || memcmp(full.p, text, name + 2) != 0)
        return false;
    if (full.n > n + 2 && memcmp(full.p, text, n - 1) == 0 && memcmp(full.p + n - 1, " 0x", 3) == 0)
        return true;
    size_t file = n - name - 2; /* with the bracket that closes */
    return before_file(full.p, full.n) == name && full.p[full.n - file - 1] == '/' &&
           memcmp(full.p + full.n - file, text + name + 2, file) == 0;
}

/* A full name, as rows of one name have it. */
static spaa_status by_full_name(const struct sp_profile *p, const char *text, unsigned char *hits)
{
    struct sp_full_names names;
    struct sp_buf b;
    spaa_status st = sp_full_names_of(p, &names);
    if (st)
        return st;
    sp_buf_init(&b, 0);
    for (uint32_t i = 0; !st && i < p->functions.n; i++) {
        sp_buf_clear(&b);
        if (!names.shared[i])
            continue;
        if (!sp_full_name_put(&b, &names, i))
            st = sp_nomem(p->diags);
        else
            hits[i] = is_full_name((struct sp_str){b.data, (uint32_t)b.len}, text);
    }
    sp_buf_free(&b);
    sp_full_names_free(&names);
    return st;
}

spaa_status sp_function_candidates(const struct sp_profile *p, const struct sp_function_lookup *k,
                                   struct sp_buf *out)
{
    enum { SHOWN = 5 };
    struct sp_handles handles = {0};
    struct sp_full_names names = {0};
    spaa_status st = sp_handles_of(p, p->diags, &handles);
    size_t n = 0;
    if (!st)
        st = sp_full_names_of(p, &names);
    for (uint32_t i = 0; !st && i < p->functions.n && n < SHOWN; i++) {
        char handle[32];
        if (!k->hits[i])
            continue;
        sp_handle_text(&handles, i, handle);
        sp_buf_printf(out, "%s%s ", n++ ? ", " : "", handle);
        if (!sp_full_name_put(out, &names, i))
            st = sp_nomem(p->diags);
    }
    if (!st && k->n > n)
        sp_buf_puts(out, ", …");
    sp_handles_free(&handles);
    sp_full_names_free(&names);
    return st;
}

/* Of a text that fits several functions. */
static void say_several(const char *text, size_t n, struct sp_buf *candidates, struct sp_diags *d)
{
    sp_emit_hint(d, SP_E606, SP_AT_NOTHING, sp_buf_cstr(candidates), "%s: %zu functions", text, n);
}

/* "py::score:/srv/p.py" by "score", "py::score" or "py::score:". */
static bool is_python_name(struct sp_str name, struct sp_str text)
{
    struct sp_str file = sp_own_name_file(name);
    if (name.n < 5 || memcmp(name.p, "py::", 4) != 0 || !file.n || file.p < name.p + 6)
        return false;
    struct sp_str whole = {name.p, (uint32_t)(file.p - name.p)}, bare = {whole.p, whole.n - 1};
    struct sp_str last = {bare.p + 4, bare.n - 4};
    return sp_str_cmp(text, whole) == 0 || sp_str_cmp(text, bare) == 0 || sp_str_cmp(text, last) == 0;
}

/*
 * "mix<unsigned long, 3>" of "void mix<unsigned long, 3>(unsigned long)", or of what "a::" stands before:
 * what is left where parameters and return type are not said, but template arguments are.
 */
static bool is_without_parameters(struct sp_str name, struct sp_str text)
{
    int depth = 0;
    if (!memchr(text.p, '<', text.n))
        return false;
    for (size_t i = 0; i + text.n < name.n; i++) {
        bool begins = !i || name.p[i - 1] == ' ' || (i > 1 && memcmp(name.p + i - 2, "::", 2) == 0);
        if (!depth && begins && name.p[i + text.n] == '(' && memcmp(name.p + i, text.p, text.n) == 0)
            return true;
        depth += name.p[i] == '<' || name.p[i] == '(';
        depth -= name.p[i] == '>' || name.p[i] == ')';
    }
    return false;
}

/* Whether a person may mean this function by the text: its short name, or the last part of that. */
static bool short_name_is(const struct sp_profile *p, uint32_t function, struct sp_str text, struct sp_buf *b)
{
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    if (name.n > text.n && name.p[text.n] == ' ' && memcmp(name.p, text.p, text.n) == 0 &&
        sp_own_name_file(name).n)
        return true; /* of a script: "sortRows /srv/app.js:11:18" */
    if (is_python_name(name, text) || is_without_parameters(name, text))
        return true;
    for (int how = SP_SHORTEST; how <= SP_WHOLE_NAME; how++) {
        sp_buf_clear(b);
        if (how == SP_WHOLE_NAME) /* last, without template arguments */
            sp_own_plain_name(b, name);
        else
            sp_short_name(b, name.p, name.n, (enum sp_shortness)how);
        if (b->len < text.n || memcmp(b->data + b->len - text.n, text.p, text.n) != 0)
            continue;
        if (b->len == text.n || (b->len > text.n + 2 && memcmp(b->data + b->len - text.n - 2, "::", 2) == 0))
            return true;
    }
    return false;
}

/* A short name is taken when it fits functions of one hash only; none is no error here. */
static spaa_status by_short_name(const struct sp_profile *p, const char *text, struct sp_diags *d,
                                 unsigned char *hits)
{
    struct sp_str asked = {text, (uint32_t)strlen(text)};
    struct sp_buf b, several;
    uint64_t hash = 0;
    size_t found = 0;
    sp_buf_init(&b, 0);
    sp_buf_init(&several, 4096);
    for (uint32_t i = 0; asked.n && i < p->functions.n; i++) {
        if (!short_name_is(p, i, asked, &b))
            continue;
        uint64_t h = sp_function_hash(p, i);
        hits[i] = 1;
        if (found && h == hash)
            continue;
        hash = h;
        if (found++ < 5)
            sp_buf_printf(&several, "%sf:%016llx is %s", several.len ? ", " : "", (unsigned long long)h,
                          sp_str_cstr(&p->strs, p->functions.v[i].name));
    }
    if (found > 1)
        say_several(text, found, &several, d);
    spaa_status st = b.failed ? sp_nomem(d) : found > 1 ? SPAA_ERR_NOT_FOUND : SPAA_OK;
    sp_buf_free(&several);
    sp_buf_free(&b);
    return st;
}

/* What a handle says: the first digits of a hash, and of that of the build. */
struct asked_handle {
    uint64_t hash, build;
    unsigned shift, build_shift; /* 64: any build */
};

static struct asked_handle asked_handle(const char *text)
{
    size_t n = hex_digits(text + 2), more = text[2 + n] == '.' ? hex_digits(text + 3 + n) : 0;
    struct asked_handle a = {.shift = (unsigned)(64 - 4 * n), .build_shift = (unsigned)(64 - 4 * more)};
    sp_parse_hex(text + 2, text + 2 + n, &a.hash);
    if (more)
        sp_parse_hex(text + 3 + n, text + 3 + n + more, &a.build);
    return a;
}

static bool is_asked(const struct asked_handle *a, const struct sp_profile *p, uint32_t function,
                     uint64_t hash)
{
    return hash >> a->shift == a->hash &&
           (a->build_shift == 64 ||
            (uint64_t)sp_function_build_hash(p, function) << 32 >> a->build_shift == a->build);
}

/* A handle whose digits fit functions of one hash only (one name, and binaries of one base name). */
static spaa_status by_handle(const struct sp_profile *p, const char *text, struct sp_diags *d,
                             unsigned char *hits)
{
    uint64_t hash = 0;
    size_t found = 0;
    struct asked_handle asked = asked_handle(text);
    struct sp_function_lookup several = {.hits = hits};
    struct sp_buf names;
    spaa_status st = SPAA_OK;
    sp_buf_init(&names, 64 << 10);
    for (uint32_t i = 0; i < p->functions.n; i++) {
        uint64_t h = sp_function_hash(p, i);
        if (!is_asked(&asked, p, i, h))
            continue;
        hits[i] = 1;
        several.n++;
        found += !found || h != hash;
        hash = h;
    }
    if (found > 1)
        st = sp_function_candidates(p, &several, &names);
    if (found > 1 && !st)
        say_several(text, found, &names, d);
    else if (!found)
        sp_emit(d, SP_E603, SP_AT_NOTHING, "%s", text);
    sp_buf_free(&names);
    return st ? st : found == 1 ? SPAA_OK : SPAA_ERR_NOT_FOUND;
}

static spaa_status function_lookup_by_pattern(const struct sp_profile *p, const char *text,
                                              struct sp_diags *d, unsigned char **hits)
{
    size_t n = strlen(text);
    char *pattern = malloc(n);
    if (!pattern)
        return sp_nomem(d);
    memcpy(pattern, text + 1, n - 2);
    pattern[n - 2] = '\0';
    spaa_status st = sp_match_functions(p, pattern, d, hits);
    free(pattern);
    return st;
}

static int function_lookup_cmp_function(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    const struct sp_function *x = &p->functions.v[a], *y = &p->functions.v[b];
    int c = sp_str_cmp(sp_pstr(p, x->name), sp_pstr(p, y->name));
    if (!c)
        c = sp_str_cmp(sp_pstr(p, p->dsos.v[x->dso].name), sp_pstr(p, p->dsos.v[y->dso].name));
    return c ? c : sp_str_cmp(sp_pstr(p, x->tells), sp_pstr(p, y->tells));
}

spaa_status sp_lookup_functions(const struct sp_profile *p, const char *text, struct sp_diags *d,
                                struct sp_function_lookup *out)
{
    struct sp_function_lookup k = {.first = SP_NONE};
    size_t n = strlen(text);
    bool pattern = n > 2 && text[0] == '/' && text[n - 1] == '/', exact = false;
    spaa_status st = SPAA_OK;
    k.hits = calloc(p->functions.n + 1, 1);
    if (!k.hits)
        return sp_nomem(d);
    for (size_t i = 0; i < p->functions.n; i++)
        if (sp_str_is(sp_pstr(p, p->functions.v[i].name), text)) {
            k.hits[i] = 1;
            exact = true;
        }
    if (!exact && pattern) {
        free(k.hits);
        k.hits = NULL;
        st = function_lookup_by_pattern(p, text, d, &k.hits);
    } else if (!exact && is_handle(text)) {
        st = by_handle(p, text, d, k.hits);
    } else if (!exact) {
        st = by_full_name(p, text, k.hits);
        if (!st && !memchr(k.hits, 1, p->functions.n))
            st = by_short_name(p, text, d, k.hits);
    }
    for (uint32_t i = 0; !st && i < p->functions.n; i++) {
        if (!k.hits[i])
            continue;
        k.n++;
        if (k.first == SP_NONE || function_lookup_cmp_function(p, i, k.first) < 0)
            k.first = i;
    }
    if (!st && !k.n)
        st = function_lookup_unknown(p, text, pattern, d);
    if (st)
        sp_function_lookup_free(&k);
    else
        *out = k;
    return st;
}

void sp_function_lookup_free(struct sp_function_lookup *k)
{
    free(k->hits);
    k->hits = NULL;
}
