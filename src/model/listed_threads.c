#include "model/listed_threads.h"

#include "base/hash.h"
#include "base/num.h"
#include "json/find.h"

#include <string.h>

bool sp_listed_threads_open(struct sp_listed_threads *x, const struct sp_profile *p)
{
    *x = (struct sp_listed_threads){.p = p};
    for (uint32_t i = 0; i < p->threads.n; i++)
        if (!sp_map_add(&x->records, sp_hash_mix((uint64_t)p->threads.v[i].tid, 11), i))
            return false;
    return true;
}

void sp_listed_threads_close(struct sp_listed_threads *x)
{
    sp_map_free(&x->records);
}

void sp_listed_threads_of(struct sp_listed_threads *x, const struct sp_process_fact *process)
{
    struct sp_str extra = sp_pstr(x->p, process->extra_json);
    struct sp_span list;
    x->left = 0;
    if (extra.n && sp_json_find2((struct sp_span){extra.p, extra.n}, "x_spindump", "threads", &list)) {
        x->rest = list.p;
        x->left = list.n;
    }
}

static uint32_t listed_record(const struct sp_listed_threads *x, int64_t pid, int64_t tid)
{
    struct sp_probe at = sp_map_probe(&x->records, sp_hash_mix((uint64_t)tid, 11));
    for (uint32_t k; (k = sp_map_next(&x->records, &at)) != SP_MAP_NONE;)
        if (x->p->threads.v[k].tid == tid && x->p->threads.v[k].pid == pid)
            return k;
    return SP_NONE;
}

/* The record's text where a raw JSON text is the same, else none. */
static uint32_t listed_text(const struct sp_profile *p, uint32_t text, struct sp_span item, const char *key)
{
    struct sp_str s = sp_pstr(p, text);
    struct sp_span raw;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    bool same = s.n && sp_json_find(item, key, &raw) && sp_json_text_to(&b, raw) && b.len == s.n &&
                memcmp(b.data, s.p, s.n) == 0;
    sp_buf_free(&b);
    return same ? text : SP_STR_NONE;
}

/* A number of a record, or an object: a thread, or another header of one that was there, which is none. */
static bool listed_thread(struct sp_listed_threads *x, struct sp_span item, int64_t pid,
                          struct sp_listed_thread *out, uint32_t *record)
{
    bool object = *item.p == '{';
    int64_t header;
    *out = (struct sp_listed_thread){SP_ABSENT, !object,     SP_ABSENT,  SP_ABSENT,
                                     SP_ABSENT, SP_STR_NONE, SP_STR_NONE};
    if (object ? !sp_json_find_i64(item, "tid", &out->tid) || sp_json_find_i64(item, "header", &header)
               : sp_parse_i64(item.p, item.p + item.n, &out->tid) != item.n)
        return false;
    *record = listed_record(x, pid, out->tid);
    if (!object)
        return true;
    sp_json_find_i64(item, "cpu_time_ns", &out->cpu_time_ns);
    sp_json_find_i64(item, "cycles", &out->cycles);
    sp_json_find_i64(item, "instructions", &out->instructions);
    if (*record != SP_NONE) {
        out->name = listed_text(x->p, x->p->threads.v[*record].name, item, "name");
        out->queue = listed_text(x->p, x->p->threads.v[*record].queue, item, "queue");
    }
    return true;
}

bool sp_listed_threads_next(struct sp_listed_threads *x, const struct sp_process_fact *process,
                            struct sp_listed_thread *out, uint32_t *record)
{
    struct sp_span rest = {x->rest, x->left}, item;
    bool found = false;
    while (!found && rest.n && sp_json_next(&rest, &item))
        found = listed_thread(x, item, process->pid, out, record);
    x->rest = rest.p;
    x->left = found ? rest.n : 0;
    return found;
}
