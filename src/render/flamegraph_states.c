/*
 * Pictures of what threads did: colours, hatching and tips by state, and a legend with the time of each.
 *
 * A frame of which nine tenths are one state has that state's pattern. Others are pale. Where more than a
 * hundredth is of other states, a strip along the upper edge has the shares, in the order of the legend.
 */
#include "answer/text.h"
#include "answer/words.h"
#include "base/num.h"
#include "render/flamegraph_private.h"

static const int64_t *flame_states_of(const struct sp_flame *f, uint32_t node)
{
    return f->opts.states->of + (size_t)node * SP_STATE_CLASSES;
}

/* The state that so many hundredths of a node are in; SP_FLAME_MIXED: none. */
static unsigned flame_states_main(const struct sp_flame *f, uint32_t node, unsigned hundredths)
{
    const int64_t *of = flame_states_of(f, node);
    for (unsigned c = 0; c < SP_STATE_CLASSES; c++)
        if ((__int128)of[c] * 100 >= (__int128)f->tree->nodes.v[node].total * hundredths)
            return c;
    return SP_FLAME_MIXED;
}

uint8_t sp_flame_fill(const struct sp_flame *f, const struct sp_flame_frame *r)
{
    if (!f->opts.states)
        return (uint8_t)(r->sort * SP_FLAME_SHADES + sp_flame_shade(r));
    if (r->sort == SP_FLAME_ROOT || r->sort == SP_FLAME_COMM)
        return SP_FLAME_ROOT * SP_FLAME_SHADES;
    unsigned state = flame_states_main(f, r->node, 90);
    unsigned shade = state == SP_STATE_RUNNING ? r->shade : r->shade % SP_FLAME_STATE_SHADES;
    return (uint8_t)((SP_FLAME_SORTS + state) * SP_FLAME_SHADES + shade);
}

void sp_flame_class(unsigned fill, char out[4])
{
    unsigned kind = fill / SP_FLAME_SHADES;
    out[0] = kind < SP_FLAME_SORTS ? SP_FLAME_LETTERS[kind] : SP_FLAME_STATE_LETTERS[kind - SP_FLAME_SORTS];
    out[1] = (char)('0' + fill % SP_FLAME_SHADES);
    out[2] = 0;
}

static const char *flame_states_name(const struct sp_flame *f, unsigned c)
{
    return c == SP_STATE_RUNNING && f->opts.running ? f->opts.running : sp_state_class_names[c];
}

/* A pattern for each state but running and those without a pattern, in each shade. */
void sp_flame_state_patterns(struct sp_flame *f)
{
    static const struct {
        char letter;
        const char *size, *turn, *marks;
    } patterns[] = {
        {'y', "7", "rotate(45)", "M0 0h2.5v7h-2.5"}, {'l', "7", "rotate(-45)", "M0 0h2v7h-2"},
        {'f', "5", "rotate(0)", "M0 0h5v1.5h-5"},    {'s', "6", "rotate(45)", "M0 0h2v2h-2"},
        {'o', "6", "rotate(0)", "M0 0h1.5v6h-1.5"},  {'z', "9", "rotate(45)", "M0 0h2v2h-2"},
    };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (unsigned shade = 0; shade < SP_FLAME_STATE_SHADES; shade++)
            sp_buf_printf(&f->b,
                          "<pattern id=\"sp-%c%u\" width=\"%s\" height=\"%s\" "
                          "patternUnits=\"userSpaceOnUse\" patternTransform=\"%s\"><path class=\"%c%uf\" "
                          "d=\"M0 0h9v9h-9\"/><path class=\"%cl\" d=\"%s\"/></pattern>\n",
                          patterns[i].letter, shade, patterns[i].size, patterns[i].size, patterns[i].turn,
                          patterns[i].letter, shade, patterns[i].letter, patterns[i].marks);
}

/* ---- frames ---- */

static unsigned flame_states_mask(const struct sp_flame *f, uint32_t node)
{
    const int64_t *of = flame_states_of(f, node);
    unsigned mask = 0;
    for (unsigned c = 0; c < SP_STATE_CLASSES; c++)
        mask |= (of[c] != 0 ? 1u : 0u) << c;
    return mask;
}

void sp_flame_state_strip(struct sp_flame *f, const struct sp_flame_frame *r, int64_t x, unsigned y,
                          int64_t w)
{
    const int64_t *of = flame_states_of(f, r->node);
    int64_t whole = sp_flame_node(f, r)->total, before = 0;
    if (flame_states_main(f, r->node, 99) != SP_FLAME_MIXED)
        return;
    for (unsigned c = 0; c < SP_STATE_CLASSES; c++) {
        int64_t from = (int64_t)((__int128)w * before / whole);
        before += of[c];
        int64_t to = (int64_t)((__int128)w * before / whole);
        if (to <= from)
            continue;
        sp_buf_printf(&f->b, "<path class=\"%cm\" d=\"M", SP_FLAME_STATE_LETTERS[c]);
        sp_flame_px(&f->b, x + from);
        sp_buf_printf(&f->b, " %uh", y);
        sp_flame_px(&f->b, to - from);
        sp_buf_printf(&f->b, "v%dH", SP_FLAME_STRIP);
        sp_flame_px(&f->b, x + from);
        sp_buf_puts(&f->b, "\"/>");
    }
}

void sp_flame_state_tip(struct sp_flame *f, const struct sp_flame_frame *r)
{
    const int64_t *of = flame_states_of(f, r->node);
    unsigned mask = flame_states_mask(f, r->node);
    for (unsigned c = 0; c < SP_STATE_CLASSES; c++) {
        if (!of[c])
            continue;
        sp_buf_printf(&f->b, ", %s", flame_states_name(f, c));
        if (mask & (mask - 1))
            sp_flame_weight(f, " ", of[c], sp_flame_node(f, r)->total);
    }
}

/* ---- the legend ---- */

static void flame_states_words(struct sp_flame *f, unsigned entry, struct sp_buf *out)
{
    int64_t v = entry < SP_STATE_CLASSES ? f->opts.states->total[entry] : f->opts.idle;
    struct sp_str unit = {f->opts.unit, (uint32_t)strlen(f->opts.unit)};
    if (entry == SP_FLAME_MIXED) {
        sp_buf_puts(out, "mixed: a strip tells the shares");
        return;
    }
    sp_buf_printf(out, "%s ", entry < SP_STATE_CLASSES ? flame_states_name(f, entry) : "left out: idle");
    sp_text_weight(out, unit, f->opts.scale, v);
    if (entry < SP_STATE_CLASSES) {
        sp_buf_puts(out, " (");
        sp_text_percent(out, v, f->total);
        sp_buf_puts(out, "%)");
    } else {
        sp_buf_puts(out, " (--idle)");
    }
}

static bool flame_states_listed(const struct sp_flame *f, unsigned entry)
{
    if (entry < SP_STATE_CLASSES)
        return f->opts.states->total[entry] != 0;
    for (unsigned shade = 0; entry == SP_FLAME_MIXED && shade < SP_FLAME_SHADES; shade++)
        if (f->fills[(SP_FLAME_SORTS + SP_FLAME_MIXED) * SP_FLAME_SHADES + shade])
            return true;
    return entry > SP_FLAME_MIXED && f->opts.idle != 0;
}

unsigned sp_flame_state_legend(struct sp_flame *f, unsigned y, bool draws)
{
    struct sp_flame_items l;
    sp_flame_items_begin(f, &l, y, draws);
    for (unsigned entry = 0; entry <= SP_FLAME_MIXED + 1; entry++) {
        struct sp_buf words;
        if (!flame_states_listed(f, entry))
            continue;
        sp_buf_init(&words, 0);
        flame_states_words(f, entry, &words);
        char box[3] = {0};
        if (entry <= SP_FLAME_MIXED) {
            box[0] = SP_FLAME_STATE_LETTERS[entry];
            box[1] = '0';
        }
        sp_flame_item(f, &l, box, "m", &words, (*box ? 28 : 0) + (unsigned)words.len * 66 / 10 + 18);
        f->b.failed |= words.failed;
        sp_buf_free(&words);
    }
    return sp_flame_items_end(f, &l);
}

/* ---- for the script ---- */

void sp_flame_state_names(struct sp_flame *f)
{
    sp_buf_puts(&f->b, ",\"states\":[");
    for (unsigned c = 0; c < SP_STATE_CLASSES; c++)
        sp_buf_printf(&f->b, "%s\"%s\"", c ? "," : "", flame_states_name(f, c));
    sp_buf_puts(&f->b, "],\"stateLetters\":\"" SP_FLAME_STATE_LETTERS "\"");
}

void sp_flame_state_data(struct sp_flame *f, const struct sp_flame_frame *r)
{
    const int64_t *of = flame_states_of(f, r->node);
    unsigned mask = flame_states_mask(f, r->node);
    sp_flame_number(f, mask);
    for (unsigned c = 0; c < SP_STATE_CLASSES && mask & (mask - 1); c++)
        if (of[c])
            sp_flame_number(f, of[c]);
}
