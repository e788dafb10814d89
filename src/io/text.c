/*
 * Text without what others put around it on its way here, for every reader: a byte order mark, UTF-16 (as
 * PowerShell's redirections write it; with a mark or without), UTF-32 with a mark, and the marks `> ` of
 * quoting in mail and issues.
 *
 * A text is quoted where all lines of its first QUOTE_BYTES that hold anything begin with `>`. The blank
 * behind the mark belongs to it where no line has something else there, so that what was indented stays so.
 * A line further on without the mark is taken as it is.
 */
#include "io/stage.h"

#include <stdlib.h>
#include <string.h>

#define QUOTE_BYTES      ((size_t)64 << 10)
#define UTF16_CHARACTERS 8 /* that tell text of this encoding without a mark from what is no text */

struct wide_stage {
    struct sp_stage s;
    bool big;
    unsigned width;        /* bytes of a unit: 2 of UTF-16, 4 of UTF-32 */
    unsigned char rest[4]; /* of a character that there was no room for: rest[at..n) */
    size_t at, n;
};

struct quote_stage {
    struct sp_stage s;
    bool spaced;                                   /* the mark has a blank */
    enum { LINE_START, BEHIND_MARK, INSIDE } here; /* where the next byte stands */
};

static size_t utf8(unsigned char *out, uint32_t c)
{
    size_t n = 0;
    if (c < 0x80) {
        out[n++] = (unsigned char)c;
        return n;
    }
    if (c < 0x800) {
        out[n++] = (unsigned char)(0xC0 | c >> 6);
    } else if (c < 0x10000) {
        out[n++] = (unsigned char)(0xE0 | c >> 12);
        out[n++] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
    } else {
        out[n++] = (unsigned char)(0xF0 | c >> 18);
        out[n++] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
        out[n++] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
    }
    out[n++] = (unsigned char)(0x80 | (c & 0x3F));
    return n;
}

static uint32_t unit(const unsigned char *p, bool big)
{
    return big ? (uint32_t)(p[0] << 8 | p[1]) : (uint32_t)(p[1] << 8 | p[0]);
}

/* What is no character is U+FFFD. */
static uint32_t character32(const unsigned char *p, bool big)
{
    uint32_t high = unit(p + (big ? 0 : 2), big), c = high << 16 | unit(p + (big ? 2 : 0), big);
    return c > 0x10FFFF || c >> 11 == 0xD800 >> 11 ? 0xFFFD : c;
}

/* The character at p, of n bytes; *used is how many it takes. A surrogate alone is U+FFFD. */
static uint32_t character16(const unsigned char *p, size_t n, bool big, size_t *used)
{
    uint32_t c = unit(p, big), low = n >= 4 ? unit(p + 2, big) : 0;
    *used = 2;
    if (c >> 10 == 0xD800 >> 10 && low >> 10 == 0xDC00 >> 10) {
        *used = 4;
        return 0x10000 + ((c & 0x3FF) << 10 | (low & 0x3FF));
    }
    return c >> 11 == 0xD800 >> 11 ? 0xFFFD : c;
}

static size_t fill_wide(struct sp_stage *s, unsigned char *out, size_t cap)
{
    struct wide_stage *u = (struct wide_stage *)s;
    const unsigned char *p;
    size_t n, i = 0, made = 0;
    while (u->at < u->n && made < cap)
        out[made++] = u->rest[u->at++];
    if (made == cap)
        return made;
    if (sp_stage_peek(s->up, 4, &p, &n)) {
        s->failed = SPAA_ERR_NOMEM;
        return 0;
    }
    bool last = n < 4;
    while (i + (last ? u->width : 4) <= n && made < cap) {
        size_t used = 4;
        uint32_t c = u->width == 4 ? character32(p + i, u->big) : character16(p + i, n - i, u->big, &used);
        i += used;
        u->n = utf8(u->rest, c);
        for (u->at = 0; u->at < u->n && made < cap;)
            out[made++] = u->rest[u->at++];
    }
    if (!made && n && n < u->width)
        sp_emit(s->diags, SP_L301, SP_AT(s->offset + (s->len - s->pos)), "half a character at the end");
    if (!made)
        s->failed = s->up->failed;
    sp_stage_consume(s->up, i);
    return made;
}

static size_t fill_quoted(struct sp_stage *s, unsigned char *out, size_t cap)
{
    struct quote_stage *q = (struct quote_stage *)s;
    const unsigned char *p;
    size_t n, made = 0;
    while (!made) {
        if (sp_stage_peek(s->up, 1, &p, &n)) {
            s->failed = SPAA_ERR_NOMEM;
            return 0;
        }
        if (!n) {
            s->failed = s->up->failed;
            return 0;
        }
        const unsigned char *at = p, *end = p + n;
        while (at < end && made < cap) {
            if (q->here == LINE_START && *at == '>') {
                q->here = BEHIND_MARK;
                at++;
                continue;
            }
            if (q->here == BEHIND_MARK && q->spaced && *at == ' ')
                at++;
            q->here = INSIDE;
            size_t ahead = (size_t)(end - at) < cap - made ? (size_t)(end - at) : cap - made;
            const unsigned char *nl = memchr(at, '\n', ahead);
            size_t take = nl ? (size_t)(nl - at) + 1 : ahead;
            memcpy(out + made, at, take);
            made += take;
            at += take;
            if (nl)
                q->here = LINE_START;
        }
        sp_stage_consume(s->up, (size_t)(at - p));
    }
    return made;
}

static void destroy(struct sp_stage *s)
{
    free(s);
}

/* Puts a stage of `size` bytes, which begins with a struct sp_stage, on top. */
static struct sp_stage *text_push(struct sp_stage **top, size_t size,
                                  size_t (*fill)(struct sp_stage *, unsigned char *, size_t))
{
    struct sp_stage *s = calloc(1, size), *up = *top;
    if (!s)
        return NULL;
    s->fill = fill;
    s->destroy = destroy;
    s->up = up;
    s->diags = up->diags;
    s->name = up->name;
    s->piece = up->piece;
    *top = s;
    return s;
}

/* Whether the lines of p are quoted; of the last one, where it is cut, its beginning counts. */
static bool is_quoted(const unsigned char *p, size_t n, bool *spaced)
{
    const unsigned char *end = p + n, *nl;
    bool blank = false, other = false, any = false;
    for (; p < end; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        const unsigned char *eol = nl ? nl : end;
        if (eol > p && eol[-1] == '\r')
            eol--;
        const unsigned char *q = p;
        while (q < eol && (*q == ' ' || *q == '\t'))
            q++;
        if (q == eol)
            continue;
        if (*p != '>')
            return false;
        blank |= eol - p > 1 && p[1] == ' ';
        other |= eol - p > 1 && p[1] != ' ' && p[1] != '\t';
        any |= eol - p > 1;
    }
    *spaced = blank && !other;
    return any;
}

static spaa_status unquote(struct sp_stage **top, bool *found)
{
    const unsigned char *p;
    size_t n;
    bool spaced;
    *found = false;
    if (sp_stage_peek(*top, QUOTE_BYTES, &p, &n))
        return SPAA_ERR_NOMEM;
    if (!is_quoted(p, n < QUOTE_BYTES ? n : QUOTE_BYTES, &spaced))
        return SPAA_OK;
    struct quote_stage *q = (struct quote_stage *)text_push(top, sizeof *q, fill_quoted);
    if (!q)
        return sp_nomem((*top)->diags);
    q->spaced = spaced;
    *found = true;
    return SPAA_OK;
}

/* UTF-16 without a mark: characters of ASCII each with a byte of zero on the same side. */
static bool is_utf16(const unsigned char *p, size_t n, bool *big)
{
    if (n < 2 * UTF16_CHARACTERS || !p[0] == !p[1])
        return false;
    *big = !p[0];
    for (size_t i = 0; i < 2 * UTF16_CHARACTERS; i += 2) {
        unsigned char c = p[i + *big];
        if (p[i + !*big] || !((c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r')))
            return false;
    }
    return true;
}

static spaa_status from_wide(struct sp_stage **top, unsigned width, bool big, size_t mark)
{
    sp_stage_consume(*top, mark);
    struct wide_stage *u = (struct wide_stage *)text_push(top, sizeof *u, fill_wide);
    if (!u)
        return sp_nomem((*top)->diags);
    u->big = big;
    u->width = width;
    return SPAA_OK;
}

spaa_status sp_text_unwrap(struct sp_stage **top, unsigned *wrapping)
{
    const unsigned char *p;
    size_t n;
    bool found = true, big;
    for (unsigned depth = 0; found && depth < SP_QUOTE_DEPTH; depth++) {
        spaa_status st = SPAA_OK;
        if (sp_stage_peek(*top, 4, &p, &n))
            return SPAA_ERR_NOMEM;
        /* More is only waited for where it may be UTF-16. */
        if (n >= 2 && !p[0] != !p[1] && sp_stage_peek(*top, 2 * UTF16_CHARACTERS, &p, &n))
            return SPAA_ERR_NOMEM;
        found = false;
        if (n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
            sp_stage_consume(*top, 3);
            *wrapping |= SP_WRAP_MARK;
            found = true;
        } else if (n >= 4 && (memcmp(p, "\xFF\xFE\0\0", 4) == 0 || memcmp(p, "\0\0\xFE\xFF", 4) == 0)) {
            st = from_wide(top, 4, !*p, 4);
            *wrapping |= SP_WRAP_UTF32;
            found = true;
        } else if (n >= 2 && (memcmp(p, "\xFF\xFE", 2) == 0 || memcmp(p, "\xFE\xFF", 2) == 0)) {
            st = from_wide(top, 2, *p == 0xFE, 2);
            *wrapping |= SP_WRAP_UTF16;
            found = true;
        } else if (is_utf16(p, n, &big)) {
            st = from_wide(top, 2, big, 0);
            *wrapping |= SP_WRAP_UTF16;
            found = true;
        } else if (n && (*p == '>' || *p == '\n' || *p == '\r')) { /* empty lines need no mark */
            st = unquote(top, &found);
            *wrapping |= found ? SP_WRAP_QUOTE : 0;
        }
        if (st)
            return st;
    }
    if (*wrapping & SP_WRAP_QUOTE)
        sp_emit((*top)->diags, SP_W311, SP_AT(0), "%s: the text is quoted; it was read without its `>` marks",
                (*top)->name);
    return SPAA_OK;
}
