/* Names of functions in sentences: what a template or a signature adds to one is left out where it is long.
 */
#include "diff.h"

#include "analysis/signature.h"
#include "render/text.h"

#define SHORT 72 /* columns */

/* What is between brackets becomes "…"; of a name that begins with one, as Rust's <T as Trait>::f, what is
 * within. */
static void without_arguments(struct sp_buf *out, struct sp_str s)
{
    size_t depth = 0, lead = s.n && s.p[0] == '<';
    for (size_t i = 0; i < s.n;) {
        size_t n = sp_name_word(s, i), whole = n ? n : 1;
        char c = s.p[i];
        bool opens = !n && strchr("<(", c) && c, closes = !n && strchr(">)", c) && c;
        if (closes && depth) {
            depth--;
            if (!depth && lead)
                lead = 0;
        }
        if (depth <= lead)
            sp_buf_add(out, s.p + i, whole);
        if (opens) {
            depth++;
            if (depth == lead + 1 && i + 1 < s.n && !strchr(">)", s.p[i + 1]))
                sp_buf_puts(out, "…");
        }
        i += whole;
    }
}

/* "…::b::c": as many of the last parts as fit; a part too long for that is cut. */
static void last_parts(struct sp_buf *out, struct sp_str s)
{
    size_t from = s.n, depth = 0;
    for (size_t i = s.n; i-- > 2;) {
        depth += strchr(">)", s.p[i]) && s.p[i];
        depth -= depth && strchr("<(", s.p[i]) && s.p[i];
        if (!depth && s.p[i - 1] == ':' && s.p[i - 2] == ':' && sp_text_width(s.p + i, s.n - i) + 3 <= SHORT)
            from = i;
    }
    if (from == s.n) {
        sp_text_fit(out, s.p, s.n, SHORT);
        return;
    }
    sp_buf_puts(out, "…::");
    sp_text_safe(out, s.p + from, s.n - from);
}

void diff_short_name(struct sp_buf *out, struct sp_str name)
{
    struct sp_buf b;
    if (sp_text_width(name.p, name.n) <= SHORT) {
        sp_text_safe(out, name.p, name.n);
        return;
    }
    sp_buf_init(&b, 0);
    without_arguments(&b, name);
    struct sp_str s = {b.data ? b.data : "", (uint32_t)b.len};
    if (sp_text_width(s.p, s.n) <= SHORT)
        sp_text_safe(out, s.p, s.n);
    else
        last_parts(out, s);
    sp_buf_free(&b);
}
