#include "model/source_pieces.h"

#include "base/buf.h"
#include "model/facts.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES ((size_t)1 << 20) /* a joined piece ends with the line that makes it so long */

static uint32_t source_lines(struct sp_str text)
{
    uint32_t n = 0;
    for (const char *at = text.p, *end = text.p + text.n; at < end; n++) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        at = nl ? nl + 1 : end;
    }
    return n;
}

uint32_t sp_source_piece_lines(const struct sp_profile *p, const struct sp_source_piece *x)
{
    return source_lines(sp_pstr(p, x->text));
}

const char *sp_source_fault(struct sp_str file, struct sp_str text, int64_t lines, int64_t first,
                            const char **field)
{
    *field = "file";
    if (!file.n)
        return "there is none";
    *field = "text";
    if (!text.n)
        return "there is none";
    if (text.p[text.n - 1] != '\n')
        return "its last line does not end in a newline";
    *field = "lines";
    if (lines < 1 || lines > SP_SOURCE_LINES_MAX)
        return "no file has so many";
    *field = "first";
    if (first < 1 || first > lines || source_lines(text) > lines - first + 1)
        return "the file has no such lines";
    *field = NULL;
    return NULL;
}

bool sp_source_same_version(const struct sp_source_piece *a, const struct sp_source_piece *b)
{
    return a->file == b->file && a->path == b->path && a->comp_dir == b->comp_dir && a->binary == b->binary &&
           a->build_id == b->build_id && a->sha256 == b->sha256 && a->lines == b->lines;
}

/* ---- settling ---- */

/* By version, then by line, whatever is known of their dates. */
static int piece_cmp(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    struct sp_source_piece a = *(const struct sp_source_piece *)va, b = *(const struct sp_source_piece *)vb;
    a.flags = b.flags = 0;
    int c = sp_facts_cmp(p, sp_source_facts, &a, &b);
    struct sp_str x = sp_pstr(p, a.extra_json), y = sp_pstr(p, b.extra_json);
    return c ? c : sp_str_cmp(x, y);
}

struct joiner {
    struct sp_profile *p;
    SP_VEC(struct sp_source_piece) out;
    struct sp_buf b;            /* text of the piece that is being made */
    struct sp_source_piece now; /* b.len 0: none */
    int64_t end;                /* the line behind it */
    size_t at;                  /* where in b the line `line` begins, to compare with */
    int64_t line;
};

static bool joiner_flush(struct joiner *j)
{
    if (!j->b.len)
        return !j->b.failed;
    j->now.text = sp_profile_str(j->p, j->b.data, j->b.len);
    sp_buf_clear(&j->b);
    return j->now.text != SP_STR_FAIL && sp_vec_push(&j->out, j->now);
}

static size_t line_length(const char *at, const char *end)
{
    const char *nl = memchr(at, '\n', (size_t)(end - at));
    return (size_t)((nl ? nl + 1 : end) - at);
}

/* Whether a line that is there says the same; those before the piece at hand are not there any more. */
static bool joiner_agrees(struct joiner *j, int64_t line, const char *text, size_t n)
{
    if (line < j->now.first)
        return true;
    for (; j->line < line; j->line++)
        j->at += line_length(j->b.data + j->at, j->b.data + j->b.len);
    return line_length(j->b.data + j->at, j->b.data + j->b.len) == n &&
           memcmp(j->b.data + j->at, text, n) == 0;
}

/* A piece, which begins where the one before it did, or behind that; *agree: so far. False: no memory. */
static bool joiner_add(struct joiner *j, const struct sp_source_piece *x, bool *agree)
{
    struct sp_str text = sp_pstr(j->p, x->text);
    const char *at = text.p, *end = text.p + text.n;
    bool joins = j->b.len && x->first <= j->end && x->extra_json == j->now.extra_json;
    if (joins && x->first < j->line) {
        j->at = 0;
        j->line = j->now.first;
    }
    for (int64_t line = x->first; at < end && *agree; line++) {
        size_t n = line_length(at, end);
        if (joins && line < j->end) {
            *agree = joiner_agrees(j, line, at, n);
        } else {
            if ((!joins || j->b.len >= PIECE_BYTES) && !joiner_flush(j))
                return false;
            if (!j->b.len) {
                j->now = *x;
                j->now.first = j->line = line;
                j->at = 0;
            }
            joins = true;
            if (!sp_buf_add(&j->b, at, n))
                return false;
            j->end = line + 1;
        }
        at += n;
    }
    return true;
}

/* What is known of the date by all of them. */
static uint32_t date_flags(const struct sp_source_piece *v, size_t n)
{
    uint32_t any = 0, all = SP_SOURCE_OLDER;
    for (size_t i = 0; i < n; i++) {
        any |= v[i].flags;
        all &= v[i].flags;
    }
    return any & SP_SOURCE_NEWER ? SP_SOURCE_NEWER : all;
}

static bool join_version(struct joiner *j, const struct sp_source_piece *v, size_t n, bool *agree)
{
    size_t before = j->out.n;
    uint32_t flags = date_flags(v, n);
    *agree = true;
    for (size_t i = 0; i < n && *agree; i++) {
        struct sp_source_piece x = v[i];
        x.flags = flags;
        if (!joiner_add(j, &x, agree))
            return false;
    }
    if (*agree)
        return joiner_flush(j);
    sp_buf_clear(&j->b);
    j->out.n = before;
    return true;
}

spaa_status sp_source_pieces_settle(struct sp_profile *p, struct sp_diags *d)
{
    struct joiner j = {.p = p};
    const struct sp_source_piece *v = p->source_pieces.v;
    size_t n = p->source_pieces.n;
    bool ok = true, agree;
    if (!n)
        return SPAA_OK;
    qsort_r(p->source_pieces.v, n, sizeof *p->source_pieces.v, piece_cmp, p);
    sp_buf_init(&j.b, 0);
    for (size_t i = 0, end; ok && i < n; i = end) {
        for (end = i + 1; end < n && sp_source_same_version(&v[i], &v[end]);)
            end++;
        ok = join_version(&j, v + i, end - i, &agree);
        if (ok && !agree)
            sp_emit(d, SP_L300, SP_AT_NOTHING, "source text of %.200s tells a line twice, differently",
                    sp_pstr(p, v[i].file).p);
    }
    sp_buf_free(&j.b);
    sp_vec_free(&p->source_pieces);
    if (ok)
        memcpy(&p->source_pieces, &j.out, sizeof p->source_pieces);
    else
        sp_vec_free(&j.out);
    return ok ? SPAA_OK : sp_nomem(d);
}

/* ---- looking up ---- */

/* Of one build by its build-id, whatever the binary is called; without any by its name. */
static bool is_of_binary(const struct sp_profile *p, const struct sp_source_piece *x, const struct sp_dso *o)
{
    struct sp_str id = sp_pstr(p, o->build_id), theirs = sp_pstr(p, x->build_id);
    if (id.n || theirs.n)
        return sp_str_cmp(id, theirs) == 0;
    return sp_str_cmp(sp_pstr(p, o->name), sp_pstr(p, x->binary)) == 0;
}

static size_t first_of_file(const struct sp_profile *p, struct sp_str file)
{
    size_t lo = 0, hi = p->source_pieces.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (sp_str_cmp(sp_pstr(p, p->source_pieces.v[mid].file), file) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct sp_source_version sp_source_version_of(const struct sp_profile *p, struct sp_str file, uint32_t dso,
                                              const char *path)
{
    const struct sp_source_piece *v = p->source_pieces.v;
    struct sp_source_version out = {NULL, 0, false};
    for (size_t i = first_of_file(p, file), end; i < p->source_pieces.n; i = end) {
        if (sp_str_cmp(sp_pstr(p, v[i].file), file) != 0)
            break;
        for (end = i + 1; end < p->source_pieces.n && sp_source_same_version(&v[i], &v[end]);)
            end++;
        bool other = path && v[i].path && !sp_str_is(sp_pstr(p, v[i].path), path);
        if (other || !is_of_binary(p, &v[i], &p->dsos.v[dso]))
            continue;
        if (out.n) /* the same text below two names of a binary is one */
            out.several |= v[i].sha256 != out.v->sha256 || v[i].path != out.v->path || !v[i].sha256 ||
                           v[i].comp_dir != out.v->comp_dir;
        else
            out = (struct sp_source_version){v + i, end - i, false};
    }
    if (out.several)
        out.n = 0;
    return out;
}
