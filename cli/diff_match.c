/* What `spaa diff` says about matching: which binaries are compared under two names. */
#include "diff.h"

#include "render/text.h"

static void functions(const struct sp_binary_pair *p, struct sp_buf *b)
{
    sp_buf_printf(b, "%zu of %zu %s the same %s", p->same, p->of,
                  p->of == 1 ? "function has" : "functions have", p->same == 1 ? "name" : "names");
}

static void name(const struct diff_answer *a, struct sp_buf *b, uint32_t id)
{
    struct sp_str s = sp_str_at(&a->d.strs, id);
    sp_text_safe(b, s.p, s.n);
}

/* "shop may be shop_a (…) or shop_b (…)": candidates of one binary stand one after the other. */
static void candidates(const struct diff_answer *a, size_t from, size_t to, struct sp_buf *b)
{
    const struct sp_binary_pair *p = a->d.binaries.v.v;
    name(a, b, p[from].dso[SP_BASE]);
    sp_buf_puts(b, " is compared with none: it may be ");
    for (size_t i = from; i < to; i++) {
        sp_buf_puts(b, i > from ? " or " : "");
        name(a, b, p[i].dso[SP_NEW]);
        sp_buf_puts(b, " (");
        functions(&p[i], b);
        sp_buf_ch(b, ')');
    }
    sp_buf_puts(b, "; --map ");
    name(a, b, p[from].dso[SP_BASE]);
    sp_buf_ch(b, '=');
    name(a, b, p[from].dso[SP_NEW]);
    sp_buf_puts(b, " says so\n");
}

void diff_binaries_text(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_binary_pair *p = a->d.binaries.v.v;
    for (size_t i = 0, k; i < a->d.binaries.v.n; i = k) {
        k = i + 1;
        sp_buf_puts(b, "binary  ");
        if (p[i].how == SP_BINARY_CANDIDATE) {
            while (k < a->d.binaries.v.n && p[k].how == SP_BINARY_CANDIDATE &&
                   p[k].dso[SP_BASE] == p[i].dso[SP_BASE])
                k++;
            candidates(a, i, k, b);
            continue;
        }
        name(a, b, p[i].dso[SP_BASE]);
        sp_buf_puts(b, " is compared with ");
        name(a, b, p[i].dso[SP_NEW]);
        sp_buf_puts(b, p[i].how == SP_BINARY_MAPPED ? " (--map): " : ": ");
        functions(&p[i], b);
        sp_buf_ch(b, '\n');
    }
}

void diff_binaries_json(const struct diff_answer *a, struct sp_jw *w)
{
    sp_jw_open(w, "binaries", '[');
    for (size_t i = 0; i < a->d.binaries.v.n; i++) {
        const struct sp_binary_pair *p = &a->d.binaries.v.v[i];
        struct sp_str base = sp_str_at(&a->d.strs, p->dso[SP_BASE]),
                      fresh = sp_str_at(&a->d.strs, p->dso[SP_NEW]);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "base", base.p, base.n);
        sp_jw_str(w, "new", fresh.p, fresh.n);
        sp_jw_cstr(w, "by", sp_binary_how_names[p->how]);
        sp_jw_bool(w, "compared", p->how != SP_BINARY_CANDIDATE);
        sp_jw_u64(w, "same_functions", p->same);
        sp_jw_u64(w, "functions", p->of);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}
