/*
 * The text of a tracepoint of the scheduler as its fields: "prev_comm=a b prev_pid=7 prev_prio=120
 * prev_state=S
 * ==> next_comm=c next_pid=8 next_prio=120". Names of threads hold anything, blanks and "=" too, so fields
 * are looked for from the end, where numbers stand.
 *
 * Source: the print formats of the kernel's include/trace/events/sched.h.
 */
#include "formats/perf_script/perf_script.h"

#include "base/num.h"
#include "json/json.h"

#include <string.h>

#define FIELDS     7u
#define PREV_STATE 3u

static const char *const change_keys[] = {"prev_comm", "prev_pid", "prev_prio", "prev_state",
                                          "next_comm", "next_pid", "next_prio", NULL};

/* In the order in which they are printed; NULL ends. */
static const char *const *trace_text_keys(enum sp_sched_kind kind)
{
    static const char *const wake[] = {"comm", "pid", "prio", "success", "target_cpu", NULL},
                             *const migrate[] = {"comm", "pid", "prio", "orig_cpu", "dest_cpu", NULL},
                             *const fork[] = {"comm", "pid", "child_comm", "child_pid", NULL},
                             *const leave[] = {"comm", "pid", "prio", "group_dead", NULL},
                             *const exec[] = {"filename", "pid", "old_pid", NULL}, *const none[] = {NULL};
    switch (kind) {
    case SP_SCHED_SWITCH:
        return change_keys;
    case SP_SCHED_WAKING:
    case SP_SCHED_WAKEUP:
    case SP_SCHED_WAKEUP_NEW:
        return wake;
    case SP_SCHED_MIGRATE:
        return migrate;
    case SP_SCHED_FORK:
        return fork;
    case SP_SCHED_EXIT:
        return leave;
    case SP_SCHED_EXEC:
        return exec;
    default:
        return none;
    }
}

/* Where "KEY=" last stands in the text, at its start or behind a blank; NULL: nowhere. */
static const char *trace_text_last(struct sp_ps_text text, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = text.p + text.n; p-- > text.p;)
        if (*p == '=' && (size_t)(p - text.p) >= n && memcmp(p - n, key, n) == 0 &&
            (p - n == text.p || p[-(ptrdiff_t)n - 1] == ' '))
            return p - n;
    return NULL;
}

/* Names stay texts, though they may be digits. */
static void trace_text_value(struct sp_buf *b, const char *key, struct sp_ps_text v)
{
    size_t i = v.n && *v.p == '-';
    bool minus = i, number = v.n > i && v.n < 19 && !strstr(key, "comm") && strcmp(key, "filename") != 0;
    for (size_t k = i; k < v.n; k++)
        number = number && v.p[k] >= '0' && v.p[k] <= '9';
    if (!number) {
        sp_json_string(b, v.p, v.n);
        return;
    }
    while (i + 1 < v.n && v.p[i] == '0') /* "target_cpu=001" */
        i++;
    if (minus)
        sp_buf_ch(b, '-');
    sp_buf_add(b, v.p + i, v.n - i);
}

/* "OUT", "OUT preempt", "IN", "OUT preempt next pid/tid: 12/12", "lost 23": as the reader of perf.data has
 * it. */
static void trace_text_record(enum sp_sched_kind kind, struct sp_ps_text text, struct sp_buf *b)
{
    static const char out[] = "OUT", preempted[] = "OUT preempt";
    bool left = text.n >= sizeof out - 1 && memcmp(text.p, out, sizeof out - 1) == 0,
         would = text.n >= sizeof preempted - 1 && memcmp(text.p, preempted, sizeof preempted - 1) == 0;
    sp_buf_printf(b, "\"x_labels\":{\"switch\":\"%s\"}",
                  kind == SP_SCHED_LOST ? "lost"
                  : would               ? "preempted"
                  : left                ? "out"
                                        : "in");
}

/* The values of the keys in the text, p NULL: it has none; false: the text is another. */
static bool trace_text_split(const char *const *keys, struct sp_ps_text text,
                             struct sp_ps_text values[static FIELDS])
{
    size_t n = 0, found = 0;
    while (keys[n])
        n++;
    for (size_t i = n; i-- > 0;) {
        const char *at = trace_text_last(text, keys[i]);
        if (!at)
            continue;
        const char *v = at + strlen(keys[i]) + 1, *end = text.p + text.n;
        while (end > v && end[-1] == ' ')
            end--;
        if (end - v >= 4 && memcmp(end - 4, " ==>", 4) == 0)
            end -= 4;
        values[i] = (struct sp_ps_text){v, (size_t)(end - v)};
        text.n = (size_t)(at - text.p);
        found++;
    }
    return found && !text.n; /* something may stand in front */
}

enum sp_task_state sp_ps_switch_state(struct sp_ps_text text)
{
    struct sp_ps_text values[FIELDS] = {{0}}, state;
    int64_t bits;
    if (!trace_text_split(change_keys, text, values) || !(state = values[PREV_STATE]).p)
        return SP_TASK_UNKNOWN;
    if (state.n && sp_parse_i64(state.p, state.p + state.n, &bits) == state.n)
        return sp_task_state_of_bits((uint64_t)bits);
    return sp_task_state_of_text(state.p, state.n);
}

bool sp_ps_trace_fields(enum sp_sched_kind kind, struct sp_ps_text text, struct sp_buf *b)
{
    if (kind == SP_SCHED_RECORD || kind == SP_SCHED_LOST) {
        trace_text_record(kind, text, b);
        return true;
    }
    const char *const *keys = trace_text_keys(kind);
    struct sp_ps_text values[FIELDS] = {{0}};
    if (!trace_text_split(keys, text, values))
        return false;
    sp_buf_puts(b, "\"trace_fields\":{");
    for (size_t i = 0, put = 0; keys[i]; i++) {
        if (!values[i].p)
            continue;
        sp_buf_printf(b, "%s\"%s\":", put++ ? "," : "", keys[i]);
        trace_text_value(b, keys[i], values[i]);
    }
    sp_buf_ch(b, '}');
    return true;
}
