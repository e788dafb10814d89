/*
 * Reads massif.out (massif.h) as a profile of one event of allocations.
 *
 * What was live by stack at the peak is peak_bytes; by the last snapshot live_bytes. What a snapshot has no
 * stacks of is one row, so that sums are massif's. Each snapshot ends a window with the changes since the one
 * before.
 */
#include "base/num.h"
#include "formats/massif/massif.h"

#include <string.h>

#define SNAPSHOTS_MAX ((size_t)1 << 20)

static spaa_status massif_bad(struct sp_massif *m, const char *why)
{
    sp_emit(m->d, SP_L302, SP_AT_LINE(m->lines.line, m->lines.offset), "%s", why);
    return m->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
}

/* One that was cut off before its size is none; before its tree, one without. */
static spaa_status massif_end_snapshot(struct sp_massif *m)
{
    spaa_status st = sp_massif_tree_end(m);
    if (m->open && !st) {
        struct sp_massif_snapshot *s = &m->snapshots.v[m->snapshots.n - 1];
        bool bare = s->tree != SP_MASSIF_EMPTY && !s->label;
        m->cut += bare || s->heap < 0;
        s->tree = bare ? SP_MASSIF_EMPTY : s->tree;
        m->snapshots.n -= s->heap < 0;
    }
    m->open = false;
    return st;
}

static spaa_status massif_begin_snapshot(struct sp_massif *m, const char *p, const char *end)
{
    struct sp_massif_snapshot s = {.first = m->rows.n, .heap = -1, .extra = -1, .stacks = -1};
    spaa_status st = massif_end_snapshot(m);
    if (st)
        return st;
    if (sp_parse_u64(p, end, &s.number) != (size_t)(end - p))
        return massif_bad(m, "a snapshot without a number");
    if (m->snapshots.n >= SNAPSHOTS_MAX) {
        sp_emit(m->d, SP_E007, SP_AT_LINE(m->lines.line, m->lines.offset), "more than %zu snapshots",
                SNAPSHOTS_MAX);
        return SPAA_ERR_INPUT;
    }
    s.first = m->rows.n; /* behind those of the tree that has just ended */
    m->open = true;
    return sp_vec_push(&m->snapshots, s) ? SPAA_OK : sp_nomem(m->d);
}

/* `key` where the line begins so: what follows it is *rest. */
static bool massif_key(const char *p, size_t n, const char *key, struct sp_str *rest)
{
    size_t k = strlen(key);
    if (n < k || memcmp(p, key, k) != 0)
        return false;
    *rest = (struct sp_str){p + k, (uint32_t)(n - k)};
    return true;
}

static spaa_status massif_size(struct sp_massif *m, struct sp_str s, int64_t *out)
{
    uint64_t v;
    if (sp_parse_u64(s.p, s.p + s.n, &v) != s.n || !s.n || v > INT64_MAX)
        return massif_bad(m, "a size that is no number");
    *out = (int64_t)v;
    return SPAA_OK;
}

static spaa_status massif_time(struct sp_massif *m, struct sp_str s)
{
    struct sp_massif_snapshot *x = &m->snapshots.v[m->snapshots.n - 1];
    double time = sp_text_double(s.p, s.n);
    int64_t v;
    unsigned scale;
    char t[64];
    if (!sp_parse_scaled(s.p, s.n, &v, &scale) || v < 0)
        return massif_bad(m, "a time that is no number");
    if (time < m->now) {
        sp_emit(m->d, SP_W754, SP_AT_LINE(m->lines.line, m->lines.offset), "%.*s", (int)(s.n < 40 ? s.n : 40),
                s.p);
        return SPAA_OK;
    }
    m->now = time;
    x->time = sp_profile_str(m->p, t, sp_scaled_text(v, scale, t));
    return x->time == SP_STR_FAIL ? sp_nomem(m->d) : SPAA_OK;
}

static spaa_status massif_tree_kind(struct sp_massif *m, struct sp_str s)
{
    static const char *const kinds[] = {"empty", "detailed", "peak", NULL};
    int kind = sp_name_index(kinds, s.p, s.n);
    if (kind < 0)
        return massif_bad(m, "a heap_tree that is not known");
    m->snapshots.v[m->snapshots.n - 1].tree = (enum sp_massif_tree)kind;
    return SPAA_OK;
}

static spaa_status massif_member(struct sp_massif *m, const char *p, size_t n)
{
    struct sp_massif_snapshot *x = &m->snapshots.v[m->snapshots.n - 1];
    struct sp_massif_line line;
    struct sp_str rest;
    if (x->tree != SP_MASSIF_EMPTY && sp_massif_line(p, n, &line))
        return sp_massif_tree_line(m, &line);
    if (massif_key(p, n, "time=", &rest))
        return massif_time(m, rest);
    if (massif_key(p, n, "mem_heap_B=", &rest))
        return massif_size(m, rest, &x->heap);
    if (massif_key(p, n, "mem_heap_extra_B=", &rest))
        return massif_size(m, rest, &x->extra);
    if (massif_key(p, n, "mem_stacks_B=", &rest))
        return massif_size(m, rest, &x->stacks);
    if (massif_key(p, n, "heap_tree=", &rest))
        return massif_tree_kind(m, rest);
    return massif_bad(m, "no line of a snapshot");
}

/* desc, cmd, time_unit: *out is the text's number; true: the line was one. */
static bool massif_head(struct sp_massif *m, const char *p, size_t n, spaa_status *st)
{
    struct sp_str rest;
    uint32_t *out = massif_key(p, n, "desc:", &rest)        ? &m->desc
                    : massif_key(p, n, "cmd:", &rest)       ? &m->command
                    : massif_key(p, n, "time_unit:", &rest) ? &m->unit
                                                            : NULL;
    if (!out)
        return false;
    while (rest.n && *rest.p == ' ')
        rest = (struct sp_str){rest.p + 1, rest.n - 1};
    *out = sp_profile_text(m->p, rest.p, rest.n);
    *st = *out == SP_STR_FAIL ? sp_nomem(m->d) : SPAA_OK;
    return true;
}

static spaa_status massif_take_line(void *reader, const char *p, size_t n)
{
    struct sp_massif *m = reader;
    struct sp_str rest;
    spaa_status st = SPAA_OK;
    while (n && p[n - 1] == '\r')
        n--;
    if (!n || *p == '#')
        return SPAA_OK;
    if (*p != ' ' && massif_head(m, p, n, &st))
        return st;
    if (m->lines.cut) { /* massif ends the last line, too */
        m->cut++;
        return SPAA_OK;
    }
    if (massif_key(p, n, "snapshot=", &rest))
        return massif_begin_snapshot(m, rest.p, rest.p + rest.n);
    return m->open ? massif_member(m, p, n) : massif_bad(m, "a line outside of snapshots");
}

static spaa_status massif_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                               struct sp_profile *p)
{
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    struct sp_massif m = {.p = p, .d = d, .opts = opts};
    m.lines = (struct sp_lines){.reader = &m, .take = massif_take_line};
    m.event.layout = SP_NONE; /* set when it is known what the numbers are */
    m.context = sp_vg_init(&m.vg, p, opts) ? sp_context_intern(p, &c) : SP_NONE;
    spaa_status st = m.context == SP_NONE ? sp_nomem(d) : sp_lines_read(&m.lines, in);
    if (!st)
        st = massif_end_snapshot(&m);
    if (!st && !m.snapshots.n) {
        st = sp_input_failed(in);
        if (!st)
            sp_emit(d, SP_E011, SP_AT_NOTHING, "the file has no snapshot");
        st = st ? st : SPAA_ERR_INPUT;
    }
    if (!st)
        st = sp_massif_finish(&m);
    sp_vg_free(&m.vg);
    sp_vec_free(&m.snapshots);
    sp_vec_free(&m.rows);
    sp_vec_free(&m.nodes);
    sp_vec_free(&m.path);
    return st;
}

const struct spaa_format spaa_format_massif = {
    .name = "massif",
    .title = "massif.out of valgrind (also of heaptrack_print -M, --xtree-memory)",
    .extensions = "massif massif.out ms",
    .media_type = "text/plain",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ,
    .probe = sp_massif_probe,
    .read = massif_read,
};
