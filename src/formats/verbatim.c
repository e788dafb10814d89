#include "formats/verbatim.h"

#include "base/hash.h"
#include "base/num.h"
#include "model/identity.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, NAME_ROOM = 64, BLANKS_MAX = 1 << 20 };

struct sp_verbatim {
    struct sp_profile *p;
    struct sp_diags *d;
    char line_type[NAME_ROOM], text_type[NAME_ROOM];
    struct sp_strtab bodies; /* number of a line + 1, since string 0 is "absent" and 1 is the first */
    struct sp_buf partial;   /* a line whose end has not come yet */
    struct sp_buf rows, record;
    unsigned nrows;
};

static void types_of(const char *format, char line[NAME_ROOM], char text[NAME_ROOM])
{
    snprintf(line, NAME_ROOM, "x_%s_line", format);
    snprintf(text, NAME_ROOM, "x_%s_text", format);
    for (size_t i = 0; line[i]; i++)
        line[i] = line[i] == '-' ? '_' : line[i];
    for (size_t i = 0; text[i]; i++)
        text[i] = text[i] == '-' ? '_' : text[i];
}

static spaa_status keep_wrapping(struct sp_verbatim *v, struct sp_input *in)
{
    unsigned wrapping;
    spaa_status st = sp_input_wrapping(in, &wrapping);
    if (!st && wrapping == SP_WRAP_MARK)
        st = sp_verbatim_add(v, "\xEF\xBB\xBF", 3);
    if (!st && wrapping & ~(unsigned)SP_WRAP_MARK)
        sp_emit(v->d, SP_I321, SP_AT_NOTHING, "--lossless keeps the text without %s",
                wrapping & SP_WRAP_QUOTE ? "its marks of quoting" : "its encoding, as UTF-8");
    return st;
}

spaa_status sp_verbatim_new(struct sp_profile *p, const char *format, struct sp_input *in, struct sp_diags *d,
                            struct sp_verbatim **out)
{
    struct sp_verbatim *v = calloc(1, sizeof *v);
    *out = NULL;
    if (!v)
        return sp_nomem(d);
    v->p = p;
    v->d = d;
    types_of(format, v->line_type, v->text_type);
    sp_buf_init(&v->partial, 0);
    sp_buf_init(&v->rows, 0);
    sp_buf_init(&v->record, 0);
    if (!sp_strtab_init(&v->bodies)) {
        free(v);
        return sp_nomem(d);
    }
    *out = v;
    return keep_wrapping(v, in);
}

void sp_verbatim_free(struct sp_verbatim *v)
{
    if (!v)
        return;
    sp_strtab_free(&v->bodies);
    sp_buf_free(&v->partial);
    sp_buf_free(&v->rows);
    sp_buf_free(&v->record);
    free(v);
}

static spaa_status append(struct sp_verbatim *v)
{
    struct sp_extension e = {SP_STR_FAIL};
    if (!v->record.failed)
        e.json = sp_profile_str(v->p, v->record.data, v->record.len);
    bool ok = e.json != SP_STR_FAIL && sp_vec_push(&v->p->extensions, e);
    sp_buf_clear(&v->record);
    return ok ? SPAA_OK : sp_nomem(v->d);
}

static spaa_status append_line(struct sp_verbatim *v, const char *s, size_t n)
{
    struct sp_buf *b = &v->record;
    sp_buf_printf(b, "{\"type\":\"%s\",", v->line_type);
    if (sp_utf8_prefix(s, n) == n) {
        sp_buf_puts(b, "\"text\":");
        sp_json_string(b, s, n);
    } else {
        sp_buf_puts(b, "\"hex\":\"");
        for (size_t i = 0; i < n; i++)
            sp_buf_printf(b, "%02x", (unsigned char)s[i]);
        sp_buf_ch(b, '"');
    }
    sp_buf_ch(b, '}');
    return append(v);
}

/* The number of a body; SP_NONE when memory is out. */
static uint32_t number_of(struct sp_verbatim *v, const char *s, size_t n)
{
    size_t before = v->bodies.strs.n;
    uint32_t id = sp_intern(&v->bodies, s, n);
    if (id == SP_STR_FAIL || (v->bodies.strs.n > before && append_line(v, s, n)))
        return SP_NONE;
    return id - 1;
}

static spaa_status flush_rows(struct sp_verbatim *v, const char *tail)
{
    sp_buf_printf(&v->record, "{\"type\":\"%s\",\"rows\":[", v->text_type);
    sp_buf_add(&v->record, v->rows.data, v->rows.len);
    sp_buf_printf(&v->record, "]%s}", tail);
    v->record.failed = v->record.failed || v->rows.failed;
    sp_buf_clear(&v->rows);
    v->nrows = 0;
    return append(v);
}

static size_t blanks(const char *s, size_t i, size_t n)
{
    size_t from = i;
    while (i < n && s[i] == ' ')
        i++;
    return i - from;
}

/* The parts of a tree row; false where the line is none. */
struct parts {
    size_t indent, mark, nmark, gap, count, ncount, after, body;
};
static bool tree_row(const char *s, size_t n, struct parts *x)
{
    size_t i = x->indent = blanks(s, 0, n);
    x->mark = i;
    size_t end = i;
    while (i < n && s[i] && strchr("*+!:| ", s[i])) {
        end = s[i] == ' ' ? end : i + 1;
        i++;
    }
    x->nmark = end - x->mark;
    x->gap = i - end;
    x->count = i;
    while (i < n && s[i] >= '0' && s[i] <= '9')
        i++;
    x->ncount = i - x->count;
    x->after = blanks(s, i, n);
    x->body = i + x->after;
    return x->ncount && (x->after || x->body == n) && n < BLANKS_MAX;
}

static void tree_text(struct sp_buf *b, const char *s, const struct parts *x, uint32_t line)
{
    const char *c = s + x->count;
    bool plain = x->ncount < 18 && (c[0] != '0' || x->ncount == 1);
    sp_buf_ch(b, '[');
    sp_buf_u64(b, x->indent);
    sp_buf_puts(b, ",\"");
    sp_buf_add(b, s + x->mark, x->nmark);
    sp_buf_puts(b, "\",");
    sp_buf_u64(b, x->gap);
    sp_buf_puts(b, plain ? "," : ",\"");
    sp_buf_add(b, c, x->ncount);
    sp_buf_puts(b, plain ? "," : "\",");
    sp_buf_u64(b, x->after);
    sp_buf_ch(b, ',');
    sp_buf_u64(b, line);
    sp_buf_ch(b, ']');
}

static spaa_status add_line(struct sp_verbatim *v, const char *s, size_t n)
{
    struct parts x;
    bool tree = tree_row(s, n, &x);
    if (v->nrows == ROWS) {
        spaa_status st = flush_rows(v, "");
        if (st)
            return st;
    }
    uint32_t line = tree ? number_of(v, s + x.body, n - x.body) : number_of(v, s, n);
    if (line == SP_NONE)
        return sp_nomem(v->d);
    if (v->nrows++)
        sp_buf_ch(&v->rows, ',');
    if (tree)
        tree_text(&v->rows, s, &x, line);
    else
        sp_buf_u64(&v->rows, line);
    return v->rows.failed ? sp_nomem(v->d) : SPAA_OK;
}

spaa_status sp_verbatim_add(struct sp_verbatim *v, const void *bytes, size_t n)
{
    const char *s = bytes, *end = s + n;
    spaa_status st = SPAA_OK;
    for (const char *nl; !st && s < end && (nl = memchr(s, '\n', (size_t)(end - s))); s = nl + 1) {
        if (!v->partial.len) {
            st = add_line(v, s, (size_t)(nl - s));
            continue;
        }
        if (!sp_buf_add(&v->partial, s, (size_t)(nl - s)))
            return sp_nomem(v->d);
        st = add_line(v, v->partial.data, v->partial.len);
        sp_buf_clear(&v->partial);
    }
    if (!st && s < end && !sp_buf_add(&v->partial, s, (size_t)(end - s)))
        st = sp_nomem(v->d);
    return st;
}

/* The sum over all stacks, so that their order does not matter. */
static spaa_status digest(struct sp_profile *p, uint64_t *out)
{
    struct sp_order o;
    struct sp_buf b;
    uint64_t sum = p->stacks.n;
    spaa_status st = sp_order_dictionaries(p, &o);
    if (st)
        return st;
    st = sp_profile_identify(p, &o);
    sp_order_free(&o);
    sp_buf_init(&b, 0);
    for (uint32_t i = 0; !st && i < p->stacks.n; i++) {
        const struct sp_stack_id *id = &p->ids.v[i];
        const struct sp_layout *l = &p->layouts.v[p->stacks.v[i].layout];
        sp_buf_clear(&b);
        sp_buf_u64(&b, id->hash);
        sp_buf_ch(&b, '.');
        sp_buf_u64(&b, id->suffix);
        for (uint32_t k = 0; k < l->n; k++) {
            uint32_t metric = p->layout_fields.v[l->first + k].metric;
            int64_t w = sp_weight(p, i, metric);
            struct sp_str name = sp_pstr(p, p->metrics.v[metric].name);
            struct sp_str text = w == SP_DECIMAL ? sp_weight_text(p, i, metric) : (struct sp_str){"", 0};
            sp_buf_ch(&b, '\0');
            sp_buf_add(&b, name.p, name.n);
            sp_buf_ch(&b, '=');
            if (w == SP_DECIMAL)
                sp_buf_add(&b, text.p, text.n);
            else if (w != SP_ABSENT)
                sp_buf_i64(&b, w);
        }
        st = b.failed ? sp_nomem(p->diags) : SPAA_OK;
        sum += sp_hash64(b.data, b.len);
    }
    sp_buf_free(&b);
    *out = sum;
    return st;
}

spaa_status sp_verbatim_finish(struct sp_verbatim *v)
{
    uint64_t sum;
    char tail[80];
    bool cut = v->partial.len > 0;
    spaa_status st = cut ? add_line(v, v->partial.data, v->partial.len) : SPAA_OK;
    if (!st)
        st = digest(v->p, &sum);
    if (st)
        return st;
    snprintf(tail, sizeof tail, "%s,\"digest\":\"0x%016llx\"", cut ? ",\"final_newline\":false" : "",
             (unsigned long long)sum);
    return flush_rows(v, tail);
}

/* Reading the records back. */
struct replay {
    struct sp_profile *p;
    char line_type[NAME_ROOM], text_type[NAME_ROOM];
    struct sp_json j;
    struct sp_arena arena;
    SP_VEC(struct sp_span) bodies;
    struct sp_output *out; /* NULL: only looking */
    bool newline_due;
    bool found, has_digest, no_final;
    uint64_t digest;
};

static bool unhex(struct replay *r, struct sp_span hex, struct sp_span *out)
{
    char *to = hex.n % 2 ? NULL : sp_arena_alloc(&r->arena, hex.n / 2 + 1);
    for (size_t i = 0; to && i < hex.n; i += 2) {
        uint64_t v;
        if (sp_parse_hex(hex.p + i, hex.p + i + 2, &v) != 2)
            return false;
        to[i / 2] = (char)v;
    }
    *out = (struct sp_span){to, hex.n / 2};
    return to != NULL;
}

static bool take_body(struct replay *r, struct sp_span key)
{
    struct sp_span s, body;
    if (!sp_json_string_value(&r->j, &s))
        return false;
    if (sp_span_is(key, "hex")) {
        if (!unhex(r, s, &body))
            return false;
    } else {
        body = (struct sp_span){sp_arena_dup(&r->arena, s.p, s.n), s.n};
    }
    return body.p && sp_vec_push(&r->bodies, body);
}

static void pad(struct sp_output *out, uint64_t n)
{
    for (; n; n--)
        sp_write(out, " ", 1);
}

static bool put_body(struct replay *r, uint64_t line)
{
    if (line >= r->bodies.n)
        return false;
    if (r->out)
        sp_write(r->out, r->bodies.v[line].p, r->bodies.v[line].n);
    return true;
}

static bool put_tree(struct replay *r)
{
    uint64_t v[6] = {0};
    struct sp_span s;
    bool more = sp_json_array(&r->j);
    for (unsigned i = 0; more && i < 6; i++) {
        more = sp_json_item(&r->j);
        bool text = i == 1 || (i == 3 && sp_json_type(&r->j) == SP_JSON_STRING);
        if (more && text)
            more = sp_json_string_value(&r->j, &s);
        else if (more && i == 3)
            more = sp_json_number(&r->j, &s);
        else if (more)
            more = sp_json_u64(&r->j, &v[i]) && v[i] < SP_NONE && (i == 5 || v[i] < BLANKS_MAX);
        if (!more || !r->out)
            continue;
        if (i == 1 || i == 3)
            sp_write(r->out, s.p, s.n);
        else if (i < 5)
            pad(r->out, v[i]);
    }
    return more && put_body(r, v[5]) && !sp_json_item(&r->j);
}

static bool rows(struct replay *r)
{
    uint64_t line;
    if (!sp_json_array(&r->j))
        return false;
    while (sp_json_item(&r->j)) {
        if (r->newline_due && r->out)
            sp_write(r->out, "\n", 1);
        r->newline_due = true;
        if (!(sp_json_type(&r->j) == SP_JSON_ARRAY ? put_tree(r)
                                                   : sp_json_u64(&r->j, &line) && put_body(r, line)))
            return false;
    }
    return !r->j.error;
}

/* One extension record; false where it is of this layer and not as it should be. */
static bool record(struct replay *r, struct sp_str json)
{
    struct sp_span key, value;
    enum { OTHER, LINE, TEXT } what = OTHER;
    sp_json_reset(&r->j, json.p, json.n);
    if (!sp_json_object(&r->j))
        return true;
    while (sp_json_key(&r->j, &key)) {
        if (sp_span_is(key, "type") && sp_json_type(&r->j) == SP_JSON_STRING) {
            if (!sp_json_string_value(&r->j, &value))
                return false;
            what = sp_span_is(value, r->line_type) ? LINE : sp_span_is(value, r->text_type) ? TEXT : OTHER;
            if (what == OTHER)
                return true;
        } else if (what == LINE && (sp_span_is(key, "text") || sp_span_is(key, "hex"))) {
            if (!take_body(r, key))
                return false;
        } else if (what == TEXT && sp_span_is(key, "rows")) {
            r->found = true;
            if (!rows(r))
                return false;
        } else if (what == TEXT && sp_span_is(key, "final_newline")) {
            bool final;
            if (!sp_json_bool(&r->j, &final))
                return false;
            r->no_final = !final;
        } else if (what == TEXT && sp_span_is(key, "digest")) {
            if (!sp_json_string_value(&r->j, &value) || !sp_parse_0x(value.p, value.n, &r->digest))
                return false;
            r->has_digest = true;
        } else if (!sp_json_skip(&r->j, &value)) {
            return false;
        }
    }
    return !r->j.error;
}

static bool pass(struct replay *r, struct sp_output *out)
{
    r->out = out;
    r->newline_due = r->found = r->has_digest = r->no_final = false;
    r->bodies.n = 0;
    sp_arena_free(&r->arena);
    for (size_t i = 0; i < r->p->extensions.n; i++)
        if (!record(r, sp_pstr(r->p, r->p->extensions.v[i].json)))
            return false;
    if (out && r->newline_due && !r->no_final)
        sp_write(out, "\n", 1);
    return true;
}

spaa_status sp_verbatim_replay(struct sp_profile *p, const char *format, const struct sp_write_opts *opts,
                               struct sp_diags *d, struct sp_output *out, bool *done)
{
    struct replay r = {.p = p};
    uint64_t now;
    spaa_status st = SPAA_OK;
    *done = false;
    if (!p->extensions.n || opts->event != SP_NONE || opts->metric != SP_NONE)
        return SPAA_OK;
    types_of(format, r.line_type, r.text_type);
    sp_json_init(&r.j, "", 0);
    sp_arena_init(&r.arena, 0);
    /* The first pass only looks, so that nothing half is written. */
    bool good = pass(&r, NULL);
    if (good && r.found && r.has_digest)
        st = digest(p, &now);
    if (st)
        goto end;
    if (!good || (r.found && (!r.has_digest || now != r.digest)))
        sp_emit(d, SP_I321, SP_AT_NOTHING,
                "the text that was kept is not used: %s; it is rendered from the stacks",
                good ? "the stacks have changed since" : "its records are damaged");
    else if (r.found)
        *done = pass(&r, out);
end:
    sp_json_free(&r.j);
    sp_arena_free(&r.arena);
    sp_vec_free(&r.bodies);
    return st;
}
