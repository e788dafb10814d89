#include "analysis/thread_info.h"

#include "base/buf.h"
#include "base/hash.h"
#include "json/find.h"

static struct sp_span thread_info_of(struct sp_str s)
{
    return (struct sp_span){s.p, s.n};
}

void sp_thread_info_free(struct sp_thread_info *f)
{
    sp_strtab_free(&f->strs);
    sp_vec_free(&f->threads);
    sp_vec_free(&f->processes);
    sp_map_free(&f->by_tid);
    sp_map_free(&f->by_pid);
}

const struct sp_reported_thread *sp_thread_info_thread(const struct sp_thread_info *f, int64_t tid)
{
    struct sp_probe at = sp_map_probe(&f->by_tid, sp_hash_mix((uint64_t)tid, 7));
    for (uint32_t i; (i = sp_map_next(&f->by_tid, &at)) != SP_MAP_NONE;)
        if (f->threads.v[i].tid == tid)
            return &f->threads.v[i];
    return NULL;
}

static struct sp_reported_process *process(const struct sp_thread_info *f, int64_t pid)
{
    struct sp_probe at = sp_map_probe(&f->by_pid, sp_hash_mix((uint64_t)pid, 9));
    for (uint32_t i; (i = sp_map_next(&f->by_pid, &at)) != SP_MAP_NONE;)
        if (f->processes.v[i].pid == pid)
            return &f->processes.v[i];
    return NULL;
}

const struct sp_reported_process *sp_thread_info_process(const struct sp_thread_info *f, int64_t pid)
{
    return process(f, pid);
}

static void thread_info_cpu_of(struct sp_span object, struct sp_reported_cpu *c)
{
    *c = (struct sp_reported_cpu){-1, -1, -1};
    sp_json_find_i64(object, "cpu_time_ns", &c->cpu_ns);
    sp_json_find_i64(object, "cycles", &c->cycles);
    sp_json_find_i64(object, "instructions", &c->instructions);
}

static bool thread_info_text_of(struct sp_thread_info *f, struct sp_span object, const char *key,
                                uint32_t *out)
{
    struct sp_span raw;
    struct sp_buf b;
    *out = SP_STR_NONE;
    if (!sp_json_find(object, key, &raw))
        return true;
    sp_buf_init(&b, 0);
    if (sp_json_text_to(&b, raw) && b.len)
        *out = sp_intern(&f->strs, b.data, b.len);
    bool ok = !b.failed && *out != SP_STR_FAIL;
    sp_buf_free(&b);
    return ok;
}

static bool add_process(struct sp_thread_info *f, const struct sp_reported_process *x)
{
    return f->processes.n < SP_NONE - 1 && sp_vec_push(&f->processes, *x) &&
           sp_map_add(&f->by_pid, sp_hash_mix((uint64_t)x->pid, 9), (uint32_t)f->processes.n - 1);
}

static bool thread_info_add_record(struct sp_thread_info *f, struct sp_span record)
{
    struct sp_reported_process x = {.main = SP_ABSENT};
    if (!sp_json_find_i64(record, "pid", &x.pid) || process(f, x.pid))
        return true;
    thread_info_cpu_of(record, &x.cpu);
    x.frontmost = sp_json_find_true(record, "frontmost");
    x.suspended = sp_json_find_true(record, "suspended");
    f->any_cpu = f->any_cpu || x.cpu.cpu_ns >= 0;
    return thread_info_text_of(f, record, "name", &x.name) && add_process(f, &x);
}

static void thread_info_add_part(int64_t *sum, int64_t v)
{
    if (v >= 0 && __builtin_add_overflow(*sum < 0 ? 0 : *sum, v, sum))
        *sum = INT64_MAX;
}

static bool thread_info_add_thread(struct sp_thread_info *f, const struct sp_profile *p,
                                   const struct sp_thread *t, const bool *stated)
{
    struct sp_span object = {NULL, 0}, more = thread_info_of(sp_pstr(p, t->extra_json));
    struct sp_reported_thread x = {.pid = t->pid, .tid = t->tid, .comm = t->comm};
    if (!sp_json_find(more, "x_spindump", &object))
        sp_json_find(more, "x_sample", &object);
    thread_info_cpu_of(object, &x.cpu);
    if (!thread_info_text_of(f, object, "name", &x.name) ||
        !thread_info_text_of(f, object, "queue", &x.queue))
        return false;
    struct sp_str queue = sp_str_at(&f->strs, x.queue);
    x.main = queue.n && memmem(queue.p, queue.n, "com.apple.main-thread", 21);
    f->any_cpu = f->any_cpu || x.cpu.cpu_ns >= 0;
    struct sp_reported_process *of_thread = process(f, t->pid);
    if (!of_thread) {
        struct sp_reported_process fresh = {.pid = t->pid, .cpu = {-1, -1, -1}, .main = SP_ABSENT};
        if (!add_process(f, &fresh))
            return false;
        of_thread = &f->processes.v[f->processes.n - 1];
    }
    size_t number = (size_t)(of_thread - f->processes.v);
    if (!stated[number]) {
        thread_info_add_part(&of_thread->cpu.cpu_ns, x.cpu.cpu_ns);
        thread_info_add_part(&of_thread->cpu.cycles, x.cpu.cycles);
        thread_info_add_part(&of_thread->cpu.instructions, x.cpu.instructions);
    }
    if (x.main && of_thread->main == SP_ABSENT)
        of_thread->main = x.tid;
    return f->threads.n < SP_NONE - 1 && sp_vec_push(&f->threads, x) &&
           sp_map_add(&f->by_tid, sp_hash_mix((uint64_t)x.tid, 7), (uint32_t)f->threads.n - 1);
}

spaa_status sp_thread_info_of(const struct sp_profile *p, struct sp_diags *d, struct sp_thread_info *out)
{
    static const char process_type[] = "{\"type\":\"x_spindump_process\"";
    struct sp_thread_info f = {0};
    bool *stated = NULL;
    bool ok = sp_strtab_init(&f.strs);
    for (size_t i = 0; ok && i < p->extensions.n; i++) {
        struct sp_span record = thread_info_of(sp_pstr(p, p->extensions.v[i].json));
        if (record.n > sizeof process_type && memcmp(record.p, process_type, sizeof process_type - 1) == 0)
            ok = thread_info_add_record(&f, record);
    }
    stated = calloc(f.processes.n + p->threads.n + 1, sizeof *stated);
    ok = ok && stated;
    for (size_t i = 0; ok && i < f.processes.n; i++)
        stated[i] = f.processes.v[i].cpu.cpu_ns >= 0;
    for (size_t i = 0; ok && i < p->threads.n; i++)
        ok = thread_info_add_thread(&f, p, &p->threads.v[i], stated);
    free(stated);
    /* Without a queue that says so, the first thread is the main one. */
    for (size_t i = 0; ok && i < f.threads.n; i++) {
        struct sp_reported_process *x = process(&f, f.threads.v[i].pid);
        if (x && x->main == SP_ABSENT) {
            x->main = f.threads.v[i].tid;
            f.threads.v[i].main = true;
        }
    }
    if (!ok) {
        sp_thread_info_free(&f);
        return sp_nomem(d);
    }
    *out = f;
    return SPAA_OK;
}
