#include "analysis/places.h"

#include "base/hash.h"
#include "base/map.h"
#include "symbols/source_path.h"

#include <stdlib.h>

struct sp_places {
    const struct sp_profile *p;
    struct sp_diags *d;
    struct sp_symbols *symbols;
    struct sp_module **modules; /* by DSO */
    bool *asked;                /* by DSO */
    struct sp_strtab paths;
    struct sp_map lines; /* frames by their source line, once they are asked for so */
    bool has_lines;
    struct sp_buf b;
};

spaa_status sp_places_new(const struct sp_profile *p, const struct sp_symbol_opts *opts, struct sp_diags *d,
                          struct sp_places **out)
{
    struct sp_places *x = calloc(1, sizeof *x);
    struct sp_symbol_opts how = *opts;
    if (!x)
        return sp_nomem(d);
    how.no_lines = how.no_debug = how.no_inline = false;
    x->p = p;
    x->d = d;
    sp_buf_init(&x->b, 1 << 20);
    x->modules = calloc(p->dsos.n + 1, sizeof(*x->modules));
    x->asked = calloc(p->dsos.n + 1, sizeof *x->asked);
    bool ok = sp_strtab_init(&x->paths) && x->modules && x->asked;
    spaa_status st = ok ? sp_symbols_new(&how, d, &x->symbols) : sp_nomem(d);
    if (st) {
        sp_places_free(x);
        return st;
    }
    sp_symbols_recorded(x->symbols, p->written);
    *out = x;
    return SPAA_OK;
}

void sp_places_free(struct sp_places *x)
{
    if (!x)
        return;
    sp_symbols_free(x->symbols);
    sp_strtab_free(&x->paths);
    sp_map_free(&x->lines);
    sp_buf_free(&x->b);
    free(x->modules);
    free(x->asked);
    free(x);
}

spaa_status sp_places_module(struct sp_places *x, uint32_t dso, struct sp_module **out)
{
    const struct sp_dso *o = &x->p->dsos.v[dso];
    struct sp_str name = sp_pstr(x->p, o->name), id = sp_pstr(x->p, o->build_id);
    *out = x->modules[dso];
    if (x->asked[dso] || o->is_kernel || !name.n || name.p[0] == '[')
        return SPAA_OK;
    x->asked[dso] = true;
    uint32_t path = sp_intern(&x->paths, name.p, name.n);
    uint32_t build = id.n ? sp_intern(&x->paths, id.p, id.n) : SP_STR_NONE;
    if (path == SP_STR_FAIL || build == SP_STR_FAIL)
        return sp_nomem(x->d);
    struct sp_module_key key = {
        .kind = SP_MODULE_FILE, .path = sp_str_cstr(&x->paths, path), .doubtful = o->doubtful};
    key.build_id = id.n ? sp_str_cstr(&x->paths, build) : NULL;
    spaa_status st = sp_symbols_module(x->symbols, &key, &x->modules[dso]);
    *out = x->modules[dso];
    return st;
}

bool sp_places_address(struct sp_places *x, const struct sp_module *m, uint32_t frame, uint64_t *out)
{
    const struct sp_frame *f = &x->p->frames.v[frame];
    const struct sp_dso *o = &x->p->dsos.v[x->p->functions.v[f->function].dso];
    if (!m || !(f->flags & SP_FRAME_IP))
        return false;
    *out = f->ip;
    return o->place.ips != SP_DSO_FILE_OFFSET || sp_module_vaddr(m, f->ip, out);
}

/* "src/a.c:12": a file, and a line where digits say it. */
static void split_line(struct sp_str text, struct sp_source_place *out)
{
    const char *colon = text.n ? memrchr(text.p, ':', text.n) : NULL;
    size_t digits = colon ? (size_t)(text.p + text.n - colon) - 1 : 0;
    uint64_t line = 0;
    out->file = text;
    for (size_t i = 1; i <= digits && digits < 10; i++) {
        if (colon[i] < '0' || colon[i] > '9')
            return;
        line = line * 10 + (uint64_t)(colon[i] - '0');
    }
    if (!line || line > UINT32_MAX)
        return;
    out->line = (uint32_t)line;
    out->file.n = (uint32_t)(colon - text.p);
}

/* What the binary says of the frame at an address that has this source line. */
static bool ask_binary(struct sp_module *m, uint64_t addr, struct sp_str line, struct sp_source_place *out)
{
    enum { DEEPEST = 64 };
    struct sp_resolved r[DEEPEST];
    size_t n = sp_module_resolve(m, addr, r, DEEPEST);
    for (size_t i = 0; i < n; i++) {
        if (!r[i].srcline || !sp_str_is(line, r[i].srcline))
            continue;
        out->comp_dir = r[i].comp_dir;
        out->source = r[i].source;
        return true;
    }
    return false;
}

static bool places_keep_path(struct sp_places *x, struct sp_source_place *at)
{
    sp_buf_clear(&x->b);
    sp_source_path(&x->b, at->file.p, at->file.n, at->comp_dir);
    if (x->b.failed)
        return false;
    if (!x->b.len)
        return true;
    uint32_t id = sp_intern(&x->paths, x->b.data, x->b.len);
    at->path = id == SP_STR_FAIL ? NULL : sp_str_cstr(&x->paths, id);
    return at->path;
}

/* Of files whose text the profile carries: where they were is known without their binary. */
static void places_kept(const struct sp_places *x, uint32_t dso, struct sp_source_place *at)
{
    at->profile = x->p;
    if (!at->file.n || !x->p->source_pieces.n)
        return;
    at->kept = sp_source_version_of(x->p, at->file, dso, at->path);
    if (!at->kept.n)
        return;
    const struct sp_source_piece *v = at->kept.v;
    if (!at->path && v->path)
        at->path = sp_str_cstr(&x->p->strs, v->path);
    if (!at->comp_dir && v->comp_dir)
        at->comp_dir = sp_str_cstr(&x->p->strs, v->comp_dir);
}

spaa_status sp_places_of(struct sp_places *x, uint32_t frame, struct sp_source_place *out)
{
    const struct sp_frame *f = &x->p->frames.v[frame];
    struct sp_str line = sp_pstr(x->p, f->srcline);
    uint64_t addr;
    *out = (struct sp_source_place){0};
    spaa_status st = sp_places_module(x, x->p->functions.v[f->function].dso, &out->module);
    if (st || !line.n)
        return st;
    split_line(line, out);
    /* Return addresses are looked up inside the call, others where they are. */
    if (sp_places_address(x, out->module, frame, &addr) && !ask_binary(out->module, addr, line, out) && addr)
        ask_binary(out->module, addr - 1, line, out);
    st = sp_symbols_failed(x->symbols);
    if (!st && !places_keep_path(x, out))
        st = sp_nomem(x->d);
    if (!st)
        places_kept(x, x->p->functions.v[f->function].dso, out);
    return st;
}

static bool places_index(struct sp_places *x)
{
    const struct sp_profile *p = x->p;
    for (size_t i = 0; !x->has_lines && i < p->frames.n; i++) {
        struct sp_str line = sp_pstr(p, p->frames.v[i].srcline);
        if (line.n && !sp_map_add(&x->lines, sp_hash64(line.p, line.n), (uint32_t)i))
            return false;
    }
    x->has_lines = true;
    return true;
}

/* hits NULL: of this function. */
static spaa_status places_find(struct sp_places *x, const unsigned char *hits, uint32_t function,
                               struct sp_str line, struct sp_source_place *out)
{
    uint32_t best = SP_NONE;
    *out = (struct sp_source_place){0};
    if (!line.n)
        return SPAA_OK;
    if (!places_index(x))
        return sp_nomem(x->d);
    struct sp_probe at = sp_map_probe(&x->lines, sp_hash64(line.p, line.n));
    for (uint32_t i; (i = sp_map_next(&x->lines, &at)) != SP_MAP_NONE;) {
        const struct sp_frame *f = &x->p->frames.v[i];
        bool theirs = hits ? hits[f->function] : f->function == function;
        if (!theirs || sp_str_cmp(sp_pstr(x->p, f->srcline), line) != 0)
            continue;
        bool better =
            best == SP_NONE || (f->flags & SP_FRAME_IP && !(x->p->frames.v[best].flags & SP_FRAME_IP));
        best = better ? i : best;
    }
    return best == SP_NONE ? SPAA_OK : sp_places_of(x, best, out);
}

spaa_status sp_places_of_line(struct sp_places *x, const unsigned char *hits, struct sp_str line,
                              struct sp_source_place *out)
{
    return places_find(x, hits, SP_NONE, line, out);
}

spaa_status sp_places_of_function(struct sp_places *x, uint32_t function, struct sp_str line,
                                  struct sp_source_place *out)
{
    return places_find(x, NULL, function, line, out);
}

bool sp_places_same_file(const struct sp_source_place *a, const struct sp_source_place *b)
{
    bool path = a->path && b->path ? strcmp(a->path, b->path) == 0 : a->path == b->path;
    return path && a->kept.v == b->kept.v && sp_str_cmp(a->file, b->file) == 0;
}
