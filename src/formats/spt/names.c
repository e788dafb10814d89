#include "formats/spt/names.h"

#include "dwarf/symtab.h"
#include "io/file.h"
#include "symbols/demangle.h"
#include "symbols/msvc_map.h"

#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 5 };

/* The symbols of a map; several programs may share them. */
struct source {
    struct sp_symtab tab;
    uint32_t *plain; /* by symbol: 1 + number of its name for people; 0: not asked for yet */
};

struct sp_spt_names {
    const struct sp_spt *file;
    struct sp_diags *d;
    bool off; /* --no-symbols */
    SP_VEC(struct source *) sources;
    SP_VEC(const char *) images; /* for the symbolizer */
    uint32_t *of;                /* by program: 1 + number in sources; 0: none */
    uint64_t *misses;
    struct sp_strtab text;
};

static struct source *spt_new_source(struct sp_spt_names *n)
{
    struct source *s = calloc(1, sizeof *s);
    if (s)
        sp_symtab_init(&s->tab);
    if (s && !sp_vec_push(&n->sources, s)) {
        free(s);
        s = NULL;
    }
    return s;
}

static void spt_drop_source(struct sp_spt_names *n)
{
    struct source *s = n->sources.v[--n->sources.n];
    sp_symtab_free(&s->tab);
    free(s->plain);
    free(s);
}

/* The newest source is that of the program; the first one that was found stays. */
static void spt_assign(struct sp_spt_names *n, uint32_t program)
{
    if (!n->of[program])
        n->of[program] = (uint32_t)n->sources.n;
}

static spaa_status spt_cannot(struct sp_spt_names *n, const char *path, spaa_status st, const char *what)
{
    if (st == SPAA_ERR_NOMEM)
        return sp_nomem(n->d);
    if (st == SPAA_ERR_IO) /* reported */
        return st;
    if (st == SPAA_ERR_NOT_FOUND)
        sp_emit(n->d, SP_E001, SP_AT_NOTHING, "%s", path);
    else
        sp_emit_hint(n->d, SP_E010, SP_AT_NOTHING, "", "%s is no %s", path, what);
    return SPAA_ERR_INPUT;
}

/* "app=app.map" names the program, where no file is called so; else the map itself does. */
static spaa_status spt_add_map(struct sp_spt_names *n, const char *value)
{
    const struct sp_spt *f = n->file;
    struct sp_str module, asked = {NULL, 0};
    const char *eq = strchr(value, '='), *path = value;
    char *text;
    size_t size;
    bool found, any = false;
    spaa_status st = sp_file_slurp(path, SP_MSVC_MAP_MAX, n->d, &text, &size);
    if (st == SPAA_ERR_NOT_FOUND && eq) {
        asked = (struct sp_str){value, (uint32_t)(eq - value)};
        path = eq + 1;
        st = sp_file_slurp(path, SP_MSVC_MAP_MAX, n->d, &text, &size);
    }
    if (st)
        return spt_cannot(n, path, st, "readable file");
    struct source *s = spt_new_source(n);
    if (!s)
        free(text);
    if (!s || !sp_symtab_keep(&s->tab, text) || !sp_msvc_map_parse(text, size, &s->tab, &module, &found))
        return sp_nomem(n->d);
    if (!found)
        return spt_cannot(n, path, SPAA_ERR_INPUT, "linker map (link /MAP)");
    if (!asked.p)
        asked = module;
    for (uint32_t i = 0; i < f->nprograms; i++)
        if (sp_spt_name_is(f->programs[i].name, asked) || (f->nprograms == 1 && asked.p == module.p)) {
            spt_assign(n, i);
            any = true;
        }
    if (!any)
        sp_emit_hint(n->d, SP_W312, SP_AT_NOTHING, "`--map BINARY=FILE` says of which binary it is",
                     "%s is the map of %.*s, which is not in the trace", path, (int)asked.n, asked.p);
    else if (f->nprograms == 1 && !sp_spt_name_is(f->programs[0].name, asked))
        sp_emit(n->d, SP_I322, SP_AT_NOTHING,
                "%s is the map of %.*s; it was used for the trace's only binary", path, (int)asked.n,
                asked.p);
    return SPAA_OK;
}

/* A binary or a PDB that was named: the symbolizer looks there; here it is said if that is of no use. */
static spaa_status spt_check_image(struct sp_spt_names *n, const char *path)
{
    struct sp_offered o;
    const char *why = "";
    bool fits = false;
    spaa_status st = sp_offered_read(path, n->d, &o, &why);
    if (st == SPAA_ERR_INPUT) {
        sp_emit_hint(n->d, SP_E010, SP_AT_NOTHING, "", "%s is %s", path, why);
        return st;
    }
    if (st)
        return spt_cannot(n, path, st, "");
    for (uint32_t i = 0; i < n->file->nprograms && !fits; i++) {
        char key[SP_RSDS_KEY_ROOM];
        sp_rsds_key(&n->file->programs[i].rsds, false, key);
        fits = sp_same_build_id(key, o.build_id);
    }
    if (!fits)
        sp_emit_hint(n->d, SP_W312, SP_AT_NOTHING, "`spaa spt match` compares GUIDs and ages",
                     "%s is none of the trace's binaries", path);
    return sp_vec_push(&n->images, path) ? SPAA_OK : sp_nomem(n->d);
}

spaa_status sp_spt_names_new(const struct sp_spt *f, const struct sp_read_opts *opts, struct sp_diags *d,
                             struct sp_spt_names **out)
{
    struct sp_spt_names *n = calloc(1, sizeof *n);
    if (!n)
        return sp_nomem(d);
    n->file = f;
    n->d = d;
    n->off = opts->symbols.no_symbols;
    n->of = calloc((size_t)f->nprograms + 1, sizeof *n->of);
    n->misses = calloc((size_t)f->nprograms + 1, sizeof *n->misses);
    spaa_status st = sp_strtab_init(&n->text) && n->of && n->misses ? SPAA_OK : sp_nomem(d);
    for (size_t i = 0; i < opts->nown && !st && !n->off; i++) {
        if (strcmp(opts->own[i].name, "map") == 0)
            st = spt_add_map(n, opts->own[i].value);
        else if (strcmp(opts->own[i].name, "image") == 0)
            st = spt_check_image(n, opts->own[i].value);
    }
    if (st)
        sp_spt_names_free(n);
    else
        *out = n;
    return st;
}

void sp_spt_names_free(struct sp_spt_names *n)
{
    if (!n)
        return;
    while (n->sources.n)
        spt_drop_source(n);
    sp_vec_free(&n->sources);
    sp_vec_free(&n->images);
    free(n->of);
    free(n->misses);
    sp_strtab_free(&n->text);
    free(n);
}

/* The name for people, made once per symbol; NULL: out of memory. */
static const char *spt_plain_name(struct sp_spt_names *n, struct source *s, const struct sp_sym *sym)
{
    size_t i = (size_t)(sym - s->tab.syms.v);
    struct sp_buf b;
    if (!s->plain && !(s->plain = calloc(s->tab.syms.n + 1, sizeof *s->plain)))
        return NULL;
    if (!s->plain[i]) {
        sp_buf_init(&b, 0);
        bool mangled = sp_demangle(sym->name, &b);
        uint32_t text = mangled ? sp_intern(&n->text, b.data, b.len) : sp_intern_cstr(&n->text, sym->name);
        bool failed = b.failed || text == SP_STR_FAIL;
        sp_buf_free(&b);
        if (failed)
            return NULL;
        s->plain[i] = text + 1;
    }
    return sp_str_cstr(&n->text, s->plain[i] - 1);
}

void sp_spt_names_images(const struct sp_spt_names *n, struct sp_symbol_opts *opts)
{
    opts->images = n->images.v;
    opts->nimages = n->images.n;
    opts->takes_images = true;
}

bool sp_spt_names_has(const struct sp_spt_names *n, uint32_t program)
{
    return program < n->file->nprograms && n->of[program];
}

bool sp_spt_names_find(struct sp_spt_names *n, uint32_t program, uint32_t rva, struct sp_named *out)
{
    struct sp_resolved *r = &out->frames[0];
    struct source *s = n->sources.v[n->of[program] - 1];
    const struct sp_sym *sym = sp_symtab_find(&s->tab, rva);
    out->n = 0;
    if (!sym) {
        n->misses[program]++;
        return true;
    }
    *r = (struct sp_resolved){.func = spt_plain_name(n, s, sym),
                              .linkage = sym->name,
                              .symoff = rva - sym->start,
                              .start = sym->start,
                              .has_start = true,
                              .local = sym->bind == SP_BIND_LOCAL};
    out->n = 1;
    return r->func;
}

void sp_spt_names_report(struct sp_spt_names *n)
{
    unsigned told = 0, lacking = 0;
    for (uint32_t i = 0; i < n->file->nprograms; i++) {
        struct sp_str name = n->file->programs[i].name;
        lacking += n->misses[i] > 0;
        if (!n->misses[i] || told == TOLD_MAX)
            continue;
        told++;
        sp_emit(n->d, SP_I320, SP_AT_NOTHING, "%.*s: %llu addresses that its map does not have", (int)name.n,
                name.p, (unsigned long long)n->misses[i]);
    }
    if (lacking > told)
        sp_emit(n->d, SP_I320, SP_AT_NOTHING, "%u more binaries", lacking - told);
}
