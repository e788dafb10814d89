/* What stacks are made of, as the columns have it: each table in the order in which the sorted frames need
 * it. */
#include "base/hash.h"
#include "base/num.h"
#include "formats/common/text/srcline.h"
#include "formats/firefox/firefox.h"
#include "model/identity.h"

#include <stdlib.h>

#define EXACT ((uint64_t)1 << 53) /* numbers from here on are not exact in JavaScript */

/* ---- one frame ---- */

/* The line of a frame and its file; n 0: it has none. */
static struct sp_str ff_line(const struct sp_profile *p, uint32_t frame, int64_t *line, int64_t *column)
{
    struct sp_str file = sp_pstr(p, p->frames.v[frame].srcline);
    file.n = (uint32_t)sp_srcline_split(file, line, column);
    return *line ? file : (struct sp_str){"", 0};
}

static enum sp_ff_category ff_category(const struct sp_profile *p, uint32_t frame)
{
    if (p->frames.v[frame].kind == SP_KERNEL)
        return SP_FF_KERNEL;
    if (sp_str_is(sp_pstr(p, sp_frame_dso(p, frame)->name), "[jit]"))
        return SP_FF_JIT;
    return p->frames.v[frame].kind == SP_USER ? SP_FF_USER : SP_FF_OTHER;
}

static bool ff_has_lib(const struct sp_profile *p, uint32_t frame)
{
    struct sp_str name = sp_pstr(p, sp_frame_dso(p, frame)->name);
    return name.n && !sp_str_is(name, "[unknown]");
}

static int64_t ff_address(const struct sp_profile *p, uint32_t frame)
{
    const struct sp_frame *f = &p->frames.v[frame];
    return f->flags & SP_FRAME_IP && f->ip < EXACT && ff_has_lib(p, frame) ? (int64_t)f->ip : -1;
}

/*
 * A function has one file, that of its lines: where they are in several (what is included in the middle of
 * it), the one in which it is declared, else the first by name.
 */
static bool ff_find_sources(struct sp_ff_writer *w, const unsigned char *used)
{
    struct sp_profile *p = w->p;
    for (uint32_t f = 0; f < p->frames.n; f++) {
        int64_t line, column;
        if (!used[f])
            continue;
        uint32_t *source = &w->source_of[p->frames.v[f].function];
        struct sp_str file = ff_line(p, f, &line, &column);
        const struct sp_func_info *info = sp_frame_known(p, f);
        struct sp_str declared = info ? sp_base_name(sp_pstr(p, info->file)) : (struct sp_str){"", 0};
        if (!file.n)
            continue;
        uint32_t number = sp_profile_str(p, file.p, file.n);
        if (number == SP_STR_FAIL)
            return false;
        bool fits = declared.n && !sp_str_cmp(sp_base_name(file), declared);
        bool has = *source && declared.n && !sp_str_cmp(sp_base_name(sp_pstr(p, *source)), declared);
        if (!*source || (fits && !has) || (fits == has && sp_str_cmp(file, sp_pstr(p, *source)) < 0))
            *source = number;
    }
    for (uint32_t f = 0; f < p->frames.n; f++) {
        const struct sp_func_info *info = used[f] ? sp_frame_known(p, f) : NULL;
        uint32_t *source = &w->source_of[p->frames.v[f].function];
        if (info && !*source)
            *source = info->file;
    }
    return true;
}

/*
 * Where a function begins, if that tells it from others of its name: readers of what V8 and Firefox write
 * have it behind the linkage name, "name:12:3".
 */
static bool ff_begins(const struct sp_profile *p, uint32_t frame, int64_t *line, int64_t *column)
{
    const struct sp_func_info *info = sp_frame_known(p, frame);
    struct sp_str name = sp_pstr(p, p->functions.v[p->frames.v[frame].function].name);
    struct sp_str linkage = sp_pstr(p, info ? info->linkage : SP_STR_NONE);
    *line = *column = 0;
    if (!linkage.n || sp_srcline_split(linkage, line, column) != name.n || memcmp(linkage.p, name.p, name.n))
        *line = *column = 0;
    return *line > 0;
}

/* All that is written of a frame, so that equal ones are one, in an order of its own. */
static bool ff_put_key(void *writer, struct sp_buf *b, uint32_t frame)
{
    struct sp_ff_writer *w = writer;
    const struct sp_profile *p = w->p;
    const struct sp_frame *f = &p->frames.v[frame];
    const struct sp_dso *dso = sp_frame_dso(p, frame);
    struct sp_str name = sp_pstr(p, p->functions.v[f->function].name);
    struct sp_str source = sp_pstr(p, w->source_of[f->function]), id = sp_pstr(p, dso->build_id);
    struct sp_str dso_name = ff_has_lib(p, frame) ? sp_pstr(p, dso->name) : (struct sp_str){"", 0};
    int64_t line, column, first, first_column;
    struct sp_str file = ff_line(p, frame, &line, &column);
    ff_begins(p, frame, &first, &first_column);
    bool here = line && !sp_str_cmp(file, source);
    w->elsewhere += line && !here;
    sp_json_string(b, dso_name.p, dso_name.n);
    sp_buf_add(b, id.p, id.n);
    sp_json_string(b, name.p, name.n);
    sp_json_string(b, source.p, source.n);
    sp_buf_printf(b, "%lld %lld ", (long long)first, (long long)first_column);
    sp_buf_printf(b, "%d %020lld %u %lld %lld", (int)ff_category(p, frame), (long long)ff_address(p, frame),
                  f->inline_depth, here ? (long long)line : 0LL, here ? (long long)column : 0LL);
    return !b->failed;
}

/* ---- tables ---- */

static uint32_t ff_string(struct sp_ff_writer *w, struct sp_str s)
{
    uint32_t n = sp_intern(&w->strings, s.p ? s.p : "", s.n);
    return n == SP_STR_FAIL ? SP_NONE : n - 1;
}

static bool ff_lib(struct sp_ff_writer *w, uint32_t frame, uint32_t *lib)
{
    uint32_t dso = w->p->functions.v[w->p->frames.v[frame].function].dso;
    *lib = SP_NONE;
    if (!ff_has_lib(w->p, frame))
        return true;
    if (!w->lib_of[dso]) {
        if (!sp_vec_push(&w->libs, (struct sp_ff_lib){dso}))
            return false;
        w->lib_of[dso] = (uint32_t)w->libs.n;
    }
    *lib = w->lib_of[dso] - 1;
    return true;
}

/* The function of a frame, by name, library and file. */
static bool ff_func(struct sp_ff_writer *w, uint32_t frame, uint32_t *func)
{
    const struct sp_profile *p = w->p;
    uint32_t function = p->frames.v[frame].function;
    struct sp_str source = sp_pstr(p, w->source_of[function]);
    struct sp_ff_func x = {.name = ff_string(w, sp_pstr(p, p->functions.v[function].name)),
                           .source = SP_NONE};
    if (x.name == SP_NONE || !ff_lib(w, frame, &x.lib))
        return false;
    if (source.n && (x.source = ff_string(w, source)) == SP_NONE)
        return false;
    x.js = ff_begins(p, frame, &x.line, &x.column);
    uint32_t key = sp_intern(&w->func_keys, &x, sizeof x);
    if (key == SP_STR_FAIL)
        return false;
    *func = key - 1;
    return key - 1 < w->funcs.n || sp_vec_push(&w->funcs, x);
}

static bool ff_frame(struct sp_ff_writer *w, uint32_t frame)
{
    const struct sp_profile *p = w->p;
    struct sp_ff_frame x = {.category = ff_category(p, frame),
                            .depth = p->frames.v[frame].inline_depth,
                            .address = ff_address(p, frame)};
    struct sp_str file = ff_line(p, frame, &x.line, &x.column);
    if (x.line && sp_str_cmp(file, sp_pstr(p, w->source_of[p->frames.v[frame].function])))
        x.line = x.column = 0;
    return ff_func(w, frame, &x.func) && sp_vec_push(&w->frames, x);
}

bool sp_ff_node(struct sp_ff_writer *w, const uint32_t *path, uint32_t n, uint32_t *node)
{
    *node = SP_NONE;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t hash = sp_hash_mix(*node, path[i]);
        struct sp_probe at = sp_map_probe(&w->node_map, hash);
        uint32_t k;
        while ((k = sp_map_next(&w->node_map, &at)) != SP_MAP_NONE)
            if (w->nodes.v[k].prefix == *node && w->nodes.v[k].frame == path[i])
                break;
        if (k == SP_MAP_NONE) {
            k = (uint32_t)w->nodes.n;
            if (w->nodes.n >= SP_NONE - 1 || !sp_vec_push(&w->nodes, ((struct sp_ff_node){path[i], *node})) ||
                !sp_map_add(&w->node_map, hash, k))
                return false;
        }
        *node = k;
    }
    return true;
}

bool sp_ff_tables(struct sp_ff_writer *w)
{
    unsigned char *used = sp_rows_used(&w->rows);
    w->source_of = calloc(w->p->functions.n + 1, sizeof *w->source_of);
    w->lib_of = calloc(w->p->dsos.n + 1, sizeof *w->lib_of);
    bool ok = used && w->source_of && w->lib_of && ff_find_sources(w, used) &&
              sp_entries_make(&w->entries, &w->rows, used, ff_put_key, w);
    for (size_t i = 0; ok && i < w->entries.frames.n; i++)
        ok = ff_frame(w, w->entries.frames.v[i]);
    free(used);
    return ok;
}
