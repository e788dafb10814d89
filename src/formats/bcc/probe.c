/* Is it what bcc's tools print: records that are whole, and little else. */
#include "formats/bcc/bcc.h"

struct seen {
    bool title, detached;
    bool thread, process, waker, target, two, four; /* since the last record, or blank line */
    size_t records, plain; /* plain: counts that only a title tells from other text */
    size_t own, other;
};

static void bcc_probe_number(struct seen *s, const struct bcc_line *l)
{
    bool who = l->indent == 8 && (s->thread || (s->waker && s->target) || (s->title && s->four));
    bool count = l->indent == 4 && s->two;
    s->records += who || (count && s->process);
    s->plain += count && !s->process;
    *(who || count || (s->title && l->indent == 4) ? &s->own : &s->other) += 1;
    s->thread = s->process = s->waker = s->target = s->two = s->four = false;
}

static void bcc_probe_line(struct seen *s, const struct bcc_line *l)
{
    switch (l->kind) {
    case BCC_TITLE:
    case BCC_PRINT:
        s->title = true;
        s->own++;
        return;
    case BCC_BLANK:
        s->thread = s->process = s->waker = s->target = s->two = s->four = false;
        return;
    case BCC_NUMBER:
        bcc_probe_number(s, l);
        return;
    case BCC_BLOCKS:
        s->records++;
        break;
    case BCC_THREAD:
        s->thread = l->indent == 4;
        break;
    case BCC_PROCESS:
        s->process = true;
        break;
    case BCC_WAKER:
        s->waker = true;
        break;
    case BCC_TARGET:
        s->target = true;
        break;
    default:
        s->two = s->two || (l->kind == BCC_TEXT && l->indent == 2);
        s->four = s->four || (l->kind == BCC_TEXT && l->indent == 4);
        s->detached = s->detached || (l->kind == BCC_KNOWN && sp_str_is(l->text, "Detaching..."));
    }
    *(l->indent || l->kind != BCC_TEXT ? &s->own : &s->other) += 1;
}

int bcc_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    struct seen s = {0};
    if (!sp_probe_is_text(bytes, n))
        return 0;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        struct bcc_line l;
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !whole)
            break;
        bcc_classify(p, (size_t)((nl ? nl : end) - p), &l);
        bcc_probe_line(&s, &l);
    }
    *reason = "stacks as bcc's tools print them, each with its number";
    bool any = s.records || (s.plain && (s.title || s.detached));
    if (any && s.own > 2 * s.other)
        return s.title ? 95 : 80;
    *reason = "stacks with numbers as bcc's tools print them, but no line that says so";
    return any || (s.plain > 1 && !s.other) ? 30 : 0;
}
