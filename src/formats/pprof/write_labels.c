/* Contexts as labels: the way they came where they came from a pprof, by their own keys otherwise. */
#include "base/num.h"
#include "formats/pprof/write.h"
#include "model/labels.h"

#include <stdio.h>

static void pprof_put_label(struct sp_pw *w, struct sp_buf *b, struct sp_str key, const struct sp_str *text,
                            int64_t num, struct sp_str unit)
{
    struct sp_buf *l = &w->line;
    sp_buf_clear(l);
    sp_wire_put_number(l, 1, sp_pw_str(w, key));
    if (text)
        sp_wire_put_number(l, 2, sp_pw_str(w, *text));
    sp_wire_put_number(l, 3, (uint64_t)num);
    sp_wire_put_number(l, 4, sp_pw_str(w, unit));
    sp_wire_put_bytes(b, 3, l->data, l->len);
    w->nomem |= l->failed;
}

static void pprof_put_label_text(struct sp_pw *w, struct sp_buf *b, struct sp_str key, struct sp_str text)
{
    if (text.n)
        pprof_put_label(w, b, key, &text, 0, (struct sp_str){"", 0});
}

static void pprof_put_label_id(struct sp_pw *w, struct sp_buf *b, int which, int64_t v)
{
    char t[20];
    struct sp_str text = {t, 0};
    if (v == SP_ABSENT)
        return;
    if (w->keys[which].text && v >= 0) {
        text.n = (uint32_t)sp_u64_text((uint64_t)v, t);
        pprof_put_label(w, b, w->keys[which].key, &text, 0, w->keys[which].unit);
    } else {
        pprof_put_label(w, b, w->keys[which].key, NULL, v, w->keys[which].unit);
    }
}

/* A string or a number; anything else as its JSON text. */
static void pprof_put_label_value(struct sp_pw *w, struct sp_buf *b, struct sp_str key, struct sp_json *j)
{
    const struct sp_str none = {"", 0};
    struct sp_span s;
    int64_t v = 0;
    enum sp_json_type is = sp_json_type(j);
    if (is == SP_JSON_STRING ? !sp_json_string_value(j, &s) : !sp_json_skip(j, &s))
        return;
    struct sp_str text = {s.p, (uint32_t)s.n};
    bool number = is == SP_JSON_NUMBER && sp_parse_i64(s.p, s.p + s.n, &v) == s.n;
    pprof_put_label(w, b, key, number ? NULL : &text, number ? v : 0, none);
}

/* What other tools' keys of a context say. */
static void pprof_put_context_members(struct sp_pw *w, struct sp_buf *b, struct sp_str more)
{
    struct sp_json j;
    struct sp_span key;
    sp_json_init(&j, more.p, more.n);
    j.first = true; /* members without their braces */
    while (!w->nomem && sp_json_key(&j, &key))
        pprof_put_label_value(w, b, sp_pw_keep(w, key), &j);
    sp_json_free(&j);
}

static void pprof_put_set(struct sp_pw *w, struct sp_buf *b, uint32_t set)
{
    size_t n;
    const struct sp_label *l = sp_labels_of(w->p, set, &n);
    for (size_t i = 0; i < n && !w->nomem; i++) {
        struct sp_str key = sp_pstr(w->p, l[i].key), value = sp_pstr(w->p, l[i].value);
        int64_t v = 0;
        bool number = l[i].flags & SP_LABEL_NUMBER && sp_parse_i64(value.p, value.p + value.n, &v) == value.n;
        if (l[i].flags & SP_LABEL_FIELD) /* among the members */
            continue;
        pprof_put_label(w, b, key, number ? NULL : &value, number ? v : 0,
                        number ? sp_pstr(w->p, l[i].unit) : (struct sp_str){"", 0});
    }
}

/* Whether some other label may have that key: contexts tell it with quotes around. */
static bool pprof_is_key_taken(const struct sp_pw *w, struct sp_str key)
{
    char quoted[32];
    size_t n = (size_t)snprintf(quoted, sizeof quoted, "\"%.*s\":", (int)key.n, key.p);
    for (size_t i = 0; i < w->p->contexts.n; i++) {
        struct sp_str more = sp_pstr(w->p, w->p->contexts.v[i].extra_json);
        if ((more.n && memmem(more.p, more.n, quoted, n)) ||
            sp_labels_find(w->p, w->p->contexts.v[i].labels, key))
            return true;
    }
    return false;
}

void sp_pw_mark(struct sp_pw *w)
{
    static const char *const others[PPROF_MARKED] = {"x_state", "x_cpu", "x_source"};
    bool used[PPROF_MARKED] = {false};
    struct sp_buf b;
    sp_buf_init(&b, 256);
    sp_buf_puts(&b, PPROF_MARK);
    for (size_t i = 0; i < w->p->contexts.n; i++) {
        const struct sp_context *c = &w->p->contexts.v[i];
        used[PPROF_STATE] |= sp_pstr(w->p, c->state).n > 0;
        used[PPROF_SOURCE] |= sp_pstr(w->p, c->source).n > 0;
        used[PPROF_CPU] |= c->cpu != SP_ABSENT;
    }
    for (int k = 0; k < PPROF_MARKED; k++) {
        w->marked[k] = sp_pprof_literal(sp_pprof_marked[k]);
        if (!used[k])
            continue;
        if (pprof_is_key_taken(w, w->marked[k]))
            w->marked[k] = sp_pprof_literal(others[k]);
        sp_buf_printf(&b, " %s=%s", sp_pprof_marked[k], w->marked[k].p);
    }
    bool any = b.len > sizeof PPROF_MARK - 1;
    if (b.failed ||
        (any && !sp_vec_push(&w->comments, sp_pw_str(w, (struct sp_str){b.data, (uint32_t)b.len}))))
        w->nomem = true;
    sp_buf_free(&b);
}

void sp_pw_labels(struct sp_pw *w, struct sp_buf *b, uint32_t context)
{
    const struct sp_context *c = &w->p->contexts.v[context];
    struct sp_str comm = sp_pstr(w->p, c->comm), more = sp_pstr(w->p, c->extra_json);
    pprof_put_label_id(w, b, PPROF_PID, c->pid);
    pprof_put_label_id(w, b, PPROF_TID, c->tid);
    if (c->comm)
        pprof_put_label(w, b, w->keys[PPROF_COMM].key, &comm, 0, w->keys[PPROF_COMM].unit);
    if (c->cpu != SP_ABSENT)
        pprof_put_label(w, b, w->marked[PPROF_CPU], NULL, c->cpu, (struct sp_str){"", 0});
    pprof_put_label_text(w, b, w->marked[PPROF_STATE], sp_pstr(w->p, c->state));
    pprof_put_label_text(w, b, w->marked[PPROF_SOURCE], sp_pstr(w->p, c->source));
    pprof_put_set(w, b, c->labels);
    if (more.n)
        pprof_put_context_members(w, b, more);
}
