/* Is it what DTrace prints: stacks of module`symbol lines, or of addresses, with a number, or distributions.
 */
#include "formats/dtrace/dtrace.h"

#include <string.h>

/* What was seen. Addresses and numbers are in many texts: alone they are DTrace's where there is nothing
 * else. */
struct seen {
    bool prologue;
    bool stack;         /* the last lines are frames */
    bool symbols;       /* and one is no bare address */
    bool number;        /* the line before them is a number, or has one beside keys */
    bool keys;          /* the last line is text */
    bool last_number;   /* the last line is one, without a blank line after it */
    unsigned found;     /* stacks with a number beside them */
    unsigned addresses; /* the same, of addresses alone */
    unsigned other;     /* lines that DTrace does not print by itself */
};

static void note_stack(struct seen *s)
{
    s->found += s->stack && s->symbols;
    s->addresses += s->stack && !s->symbols;
    s->stack = s->symbols = false;
}

static void note_frame(struct seen *s, const struct dt_line *l)
{
    if (!s->stack)
        s->number = s->last_number;
    s->stack = true;
    s->symbols = s->symbols || memchr(l->text.p, '`', l->text.n) || memmem(l->text.p, l->text.n, "+0x", 3);
    s->last_number = s->keys = false;
}

static void note_line(struct seen *s, const struct dt_line *l)
{
    struct dt_text keys;
    int64_t v;
    bool text = l->kind == DT_TEXT;
    bool number = l->kind == DT_NUMBER || (text && dt_value_at_end(l->text, &keys, &v));
    if (number || s->number) /* behind the stack, or before it */
        note_stack(s);
    else if (text) /* keys may stand between a stack and its value */
        s->stack = s->symbols = s->stack && s->symbols && !s->keys;
    s->keys = text;
    if (l->kind == DT_HEAD)
        s->found++;
    s->number = false;
    s->last_number = number || (text && dt_value_at_start(l->text, &keys, &v));
    s->prologue = s->prologue || l->kind == DT_PROLOGUE;
    s->other += text;
}

int dt_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    struct seen s = {0};
    for (unsigned lines = 0; p < end && lines < 4000; lines++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
        struct dt_line l;
        if (!nl && !whole)
            break;
        dt_classify(p, (size_t)(eol - p), &l);
        if (l.kind == DT_FRAME && l.indent)
            note_frame(&s, &l);
        else
            note_line(&s, &l);
        p = nl ? nl + 1 : end;
    }
    if (whole && s.stack && s.number)
        note_stack(&s);
    *reason = s.prologue ? "DTrace's prologue"
              : s.found  ? "stacks of module`symbol lines with values, or distributions"
                         : "stacks of addresses with values";
    if (s.prologue)
        return s.found || s.addresses ? 98 : 60;
    return s.found ? 80 : s.addresses && s.other * 20 <= s.addresses ? 75 : 0;
}
