/*
 * A line of `Binary Images:` of a hang report:
 *
 *        0x19df71000 -        0x19e010fff  dyld (1335)  <0975AFBA-C46B-364C-BD84-A75DAA9E455A>  /usr/lib/dyld
 *   *0xfffffe0008860000 - 0xfffffe00091cffff  kernel.release.t6041 (12377)  <…>__TEXT_EXEC  /System/…
 *
 * The end and the name may be `???`; version, UUID and path may be missing; sample(1) puts a `+` before names
 * of the application's own. Mail clients break it at any blank.
 */
#include "formats/common/hang/images.h"

#include "base/num.h"

#include <string.h>

/* "0x1f" at the beginning of s; its length, or 0. */
size_t sp_hang_address_length(struct sp_span s, uint64_t *v)
{
    size_t n = sp_hang_starts(s, "0x") ? sp_parse_hex(s.p + 2, s.p + s.n, v) : 0;
    return n && n <= 16 ? n + 2 : 0;
}

/* "name 1.0 (1)", "name (1)", "name 1.0", "name": the version is what follows the name. */
static void hang_split_version(struct sp_hang_image *x, struct sp_span s)
{
    struct sp_span rest = s;
    const char *group = sp_hang_group(s);
    if (group && group > s.p && sp_hang_blank(group[-1]))
        rest = sp_hang_trim((struct sp_span){s.p, (size_t)(group - s.p)});
    size_t i = rest.n;
    while (i && !sp_hang_blank(rest.p[i - 1]))
        i--;
    if (i && (sp_hang_digit(rest.p[i]) || (rest.p[i] == '?' && rest.n - i == 3)))
        rest = sp_hang_trim((struct sp_span){rest.p, i});
    x->name = rest;
    if (rest.n < s.n)
        x->version = sp_hang_trim(sp_hang_after(s, rest.n));
}

/* The length of a UUID that begins s: 16 to 64 digits, and dashes anywhere; 0: none. */
size_t sp_hang_uuid_length(struct sp_span s)
{
    size_t n = 0, digits = 0;
    for (; n < s.n && (sp_hang_hex(s.p[n]) || s.p[n] == '-'); n++)
        digits += s.p[n] != '-';
    return digits >= 16 && digits <= 64 ? n : 0;
}

/* The UUID of "<UUID>SUFFIX  path"; n 0: there is none. */
static struct sp_span hang_find_uuid(struct sp_span s)
{
    for (const char *p = s.p, *end = s.p + s.n; (p = memchr(p, '<', (size_t)(end - p))); p++) {
        size_t n = sp_hang_uuid_length((struct sp_span){p + 1, (size_t)(end - p - 1)});
        if (n && p + 1 + n < end && p[1 + n] == '>')
            return (struct sp_span){p + 1, n};
    }
    return (struct sp_span){NULL, 0};
}

static void hang_parse_image_rest(struct sp_hang_image *x, struct sp_span s)
{
    x->uuid = hang_find_uuid(s);
    if (x->uuid.n) {
        struct sp_span rest = sp_hang_after(s, (size_t)(x->uuid.p + x->uuid.n + 1 - s.p));
        size_t n = 0;
        while (n < rest.n && !sp_hang_blank(rest.p[n]))
            n++;
        x->suffix = (struct sp_span){rest.p, n};
        x->path = sp_hang_trim(sp_hang_after(rest, n));
        s.n = (size_t)(x->uuid.p - 1 - s.p);
    } else {
        const char *path = memmem(s.p, s.n, " /", 2);
        if (path) {
            x->path = sp_hang_after(s, (size_t)(path + 1 - s.p));
            s.n = (size_t)(path - s.p);
        }
    }
    s = sp_hang_trim(s);
    if (s.n && *s.p == '+') {
        x->plus = true;
        s = sp_hang_after(s, 1);
    }
    hang_split_version(x, s);
}

bool sp_hang_parse_image(struct sp_span s, struct sp_hang_image *x)
{
    *x = (struct sp_hang_image){.line = s, .next = {SP_NONE, SP_NONE, SP_NONE}};
    if (s.n && *s.p == '*') {
        x->kernel = true;
        s = sp_hang_trim(sp_hang_after(s, 1));
    }
    size_t n = sp_hang_address_length(s, &x->start);
    if (!n)
        return false;
    x->start_text = (struct sp_span){s.p, n};
    s = sp_hang_trim(sp_hang_after(s, n));
    if (!s.n || *s.p != '-')
        return false;
    s = sp_hang_trim(sp_hang_after(s, 1));
    n = sp_hang_starts(s, "???") ? 3 : sp_hang_address_length(s, &x->end);
    if (!n)
        return false;
    x->end_text = (struct sp_span){s.p, n};
    hang_parse_image_rest(x, sp_hang_trim(sp_hang_after(s, n)));
    return true;
}

/* ---- lines that are wrapped ---- */

/* "0x19df71000 -", or what is left of that. */
bool sp_hang_image_begins(struct sp_span text)
{
    uint64_t start;
    if (text.n && *text.p == '*')
        text = sp_hang_trim(sp_hang_after(text, 1));
    size_t n = sp_hang_address_length(text, &start);
    text = sp_hang_trim(sp_hang_after(text, n));
    return n && (!text.n || *text.p == '-');
}

/* Lines of images are indented, what a mail client broke off is not. The path is their last part. */
static bool hang_image_goes_on(struct sp_span image, struct sp_span line, struct sp_span text)
{
    struct sp_hang_image x;
    bool broken_off = text.p == line.p;
    if (!sp_hang_parse_image(image, &x))
        return broken_off && *text.p != '*';
    if (sp_hang_image_begins(text))
        return false;
    return !x.path.n && (broken_off || memchr("</", *text.p, 2));
}

bool sp_hang_image_join(struct sp_hang_image_line *w, struct sp_span line, struct sp_span text,
                        struct sp_buf *b, struct sp_arena *texts, struct sp_diags *d, bool *taken)
{
    enum { LONGEST = 4096 };
    *taken = w->text.n && text.n && w->text.n + text.n < LONGEST && hang_image_goes_on(w->text, line, text);
    if (!*taken)
        return true;
    sp_buf_clear(b);
    sp_buf_add(b, w->text.p, w->text.n);
    sp_buf_ch(b, ' ');
    sp_buf_add(b, text.p, text.n);
    char *copy = b->failed ? NULL : sp_arena_dup(texts, b->data, b->len);
    sp_emit(d, SP_W523, w->at, "\"%.*s\"", (int)(text.n > 60 ? 60 : text.n), text.p);
    w->text = (struct sp_span){copy, b->len};
    return copy;
}

/* ---- texts that are cut off ---- */

void sp_hang_say_cut_indent(const char *start, const char *p, uint64_t line, struct sp_diags *d)
{
    const char *end = p > start ? p - 1 : p; /* of the line above: behind an empty one blanks say nothing */
    end -= end > start && end[-1] == '\r';
    if (end > start && end[-1] != '\n')
        sp_emit(d, SP_L301, SP_AT_LINE(line, (uint64_t)(p - start)), "before a line of `Binary Images`");
}

/* Its path stands last, which may be missing: what ends before a path may be whole in a part that was pasted,
 * but reports end in a line end. */
void sp_hang_say_cut_image(const struct sp_hang_image_line *w, struct sp_diags *d)
{
    struct sp_hang_image x;
    if (w->text.n && !(sp_hang_parse_image(w->text, &x) && x.path.n))
        sp_emit(d, SP_L301, w->at, "in a line of `Binary Images`: \"%.*s\"",
                (int)(w->text.n > 80 ? 80 : w->text.n), w->text.p);
}
