/* Is it one of the profiles from before pprof's protobuf, and which. */
#include "formats/gperftools/gperftools.h"

/* "goroutine profile: total 5" */
static bool gperftools_probe_is_counts(struct sp_str s)
{
    static const char middle[] = " profile: total ";
    const char *at = memmem(s.p, s.n, middle, sizeof middle - 1), *end = s.p + s.n;
    if (!at || at == s.p || memchr(s.p, ' ', (size_t)(at - s.p)) || memchr(s.p, '\t', (size_t)(at - s.p)))
        return false;
    at += sizeof middle - 1;
    for (const char *p = at; p < end; p++)
        if (*p < '0' || *p > '9')
            return false;
    return at < end;
}

/* "heap profile:  1:  32 [ 2:  64] @ heapprofile" */
static bool gperftools_probe_is_heap(struct sp_str s)
{
    const char *p = s.p + 13, *end = s.p + s.n;
    int64_t n;
    return sp_gp_starts(s, "heap profile:") && sp_mapped_int(&p, end, &n) &&
           memchr(p, '[', (size_t)(end - p)) && memchr(p, '@', (size_t)(end - p));
}

/* "--- threadz 1 ---": the word, and a number behind it. */
static bool gperftools_probe_is_numbered(struct sp_str s, const char *word)
{
    const char *p = s.p + strlen(word), *end = s.p + s.n;
    int64_t n;
    return sp_gp_starts(s, word) && sp_mapped_int(&p, end, &n);
}

enum sp_gp_kind sp_gp_title(struct sp_str s)
{
    s = sp_mapped_trim(s.p, s.n);
    if (gperftools_probe_is_heap(s))
        return SP_GP_HEAP;
    if (gperftools_probe_is_numbered(s, "--- contentionz ") || sp_gp_starts(s, "--- contention:") ||
        sp_gp_starts(s, "--- mutex:"))
        return SP_GP_CONTENTION;
    if (gperftools_probe_is_numbered(s, "--- heapz "))
        return SP_GP_JAVA_HEAP;
    if (gperftools_probe_is_numbered(s, "--- threadz ") ||
        (sp_gp_starts(s, "--- Thread ") && memmem(s.p, s.n, "stack: ---", 10)))
        return SP_GP_THREADS;
    return gperftools_probe_is_counts(s) ? SP_GP_COUNTS : SP_GP_NONE;
}

/* Behind `goroutine profile: total 5`, which prose may say too: rows of numbers, comments, or nothing. */
static bool gperftools_probe_goes_on(const char *p, const char *end)
{
    for (const char *next; p < end; p = next) {
        struct sp_str s = sp_mapped_trim(p, sp_mapped_eol(p, end, &next));
        if (s.n)
            return memchr("#%-", *s.p, 3) || (*s.p >= '0' && *s.p <= '9');
    }
    return true;
}

static bool gperftools_probe_sounds_known(enum sp_gp_kind kind, const char **reason)
{
    static const char *const reasons[] = {"",
                                          "begins with `heap profile:`",
                                          "begins with `--- contention`",
                                          "begins with `--- heapz`",
                                          "begins with `… profile: total`",
                                          "threads and their stacks"};
    *reason = reasons[kind];
    return kind != SP_GP_NONE;
}

int sp_gp_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n, *next;
    bool big, java;
    (void)whole;
    size_t table = sp_mapped_symbols_size(p, end);
    if (!table && n >= 11 && memcmp(p, "--- symbol\n", 11) == 0) {
        *reason = "begins with a table of symbols";
        return 60;
    }
    p += table;
    if (sp_gp_word_size((const unsigned char *)p, (size_t)(end - p), &big, &java)) {
        *reason = "the first words of a CPU profile";
        return 95;
    }
    for (unsigned lines = 0; p < end && lines < 20; p = next, lines++) {
        struct sp_str s = sp_mapped_trim(p, sp_mapped_eol(p, end, &next));
        if (!s.n || *s.p == '#' || *s.p == '%')
            continue;
        enum sp_gp_kind kind = sp_gp_title(s);
        return !gperftools_probe_sounds_known(kind, reason)                  ? 0
               : kind != SP_GP_COUNTS || gperftools_probe_goes_on(next, end) ? 92
                                                                             : 30;
    }
    return 0;
}
