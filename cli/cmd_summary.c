/* spaa summary: what was profiled, how good the data is, where the weight is, what to ask next. */
#include "answer.h"

#include "analysis/path.h"
#include "analysis/top.h"
#include "base/num.h"
#include "render/text.h"

enum { HOT = 5, PATH_MAX_STEPS = 64, NEXT = 4 };

struct brief {
    struct cli *c;
    struct sp_selection s;
    struct sp_quality q;
    struct sp_top functions, threads, dsos;
    struct sp_tree tree;
    uint32_t path[PATH_MAX_STEPS];
    size_t path_n;
    struct sp_buf b;
};

static spaa_status gather(struct brief *x)
{
    struct sp_diags *d = &x->c->diags;
    struct sp_tree_opts how = {.sort = SP_TREE_BY_WEIGHT};
    spaa_status st = sp_quality_of(&x->s, d, &x->q);
    if (!st)
        st = sp_top_build(&x->s, SP_TOP_FUNCTION, false, d, &x->functions);
    if (!st)
        st = sp_top_build(&x->s, SP_TOP_THREAD, false, d, &x->threads);
    if (!st)
        st = sp_top_build(&x->s, SP_TOP_DSO, false, d, &x->dsos);
    if (!st)
        st = sp_tree_build(&x->s, &how, d, &x->tree);
    if (!st)
        x->path_n = sp_heaviest_path(&x->tree, 0.1, x->path, PATH_MAX_STEPS);
    return st;
}

/* Why names are missing, in the words of the symbolizer's own report where there is one. */
static const struct sp_diag *reason(const struct brief *x)
{
    for (size_t i = 0; i < x->c->diags.list.n; i++)
        if (x->c->diags.list.v[i].code == SP_I320)
            return &x->c->diags.list.v[i];
    return NULL;
}

static void next_command(struct brief *x, int i)
{
    static const struct answer_next commands[NEXT] = {{"top", NULL, "--sort cum"},
                                                      {"tree", NULL, "--inverted --depth 4"},
                                                      {"flamegraph", NULL, "-o flame.svg"},
                                                      {"convert", NULL, "-o profile.spaa.zst"}};
    sp_buf_clear(&x->b);
    command_text(&x->b, x->c, &commands[i]);
}

/* Converting takes one input, and filters are for views. */
static bool fits(const struct brief *x, int i)
{
    return i != 3 || (x->c->files.n == 1 && !x->s.filters.len && strcmp(x->c->input->name, "spaa") != 0);
}

static void json_rows(struct sp_jw *w, const char *key, const struct brief *x, const struct sp_top *t,
                      size_t max)
{
    const struct sp_profile *p = x->s.profile;
    sp_jw_open(w, key, '[');
    for (size_t i = 0; i < t->rows.n && i < max; i++) {
        const struct sp_top_row *r = &t->rows.v[i];
        struct sp_str name = sp_str_at(&t->names, r->name);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "name", name.p, name.n);
        if (r->function != SP_NONE && r->dso != SP_NONE) {
            struct sp_str dso = sp_pstr(p, p->dsos.v[r->dso].name);
            sp_jw_str(w, "dso", dso.p, dso.n);
        }
        if (x->s.cannot_add) {
            sp_jw_null(w, "flat");
            sp_jw_null(w, "flat_percent");
            sp_jw_null(w, "cum_percent");
        } else {
            sp_jw_scaled(w, "flat", r->flat, x->s.scale);
            sp_jw_percent(w, "flat_percent", r->flat, x->s.base);
            sp_jw_percent(w, "cum_percent", r->cum, x->s.base);
        }
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

static void answer_json(struct brief *x)
{
    struct sp_jw w;
    answer_open(x->c, &w, "spaa.summary/1", &x->s);
    sp_jw_u64(&w, "threads", x->s.profile->threads.n);
    json_rows(&w, "by_thread", x, &x->threads, HOT);
    json_rows(&w, "by_dso", x, &x->dsos, HOT);
    json_rows(&w, "hot", x, &x->functions, HOT);
    sp_jw_open(&w, "heaviest_path", '[');
    for (size_t i = 0; i < x->path_n; i++) {
        struct sp_str name = sp_tree_name(&x->tree, x->path[i]);
        sp_jw_open(&w, NULL, '{');
        sp_jw_str(&w, "name", name.p, name.n);
        if (x->s.cannot_add)
            sp_jw_null(&w, "total_percent");
        else
            sp_jw_percent(&w, "total_percent", x->tree.nodes.v[x->path[i]].total, x->s.base);
        sp_jw_close(&w, '}');
    }
    sp_jw_close(&w, ']');
    answer_quality(&w, "quality", &x->s, &x->q);
    sp_jw_open(&w, "next", '[');
    for (int i = 0; i < NEXT; i++) {
        if (!fits(x, i))
            continue;
        next_command(x, i);
        sp_jw_str(&w, NULL, x->b.data, x->b.len);
    }
    sp_jw_close(&w, ']');
    answer_close(x->c, &w);
}

static void title(const struct brief *x, const char *t)
{
    sp_printf(x->c->out, "%s%s%s\n", x->c->colour ? "\033[1m" : "", t, x->c->colour ? "\033[0m" : "");
}

static void percent(struct brief *x, int64_t v)
{
    sp_buf_clear(&x->b);
    percent_text(&x->b, &x->s, v);
    sp_printf(x->c->out, "%6s%%", sp_buf_cstr(&x->b));
}

static void name(struct brief *x, struct sp_str s, size_t columns)
{
    sp_buf_clear(&x->b);
    sp_text_fit(&x->b, s.p, s.n, columns);
    sp_write(x->c->out, x->b.data, x->b.len);
}

/* " 12.34%" within a line of text. */
static void share(struct brief *x, int64_t v)
{
    sp_buf_clear(&x->b);
    percent_text(&x->b, &x->s, v);
    sp_printf(x->c->out, " %s%%", sp_buf_cstr(&x->b));
}

static void share_list(struct brief *x, const char *what, const struct sp_top *t)
{
    sp_printf(x->c->out, "%-12s", what);
    for (size_t i = 0; i < t->rows.n && i < 4; i++) {
        sp_puts(x->c->out, i ? ", " : "");
        name(x, sp_str_at(&t->names, t->rows.v[i].name), 40);
        share(x, t->rows.v[i].flat);
    }
    if (t->rows.n > 4)
        sp_printf(x->c->out, ", %zu more", t->rows.n - 4);
    sp_puts(x->c->out, "\n");
}

static void quality(struct brief *x)
{
    const struct sp_profile *p = x->s.profile;
    sp_printf(x->c->out, "%-11s", "unresolved");
    share(x, x->q.unresolved_leaf);
    sp_puts(x->c->out, " of weight has no function name");
    for (size_t i = 0; i < x->q.dsos.n && i < 3; i++) {
        sp_puts(x->c->out, i ? ", " : ": ");
        name(x, sp_pstr(p, p->dsos.v[x->q.dsos.v[i].dso].name), 40);
        share(x, x->q.dsos.v[i].leaf);
    }
    sp_puts(x->c->out, "\n");
    const struct sp_diag *why = x->q.frames_unresolved ? reason(x) : NULL;
    if (why) {
        sp_printf(x->c->out, "%-12s", "  because");
        name(x, (struct sp_str){why->message, (uint32_t)strlen(why->message)}, 400);
        sp_puts(x->c->out, "\n");
        sp_printf(x->c->out, "%-12s", "  remedy");
        name(x, (struct sp_str){why->hint, (uint32_t)strlen(why->hint)}, 400);
        sp_puts(x->c->out, "\n");
    }
    if (x->q.lost)
        sp_printf(x->c->out, "%-12s%llu samples, by the profiler's own count\n", "lost",
                  (unsigned long long)x->q.lost);
    if (x->q.truncated)
        sp_printf(x->c->out, "%-12s%llu stacks\n", "cut off", (unsigned long long)x->q.truncated);
}

static void hot(struct brief *x)
{
    const struct sp_profile *p = x->s.profile;
    sp_puts(x->c->out, "\n");
    title(x, "hot functions (own weight, with callees)");
    for (size_t i = 0; i < x->functions.rows.n && i < HOT; i++) {
        const struct sp_top_row *r = &x->functions.rows.v[i];
        sp_puts(x->c->out, "  ");
        percent(x, r->flat);
        percent(x, r->cum);
        sp_puts(x->c->out, "  ");
        name(x, sp_str_at(&x->functions.names, r->name), x->c->width > 60 ? x->c->width - 40 : 100);
        if (r->dso != SP_NONE) {
            sp_puts(x->c->out, "  ");
            name(x, sp_pstr(p, p->dsos.v[r->dso].name), 40);
        }
        sp_puts(x->c->out, "\n");
    }
}

/* Runs of one function (recursion) are one line. */
static void path(struct brief *x)
{
    sp_puts(x->c->out, "\n");
    title(x, "heaviest path");
    for (size_t i = 0; i < x->path_n;) {
        struct sp_str s = sp_tree_name(&x->tree, x->path[i]);
        size_t k = i + 1;
        while (k < x->path_n && sp_str_cmp(sp_tree_name(&x->tree, x->path[k]), s) == 0)
            k++;
        sp_puts(x->c->out, "  ");
        percent(x, x->tree.nodes.v[x->path[i]].total);
        sp_puts(x->c->out, "  ");
        name(x, s, x->c->width > 40 ? x->c->width - 20 : 100);
        if (k - i > 1)
            sp_printf(x->c->out, "  (%zu times)", k - i);
        sp_puts(x->c->out, "\n");
        i = k;
    }
}

static void answer_text(struct brief *x)
{
    struct cli *c = x->c;
    const struct sp_header *h = &x->s.profile->header;
    if (h->command) {
        sp_printf(c->out, "%-12s", "profiled");
        name(x, sp_pstr(x->s.profile, h->command), c->width > 40 ? c->width - 14 : 200);
        sp_puts(c->out, "\n");
    }
    sp_printf(c->out, "%-12s", "weight");
    answer_heading(c, &x->s);
    share_list(x, "threads", &x->threads);
    share_list(x, "binaries", &x->dsos);
    quality(x);
    hot(x);
    path(x);
    sp_puts(c->out, "\n");
    title(x, "next");
    for (int i = 0; i < NEXT; i++) {
        if (!fits(x, i))
            continue;
        next_command(x, i);
        struct sp_buf shown;
        sp_buf_init(&shown, 0);
        sp_text_safe(&shown, x->b.data, x->b.len);
        sp_printf(c->out, "  %s\n", sp_buf_cstr(&shown));
        sp_buf_free(&shown);
    }
}

int sp_cmd_summary(struct cli *c)
{
    struct brief x = {.c = c};
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    if (c->format == FORMAT_CSV || c->format == FORMAT_MARKDOWN)
        return cli_usage(c, "`spaa top` has them", "summary is text or --json");
    spaa_status st = cli_select(c, &x.s);
    if (st)
        return cli_exit_of(st);
    sp_buf_init(&x.b, 0);
    st = gather(&x);
    rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (!rc && c->format == FORMAT_JSON)
        answer_json(&x);
    else if (!rc)
        answer_text(&x);
    sp_buf_free(&x.b);
    sp_quality_free(&x.q);
    sp_top_free(&x.functions);
    sp_top_free(&x.threads);
    sp_top_free(&x.dsos);
    sp_tree_free(&x.tree);
    sp_selection_free(&x.s);
    return rc;
}
