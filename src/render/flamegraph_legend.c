/* Lines of a legend, as wide as the picture; the script breaks them anew where the window is narrower. */
#include "answer/text.h"
#include "render/flamegraph_private.h"

void sp_flame_items_begin(struct sp_flame *f, struct sp_flame_items *l, unsigned y, bool draws)
{
    *l = (struct sp_flame_items){SP_FLAME_PAD, y, 1, draws};
    sp_buf_puts(&f->b, draws ? "<g id=\"sp-legend\">" : "");
}

void sp_flame_item(struct sp_flame *f, struct sp_flame_items *l, const char *box, const char *text,
                   const struct sp_buf *words, unsigned wide)
{
    if (l->x > SP_FLAME_PAD && l->x + wide > f->opts.width) {
        l->x = SP_FLAME_PAD;
        l->lines++;
    }
    if (l->draws) {
        sp_buf_printf(&f->b, "<g transform=\"translate(%u %u)\">", l->x,
                      l->y + (l->lines - 1) * SP_FLAME_NOTE);
        if (*box)
            sp_buf_printf(&f->b, "<rect class=\"%s\" x=\".5\" y=\"-10.5\" width=\"22\" height=\"12\"/>", box);
        sp_buf_printf(&f->b, "<text class=\"%s\"%s>", text, *box ? " x=\"28\"" : "");
        sp_xml_text(&f->b, words->data ? words->data : "", words->len);
        sp_buf_puts(&f->b, "</text></g>\n");
    }
    l->x += wide;
}

unsigned sp_flame_items_end(struct sp_flame *f, const struct sp_flame_items *l)
{
    sp_buf_puts(&f->b, l->draws ? "</g>\n" : "");
    return l->lines;
}
