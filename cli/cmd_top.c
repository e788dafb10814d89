/* spaa top: the heaviest functions, lines, binaries, threads, … */
#include "answer.h"

#include "analysis/facts.h"
#include "analysis/handle.h"
#include "analysis/top.h"
#include "base/num.h"
#include "render/text.h"

static void tags_text(struct sp_buf *b, unsigned tags)
{
    static const char *const words[] = {"unresolved", "idle", "wait"};
    for (unsigned i = 0; i < 3; i++)
        if (tags >> i & 1)
            sp_buf_printf(b, " [%s]", words[i]);
}

static void json_samples(struct sp_jw *w, const char *key, int64_t v)
{
    if (v == SP_ABSENT)
        sp_jw_null(w, key);
    else
        sp_jw_i64(w, key, v);
}

/* What the profiler says of the thread or process that a row is; NULL: nothing. */
static const struct sp_cpu_facts *cpu_of(const struct sp_facts *f, const struct sp_top_row *r)
{
    const struct sp_thread_facts *t = r->tid == SP_ABSENT ? NULL : sp_facts_thread(f, r->tid);
    const struct sp_process_facts *p = r->tid == SP_ABSENT ? sp_facts_process(f, r->pid) : NULL;
    return t ? &t->cpu : p ? &p->cpu : NULL;
}

static void json_count(struct sp_jw *w, const char *key, int64_t v)
{
    if (v < 0)
        sp_jw_null(w, key);
    else
        sp_jw_i64(w, key, v);
}

static void json_str(struct sp_jw *w, const char *key, struct sp_str s)
{
    if (s.n)
        sp_jw_str(w, key, s.p, s.n);
    else
        sp_jw_null(w, key);
}

/* Of rows that are processes or threads: their numbers, and what the profiler measured beside the samples. */
static void json_facts(struct sp_jw *w, const struct sp_facts *f, const struct sp_top_row *r)
{
    const struct sp_cpu_facts *cpu = cpu_of(f, r);
    const struct sp_thread_facts *t = r->tid == SP_ABSENT ? NULL : sp_facts_thread(f, r->tid);
    json_count(w, "pid", r->pid);
    if (r->tid != SP_ABSENT)
        json_count(w, "tid", r->tid);
    if (t && (t->name || t->queue)) {
        json_str(w, "thread_name", sp_str_at(&f->strs, t->name));
        json_str(w, "queue", sp_str_at(&f->strs, t->queue));
    }
    const struct sp_process_facts *p = r->tid == SP_ABSENT ? sp_facts_process(f, r->pid) : NULL;
    if (p && p->name)
        json_str(w, "process_name", sp_str_at(&f->strs, p->name));
    if (!f->any_cpu)
        return;
    json_count(w, "cpu_time_ns", cpu ? cpu->cpu_ns : -1);
    json_count(w, "cycles", cpu ? cpu->cycles : -1);
    json_count(w, "instructions", cpu ? cpu->instructions : -1);
}

static void json_row(struct sp_jw *w, const struct sp_selection *s, const struct sp_top *t,
                     const struct sp_handles *handles, const struct sp_facts *facts,
                     const struct sp_top_row *r)
{
    static const char *const words[] = {"unresolved", "idle", "wait", "kernel", "inlined"};
    const struct sp_profile *p = s->profile;
    struct sp_str name = sp_str_at(&t->names, r->name);
    char handle[32];
    sp_jw_open(w, NULL, '{');
    if (r->function != SP_NONE) {
        struct sp_str fn = sp_pstr(p, p->functions.v[r->function].name),
                      dso = sp_pstr(p, p->dsos.v[r->dso].name);
        sp_handle_text(handles, r->function, handle);
        sp_jw_cstr(w, "id", handle);
        sp_jw_str(w, "function", fn.p, fn.n);
        sp_jw_str(w, "dso", dso.p, dso.n);
        if (name.n != fn.n)
            sp_jw_str(w, "name", name.p, name.n);
    } else {
        sp_jw_str(w, "name", name.p, name.n);
    }
    if (s->cannot_add) {
        sp_jw_null(w, "flat");
        sp_jw_null(w, "flat_percent");
        sp_jw_null(w, "cum");
        sp_jw_null(w, "cum_percent");
    } else {
        sp_jw_scaled(w, "flat", r->flat, s->scale);
        sp_jw_percent(w, "flat_percent", r->flat, s->base);
        sp_jw_scaled(w, "cum", r->cum, s->scale);
        sp_jw_percent(w, "cum_percent", r->cum, s->base);
    }
    json_samples(w, "samples", r->samples);
    json_samples(w, "cum_samples", r->cum_samples);
    if (r->pid != SP_ABSENT || r->tid != SP_ABSENT)
        json_facts(w, facts, r);
    sp_jw_open(w, "tags", '[');
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (r->tags >> i & 1)
            sp_jw_cstr(w, NULL, words[i]);
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
}

/* What to ask next: the heaviest function's callers, the tree, a flame graph. */
static void next_commands(struct cli *c, struct sp_buf *b, int i)
{
    sp_buf_clear(b);
    command_text(b, c, i == 0 ? "tree" : "flamegraph");
    if (i == 0)
        sp_buf_puts(b, " --inverted --depth 4");
}

static int answer_json(struct cli *c, struct sp_selection *s, const struct sp_top *t,
                       const struct sp_facts *facts, size_t limit)
{
    struct sp_jw w;
    struct sp_quality q;
    struct sp_handles handles;
    struct sp_buf b;
    int64_t omitted = 0;
    if (sp_quality_of(s, &c->diags, &q))
        return EXIT_IO;
    if (sp_handles_of(s->profile, &handles)) {
        sp_quality_free(&q);
        return EXIT_IO;
    }
    answer_open(c, &w, "spaa.top/1", s);
    sp_jw_open(&w, "rows", '[');
    for (size_t i = 0; i < t->rows.n; i++) {
        if (i < limit)
            json_row(&w, s, t, &handles, facts, &t->rows.v[i]);
        else
            omitted += t->rows.v[i].flat;
    }
    sp_jw_close(&w, ']');
    sp_jw_open(&w, "omitted", '{');
    sp_jw_u64(&w, "rows", t->rows.n > limit ? t->rows.n - limit : 0);
    if (s->cannot_add)
        sp_jw_null(&w, "flat");
    else
        sp_jw_scaled(&w, "flat", omitted, s->scale);
    sp_jw_close(&w, '}');
    answer_quality(&w, "quality", s, &q);
    sp_jw_open(&w, "next", '[');
    sp_buf_init(&b, 0);
    for (int i = 0; i < 2; i++) {
        next_commands(c, &b, i);
        sp_jw_str(&w, NULL, b.data, b.len);
    }
    sp_buf_free(&b);
    sp_jw_close(&w, ']');
    answer_close(c, &w);
    sp_handles_free(&handles);
    sp_quality_free(&q);
    return EXIT_FINE;
}

static void cell(struct sp_table *t, struct sp_buf *b)
{
    sp_table_cell(t, b->data ? b->data : "", b->len);
    sp_buf_clear(b);
}

/* CPU time of a row's thread or process, for people with a unit. */
static void cpu_cell(struct sp_table *table, struct sp_buf *b, const struct sp_facts *f,
                     const struct sp_top_row *r, bool exact)
{
    const struct sp_cpu_facts *cpu = cpu_of(f, r);
    const struct sp_selection ns = {.unit = {"ns", 2}};
    if (cpu && cpu->cpu_ns >= 0) {
        if (exact)
            sp_buf_i64(b, cpu->cpu_ns);
        else
            weight_text(b, &ns, cpu->cpu_ns);
    }
    cell(table, b);
}

static void table_row(struct sp_table *table, struct sp_buf *b, const struct sp_selection *s,
                      const struct sp_top *t, const struct sp_facts *facts, const struct sp_top_row *r,
                      bool exact, bool with_dso)
{
    const struct sp_profile *p = s->profile;
    for (int i = 0; i < 2; i++) {
        int64_t v = i ? r->cum : r->flat;
        if (s->cannot_add) {
            sp_table_cell(table, "-", exact ? 0 : 1);
        } else {
            if (exact) {
                char text[64];
                sp_buf_add(b, text, sp_scaled_text(v, s->scale, text));
            } else {
                weight_text(b, s, v);
            }
            cell(table, b);
        }
        if (!exact || !s->cannot_add)
            percent_text(b, s, v);
        sp_buf_puts(b, exact ? "" : "%");
        cell(table, b);
    }
    if (r->samples != SP_ABSENT)
        sp_buf_i64(b, r->samples);
    cell(table, b);
    if (facts->any_cpu)
        cpu_cell(table, b, facts, r, exact);
    struct sp_str name = sp_str_at(&t->names, r->name);
    sp_buf_add(b, name.p, name.n);
    tags_text(b, r->tags);
    const struct sp_thread_facts *thread = r->tid == SP_ABSENT ? NULL : sp_facts_thread(facts, r->tid);
    const struct sp_process_facts *process =
        r->tid == SP_ABSENT && r->pid != SP_ABSENT ? sp_facts_process(facts, r->pid) : NULL;
    uint32_t what = thread    ? (thread->name ? thread->name : thread->queue)
                    : process ? process->name
                              : SP_STR_NONE;
    if (what != SP_STR_NONE && !exact) {
        struct sp_str text = sp_str_at(&facts->strs, what);
        sp_buf_puts(b, " ");
        sp_buf_add(b, text.p, text.n);
    }
    cell(table, b);
    if (with_dso) {
        struct sp_str dso = r->dso == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->dsos.v[r->dso].name);
        sp_table_cell(table, dso.p, dso.n);
    }
}

static int answer_rows(struct cli *c, struct sp_selection *s, const struct sp_top *t,
                       const struct sp_facts *facts, size_t limit, enum sp_by by)
{
    const struct sp_table_column columns[] = {
        {"flat", true, false},    {"flat%", true, false},         {"cum", true, false}, {"cum%", true, false},
        {"samples", true, false}, {sp_by_names[by], false, true}, {"dso", false, true}};
    struct sp_table_column with_cpu[7];
    memcpy(with_cpu, columns, sizeof columns);
    with_cpu[6] = columns[5];
    with_cpu[5] = (struct sp_table_column){c->format == FORMAT_CSV ? "cpu_ns" : "cpu time", true, false};
    struct sp_table table;
    struct sp_buf b;
    size_t shown = t->rows.n < limit ? t->rows.n : limit;
    int64_t omitted = 0;
    sp_table_init(&table, facts->any_cpu ? with_cpu : columns,
                  by <= SP_TOP_ADDRESS || facts->any_cpu ? 7 : 6);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < t->rows.n; i++) {
        if (i < shown)
            table_row(&table, &b, s, t, facts, &t->rows.v[i], c->format == FORMAT_CSV, by <= SP_TOP_ADDRESS);
        else
            omitted += t->rows.v[i].flat;
    }
    answer_heading(c, s);
    int rc = answer_table(c, &table);
    if (!rc && shown < t->rows.n && c->format != FORMAT_CSV) {
        sp_buf_clear(&b);
        percent_text(&b, s, omitted);
        sp_printf(c->out, "%s%zu more rows with %s%% of flat weight; -n 0 shows all\n",
                  c->format == FORMAT_MARKDOWN ? "\n" : "", t->rows.n - shown, sp_buf_cstr(&b));
    }
    sp_buf_free(&b);
    sp_table_free(&table);
    return rc;
}

static int answer_sum(struct cli *c, struct sp_selection *s)
{
    int64_t weight, samples;
    spaa_status st = sp_top_sum(s, c->v.sum, &c->diags, &weight, &samples);
    if (st)
        return cli_exit_of(st);
    if (c->format == FORMAT_JSON) {
        struct sp_jw w;
        answer_open(c, &w, "spaa.top/1", s);
        sp_jw_open(&w, "sum", '{');
        sp_jw_cstr(&w, "regex", c->v.sum);
        if (s->cannot_add) {
            sp_jw_null(&w, "cum");
            sp_jw_null(&w, "cum_percent");
        } else {
            sp_jw_scaled(&w, "cum", weight, s->scale);
            sp_jw_percent(&w, "cum_percent", weight, s->base);
        }
        json_samples(&w, "samples", samples);
        sp_jw_close(&w, '}');
        answer_close(c, &w);
        return EXIT_FINE;
    }
    struct sp_buf b;
    sp_buf_init(&b, 0);
    answer_heading(c, s);
    if (s->cannot_add)
        sp_buf_ch(&b, '-');
    else
        weight_text(&b, s, weight);
    sp_buf_puts(&b, " (");
    percent_text(&b, s, weight);
    sp_buf_puts(&b, "%) in stacks through a function matching ");
    sp_text_safe(&b, c->v.sum, strlen(c->v.sum));
    sp_buf_ch(&b, '\n');
    sp_write(c->out, b.data, b.len);
    sp_buf_free(&b);
    return EXIT_FINE;
}

int sp_cmd_top(struct cli *c)
{
    static const char *const sorts[] = {"flat", "cum", NULL};
    int by, sort;
    size_t limit;
    struct sp_selection s;
    struct sp_top t;
    struct sp_facts facts = {0};
    if (!cli_choice(c, "by", c->v.by, sp_by_names, SP_TOP_FUNCTION, &by) ||
        !cli_choice(c, "sort", c->v.sort, sorts, 0, &sort) || !answer_limit(c, &limit))
        return EXIT_USAGE;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    if (by == SP_TOP_STATE && !c->v.view && !c->v.state)
        c->v.view = "all"; /* the split is of everything */
    spaa_status st = cli_select(c, &s);
    if (st)
        return cli_exit_of(st);
    rc = cli_stdout(c);
    if (!rc && c->v.sum) {
        rc = answer_sum(c, &s);
    } else if (!rc) {
        st = sp_top_build(&s, (enum sp_by)by, sort == 1, &c->diags, &t);
        if (!st && (by == SP_TOP_THREAD || by == SP_TOP_PROCESS) &&
            (st = sp_facts_of(c->profile, &c->diags, &facts)))
            sp_top_free(&t);
        rc = cli_exit_of(st);
        if (!st) {
            rc = c->format == FORMAT_JSON ? answer_json(c, &s, &t, &facts, limit)
                                          : answer_rows(c, &s, &t, &facts, limit, (enum sp_by)by);
            sp_top_free(&t);
            sp_facts_free(&facts);
        }
    }
    sp_selection_free(&s);
    return rc;
}
