/*
 * Which frames of a call tree are drawn, and where.
 *
 * A frame's place is exact: start and width are integers of weight, turned into hundredths of a pixel
 * only when printed. Children stand side by side from the left edge of their parent, in the tree's order;
 * what the parent has left at its right is its self weight. Frames narrower than a stated width are left
 * out with all that stands on them, counted, and the picture says so; frames with no positive weight (a
 * metric may go below zero) have no width at all. The least width doubles until the rest is a number of
 * frames that a browser handles well.
 */
#include "answer/text.h"
#include "base/hash.h"
#include "base/num.h"
#include "render/flamegraph_private.h"

#include <math.h>

enum { SHADED = 64 << 10 }; /* of a name, bytes that make its shade: each frame looks at them */

static void complete_opts(struct sp_flame *f, const struct sp_flamegraph_opts *opts)
{
    struct sp_flamegraph_opts *o = &f->opts;
    *o = *opts;
    if (!o->title)
        o->title = "Flame graph";
    if (!o->unit)
        o->unit = "";
    if (o->scale > 18)
        o->scale = 18;
    o->width = o->width == 0 ? 1200 : o->width < 320 ? 320 : o->width > 20000 ? 20000 : o->width;
    f->inner = o->width - 2 * SP_FLAME_PAD;
    if (!(o->min_width > 0))
        o->min_width = 0.1;
    double most = f->inner, least = 0.001;
    f->min_thousandths = llround((o->min_width > most    ? most
                                  : o->min_width < least ? least
                                                         : o->min_width) *
                                 1000);
}

static enum sp_flame_sort sort_of(const struct sp_tree *t, const struct sp_tree_node *n)
{
    if (n->depth == 0)
        return SP_FLAME_ROOT;
    if (n->function == SP_NONE)
        return SP_FLAME_COMM;
    const struct sp_profile *p = t->profile;
    if (n->inferred == SP_INFERRED)
        return SP_FLAME_INFERRED;
    bool kernel = n->kind == SP_KERNEL;
    if ((n->frame != SP_NONE && p->frames.v[n->frame].flags & SP_FRAME_UNRESOLVED) ||
        sp_str_is(sp_pstr(p, p->functions.v[n->function].name), "[unknown]"))
        return kernel ? SP_FLAME_UNRESOLVED_KERNEL : SP_FLAME_UNRESOLVED;
    if (n->inlined)
        return kernel ? SP_FLAME_KERNEL_INLINED : SP_FLAME_USER_INLINED;
    return kernel ? SP_FLAME_KERNEL : n->kind == SP_USER ? SP_FLAME_USER : SP_FLAME_UNSTATED;
}

/* Where the next child of the frame last seen at each depth begins, and where that frame ends. */
struct edge {
    int64_t next, end;
};

static bool flamegraph_add_frame(struct sp_flame *f, uint32_t node, int64_t start, int64_t width)
{
    const struct sp_tree_node *n = &f->tree->nodes.v[node];
    struct sp_flame_frame r = {.node = node, .start = start, .width = width};
    r.sort = (uint8_t)sort_of(f->tree, n);
    struct sp_str name = sp_tree_name(f->tree, node);
    r.shade = (uint8_t)(sp_hash64(name.p, name.n < SHADED ? name.n : SHADED) % SP_FLAME_SHADES);
    const struct sp_diff_node *sides = sp_flame_sides(f, node);
    if (sides && node) {
        r.sort = (uint8_t)(SP_FLAME_GREW + sides->change);
        r.shade = sides->level;
    }
    r.fill = sp_flame_fill(f, &r);
    f->sorts[r.sort] = f->fills[r.fill] = true;
    if (n->depth + 1 > f->levels)
        f->levels = n->depth + 1;
    return sp_vec_push(&f->frames, r);
}

static void reset_frames(struct sp_flame *f)
{
    f->frames.n = 0;
    f->levels = 0;
    f->narrow = f->deep = f->weightless = 0;
    f->narrow_weight = f->deep_weight = 0;
    memset(f->sorts, 0, sizeof f->sorts);
    memset(f->fills, 0, sizeof f->fills);
}

/* Places the frames that are wide enough; false: out of memory. */
static bool place_frames(struct sp_flame *f, struct edge *edges)
{
    const struct sp_tree *t = f->tree;
    reset_frames(f);
    edges[0] = (struct edge){.next = 0, .end = f->total};
    for (uint32_t i = 0; i < t->nodes.n;) {
        const struct sp_tree_node *n = &t->nodes.v[i];
        struct edge *in = &edges[n->depth];
        int64_t start = f->opts.starts ? f->opts.starts[i] : in->next, left = in->end - start;
        int64_t width = n->total > left ? left : n->total;
        if (width <= 0) {
            f->weightless += n->end - i;
            i = n->end;
            continue;
        }
        in->next = start + width;
        if (n->depth >= SP_FLAME_LEVELS) {
            f->deep += n->end - i;
            f->deep_weight += width;
            i = n->end;
            continue;
        }
        if (n->depth > 0 && (__int128)width * f->inner * 1000 < (__int128)f->min_thousandths * f->total) {
            f->narrow += n->end - i;
            f->narrow_weight += width;
            i = n->end;
            continue;
        }
        if (f->frames.n >= SP_FLAME_FRAMES)
            return true;
        if (!flamegraph_add_frame(f, i, start, width))
            return false;
        edges[n->depth + 1] = (struct edge){.next = start, .end = start + width};
        i++;
    }
    return true;
}

/* Numbers the names and DSOs of the drawn frames in the order they appear. */
static bool number_labels(struct sp_flame *f)
{
    const struct sp_profile *p = f->tree->profile;
    size_t functions = p->functions.n, dsos = p->dsos.n;
    uint32_t *label_of = malloc((functions + dsos + 1) * sizeof *label_of);
    if (!label_of)
        return false;
    memset(label_of, 0xff, (functions + dsos + 1) * sizeof *label_of);
    uint32_t *dso_of = label_of + functions;
    bool ok = true;
    for (size_t i = 0; ok && i < f->frames.n; i++) {
        struct sp_flame_frame *r = &f->frames.v[i];
        uint32_t function = sp_flame_node(f, r)->function;
        struct sp_flame_label label = {.node = r->node, .dso = SP_NONE};
        r->label = (uint32_t)f->labels.n;
        if (function != SP_NONE) {
            if (label_of[function] != SP_NONE) {
                r->label = label_of[function];
                continue;
            }
            label_of[function] = r->label;
            uint32_t dso = p->functions.v[function].dso;
            if (dso < dsos && sp_pstr(p, p->dsos.v[dso].name).n > 0) {
                if (dso_of[dso] == SP_NONE) {
                    dso_of[dso] = (uint32_t)f->dsos.n;
                    ok = sp_vec_push(&f->dsos, dso);
                }
                label.dso = dso_of[dso];
            }
        }
        ok = ok && sp_vec_push(&f->labels, label);
    }
    free(label_of);
    return ok;
}

/* What labels show: functions' names as tables have them, others as they are. The tips have whole ones. */
static bool shorten_labels(struct sp_flame *f)
{
    size_t n = f->labels.n;
    struct sp_value_text *whole = calloc(n + 1, sizeof *whole);
    for (size_t i = 0; whole && i < n; i++) {
        struct sp_str name = sp_tree_name(f->tree, f->labels.v[i].node);
        whole[i] = (struct sp_value_text){name.p, name.n};
    }
    if (whole && !f->opts.full_names)
        f->shorts = sp_names_apart(whole, n, false, &f->arena);
    else if (whole)
        f->shorts = sp_arena_zalloc(&f->arena, (n + 1) * sizeof *f->shorts);
    for (size_t i = 0; f->shorts && i < n; i++)
        if (f->opts.full_names || f->tree->nodes.v[f->labels.v[i].node].function == SP_NONE)
            f->shorts[i] = whole[i];
    free(whole);
    return f->shorts != NULL;
}

spaa_status sp_flamegraph_svg(const struct sp_tree *t, const struct sp_flamegraph_opts *opts,
                              struct sp_diags *d, struct sp_output *out)
{
    struct sp_flame f = {.tree = t, .out = out};
    sp_buf_init(&f.b, 0);
    sp_arena_init(&f.arena, 0);
    complete_opts(&f, opts);
    struct edge *edges = malloc((SP_FLAME_LEVELS + 2) * sizeof *edges);
    bool ok = edges != NULL;
    f.total = t->nodes.n ? t->nodes.v[0].total : 0;
    for (bool again = true; ok && again; f.min_thousandths *= again ? 2 : 1) {
        ok = place_frames(&f, edges);
        again = f.frames.n >= SP_FLAME_FRAMES;
    }
    ok = ok && number_labels(&f) && shorten_labels(&f);
    if (ok) {
        sp_flame_draw(&f);
        sp_flame_data(&f);
        sp_buf_puts(&f.b, "</svg>\n");
        sp_flame_flush(&f);
        ok = !f.b.failed;
    }
    if (opts->drawn) /* the root is none */
        *opts->drawn = (struct sp_flamegraph_drawn){f.frames.n ? f.frames.n - 1 : 0, f.narrow + f.deep};
    free(edges);
    sp_vec_free(&f.frames);
    sp_vec_free(&f.labels);
    sp_vec_free(&f.dsos);
    sp_arena_free(&f.arena);
    sp_buf_free(&f.b);
    return ok ? SPAA_OK : sp_nomem(d);
}
