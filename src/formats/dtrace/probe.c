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

static void dtrace_note_stack(struct seen *s)
{
    s->found += s->stack && s->symbols;
    s->addresses += s->stack && !s->symbols;
    s->stack = s->symbols = false;
}

static void dtrace_note_frame(struct seen *s, const struct dt_line *l)
{
    if (!s->stack)
        s->number = s->last_number;
    s->stack = true;
    s->symbols = s->symbols || memchr(l->text.p, '`', l->text.n) || memmem(l->text.p, l->text.n, "+0x", 3);
    s->last_number = s->keys = false;
}

static void dtrace_note_line(struct seen *s, const struct dt_line *l)
{
    struct dt_text keys;
    int64_t v;
    bool text = l->kind == DT_TEXT;
    bool number = l->kind == DT_NUMBER || (text && dt_value_at_end(l->text, &keys, &v));
    if (number || s->number) /* behind the stack, or before it */
        dtrace_note_stack(s);
    else if (text) /* keys may stand between a stack and its value */
        s->stack = s->symbols = s->stack && s->symbols && !s->keys;
    s->keys = text;
    if (l->kind == DT_HEAD || l->kind == DT_HIST || l->kind == DT_PACK)
        s->found++;
    s->number = false;
    s->last_number = number || (text && dt_value_at_start(l->text, &keys, &v));
    s->prologue = s->prologue || l->kind == DT_PROLOGUE;
    s->other += text;
}

/* "unix`cpu_halt      1575  99.2%" */
static bool dtrace_begins_with_symbol(struct dt_text t)
{
    const char *tick = memchr(t.p, '`', t.n);
    return tick && tick > t.p && !memchr(t.p, ' ', (size_t)(tick - t.p)) && tick + 1 < t.p + t.n &&
           tick[1] != ' ';
}

/*
 * Whether lines that DTrace does not print by itself outweigh what it does: scripts and documents hold
 * things like `module` and numbers too. What a D program prints beside its aggregations is such text as well,
 * so some of it is no matter.
 */
static bool dtrace_is_prose(const char *p, const char *end, bool whole)
{
    size_t known = 0, other = 0;
    bool hist = false, pack = false;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        struct dt_line l;
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !whole)
            break;
        dt_classify(p, (size_t)((nl ? nl : end) - p), &l);
        struct dt_text keys, number;
        hist = hist || l.kind == DT_HIST || l.kind == DT_PACK;
        pack = l.kind == DT_PACK || (pack && l.kind != DT_HIST);
        bool text = l.kind == DT_TEXT && !dtrace_begins_with_symbol(l.text) &&
                    !(hist && dt_is_barred(l.text.p, l.text.n, pack, &keys, &number));
        other += text;
        known += !text && l.kind != DT_BLANK;
    }
    return other > 2 * known + 2;
}

int dt_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    if (!sp_probe_is_text(bytes, n))
        return 0;
    struct seen s = {0};
    for (unsigned lines = 0; p < end && lines < 4000; lines++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
        struct dt_line l;
        if (!nl && !whole)
            break;
        dt_classify(p, (size_t)(eol - p), &l);
        if (l.kind == DT_FRAME && l.indent)
            dtrace_note_frame(&s, &l);
        else
            dtrace_note_line(&s, &l);
        p = nl ? nl + 1 : end;
    }
    if (whole && s.stack && s.number)
        dtrace_note_stack(&s);
    *reason = s.prologue ? "DTrace's prologue"
              : s.found  ? "stacks of module`symbol lines with values, or distributions"
                         : "stacks of addresses with values";
    int score = s.prologue                                   ? (s.found || s.addresses ? 98 : 60)
                : s.found                                    ? 80
                : s.addresses && s.other * 20 <= s.addresses ? 75
                                                             : 0;
    if (!score || !dtrace_is_prose((const char *)bytes, end, whole))
        return score;
    *reason = "stacks with values, but most lines are text";
    return 30;
}
