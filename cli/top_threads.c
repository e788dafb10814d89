#include "top_threads.h"

struct top_who top_who(const struct sp_top *t, enum sp_by by, const struct sp_top_row *r,
                       const struct sp_pools *pools)
{
    struct top_who who = {.pid = SP_ABSENT, .tid = SP_ABSENT, .pools = pools, .pool = SP_NONE};
    if (r->context == SP_NONE || (by != SP_TOP_THREAD && by != SP_TOP_PROCESS))
        return who;
    const struct sp_context *c = &t->profile->contexts.v[r->context];
    who.pid = c->pid;
    who.pool = by == SP_TOP_THREAD ? pools->by_thread[r->context] : SP_NONE;
    who.tid = by == SP_TOP_THREAD && who.pool == SP_NONE ? c->tid : SP_ABSENT;
    struct sp_str shown = sp_str_at(&t->names, r->name); /* "NAME (pid 12)" */
    const char *end = by == SP_TOP_PROCESS && shown.n ? memmem(shown.p, shown.n, " (pid ", 6) : NULL;
    who.name = (struct sp_str){shown.p, end ? (uint32_t)(end - shown.p) : 0};
    return who;
}

static const struct sp_reported_thread *top_threads_thread_of(const struct sp_thread_info *f,
                                                              struct top_who who)
{
    return who.tid == SP_ABSENT ? NULL : sp_thread_info_thread(f, who.tid);
}

static const struct sp_reported_process *process_of(const struct sp_thread_info *f, struct top_who who)
{
    return who.tid != SP_ABSENT || who.pid == SP_ABSENT || who.pool != SP_NONE
               ? NULL
               : sp_thread_info_process(f, who.pid);
}

static void add_known(int64_t *to, int64_t v)
{
    if (v >= 0 && __builtin_add_overflow(*to < 0 ? 0 : *to, v, to))
        *to = INT64_MAX;
}

/* Of a pool, of all its threads; facts are in the order of the thread records. */
static struct sp_reported_cpu top_threads_cpu_of(const struct sp_thread_info *f, struct top_who who)
{
    const struct sp_reported_thread *t = top_threads_thread_of(f, who);
    const struct sp_reported_process *p = process_of(f, who);
    struct sp_reported_cpu sum = {-1, -1, -1};
    for (size_t i = 0; who.pool != SP_NONE && i < f->threads.n; i++) {
        const struct sp_reported_cpu *x = &f->threads.v[i].cpu;
        if (who.pools->of_record[i] != who.pool)
            continue;
        add_known(&sum.cpu_ns, x->cpu_ns);
        add_known(&sum.cycles, x->cycles);
        add_known(&sum.instructions, x->instructions);
    }
    return t ? t->cpu : p ? p->cpu : sum;
}

static void json_count(struct sp_jw *w, const char *key, int64_t v)
{
    if (v < 0)
        sp_jw_null(w, key);
    else
        sp_jw_i64(w, key, v);
}

static void top_threads_json_str(struct sp_jw *w, const char *key, struct sp_str s)
{
    if (s.n)
        sp_jw_str(w, key, s.p, s.n);
    else
        sp_jw_null(w, key);
}

void top_threads_json(struct sp_jw *w, const struct sp_thread_info *f, enum sp_by by, struct top_who who)
{
    struct sp_reported_cpu cpu = top_threads_cpu_of(f, who);
    const struct sp_reported_thread *t = top_threads_thread_of(f, who);
    const struct sp_reported_process *p = process_of(f, who);
    json_count(w, "pid", who.pid);
    if (by == SP_TOP_THREAD) {
        json_count(w, "tid", who.tid);
        top_threads_json_str(w, "thread_name", t ? sp_str_at(&f->strs, t->name) : (struct sp_str){"", 0});
        top_threads_json_str(w, "queue", t ? sp_str_at(&f->strs, t->queue) : (struct sp_str){"", 0});
    } else {
        top_threads_json_str(w, "process_name", p && p->name ? sp_str_at(&f->strs, p->name) : who.name);
    }
    if (!f->any_cpu)
        return;
    json_count(w, "cpu_time_ns", cpu.cpu_ns);
    json_count(w, "cycles", cpu.cycles);
    json_count(w, "instructions", cpu.instructions);
}

int64_t top_threads_cpu(const struct sp_thread_info *f, struct top_who who)
{
    return top_threads_cpu_of(f, who).cpu_ns;
}

struct sp_str top_threads_name(const struct sp_thread_info *f, struct top_who who)
{
    const struct sp_reported_thread *t = top_threads_thread_of(f, who);
    const struct sp_reported_process *p = process_of(f, who);
    uint32_t name = t ? (t->name ? t->name : t->queue) : p && !who.name.n ? p->name : SP_STR_NONE;
    return name == SP_STR_NONE ? (struct sp_str){"", 0} : sp_str_at(&f->strs, name);
}
