/* A log as text, line by line: see memcheck.h. */
#include "base/num.h"
#include "formats/memcheck/memcheck.h"

#include <string.h>

/* What follows `words` at the beginning of a line. */
static bool mc_after(struct sp_str s, const char *words, struct sp_str *rest)
{
    size_t n = strlen(words);
    if (s.n < n || memcmp(s.p, words, n) != 0)
        return false;
    *rest = (struct sp_str){s.p + n, s.n - (uint32_t)n};
    return true;
}

static struct sp_str mc_trim(struct sp_str s)
{
    while (s.n && *s.p == ' ')
        s = (struct sp_str){s.p + 1, s.n - 1};
    return s;
}

static spaa_status mc_bad(struct sp_mc *m, const char *why)
{
    sp_emit(m->d, SP_L302, SP_AT_LINE(m->lines.line, m->lines.offset), "%s", why);
    return m->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
}

/* A line of LEAK SUMMARY: "definitely lost: 64 bytes in 1 blocks"; false: it is none. */
static bool mc_summary_line(struct sp_mc *m, struct sp_mc_process *x, struct sp_str s, spaa_status *st)
{
    struct sp_str rest;
    struct sp_mc_amount *to = mc_after(s, "suppressed: ", &rest) ? &x->suppressed : NULL;
    for (int i = 0; !to && i < SP_MC_KINDS; i++)
        if (mc_after(s, sp_mc_words[i], &rest) && mc_after(rest, ": ", &rest))
            to = &x->summary[i];
    if (!to)
        return false;
    if (!sp_mc_amount(rest.p, rest.n, to))
        *st = mc_bad(m, "an amount that is not understood");
    return true;
}

/* What is said of a process as a whole; false: nothing is. */
static bool mc_head_line(struct sp_mc *m, struct sp_mc_process *x, struct sp_str s, spaa_status *st)
{
    struct sp_str rest;
    if (sp_str_is(s, "LEAK SUMMARY:")) {
        sp_mc_summary(x);
    } else if (sp_str_is(s, "HEAP SUMMARY:")) {
        sp_mc_exit(x);
    } else if (mc_after(s, "in use at exit: ", &rest)) {
        x->has_in_use = sp_mc_amount(rest.p, rest.n, &x->in_use);
    } else if (mc_after(s, "total heap usage: ", &rest)) {
        x->has_usage = sp_mc_usage(rest.p, rest.n, &x->usage);
    } else if (mc_after(s, "All heap blocks were freed", &rest)) {
        x->freed = true;
    } else if (mc_after(s, "ERROR SUMMARY: ", &rest)) {
        x->ended = true;
    } else if (mc_after(s, "Command: ", &rest)) {
        x->command = sp_profile_text(m->p, rest.p, rest.n);
        *st = x->command == SP_STR_FAIL ? sp_nomem(m->d) : SPAA_OK;
    } else if (mc_after(s, "Parent PID: ", &rest)) {
        if (!sp_parse_i64(rest.p, rest.p + rest.n, &x->parent))
            x->parent = SP_ABSENT;
    } else {
        return x->in_summary && mc_summary_line(m, x, s, st);
    }
    return true;
}

/* "at 0x…" and "by 0x…": a frame of the open record, or of an error that is none. */
static spaa_status mc_frame_line(struct sp_mc *m, struct sp_mc_process *x, struct sp_str s, bool first)
{
    struct sp_vg_frame f;
    x->errors += first && x->headline && !x->open;
    x->headline = false;
    if (!x->open)
        return SPAA_OK;
    if (m->lines.cut && s.n &&
        s.p[s.n - 1] != ')') { /* half a name, and no callers: whose it is is not known */
        x->path.n = 0;
        return SPAA_OK;
    }
    return sp_vg_frame(s.p, s.n, &f) ? sp_mc_frame(m, x, &f) : mc_bad(m, "a frame that is not understood");
}

static spaa_status mc_text_line(struct sp_mc *m, struct sp_mc_process *x, struct sp_str text)
{
    struct sp_str s = mc_trim(text), rest;
    struct sp_mc_leak leak;
    bool first = s.n < text.n && mc_after(s, "at 0x", &rest);
    if (first || (s.n < text.n && mc_after(s, "by 0x", &rest)))
        return mc_frame_line(m, x, (struct sp_str){s.p + 3, s.n - 3}, first);
    spaa_status st = sp_mc_end(m, x);
    x->headline = s.n && s.n == text.n;
    x->in_summary = x->in_summary && s.n;
    if (st || !s.n)
        return st;
    if (sp_mc_leak(s.p, s.n, &leak))
        return sp_mc_begin(m, x, &leak);
    if (!mc_head_line(m, x, s, &st) && memmem(s.p, s.n, " in loss record ", 16))
        st = mc_bad(m, "a loss record that is not understood");
    return st;
}

spaa_status sp_mc_take_line(void *reader, const char *p, size_t n)
{
    struct sp_mc *m = reader;
    struct sp_str text;
    int64_t pid;
    char sign;
    while (n && (p[n - 1] == '\r' || p[n - 1] == ' '))
        n--;
    if (!sp_mc_line(p, n, &pid, &sign, &text)) {
        m->other_lines += n > 0;
        return SPAA_OK;
    }
    if (sign != '=') /* what valgrind says of itself, and what the program prints through it */
        return SPAA_OK;
    struct sp_mc_process *x = sp_mc_process(m, pid);
    if (x)
        return mc_text_line(m, x, text);
    if (m->processes.n < SP_MC_PROCESSES_MAX)
        return sp_nomem(m->d);
    sp_emit(m->d, SP_E007, SP_AT_LINE(m->lines.line, m->lines.offset), "more than %zu processes",
            SP_MC_PROCESSES_MAX);
    return SPAA_ERR_INPUT;
}
