/* What a line can be by itself. */
#include "base/num.h"
#include "formats/bcc/bcc.h"

static bool bcc_starts(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static struct sp_str bcc_trimmed(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return (struct sp_str){p, (uint32_t)(end - p)};
}

/* Behind `with` at the beginning of s a number, which is positive, and `then`; false: no. */
static bool bcc_number_between(struct sp_str s, const char *with, const char *then, int64_t *out)
{
    const char *at = s.p + strlen(with), *end = s.p + s.n;
    if (!bcc_starts(s, with))
        return false;
    size_t used = sp_parse_i64(at, end, out);
    at += used;
    return used && *out > 0 && bcc_starts((struct sp_str){at, (uint32_t)(end - at)}, then);
}

static enum bcc_sides bcc_title_sides(struct sp_str s)
{
    if (memmem(s.p, s.n, "by user + kernel", 16))
        return BCC_ANY_SIDE;
    return memmem(s.p, s.n, "by kernel", 9) ? BCC_KERNEL_ONLY
           : memmem(s.p, s.n, "by user", 7) ? BCC_USER_ONLY
                                            : BCC_ANY_SIDE;
}

/* Tracing 1 functions for "submit_bio"... Hit Ctrl-C to end. */
static bool bcc_title_of_counts(struct sp_str s, struct sp_str *probe)
{
    static const char end[] = "\"... Hit Ctrl-C to end.";
    int64_t matched;
    const char *open = memchr(s.p, '"', s.n), *close = memmem(s.p, s.n, end, sizeof end - 1);
    if (!open || !close || close <= open + 1 || !bcc_starts(s, "Tracing ") ||
        sp_parse_i64(s.p + 8, s.p + s.n, &matched) == 0 || !memmem(s.p, s.n, " functions for \"", 16))
        return false;
    *probe = (struct sp_str){open + 1, (uint32_t)(close - open - 1)};
    return true;
}

static bool bcc_is_title(struct sp_str s, struct bcc_line *l)
{
    struct bcc_title *t = &l->title;
    if (bcc_starts(s, "Tracing off-CPU time (us) of "))
        t->tool = BCC_OFF_CPU;
    else if (bcc_starts(s, "Tracing blocked time (us) by "))
        t->tool = memmem(s.p, s.n, "waker stack", 11) ? BCC_OFF_WAKE : BCC_WAKEUP;
    else if (bcc_number_between(s, "Sampling at every ", " events ", &t->every) ||
             bcc_number_between(s, "Sampling at ", " Hertz ", &t->hertz))
        t->tool = BCC_SAMPLES;
    else if (bcc_title_of_counts(s, &t->probe))
        t->tool = BCC_COUNTS;
    else if (bcc_starts(s, "Attaching to kernel allocators"))
        t->tool = BCC_HEAP;
    else if (bcc_number_between(s, "Attaching to pid ", ", Ctrl+C to quit", &l->id))
        t->tool = BCC_HEAP;
    t->sides = t->tool == BCC_HEAP ? (l->id > 0 ? BCC_USER_ONLY : BCC_KERNEL_ONLY) : bcc_title_sides(s);
    return t->tool != BCC_UNTOLD;
}

/* "[11:16:34] Top 2 stacks with outstanding allocations:" */
static bool bcc_is_print(struct sp_str s, struct bcc_line *l)
{
    const char *close = s.n && *s.p == '[' ? memchr(s.p, ']', s.n < 12 ? s.n : 12) : NULL;
    if (!close)
        return false;
    l->comm = (struct sp_str){s.p + 1, (uint32_t)(close - s.p - 1)};
    struct sp_str rest = {close + 1, (uint32_t)(s.p + s.n - close - 1)};
    size_t used = bcc_starts(rest, " Top ") ? sp_parse_i64(rest.p + 5, rest.p + rest.n, &l->number) : 0;
    return used && memmem(rest.p, rest.n, " stacks with outstanding allocations:", 37);
}

/* "160 bytes in 10 allocations from stack" */
static bool bcc_is_blocks(struct sp_str s, struct bcc_line *l)
{
    static const char in[] = " bytes in ", from[] = " allocations from stack";
    const char *end = s.p + s.n, *at = s.p;
    size_t used = sp_parse_i64(at, end, &l->number);
    at += used;
    if (!used || l->number < 0 || (size_t)(end - at) < sizeof in || memcmp(at, in, sizeof in - 1) != 0)
        return false;
    at += sizeof in - 1;
    used = sp_parse_i64(at, end, &l->count);
    at += used;
    return used && l->count >= 0 && (size_t)(end - at) == sizeof from - 1 &&
           memcmp(at, from, sizeof from - 1) == 0;
}

/* "12:34:56", "^C", "Detaching...", "addr = 948cd0 size = 16" */
static bool bcc_is_known(struct sp_str s)
{
    int64_t v;
    if (bcc_starts(s, "^C") || bcc_starts(s, "Detaching...") || bcc_starts(s, "WARN: Skipped an event"))
        return true;
    if (bcc_starts(s, "addr = "))
        return memmem(s.p, s.n, " size = ", 8);
    return s.n == 8 && s.p[2] == ':' && s.p[5] == ':' && sp_parse_i64(s.p, s.p + 2, &v) == 2 &&
           sp_parse_i64(s.p + 3, s.p + 5, &v) == 2 && sp_parse_i64(s.p + 6, s.p + 8, &v) == 2;
}

/* "comm (123)" with these brackets, of which the number is the last. */
static bool bcc_name_and_number(struct sp_str s, char open, char close, struct sp_str *comm, int64_t *id)
{
    const char *end = s.p + s.n, *at = s.n > 3 && end[-1] == close ? memrchr(s.p, open, s.n) : NULL;
    if (!at || at == s.p || at[-1] != ' ' || sp_parse_i64(at + 1, end - 1, id) != (size_t)(end - at - 2) ||
        end - at < 3 || *id < 0)
        return false;
    *comm = bcc_trimmed(s.p, at);
    return comm->n > 0;
}

/* "waker:           swapper/0 0" */
static bool bcc_names_who(struct sp_str s, const char *label, struct sp_str *comm)
{
    size_t n = strlen(label);
    if (!bcc_starts(s, label) || s.n <= n + 1 || s.p[n] != ' ')
        return false;
    *comm = bcc_trimmed(s.p + n, s.p + s.n);
    return comm->n > 0;
}

bool bcc_thread_number(struct sp_str *comm, int64_t *id)
{
    const char *end = comm->p + comm->n, *blank = memrchr(comm->p, ' ', comm->n);
    if (!blank || blank == comm->p || blank + 1 == end ||
        sp_parse_i64(blank + 1, end, id) != (size_t)(end - blank - 1) || *id < 0)
        return false;
    *comm = bcc_trimmed(comm->p, blank);
    return true;
}

/* "--               --" */
static bool bcc_is_split(struct sp_str s, const char *mark)
{
    size_t n = strlen(mark), blanks = 0;
    while (n + blanks < s.n && s.p[n + blanks] == ' ')
        blanks++;
    return s.n > 2 * n + 8 && blanks == s.n - 2 * n && memcmp(s.p, mark, n) == 0 &&
           memcmp(s.p + s.n - n, mark, n) == 0;
}

static size_t bcc_indent(const char *p, const char *end)
{
    size_t at = 0;
    for (; p < end && (*p == ' ' || *p == '\t'); p++)
        at = *p == '\t' ? (at / 8 + 1) * 8 : at + 1;
    return at;
}

static enum bcc_kind bcc_kind_at_margin(struct bcc_line *l)
{
    struct sp_str s = l->text;
    if (bcc_is_title(s, l))
        return BCC_TITLE;
    if (bcc_is_print(s, l))
        return BCC_PRINT;
    if (bcc_is_blocks(s, l))
        return BCC_BLOCKS;
    if (bcc_starts(s, "WARNING: ") &&
        (memmem(s.p, s.n, " stack traces ", 14) || memmem(s.p, s.n, "hash table full", 15)))
        return BCC_WARNING;
    return bcc_is_known(s) ? BCC_KNOWN : BCC_TEXT;
}

void bcc_classify(const char *p, size_t n, struct bcc_line *l)
{
    const char *end = p + n;
    *l = (struct bcc_line){.kind = BCC_TEXT, .text = bcc_trimmed(p, end), .id = -1};
    struct sp_str s = l->text;
    l->indent = bcc_indent(p, end);
    if (!s.n)
        l->kind = BCC_BLANK;
    else if (!l->indent)
        l->kind = bcc_kind_at_margin(l);
    else if (sp_parse_i64(s.p, s.p + s.n, &l->number) == s.n)
        l->kind = BCC_NUMBER;
    else if (sp_str_is(s, "--") || sp_str_is(s, "-"))
        l->kind = BCC_DELIMITER;
    else if (bcc_is_split(s, "--"))
        l->kind = BCC_SPLIT;
    else if (bcc_is_split(s, "-"))
        l->kind = BCC_OLD_SPLIT;
    else if (s.n > 2 && *s.p == '-' && s.p[1] == ' ' &&
             bcc_name_and_number(bcc_trimmed(s.p + 1, s.p + s.n), '(', ')', &l->comm, &l->id))
        l->kind = BCC_THREAD;
    else if (bcc_names_who(s, "waker:", &l->comm))
        l->kind = BCC_WAKER;
    else if (bcc_names_who(s, "target:", &l->comm))
        l->kind = BCC_TARGET;
    else if (l->indent == 4 && bcc_name_and_number(s, '[', ']', &l->comm, &l->id))
        l->kind = BCC_PROCESS;
    else if (bcc_is_blocks(s, l))
        l->kind = BCC_BLOCKS;
    else if (bcc_is_known(s))
        l->kind = BCC_KNOWN;
}
