#include "analysis/source_text.h"

#include "base/buf.h"
#include "base/sha256.h"
#include "io/file.h"
#include "symbols/paths.h"
#include "symbols/source_path.h"
#include "symbols/store.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SOURCE_MAX ((size_t)64 << 20)

const char *const sp_source_from_names[] = {NULL,      "embedded", "source-path",
                                            "profile", "recorded", "debuginfod"};

static char *source_copy(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, s, n) : NULL;
}

struct search {
    const struct sp_source_place *at;
    const struct sp_source_opts *how;
    struct sp_diags *d;
    struct sp_source_text *out;
    struct sp_buf b;
    const char *name; /* the path, else the file as frames have it */
    size_t n;
};

/* The file in the buffer, if it is one. */
static spaa_status source_try(struct search *x, enum sp_source_from from)
{
    struct sp_source_text *t = x->out;
    if (t->from || !x->b.len || x->b.failed) /* too long for a path */
        return SPAA_OK;
    static const struct sp_file_gate none = {NULL, NULL};
    const struct sp_file_gate *gate = from == SP_SOURCE_SERVER ? &none : &x->how->gate;
    const char *path = sp_buf_cstr(&x->b);
    spaa_status st = sp_file_slurp_through(gate, path, SOURCE_MAX, x->d, &t->data, &t->n);
    if (st)
        return sp_file_fatal(st);
    t->from = from;
    t->found = source_copy(path);
    return t->found ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* FROM=TO: the path with another beginning, of whole components. */
static spaa_status source_mapped(struct search *x, const char *from, size_t n, const char *to)
{
    while (n > 1 && from[n - 1] == '/')
        n--;
    if (n > x->n || memcmp(x->name, from, n) != 0 || (n < x->n && x->name[n] != '/' && from[n - 1] != '/'))
        return SPAA_OK;
    sp_buf_clear(&x->b);
    sp_buf_puts(&x->b, to);
    if (n < x->n && x->name[n] != '/')
        sp_buf_ch(&x->b, '/');
    sp_buf_add(&x->b, x->name + n, x->n - n);
    return source_try(x, SP_SOURCE_GIVEN);
}

/* The whole path below a folder, then what is left of it without its first components. */
static spaa_status source_below(struct search *x, const char *dir)
{
    spaa_status st = SPAA_OK;
    size_t from = 0;
    while (!st && from < x->n && !x->out->from) {
        sp_buf_clear(&x->b);
        sp_buf_puts(&x->b, dir);
        if (x->name[from] != '/')
            sp_buf_ch(&x->b, '/');
        sp_buf_add(&x->b, x->name + from, x->n - from);
        st = source_try(x, SP_SOURCE_GIVEN);
        const char *slash = memchr(x->name + from + 1, '/', x->n - from - 1);
        from = slash ? (size_t)(slash - x->name) : x->n;
    }
    return st;
}

static spaa_status source_given(struct search *x, const struct sp_source_opts *how, bool maps)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < how->npaths && !x->out->from; i++) {
        const char *text = how->paths[i], *eq = strchr(text, '=');
        if (eq && maps && eq > text)
            st = source_mapped(x, text, (size_t)(eq - text), eq + 1);
        else if (!eq && !maps)
            st = source_below(x, text);
    }
    return st;
}

/* NULL: where it was. Debug information may be a stranger's: no device, and nothing outside of the folder. */
static spaa_status source_recorded(struct search *x, const char *root)
{
    if (x->out->from || !x->at->path || !sp_is_recorded_path(x->at->path))
        return SPAA_OK;
    const char *path =
        root ? sp_path_below(&x->b, root, "%s", x->at->path) : sp_path(&x->b, "%s", x->at->path);
    return *path ? source_try(x, SP_SOURCE_RECORDED) : SPAA_OK;
}

static spaa_status source_of_server(struct search *x)
{
    const char *found = NULL;
    if (x->out->from || !x->at->path || !x->at->module)
        return SPAA_OK;
    spaa_status st = sp_module_fetch_source(x->at->module, x->at->path, &found);
    sp_buf_clear(&x->b);
    if (!st && found) {
        sp_buf_puts(&x->b, found);
        st = source_try(x, SP_SOURCE_SERVER);
    }
    return st;
}

static spaa_status source_embedded(const struct sp_source_place *at, struct sp_source_text *out)
{
    if (!at->source)
        return SPAA_OK;
    out->n = strlen(at->source);
    out->data = source_copy(at->source);
    out->from = SP_SOURCE_EMBEDDED;
    return out->data ? SPAA_OK : SPAA_ERR_NOMEM;
}

static void source_digest(struct sp_source_text *t)
{
    if (!*t->sha256)
        sp_sha256_hex(t->data, t->n, t->sha256);
}

/* What the profile knows of it, where the text is that of the whole file. */
static void source_take_date(const struct sp_source_place *at, struct sp_source_text *t)
{
    t->newer = at->kept.v->flags & SP_SOURCE_NEWER;
    t->undated = !(at->kept.v->flags & (SP_SOURCE_NEWER | SP_SOURCE_OLDER));
}

/* A recorded file is no other than that which the profile has lines of. */
static bool is_kept_file(const struct sp_source_place *at, const struct sp_source_text *t)
{
    return sp_str_is(sp_pstr(at->profile, at->kept.v->sha256), t->sha256);
}

/* The lines of one piece behind those of others. */
static bool source_add_piece(const struct sp_source_place *at, const struct sp_source_piece *piece,
                             struct sp_buf *b, struct sp_source_text *t)
{
    struct sp_str text = sp_pstr(at->profile, piece->text);
    uint32_t line = (uint32_t)piece->first;
    for (const char *p = text.p, *end = text.p + text.n; p < end; line++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((nl ? nl + 1 : end) - p);
        if (!t->lines.n || line > t->numbers[t->lines.n - 1]) {
            t->numbers[t->lines.n] = line;
            t->lines.v[t->lines.n++] = b->len;
            if (!sp_buf_add(b, p, n))
                return false;
        }
        p += n;
    }
    return true;
}

static spaa_status source_kept(const struct sp_source_place *at, struct sp_source_text *t)
{
    struct sp_buf b;
    size_t lines = 0;
    for (size_t i = 0; i < at->kept.n; i++)
        lines += sp_source_piece_lines(at->profile, &at->kept.v[i]);
    t->numbers = malloc((lines + 1) * sizeof *t->numbers);
    sp_buf_init(&b, 0);
    bool ok = t->numbers && sp_vec_reserve(&t->lines, lines + 1);
    for (size_t i = 0; ok && i < at->kept.n; i++)
        ok = source_add_piece(at, &at->kept.v[i], &b, t);
    t->data = b.data; /* freed like that of a file */
    t->n = b.len;
    t->from = SP_SOURCE_KEPT;
    t->total = (uint32_t)at->kept.v->lines;
    struct sp_str digest = sp_pstr(at->profile, at->kept.v->sha256);
    if (digest.n == sizeof t->sha256 - 1)
        memcpy(t->sha256, digest.p, digest.n);
    source_take_date(at, t);
    return ok ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* A carriage return alone ends a line for gcc and clang, as in most languages; for those of Go and Rust not.
 */
static bool ends_lines_alone(struct sp_str name)
{
    return !(name.n > 3 &&
             (memcmp(name.p + name.n - 3, ".go", 3) == 0 || memcmp(name.p + name.n - 3, ".rs", 3) == 0));
}

/* Where the next line begins. */
static size_t next_line(const struct sp_source_text *t, size_t i, bool lone)
{
    while (i < t->n && t->data[i] != '\n' &&
           !(lone && t->data[i] == '\r' && i + 1 < t->n && t->data[i + 1] != '\n'))
        i++;
    return i < t->n ? i + 1 : i;
}

static bool source_split(struct sp_source_text *t, struct sp_str name)
{
    if (t->from == SP_SOURCE_KEPT)
        return true;
    bool lone = ends_lines_alone(name);
    for (size_t i = 0; i < t->n; i = next_line(t, i, lone))
        if (!sp_vec_push(&t->lines, i))
            return false;
    t->total = t->lines.n < UINT32_MAX ? (uint32_t)t->lines.n : UINT32_MAX;
    if (t->from)
        source_digest(t);
    return true;
}

static int64_t time_order(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec - b.tv_sec : a.tv_nsec - b.tv_nsec;
}

/* Whether it was written after the binary was, so that it need not be what was compiled. */
static void source_date(const struct sp_source_place *at, struct sp_source_text *t)
{
    struct stat source, binary;
    const char *file = at->module ? sp_module_dated_file(at->module) : NULL;
    if (t->from == SP_SOURCE_KEPT) /* the profile's own, whichever binary is here now */
        return;
    if (at->module && sp_module_is_doubtful(at->module)) { /* it is not known what was compiled */
        t->undated = t->from;
        return;
    }
    bool ours = t->from == SP_SOURCE_GIVEN || t->from == SP_SOURCE_RECORDED;
    if (!ours)
        return;
    t->undated = !file || stat(t->found, &source) || stat(file, &binary);
    if (t->undated)
        return;
    struct timespec written = binary.st_mtim;
    if (!written.tv_nsec) /* archives know no more than seconds */
        source.st_mtim.tv_nsec = 0;
    t->newer = written.tv_sec && time_order(source.st_mtim, written) > 0;
    t->undated = !t->newer && sp_store_is_undated(file);
}

static spaa_status source_where_recorded(struct search *x, const struct sp_source_opts *how)
{
    spaa_status st = how->symfs ? source_recorded(x, how->symfs) : SPAA_OK;
    return st ? st : source_recorded(x, NULL);
}

/* Of a file that is not split into lines yet. */
static void source_drop_file(struct sp_source_text *t)
{
    free(t->found);
    free(t->data);
    *t = (struct sp_source_text){0};
}

/* The recorded file where it is the one that the profile has lines of, else these. */
static spaa_status source_whole_or_kept(struct search *x, const struct sp_source_opts *how)
{
    struct sp_source_text *t = x->out;
    spaa_status st = source_where_recorded(x, how);
    if (st || !t->from)
        return st ? st : source_kept(x->at, t);
    source_digest(t);
    if (is_kept_file(x->at, t))
        return SPAA_OK;
    source_drop_file(t);
    return source_kept(x->at, t);
}

spaa_status sp_source_read(const struct sp_source_place *at, const struct sp_source_opts *how,
                           struct sp_diags *d, struct sp_source_text *out)
{
    struct search x = {.at = at, .how = how, .d = d, .out = out, .name = at->path ? at->path : at->file.p};
    x.n = at->path ? strlen(at->path) : at->file.n;
    *out = (struct sp_source_text){0};
    sp_buf_init(&x.b, PATH_MAX);
    spaa_status st = source_embedded(at, out);
    if (!st)
        st = source_given(&x, how, true);
    if (!st)
        st = source_given(&x, how, false);
    if (!st && !out->from && at->kept.n)
        st = source_whole_or_kept(&x, how);
    if (!st)
        st = source_where_recorded(&x, how);
    if (!st)
        st = source_of_server(&x);
    if (!st && (x.b.nomem || !source_split(out, (struct sp_str){x.name, (uint32_t)x.n})))
        st = SPAA_ERR_NOMEM;
    sp_buf_free(&x.b);
    out->several = at->kept.several;
    bool beside = !st && at->kept.n && out->from && out->from != SP_SOURCE_KEPT;
    out->other = beside && *sp_pstr(at->profile, at->kept.v->sha256).p && !is_kept_file(at, out);
    if (beside && is_kept_file(at, out))
        source_take_date(at, out);
    else if (!st)
        source_date(at, out);
    else
        sp_source_free(out);
    return st == SPAA_ERR_NOMEM ? sp_nomem(d) : st;
}

void sp_source_free(struct sp_source_text *t)
{
    free(t->found);
    free(t->data);
    free(t->numbers);
    sp_vec_free(&t->lines);
    *t = (struct sp_source_text){0};
}

size_t sp_source_before(const struct sp_source_text *t, uint32_t line)
{
    size_t lo = 0, hi = t->lines.n;
    if (!t->numbers)
        return !line ? 0 : line - 1 < hi ? line - 1 : hi;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->numbers[mid] < line)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct sp_str sp_source_held(const struct sp_source_text *t, size_t i, uint32_t *line)
{
    size_t from = t->lines.v[i], to = i + 1 < t->lines.n ? t->lines.v[i + 1] : t->n;
    *line = t->numbers ? t->numbers[i] : (uint32_t)i + 1;
    while (to > from && (t->data[to - 1] == '\n' || t->data[to - 1] == '\r'))
        to--;
    return (struct sp_str){t->data + from, (uint32_t)(to - from)};
}

struct sp_str sp_source_line(const struct sp_source_text *t, uint32_t line)
{
    uint32_t number;
    size_t i = sp_source_before(t, line);
    if (!line || i >= t->lines.n)
        return (struct sp_str){NULL, 0};
    struct sp_str text = sp_source_held(t, i, &number);
    return number == line ? text : (struct sp_str){NULL, 0};
}

bool sp_source_is_same(const struct sp_source_text *a, const struct sp_source_text *b)
{
    return *a->sha256 && strcmp(a->sha256, b->sha256) == 0;
}
