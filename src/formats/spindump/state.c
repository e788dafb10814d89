/*
 * What a sample was doing: the text behind the frame where it ended as a word of x_state, and the other way
 * about. None means that the thread waited.
 */
#include "formats/spindump/spindump.h"

#include <string.h>

/* The place of a word in a text, its end at a word's end; SIZE_MAX: not there. */
static size_t spindump_find_word(struct sp_span s, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = s.p; (p = memmem(p, (size_t)(s.p + s.n - p), word, n)); p++) {
        char after = p + n < s.p + s.n ? p[n] : ' ';
        if (!((after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z')))
            return (size_t)(p - s.p);
    }
    return SIZE_MAX;
}

/* Whether a part of the text between commas begins with a word; names come behind other words. */
static bool spindump_has_part(struct sp_span s, const char *word)
{
    size_t n = strlen(word);
    while (s.n) {
        s = sp_hang_trim(s);
        if (sp_hang_starts(s, word) && (s.n == n || memchr(" ,(", s.p[n], 3)))
            return true;
        const char *comma = memchr(s.p, ',', s.n);
        if (!comma)
            break;
        s = sp_hang_after(s, (size_t)(comma + 1 - s.p));
    }
    return false;
}

/* "blocked by turnstile UNKNOWN waiting for receive port …": a server without work, not "receive port [7]".
 */
static bool spindump_receives(struct sp_span s)
{
    static const char port[] = "waiting for receive port";
    const char *at = memmem(s.p, s.n, port, sizeof port - 1);
    if (!at)
        return false;
    struct sp_span rest = sp_hang_after(s, (size_t)(at - s.p) + sizeof port - 1);
    return !sp_hang_starts(rest, " [") && !spindump_has_part(s, "suspended") &&
           (!rest.n || memchr(" ,(", *rest.p, 3));
}

const char *sp_spindump_state(struct sp_span s)
{
    static const struct {
        const char *word, *state;
    } kinds[] = {{"turnstile", "BLOCKED"}, {"lock", "BLOCKED"},     {"mutex", "BLOCKED"},
                 {"krwlock", "BLOCKED"},   {"wait4", "WAITING"},    {"receive", "WAITING"},
                 {"queue", "WAITING"},     {"semaphore", "WAITING"}};
    static const char *const words[] = {"NATIVE", "TIMED_WAITING", "IDLE", "WALL_TIME"}; /* written by ours */
    if (!s.p)
        return "WAITING";
    s = sp_hang_trim(s);
    if (sp_span_is(s, SP_SPINDUMP_UNSTATED))
        return NULL;
    for (size_t i = 0; i < 4 && sp_hang_starts(s, "state "); i++)
        if (sp_span_is(sp_hang_after(s, 6), words[i]))
            return words[i];
    if (spindump_receives(s))
        return "WAITING";
    if (spindump_has_part(s, "suspended"))
        return "SUSPENDED";
    if (spindump_has_part(s, "running"))
        return "RUNNABLE";
    if (spindump_has_part(s, "runnable"))
        return "RUN_QUEUE";
    if (sp_hang_starts(s, "blocked "))
        s = sp_hang_after(s, 8);
    const char *state = "UNKNOWN";
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t at = spindump_find_word(s, kinds[i].word);
        if (at < best) {
            best = at;
            state = kinds[i].state;
        }
    }
    return state;
}

/* Versions have states of their own, which say nothing bad. */
bool sp_spindump_state_is_damaged(struct sp_span s)
{
    static const char *const words[] = {"running", "runnable", "suspended"};
    const char *comma = s.n ? memchr(s.p, ',', s.n) : NULL;
    size_t n = comma ? (size_t)(comma - s.p) : s.n;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t other = 0;
        for (size_t k = 0; k < n && n == strlen(words[i]); k++)
            other += s.p[k] != words[i][k];
        if (other == 1)
            return true;
    }
    return false;
}

const char *sp_spindump_state_text(struct sp_str word)
{
    static const char *const texts[][2] = {{"RUNNABLE", "running"},
                                           {"RUN_QUEUE", "runnable"},
                                           {"SUSPENDED", "suspended"},
                                           {"BLOCKED", "blocked by lock"},
                                           {"UNKNOWN", "unknown"},
                                           {"NATIVE", "state NATIVE"},
                                           {"IDLE", "state IDLE"},
                                           {"WALL_TIME", "state WALL_TIME"},
                                           {"TIMED_WAITING", "state TIMED_WAITING"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (sp_str_is(word, texts[i][0]))
            return texts[i][1];
    return NULL;
}

bool sp_spindump_cut_idle(struct sp_span *text)
{
    static const char mark[] = SP_SPINDUMP_IDLE;
    if (!text->p || !sp_hang_ends(*text, mark))
        return false;
    text->n -= sizeof mark - 1;
    return true;
}
