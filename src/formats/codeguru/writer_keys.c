/* The keys of the tree: what each frame is called, and where that stands in a source. */
#include "formats/codeguru/writer.h"

#include "base/num.h"

#include <stdlib.h>

/* ---- keys ---- */

bool sp_cg_make_text(struct sp_cg_writer *w, const char *before, uint32_t name, const char *after,
                     struct sp_str *out)
{
    struct sp_str s = sp_pstr(w->p, name);
    sp_buf_clear(&w->b);
    sp_buf_puts(&w->b, before);
    sp_json_string(&w->b, s.p, s.n);
    sp_buf_puts(&w->b, after);
    char *t = w->b.failed ? NULL : sp_arena_dup(&w->text, w->b.data, w->b.len);
    *out = (struct sp_str){t, (uint32_t)w->b.len};
    return t != NULL;
}

/* A frame's key, in w->b: as it was read, or by the names asked for. */
static bool codeguru_key_text(struct sp_cg_writer *w, uint32_t frame, bool module)
{
    const struct sp_profile *p = w->p;
    const struct sp_frame *f = &p->frames.v[frame];
    const struct sp_function *fn = &p->functions.v[f->function];
    struct sp_str func = sp_pstr(p, fn->name), dso = sp_pstr(p, p->dsos.v[fn->dso].name);
    struct sp_span kept = sp_cg_member(sp_cg_span(sp_pstr(p, f->extra_json)), SP_CG_KEY), name = {NULL, 0};
    uint64_t ip;
    sp_buf_clear(&w->b);
    if (kept.n > 2 && kept.p[0] == '{')
        name = sp_cg_member(kept, "name");
    if (name.n && name.p[0] == '"') {
        struct sp_json j;
        struct sp_span s;
        sp_json_init(&j, name.p, name.n);
        bool ok = sp_json_string_value(&j, &s) && sp_buf_add(&w->b, s.p, s.n);
        sp_json_free(&j);
        return ok;
    }
    const char *slash = dso.n ? memrchr(dso.p, '/', dso.n) : NULL;
    if (slash && slash + 1 < dso.p + dso.n)
        dso = (struct sp_str){slash + 1, (uint32_t)(dso.p + dso.n - slash - 1)};
    bool known = dso.n && !sp_str_is(dso, "[unknown]");
    if (w->kept.n) {
        sp_buf_add(&w->b, func.p, func.n);
    } else if (f->flags & SP_FRAME_UNRESOLVED && known && sp_parse_0x(func.p, func.n, &ip)) {
        sp_buf_add(&w->b, dso.p, dso.n);
        sp_buf_ch(&w->b, '+');
        sp_buf_add(&w->b, func.p, func.n);
    } else {
        if (module && known) {
            sp_buf_add(&w->b, dso.p, dso.n);
            sp_buf_ch(&w->b, ':');
        }
        sp_buf_add(&w->b, func.p, func.n);
    }
    if (!w->kept.n && f->kind == SP_KERNEL)
        sp_buf_puts(&w->b, "_[k]");
    return !w->b.failed;
}

/* Names of keys: of frames, of commands, and of kept nodes. */
static bool codeguru_name_keys(struct sp_cg_writer *w, uint32_t *names, bool module)
{
    struct sp_profile *p = w->p;
    for (uint32_t i = 0; i < p->frames.n; i++) {
        if (!codeguru_key_text(w, i, module))
            return false;
        names[i] = sp_profile_str(p, w->b.len ? w->b.data : "", w->b.len);
        if (names[i] == SP_STR_FAIL)
            return false;
    }
    return true;
}

static bool codeguru_add_key(struct sp_cg_writer *w, uint32_t name)
{
    if (w->key_ranks[name])
        return true;
    w->key_ranks[name] = 1;
    return sp_vec_push(&w->keys, ((struct sp_cg_key){.name = name}));
}

static int codeguru_by_key(const void *a, const void *b, void *arg)
{
    const struct sp_profile *p = arg;
    return sp_str_cmp(sp_pstr(p, ((const struct sp_cg_key *)a)->name),
                      sp_pstr(p, ((const struct sp_cg_key *)b)->name));
}

bool sp_cg_make_keys(struct sp_cg_writer *w, uint32_t *names, bool module)
{
    struct sp_profile *p = w->p;
    if (!codeguru_name_keys(w, names, module))
        return false;
    w->key_ranks = calloc(p->strs.strs.n + 1, sizeof *w->key_ranks);
    w->commands = calloc(p->contexts.n + 1, sizeof *w->commands);
    w->ranks = malloc((p->frames.n + 1) * sizeof *w->ranks);
    bool ok = w->key_ranks && w->commands && w->ranks;
    for (size_t i = 0; ok && i < p->frames.n; i++)
        ok = codeguru_add_key(w, names[i]);
    for (size_t i = 1; ok && i < w->extras.nodes.n; i++)
        ok = codeguru_add_key(w, w->extras.nodes.v[i].name);
    for (size_t i = 0; ok && !w->kept.n && i < p->contexts.n; i++)
        ok = p->contexts.v[i].comm == SP_STR_NONE || codeguru_add_key(w, p->contexts.v[i].comm);
    if (ok && w->keys.n > 1)
        qsort_r(w->keys.v, w->keys.n, sizeof *w->keys.v, codeguru_by_key, p);
    for (size_t i = 0; ok && i < w->keys.n; i++) {
        w->key_ranks[w->keys.v[i].name] = (uint32_t)i + 1;
        ok = sp_cg_make_text(w, SP_CG_CHILDREN, w->keys.v[i].name, ":{", &w->keys.v[i].text);
    }
    for (size_t i = 0; ok && i < p->frames.n; i++)
        w->ranks[i] = w->key_ranks[names[i]];
    for (size_t i = 0; ok && !w->kept.n && i < p->contexts.n; i++)
        if (p->contexts.v[i].comm != SP_STR_NONE)
            w->commands[i] = w->key_ranks[p->contexts.v[i].comm];
    return ok;
}

/* ---- places ---- */

static bool codeguru_keep_place(struct sp_cg_writer *w, struct sp_str *out)
{
    char *t = w->b.failed ? NULL : sp_arena_dup(&w->text, w->b.len ? w->b.data : "", w->b.len);
    *out = (struct sp_str){t, (uint32_t)w->b.len};
    return t != NULL;
}

/* As it was read: in the frame's own words, else from srcline. */
static bool codeguru_read_places(struct sp_cg_writer *w)
{
    const struct sp_profile *p = w->p;
    for (size_t i = 0; i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        struct sp_span kept = sp_cg_member(sp_cg_span(sp_pstr(p, f->extra_json)), SP_CG_KEY),
                       file = {NULL, 0}, line = file, in = file;
        sp_buf_clear(&w->b);
        if (kept.n > 2 && kept.p[0] == '{') {
            file = sp_cg_member(kept, "file");
            line = sp_cg_member(kept, "line");
            in = sp_cg_member(kept, "in_name");
        }
        if (file.n) {
            sp_buf_puts(&w->b, "\"file\":");
            sp_buf_add(&w->b, file.p, file.n);
        }
        if (line.n) {
            sp_buf_puts(&w->b, file.n ? ",\"line\":" : "\"line\":");
            sp_buf_add(&w->b, line.p, line.n);
        }
        if (!file.n && !line.n && !in.n)
            sp_cg_place_of_srcline(&w->b, sp_pstr(p, f->srcline));
        if (w->b.failed || (w->b.len && !codeguru_keep_place(w, &w->places[i])))
            return false;
    }
    return true;
}

struct span_of_lines {
    struct sp_str file;
    uint64_t first, last;
    bool any, several, lines;
};

/* Of other sources: a key's file where its frames agree, and the lines they span. */
static bool codeguru_places_by_key(struct sp_cg_writer *w)
{
    const struct sp_profile *p = w->p;
    struct span_of_lines *all = calloc(w->keys.n + 1, sizeof *all);
    bool ok = all != NULL;
    for (size_t i = 0; ok && i < p->frames.n; i++) {
        struct span_of_lines *s = &all[w->ranks[i] - 1];
        struct sp_str file;
        uint64_t first = 0, last = 0;
        if (p->frames.v[i].srcline == SP_STR_NONE)
            continue;
        bool numbered = sp_cg_split_srcline(sp_pstr(p, p->frames.v[i].srcline), &file, &first, &last);
        s->several = s->several || (s->any && sp_str_cmp(s->file, file) != 0);
        s->file = file;
        s->any = true;
        if (!numbered)
            continue;
        s->first = !s->lines || first < s->first ? first : s->first;
        s->last = !s->lines || last > s->last ? last : s->last;
        s->lines = true;
    }
    for (size_t i = 0; ok && i < w->keys.n; i++) {
        const struct span_of_lines *s = &all[i];
        if (!s->any || s->several || !s->file.n)
            continue;
        sp_buf_clear(&w->b);
        sp_buf_puts(&w->b, "\"file\":");
        sp_json_string(&w->b, s->file.p, s->file.n);
        if (s->lines)
            sp_cg_lines(&w->b, s->first, s->last);
        ok = codeguru_keep_place(w, &w->keys.v[i].place);
    }
    free(all);
    return ok;
}

bool sp_cg_make_places(struct sp_cg_writer *w)
{
    return w->kept.n ? codeguru_read_places(w) : codeguru_places_by_key(w);
}
