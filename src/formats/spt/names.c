#include "formats/spt/names.h"

#include "dwarf/elf.h"
#include "io/file.h"
#include "symbols/demangle.h"
#include "symbols/msvc_map.h"
#include "symbols/msvc_name.h"
#include "symbols/pe.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 5 };

/* The symbols of a file; several programs may share them. */
struct source {
    struct sp_symtab tab;
    uint64_t base;   /* of RVA 0 in the table */
    uint32_t *plain; /* by symbol: 1 + number of its name for people; 0: not asked for yet */
};

struct sp_spt_names {
    const struct sp_spt *file;
    struct sp_diags *d;
    bool off; /* --no-symbols */
    SP_VEC(struct source *) sources;
    uint32_t *of; /* by program: 1 + number in sources; 0: none */
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

/* The GUID of an image and where its RVAs count from; SPAA_ERR_INPUT when it is neither PE nor ELF. */
static spaa_status spt_read_image(const char *path, struct sp_diags *d, struct source *s, struct sp_rsds *id,
                                  bool *has_id, bool *has_age)
{
    struct sp_pe pe;
    struct sp_elf elf = {0};
    spaa_status st = sp_pe_read(path, d, &pe, &s->tab);
    *has_age = st != SPAA_ERR_INPUT;
    if (st != SPAA_ERR_INPUT) {
        *has_id = !st && pe.has_rsds;
        *id = pe.rsds;
        return st;
    }
    st = sp_elf_read(path, d, &elf, &s->tab);
    if (!st) {
        char key[34];
        struct sp_rsds raw;
        *has_id = strlen(elf.build_id) >= 32;
        memcpy(key, *has_id ? elf.build_id : "00000000000000000000000000000000", 32);
        memcpy(key + 32, "0", 2);
        if (sp_rsds_from_key(key, 33, &raw)) /* undo the order of a GUID's fields */
            for (unsigned i = 0; i < 16; i++) {
                static const unsigned char at[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
                id->guid[i] = raw.guid[at[i]];
            }
        id->age = 0;
        for (size_t i = 0; i < elf.loads.n; i++)
            if (!i || elf.loads.v[i].vaddr - elf.loads.v[i].offset < s->base)
                s->base = elf.loads.v[i].vaddr - elf.loads.v[i].offset;
        sp_elf_free(&elf);
    }
    return st;
}

/* *fits: some program of the trace is this image; `only` looks at that one alone. */
static spaa_status spt_try_image(struct sp_spt_names *n, const char *path, uint32_t only, bool *fits)
{
    const struct sp_spt *f = n->file;
    struct sp_rsds id = {0};
    bool has_id = false, has_age = false;
    struct source *s = spt_new_source(n);
    *fits = false;
    if (!s)
        return SPAA_ERR_NOMEM;
    spaa_status st = spt_read_image(path, n->d, s, &id, &has_id, &has_age);
    for (uint32_t i = 0; !st && has_id && i < f->nprograms; i++) {
        const struct sp_rsds *r = &f->programs[i].rsds;
        if ((only != SP_NONE && i != only) || !sp_rsds_same_guid(r, &id) || (has_age && r->age != id.age))
            continue;
        spt_assign(n, i);
        *fits = true;
    }
    if (*fits && !sp_symtab_finish(&s->tab, SP_RULES_ELF))
        st = SPAA_ERR_NOMEM;
    if (!*fits)
        spt_drop_source(n);
    return st;
}

static spaa_status spt_add_image(struct sp_spt_names *n, const char *path)
{
    bool fits;
    spaa_status st = spt_try_image(n, path, SP_NONE, &fits);
    if (st)
        return spt_cannot(n, path, st, "PE image or ELF file");
    if (!fits)
        sp_emit_hint(n->d, SP_W312, SP_AT_NOTHING, "`spaa spt match` compares GUIDs and ages",
                     "%s is none of the trace's binaries", path);
    return SPAA_OK;
}

/* symfs/windows/path/app.exe, then symfs/app.exe; files of another build are passed over. */
static spaa_status names_spt_search(struct sp_spt_names *n, const char *symfs, uint32_t program)
{
    struct sp_str name = n->file->programs[program].name;
    const char *colon = name.n > 1 && name.p[1] == ':' ? name.p + 2 : name.p;
    struct sp_str tries[] = {{colon, name.n - (uint32_t)(colon - name.p)}, sp_spt_base_name(name)};
    spaa_status st = SPAA_OK;
    bool fits = false;
    for (unsigned t = 0; t < 2 && !st && !fits; t++) {
        char path[PATH_MAX];
        size_t at = strlen(symfs), len = tries[t].n;
        if (!len || at + 1 + len >= sizeof path || memchr(tries[t].p, '\0', len))
            continue;
        memcpy(path, symfs, at);
        path[at++] = '/';
        memcpy(path + at, tries[t].p, len);
        path[at + len] = '\0';
        for (char *c = path + at; *c; c++)
            if (*c == '\\')
                *c = '/';
        if (!strstr(path + at, ".."))
            st = spt_try_image(n, path, program, &fits);
        st = st == SPAA_ERR_NOMEM ? st : SPAA_OK;
    }
    return st ? sp_nomem(n->d) : SPAA_OK;
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
            st = spt_add_image(n, opts->own[i].value);
    }
    if (opts->symbols.symfs)
        for (uint32_t i = 0; i < f->nprograms && !st && !n->off; i++)
            if (!n->of[i])
                st = names_spt_search(n, opts->symbols.symfs, i);
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
        bool mangled = sym->name[0] == '?' ? sp_msvc_name(sym->name, &b) : sp_demangle(sym->name, &b);
        uint32_t text = mangled ? sp_intern(&n->text, b.data, b.len) : sp_intern_cstr(&n->text, sym->name);
        bool failed = b.failed || text == SP_STR_FAIL;
        sp_buf_free(&b);
        if (failed)
            return NULL;
        s->plain[i] = text + 1;
    }
    return sp_str_cstr(&n->text, s->plain[i] - 1);
}

bool sp_spt_names_find(struct sp_spt_names *n, uint32_t program, uint32_t rva, struct sp_named *out)
{
    struct sp_resolved *r = &out->frames[0];
    out->n = 0;
    if (program >= n->file->nprograms)
        return true;
    struct source *s = n->of[program] ? n->sources.v[n->of[program] - 1] : NULL;
    const struct sp_sym *sym = s ? sp_symtab_find(&s->tab, s->base + rva) : NULL;
    if (!sym) {
        n->misses[program]++;
        return true;
    }
    *r = (struct sp_resolved){.func = spt_plain_name(n, s, sym),
                              .linkage = sym->name,
                              .symoff = s->base + rva - sym->start,
                              .start = sym->start - s->base,
                              .has_start = sym->start >= s->base,
                              .local = sym->bind == SP_BIND_LOCAL};
    out->n = 1;
    return r->func;
}

void sp_spt_names_report(struct sp_spt_names *n)
{
    unsigned told = 0, lacking = 0;
    uint64_t all = 0;
    for (uint32_t i = 0; i < n->file->nprograms; i++) {
        lacking += n->misses[i] > 0;
        all += n->misses[i];
    }
    if (n->off || !lacking)
        return;
    if (!n->sources.n) {
        sp_emit(n->d, SP_I320, SP_AT_NOTHING,
                "%llu addresses in %u binar%s; --map FILE (linker map) or --image FILE (PE, ELF) names them",
                (unsigned long long)all, lacking, lacking == 1 ? "y" : "ies");
        return;
    }
    for (uint32_t i = 0; i < n->file->nprograms && told < TOLD_MAX; i++) {
        struct sp_str name = n->file->programs[i].name;
        if (!n->misses[i])
            continue;
        told++;
        sp_emit(n->d, SP_I320, SP_AT_NOTHING, "%.*s: %llu addresses%s", (int)name.n, name.p,
                (unsigned long long)n->misses[i], n->of[i] ? "" : "; no --map or --image is of it");
    }
    if (lacking > told)
        sp_emit(n->d, SP_I320, SP_AT_NOTHING, "%u more binaries", lacking - told);
}
