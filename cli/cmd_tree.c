/* spaa tree: the call tree, heaviest first. */
#include "answer.h"

#include "analysis/handle.h"
#include "analysis/tree.h"
#include "base/num.h"
#include "render/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static void json_node(struct sp_jw *w, const struct sp_selection *s, const struct sp_tree *t,
                      const struct sp_handles *handles, uint32_t i)
{
    const struct sp_profile *p = s->profile;
    const struct sp_tree_node *n = &t->nodes.v[i];
    struct sp_str name = sp_tree_name(t, i);
    char handle[32];
    sp_jw_open(w, NULL, '{');
    sp_jw_u64(w, "id", i);
    if (n->parent == SP_NONE)
        sp_jw_null(w, "parent");
    else
        sp_jw_u64(w, "parent", n->parent);
    sp_jw_u64(w, "depth", n->depth);
    sp_jw_str(w, "name", name.p, name.n);
    if (n->function != SP_NONE) {
        struct sp_str dso = sp_pstr(p, p->dsos.v[p->functions.v[n->function].dso].name);
        sp_jw_str(w, "dso", dso.p, dso.n);
        sp_handle_text(handles, n->function, handle);
        sp_jw_cstr(w, "function", handle);
        sp_jw_cstr(w, "kind", sp_frame_kind_names[n->kind]);
    } else {
        sp_jw_null(w, "dso");
    }
    if (s->cannot_add) {
        sp_jw_null(w, "self");
        sp_jw_null(w, "total");
        sp_jw_null(w, "total_percent");
    } else {
        sp_jw_scaled(w, "self", n->self, s->scale);
        sp_jw_scaled(w, "total", n->total, s->scale);
        sp_jw_percent(w, "total_percent", n->total, s->base);
    }
    if (n->samples == SP_ABSENT)
        sp_jw_null(w, "samples");
    else
        sp_jw_i64(w, "samples", n->samples);
    sp_jw_close(w, '}');
}

static int answer_json(struct cli *c, struct sp_selection *s, const struct sp_tree *t, size_t limit)
{
    struct sp_jw w;
    struct sp_quality q;
    struct sp_handles handles;
    if (sp_quality_of(s, &c->diags, &q))
        return EXIT_IO;
    if (sp_handles_of(s->profile, &handles)) {
        sp_quality_free(&q);
        return EXIT_IO;
    }
    answer_open(c, &w, "spaa.tree/1", s);
    sp_jw_open(&w, "nodes", '[');
    for (uint32_t i = 0; i < t->nodes.n && i < limit; i++)
        json_node(&w, s, t, &handles, i);
    sp_jw_close(&w, ']');
    sp_jw_open(&w, "omitted", '{');
    sp_jw_u64(&w, "nodes", t->pruned + (t->nodes.n > limit ? t->nodes.n - limit : 0));
    sp_jw_close(&w, '}');
    answer_quality(&w, "quality", s, &q);
    answer_close(c, &w);
    sp_handles_free(&handles);
    sp_quality_free(&q);
    return EXIT_FINE;
}

/* One child goes on in its parent's column, so that straight chains do not run off the screen. */
static void indents(const struct sp_tree *t, size_t n, unsigned *indent)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t up = t->nodes.v[i].parent;
        bool only = t->nodes.v[i].end == t->nodes.v[up].end && i == up + 1;
        indent[i] = up == 0 ? 0 : indent[up] + !only;
    }
}

static int answer_text(struct cli *c, struct sp_selection *s, const struct sp_tree *t, size_t limit)
{
    static const struct sp_table_column columns[] = {
        {"total%", true, false}, {"self%", true, false}, {"total", true, false}, {"function", false, true}};
    size_t shown = t->nodes.n - 1 < limit ? t->nodes.n : limit + 1;
    unsigned *indent = calloc(t->nodes.n, sizeof *indent);
    bool csv = c->format == FORMAT_CSV;
    char exact[64];
    struct sp_table table;
    struct sp_buf b;
    if (!indent)
        return cli_exit_of(sp_nomem(&c->diags));
    indents(t, t->nodes.n, indent);
    sp_table_init(&table, columns, 4);
    sp_buf_init(&b, 0);
    for (uint32_t i = 1; i < shown; i++) {
        const struct sp_tree_node *n = &t->nodes.v[i];
        int64_t v[] = {n->total, n->self};
        for (int k = 0; k < 2; k++) {
            if (!csv || !s->cannot_add)
                percent_text(&b, s, v[k]);
            sp_buf_puts(&b, csv ? "" : "%");
            sp_table_cell(&table, b.data ? b.data : "", b.len);
            sp_buf_clear(&b);
        }
        if (s->cannot_add)
            sp_buf_puts(&b, csv ? "" : "-");
        else if (csv)
            sp_buf_add(&b, exact, sp_scaled_text(n->total, s->scale, exact));
        else
            weight_text(&b, s, n->total);
        sp_table_cell(&table, b.data ? b.data : "", b.len);
        sp_buf_clear(&b);
        for (unsigned k = 0; k < indent[i] && k < 200; k++)
            sp_buf_puts(&b, "  ");
        struct sp_str name = sp_tree_name(t, i);
        sp_buf_add(&b, name.p, name.n);
        if (n->kind == SP_KERNEL)
            sp_buf_puts(&b, " [k]");
        if (n->inlined)
            sp_buf_puts(&b, " [inlined]");
        sp_table_cell(&table, b.data ? b.data : "", b.len);
        sp_buf_clear(&b);
    }
    answer_heading(c, s);
    int rc = answer_table(c, &table);
    size_t more = t->pruned + (t->nodes.n - shown);
    if (!rc && more && c->format != FORMAT_CSV)
        sp_printf(c->out, "%zu more nodes; --min-percent 0 -n 0 shows all, --depth N cuts by depth\n", more);
    free(indent);
    sp_buf_free(&b);
    sp_table_free(&table);
    return rc;
}

static bool tree_options(struct cli *c, struct sp_tree_opts *how, double *percent)
{
    long depth;
    char *end;
    *percent = c->v.min_percent ? strtod(c->v.min_percent, &end) : 0.5;
    if (c->v.min_percent && (!*c->v.min_percent || *end || !(*percent >= 0 && *percent <= 100))) {
        cli_usage(c, NULL, "--min-percent needs a number from 0 to 100, not \"%s\"", c->v.min_percent);
        return false;
    }
    if (!cli_number(c, "depth", c->v.depth, 1, 1000000, 0, &depth))
        return false;
    *how = (struct sp_tree_opts){
        .inverted = c->v.inverted != NULL, .sort = SP_TREE_BY_WEIGHT, .max_depth = (uint32_t)depth};
    return true;
}

int sp_cmd_tree(struct cli *c)
{
    struct sp_tree_opts how;
    struct sp_selection s;
    struct sp_tree t;
    size_t limit;
    double percent;
    if (!tree_options(c, &how, &percent) || !answer_limit(c, &limit))
        return EXIT_USAGE;
    if (!c->v.limit && c->format == FORMAT_JSON)
        limit = SIZE_MAX;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = cli_select(c, &s);
    if (st)
        return cli_exit_of(st);
    how.min_total = (int64_t)fmin(fabs((double)s.base) * percent / 100, 9e18);
    st = sp_tree_build(&s, &how, &c->diags, &t);
    rc = cli_exit_of(st);
    if (!st) {
        rc = cli_stdout(c);
        if (!rc)
            rc = c->format == FORMAT_JSON ? answer_json(c, &s, &t, limit) : answer_text(c, &s, &t, limit);
        sp_tree_free(&t);
    }
    sp_selection_free(&s);
    return rc;
}
