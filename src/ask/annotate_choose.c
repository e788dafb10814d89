/* Which lines annotate shows: those of most weight with the lines around them, or the whole function. */
#include "ask/annotate.h"

#include "model/functions.h"

#include <limits.h>
#include <stdlib.h>

/* What of a budget is left for ranges, in characters, and what a line of them takes beside its text. */
enum { TOKEN = 3, HEAD_JSON = 2400, HEAD_TEXT = 400, LINE_JSON = 150, LINE_TEXT = 28, SCAN_MAX = 1 << 18 };

const struct sp_annotated_line *sp_annotate_line(const struct sp_annotate *x, uint32_t file, uint32_t line)
{
    size_t lo = 0, hi = x->a.lines.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct sp_annotated_line *l = &x->a.lines.v[mid];
        if (l->file < file || (l->file == file && l->line < line))
            lo = mid + 1;
        else
            hi = mid;
    }
    const struct sp_annotated_line *l = lo < x->a.lines.n ? &x->a.lines.v[lo] : NULL;
    return l && l->file == file && l->line == line ? l : NULL;
}

/* ---- the heaviest lines ---- */

static int choose_by_total(const void *va, const void *vb)
{
    const struct sp_annotated_line *x = *(const struct sp_annotated_line *const *)va,
                                   *y = *(const struct sp_annotated_line *const *)vb;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The lines around one, as far as the file has them; without its text the line alone. */
static struct sp_annotate_range choose_around(const struct sp_annotate *x, const struct sp_annotated_line *l)
{
    struct sp_annotate_range r = {.file = l->file, .first = l->line, .last = l->line};
    uint32_t n = x->texts.v[l->file].total, context = (uint32_t)x->context;
    if (l->line > n)
        return r;
    r.first = l->line > context ? l->line - context : 1;
    r.last = n - l->line > context ? l->line + context : n;
    return r;
}

/* Ranges that are shown, as a budget counts them. */
struct choose_size {
    size_t lines, widest, text;
};

static bool is_chosen(const struct sp_annotate *x, uint32_t file, uint32_t line)
{
    for (size_t i = 0; i < x->ranges.n; i++)
        if (x->ranges.v[i].file == file && line >= x->ranges.v[i].first && line <= x->ranges.v[i].last)
            return true;
    return false;
}

static struct choose_size choose_with(const struct sp_annotate *x, struct choose_size had,
                                      const struct sp_annotate_range *r)
{
    for (uint32_t i = r->first; i <= r->last; i++) {
        if (is_chosen(x, r->file, i))
            continue;
        size_t n = sp_source_line(&x->texts.v[r->file], i).n;
        had.lines++;
        had.text += n;
        had.widest = n > had.widest ? n : had.widest;
    }
    had.text += x->asked.q->brief ? 0 : 2 * LINE_JSON;
    return had;
}

/* For people, lines stand in a column as wide as the longest. */
static size_t choose_cost(const struct sp_annotate *x, struct choose_size s)
{
    return x->asked.q->brief ? s.lines * (s.widest + LINE_TEXT) : s.text + s.lines * 2;
}

/* What the answer for people has besides lines: the function and its weight, and each file by its paths. */
static size_t choose_head(const struct sp_annotate *x)
{
    enum { FILE_LINE = 20 };
    size_t n = HEAD_TEXT;
    for (size_t i = 0; i < x->a.files.n; i++) {
        const struct sp_source_place *at = &x->a.files.v[i];
        n += FILE_LINE + (at->path ? strlen(at->path) : at->file.n) +
             (at->comp_dir ? strlen(at->comp_dir) : 0);
    }
    return n;
}

/* Characters for ranges; SIZE_MAX: any. False: reported. */
bool sp_annotate_room(const struct sp_annotate *x, size_t *out)
{
    long budget;
    size_t head = x->asked.q->brief ? choose_head(x) : HEAD_JSON;
    if (!sp_option_number(x->asked.q->diags, "budget", x->asked.q->options->budget, 1, LONG_MAX / 4, 0,
                          &budget))
        return false;
    size_t all = (size_t)budget * TOKEN;
    *out = !budget ? SIZE_MAX : all > head ? all - head : 0;
    return true;
}

static bool choose_lines(struct sp_annotate *x, size_t room)
{
    const struct sp_annotated_line **order = malloc((x->a.lines.n + 1) * sizeof *order);
    bool ok = order != NULL;
    size_t n = 0;
    for (size_t i = 0; ok && i < x->a.lines.n; i++)
        if (x->a.lines.v[i].line)
            order[n++] = &x->a.lines.v[i];
    if (ok && n)
        qsort(order, n, sizeof *order, choose_by_total);
    x->known = n;
    struct choose_size size = {0};
    for (size_t i = 0; ok && i < n && i < x->limit; i++) {
        struct sp_annotate_range r = choose_around(x, order[i]);
        struct choose_size with = room == SIZE_MAX ? size : choose_with(x, size, &r);
        if (x->chosen && choose_cost(x, with) > room)
            break;
        size = with;
        ok = sp_vec_push(&x->ranges, r);
        x->chosen++;
    }
    free(order);
    return ok;
}

/* ---- the whole function ---- */

bool sp_annotate_is_asked(const struct sp_annotate *x, const char *func)
{
    const struct sp_profile *p = x->asked.s.profile;
    struct sp_str shown = sp_function_shown((struct sp_str){func, (uint32_t)strlen(func)});
    for (size_t i = 0; i < p->functions.n; i++)
        if (x->lookup.hits[i] && sp_str_cmp(sp_pstr(p, p->functions.v[i].name), shown) == 0)
            return true;
    return false;
}

/* The lines that code of the function has: at each address of what a symbol covers. */
static bool choose_scan(struct sp_annotate *x, struct sp_module *m, uint64_t start, uint64_t end)
{
    enum { DEEPEST = 64 };
    struct sp_resolved r[DEEPEST];
    const char *last = NULL;
    end = end - start > SCAN_MAX ? start + SCAN_MAX : end;
    for (uint64_t at = start; at < end; at++) {
        size_t n = sp_module_resolve(m, at, r, DEEPEST), k = 0;
        while (k < n && !sp_annotate_is_asked(x, r[k].func))
            k++;
        const char *line = k < n ? r[k].srcline : NULL;
        if (!line || line == last)
            continue;
        last = line;
        const char *colon = strrchr(line, ':');
        for (uint32_t f = 0; colon && f < x->a.files.n; f++) {
            struct sp_str file = x->a.files.v[f].file;
            uint32_t number = (uint32_t)strtoul(colon + 1, NULL, 10);
            if (file.n != (size_t)(colon - line) || memcmp(file.p, line, file.n) != 0 || !number)
                continue;
            struct sp_annotate_range one = {.file = f, .first = number, .last = number};
            if (!sp_vec_push(&x->ranges, one))
                return false;
            break;
        }
    }
    return true;
}

static bool choose_code(struct sp_annotate *x, spaa_status *st)
{
    uint64_t start, end = 0;
    uint32_t dso = SP_NONE;
    const char *name;
    for (size_t i = 0; i < x->a.code.n; i++) {
        const struct sp_annotated_code *c = &x->a.code.v[i];
        struct sp_module *m;
        if (c->dso == dso && c->at < end)
            continue;
        *st = sp_places_module(x->a.places, c->dso, &m);
        if (*st)
            return true;
        if (!m || !sp_module_extent(m, c->at - c->call, &start, &end, &name))
            continue;
        dso = c->dso;
        if (!choose_scan(x, m, start, end))
            return false;
    }
    return true;
}

/* Where the functions are declared, in the files that have weight. */
static bool choose_declared(struct sp_annotate *x)
{
    const struct sp_profile *p = x->asked.s.profile;
    for (size_t i = 0; i < p->functions.n; i++) {
        const struct sp_func_info *info = x->lookup.hits[i] ? sp_function_info(p, (uint32_t)i) : NULL;
        for (uint32_t f = 0; info && info->line && f < x->a.files.n; f++) {
            struct sp_annotate_range one = {.file = f, .first = info->line, .last = info->line};
            if (sp_str_cmp(x->a.files.v[f].file, sp_pstr(p, info->file)) == 0 &&
                !sp_vec_push(&x->ranges, one))
                return false;
        }
    }
    return true;
}

/* From the first to the last line of each file that the function has. */
static void choose_span(struct sp_annotate *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->ranges.n; i++) {
        struct sp_annotate_range r = x->ranges.v[i];
        if (n && x->ranges.v[n - 1].file == r.file)
            x->ranges.v[n - 1].last = r.last > x->ranges.v[n - 1].last ? r.last : x->ranges.v[n - 1].last;
        else
            x->ranges.v[n++] = r;
    }
    x->ranges.n = n;
}

/* ---- ranges ---- */

static int choose_by_place(const void *va, const void *vb)
{
    const struct sp_annotate_range *x = va, *y = vb;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->last > y->last) - (x->last < y->last);
}

static void choose_join_list(struct sp_annotate_range *v, size_t *count)
{
    size_t n = 0;
    if (*count)
        qsort(v, *count, sizeof *v, choose_by_place);
    for (size_t i = 0; i < *count; i++) {
        struct sp_annotate_range r = v[i], *before = n ? &v[n - 1] : NULL;
        if (before && before->file == r.file && r.first <= before->last + 1)
            before->last = r.last > before->last ? r.last : before->last;
        else
            v[n++] = r;
    }
    *count = n;
}

/* Lines from..to that the profile carries no text of: those with weight stand alone. */
static bool choose_gap(struct sp_annotate *x, uint32_t file, uint32_t from, uint32_t to)
{
    struct sp_annotate_range gap = {.file = file, .first = from, .last = to};
    for (size_t k = 0; k < x->a.lines.n; k++) {
        const struct sp_annotated_line *l = &x->a.lines.v[k];
        struct sp_annotate_range one = {.file = file, .first = l->line, .last = l->line};
        if (l->file == file && l->line && l->line >= from && l->line <= to && !sp_vec_push(&x->ranges, one))
            return false;
    }
    return sp_vec_push(&x->missing, gap);
}

/* A range of which the profile carries some lines: each run of these, and what is between. */
static bool choose_held(struct sp_annotate *x, struct sp_annotate_range r)
{
    const struct sp_source_text *t = &x->texts.v[r.file];
    uint32_t next = r.first;
    for (size_t i = sp_source_before(t, r.first); i < t->lines.n && t->numbers[i] <= r.last; i++) {
        struct sp_annotate_range run = {.file = r.file, .first = t->numbers[i], .last = t->numbers[i]};
        for (; i + 1 < t->lines.n && t->numbers[i + 1] == run.last + 1 && run.last < r.last; i++)
            run.last++;
        if ((run.first > next && !choose_gap(x, r.file, next, run.first - 1)) ||
            !sp_vec_push(&x->ranges, run))
            return false;
        next = run.last + 1;
    }
    return next > r.last || choose_gap(x, r.file, next, r.last);
}

/* Ranges of what is here. */
static bool choose_split(struct sp_annotate *x)
{
    size_t n = x->ranges.n;
    struct sp_annotate_range *all = malloc((n + 1) * sizeof *all);
    bool ok = all != NULL;
    if (ok && n)
        memcpy(all, x->ranges.v, n * sizeof *all);
    x->ranges.n = ok ? 0 : n;
    for (size_t i = 0; ok && i < n; i++) {
        bool held = x->texts.v[all[i].file].numbers;
        ok = held ? choose_held(x, all[i]) : sp_vec_push(&x->ranges, all[i]);
    }
    free(all);
    if (ok && x->missing.n) {
        qsort(x->ranges.v, x->ranges.n, sizeof *x->ranges.v, choose_by_place);
        choose_join_list(x->missing.v, &x->missing.n);
    }
    return ok;
}

static void choose_weigh(struct sp_annotate *x)
{
    for (size_t i = 0; i < x->ranges.n; i++) {
        struct sp_annotate_range *r = &x->ranges.v[i];
        for (size_t k = 0; k < x->a.lines.n; k++) {
            const struct sp_annotated_line *l = &x->a.lines.v[k];
            if (l->file != r->file || !l->line || l->line < r->first || l->line > r->last)
                continue;
            r->self += l->self;
            r->total = l->total > r->total ? l->total : r->total;
        }
        x->chosen_self += r->self;
    }
}

spaa_status sp_annotate_choose(struct sp_annotate *x)
{
    bool whole = x->asked.q->options->whole;
    spaa_status st = SPAA_OK;
    size_t room, limit = x->limit;
    if (!sp_annotate_room(x, &room))
        return SPAA_ERR_USAGE;
    x->limit = whole ? SIZE_MAX : limit;
    bool ok =
        choose_lines(x, whole ? SIZE_MAX : room) && (!whole || (choose_declared(x) && choose_code(x, &st)));
    x->limit = limit;
    if (st)
        return st;
    if (!ok)
        return sp_nomem(x->asked.q->diags);
    choose_join_list(x->ranges.v, &x->ranges.n);
    if (whole)
        choose_span(x);
    if (!choose_split(x))
        return sp_nomem(x->asked.q->diags);
    choose_weigh(x);
    return SPAA_OK;
}
