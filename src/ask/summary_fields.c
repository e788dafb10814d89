/* What tells apart the events of a tracepoint, for the brief: all of them are at one place of the kernel. */
#include "ask/summary.h"

#include "analysis/event_fields.h"
#include "analysis/top.h"
#include "model/labels.h"

enum { FIELDS_SAID = 4 };

/* "perf write 13 %, ld lseek 11 %, …" */
static void fields_text(struct sp_summary *x, const struct sp_top *t, const struct sp_by_list *by)
{
    struct sp_buf *b = &x->x.b;
    sp_buf_clear(b);
    for (size_t i = 0; i < t->rows.n && i < FIELDS_SAID && t->rows.v[i].self > 0; i++) {
        sp_buf_puts(b, i ? ", " : "");
        for (size_t k = 0; k < by->n; k++) {
            struct sp_str text =
                by->n > 1 ? sp_top_key_text(t, &t->rows.v[i], k) : sp_str_at(&t->names, t->rows.v[i].name);
            sp_buf_puts(b, k ? " " : "");
            sp_buf_add(b, text.p, text.n);
        }
        sp_buf_ch(b, ' ');
        sp_text_about(b, t->rows.v[i].self, x->x.s.whole);
    }
    if (t->rows.n > FIELDS_SAID)
        sp_buf_printf(b, ", %zu more", t->rows.n - FIELDS_SAID);
    sp_buf_ch(b, '\0');
    x->fields = b->failed ? NULL : sp_arena_dup(&x->x.out->arena, b->data, b->len);
    x->x.out->failed |= !x->fields;
    sp_buf_clear(b);
}

spaa_status sp_summary_fields(struct sp_summary *x)
{
    struct sp_selection *s = &x->x.s;
    struct sp_by_list by;
    struct sp_top t;
    if (!sp_event_fields(sp_pstr(s->profile, s->profile->events.v[s->event].name), &by, &x->counted))
        return SPAA_OK;
    for (size_t k = 0; k < by.n; k++)
        if (by.v[k].kind == SP_TOP_LABEL && !sp_labels_have(s->profile, by.v[k].label))
            return SPAA_OK; /* only samples had them, and they are gone */
    spaa_status st = sp_top_by(s, &by, false, x->x.q->diags, &t);
    if (st)
        return st;
    if (t.rows.n)
        fields_text(x, &t, &by);
    sp_top_free(&t);
    return SPAA_OK;
}
