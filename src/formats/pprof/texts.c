/*
 * Names of functions and places of lines as strings of the profile, ahead and in the order of the file: a
 * window of them is hashed while the places in the table of strings are fetched. What is unusual is left for
 * when a frame needs it (frames.c).
 */
#include "formats/pprof/pprof.h"

#define WINDOW 64u

struct window {
    struct sp_strtab *strs;
    struct sp_buf *text; /* one behind the other */
    unsigned n;
    struct {
        size_t at, n; /* in text */
        uint64_t hash;
        uint32_t *to; /* where its number goes */
    } items[WINDOW];
};

static bool flush(struct window *w)
{
    for (unsigned i = 0; i < w->n; i++) {
        uint32_t number =
            sp_intern_hashed(w->strs, w->text->data + w->items[i].at, w->items[i].n, w->items[i].hash);
        if (number == SP_STR_FAIL)
            return false;
        *w->items[i].to = number;
    }
    w->n = 0;
    sp_buf_clear(w->text);
    return true;
}

/* The text behind those that are in the window is one of them. */
static bool add(struct window *w, size_t at, uint32_t *to)
{
    if (w->text->failed)
        return false;
    uint64_t hash = sp_hash64(w->text->data + at, w->text->len - at);
    sp_map_expect(&w->strs->map, hash);
    w->items[w->n].at = at;
    w->items[w->n].n = w->text->len - at;
    w->items[w->n].hash = hash;
    w->items[w->n].to = to;
    return ++w->n < WINDOW || flush(w);
}

static bool names(struct sp_pp *pp, struct window *w)
{
    bool ok = true;
    for (size_t i = 0; ok && i < pp->functions.list.n; i++) {
        const uint32_t *texts = pp->fns[i].texts;
        if (!pp->fns[i].plain || texts[PP_NAME] >= pp->strings.n)
            continue;
        uint32_t string = pp->strings.v[texts[PP_NAME]].n ? texts[PP_NAME] : texts[PP_SYSTEM_NAME];
        if (string >= pp->strings.n || !pp->strings.v[string].n || pp->numbers[string])
            continue;
        size_t at = w->text->len;
        sp_buf_add(w->text, pp->strings.v[string].p, pp->strings.v[string].n);
        ok = add(w, at, &pp->numbers[string]);
    }
    ok = ok && flush(w);
    for (uint32_t i = 0; ok && i < pp->functions.list.n; i++)
        ok = !pp->fns[i].plain || sp_pp_function_name(pp, i);
    return ok;
}

/* Where the text reads back for sure: no number ends the file's name, and the line has one. */
static bool lines(struct sp_pp *pp, struct window *w)
{
    bool ok = true;
    for (size_t i = 0; ok && i < pp->lines.n; i++) {
        struct sp_pp_line *line = &pp->lines.v[i];
        const struct sp_pp_function *f = &pp->fns[line->function];
        if (!f->plain || f->texts[PP_FILE] >= pp->strings.n)
            continue;
        struct sp_str file = pp->strings.v[f->texts[PP_FILE]];
        size_t at = w->text->len;
        if (file.n && sp_pp_put_srcline(w->text, file, line))
            ok = add(w, at, &line->text);
        else
            w->text->len = at;
    }
    return ok && flush(w);
}

bool sp_pp_texts(struct sp_pp *pp)
{
    struct window w = {.strs = &pp->p->strs, .text = &pp->text};
    sp_buf_clear(&pp->text);
    return names(pp, &w) && (pp->opts->frames == SP_FRAMES_FUNCTION || lines(pp, &w));
}
