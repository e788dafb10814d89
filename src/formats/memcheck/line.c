/* The lines of a log, each alone, and whether a text is one: see memcheck.h. */
#include "base/num.h"
#include "formats/memcheck/memcheck.h"

#include <string.h>

const char *const sp_mc_words[] = {"definitely lost", "indirectly lost", "possibly lost", "still reachable",
                                   NULL};
const char *const sp_mc_labels[] = {"definite", "indirect", "possible", "reachable", NULL};

static bool mc_word(const char **p, const char *end, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(end - *p) < n || memcmp(*p, word, n) != 0)
        return false;
    *p += n;
    return true;
}

/* A number, and how much it is more than in the check before: "133 (+33)". */
static bool mc_count(const char **p, const char *end, int64_t *out)
{
    size_t used = sp_vg_number(*p, end, out);
    int64_t more;
    if (!used)
        return false;
    *p += used;
    const char *at = *p;
    if (mc_word(&at, end, " (") && at < end && (*at == '+' || *at == '-')) {
        used = sp_vg_number(++at, end, &more);
        at += used;
        if (!used || at == end || *at != ')')
            return false;
        *p = at + 1;
    }
    return true;
}

bool sp_mc_amount(const char *p, size_t n, struct sp_mc_amount *out)
{
    const char *end = p + n;
    return mc_count(&p, end, &out->bytes) && mc_word(&p, end, " bytes in ") &&
           mc_count(&p, end, &out->blocks) && mc_word(&p, end, " blocks");
}

bool sp_mc_usage(const char *p, size_t n, struct sp_mc_usage *out)
{
    const char *end = p + n;
    return mc_count(&p, end, &out->allocs) && mc_word(&p, end, " allocs, ") &&
           mc_count(&p, end, &out->frees) && mc_word(&p, end, " frees, ") && mc_count(&p, end, &out->bytes) &&
           mc_word(&p, end, " bytes allocated");
}

bool sp_mc_leak(const char *p, size_t n, struct sp_mc_leak *out)
{
    const char *end = p + n;
    int64_t all;
    *out = (struct sp_mc_leak){0};
    if (!mc_count(&p, end, &all))
        return false;
    out->direct.bytes = all;
    if (mc_word(&p, end, " (") && (!mc_count(&p, end, &out->direct.bytes) || !mc_word(&p, end, " direct, ") ||
                                   !mc_count(&p, end, &out->indirect) || !mc_word(&p, end, " indirect)")))
        return false;
    if (!mc_word(&p, end, " bytes in ") || !mc_count(&p, end, &out->direct.blocks) ||
        !mc_word(&p, end, " blocks are "))
        return false;
    for (int i = 0; i < SP_MC_KINDS; i++) {
        if (!mc_word(&p, end, sp_mc_words[i]))
            continue;
        out->kind = (enum sp_mc_kind)i;
        return mc_word(&p, end, " in loss record ") && mc_count(&p, end, &out->number) &&
               mc_word(&p, end, " of ") && mc_count(&p, end, &out->of);
    }
    return false;
}

bool sp_mc_line(const char *p, size_t n, int64_t *pid, char *sign, struct sp_str *text)
{
    const char *end = p + n, *at;
    if (n < 5 || n > UINT32_MAX || p[0] != p[1] || (*p != '=' && *p != '-' && *p != '*'))
        return false;
    *sign = *p;
    at = p + 2;
    size_t used = sp_parse_i64(at, end, pid);
    if (used && end - at > (ptrdiff_t)used && at[used] == ':') { /* 00:00:00:00.331 */
        while (at < end && *at != ' ' && at - p < 40)
            at++;
        while (at < end && *at == ' ' && at - p < 48)
            at++;
        used = sp_parse_i64(at, end, pid);
    }
    at += used;
    if (!used || *pid < 0 || end - at < 2 || at[0] != *sign || at[1] != *sign)
        return false;
    at += 2;
    if (at < end && *at != ' ')
        return false;
    at += at < end;
    *text = (struct sp_str){at, (uint32_t)(end - at)};
    return true;
}

static bool mc_says(struct sp_str s, const char *words)
{
    return memmem(s.p, s.n, words, strlen(words)) != NULL;
}

/* <valgrindoutput> of memcheck. Other tools write XML of the same kind, which has no leaks. */
static int mc_probe_xml(const unsigned char *p, size_t n, const char **reason)
{
    if (!memmem(p, n, "<valgrindoutput>", 16))
        return 0;
    *reason = "valgrind's XML";
    return memmem(p, n, "<protocoltool>memcheck</protocoltool>", 37) ? 98 : 30;
}

/* Lines with the sign and number of a process, and words of memcheck in them. */
int sp_mc_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    bool tool = false, heap = false, leak = false, other = false;
    size_t lines = 0, others = 0;
    if (!sp_probe_is_text(bytes, n))
        return 0;
    int xml = *bytes == '<' ? mc_probe_xml(bytes, n, reason) : 0;
    if (xml || !memmem(bytes, n, "== ", 3))
        return xml;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !whole)
            break;
        int64_t pid;
        char sign;
        struct sp_str text;
        struct sp_mc_leak x;
        if (!sp_mc_line(p, (size_t)((nl ? nl : end) - p), &pid, &sign, &text) || sign != '=') {
            others += *p != '\n';
            continue;
        }
        lines++;
        tool = tool || mc_says(text, "Memcheck, a memory error detector");
        other = other || mc_says(text, "a thread error detector") || mc_says(text, "a heap profiler") ||
                mc_says(text, "a dynamic heap analysis tool");
        heap = heap || mc_says(text, "HEAP SUMMARY:") || mc_says(text, "LEAK SUMMARY:");
        leak = leak || sp_mc_leak(text.p, text.n, &x);
    }
    *reason = "lines of valgrind";
    if (others > 9 * lines) { /* sources and documents that quote a log */
        *reason = "less than one line in ten is valgrind's";
        return lines > 2 ? 30 : 0;
    }
    if (tool || heap || leak)
        return 92;
    return lines > 2 && !other ? 30 : 0;
}
