/* Words of flame graphs that the picture and the data of the script share, and the way to the output. */
#include "answer/text.h"
#include "answer/words.h"
#include "base/num.h"
#include "render/flamegraph_private.h"

void sp_flame_flush(struct sp_flame *f)
{
    if (f->b.failed)
        return;
    if (f->b.len)
        sp_write(f->out, f->b.data, f->b.len);
    sp_buf_clear(&f->b);
}

/* ---- amounts ---- */

/* A length in hundredths of a px as SVG writes it: "12.5", ".25", "7". */
void sp_flame_px(struct sp_buf *b, int64_t hundredths)
{
    if (hundredths >= 100 || hundredths % 100 == 0)
        sp_buf_i64(b, hundredths / 100);
    unsigned rest = (unsigned)(hundredths % 100);
    if (rest) {
        char t[3] = {'.', (char)('0' + rest / 10), (char)('0' + rest % 10)};
        sp_buf_add(b, t, rest % 10 ? 3 : 2);
    }
}

void sp_flame_amount(struct sp_flame *f, int64_t v)
{
    sp_text_grouped(&f->b, v, f->opts.scale);
    if (f->opts.unit[0]) {
        sp_buf_ch(&f->b, ' ');
        sp_xml_text(&f->b, f->opts.unit, strlen(f->opts.unit));
    }
    bool bytes = strcmp(f->opts.unit, "bytes") == 0;
    bool time = strcmp(f->opts.unit, "ns") == 0 && !f->opts.scale && (v >= 1000 || v <= -1000);
    if (bytes || time) { /* as the script says it: short() of flamegraph_model.js */
        sp_buf_puts(&f->b, " = ");
        sp_text_weight(&f->b, (struct sp_str){f->opts.unit, (uint32_t)strlen(f->opts.unit)}, f->opts.scale,
                       v);
    }
}

void sp_flame_weight(struct sp_flame *f, const char *what, int64_t v, int64_t of)
{
    sp_buf_puts(&f->b, what);
    sp_flame_amount(f, v);
    sp_buf_puts(&f->b, " (");
    sp_text_percent(&f->b, v, of);
    sp_buf_puts(&f->b, "%)");
}

void sp_flame_number(struct sp_flame *f, int64_t v)
{
    const int64_t exact = (int64_t)1 << 53;
    bool quoted = v > exact || v < -exact;
    sp_buf_puts(&f->b, quoted ? ",\"" : ",");
    sp_buf_i64(&f->b, v);
    if (quoted)
        sp_buf_ch(&f->b, '"');
}

/* ---- words ---- */

const char *sp_flame_sort_words(enum sp_flame_sort s)
{
    static const char *const words[SP_FLAME_SORTS] = {
        "everything",
        "thread",
        "user",
        "inlined",
        "kernel",
        "kernel, inlined",
        "kind not stated",
        "unresolved",
        "kernel, unresolved",
        "share grew",
        "share shrank",
        "share about the same",
        "new",
        "vanished",
        "inferred",
    };
    return words[s];
}

static void note_narrow(struct sp_flame *f, struct sp_buf *out)
{
    char least[64];
    bool one = f->narrow == 1;
    sp_scaled_text(f->min_thousandths, 3, least);
    sp_text_grouped(out, (int64_t)f->narrow, 0);
    sp_buf_printf(out, " frame%s narrower than %s px (", one ? "" : "s", least);
    sp_text_percent(out, f->narrow_weight, f->total);
    sp_buf_printf(
        out,
        "%% of the weight) %s not drawn, and zooming does not show %s; --root-at or --focus draws a "
        "part larger",
        one ? "is" : "are", one ? "it" : "them");
}

bool sp_flame_note(struct sp_flame *f, unsigned i, struct sp_buf *out)
{
    if (i == 0 && f->total <= 0) {
        sp_buf_puts(out, "There is nothing to draw: the weights add up to ");
        sp_text_grouped(out, f->total, f->opts.scale);
    } else if (i == 0 && f->narrow) {
        note_narrow(f, out);
    } else if (i == 1 && f->deep) {
        sp_text_grouped(out, (int64_t)f->deep, 0);
        sp_buf_printf(out, " frames more than %d levels deep (", SP_FLAME_LEVELS);
        sp_text_percent(out, f->deep_weight, f->total);
        sp_buf_puts(out, "% of the weight) are not drawn");
    } else if (i == 2 && f->weightless && f->total > 0) {
        sp_text_grouped(out, (int64_t)f->weightless, 0);
        sp_buf_puts(out, " frames have no positive weight and are not drawn");
    } else if (i == 3 && f->tree->pruned) {
        sp_text_grouped(out, f->tree->pruned, 0);
        sp_buf_puts(out, " frames (");
        sp_text_percent(out, f->tree->pruned_total, f->total);
        sp_buf_puts(out, "% of the weight) were left out of the call tree");
    } else {
        return false;
    }
    return true;
}
