/* Contexts as labels: the way they came where they came from a pprof, by their own keys otherwise. */
#include "base/num.h"
#include "formats/pprof/write.h"

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

/* A string, a number, {"num":…,"unit":…}; anything else as its JSON text. */
static void pprof_put_label_value(struct sp_pw *w, struct sp_buf *b, struct sp_str key, struct sp_json *j)
{
    struct sp_span s, name;
    struct sp_str text, unit = {"", 0}, bytes = unit;
    int64_t v = 0;
    enum sp_json_type is = sp_json_type(j);
    if (is == SP_JSON_STRING) {
        if (!sp_json_string_value(j, &s))
            return;
        text = (struct sp_str){s.p, (uint32_t)s.n};
        pprof_put_label(w, b, key, &text, 0, unit);
        return;
    }
    if (!sp_json_skip(j, &s))
        return;
    if (is == SP_JSON_NUMBER && sp_parse_i64(s.p, s.p + s.n, &v) == s.n) {
        pprof_put_label(w, b, key, NULL, v, unit);
        return;
    }
    struct sp_json inner;
    bool num = false, hexed = false, other = is != SP_JSON_OBJECT;
    sp_json_init(&inner, s.p, s.n);
    if (!other && sp_json_object(&inner))
        while (sp_json_key(&inner, &name)) {
            struct sp_span x;
            if (sp_span_is(name, "num") && sp_json_type(&inner) == SP_JSON_NUMBER &&
                sp_json_number(&inner, &x))
                num = sp_parse_i64(x.p, x.p + x.n, &v) == x.n;
            else if (sp_span_is(name, "unit") && sp_json_type(&inner) == SP_JSON_STRING &&
                     sp_json_string_value(&inner, &x))
                unit = sp_pw_keep(w, x);
            else if (sp_span_is(name, "unit") && sp_json_type(&inner) == SP_JSON_OBJECT)
                unit = sp_pw_text(w, &inner);
            else if (sp_span_is(name, "hex") && sp_json_type(&inner) == SP_JSON_STRING &&
                     sp_json_string_value(&inner, &x)) {
                hexed = true;
                bytes = sp_pw_unhex(w, x);
            } else
                other |= sp_json_skip(&inner, &x);
        }
    sp_json_free(&inner);
    text = hexed && !num && !other ? bytes : (struct sp_str){s.p, (uint32_t)s.n};
    pprof_put_label(w, b, key, num && !other ? NULL : &text, num && !other ? v : 0,
                    num && !other ? unit : (struct sp_str){"", 0});
}

/* {"key":value or [value,…],…} */
static void pprof_put_labels(struct sp_pw *w, struct sp_buf *b, struct sp_span object)
{
    struct sp_json j;
    struct sp_span key, raw;
    sp_json_init(&j, object.p, object.n);
    if (sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j))
        while (!w->nomem && sp_json_key(&j, &key)) {
            struct sp_str k = sp_pw_keep(w, key);
            if (sp_json_type(&j) != SP_JSON_ARRAY) {
                pprof_put_label_value(w, b, k, &j);
                continue;
            }
            if (!sp_json_skip(&j, &raw))
                break;
            struct sp_json items;
            sp_json_init(&items, raw.p, raw.n);
            if (sp_json_array(&items))
                while (sp_json_item(&items))
                    pprof_put_label_value(w, b, k, &items);
            sp_json_free(&items);
        }
    sp_json_free(&j);
}

/* What else a context says: x_pprof's labels, and other tools' keys. */
static void pprof_put_context_labels(struct sp_pw *w, struct sp_buf *b, struct sp_str more)
{
    struct sp_buf object;
    struct sp_json j;
    struct sp_span key, raw, name;
    sp_buf_init(&object, 0);
    sp_buf_ch(&object, '{');
    sp_buf_add(&object, more.p, more.n);
    sp_buf_ch(&object, '}');
    if (object.failed) {
        w->nomem = true;
        sp_buf_free(&object);
        return;
    }
    sp_json_init(&j, object.data, object.len);
    if (sp_json_object(&j))
        while (!w->nomem && sp_json_key(&j, &key)) {
            bool ours = sp_span_is(key, "x_pprof") && sp_json_type(&j) == SP_JSON_OBJECT;
            if (!ours) {
                pprof_put_label_value(w, b, sp_pw_keep(w, key), &j);
                continue;
            }
            if (!sp_json_skip(&j, &raw))
                break;
            struct sp_json x;
            sp_json_init(&x, raw.p, raw.n);
            if (sp_json_object(&x))
                while (sp_json_key(&x, &name)) {
                    bool labels = sp_span_is(name, "labels");
                    if (sp_json_skip(&x, &raw) && labels)
                        pprof_put_labels(w, b, raw);
                }
            sp_json_free(&x);
        }
    sp_json_free(&j);
    sp_buf_free(&object);
}

/* Whether some other label may have that key: contexts tell it with quotes around. */
static bool pprof_is_key_taken(const struct sp_pw *w, struct sp_str key)
{
    char quoted[32];
    size_t n = (size_t)snprintf(quoted, sizeof quoted, "\"%.*s\":", (int)key.n, key.p);
    for (size_t i = 0; i < w->p->contexts.n; i++) {
        struct sp_str more = sp_pstr(w->p, w->p->contexts.v[i].extra_json);
        if (more.n && memmem(more.p, more.n, quoted, n))
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
    if (more.n)
        pprof_put_context_labels(w, b, more);
}
