#include "ask/top_fields.h"

#include "answer/text.h"
#include "ask/next.h"
#include "model/labels.h"
#include "model/off_cpu.h"

#include <stdlib.h>

/* It counts events of the scheduler, whose times are known. */
static bool fields_have_waits(const struct sp_asked *a)
{
    return sp_is_scheduler(&a->s) && sp_off_cpu_event(a->s.profile) != SP_NONE;
}

struct sp_top_fields sp_top_fields_of(const struct sp_ask *q, struct sp_select_opts *how)
{
    const struct sp_profile *p = q->profiles[0];
    const struct sp_options *v = q->options;
    struct sp_top_fields f = {.event = sp_event_of_fields(p, v->event, v->metric)};
    const char *counted;
    if (v->by || v->sum || f.event == SP_NONE ||
        !sp_event_fields(sp_pstr(p, p->events.v[f.event].name), &f.list, &counted))
        return f;
    for (size_t k = 0; k < f.list.n; k++)
        if (f.list.v[k].kind == SP_TOP_LABEL && !sp_labels_have(p, f.list.v[k].label))
            return f; /* only samples had them, and they are gone */
    f.counted = counted;
    how->event = NULL;
    how->any_state = true;
    return f;
}

spaa_status sp_top_fields_begin(struct sp_asked *a, const struct sp_top_fields *f, struct sp_ask *q,
                                const struct sp_select_opts *how, struct sp_answer *out)
{
    struct sp_select_opts of = *how;
    of.event_number = &f->event;
    spaa_status st = sp_asked_select(q, &of, out, a);
    if (st)
        return st;
    const struct sp_selection *s = &a->s;
    struct sp_buf *b = &a->b;
    struct sp_str event = sp_measure_of(s).event;
    sp_asked_facts(a);
    sp_fact_cstr(out, "counted", f->counted);
    sp_text_weight(b, s->unit, s->scale, s->kept);
    sp_buf_printf(b, " %s (%.*s), by fields of the event", f->counted, (int)event.n, event.p);
    if (fields_have_waits(a))
        sp_buf_puts(b, ": how many, not how long, which `spaa waits` says");
    if (s->filters.len)
        sp_kept_text(b, s, "; ");
    sp_answer_line_of(out, SP_LINE_PLAIN, b);
    sp_buf_clear(b);
    return SPAA_OK;
}

/* For people: of whole stacks self and total are one number, and a count needs no column of samples. */
void sp_top_fields_shape(struct sp_asked *a, const struct sp_top_fields *f, struct sp_answer_table *t)
{
    sp_table_title(a->out, t, SP_TOP_SELF, a->s.unit.n ? "weight" : "count");
    sp_table_title(a->out, t, SP_TOP_SELF_PERCENT, "%");
    sp_table_title(a->out, t, SP_TOP_TOTAL, NULL);
    sp_table_title(a->out, t, SP_TOP_TOTAL_PERCENT, NULL);
    if (f->list.n == 1)
        sp_table_title(a->out, t, SP_TOP_NAME, f->list.v[0].words);
    if (a->s.kept == a->s.samples)
        sp_table_title(a->out, t, SP_TOP_SAMPLES, NULL);
}

void sp_top_fields_next(struct sp_asked *a)
{
    if (fields_have_waits(a)) { /* which are made of all events of the scheduler */
        sp_command_text(&a->b, &(struct sp_next){.question = "waits"}, a->q->names, a->q->nnames,
                        a->q->options, sp_next_groups("waits") & ~(uint64_t)G_EVENT);
        sp_answer_next_command(a->out, "waits", &a->b);
        sp_buf_clear(&a->b);
    }
    struct sp_str event = sp_measure_of(&a->s).event;
    struct sp_buf tail;
    sp_buf_init(&tail, 0);
    sp_buf_puts(&tail, "--by function");
    if (!a->q->options->event) { /* which need not be the default one */
        sp_buf_clear(&a->b);
        sp_buf_add(&a->b, event.p, event.n);
        sp_buf_puts(&tail, " --event ");
        sp_shell_word(&tail, sp_buf_cstr(&a->b));
        sp_buf_clear(&a->b);
    }
    sp_answer_next(a->out, "top", NULL, sp_buf_cstr(&tail));
    a->out->failed |= tail.failed;
    sp_buf_free(&tail);
}

static int by_total(const void *va, const void *vb)
{
    const struct sp_top_row *a = va, *b = vb;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

void sp_top_all_in_one(struct sp_asked *a, struct sp_top *t)
{
    const struct sp_selection *s = &a->s;
    bool off = sp_is_off_cpu(s), probe = s->profile->events.v[s->event].kind == SP_PROBE;
    if (t->rows.n < 3 || !(probe || off) || s->kept <= 0 ||
        (double)t->rows.v[0].self < 0.99 * (double)s->kept)
        return;
    struct sp_str name = sp_str_at(&t->names, t->rows.v[0].name);
    sp_answer_line(a->out, "it all ends in %.*s: sorted by total%s", (int)name.n, name.p,
                   off ? "; --user leaves the kernel out, `spaa waits` has the reasons" : "");
    qsort(t->rows.v, t->rows.n, sizeof *t->rows.v, by_total);
}
