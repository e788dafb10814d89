/* The lines of a dump of goroutines, each alone: see goroutines.h. */
#include "base/num.h"
#include "formats/go_goroutines/goroutines.h"

#include <string.h>

static bool gor_starts(const char *p, const char *end, const char *literal)
{
    size_t n = strlen(literal);
    return (size_t)(end - p) >= n && memcmp(p, literal, n) == 0;
}

static bool gor_ends(const char *p, const char *end, const char *literal)
{
    size_t n = strlen(literal);
    return (size_t)(end - p) >= n && memcmp(end - n, literal, n) == 0;
}

static struct sp_str gor_str(const char *p, const char *end)
{
    return (struct sp_str){p, (uint32_t)(end - p)};
}

/* A number of digits alone at p, at most 18 of them; how long it is, 0: none. */
static size_t gor_digits(const char *p, const char *end, int64_t *out)
{
    size_t n = 0;
    *out = 0;
    for (; p + n < end && (unsigned char)(p[n] - '0') < 10; n++) {
        if (n == 18)
            return 0;
        *out = *out * 10 + (p[n] - '0');
    }
    return n;
}

/* One of what stands behind the status: "5 minutes", "locked to thread", "synctest bubble 3". */
static bool gor_remark(const char *p, const char *end, struct sp_gor_header *out)
{
    int64_t n;
    size_t used = gor_digits(p, end, &n);
    if (used && gor_starts(p + used, end, " minutes") && p + used + 8 == end) {
        out->minutes = n;
        return true;
    }
    if (gor_starts(p, end, "locked to thread") && end - p == 16) {
        out->locked = true;
        return true;
    }
    if (!gor_starts(p, end, "synctest bubble "))
        return false;
    used = gor_digits(p + 16, end, &out->bubble);
    return used && p + 16 + used == end;
}

/* Cuts ` (scan)` off what says something else. */
static bool gor_cut_mark(const char *p, const char **end, const char *mark)
{
    if (!gor_ends(p, *end, mark) || (size_t)(*end - p) <= strlen(mark))
        return false;
    *end -= strlen(mark);
    return true;
}

/* Within the brackets. */
static bool gor_status(const char *p, const char *end, struct sp_gor_header *out)
{
    const char *labels = memmem(p, (size_t)(end - p), " labels:{", 9);
    if (labels && end[-1] == '}') {
        out->labels = gor_str(labels + 9, end - 1);
        end = labels;
    }
    const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
    for (const char *at = comma; at;) {
        if (!gor_starts(at, end, ", "))
            return false;
        const char *next = memchr(at + 2, ',', (size_t)(end - at - 2));
        if (!gor_remark(at + 2, next ? next : end, out))
            return false;
        at = next;
    }
    out->scan = gor_cut_mark(p, &stop, " (scan)");
    out->leaked = gor_cut_mark(p, &stop, " (leaked)");
    out->status = gor_str(p, stop);
    for (const char *q = p; q < stop; q++)
        if (*q < ' ' || *q == '[' || *q == ']')
            return false;
    return stop > p && stop - p < 100;
}

bool sp_gor_header(const char *p, size_t n, struct sp_gor_header *out)
{
    const char *end = p + n;
    *out = (struct sp_gor_header){.labels = {"", 0}, .more = {"", 0}};
    if (!gor_starts(p, end, "goroutine ") || !gor_ends(p, end, "]:"))
        return false;
    p += 10;
    size_t used = gor_digits(p, end, &out->id);
    const char *open = used ? memchr(p + used, '[', (size_t)(end - p) - used) : NULL;
    if (!open || open[-1] != ' ' || open + 1 > end - 2)
        return false;
    p += used;
    if (open > p + 1) {
        if (!gor_starts(p, open, " gp=") && !gor_starts(p, open, " m="))
            return false;
        out->more = gor_str(p + 1, open - 1);
    }
    return gor_status(open + 1, end - 2, out);
}

bool sp_gor_call(const char *p, size_t n, struct sp_gor_call *out)
{
    const char *end = p + n;
    *out = (struct sp_gor_call){.args = {"", 0}};
    if (n == 15 && memcmp(p, "non-Go function", 15) == 0) {
        out->name = gor_str(p, end);
        return true;
    }
    if (n < 3 || end[-1] != ')' || *p == ' ' || *p == '\t' || *p == '[')
        return false;
    const char *open = memrchr(p, '(', n);
    if (!open || open == p || open[-1] == ' ')
        return false;
    out->name = gor_str(p, open);
    out->args = gor_str(open + 1, end - 1);
    out->inlined = sp_str_is(out->args, "...");
    return true;
}

/* Where ` +0x1d` begins at the end of a place; NULL: it does not. */
static const char *gor_offset(const char *p, const char *end, uint64_t *out)
{
    const char *plus = memrchr(p, '+', (size_t)(end - p));
    if (!plus || plus == p || plus[-1] != ' ' || !gor_starts(plus, end, "+0x"))
        return NULL;
    size_t n = sp_parse_hex(plus + 3, end, out);
    return n && plus + 3 + n == end ? plus - 1 : NULL;
}

bool sp_gor_place(const char *p, size_t n, struct sp_gor_place *out)
{
    static const char *const tails[] = {" fp=0x", " pc=0x"};
    const char *end = p + n;
    *out = (struct sp_gor_place){.at = {"", 0}};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        const char *tail = memmem(p, (size_t)(end - p), tails[i], 6);
        end = tail ? tail : end;
    }
    const char *offset = gor_offset(p, end, &out->offset);
    out->has_offset = offset != NULL;
    end = offset ? offset : end;
    const char *colon = memrchr(p, ':', (size_t)(end - p));
    int64_t line;
    size_t digits = colon ? gor_digits(colon + 1, end, &line) : 0;
    if (!digits || colon == p || colon + 1 + digits != end)
        return false;
    out->at = gor_str(p, end);
    return true;
}

bool sp_gor_creator(const char *p, size_t n, struct sp_str *name, int64_t *parent)
{
    static const char in[] = " in goroutine ";
    const char *end = p + n;
    *parent = 0;
    if (!gor_starts(p, end, "created by ") || n == 11)
        return false;
    p += 11;
    const char *at = memmem(p, (size_t)(end - p), in, sizeof in - 1);
    if (at && at > p) {
        const char *digits = at + sizeof in - 1;
        size_t used = gor_digits(digits, end, parent);
        if (used && digits + used == end)
            end = at;
        else
            *parent = 0;
    }
    *name = gor_str(p, end);
    return true;
}

bool sp_gor_elided(const char *p, size_t n, int64_t *frames)
{
    const char *end = p + n;
    *frames = -1;
    if (!gor_starts(p, end, "...") || !gor_ends(p, end, " frames elided..."))
        return false;
    p += 3;
    if (gor_starts(p, end, "additional "))
        return true;
    size_t used = gor_digits(p, end, frames);
    return used && gor_starts(p + used, end, " frames elided...");
}
