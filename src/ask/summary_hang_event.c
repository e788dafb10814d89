/*
 * What the header of a hang report says happened: which event, for how long, past which limit.
 *
 *     Event:            cpu usage
 *     CPU:              90 seconds cpu time over 130 seconds (69% cpu average), exceeding limit of 50% cpu
 * over 180 seconds Duration Sampled: 4.90s (process was unresponsive for 2 seconds before sampling) Steps:
 * 1295 (10 gigacycles/step, 3 samples lost)
 */
#include "ask/summary.h"

#include "base/num.h"
#include "json/find.h"

#include <stdlib.h>

static const char *event_kept(struct sp_summary *x, const char *p, size_t n)
{
    char *s = n ? sp_arena_dup(&x->x.out->arena, p, n + 1) : NULL;
    if (s)
        s[n] = '\0';
    x->x.out->failed |= n && !s;
    return s;
}

/* The number in front of a word of a text: 3 of "3 samples lost". */
static int64_t event_number_before(const char *s, const char *word)
{
    const char *at = strstr(s, word), *p = at;
    int64_t v;
    while (p && p > s && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return at && p < at && sp_parse_i64(p, at, &v) ? v : SP_ABSENT;
}

/* A rate: "50% cpu", "206 wakeups per second", "2754.85 KB per second"; bytes in KB, which are thousands
 * here. 0: it is none. */
static double event_rate(const char *s)
{
    char *end;
    double v = strtod(s, &end);
    while (*end == ' ')
        end++;
    return end == s                        ? 0
           : strncmp(end, "bytes", 5) == 0 ? v / 1000
           : strncmp(end, "MB", 2) == 0    ? v * 1000
           : strncmp(end, "GB", 2) == 0    ? v * 1000 * 1000
                                           : v;
}

static void event_limit(struct sp_summary *x, struct sp_hang_event *e, const char *value)
{
    static const char exceeding[] = ", exceeding limit of ";
    const char *at = strstr(value, exceeding), *open = strchr(value, '(');
    if (e->measured || !at)
        return;
    e->measured = event_kept(x, value, (size_t)(at - value));
    e->allowed = event_kept(x, at + sizeof exceeding - 1, strlen(at + sizeof exceeding - 1));
    if (open && open < at && e->allowed) {
        double limit = event_rate(e->allowed);
        e->times = limit > 0 ? event_rate(open + 1) / limit : 0;
    }
}

/* "process was unresponsive for 2 seconds before sampling" in any field, "Unresponsive for 3 seconds before
 * …" */
static void event_unresponsive(struct sp_summary *x, struct sp_hang_event *e, const char *value)
{
    static const char what[] = "nresponsive for ";
    const char *at = strstr(value, what), *end;
    if (!at || e->unresponsive)
        return;
    at += sizeof what - 1;
    end = strstr(at, " before");
    e->unresponsive = event_kept(x, at, end ? (size_t)(end - at) : strcspn(at, ",)"));
}

static void event_field(struct sp_summary *x, struct sp_hang_event *e, const char *key, const char *value)
{
    const struct {
        const char *key;
        const char **out;
        bool bare; /* without what stands in parentheses behind it */
    } known[] = {{"Event", &e->event, false},
                 {"Duration", &e->duration, true},
                 {"Command", &e->command, false},
                 {"Duration Sampled", &e->sampled, true},
                 {"Steps", &e->steps, false},
                 {"Unresponsive for", &e->unresponsive, true},
                 {"Hang detected", &e->unresponsive, true}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(key, known[i].key) == 0 && !*known[i].out) {
            const char *open = known[i].bare ? strstr(value, " (") : NULL;
            *known[i].out = event_kept(x, value, open ? (size_t)(open - value) : strlen(value));
        }
    if (strcmp(key, "Action taken") == 0 && strcmp(value, "none") != 0)
        e->action = event_kept(x, value, strlen(value));
    if (strcmp(key, "CPU") == 0 || strcmp(key, "Wakeups") == 0 || strcmp(key, "Writes") == 0)
        event_limit(x, e, value);
    if (strcmp(key, "PID") == 0 && sp_parse_i64(value, value + strlen(value), &e->pid) != strlen(value))
        e->pid = SP_ABSENT;
    if (strcmp(key, "Data Source") == 0 && strstr(value, "Microstackshots"))
        e->microstackshots = !strstr(value, "Stackshots,") && strncmp(value, "Stackshots", 10) != 0;
    if (strcmp(key, "Steps") == 0)
        e->lost = event_number_before(value, " sample lost") != SP_ABSENT
                      ? event_number_before(value, " sample lost")
                      : event_number_before(value, " samples lost");
    event_unresponsive(x, e, value);
}

void sp_hang_event_of(struct sp_summary *x, struct sp_span fields, struct sp_hang_event *e)
{
    struct sp_buf key, value;
    struct sp_span pair, item;
    *e = (struct sp_hang_event){.lost = SP_ABSENT, .pid = SP_ABSENT};
    sp_buf_init(&key, 0);
    sp_buf_init(&value, 0);
    while (sp_json_next(&fields, &pair)) {
        sp_buf_clear(&key);
        sp_buf_clear(&value);
        if (sp_json_next(&pair, &item) && sp_json_text_to(&key, item) && sp_json_next(&pair, &item) &&
            sp_json_text_to(&value, item))
            event_field(x, e, sp_buf_cstr(&key), sp_buf_cstr(&value));
        x->x.out->failed |= key.failed || value.failed;
    }
    sp_buf_free(&key);
    sp_buf_free(&value);
}
