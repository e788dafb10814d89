/* How warnings and what cannot be known are noted, and in which words. */
#include "ask/summary_cautions.h"

#include "model/identity.h"
#include "model/off_cpu.h"

enum { CAUTION_DSOS = 2, CAUTION_ARGUMENTS = 60 };

/* ---- how they are noted ---- */

static const char *caution_kept(struct sp_summary *x, struct sp_buf *b)
{
    const char *text = b->failed ? NULL : sp_arena_dup(&x->x.out->arena, sp_buf_cstr(b), b->len + 1);
    x->x.out->failed |= !text;
    sp_buf_clear(b);
    return text;
}

void sp_caution_add(struct sp_summary *x, const char *id, const char *title, struct sp_buf *b,
                    struct sp_buf *settle)
{
    struct sp_caution c = {.id = id, .title = title, .statement = caution_kept(x, b)};
    if (settle && (settle->len || settle->failed))
        c.settle = caution_kept(x, settle);
    if (c.statement && !sp_vec_push(&x->cautions, c))
        x->x.out->failed = true;
}

const struct sp_finding *sp_caution_finding(const struct sp_summary *x, enum sp_finding_kind kind)
{
    for (size_t i = 0; i < x->findings.list.n; i++)
        if (x->findings.list.v[i].kind == kind)
            return &x->findings.list.v[i];
    return NULL;
}

void sp_caution_share(struct sp_buf *b, const struct sp_summary *x, int64_t v)
{
    sp_text_about(b, v, x->x.s.whole);
    sp_buf_printf(b, " of %s", x->noun);
}

void sp_caution_dsos(struct sp_buf *b, const struct sp_summary *x, const struct sp_dso_weights *w, int64_t of)
{
    for (size_t i = 0; i < w->list.n && i < CAUTION_DSOS; i++) {
        struct sp_str name = sp_base_name(sp_dso_name(x->x.s.profile, w->list.v[i].dso));
        const char *end = name.n ? memmem(name.p + 1, name.n - 1, ".so", 3) : NULL;
        sp_buf_puts(b, i ? ", " : " (");
        sp_buf_add(b, name.p, end ? (size_t)(end - name.p) : name.n);
        sp_buf_ch(b, ' ');
        sp_text_about(b, w->list.v[i].weight, of);
    }
    sp_buf_puts(b, w->list.n > CAUTION_DSOS ? ", …)" : w->list.n ? ")" : "");
}

/* ---- how it would have to be recorded ---- */

void sp_caution_record_with(struct sp_buf *b, const struct sp_summary *x, const char *how, const char *with)
{
    const struct sp_profile *p = x->x.s.profile;
    const struct sp_event *e = &p->events.v[x->x.s.event];
    struct sp_str name = sp_pstr(p, e->name), hz = sp_pstr(p, e->frequency_hz);
    bool off = sp_is_off_cpu(&x->x.s) && sp_str_is(name, SP_OFF_CPU_EVENT); /* made of these */
    bool usual = name.n >= 6 && (memcmp(name.p, "cpu-cl", 6) == 0 || memcmp(name.p, "cycles", 6) == 0);
    sp_buf_puts(b, "perf record");
    if (off)
        sp_buf_puts(b, " -e sched:sched_switch,sched:sched_waking");
    else if (!usual && name.n)
        sp_buf_printf(b, " -e %.*s", (int)name.n, name.p);
    if (e->mode == SP_FREQUENCY && hz.n)
        sp_buf_printf(b, " -F %.*s", (int)hz.n, hz.p);
    sp_buf_printf(b, "%s %s", x->all_cpus ? " -a" : "", how);
    if (!x->command.n || x->command.n > CAUTION_ARGUMENTS) {
        sp_buf_puts(b, " …");
        return;
    }
    const char *space = memchr(x->command.p, ' ', x->command.n);
    int first = space ? (int)(space - x->command.p) : (int)x->command.n;
    sp_buf_printf(b, " %.*s%s%s%.*s", first, x->command.p, with ? " " : "", with ? with : "",
                  (int)x->command.n - first, x->command.p + first);
}

void sp_caution_record(struct sp_buf *b, const struct sp_summary *x, const char *how)
{
    sp_caution_record_with(b, x, how, NULL);
}

bool sp_caution_of_perf(const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    return sp_str_is(sp_pstr(p, p->header.source_tool), "perf");
}
