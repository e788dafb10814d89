/*
 * What the script reads: one JSON object in a script element, and the script itself.
 *
 *     {"title", "subtitle", "notes":[…], "unit", "scale", "inverted", "head", "legend", "levels", "diff" (or
 * not), "states":[name…], "stateLetters":"uy…" (or neither), "dsos":[name…], "labels":[name…],
 * "shorts":{number in labels: what is shown instead…}, "labelDsos":[number in dsos or -1…], "shades":"025…"
 * (per label), "frames":[…]}
 *
 * `frames` is flat, root first, depth first; per frame:
 *
 *     up      levels to go up from the frame before before going one down: 0 is a child of it
 *     label   number in labels
 *     code    sort (SP_FLAME_LETTERS), + 16 gap follows, + 32 self follows (else: self = total),
 *             + 64 samples follow, + 128 samples = total (neither: not known)
 *     total, then as the code says
 *     gap     weight between the end of the sibling before, or else the start of the parent, and this
 *     self, samples
 *     of comparisons (`diff`): base total, new total, level
 *     of pictures with states: a mask of bits by `states`; where there are several, the weight of each
 *
 * Integers that a double cannot hold are strings.
 */
#include "answer/text.h"
#include "base/num.h"
#include "render/flamegraph_private.h"

#define NAME_COLUMNS 2000 /* longer names lose their middle */

static void flamegraph_data_add_string(struct sp_flame *f, const char *p, size_t n)
{
    struct sp_buf t;
    sp_buf_init(&t, 0);
    sp_buf_ch(&f->b, '"');
    if (!sp_text_fit(&t, p, n, NAME_COLUMNS) || !sp_json_text(&f->b, t.data ? t.data : "", t.len))
        f->b.failed = true;
    sp_buf_ch(&f->b, '"');
    sp_buf_free(&t);
    sp_flame_flush_some(f);
}

static void flamegraph_data_add_names(struct sp_flame *f)
{
    struct sp_buf *b = &f->b;
    const struct sp_profile *p = f->tree->profile;
    sp_buf_puts(b, ",\n\"dsos\":[");
    for (size_t i = 0; i < f->dsos.n; i++) {
        sp_buf_puts(b, i ? "," : "");
        struct sp_str name = sp_pstr(p, p->dsos.v[f->dsos.v[i]].name);
        flamegraph_data_add_string(f, name.p, name.n);
    }
    sp_buf_puts(b, "],\n\"labels\":[");
    for (size_t i = 0; i < f->labels.n; i++) {
        sp_buf_puts(b, i ? "," : "");
        struct sp_str name = sp_tree_name(f->tree, f->labels.v[i].node);
        flamegraph_data_add_string(f, name.p, name.n);
    }
    sp_buf_puts(b, "],\n\"shorts\":{");
    bool any = false;
    for (size_t i = 0; i < f->labels.n; i++) {
        struct sp_str name = sp_tree_name(f->tree, f->labels.v[i].node);
        if (!sp_value_text_cmp(f->shorts[i], (struct sp_value_text){name.p, name.n}))
            continue;
        sp_buf_puts(b, any ? ",\"" : "\"");
        sp_buf_u64(b, i);
        sp_buf_puts(b, "\":");
        flamegraph_data_add_string(f, f->shorts[i].p, f->shorts[i].n);
        any = true;
    }
    sp_buf_puts(b, "},\n\"labelDsos\":[");
    for (size_t i = 0; i < f->labels.n; i++) {
        sp_buf_puts(b, i ? "," : "");
        sp_buf_i64(b, f->labels.v[i].dso == SP_NONE ? -1 : (int64_t)f->labels.v[i].dso);
        sp_flame_flush_some(f);
    }
    sp_buf_puts(b, "]");
}

static void flamegraph_data_add_sides(struct sp_flame *f, const struct sp_diff_node *sides)
{
    sp_flame_number(f, sides->total[SP_BASE]);
    sp_flame_number(f, sides->total[SP_NEW]);
    sp_flame_number(f, sides->level);
}

static void flamegraph_data_add_frames(struct sp_flame *f)
{
    struct sp_buf *b = &f->b;
    int64_t ends[SP_FLAME_LEVELS + 1]; /* of the frame last seen per depth; its start for the one below */
    uint32_t depth = 0;
    sp_buf_puts(b, ",\n\"frames\":[");
    for (size_t i = 0; i < f->frames.n; i++) {
        const struct sp_flame_frame *r = &f->frames.v[i];
        const struct sp_tree_node *n = sp_flame_node(f, r);
        int64_t gap = i ? r->start - ends[n->depth] : 0;
        bool same = n->samples == n->total && f->opts.scale == 0;
        unsigned code = r->sort + (gap ? 16u : 0) + (n->self != n->total ? 32u : 0) +
                        (n->samples == SP_ABSENT ? 0
                         : same                  ? 128u
                                                 : 64u);
        sp_buf_puts(b, i ? "," : "");
        sp_buf_u64(b, i ? depth + 1 - n->depth : 0);
        sp_flame_number(f, r->label);
        sp_flame_number(f, code);
        sp_flame_number(f, n->total);
        if (code & 16)
            sp_flame_number(f, gap);
        if (code & 32)
            sp_flame_number(f, n->self);
        if (code & 64)
            sp_flame_number(f, n->samples);
        if (f->opts.diff)
            flamegraph_data_add_sides(f, sp_flame_sides(f, r->node));
        if (f->opts.states)
            sp_flame_state_data(f, r);
        if (i % 16 == 15)
            sp_buf_ch(b, '\n');
        depth = n->depth;
        ends[depth] = r->start + r->width;
        ends[depth + 1] = r->start;
        sp_flame_flush_some(f);
    }
    sp_buf_puts(b, "]");
}

static void add_shades(struct sp_flame *f)
{
    sp_buf_puts(&f->b, ",\n\"shades\":\"");
    uint32_t next = 0;
    for (size_t i = 0; i < f->frames.n; i++) {
        if (f->frames.v[i].label != next) /* labels are numbered in the order of their first frames */
            continue;
        sp_buf_ch(&f->b, (char)('0' + f->frames.v[i].shade));
        next++;
        sp_flame_flush_some(f);
    }
    sp_buf_puts(&f->b, "\"");
}

static void add_notes(struct sp_flame *f)
{
    bool any = false;
    sp_buf_puts(&f->b, ",\n\"notes\":[");
    for (unsigned i = 0; i < 4; i++) {
        struct sp_buf t;
        sp_buf_init(&t, 0);
        if (sp_flame_note(f, i, &t)) {
            sp_buf_puts(&f->b, any ? "," : "");
            flamegraph_data_add_string(f, t.data ? t.data : "", t.len);
            any = true;
        }
        f->b.failed |= t.failed;
        sp_buf_free(&t);
    }
    sp_buf_puts(&f->b, "]");
}

void sp_flame_data(struct sp_flame *f)
{
    struct sp_buf *b = &f->b;
    sp_buf_puts(b, "<script type=\"application/json\" id=\"sp-data\">{\"title\":");
    flamegraph_data_add_string(f, f->opts.title, strlen(f->opts.title));
    sp_buf_puts(b, ",\"subtitle\":");
    flamegraph_data_add_string(f, f->opts.subtitle ? f->opts.subtitle : "",
                               f->opts.subtitle ? strlen(f->opts.subtitle) : 0);
    sp_buf_puts(b, ",\"unit\":");
    flamegraph_data_add_string(f, f->opts.unit, strlen(f->opts.unit));
    sp_buf_printf(b, ",\"scale\":%u,\"inverted\":%s,\"head\":%u,\"legend\":%u,\"levels\":%u", f->opts.scale,
                  f->opts.inverted ? "true" : "false", f->head, sp_flame_legend(f, 0, false), f->levels);
    sp_buf_puts(b, f->opts.diff ? ",\"diff\":true" : "");
    if (f->opts.states)
        sp_flame_state_names(f);
    add_notes(f);
    flamegraph_data_add_names(f);
    add_shades(f);
    flamegraph_data_add_frames(f);
    sp_buf_puts(b, "}</script>\n<script>//<![CDATA[\n(function () {\n'use strict';\n");
    if (f->opts.states)
        sp_buf_add(b, sp_flamegraph_states_js, sp_flamegraph_states_js_n);
    else
        sp_buf_add(b, sp_flamegraph_js, sp_flamegraph_js_n);
    sp_buf_puts(b, "})();\n//]]></script>\n");
}
