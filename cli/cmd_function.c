/* spaa function: one function: its weight, callers, callees, lines and threads. */
#include "answer.h"

#include "analysis/function.h"
#include "analysis/top.h"
#include "base/num.h"
#include "model/edges.h"
#include "render/text.h"

struct function {
    struct answer a;
    struct sp_function_lookup lookup;
    struct sp_function_view v;
    const char *asked;
    char handle[32]; /* of the function, where it is one */
};

enum { SECTIONS = 5, MATCHES = 0, CALLERS, CALLEES, LINES, THREADS };
static const char *const section_names[] = {"matches", "callers", "callees", "lines", "threads"};

struct row {
    uint32_t function;
    struct sp_str name;
    int64_t self, total, samples;
    bool neighbour;
    uint32_t pool; /* of threads; SP_NONE */
    enum sp_inferred inferred;
};

static size_t rows_of(const struct function *x, int section)
{
    const size_t n[] = {x->v.matches.n, x->v.callers.n, x->v.callees.n, x->v.lines.n, x->v.threads.n};
    return n[section];
}

static struct row cmd_function_row_of(const struct function *x, int section, size_t i)
{
    const struct sp_profile *p = x->a.s->profile;
    if (section == CALLERS || section == CALLEES) {
        const struct sp_neighbour *y = section == CALLERS ? &x->v.callers.v[i] : &x->v.callees.v[i];
        struct sp_str name = y->function == SP_NONE ? (struct sp_str){"[root]", 6}
                                                    : sp_pstr(p, p->functions.v[y->function].name);
        enum sp_inferred inferred = !y->inferred               ? SP_RECORDED
                                    : y->inferred == y->weight ? SP_INFERRED
                                                               : SP_INFERRED_IN_PART;
        return (struct row){y->function, name, 0, y->weight, y->samples, true, SP_NONE, inferred};
    }
    const struct sp_part *y = section == MATCHES ? &x->v.matches.v[i]
                              : section == LINES ? &x->v.lines.v[i]
                                                 : &x->v.threads.v[i];
    struct sp_str name = y->name ? sp_str_at(&x->v.names, y->name) : (struct sp_str){"?", 1};
    return (struct row){y->function, name, y->self, y->total, y->total_samples, false, y->pool, SP_RECORDED};
}

/* One match needs no list, and lines that are not known none either. */
static bool cmd_function_shown(const struct function *x, int section)
{
    if (section == MATCHES)
        return x->v.matches.n > 1;
    return section != LINES || x->v.lines.n > 1 || (x->v.lines.n && x->v.lines.v[0].name);
}

static unsigned tags_of(const struct function *x)
{
    return sp_function_tags(x->a.s->profile, x->a.s->event, x->lookup.first);
}

/* ---- JSON ---- */

static void cmd_function_json_row(struct function *x, int section, const struct row *r)
{
    struct answer *a = &x->a;
    sp_jw_open(&a->w, NULL, '{');
    if (r->function != SP_NONE) {
        answer_function(a, r->function);
    } else if (section == LINES && sp_str_is(r->name, "?")) {
        sp_jw_null(&a->w, "name");
    } else if (section == CALLERS) {
        sp_jw_null(&a->w, "function");
    } else {
        sp_jw_str(&a->w, "name", r->name.p, r->name.n);
    }
    if (r->inferred)
        sp_jw_bool(&a->w, r->inferred == SP_INFERRED ? "inferred" : "inferred_in_part", true);
    if (!r->neighbour) {
        answer_weight(a, "self", r->self);
        answer_percent(a, "self_percent", r->self);
    }
    answer_weight(a, r->neighbour ? "weight" : "total", r->total);
    answer_percent(a, r->neighbour ? "percent" : "total_percent", r->total);
    answer_count(a, "samples", r->samples);
    if (section == THREADS)
        pool_json(&a->w, &a->s->pools, r->pool == SP_NONE ? NULL : &a->s->pools.pools.v[r->pool]);
    sp_jw_close(&a->w, '}');
}

static int cmd_function_draw_json(struct function *x, size_t limit)
{
    struct answer *a = &x->a;
    int rc = answer_begin(a, "spaa.function/2");
    if (rc)
        return rc;
    sp_jw_cstr(&a->w, "asked", x->asked);
    sp_jw_open(&a->w, "function", '{');
    answer_function(a, x->lookup.first);
    sp_jw_u64(&a->w, "matches", x->v.matches.n);
    sp_jw_close(&a->w, '}');
    sp_jw_open(&a->w, "tags", '[');
    for (unsigned i = 0, tags = tags_of(x); sp_tag_words[i]; i++)
        if (tags >> i & 1)
            sp_jw_cstr(&a->w, NULL, sp_tag_words[i]);
    sp_jw_close(&a->w, ']');
    answer_weight(a, "self", x->v.self);
    answer_percent(a, "self_percent", x->v.self);
    answer_weight(a, "total", x->v.total);
    answer_percent(a, "total_percent", x->v.total);
    answer_at_most(a, x->v.at_most);
    answer_count(a, "samples", x->v.samples);
    answer_count(a, "total_samples", x->v.total_samples);
    sp_jw_open(&a->w, "recursion", '{');
    answer_weight(a, "weight", x->v.recursive);
    answer_percent(a, "percent", x->v.recursive);
    sp_jw_u64(&a->w, "most_in_a_stack", x->v.deepest);
    sp_jw_bool(&a->w, "by_name_only", x->v.deepest > 1 && !x->v.proven);
    sp_jw_close(&a->w, '}');
    for (int k = 0; k < SECTIONS; k++) {
        sp_jw_open(&a->w, section_names[k], '[');
        for (size_t i = 0; i < rows_of(x, k) && i < limit; i++) {
            struct row r = cmd_function_row_of(x, k, i);
            cmd_function_json_row(x, k, &r);
        }
        sp_jw_close(&a->w, ']');
    }
    sp_jw_open(&a->w, "omitted", '{');
    for (int k = 0; k < SECTIONS; k++)
        sp_jw_u64(&a->w, section_names[k], rows_of(x, k) > limit ? rows_of(x, k) - limit : 0);
    sp_jw_close(&a->w, '}');
    struct sp_buf tail;
    sp_buf_init(&tail, 0);
    sp_buf_printf(&tail, "--root-at %s", x->handle);
    const struct answer_next next[] = {{"tree", NULL, sp_buf_cstr(&tail)},
                                       {"stacks", NULL, sp_buf_cstr(&tail)}};
    rc = answer_end(a, next, a->c->v.root_at ? 0 : 2);
    sp_buf_free(&tail);
    return rc;
}

/* ---- text ---- */

static void cmd_function_at_most(struct function *x)
{
    struct sp_buf *b = &x->a.b;
    sp_buf_puts(b, " at least");
    if (x->v.at_most == SP_ABSENT)
        return;
    sp_buf_puts(b, ", ");
    weight_text(b, x->a.s, x->v.at_most);
    sp_buf_puts(b, " (");
    percent_text(b, x->a.s, x->v.at_most);
    sp_buf_puts(b, "%) at most");
}

static void cmd_function_title(struct function *x)
{
    struct sp_buf *b = &x->a.b;
    struct sp_output *out = x->a.c->out;
    const struct sp_selection *s = x->a.s;
    const struct sp_profile *p = s->profile;
    struct sp_str name = sp_pstr(p, p->functions.v[x->lookup.first].name);
    sp_buf_clear(b);
    if (x->v.matches.n > 1) {
        sp_text_safe(b, x->asked, strlen(x->asked));
        sp_buf_printf(b, ": %zu functions as one", x->v.matches.n);
    } else {
        struct sp_str dso = dso_name(p, p->functions.v[x->lookup.first].dso);
        sp_text_safe(b, name.p, name.n);
        sp_buf_puts(b, " in ");
        sp_text_safe(b, dso.p, dso.n);
        sp_buf_printf(b, " (%s)", x->handle);
    }
    sp_buf_puts(b, "\nself ");
    const int64_t v[] = {x->v.self, x->v.total, x->v.recursive};
    for (int i = 0; i < 3; i++) {
        if (i == 2 && x->v.deepest < 2)
            break;
        sp_buf_puts(b, i == 0        ? ""
                       : i == 1      ? ", total "
                       : x->v.proven ? ", recursive "
                                     : ", with its name again ");
        if (s->cannot_add)
            sp_buf_ch(b, '-');
        else
            weight_text(b, s, v[i]);
        sp_buf_puts(b, " (");
        percent_text(b, s, v[i]);
        sp_buf_puts(b, "%)");
        if (i == 1 && sp_chains_tell(s))
            cmd_function_at_most(x);
    }
    if (x->v.deepest > 1)
        sp_buf_printf(b, ", up to %u times in one stack", x->v.deepest);
    if (tags_of(x) & SP_TAG_IRQ)
        sp_buf_puts(
            b,
            "\n[irq-enable] an artefact of software clocks, whose timer waits while interrupts are off: "
            "most of its self weight is\ntime of its callers (`perf record -e cycles` shows where, with the "
            "processor's counters)");
    sp_buf_ch(b, '\n');
    if (x->a.c->format == FORMAT_MARKDOWN)
        sp_markdown_text(out, b->data, b->len);
    else
        sp_write(out, b->data, b->len);
    sp_buf_clear(b);
}

static void cmd_function_table_row(struct function *x, struct sp_table *t, int section, const struct row *r)
{
    const struct sp_profile *p = x->a.s->profile;
    if (x->a.c->format == FORMAT_CSV)
        sp_table_printf(t, "%s", section_names[section]);
    cell_weight(&x->a, t, r->total);
    cell_percent(&x->a, t, r->total);
    if (r->neighbour) {
        sp_table_cell(t, "", 0);
        sp_table_cell(t, "", 0);
    } else {
        cell_weight(&x->a, t, r->self);
        cell_percent(&x->a, t, r->self);
    }
    cell_count(t, r->samples);
    sp_buf_add(&x->a.b, r->name.p, r->name.n);
    sp_buf_puts(&x->a.b, sp_inferred_mark(p, r->function, r->inferred));
    cell_buf(t, &x->a.b);
    cell_str(t, dso_name(p, r->function == SP_NONE ? SP_NONE : p->functions.v[r->function].dso));
}

static int cmd_function_draw_text(struct function *x, size_t limit)
{
    static const struct sp_table_column columns[] = {
        {"section", false, false}, {"weight", true, false},  {"%", true, false},    {"self", true, false},
        {"self%", true, false},    {"samples", true, false}, {"name", false, true}, {"dso", false, true}};
    struct cli *c = x->a.c;
    bool csv = c->format == FORMAT_CSV;
    struct sp_table all;
    int rc = EXIT_FINE;
    if (csv) {
        sp_table_init(&all, columns, 8);
    } else {
        answer_heading(c, x->a.s);
        cmd_function_title(x);
    }
    for (int k = 0; !rc && k < SECTIONS; k++) {
        struct sp_table one;
        size_t n = rows_of(x, k), most = n < limit ? n : limit;
        if (!n || (!csv && !cmd_function_shown(x, k)))
            continue;
        if (!csv) {
            sp_table_init(&one, columns + 1, 7);
            sp_printf(c->out, "\n%s\n%s", section_names[k], c->format == FORMAT_MARKDOWN ? "\n" : "");
        }
        for (size_t i = 0; i < most; i++) {
            struct row r = cmd_function_row_of(x, k, i);
            cmd_function_table_row(x, csv ? &all : &one, k, &r);
        }
        if (csv)
            continue;
        rc = answer_table(c, &one);
        if (!rc && most < n)
            sp_printf(c->out, "%s%zu more; %s\n", c->format == FORMAT_MARKDOWN ? "\n" : "", n - most,
                      answer_more(c));
        sp_table_free(&one);
    }
    if (csv) {
        rc = answer_table(c, &all);
        sp_table_free(&all);
    }
    return rc;
}

static int cmd_function_draw(void *arg, size_t rows)
{
    struct function *x = arg;
    return x->a.c->format == FORMAT_JSON ? cmd_function_draw_json(x, rows) : cmd_function_draw_text(x, rows);
}

static int cmd_function_answer(struct function *x, size_t limit)
{
    struct cli *c = x->a.c;
    size_t most = 0;
    spaa_status st = sp_function_build(x->a.s, &x->lookup, &c->diags, &x->v);
    if (!st)
        st = answer_ready(&x->a);
    if (st)
        return cli_exit_of(st);
    sp_handle_text(&x->a.handles, x->lookup.first, x->handle);
    for (int k = 0; k < SECTIONS; k++)
        most = rows_of(x, k) > most ? rows_of(x, k) : most;
    int rc = cli_stdout(c);
    return rc ? rc : answer_fit(c, limit < most ? limit : most, cmd_function_draw, x);
}

int sp_cmd_function(struct cli *c)
{
    struct sp_selection s;
    struct function x = {0};
    size_t limit;
    if (!answer_limit(c, 10, &limit))
        return EXIT_USAGE;
    if (!c->files.n)
        return cli_usage(c, "spaa function FILE NAME", "function needs the name of a function");
    x.asked = c->files.v[--c->files.n];
    c->no_ids = true;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = sp_lookup_functions(c->profile, x.asked, &c->diags, &x.lookup);
    if (st)
        return cli_exit_of(st);
    st = cli_select(c, &s);
    if (st) {
        sp_function_lookup_free(&x.lookup);
        return cli_exit_of(st);
    }
    answer_init(&x.a, c, &s);
    rc = cmd_function_answer(&x, limit);
    sp_function_free(&x.v);
    answer_free(&x.a);
    sp_selection_free(&s);
    sp_function_lookup_free(&x.lookup);
    return rc;
}
