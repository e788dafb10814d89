/*
 * Pairs of lines of two versions of a function.
 *
 * What a line is called by, its number, moves between versions: lines are matched by their text. Where the
 * text of a side is not known, or the file that was found is newer than the binary, lines are the same by
 * number, and the answer says that this is a guess.
 */
#include "analysis/line_match.h"
#include "ask/annotate_diff.h"
#include "model/identity.h"

#include <stdlib.h>
#include <sys/stat.h>

static spaa_status diff_add(struct sp_annotate_diff *d, uint32_t base_file, uint32_t base_line, uint32_t file,
                            uint32_t line, enum sp_line_change change)
{
    struct sp_line_pair r = {base_file, file, base_line, line, change, false, NULL, NULL};
    r.base = base_line ? sp_annotate_line(&d->base, base_file, base_line) : NULL;
    r.now = line ? sp_annotate_line(d->x, file, line) : NULL;
    d->known += r.base || r.now;
    return sp_vec_push(&d->rows, r) ? SPAA_OK : sp_nomem(d->x->asked.q->diags);
}

bool sp_annotate_text_known(const struct sp_annotate *x, uint32_t file)
{
    const struct sp_source_text *t = &x->texts.v[file];
    return t->from && !t->newer && !t->undated && !t->other;
}

static bool same_build(const struct sp_module *a, const struct sp_module *b)
{
    const char *x = a ? sp_module_build_id(a) : NULL, *y = b ? sp_module_build_id(b) : NULL;
    return x && y && *x && strcmp(x, y) == 0;
}

/*
 * One file, found for two builds where they do not say that it was: of one of them at most it is the text. At
 * the path that both recorded, and older than both, it is what both were compiled from.
 */
static bool is_one_text(const struct sp_annotate_diff *d, uint32_t g, uint32_t f)
{
    const struct sp_source_text *was = &d->base.texts.v[g], *is = &d->x->texts.v[f];
    struct stat a, b;
    bool given = was->from == SP_SOURCE_GIVEN || is->from == SP_SOURCE_GIVEN;
    if (!given || same_build(d->base.a.files.v[g].module, d->x->a.files.v[f].module))
        return false;
    return was->found && is->found && !stat(was->found, &a) && !stat(is->found, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The next line of a file that has weight; 0: none. */
static uint32_t next_line(const struct sp_annotate *x, uint32_t file, uint32_t behind)
{
    const struct sp_annotated_line *v = x->a.lines.v; /* by file and line */
    size_t lo = 0, hi = x->a.lines.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid].file < file || (v[mid].file == file && v[mid].line <= behind))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < x->a.lines.n && v[lo].file == file ? v[lo].line : 0;
}

/* What stands between two lines that are the same: from..to of those that each text has. */
struct gap {
    size_t base_from, base_to, from, to;
};

/* Number of a line of those that are there; behind the last one, as there is no other. */
static uint32_t number_at(const struct sp_source_text *t, size_t i)
{
    uint32_t line = t->total + 1;
    if (i < t->lines.n)
        sp_source_held(t, i, &line);
    return line;
}

/* All lines of the file that stand there are there. */
static bool is_whole(const struct sp_source_text *t, size_t from, size_t to)
{
    uint32_t before = from ? number_at(t, from - 1) : 0;
    return !t->numbers || number_at(t, to) - before == to - from + 1;
}

/* What became of lines is not known where some are not there: those that have weight stand alone. */
static spaa_status diff_apart(struct sp_annotate_diff *d, uint32_t g, uint32_t f, const struct gap *x)
{
    const struct sp_source_text *was = &d->base.texts.v[g], *is = &d->x->texts.v[f];
    uint32_t line = x->base_from ? number_at(was, x->base_from - 1) : 0;
    spaa_status st = SPAA_OK;
    while (!st && (line = next_line(&d->base, g, line)) && line < number_at(was, x->base_to)) {
        st = diff_add(d, g, line, f, 0, SP_LINE_UNKNOWN);
        d->partial = true;
    }
    line = x->from ? number_at(is, x->from - 1) : 0;
    while (!st && (line = next_line(d->x, f, line)) && line < number_at(is, x->to)) {
        st = diff_add(d, g, 0, f, line, SP_LINE_UNKNOWN);
        d->partial = true;
    }
    return st;
}

/* Lines that are not the same: those that are alike, in order, are changed ones. */
static spaa_status diff_gap(struct sp_annotate_diff *d, uint32_t g, uint32_t f, const struct gap *x)
{
    enum { LOOK = 64 }; /* so far on it is looked for what a line became */
    const struct sp_source_text *was = &d->base.texts.v[g], *is = &d->x->texts.v[f];
    spaa_status st = SPAA_OK;
    size_t from = x->from;
    if (!is_whole(was, x->base_from, x->base_to) || !is_whole(is, x->from, x->to))
        return diff_apart(d, g, f, x);
    for (size_t base = x->base_from; !st && base < x->base_to; base++) {
        uint32_t line, other;
        struct sp_str text = sp_source_held(was, base, &line);
        size_t at = from, end = x->to - from > LOOK ? from + LOOK : x->to;
        while (at < end && !sp_lines_alike(text, sp_source_held(is, at, &other)))
            at++;
        for (; !st && at < end && from < at; from++)
            st = diff_add(d, g, 0, f, number_at(is, from), SP_LINE_ADDED);
        if (!st && at < end)
            st = diff_add(d, g, line, f, number_at(is, from++), SP_LINE_CHANGED);
        else if (!st)
            st = diff_add(d, g, line, f, 0, SP_LINE_REMOVED);
    }
    for (; !st && from < x->to; from++)
        st = diff_add(d, g, 0, f, number_at(is, from), SP_LINE_ADDED);
    return st;
}

/* Of files that are not whole here, lines like those that were paired may stand where nothing is seen. */
static void diff_doubt(struct sp_annotate_diff *d, size_t first)
{
    for (size_t i = first; i < d->rows.n; i++) {
        d->rows.v[i].change = SP_LINE_UNKNOWN;
        d->partial = true;
    }
}

static spaa_status diff_by_text(struct sp_annotate_diff *d, uint32_t g, uint32_t f)
{
    const struct sp_source_text *was = &d->base.texts.v[g], *is = &d->x->texts.v[f];
    bool cut;
    uint32_t *pairs = sp_match_lines(was, is, &cut);
    struct gap x = {0, 0, 0, 0};
    size_t first = d->rows.n;
    spaa_status st = pairs ? SPAA_OK : sp_nomem(d->x->asked.q->diags);
    d->cut |= !st && cut;
    for (size_t k = 0; !st && k < is->lines.n; k++) {
        if (!pairs[k])
            continue;
        x.base_to = pairs[k] - 1;
        x.to = k;
        st = diff_gap(d, g, f, &x);
        if (!st)
            st = diff_add(d, g, number_at(was, x.base_to), f, number_at(is, k), SP_LINE_SAME);
        x.base_from = x.base_to + 1;
        x.from = k + 1;
    }
    x.base_to = was->lines.n;
    x.to = is->lines.n;
    if (!st)
        st = diff_gap(d, g, f, &x);
    free(pairs);
    if (!sp_source_is_same(was, is) && (was->lines.n < was->total || is->lines.n < is->total))
        diff_doubt(d, first);
    return st;
}

/* Lines with weight, of one number in both; a file that the other version has not (SP_NONE) is all new. */
static spaa_status diff_by_number(struct sp_annotate_diff *d, uint32_t g, uint32_t f)
{
    spaa_status st = SPAA_OK;
    bool one = g == SP_NONE || f == SP_NONE;
    for (uint32_t n = 0; !st;) {
        uint32_t was = next_line(&d->base, g, n), is = next_line(d->x, f, n);
        if (!was && !is)
            break;
        n = !was || (is && is < was) ? is : was;
        st = one ? diff_add(d, g, g == SP_NONE ? 0 : n, f, f == SP_NONE ? 0 : n,
                            g == SP_NONE ? SP_LINE_ADDED : SP_LINE_REMOVED)
                 : diff_add(d, g, n, f, n, SP_LINE_UNKNOWN);
    }
    d->by_number |= !one && !st;
    return st;
}

/* The base's file that a file was: of its path, else the first of its name; SP_NONE. */
static uint32_t file_before(const struct sp_annotate_diff *d, uint32_t f, const bool *used)
{
    struct sp_str want = d->x->a.files.v[f].file;
    uint32_t named = SP_NONE;
    for (uint32_t g = 0; g < d->base.a.files.n; g++) {
        struct sp_str has = d->base.a.files.v[g].file;
        if (used[g] || !has.n || !want.n)
            continue;
        if (sp_str_cmp(has, want) == 0)
            return g;
        if (named == SP_NONE && sp_str_cmp(sp_base_name(has), sp_base_name(want)) == 0)
            named = g;
    }
    return named;
}

/* The file that a function's own lines are in: what is inlined counts at the line of its call. SP_NONE: none.
 */
static uint32_t own_file(const struct sp_annotate *x)
{
    for (uint32_t f = 0; f < x->a.files.n; f++)
        if (x->a.files.v[f].file.n)
            return f;
    return SP_NONE;
}

static bool has_namesake(const struct sp_annotate *x, struct sp_str file)
{
    for (uint32_t f = 0; f < x->a.files.n; f++)
        if (sp_str_cmp(sp_base_name(x->a.files.v[f].file), sp_base_name(file)) == 0)
            return true;
    return false;
}

/*
 * A file that was renamed, or a function that was moved to another one: where neither of the two files is in
 * the other version. By their texts alone: of numbers of different files nothing can be said.
 */
static void find_renamed(struct sp_annotate_diff *d)
{
    uint32_t f = own_file(d->x), g = own_file(&d->base);
    d->renamed = d->renamed_base = SP_NONE;
    if (f == SP_NONE || g == SP_NONE || has_namesake(&d->base, d->x->a.files.v[f].file) ||
        has_namesake(d->x, d->base.a.files.v[g].file) || is_one_text(d, g, f) ||
        !sp_annotate_text_known(&d->base, g) || !sp_annotate_text_known(d->x, f))
        return;
    d->renamed = f;
    d->renamed_base = g;
}

spaa_status sp_annotate_diff_pair(struct sp_annotate_diff *d)
{
    bool *used = calloc(d->base.a.files.n + 1, sizeof *used);
    spaa_status st = used ? SPAA_OK : sp_nomem(d->x->asked.q->diags);
    find_renamed(d);
    for (uint32_t f = 0; !st && f < d->x->a.files.n; f++) {
        uint32_t g = f == d->renamed ? d->renamed_base : file_before(d, f, used);
        if (g != SP_NONE)
            used[g] = true;
        bool one = g != SP_NONE && is_one_text(d, g, f);
        bool text =
            g != SP_NONE && !one && sp_annotate_text_known(&d->base, g) && sp_annotate_text_known(d->x, f);
        d->one_text |= one;
        st = text ? diff_by_text(d, g, f) : diff_by_number(d, g, f);
    }
    for (uint32_t g = 0; !st && g < d->base.a.files.n; g++)
        if (!used[g])
            st = diff_by_number(d, g, SP_NONE);
    free(used);
    return st;
}
