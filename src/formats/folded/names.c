/*
 * A frame's name as folded text writes it.
 *
 * For profiles of perf this follows stackcollapse-perf.pl, whose output people compare and keep: a
 * frame without a symbol is its DSO in brackets, parameter lists and quotes are dropped, and Java's
 * "Lpkg/Class;::method" loses its L (where the process is written as plain "java"). Unlike there, parentheses
 * within <...> and {...} stay, `operator->` is not taken for inlining, [vdso] is no kernel, and f(int)@plt is
 * not f.
 */
#include "formats/folded/folded.h"
#include "json/json.h"

#include <string.h>

/* The string member `key` of raw JSON members, onto out; false if there is none. */
static bool folded_put_member(struct sp_buf *out, struct sp_str more, const char *key)
{
    struct sp_buf object;
    struct sp_json j;
    bool found = false;
    sp_buf_init(&object, 0);
    sp_buf_ch(&object, '{');
    sp_buf_add(&object, more.p, more.n);
    sp_buf_ch(&object, '}');
    if (object.failed) {
        out->failed = true;
        sp_buf_free(&object);
        return false;
    }
    sp_json_init(&j, object.data, object.len);
    if (sp_json_object(&j))
        for (struct sp_span k, v; !found && sp_json_key(&j, &k);) {
            if (sp_span_is(k, key) && sp_json_string_value(&j, &v)) {
                found = true;
                sp_buf_add(out, v.p, v.n);
            } else {
                sp_json_skip(&j, &v);
            }
        }
    sp_json_free(&j);
    sp_buf_free(&object);
    return found;
}

/* "[libc.so.6]", "[unknown <7f00>]" */
static void folded_put_unknown(struct sp_buf *out, const struct sp_profile *p, uint32_t frame, bool addrs)
{
    struct sp_str dso = sp_pstr(p, sp_frame_dso(p, frame)->name);
    struct sp_str func = sp_pstr(p, sp_frame_function(p, frame)->name);
    size_t start = out->len;
    sp_buf_ch(out, '[');
    if (sp_str_is(dso, "[unknown]"))
        sp_buf_puts(out, "unknown");
    else if (p->frames.v[frame].extra_json &&
             folded_put_member(out, sp_pstr(p, p->frames.v[frame].extra_json), "x_raw_dso"))
        ;
    else if (sp_str_is(dso, "[kernel]"))
        sp_buf_puts(out, "[kernel.kallsyms]");
    else
        sp_buf_add(out, dso.p, dso.n);
    if (out->failed)
        return;
    const char *slash = memrchr(out->data + start + 1, '/', out->len - start - 1);
    if (slash) {
        size_t base = out->len - (size_t)(slash + 1 - out->data);
        memmove(out->data + start + 1, slash + 1, base);
        out->len = start + 1 + base;
    }
    if (addrs && func.n > 2) {
        sp_buf_puts(out, " <");
        sp_buf_add(out, func.p + 2, func.n - 2);
        sp_buf_ch(out, '>');
    }
    sp_buf_ch(out, ']');
}

static bool folded_starts_with(const char *p, const char *end, const char *literal)
{
    size_t n = strlen(literal);
    return (size_t)(end - p) >= n && memcmp(p, literal, n) == 0;
}

/* "net/http.(*Client).Do" */
static bool folded_is_go_method(const char *p, const char *end)
{
    const char *open = memmem(p, (size_t)(end - p), ".(", 2);
    return open && memmem(open, (size_t)(end - open), ").", 2);
}

/* The first parenthesis that opens a parameter list; end if there is none. */
static const char *folded_parameters(const char *p, const char *end, bool nesting)
{
    static const char anonymous[] = "(anonymous namespace)";
    int depth = 0;
    for (const char *q = p; q < end; q++) {
        if (folded_starts_with(q, end, "operator")) {
            q += strlen("operator");
            while (q < end && memchr("<>-=", *q, 4))
                q++;
            q--;
        } else if (folded_starts_with(q, end, anonymous)) {
            q += sizeof anonymous - 2;
        } else if (nesting && (*q == '<' || *q == '{')) {
            depth++;
        } else if (nesting && (*q == '}' || (*q == '>' && q > p && q[-1] != '-'))) {
            depth--;
        } else if (*q == '(' && depth == 0) {
            return q;
        }
    }
    return depth ? folded_parameters(p, end, false) : end;
}

/* The stub that jumps to a function of another binary is not that function. */
static size_t folded_plt(const char *p, const char *end)
{
    static const char plt[] = "@plt";
    size_t n = sizeof plt - 1;
    return (size_t)(end - p) > n && memcmp(end - n, plt, n) == 0 ? n : 0;
}

static void folded_tidy(struct sp_buf *out, size_t start, bool java)
{
    const char *p = out->data + start, *end = out->data + out->len;
    const char *params = folded_is_go_method(p, end) ? end : folded_parameters(p, end, true);
    size_t n = params == p ? (size_t)(end - p) : (size_t)(params - p), to = start;
    size_t plt = n == (size_t)(end - p) ? 0 : folded_plt(p, end);
    for (size_t i = 0; i < n; i++)
        if (p[i] != '"' && p[i] != '\'')
            out->data[to++] = p[i];
    memmove(out->data + to, end - plt, plt);
    out->len = to += plt;
    if (java && to > start && out->data[start] == 'L' && memchr(out->data + start, '/', to - start)) {
        memmove(out->data + start, out->data + start + 1, to - start - 1);
        out->len--;
    }
}

/* What has a meaning in folded text cannot stand in a name. */
static void folded_escape(struct sp_buf *out, size_t start)
{
    for (size_t i = start; i < out->len; i++)
        if (out->data[i] == ';')
            out->data[i] = ':';
        else if (out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = ' ';
}

static void folded_put_mark(struct sp_buf *out, size_t start, char c)
{
    char text[] = {'_', '[', c, ']'};
    if (out->len - start < 4 || memcmp(out->data + out->len - 4, text, 4) != 0)
        sp_buf_add(out, text, 4);
}

static void folded_put_marks(struct sp_buf *out, size_t start, const struct sp_profile *p, uint32_t frame,
                             const struct sp_fold_style *style)
{
    const struct sp_frame *f = &p->frames.v[frame];
    const struct sp_dso *dso = sp_frame_dso(p, frame);
    bool jit = sp_str_is(sp_pstr(p, dso->name), "[jit]");
    if (out->failed)
        return;
    if ((f->flags & SP_FRAME_INLINED) && (style->inlined || (style->perf && jit)))
        folded_put_mark(out, start, 'i');
    else if (style->kernel && (f->kind == SP_KERNEL || dso->is_kernel))
        folded_put_mark(out, start, 'k');
    else if (style->jit && jit)
        folded_put_mark(out, start, 'j');
    else if (f->extra_json && strstr(sp_pstr(p, f->extra_json).p, "\"x_folded\":{\"mark\":\"w\"}"))
        folded_put_mark(out, start, 'w');
}

/* Names of Java perf maps that hold what was inlined: "outer->inlined->deeper" is three frames. */
static void folded_split_java(struct sp_buf *out, size_t start, bool java)
{
    struct sp_buf whole;
    sp_buf_init(&whole, 0);
    sp_buf_add(&whole, out->data + start, out->len - start);
    if (whole.failed) {
        out->failed = true;
    } else {
        const char *p = whole.data, *end = p + whole.len;
        out->len = start;
        for (bool first = true; p <= end; first = false) {
            const char *arrow = memmem(p, (size_t)(end - p), "->", 2), *stop = arrow ? arrow : end;
            if (!first)
                sp_buf_ch(out, ';');
            size_t part = out->len;
            sp_buf_add(out, p, (size_t)(stop - p));
            folded_escape(out, part);
            folded_tidy(out, part, java);
            if (!first)
                folded_put_mark(out, part, 'i');
            p = arrow ? arrow + 2 : end + 1;
        }
    }
    sp_buf_free(&whole);
}

bool sp_fold_name(struct sp_buf *out, const struct sp_profile *p, uint32_t frame,
                  const struct sp_fold_style *style, bool java)
{
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_str symbol = sp_frame_symbol(p, frame);
    size_t start = out->len;
    if (style->perf && (f->flags & SP_FRAME_UNRESOLVED))
        folded_put_unknown(out, p, frame, style->addrs);
    else if (f->flags & SP_FRAME_UNRESOLVED && f->flags & SP_FRAME_SYMOFF) /* not to be taken for a name */
        sp_buf_printf(out, "0x%llx", (unsigned long long)f->ip);
    else if (style->printed)
        sp_buf_add(out, symbol.p, symbol.n);
    else
        sp_put_symbol_shown(out, p, frame);
    if (out->failed)
        return false;
    if (out->len > start && style->tidy) {
        bool jit = sp_str_is(sp_pstr(p, sp_frame_dso(p, frame)->name), "[jit]");
        if (java && jit && memmem(out->data + start, out->len - start, "->", 2)) {
            folded_split_java(out, start, java);
        } else {
            folded_escape(out, start);
            folded_tidy(out, start, java);
        }
    } else {
        folded_escape(out, start);
    }
    folded_put_marks(out, start, p, frame, style);
    return !out->failed;
}
