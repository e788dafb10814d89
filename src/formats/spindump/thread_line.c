/*
 * The header of a thread, of which all but the id may be missing:
 *
 *     Thread 0x3fd504    DispatchQueue "com.apple.main-thread"(1)    Thread name "a"    341 samples (1-341)
 *       priority 31 (base 31)    cpu time 0.922s (3.2G cycles, …)    3 I/Os (48 KB)      (on one line)
 *
 * Old versions pad with ragged columns and labels hold anything, so it is split at its keywords, outside of
 * quotes.
 */
#include "base/num.h"
#include "formats/spindump/spindump.h"

#include <string.h>

enum spindump_part { QUEUE, NAME, SAMPLES, PRIORITY, CPU_TIME, IDLE_TIME, LAST_RAN, IOS, PARTS };

/* "N samples", "1 sample", "3 I/Os", "1 I/O" */
static bool spindump_counted_part(struct sp_span s, enum spindump_part *part)
{
    size_t n = 0;
    while (n < s.n && sp_hang_digit(s.p[n]))
        n++;
    if (!n || n == s.n || s.p[n] != ' ')
        return false;
    s = sp_hang_after(s, n + 1);
    *part = sp_hang_starts(s, "sample") ? SAMPLES : IOS;
    return sp_hang_starts(s, "sample") || sp_hang_starts(s, "I/O") || sp_hang_starts(s, "IO");
}

static bool spindump_part_at(struct sp_span s, enum spindump_part *part, size_t *keyword)
{
    static const struct {
        char first;
        const char *word;
        enum spindump_part part;
    } words[] = {{'D', "DispatchQueue ", QUEUE}, {'T', "Thread name ", NAME},
                 {'p', "priority ", PRIORITY},   {'c', "cpu time ", CPU_TIME},
                 {'i', "idle time ", IDLE_TIME}, {'l', "last ran ", LAST_RAN}};
    *keyword = 0;
    if (s.n && sp_hang_digit(*s.p))
        return spindump_counted_part(s, part);
    for (size_t i = 0; s.n && i < sizeof words / sizeof *words; i++)
        if (*s.p == words[i].first && sp_hang_starts(s, words[i].word)) {
            *part = words[i].part;
            *keyword = strlen(words[i].word);
            return true;
        }
    return false;
}

/* The length of the part that begins at s: up to a keyword behind a blank, or the end. */
static size_t spindump_part_length(struct sp_span s, bool quotes)
{
    enum spindump_part part;
    size_t keyword;
    bool quoted = false;
    for (const char *p = s.p, *end = s.p + s.n;
         !quotes && p < end && (p = memchr(p, ' ', (size_t)(end - p)));) {
        while (p < end && sp_hang_blank(*p))
            p++;
        if (p < end && spindump_part_at((struct sp_span){p, (size_t)(end - p)}, &part, &keyword))
            return (size_t)(p - s.p);
    }
    for (size_t i = 0; quotes && i < s.n; i++) {
        if (s.p[i] == '"') {
            char before = i ? s.p[i - 1] : ' ', after = i + 1 < s.n ? s.p[i + 1] : ' ';
            if (!quoted && memchr(" \t,(", before, 4))
                quoted = true;
            else if (memchr(" \t,(", after, 4))
                quoted = false;
        } else if (i && sp_hang_blank(s.p[i - 1]) && !sp_hang_blank(s.p[i]) && !quoted &&
                   spindump_part_at(sp_hang_after(s, i), &part, &keyword)) {
            return i;
        }
    }
    return s.n;
}

/* "31 (base 31)": the text before the parenthesis, and what is in it. */
static void spindump_split_group(struct sp_span s, struct sp_span *head, struct sp_span *group)
{
    const char *open = s.n && s.p[s.n - 1] == ')' ? memchr(s.p, '(', s.n) : NULL;
    *head = s;
    if (!open)
        return;
    *head = sp_hang_trim((struct sp_span){s.p, (size_t)(open - s.p)});
    *group = (struct sp_span){open + 1, (size_t)(s.p + s.n - 1 - (open + 1))};
}

static void spindump_thread_name(struct sp_spindump_thread *t, struct sp_span s)
{
    t->name_changed = sp_hang_ends(s, "\" (changed)");
    if (t->name_changed)
        s.n -= strlen(" (changed)");
    if (s.n >= 2 && *s.p == '"' && s.p[s.n - 1] == '"')
        s = (struct sp_span){s.p + 1, s.n - 2};
    t->name = s;
}

static void spindump_set_part(struct sp_spindump_thread *t, enum spindump_part part, struct sp_span s)
{
    struct sp_span group = {NULL, 0};
    switch (part) {
    case QUEUE:
        t->queue = s;
        break;
    case NAME:
        spindump_thread_name(t, s);
        break;
    case SAMPLES:
        spindump_split_group(s, &t->samples, &t->range);
        if (!sp_parse_i64(s.p, s.p + s.n, &t->nsamples))
            t->nsamples = -1;
        break;
    case PRIORITY:
        spindump_split_group(s, &t->priority, &group);
        t->base = sp_hang_starts(group, "base ") ? sp_hang_after(group, 5) : group;
        break;
    case CPU_TIME:
        t->cpu_time = s;
        break;
    case IDLE_TIME:
        t->idle_time = s;
        break;
    case LAST_RAN:
        t->last_ran = s;
        break;
    case IOS:
        t->ios = s;
        break;
    case PARTS:
        break;
    }
}

/* "0xA" or "<multiple>" at the beginning of s, which is then what follows. */
static bool spindump_thread_id(struct sp_span *s, struct sp_spindump_thread *t)
{
    uint64_t id;
    if (sp_hang_starts(*s, "<multiple>")) {
        *s = sp_hang_after(*s, 10);
        return true;
    }
    if (!sp_hang_starts(*s, "0x"))
        return false;
    size_t n = sp_parse_hex(s->p + 2, s->p + s->n, &id);
    if (!n || id > (uint64_t)INT64_MAX)
        return false;
    t->id = (struct sp_span){s->p, n + 2};
    t->tid = (int64_t)id;
    *s = sp_hang_after(*s, n + 2);
    return !s->n || sp_hang_blank(*s->p) || *s->p == ',';
}

/* What follows the id. */
static void spindump_thread_parts(struct sp_span s, struct sp_spindump_thread *t)
{
    for (s = sp_hang_trim(s); s.n; s = sp_hang_trim(s)) {
        enum spindump_part part = PARTS;
        size_t keyword;
        bool known = spindump_part_at(s, &part, &keyword);
        size_t n = keyword + spindump_part_length(sp_hang_after(s, keyword), part == QUEUE || part == NAME);
        struct sp_span value = sp_hang_trim((struct sp_span){s.p + keyword, n - keyword});
        if (known)
            spindump_set_part(t, part, value);
        else
            t->rest = value;
        s = sp_hang_after(s, n);
    }
}

bool sp_spindump_parse_thread(struct sp_span s, struct sp_spindump_thread *t)
{
    *t = (struct sp_spindump_thread){.tid = SP_ABSENT, .nsamples = -1};
    s = sp_hang_trim(s);
    if (!sp_hang_starts(s, "Thread "))
        return false;
    s = sp_hang_trim(sp_hang_after(s, 7));
    if (!spindump_thread_id(&s, t))
        return false;
    if (t->id.n && s.n && *s.p == ',') {
        size_t k = 1;
        while (k < s.n && !sp_hang_blank(s.p[k]))
            k++;
        t->more_ids = (struct sp_span){s.p + 1, k - 1};
        s = sp_hang_after(s, k);
    }
    spindump_thread_parts(s, t);
    return true;
}

static void spindump_member(struct sp_buf *b, const char *key, struct sp_span s)
{
    if (s.n)
        sp_hang_member(b, key, s);
}

static void spindump_stated(struct sp_buf *b, const char *key, int64_t v)
{
    if (v != SP_ABSENT)
        sp_hang_number(b, key, v);
}

/* What a record of a thread has fields for, where there is none. */
static void spindump_thread_facts_as_members(struct sp_buf *b, const struct sp_spindump_thread *t)
{
    struct sp_hang_cpu cpu = sp_hang_cpu(t->cpu_time);
    spindump_member(b, "queue", t->queue);
    if (t->name.p)
        sp_hang_member(b, "name", t->name);
    spindump_member(b, "priority", t->priority);
    spindump_stated(b, "cpu_time_ns", cpu.ns);
    spindump_stated(b, "cycles", cpu.cycles);
    spindump_stated(b, "instructions", cpu.instructions);
}

void sp_spindump_thread_members(struct sp_buf *b, const struct sp_spindump_thread *t, bool facts)
{
    spindump_member(b, "more_ids", t->more_ids);
    if (facts)
        spindump_thread_facts_as_members(b, t);
    if (t->name_changed) {
        sp_hang_comma(b);
        sp_buf_puts(b, "\"name_changed\":true");
    }
    if (t->nsamples >= 0)
        sp_hang_number(b, "samples", t->nsamples);
    spindump_member(b, "range", t->range);
    spindump_member(b, "base_priority", t->base);
    spindump_member(b, "cpu_time", t->cpu_time);
    spindump_member(b, "idle_time", t->idle_time);
    spindump_member(b, "last_ran", t->last_ran);
    spindump_member(b, "io", t->ios);
    if (t->ios.n)
        sp_hang_io_members(b, t->ios);
    spindump_member(b, "rest", t->rest);
}

static uint32_t spindump_fact_text(struct sp_profile *p, struct sp_span s)
{
    return s.p ? sp_profile_text(p, s.p, s.n) : SP_STR_NONE;
}

bool sp_spindump_thread_facts(struct sp_profile *p, const struct sp_spindump_thread *t, struct sp_thread *to)
{
    struct sp_hang_cpu cpu = sp_hang_cpu(t->cpu_time);
    to->name = spindump_fact_text(p, t->name);
    to->queue = t->queue.n ? spindump_fact_text(p, t->queue) : SP_STR_NONE;
    to->priority = t->priority.n ? spindump_fact_text(p, t->priority) : SP_STR_NONE;
    to->cpu_time_ns = cpu.ns;
    to->cycles = cpu.cycles;
    to->instructions = cpu.instructions;
    return to->name != SP_STR_FAIL && to->queue != SP_STR_FAIL && to->priority != SP_STR_FAIL;
}
