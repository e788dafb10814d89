/* What `spaa diff` says about matching: binaries compared under two names, functions that were compiled
 * differently. */
#include "ask/diff.h"

static void diff_match_functions(const struct sp_binary_pair *p, struct sp_buf *b)
{
    sp_buf_printf(b, "%zu of %zu %s the same %s", p->same, p->of,
                  p->of == 1 ? "function has" : "functions have", p->same == 1 ? "name" : "names");
}

static void diff_match_name(const struct diff_answer *a, struct sp_buf *b, uint32_t id)
{
    struct sp_str s = sp_str_at(&a->d.strs, id);
    sp_buf_add(b, s.p, s.n);
}

/* "shop may be shop_a (…) or shop_b (…)": candidates of one binary stand one after the other. */
static void candidates(const struct diff_answer *a, size_t from, size_t to, struct sp_buf *b)
{
    const struct sp_binary_pair *p = a->d.binaries.v.v;
    diff_match_name(a, b, p[from].dso[SP_BASE]);
    sp_buf_puts(b, " is compared with none: it may be ");
    for (size_t i = from; i < to; i++) {
        sp_buf_puts(b, i > from ? " or " : "");
        diff_match_name(a, b, p[i].dso[SP_NEW]);
        sp_buf_puts(b, " (");
        diff_match_functions(&p[i], b);
        sp_buf_ch(b, ')');
    }
    sp_buf_puts(b, "; --map ");
    diff_match_name(a, b, p[from].dso[SP_BASE]);
    sp_buf_ch(b, '=');
    diff_match_name(a, b, p[from].dso[SP_NEW]);
    sp_buf_puts(b, " says so");
}

void sp_diff_say_binaries(const struct diff_answer *a)
{
    struct sp_buf line, *b = &line;
    sp_buf_init(b, 0);
    const struct sp_binary_pair *p = a->d.binaries.v.v;
    for (size_t i = 0, k; i < a->d.binaries.v.n; i = k) {
        k = i + 1;
        sp_buf_clear(b);
        sp_buf_puts(b, "binary  ");
        if (p[i].how == SP_BINARY_CANDIDATE) {
            while (k < a->d.binaries.v.n && p[k].how == SP_BINARY_CANDIDATE &&
                   p[k].dso[SP_BASE] == p[i].dso[SP_BASE])
                k++;
            candidates(a, i, k, b);
            sp_answer_line_of(a->out, SP_LINE_ITEM, b);
            continue;
        }
        diff_match_name(a, b, p[i].dso[SP_BASE]);
        sp_buf_puts(b, " is compared with ");
        diff_match_name(a, b, p[i].dso[SP_NEW]);
        sp_buf_puts(b, p[i].how == SP_BINARY_MAPPED ? " (--map): " : ": ");
        diff_match_functions(&p[i], b);
        sp_answer_line_of(a->out, SP_LINE_ITEM, b);
    }
    sp_buf_free(b);
}

/* ---- how functions were compiled ---- */

static void forms(struct sp_buf *b, unsigned bits)
{
    for (unsigned i = 0, n = 0; i < SP_FORMS; i++)
        if (bits >> i & 1)
            sp_buf_printf(b, "%s%s", n++ ? ", " : "", sp_diff_form_names[i]);
}

void sp_diff_say_remark(const struct sp_diff_row *r, struct sp_buf *b)
{
    const unsigned inlined = 1u << SP_FORM_INLINED, x = r->forms[SP_BASE], y = r->forms[SP_NEW];
    if (!r->recompiled)
        return;
    sp_buf_puts(b, x == inlined   ? "no longer inlined into its callers"
                   : y == inlined ? "now inlined into its callers"
                                  : "also compiled differently");
    sp_buf_puts(b, " (");
    forms(b, x);
    sp_buf_puts(b, " before, ");
    forms(b, y);
    sp_buf_puts(b, " now)");
}

void sp_diff_say_remarks(const struct diff_answer *a)
{
    struct sp_buf b;
    bool any = false;
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < a->d.rows.n && i < a->limit; i++) {
        const struct sp_diff_row *r = &a->d.rows.v[i];
        if (!r->recompiled)
            continue;
        sp_buf_clear(&b);
        sp_buf_puts(&b, "compiled differently");
        if (!any)
            sp_answer_line_of(a->out, SP_LINE_TITLE, &b);
        any = true;
        sp_buf_clear(&b);
        sp_diff_say_row(&a->d, r, false, &b);
        sp_buf_puts(&b, ": ");
        sp_diff_say_remark(r, &b);
        sp_answer_line_of(a->out, SP_LINE_ITEM, &b);
    }
    sp_buf_free(&b);
}

/* ---- facts ---- */

void sp_diff_binaries(const struct diff_answer *a)
{
    sp_answer_open(a->out, "binaries", '[');
    for (size_t i = 0; i < a->d.binaries.v.n; i++) {
        const struct sp_binary_pair *p = &a->d.binaries.v.v[i];
        struct sp_str base = sp_str_at(&a->d.strs, p->dso[SP_BASE]),
                      fresh = sp_str_at(&a->d.strs, p->dso[SP_NEW]);
        sp_answer_open(a->out, NULL, '{');
        sp_fact_text(a->out, "base", base.p, base.n);
        sp_fact_text(a->out, "new", fresh.p, fresh.n);
        sp_fact_cstr(a->out, "by", sp_binary_how_names[p->how]);
        sp_fact_bool(a->out, "compared", p->how != SP_BINARY_CANDIDATE);
        sp_fact_count(a->out, "same_functions", (int64_t)p->same);
        sp_fact_count(a->out, "functions", (int64_t)p->of);
        sp_answer_close(a->out);
    }
    sp_answer_close(a->out);
}
