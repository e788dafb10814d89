#include "model/thread_names.h"

#include "base/hash.h"

struct sp_thread *sp_thread_find(const struct sp_profile *p, int64_t pid, int64_t tid)
{
    struct sp_probe at = sp_map_probe(&p->thread_map, sp_hash_mix((uint64_t)tid, 1));
    for (uint32_t i; (i = sp_map_next(&p->thread_map, &at)) != SP_MAP_NONE;)
        if (p->threads.v[i].tid == tid)
            return p->threads.v[i].pid == pid ? &p->threads.v[i] : NULL;
    return NULL;
}

void sp_thread_rename(struct sp_thread *t, uint32_t before, uint32_t now)
{
    if (!t->renamed_from && before != now)
        t->renamed_from = before;
    t->comm = now;
}

/* Records of several recordings are one for each number: they say nothing of the others' threads. */
uint32_t sp_context_name(const struct sp_profile *p, const struct sp_context *c)
{
    if (!c->comm || c->tid == SP_ABSENT || c->source || p->sources.n > 1)
        return c->comm;
    const struct sp_thread *t = sp_thread_find(p, c->pid == SP_ABSENT ? c->tid : c->pid, c->tid);
    if (!t || !t->renamed_from || !t->comm)
        return c->comm;
    return t->tid != t->pid || c->comm == t->renamed_from ? t->comm : c->comm;
}
