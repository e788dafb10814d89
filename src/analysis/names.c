#include "analysis/names.h"

#include "analysis/select.h"
#include "model/thread_names.h"

static const struct alias {
    const char *pprof, *metric;
} of_heap[] = {{"inuse_space", "live_bytes"},
               {"inuse_objects", "live_count"},
               {"alloc_space", "alloc_bytes"},
               {"alloc_objects", "alloc_count"},
               {"space", "live_bytes"},
               {"objects", "live_count"},
               {NULL, NULL}},
  of_contention[] = {{"contentions", "count"}, {NULL, NULL}},
  of_any[] = {{"sample", "samples"}, {NULL, NULL}};

static uint32_t used_metric(const struct sp_profile *p, const struct sp_by_event *b, uint32_t event,
                            const char *name)
{
    uint32_t m = sp_metric_find(p, name, strlen(name));
    struct sp_among stacks = sp_stacks_among(p, b, event);
    for (size_t k = 0; m != SP_NONE && k < stacks.n; k++) {
        uint32_t i = sp_among_at(stacks, k);
        if (p->contexts.v[p->stacks.v[i].context].event == event && sp_weight(p, i, m) != SP_ABSENT)
            return m;
    }
    return SP_NONE;
}

uint32_t sp_event_metric(const struct sp_profile *p, uint32_t event, const char *name)
{
    return sp_event_metric_among(p, NULL, event, name);
}

uint32_t sp_event_metric_among(const struct sp_profile *p, const struct sp_by_event *b, uint32_t event,
                               const char *name)
{
    const struct sp_event *e = &p->events.v[event];
    uint32_t m = used_metric(p, b, event, name);
    const struct alias *a = e->kind == SP_ALLOCATION                       ? of_heap
                            : sp_str_is(sp_pstr(p, e->name), "contention") ? of_contention
                                                                           : of_any;
    for (; m == SP_NONE && a->pprof; a++)
        if (strcmp(a->pprof, name) == 0)
            m = used_metric(p, b, event, a->metric);
    return m;
}

uint32_t sp_metric_event(const struct sp_profile *p, const char *name)
{
    uint32_t first = sp_default_event(p);
    if (first == SP_NONE || sp_event_metric(p, first, name) != SP_NONE)
        return first;
    for (uint32_t e = 0; e < p->events.n; e++)
        if (sp_event_metric(p, e, name) != SP_NONE)
            return e;
    return SP_NONE;
}

void sp_thread_name(struct sp_buf *b, const struct sp_profile *p, const struct sp_context *c)
{
    struct sp_str comm = sp_pstr(p, sp_context_name(p, c));
    sp_buf_add(b, comm.n ? comm.p : "?", comm.n ? comm.n : 1);
    sp_buf_puts(b, " (tid ");
    if (c->tid == SP_ABSENT)
        sp_buf_puts(b, "?");
    else
        sp_buf_i64(b, c->tid);
    sp_buf_ch(b, ')');
}

const char *sp_weight_word(const char *asked)
{
    if (!asked)
        return NULL;
    if (strcmp(asked, "flat") == 0 || strcmp(asked, "own") == 0)
        return "self";
    return strcmp(asked, "cum") == 0 ? "total" : asked;
}
