/* The files that a recording needs. */
#include "run/symbols.h"

#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>

static int cmp_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int by_build(const void *a, const void *b)
{
    const struct symbols_file *x = a, *y = b;
    int order = cmp_text(x->id, y->id);
    order = order ? order : strcmp(x->part, y->part);
    return order ? order : cmp_text(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    const struct symbols_file *x = a, *y = b;
    int order = cmp_text(x->name, y->name);
    order = order ? order : cmp_text(x->id, y->id);
    return order ? order : strcmp(x->part, y->part);
}

/* One build by two names is one. */
static void each_once(struct symbols_files *x)
{
    size_t n = 0;
    if (!x->v.n)
        return;
    qsort(x->v.v, x->v.n, sizeof *x->v.v, by_build);
    for (size_t i = 0; i < x->v.n; i++) {
        const struct symbols_file *f = &x->v.v[i], *last = n ? &x->v.v[n - 1] : NULL;
        bool same = last && f->id && last->id && !strcmp(f->id, last->id) && !strcmp(f->part, last->part);
        if (!same)
            x->v.v[n++] = *f;
    }
    x->v.n = n;
    qsort(x->v.v, n, sizeof *x->v.v, by_name);
}

/* Which module a DSO is; false: it is no file, or its names are in another one's (modules of the kernel). */
static bool gather_key(const struct sp_dso *o, const char *name, const char *id, struct sp_module_key *key)
{
    static const char *const refs[] = {NULL, "_text", "_stext"};
    bool kernel = !strcmp(name, "[kernel]") || !strcmp(name, "[kernel.kallsyms]");
    *key = (struct sp_module_key){
        .kind = kernel ? SP_MODULE_KERNEL : SP_MODULE_FILE, .path = name, .build_id = *id ? id : NULL};
    if (kernel) {
        key->kernel_text = o->place.base;
        key->kernel_ref = refs[o->place.symbol];
        return true;
    }
    return !o->is_kernel && *name && (name[0] != '[' || (*id && !strcmp(name, "[vdso]")));
}

static spaa_status gather_missing(struct sp_run *run, const struct sp_module *m, const char *name,
                                  const char *id, struct symbols_files *out)
{
    struct sp_buf why, hint;
    sp_buf_init(&why, 64 << 10);
    sp_buf_init(&hint, 4 << 10);
    struct symbols_file f = {.name = name, .id = id, .status = SYMBOLS_MISSING};
    f.hint = sp_module_missing(m, &why, &hint);
    f.why = sp_buf_cstr(&why);
    if (!*f.why)
        f.why = "it is in no file";
    spaa_status st = sp_run_symbols_files_add(run, out, &f);
    sp_buf_free(&why);
    sp_buf_free(&hint);
    return st;
}

static spaa_status gather_module(struct sp_run *run, struct sp_symbols *s, const struct sp_module_key *key,
                                 struct symbols_files *out)
{
    struct sp_module *m;
    struct sp_module_part parts[SP_MODULE_PARTS];
    size_t n = 0;
    spaa_status st = sp_symbols_module(s, key, &m);
    if (!st)
        st = sp_module_parts(m, parts, &n);
    if (!st && !n)
        return gather_missing(run, m, key->path, key->build_id, out);
    for (size_t i = 0; i < n && !st; i++) {
        struct symbols_file f = {.name = key->path, .path = parts[i].path, .id = parts[i].id};
        snprintf(f.part, sizeof f.part, "%s", parts[i].part);
        st = sp_run_symbols_files_add(run, out, &f);
    }
    return st;
}

static spaa_status gather_dso(struct sp_run *run, struct sp_symbols *s, const struct sp_profile *p,
                              const struct sp_dso *o, struct symbols_files *out)
{
    struct sp_module_key key;
    struct sp_str name = sp_pstr(p, o->name), id = sp_pstr(p, o->build_id);
    char *text = sp_arena_dup(&out->arena, name.p, name.n), *build = sp_arena_dup(&out->arena, id.p, id.n);
    if (!text || !build)
        return sp_nomem(run->diags);
    if (!gather_key(o, text, build, &key))
        return SPAA_OK;
    if (key.build_id)
        return gather_module(run, s, &key, out);
    return sp_run_symbols_files_add(
        run, out,
        &(struct symbols_file){.name = text,
                               .status = SYMBOLS_REFUSED,
                               .why = "the recording has no build-id of it",
                               .hint = "record with `perf record --buildid-mmap`"});
}

spaa_status sp_run_symbols_gather(struct sp_run *run, const char *recording, struct symbols_files *out)
{
    struct sp_read_opts how;
    struct sp_profile *p = NULL;
    struct sp_symbols *s = NULL;
    spaa_status st = sp_run_read_opts(run, &how);
    if (st)
        return st;
    struct sp_symbol_opts where = how.symbols;
    how.symbols.no_symbols = true;
    where.no_symbols = where.no_debug = where.no_inline = where.no_lines = false;
    st = sp_run_read(run, recording, &how, &p);
    if (!st)
        st = sp_symbols_new(&where, run->diags, &s);
    for (size_t i = 0; !st && i < p->dsos.n; i++)
        st = gather_dso(run, s, p, &p->dsos.v[i], out);
    if (!st)
        each_once(out);
    sp_symbols_free(s);
    sp_profile_free(p);
    return st;
}
