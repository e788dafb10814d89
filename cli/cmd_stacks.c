/* spaa stacks: the heaviest stacks, whole. */
#include "answer.h"

#include "analysis/stacks.h"
#include "base/num.h"
#include "model/edges.h"
#include "render/text.h"

#include <stdlib.h>

struct stacks {
    struct answer a;
    struct sp_stack_row *rows;
    size_t n;
};

/* ---- JSON ---- */

static void cmd_stacks_json_str(struct sp_jw *w, const char *key, struct sp_str s)
{
    if (s.n)
        sp_jw_str(w, key, s.p, s.n);
}

/* The pool whose threads have a stack; NULL: it is of one thread. */
static const struct sp_pool *cmd_stacks_pool_of(const struct stacks *x, const struct sp_stack_row *row)
{
    return row->records < 2 ? NULL : &x->a.s->pools.pools.v[row->pool];
}

static const struct sp_context *cmd_stacks_context_of(const struct stacks *x, const struct sp_stack_row *row)
{
    const struct sp_profile *p = x->a.s->profile;
    return &p->contexts.v[p->stacks.v[x->a.s->rows.v[row->row].stack].context];
}

/* Where threads of a pool have the stack, none of them is named. */
static void json_context(struct stacks *x, const struct sp_stack_row *row)
{
    const struct sp_profile *p = x->a.s->profile;
    const struct sp_context *c = cmd_stacks_context_of(x, row);
    const struct sp_pool *pool = cmd_stacks_pool_of(x, row);
    struct sp_jw *w = &x->a.w;
    sp_jw_open(w, "context", '{');
    if (c->event != SP_NONE)
        cmd_stacks_json_str(w, "event", sp_pstr(p, p->events.v[c->event].name));
    const int64_t numbers[] = {c->pid, pool ? SP_ABSENT : c->tid, c->cpu};
    const char *const names[] = {"pid", "tid", "cpu"};
    for (int i = 0; i < 3; i++)
        if (numbers[i] != SP_ABSENT)
            sp_jw_i64(w, names[i], numbers[i]);
    if (!pool)
        cmd_stacks_json_str(w, "comm", sp_pstr(p, c->comm));
    cmd_stacks_json_str(w, "x_state", sp_pstr(p, c->state));
    cmd_stacks_json_str(w, "x_source", sp_pstr(p, c->source));
    sp_jw_close(w, '}');
}

static void cmd_stacks_hex(struct sp_jw *w, const char *key, uint64_t v)
{
    char t[24] = "0x";
    sp_jw_str(w, key, t, 2 + sp_hex_text(v, t + 2));
}

static void json_frame(struct stacks *x, uint32_t frame)
{
    const struct sp_profile *p = x->a.s->profile;
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_jw *w = &x->a.w;
    sp_jw_open(w, NULL, '{');
    answer_function(&x->a, f->function);
    cmd_stacks_json_str(w, "srcline", sp_pstr(p, f->srcline));
    if (f->flags & SP_FRAME_IP)
        cmd_stacks_hex(w, "ip", f->ip);
    if (f->flags & SP_FRAME_SYMOFF)
        cmd_stacks_hex(w, "symoff", f->symoff);
    sp_jw_cstr(w, "kind", sp_frame_kind_names[f->kind]);
    if (f->flags & SP_FRAME_INLINED)
        sp_jw_u64(w, "inline_depth", f->inline_depth);
    if (f->flags & SP_FRAME_UNRESOLVED)
        sp_jw_bool(w, "unresolved", true);
    if (f->flags & SP_FRAME_INFERRED)
        sp_jw_bool(w, "inferred", true);
    sp_jw_close(w, '}');
}

static bool cmd_stacks_json_row(struct stacks *x, const struct sp_stack_row *row)
{
    const struct sp_profile *p = x->a.s->profile;
    const struct sp_selected *r = &x->a.s->rows.v[row->row];
    struct sp_jw *w = &x->a.w;
    size_t n;
    const uint32_t *f = sp_selected_frames(x->a.s, row->row, &n);
    if (!f)
        return false;
    sp_jw_open(w, NULL, '{');
    sp_buf_clear(&x->a.b);
    sp_stack_id_add(&x->a.b, p, r->stack);
    sp_jw_str(w, "id", x->a.b.data, x->a.b.len);
    answer_weight(&x->a, "weight", row->weight);
    answer_percent(&x->a, "percent", row->weight);
    answer_count(&x->a, "samples", row->samples);
    sp_jw_u64(w, "records", row->records);
    pool_json(w, &x->a.s->pools, cmd_stacks_pool_of(x, row));
    json_context(x, row);
    sp_jw_open(w, "frames", '[');
    for (size_t i = 0; i < n; i++)
        json_frame(x, f[i]);
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
    return true;
}

static int cmd_stacks_draw_json(struct stacks *x, size_t limit)
{
    struct answer *a = &x->a;
    int64_t omitted = 0;
    bool ok = true;
    int rc = answer_begin(a, "spaa.stacks/2");
    if (rc)
        return rc;
    sp_jw_cstr(&a->w, "frame_order", "leaf_to_root");
    sp_jw_open(&a->w, "rows", '[');
    for (size_t i = 0; i < x->n; i++) {
        if (i < limit)
            ok = ok && cmd_stacks_json_row(x, &x->rows[i]);
        else
            omitted += x->rows[i].weight;
    }
    sp_jw_close(&a->w, ']');
    sp_jw_open(&a->w, "omitted", '{');
    sp_jw_u64(&a->w, "rows", x->n > limit ? x->n - limit : 0);
    answer_weight(a, "weight", omitted);
    sp_jw_close(&a->w, '}');
    const struct answer_next next[] = {{"tree", NULL, NULL}, {"top", NULL, NULL}};
    rc = answer_end(a, next, 2);
    return ok ? rc : cli_exit_of(sp_nomem(&a->c->diags));
}

/* ---- text ---- */

static void context_words(struct sp_buf *b, const struct stacks *x, const struct sp_stack_row *row)
{
    const struct sp_profile *p = x->a.s->profile;
    const struct sp_context *c = cmd_stacks_context_of(x, row);
    const struct sp_pool *pool = cmd_stacks_pool_of(x, row);
    const int64_t numbers[] = {c->pid, pool ? SP_ABSENT : c->tid, c->cpu};
    const char *const names[] = {"pid", "tid", "cpu"};
    struct sp_str comm = sp_pstr(p, c->comm), state = sp_pstr(p, c->state), source = sp_pstr(p, c->source);
    if (pool)
        comm = sp_str_at(&x->a.s->pools.names, pool->name);
    sp_text_safe(b, comm.p, comm.n);
    for (int i = 0; i < 3; i++)
        if (numbers[i] != SP_ABSENT)
            sp_buf_printf(b, "%s%s %lld", b->len ? ", " : "", names[i], (long long)numbers[i]);
    if (state.n) {
        sp_buf_puts(b, b->len ? ", " : "");
        sp_text_safe(b, state.p, state.n);
    }
    if (source.n) {
        sp_buf_puts(b, b->len ? ", from " : "from ");
        sp_text_safe(b, source.p, source.n);
    }
}

/* The stack in one block: its weight, then a line for each frame from the leaf. */
static bool text_stack(struct stacks *x, const struct sp_stack_row *row)
{
    const struct sp_profile *p = x->a.s->profile;
    const struct sp_selected *r = &x->a.s->rows.v[row->row];
    struct sp_buf *b = &x->a.b, words;
    size_t n;
    const uint32_t *f = sp_selected_frames(x->a.s, row->row, &n);
    if (!f)
        return false;
    sp_buf_clear(b);
    sp_buf_puts(b, "\n");
    if (x->a.s->cannot_add)
        sp_buf_ch(b, '-');
    else
        weight_text(b, x->a.s, row->weight);
    sp_buf_puts(b, " (");
    percent_text(b, x->a.s, row->weight);
    sp_buf_puts(b, "%)");
    if (row->samples != SP_ABSENT) {
        sp_buf_puts(b, ", ");
        sp_text_grouped(b, row->samples, 0);
        sp_buf_puts(b, " samples");
    }
    sp_buf_puts(b, ", id ");
    sp_stack_id_add(b, p, r->stack);
    if (row->records > 1)
        sp_buf_printf(b, " and %u more", row->records - 1);
    sp_buf_init(&words, 0);
    context_words(&words, x, row);
    if (words.len)
        sp_buf_printf(b, ", %s", sp_buf_cstr(&words));
    sp_buf_free(&words);
    sp_buf_ch(b, '\n');
    for (size_t i = 0; i < n; i++) {
        const struct sp_frame *frame = &p->frames.v[f[i]];
        struct sp_str name = sp_pstr(p, p->functions.v[frame->function].name),
                      line = sp_pstr(p, frame->srcline);
        struct sp_str dso = dso_name(p, p->functions.v[frame->function].dso);
        sp_buf_puts(b, "    ");
        sp_text_safe(b, name.p, name.n);
        if (frame->flags & SP_FRAME_INLINED)
            sp_buf_puts(b, " [inlined]");
        if (frame->flags & SP_FRAME_INFERRED && !sp_str_is(name, SP_BROKEN_CHAIN))
            sp_buf_puts(b, " [inferred]");
        if (line.n) {
            sp_buf_puts(b, "  ");
            sp_text_safe(b, line.p, line.n);
        }
        sp_buf_puts(b, "  ");
        sp_text_safe(b, dso.p, dso.n);
        sp_buf_ch(b, '\n');
    }
    if (!n)
        sp_buf_puts(b, "    [no stack]\n");
    sp_write(x->a.c->out, b->data, b->len);
    sp_buf_clear(b);
    return true;
}

static bool cmd_stacks_table_row(struct stacks *x, struct sp_table *t, const struct sp_stack_row *row)
{
    const struct sp_profile *p = x->a.s->profile;
    const struct sp_selected *r = &x->a.s->rows.v[row->row];
    struct sp_buf *b = &x->a.b;
    size_t n;
    const uint32_t *f = sp_selected_frames(x->a.s, row->row, &n);
    if (!f)
        return false;
    sp_stack_id_add(b, p, r->stack);
    cell_buf(t, b);
    cell_weight(&x->a, t, row->weight);
    cell_percent(&x->a, t, row->weight);
    cell_count(t, row->samples);
    context_words(b, x, row);
    cell_buf(t, b);
    for (size_t i = n; i-- > 0;) {
        struct sp_str name = sp_pstr(p, sp_frame_function(p, f[i])->name);
        sp_buf_add(b, name.p, name.n);
        if (i)
            sp_buf_ch(b, ';');
    }
    cell_buf(t, b);
    return true;
}

static int cmd_stacks_draw_text(struct stacks *x, size_t limit)
{
    static const struct sp_table_column columns[] = {{"id", false, false},      {"weight", true, false},
                                                     {"%", true, false},        {"samples", true, false},
                                                     {"context", false, false}, {"stack", false, true}};
    struct cli *c = x->a.c;
    bool ok = true;
    int64_t omitted = 0;
    int rc = EXIT_FINE;
    struct sp_table table;
    sp_table_init(&table, columns, 6);
    answer_heading(c, x->a.s);
    for (size_t i = 0; i < x->n; i++) {
        if (i >= limit)
            omitted += x->rows[i].weight;
        else if (c->format == FORMAT_TABLE)
            ok = ok && text_stack(x, &x->rows[i]);
        else
            ok = ok && cmd_stacks_table_row(x, &table, &x->rows[i]);
    }
    if (!ok)
        rc = cli_exit_of(sp_nomem(&c->diags));
    else if (c->format != FORMAT_TABLE)
        rc = answer_table(c, &table);
    if (!rc && x->n > limit && c->format != FORMAT_CSV) {
        sp_buf_clear(&x->a.b);
        percent_text(&x->a.b, x->a.s, omitted);
        sp_printf(c->out, "\n%zu more stacks with %s%% of weight; %s\n", x->n - limit, sp_buf_cstr(&x->a.b),
                  answer_more(c));
    }
    sp_table_free(&table);
    return rc;
}

static int cmd_stacks_draw(void *arg, size_t rows)
{
    struct stacks *x = arg;
    return x->a.c->format == FORMAT_JSON ? cmd_stacks_draw_json(x, rows) : cmd_stacks_draw_text(x, rows);
}

/* --id: one stack alone. */
static spaa_status only(struct stacks *x, const char *id)
{
    uint32_t stack, row;
    spaa_status st = sp_stack_find(x->a.s, id, &x->a.c->diags, &stack, &row);
    if (!st && row == SP_NONE) {
        sp_emit_hint(&x->a.c->diags, SP_E032, SP_AT_NOTHING, "it is of another event, state or thread",
                     "stack %s is not among what was asked for", id);
        st = SPAA_ERR_NOT_FOUND;
    }
    if (!st) { /* the record itself, whatever pool it is of */
        const struct sp_selected *r = &x->a.s->rows.v[row];
        x->rows[0] = (struct sp_stack_row){row, SP_NONE, 1, r->weight, r->samples};
        x->n = 1;
    }
    return st;
}

int sp_cmd_stacks(struct cli *c)
{
    struct sp_selection s;
    struct stacks x = {0};
    size_t limit;
    if (!answer_limit(c, 5, &limit))
        return EXIT_USAGE;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = cli_select(c, &s);
    if (st)
        return cli_exit_of(st);
    answer_init(&x.a, c, &s);
    st = sp_stack_ids(c->profile);
    if (!st)
        st = sp_stacks_by_weight(&s, &c->diags, &x.rows, &x.n);
    if (!st && c->v.id)
        st = only(&x, c->v.id);
    rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (!rc)
        rc = answer_fit(c, limit < x.n ? limit : x.n, cmd_stacks_draw, &x);
    free(x.rows);
    answer_free(&x.a);
    sp_selection_free(&s);
    return rc;
}
