#include "model/sched_events.h"

#include "base/num.h"
#include "model/labels.h"

/*
 * Source: the kernel's include/linux/sched.h and include/trace/events/sched.h. Since 4.14 bits up to 0x80 are
 * the states and 0x100 says that the thread was put off the CPU; before, bits from 0x400 on did, and idle
 * threads of the kernel were 0x402.
 */
enum {
    TASK_SLEEPING = 1,
    TASK_UNINTERRUPTIBLE = 2,
    TASK_STOPPED = 4 | 8,
    TASK_DEAD = 0x10 | 0x20,
    TASK_PARKED = 0x40,
    TASK_IDLE = 0x80,
    OLD_NOLOAD = 0x400,
};

enum sp_task_state sp_task_state_of_bits(uint64_t v)
{
    if (v & TASK_IDLE || (v & TASK_UNINTERRUPTIBLE && v & OLD_NOLOAD))
        return SP_TASK_IDLE;
    return v & TASK_UNINTERRUPTIBLE            ? SP_TASK_UNINTERRUPTIBLE
           : v & (TASK_SLEEPING | TASK_PARKED) ? SP_TASK_SLEEPING
           : v & TASK_STOPPED                  ? SP_TASK_STOPPED
           : v & TASK_DEAD                     ? SP_TASK_DEAD
                                               : SP_TASK_RUNNABLE;
}

enum sp_task_state sp_task_state_of_text(const char *s, size_t n)
{
    if (!n)
        return SP_TASK_UNKNOWN;
    if (memchr(s, 'I', n))
        return SP_TASK_IDLE;
    return memchr(s, 'D', n)                                             ? SP_TASK_UNINTERRUPTIBLE
           : memchr(s, 'S', n) || memchr(s, 'P', n)                      ? SP_TASK_SLEEPING
           : memchr(s, 'T', n) || memchr(s, 't', n)                      ? SP_TASK_STOPPED
           : memchr(s, 'X', n) || memchr(s, 'x', n) || memchr(s, 'Z', n) ? SP_TASK_DEAD
           : memchr(s, 'R', n)                                           ? SP_TASK_RUNNABLE
                                                                         : SP_TASK_UNKNOWN;
}

const char *sp_task_state_name(enum sp_task_state s)
{
    static const char *const names[] = {[SP_TASK_RUNNABLE] = "RUN_QUEUE",
                                        [SP_TASK_SLEEPING] = "WAITING",
                                        [SP_TASK_UNINTERRUPTIBLE] = "BLOCKED",
                                        [SP_TASK_STOPPED] = "SUSPENDED",
                                        [SP_TASK_IDLE] = "IDLE",
                                        [SP_TASK_DEAD] = "UNKNOWN",
                                        [SP_TASK_UNKNOWN] = "UNKNOWN"};
    return names[s];
}

enum sp_sched_kind sp_sched_kind_of(struct sp_str event)
{
    static const struct {
        const char *name;
        enum sp_sched_kind kind;
    } names[] = {
        {"sched:sched_switch", SP_SCHED_SWITCH},        {"sched:sched_waking", SP_SCHED_WAKING},
        {"sched:sched_wakeup", SP_SCHED_WAKEUP},        {"sched:sched_wakeup_new", SP_SCHED_WAKEUP_NEW},
        {"sched:sched_migrate_task", SP_SCHED_MIGRATE}, {"sched:sched_process_fork", SP_SCHED_FORK},
        {"sched:sched_process_exit", SP_SCHED_EXIT},    {"sched:sched_process_exec", SP_SCHED_EXEC},
        {SP_SCHED_RECORD_EVENT, SP_SCHED_RECORD},       {SP_SCHED_LOST_EVENT, SP_SCHED_LOST},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i].name);
        if (event.n >= n && memcmp(event.p, names[i].name, n) == 0 && (event.n == n || event.p[n] == ':'))
            return names[i].kind;
    }
    return SP_SCHED_OTHER;
}

bool sp_sched_has(const struct sp_profile *p, enum sp_sched_kind kind)
{
    for (size_t i = 0; i < p->events.n; i++)
        if (sp_sched_kind_of(sp_pstr(p, p->events.v[i].name)) == kind)
            return true;
    return false;
}

bool sp_sched_names_lost(const struct sp_profile *p)
{
    static const char numbered[] = "tracepoint:";
    for (size_t i = 0; i < p->events.n; i++) {
        struct sp_str name = sp_pstr(p, p->events.v[i].name);
        if (name.n >= sizeof numbered && memcmp(name.p, numbered, sizeof numbered - 1) == 0)
            return true;
    }
    return false;
}

static const struct sp_label *field(const struct sp_profile *p, uint32_t set, const char *name)
{
    return sp_labels_find(p, set, (struct sp_str){name, (uint32_t)strlen(name)});
}

/* The number of a field; SP_ABSENT: it is not there. */
static int64_t field_number(const struct sp_profile *p, uint32_t set, const char *name)
{
    const struct sp_label *l = field(p, set, name);
    int64_t v;
    if (!l)
        return SP_ABSENT;
    struct sp_str text = sp_pstr(p, l->value);
    return text.n && sp_parse_i64(text.p, text.p + text.n, &v) == text.n ? v : SP_ABSENT;
}

static uint32_t field_text(const struct sp_profile *p, uint32_t set, const char *name)
{
    const struct sp_label *l = field(p, set, name);
    return l ? l->value : SP_STR_NONE;
}

static enum sp_task_state switch_state(const struct sp_profile *p, uint32_t set)
{
    const struct sp_label *l = field(p, set, "prev_state");
    struct sp_str text = l ? sp_pstr(p, l->value) : (struct sp_str){0};
    int64_t bits = field_number(p, set, "prev_state");
    return bits != SP_ABSENT ? sp_task_state_of_bits((uint64_t)bits) : sp_task_state_of_text(text.p, text.n);
}

static void decode_record(const struct sp_profile *p, uint32_t set, struct sp_sched_event *out)
{
    const struct sp_label *l = field(p, set, "switch");
    struct sp_str word = l ? sp_pstr(p, l->value) : (struct sp_str){0};
    out->in = sp_str_is(word, "in");
    /* Of why it leaves the record says no more than whether it would go on. */
    out->state = sp_str_is(word, "preempted") ? SP_TASK_RUNNABLE : SP_TASK_UNKNOWN;
    out->kind = l ? SP_SCHED_RECORD : SP_SCHED_OTHER;
}

static void decode(const struct sp_profile *p, uint32_t set, enum sp_sched_kind kind,
                   struct sp_sched_event *out)
{
    if (kind == SP_SCHED_SWITCH) {
        out->prev = field_number(p, set, "prev_pid");
        out->next = field_number(p, set, "next_pid");
        out->prev_comm = field_text(p, set, "prev_comm");
        out->next_comm = field_text(p, set, "next_comm");
        out->state = switch_state(p, set);
        out->kind = out->prev >= 0 && out->next >= 0 ? kind : SP_SCHED_OTHER;
        return;
    }
    if (kind == SP_SCHED_RECORD) {
        decode_record(p, set, out);
        return;
    }
    out->target = field_number(p, set, kind == SP_SCHED_FORK ? "child_pid" : "pid");
    out->prev = kind == SP_SCHED_EXEC ? field_number(p, set, "old_pid") : SP_ABSENT;
    out->next_comm = field_text(p, set, kind == SP_SCHED_FORK ? "child_comm" : "comm");
    out->from_cpu = field_number(p, set, "orig_cpu");
    out->to_cpu = field_number(p, set, kind == SP_SCHED_MIGRATE ? "dest_cpu" : "target_cpu");
    out->kind = kind == SP_SCHED_LOST || out->target > 0 ? kind : SP_SCHED_OTHER;
}

/* What a sample of that kind says; kind SP_SCHED_OTHER: nothing. False: out of memory. */
static bool sched_event_of(struct sp_profile *p, const struct sp_sample *x, enum sp_sched_kind kind,
                           struct sp_sched_event *out)
{
    *out = (struct sp_sched_event){.prev = SP_ABSENT,
                                   .next = SP_ABSENT,
                                   .target = SP_ABSENT,
                                   .from_cpu = SP_ABSENT,
                                   .to_cpu = SP_ABSENT,
                                   .prev_comm = SP_STR_NONE,
                                   .next_comm = SP_STR_NONE,
                                   .state = SP_TASK_UNKNOWN};
    uint32_t set = kind == SP_SCHED_OTHER ? 0 : sp_labels_of_sample(p, x);
    if (set == SP_NONE)
        return false;
    if (kind != SP_SCHED_OTHER)
        decode(p, set, kind, out);
    return true;
}

bool sp_sched_reader_init(struct sp_sched_reader *r, struct sp_profile *p)
{
    *r = (struct sp_sched_reader){.p = p, .events = p->events.n, .texts = p->strs.strs.n};
    r->kinds = calloc(p->events.n + 1, sizeof *r->kinds);
    struct sp_sched_event nothing = {0};
    if (!r->kinds || !sp_vec_push(&r->list, nothing)) {
        sp_sched_reader_free(r);
        return false;
    }
    for (size_t i = 0; i < p->events.n; i++) {
        r->kinds[i] = sp_sched_kind_of(sp_pstr(p, p->events.v[i].name));
        r->has[r->kinds[i]] = true;
    }
    return true;
}

void sp_sched_reader_free(struct sp_sched_reader *r)
{
    for (size_t i = 0; i < SP_SCHED_KINDS; i++)
        free(r->known[i]);
    sp_vec_free(&r->list);
    free(r->kinds);
    *r = (struct sp_sched_reader){0};
}

const struct sp_sched_event *sp_sched_read(struct sp_sched_reader *r, const struct sp_sample *x)
{
    enum sp_sched_kind kind = sp_sched_kind(r, x);
    if (kind == SP_SCHED_OTHER || x->context >= r->texts)
        return &r->list.v[0];
    if (!r->known[kind] && !(r->known[kind] = calloc(r->texts, sizeof *r->known[kind])))
        return NULL;
    uint32_t *known = &r->known[kind][x->context];
    if (!*known) {
        struct sp_sched_event e;
        if (!sched_event_of(r->p, x, kind, &e))
            return NULL;
        if (r->list.n >= SP_NONE || !sp_vec_push(&r->list, e))
            return NULL;
        *known = (uint32_t)r->list.n - 1;
    }
    return &r->list.v[*known];
}
