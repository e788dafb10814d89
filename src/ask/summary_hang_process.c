/*
 * Which process the brief of a hang report is about. A number may be of several, one after the other: a
 * program that executed another one, or a number that came again.
 */
#include "ask/summary.h"

#include "analysis/process.h"
#include "analysis/state_shares.h"
#include "base/hash.h"
#include "base/num.h"
#include "json/find.h"

#include <stdlib.h>

/* That of the filter, of the header, in front, or the only one. */
static int64_t hang_pid(const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    const char *asked = x->x.q->options->pid;
    int64_t pid = SP_ABSENT;
    if (asked && sp_parse_i64(asked, asked + strlen(asked), &pid) == strlen(asked))
        return pid;
    if (x->hang.e.pid != SP_ABSENT)
        return x->hang.e.pid;
    for (size_t i = 0; i < p->processes.n; i++)
        if (p->processes.v[i].flags & SP_FACT_FRONTMOST)
            return p->processes.v[i].pid;
    return p->processes.n == 1 ? p->processes.v[0].pid : SP_ABSENT;
}

/* Others in front than the one that was taken for that, each number once. */
static void hang_also_in_front(struct sp_summary *x)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    struct sp_buf b;
    enum { SHOWN = 4 };
    uint32_t n = 0;
    if (x->x.q->options->pid || x->hang.e.pid != SP_ABSENT)
        return;
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < p->processes.n; i++) {
        const struct sp_process_fact *f = &p->processes.v[i];
        struct sp_str name = sp_pstr(p, f->name);
        if (!(f->flags & SP_FACT_FRONTMOST) || f->pid == x->hang.pid || n++ >= SHOWN)
            continue;
        sp_buf_printf(&b, "%s%.*s [%lld]", n > 1 ? ", " : "", (int)name.n, name.p, (long long)f->pid);
    }
    if (n > SHOWN)
        sp_buf_printf(&b, " and %u more", n - SHOWN);
    if (b.len)
        x->hang.also = sp_arena_dup(&x->x.out->arena, sp_buf_cstr(&b), b.len + 1);
    x->x.out->failed |= b.failed || (b.len && !x->hang.also);
    sp_buf_free(&b);
}

/* Microstackshots of a process that has a block of its own besides are no other process. */
static bool hang_is_process(const struct sp_summary *x, const struct sp_process_fact *f)
{
    static const char beside[] = "microstackshots";
    struct sp_str s = sp_pstr(x->x.q->profiles[0], f->instance);
    return f->pid == x->hang.pid &&
           !(s.n >= sizeof beside - 1 && memcmp(s.p, beside, sizeof beside - 1) == 0);
}

static uint64_t hang_key(const struct sp_profile *p, uint32_t name, struct sp_str instance)
{
    struct sp_str s = sp_pstr(p, name);
    return sp_hash_mix(sp_hash64(s.p, s.n), sp_hash64(instance.p, instance.n));
}

/* A context of the number that the filters keep; `kept`: of each process one, by hang_key. */
static bool hang_is_kept(const struct sp_profile *p, const struct sp_map *kept, uint32_t name,
                         struct sp_str instance)
{
    struct sp_probe at = sp_map_probe(kept, hang_key(p, name, instance));
    for (uint32_t i; (i = sp_map_next(kept, &at)) != SP_MAP_NONE;)
        if (p->contexts.v[i].comm == name &&
            sp_str_cmp(sp_process_instance(p, &p->contexts.v[i]), instance) == 0)
            return true;
    return false;
}

static bool hang_keep(const struct sp_summary *x, const struct sp_selection *s, struct sp_map *kept)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    for (size_t i = 0; i < s->rows.n; i++) {
        uint32_t number = p->stacks.v[s->rows.v[i].stack].context;
        const struct sp_context *c = &p->contexts.v[number];
        struct sp_str instance = sp_process_instance(p, c);
        if (c->pid == x->hang.pid && !hang_is_kept(p, kept, c->comm, instance) &&
            !sp_map_add(kept, hang_key(p, c->comm, instance), number))
            return false;
    }
    return true;
}

/* Of the processes of the number those that fit: the command that the header names, and the filters. */
static uint32_t hang_count(const struct sp_summary *x, const struct sp_map *kept, bool by_command,
                           const struct sp_process_fact **one)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    uint32_t n = 0;
    for (size_t i = 0; i < p->processes.n; i++) {
        const struct sp_process_fact *f = &p->processes.v[i];
        if (!hang_is_process(x, f) || (by_command && !sp_str_is(sp_pstr(p, f->name), x->hang.e.command)) ||
            (kept && !hang_is_kept(p, kept, f->name, sp_pstr(p, f->instance))))
            continue;
        *one = n++ ? *one : f;
    }
    return n;
}

static spaa_status hang_choose(struct sp_summary *x, const struct sp_process_fact **one)
{
    struct sp_selection s;
    struct sp_select_opts how;
    uint32_t n = hang_count(x, NULL, false, one);
    if (n > 1 && x->hang.e.command && hang_count(x, NULL, true, one) == 1)
        n = 1;
    if (n < 2)
        return SPAA_OK;
    if (!sp_ask_select_opts(x->x.q, &how))
        return SPAA_ERR_USAGE;
    how.any_state = how.may_be_empty = true;
    spaa_status st = sp_select(x->x.q->profiles[0], &how, x->x.q->diags, &s);
    if (st)
        return st;
    struct sp_map kept = {0};
    bool ok = hang_keep(x, &s, &kept);
    n = ok ? hang_count(x, &kept, false, one) : 0;
    sp_map_free(&kept);
    sp_selection_free(&s);
    if (!ok)
        return sp_nomem(x->x.q->diags);
    x->hang.among = n > 1 ? n : 0;
    return SPAA_OK;
}

spaa_status sp_summary_hang_process(struct sp_summary *x)
{
    struct sp_summary_hang *h = &x->hang;
    const struct sp_profile *p = x->x.q->profiles[0];
    const struct sp_process_fact *f = NULL;
    h->pid = hang_pid(x);
    h->footprint = h->footprint_before = SP_ABSENT;
    hang_also_in_front(x);
    spaa_status st = h->pid == SP_ABSENT ? SPAA_OK : hang_choose(x, &f);
    if (st || h->among)
        return st;
    if (!f) {
        if (h->e.command)
            h->process = (struct sp_str){h->e.command, (uint32_t)strlen(h->e.command)};
        return SPAA_OK;
    }
    struct sp_str extra = sp_pstr(p, f->extra_json);
    struct sp_span raw;
    h->process = sp_pstr(p, f->name);
    h->instance = sp_pstr(p, f->instance);
    h->footprint = f->footprint_bytes;
    if (extra.n &&
        sp_json_find2((struct sp_span){extra.p, extra.n}, "x_spindump", "footprint_before_bytes", &raw) &&
        sp_parse_i64(raw.p, raw.p + raw.n, &h->footprint_before) != raw.n)
        h->footprint_before = SP_ABSENT;
    return SPAA_OK;
}

spaa_status sp_summary_hang_main(struct sp_summary *x)
{
    struct sp_summary_hang *h = &x->hang;
    const struct sp_profile *p = x->x.q->profiles[0];
    struct sp_thread_info info;
    bool pasted =
        h->pid == SP_ABSENT && p->processes.n == 1; /* a thread alone: of a process that is not named */
    if (h->among || h->e.microstackshots || (h->pid == SP_ABSENT && !pasted))
        return SPAA_OK;
    spaa_status st = sp_thread_info_of(p, x->x.q->diags, &info);
    for (uint32_t i = 0; !st && i < p->contexts.n && h->context == SP_NONE; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        const struct sp_reported_process *r =
            c->pid == h->pid && c->event == h->s.event ? sp_thread_info_process_of(&info, c) : NULL;
        if (r && c->tid != SP_ABSENT && r->main == c->tid &&
            (pasted || (sp_str_cmp(sp_pstr(p, r->name), h->process) == 0 &&
                        sp_str_cmp(sp_pstr(p, r->instance), h->instance) == 0))) {
            h->context = i;
            h->tid = c->tid;
        }
    }
    if (!st)
        sp_thread_info_free(&info);
    return st;
}

void sp_summary_hang_names(struct sp_buf *b, const struct sp_summary *x)
{
    enum { SHOWN = 4 };
    const struct sp_profile *p = x->x.q->profiles[0];
    uint32_t n = 0;
    for (size_t i = 0; i < p->processes.n; i++) {
        const struct sp_process_fact *f = &p->processes.v[i];
        struct sp_str name = sp_pstr(p, f->name), instance = sp_pstr(p, f->instance);
        if (!hang_is_process(x, f) || n++ >= SHOWN)
            continue;
        sp_buf_puts(b, n > 1 ? ", " : "");
        sp_buf_add(b, name.p, name.n);
        sp_buf_printf(b, "%s%.*s", instance.n ? " " : "", (int)instance.n, instance.p);
    }
    if (n > SHOWN)
        sp_buf_printf(b, " and %u more", n - SHOWN);
}

/* Of a process by its number, name and instance, what its block says that it executed: "cc [99]". */
static bool hang_execed_to(struct sp_buf *b, const struct sp_profile *p, const struct sp_process_fact *f)
{
    static const char key[] = "\"Execed to\"";
    struct sp_str extra = sp_pstr(p, f->extra_json);
    struct sp_span fields, pair, item;
    if (!extra.n || !sp_json_find2((struct sp_span){extra.p, extra.n}, "x_spindump", "fields", &fields))
        return false;
    while (sp_json_next(&fields, &pair))
        if (sp_json_next(&pair, &item) && sp_span_is(item, key) && sp_json_next(&pair, &item))
            return sp_json_text_to(b, item) && b->len;
    return false;
}

void sp_summary_hang_execed(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.q->profiles[0];
    const struct sp_summary_hang *h = &x->hang;
    const struct sp_wait *last = h->wait == SP_NONE ? NULL : &h->w.waits.v[h->last];
    const struct sp_wait_thread *t = last && last->holder != SP_NONE ? &h->w.threads.v[last->holder] : NULL;
    struct sp_buf to;
    sp_buf_init(&to, 0);
    for (size_t i = 0; i < p->processes.n && !b->len; i++) {
        const struct sp_process_fact *f = &p->processes.v[i];
        struct sp_str name = sp_pstr(p, f->name), instance = sp_pstr(p, f->instance);
        bool own = f->pid == h->pid && sp_str_cmp(name, h->process) == 0 &&
                   sp_str_cmp(instance, h->instance) == 0,
             holder = t && f->pid == t->pid && sp_str_cmp(name, sp_pstr(p, t->comm)) == 0 &&
                      sp_str_cmp(instance, sp_process_instance(p, &p->contexts.v[t->context])) == 0;
        if ((!own && !holder) || !hang_execed_to(&to, p, f))
            continue;
        sp_buf_printf(b, "%.*s [%lld] executed ", (int)name.n, name.p, (long long)f->pid);
        sp_buf_add(b, to.data, to.len);
        sp_buf_printf(b, ", which went on in its place: --pid %lld --comm ", (long long)f->pid);
        const char *bracket = strstr(sp_buf_cstr(&to), " [");
        sp_buf_add(b, to.data, bracket ? (size_t)(bracket - to.data) : to.len);
        sp_buf_puts(b, " looks at it");
    }
    x->x.out->failed |= to.failed;
    sp_buf_free(&to);
}

spaa_status sp_summary_hang_choose(struct sp_ask *q, struct sp_select_opts *how)
{
    const struct sp_profile *p = q->profiles[0];
    uint32_t event = how->event ? sp_event_find(p, how->event, strlen(how->event)) : sp_default_event(p);
    if (!how->metric && event != SP_NONE && sp_is_of_microstackshots(p, event))
        how->metric = sp_str_is(sp_pstr(p, p->events.v[event].name), "disk-writes") ? "written_bytes"
                      : p->events.v[event].kind == SP_PROBE                         ? "wakeups"
                                                                                    : NULL;
    struct sp_select_opts any = *how;
    struct sp_selection s;
    if (!p->processes.n || how->may_be_empty || how->any_state || !sp_narrows(how) ||
        !sp_str_is(sp_pstr(p, p->header.source_tool), "spindump"))
        return SPAA_OK;
    any.any_state = any.may_be_empty = true;
    spaa_status st = sp_select(p, &any, q->diags, &s);
    if (st)
        return st;
    how->may_be_empty = s.rows.n > 0;
    sp_selection_free(&s);
    return SPAA_OK;
}
