/*
 * The picture as it is without a script: in an <img>, on a page that allows none, in an image viewer.
 *
 * Frames wide enough for a label are a rectangle and a text, with a <title> that viewers show as a tip.
 * The narrower ones, nearly all of a large profile, have no element of their own: all those of one class
 * are one path, some twenty bytes each. Labels are cut here, for a monospaced font.
 */
#include "answer/text.h"
#include "base/num.h"
#include "render/flamegraph_private.h"

#include <stdio.h>

static int64_t x_of(const struct sp_flame *f, int64_t weight)
{
    __int128 inner = (__int128)f->inner * 100;
    return SP_FLAME_PAD * 100 + (int64_t)((weight * inner + f->total / 2) / f->total);
}

static unsigned y_of(const struct sp_flame *f, uint32_t depth)
{
    return f->head + (f->opts.inverted ? depth : f->levels - 1 - depth) * SP_FLAME_ROW;
}

/* Left edge and drawn width: a hair of space follows what is wide enough to spare it. */
static int64_t flamegraph_draw_place(const struct sp_flame *f, const struct sp_flame_frame *r, int64_t *x)
{
    *x = x_of(f, r->start);
    int64_t w = x_of(f, r->start + r->width) - *x;
    return w >= 400 ? w - 100 : w;
}

static void flamegraph_draw_add_text(struct sp_flame *f, const char *attributes, unsigned x, unsigned y,
                                     const char *p, size_t n)
{
    sp_buf_printf(&f->b, "<text %s x=\"%u\" y=\"%u\">", attributes, x, y);
    sp_xml_text(&f->b, p, n);
    sp_buf_puts(&f->b, "</text>\n");
}

/* The same, cut to the picture's width less `less` px. */
static void add_fit(struct sp_flame *f, const char *attributes, unsigned y, const char *s, unsigned font,
                    unsigned less)
{
    unsigned room = f->opts.width > less + 100 ? f->opts.width - less : 100;
    struct sp_buf t;
    sp_buf_init(&t, 0);
    if (sp_text_fit(&t, s, strlen(s), room * 10 / (font * 6)))
        flamegraph_draw_add_text(f, attributes, SP_FLAME_PAD, y, t.data ? t.data : "", t.len);
    else
        f->b.failed = true;
    sp_buf_free(&t);
}

/* "12 frames in 3 levels, whole 1,234 ns" */
static void add_extent(struct sp_flame *f)
{
    sp_text_grouped(&f->b, (int64_t)f->frames.n, 0);
    sp_buf_printf(&f->b, " frame%s in %u level%s, whole ", f->frames.n == 1 ? "" : "s", f->levels,
                  f->levels == 1 ? "" : "s");
    sp_flame_amount(f, f->opts.diff ? f->opts.diff->sides.v[0].total[SP_NEW] : f->total);
}

static void add_description(struct sp_flame *f)
{
    struct sp_buf *b = &f->b;
    sp_buf_puts(b, "<title id=\"sp-t\">");
    sp_xml_text(b, f->opts.title, strlen(f->opts.title));
    sp_buf_puts(b, "</title>\n<desc id=\"sp-d\">");
    if (f->opts.subtitle) {
        sp_xml_text(b, f->opts.subtitle, strlen(f->opts.subtitle));
        sp_buf_puts(b, ". ");
    }
    sp_buf_puts(b, "A flame graph of sampled call stacks: ");
    add_extent(f);
    sp_buf_printf(b, ". The width of a frame is its share of the whole; a frame stands %s the frame it %s. ",
                  f->opts.inverted ? "below" : "above", f->opts.inverted ? "called" : "was called by");
    if (f->opts.starts)
        sp_buf_puts(
            b, "From left to right is the order of time in each thread; what was not sampled between has no "
               "width. ");
    if (f->opts.diff)
        sp_buf_puts(
            b, "Colours compare with a base: red frames have a larger share than there, blue ones a smaller "
               "one; vanished frames are as wide as they were. ");
    if (f->opts.states)
        sp_buf_puts(
            b,
            "Colours and hatching tell what threads did there: what nine tenths of a frame are; others are "
            "pale, with a strip of the shares along their upper edge. ");
    for (unsigned i = 0; i < 4; i++)
        if (sp_flame_note(f, i, b))
            sp_buf_puts(b, ". ");
    sp_buf_puts(b, "</desc>\n");
}

/* Kernel frames are hatched. A pattern per shade, its colours from the style. */
static void add_patterns(struct sp_flame *f)
{
    sp_buf_puts(&f->b, "<defs>\n");
    if (f->opts.states)
        sp_flame_state_patterns(f);
    for (unsigned i = 0; i <= SP_FLAME_SHADES + (f->opts.diff ? 1 : 0); i++) {
        char name[2] = {i < SP_FLAME_SHADES ? 'k' : i > SP_FLAME_SHADES ? 'v' : 'h', '0'};
        name[1] = (char)(i < SP_FLAME_SHADES ? '0' + i : '0');
        sp_buf_printf(&f->b,
                      "<pattern id=\"sp-%.2s\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
                      "patternTransform=\"rotate(45)\"><path class=\"%.2sf\" d=\"M0 0h7v7h-7\"/>"
                      "<path class=\"%.2sl\" d=\"M0 0h2v7h-2\"/></pattern>\n",
                      name, name, name);
    }
    sp_buf_puts(&f->b, "</defs>\n");
}

static void add_label(struct sp_flame *f, const struct sp_flame_frame *r, int64_t x, int64_t w, unsigned y)
{
    size_t columns = (size_t)((w - 600) / (SP_FLAME_CHAR_TENTHS * 10));
    struct sp_value_text name = f->shorts[r->label];
    struct sp_buf t;
    sp_buf_init(&t, 0);
    bool ok = sp_text_fit(&t, name.p, name.n, columns);
    bool says_little = columns < 3 && t.len > columns; /* "f…" */
    if (ok && !says_little) {
        sp_buf_puts(&f->b, "<text x=\"");
        sp_flame_px(&f->b, x + 300);
        sp_buf_printf(&f->b, "\" y=\"%u\"", y + 13);
        if (r->sort == SP_FLAME_COMM ||
            (r->sort >= SP_FLAME_UNRESOLVED && r->sort <= SP_FLAME_UNRESOLVED_KERNEL) ||
            r->sort >= SP_FLAME_NEW)
            sp_buf_printf(&f->b, " class=\"t%c\"", SP_FLAME_LETTERS[r->sort]);
        sp_buf_ch(&f->b, '>');
        sp_xml_text(&f->b, t.data ? t.data : "", t.len);
        sp_buf_puts(&f->b, "</text>");
    }
    f->b.failed |= !ok;
    sp_buf_free(&t);
}

/* ": base 1,234 ns (1.20%), new 2,345 ns (2.10%)" */
static void flamegraph_draw_add_sides(struct sp_flame *f, const struct sp_diff_node *sides)
{
    const struct sp_diff_node *all = &f->opts.diff->sides.v[0];
    for (unsigned i = 0; i < SP_SIDES; i++) {
        sp_buf_puts(&f->b, i == SP_BASE ? ": base " : ", new ");
        sp_flame_amount(f, sides->total[i]);
        sp_buf_puts(&f->b, " (");
        sp_text_percent(&f->b, sides->total[i], all->total[i]);
        sp_buf_puts(&f->b, "%)");
    }
}

static void add_tip(struct sp_flame *f, const struct sp_flame_frame *r)
{
    const struct sp_tree_node *n = sp_flame_node(f, r);
    struct sp_str name = sp_tree_name(f->tree, r->node);
    struct sp_buf t;
    sp_buf_init(&t, 0);
    if (!sp_text_fit(&t, name.p, name.n, 200))
        f->b.failed = true;
    sp_buf_puts(&f->b, "<title>");
    sp_xml_text(&f->b, t.data ? t.data : "", t.len);
    sp_buf_free(&t);
    const struct sp_diff_node *sides = sp_flame_sides(f, r->node);
    if (sides) {
        flamegraph_draw_add_sides(f, sides);
    } else {
        sp_flame_weight(f, ": total ", n->total, f->total);
        sp_flame_weight(f, ", self ", n->self, f->total);
    }
    if (r->sort != SP_FLAME_ROOT)
        sp_buf_printf(&f->b, ", %s", sp_flame_sort_words(r->sort));
    if (f->opts.states)
        sp_flame_state_tip(f, r);
    sp_buf_puts(&f->b, "</title>");
}

static void flamegraph_draw_add_frame(struct sp_flame *f, const struct sp_flame_frame *r, int64_t x,
                                      int64_t w)
{
    unsigned y = y_of(f, sp_flame_node(f, r)->depth);
    bool dashed = sp_flame_dashed(r->sort);
    unsigned inset = dashed ? 50 : 0; /* the line of dashes stays inside */
    char class[4];
    sp_flame_class(r->fill, class);
    sp_buf_puts(&f->b, "<g>");
    add_tip(f, r);
    sp_buf_printf(&f->b, "<rect class=\"%s%s\" x=\"", class, dashed ? " d" : "");
    sp_flame_px(&f->b, x + inset);
    sp_buf_puts(&f->b, "\" y=\"");
    sp_flame_px(&f->b, y * 100 + inset);
    sp_buf_puts(&f->b, "\" width=\"");
    sp_flame_px(&f->b, w - 2 * inset);
    sp_buf_printf(&f->b, "\" height=\"%d\"/>", SP_FLAME_ROW - 1 - (dashed ? 1 : 0));
    if (f->opts.states)
        sp_flame_state_strip(f, r, x, y, w);
    add_label(f, r, x, w, y);
    sp_buf_puts(&f->b, "</g>\n");
    sp_flame_flush_some(f);
}

/* All narrow frames of one class as one path. */
static void add_narrow(struct sp_flame *f, unsigned fill)
{
    bool any = false;
    char class[4];
    sp_flame_class(fill, class);
    for (size_t i = 0; i < f->frames.n; i++) {
        const struct sp_flame_frame *r = &f->frames.v[i];
        if (r->fill != fill)
            continue;
        int64_t x, w = flamegraph_draw_place(f, r, &x);
        if (w >= SP_FLAME_LABELLED * 100)
            continue;
        if (!any)
            sp_buf_printf(&f->b, "<path class=\"%s\" d=\"", class);
        any = true;
        sp_buf_ch(&f->b, 'M');
        sp_flame_px(&f->b, x);
        sp_buf_printf(&f->b, " %uh", y_of(f, sp_flame_node(f, r)->depth));
        sp_flame_px(&f->b, w < 5 ? 5 : w);
        sp_buf_printf(&f->b, "v%dH", SP_FLAME_ROW - 1);
        sp_flame_px(&f->b, x);
        sp_flame_flush_some(f);
    }
    if (any)
        sp_buf_puts(&f->b, "\"/>\n");
}

static void flamegraph_draw_add_frames(struct sp_flame *f)
{
    sp_buf_puts(&f->b, "<g id=\"sp-frames\">\n");
    for (unsigned fill = 0; fill < SP_FLAME_FILLS; fill++)
        if (f->fills[fill])
            add_narrow(f, fill);
    for (size_t i = 0; i < f->frames.n; i++) {
        int64_t x, w = flamegraph_draw_place(f, &f->frames.v[i], &x);
        if (w >= SP_FLAME_LABELLED * 100)
            flamegraph_draw_add_frame(f, &f->frames.v[i], x, w);
    }
    sp_buf_puts(&f->b, "</g>\n");
}

/* A sample of each sort of frame that is there, with what it is. */
static unsigned sorts_legend(struct sp_flame *f, unsigned y, bool draws)
{
    static const char *const marks[SP_FLAME_SORTS] = {
        NULL,
        "thread (bold)",
        "user",
        "inlined (dashed)",
        "kernel (hatched)",
        "kernel, inlined (both)",
        "frames of no stated kind",
        "unresolved (italic)",
        "unresolved kernel (hatched, italic)",
        "share grew",
        "share shrank",
        "about the same",
        "new (bold, dashed)",
        "vanished (italic, hatched)",
        "inferred (italic, dashed)",
    };
    struct sp_flame_items l;
    sp_flame_items_begin(f, &l, y, draws);
    for (unsigned s = SP_FLAME_COMM; s < SP_FLAME_SORTS; s++) {
        if (!f->sorts[s])
            continue;
        char letter = SP_FLAME_LETTERS[s];
        unsigned shade = s == SP_FLAME_GREW || s == SP_FLAME_SHRANK ? 4 : 0;
        char box[16], text[8];
        struct sp_buf words;
        snprintf(box, sizeof box, "%c%u%s", letter, shade, sp_flame_dashed(s) ? " d" : "");
        snprintf(text, sizeof text, "m t%c", letter);
        sp_buf_init(&words, 0);
        sp_buf_puts(&words, marks[s]);
        sp_flame_item(f, &l, box, text, &words,
                      28 + (unsigned)words.len * (s == SP_FLAME_NEW ? 75 : 65) / 10 + 18);
        f->b.failed |= words.failed;
        sp_buf_free(&words);
    }
    return sp_flame_items_end(f, &l);
}

unsigned sp_flame_legend(struct sp_flame *f, unsigned y, bool draws)
{
    return f->opts.states ? sp_flame_state_legend(f, y, draws) : sorts_legend(f, y, draws);
}

/* Title, subtitle, notes, legend, and two lines that the script turns into the details of a frame. */
static void add_head(struct sp_flame *f)
{
    unsigned y = 26;
    sp_buf_printf(&f->b, "<g id=\"sp-head\"><rect class=\"bg\" id=\"sp-back\" width=\"%u\" height=\"%u\"/>\n",
                  f->opts.width, f->head - 4);
    add_fit(f, "id=\"sp-title\" class=\"h1\"", y, f->opts.title, 20, 20); /* bold is wider */
    y += 20;
    if (f->opts.subtitle)
        add_fit(f, "id=\"sp-sub\" class=\"m\"", y, f->opts.subtitle, 13, 20);
    y += 20;
    y += (sp_flame_legend(f, y, true) - 1) * SP_FLAME_NOTE;
    sp_buf_puts(&f->b, "<g id=\"sp-below\">\n"); /* which the script moves with the lines of the legend */
    for (unsigned i = 0; i < 4; i++) {
        struct sp_buf t;
        sp_buf_init(&t, 0);
        if (sp_flame_note(f, i, &t)) {
            y += SP_FLAME_NOTE;
            add_fit(f, "class=\"note\"", y, sp_buf_cstr(&t), 13, 20);
        }
        f->b.failed |= t.failed;
        sp_buf_free(&t);
    }
    sp_buf_printf(&f->b, "<path class=\"rule\" id=\"sp-rule\" d=\"M0 %u.5h%u\"/>\n", y + 8, f->opts.width);
    sp_buf_printf(&f->b, "<text id=\"sp-name\" class=\"name\" x=\"%d\" y=\"%u\">", SP_FLAME_PAD, y + 26);
    if (f->frames.n)
        sp_buf_puts(&f->b, "all");
    sp_buf_printf(&f->b, "</text>\n<text id=\"sp-facts\" x=\"%d\" y=\"%u\">", SP_FLAME_PAD, y + 43);
    add_extent(f);
    sp_buf_puts(&f->b, "</text>\n</g>\n</g>\n");
}

static void flamegraph_draw_measure(struct sp_flame *f)
{
    f->head = 66 + 8 + 46 + (sp_flame_legend(f, 0, false) - 1) * SP_FLAME_NOTE;
    for (unsigned i = 0; i < 4; i++) {
        struct sp_buf t;
        sp_buf_init(&t, 0);
        if (sp_flame_note(f, i, &t))
            f->head += SP_FLAME_NOTE;
        f->b.failed |= t.failed;
        sp_buf_free(&t);
    }
}

void sp_flame_draw(struct sp_flame *f)
{
    flamegraph_draw_measure(f);
    unsigned height = f->head + f->levels * SP_FLAME_ROW + SP_FLAME_PAD;
    sp_buf_printf(&f->b,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"sp-flame\" xml:lang=\"en\" width=\"%u\" "
                  "height=\"%u\" "
                  "viewBox=\"0 0 %u %u\" role=\"img\" aria-labelledby=\"sp-t\" aria-describedby=\"sp-d\">\n",
                  f->opts.width, height, f->opts.width, height);
    add_description(f);
    sp_buf_puts(&f->b, "<style>\n");
    if (f->opts.states)
        sp_buf_add(&f->b, sp_flamegraph_states_css, sp_flamegraph_states_css_n);
    else
        sp_buf_add(&f->b, sp_flamegraph_css, sp_flamegraph_css_n);
    sp_buf_puts(&f->b, "</style>\n");
    add_patterns(f);
    sp_buf_puts(&f->b, "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
    flamegraph_draw_add_frames(f);
    add_head(f);
    sp_flame_flush(f);
}
