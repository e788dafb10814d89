#include "ask/top_who.h"

static void add_known(int64_t *to, int64_t v)
{
    if (v >= 0 && __builtin_add_overflow(*to < 0 ? 0 : *to, v, to))
        *to = INT64_MAX;
}

/* Of all threads of a pool; facts are in the order of the thread records. */
static struct sp_reported_cpu pool_cpu(const struct sp_thread_info *f, const struct sp_pools *pools,
                                       uint32_t pool)
{
    struct sp_reported_cpu sum = {-1, -1, -1};
    for (size_t i = 0; i < f->threads.n; i++) {
        const struct sp_reported_cpu *x = &f->threads.v[i].cpu;
        if (pools->of_record[i] != pool)
            continue;
        add_known(&sum.cpu_ns, x->cpu_ns);
        add_known(&sum.cycles, x->cycles);
        add_known(&sum.instructions, x->instructions);
    }
    return sum;
}

struct sp_top_who sp_top_who(const struct sp_top *t, enum sp_by by, const struct sp_top_row *r,
                             const struct sp_pools *pools, const struct sp_thread_info *f)
{
    struct sp_top_who who = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = {-1, -1, -1}};
    if (r->context == SP_NONE || (by != SP_TOP_THREAD && by != SP_TOP_PROCESS))
        return who;
    const struct sp_context *c = &t->profile->contexts.v[r->context];
    uint32_t pool = by == SP_TOP_THREAD ? pools->by_thread[r->context] : SP_NONE;
    who.pid = c->pid;
    who.tid = by == SP_TOP_THREAD && pool == SP_NONE ? c->tid : SP_ABSENT;
    struct sp_str shown = sp_str_at(&t->names, r->name); /* "NAME (pid 12)" */
    const char *end = by == SP_TOP_PROCESS && shown.n ? memmem(shown.p, shown.n, " (pid ", 6) : NULL;
    who.name = (struct sp_str){shown.p, end ? (uint32_t)(end - shown.p) : 0};
    if (pool != SP_NONE)
        who.cpu = pool_cpu(f, pools, pool);
    else if (who.tid != SP_ABSENT)
        who.thread = sp_thread_info_thread_of(f, c);
    else if (who.pid != SP_ABSENT && by == SP_TOP_PROCESS)
        who.process = f->profile ? sp_thread_info_process_of(f, c) : NULL;
    if (who.thread || who.process)
        who.cpu = who.thread ? sp_thread_info_cpu(f, c) : who.process->cpu;
    return who;
}

struct sp_str sp_top_who_name(const struct sp_top_who *who, const struct sp_thread_info *f)
{
    uint32_t name = who->thread ? who->thread->name ? who->thread->name : who->thread->queue
                    : who->process && !who->name.n ? who->process->name
                                                   : SP_STR_NONE;
    return name == SP_STR_NONE ? (struct sp_str){"", 0} : sp_pstr(f->profile, name);
}
