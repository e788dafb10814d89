#include "render/wrap.h"

#include "answer/text.h"

enum { LABEL_MOST = 20 }; /* columns of a label with the blanks behind it */

static size_t wrap_blanks(const char *p, size_t n, size_t from)
{
    size_t i = from;
    while (i < n && p[i] == ' ')
        i++;
    return i - from;
}

/* Where the word that begins at `from` ends: at a blank, which is none of a quoted part of a command. */
static size_t wrap_word(enum sp_wrap_kind kind, const char *p, size_t n, size_t from)
{
    bool quoted = false;
    size_t i = from;
    for (; i < n && (quoted || p[i] != ' '); i++)
        if (kind == SP_WRAP_COMMAND && p[i] == '\'')
            quoted = !quoted;
    return i;
}

/*
 * Where further lines begin: behind the label of the line, which two blanks end; without one, a little behind
 * the line's own beginning.
 */
static size_t wrap_indent(enum sp_wrap_kind kind, const char *p, size_t n, size_t before, size_t columns)
{
    size_t own = wrap_blanks(p, n, 0), indent = before ? before : own + (kind == SP_WRAP_COMMAND ? 4 : 2);
    for (size_t i = own; !before && kind == SP_WRAP_WORDS && i + 1 < n && i < LABEL_MOST; i++)
        if (p[i] == ' ' && p[i + 1] == ' ') {
            size_t label = i + wrap_blanks(p, n, i);
            return label <= LABEL_MOST && label < columns / 2 ? label : indent;
        }
    return indent < columns / 2 ? indent : 0;
}

bool sp_text_wrap(struct sp_buf *out, enum sp_wrap_kind kind, const char *p, size_t n, size_t before,
                  size_t columns)
{
    const char *joint = kind == SP_WRAP_COMMAND ? " \\\n" : "\n";
    if (!columns || before + sp_text_width(p, n) <= columns)
        return sp_buf_add(out, p, n);
    size_t indent = wrap_indent(kind, p, n, before, columns), used = before;
    size_t most = columns - (kind == SP_WRAP_COMMAND ? 2 : 0);
    bool ok = true, any = false; /* the line has a word */
    for (size_t i = 0, end; ok && i < n; i = end) {
        size_t blanks = wrap_blanks(p, n, i);
        end = wrap_word(kind, p, n, i + blanks);
        size_t word = sp_text_width(p + i + blanks, end - i - blanks);
        if (any && used + blanks + word > most) {
            ok = sp_buf_puts(out, joint);
            for (used = 0; ok && used < indent; used++)
                ok = sp_buf_ch(out, ' ');
            i += blanks;
            blanks = 0;
        }
        ok = ok && sp_buf_add(out, p + i, blanks) &&
             (kind == SP_WRAP_COMMAND ? sp_buf_add(out, p + i + blanks, end - i - blanks)
                                      : sp_text_fit(out, p + i + blanks, end - i - blanks, columns - indent));
        used += blanks + word;
        any = any || word;
    }
    return ok;
}
