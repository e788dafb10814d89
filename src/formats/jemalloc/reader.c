/* Reads jemalloc's heap profiles: lines, and the header. The format is described in jemalloc.h. */
#include "base/num.h"
#include "base/watch.h"
#include "formats/jemalloc/jemalloc.h"
#include "json/json.h"

struct cursor {
    const char *p, *end, *next;
    size_t n; /* of the line at p */
    uint64_t line;
    const char *in;
};

static struct sp_where jemalloc_here_at_line(const struct cursor *c)
{
    return SP_AT_LINE(c->line, (uint64_t)(c->p - c->in));
}

/* "t*: 7: 28226 [0: 0] name" */
static bool jemalloc_parse_row(const char *p, const char *end, struct sp_je_row *r, struct sp_str *name)
{
    p = sp_mapped_blank(p, end);
    if (end - p < 3 || *p++ != 't')
        return false;
    r->tid = SP_ABSENT;
    if (*p == '*')
        p++;
    else if (*p == '-' || !sp_mapped_int(&p, end, &r->tid))
        return false;
    if (p == end || *p++ != ':' || !sp_mapped_counts(&p, end, r->v))
        return false;
    *name = sp_mapped_trim(p, (size_t)(end - p));
    return true;
}

/* A row of the header: a thread's name, and totals, which are kept as they stand. */
static spaa_status jemalloc_read_total(struct sp_je *je, const struct sp_je_row *r, struct sp_str name)
{
    struct sp_buf *b = &je->totals;
    struct sp_je_thread *t = r->tid != SP_ABSENT ? sp_je_thread(je, r->tid) : NULL;
    if (r->tid != SP_ABSENT && !t)
        return sp_nomem(je->d);
    if (t && name.n) {
        t->comm = sp_profile_str(je->p, name.p, name.n);
        if (t->comm == SP_STR_FAIL)
            return sp_nomem(je->d);
    }
    if (b->len)
        sp_buf_ch(b, ',');
    if (r->tid == SP_ABSENT)
        sp_buf_puts(b, "[\"*\"");
    else
        sp_buf_printf(b, "[%lld", (long long)r->tid);
    for (int i = 0; i < JE_PAIRS; i++)
        sp_buf_printf(b, ",%lld", (long long)r->v[i]);
    sp_buf_ch(b, ']');
    je->accum |= r->v[JE_ALLOC_COUNT] || r->v[JE_ALLOC_BYTES];
    if (r->tid == SP_ABSENT) {
        je->sums.said = je->rate <= 1; /* of samples, totals are no sums of what the stacks have */
        memcpy(je->sums.all, r->v, sizeof je->sums.all);
    }
    return b->failed ? sp_nomem(je->d) : SPAA_OK;
}

static spaa_status jemalloc_take_row(struct sp_je *je, const struct cursor *c, const struct sp_je_row *r)
{
    if (r->tid == SP_ABSENT && je->has_all) {
        sp_emit(je->d, SP_W772, jemalloc_here_at_line(c), "a second t* for a stack; the first one counts");
        return SPAA_OK;
    }
    je->accum |= r->v[JE_ALLOC_COUNT] || r->v[JE_ALLOC_BYTES];
    if (r->tid == SP_ABSENT) {
        je->all = *r;
        je->has_all = true;
        return SPAA_OK;
    }
    return sp_vec_push(&je->rows, *r) ? SPAA_OK : sp_nomem(je->d);
}

static spaa_status jemalloc_open_stack(struct sp_je *je, const struct cursor *c, const char *p,
                                       const char *end)
{
    spaa_status st = sp_je_flush(je);
    if (!st)
        st = sp_mapped_addresses(&je->m, &p, end, SP_MAPPED_CALLERS);
    if (st)
        return st;
    je->open = true;
    je->has_all = false;
    je->all = (struct sp_je_row){.tid = SP_ABSENT};
    je->rows.n = 0;
    je->line = c->line;
    je->offset = (uint64_t)(c->p - c->in);
    if (p != end) {
        sp_emit(je->d, SP_L766, jemalloc_here_at_line(c), "no addresses at column %zu",
                (size_t)(p - c->p) + 1);
        sp_mapped_drop(&je->m);
        je->open = false;
    }
    return SPAA_OK;
}

static spaa_status jemalloc_take_line(struct sp_je *je, const struct cursor *c, bool *head)
{
    struct sp_str s = sp_mapped_trim(c->p, c->n), name;
    struct sp_je_row r;
    if (!s.n || *s.p == '#' || *s.p == '%')
        return SPAA_OK;
    if (*s.p == '@') {
        *head = false;
        return jemalloc_open_stack(je, c, s.p + 1, s.p + s.n);
    }
    if (jemalloc_parse_row(s.p, s.p + s.n, &r, &name) && (*head || je->open))
        return *head ? jemalloc_read_total(je, &r, name) : jemalloc_take_row(je, c, &r);
    sp_emit(je->d, SP_L766, jemalloc_here_at_line(c), " ");
    return SPAA_OK;
}

static spaa_status jemalloc_cut(struct sp_je *je, const struct cursor *c)
{
    spaa_status st = sp_je_flush(je);
    sp_emit(je->d, SP_L301, jemalloc_here_at_line(c), "it ends in the middle of a line");
    return st;
}

static spaa_status jemalloc_read_lines(struct sp_je *je, struct cursor *c)
{
    enum { ASK_LINES = 256 };
    bool head = true;
    spaa_status st = SPAA_OK;
    while (!st && c->p < c->end) {
        if (c->line % ASK_LINES == 0 && sp_progress(je->d, "reading", je->d->file, "bytes",
                                                    (uint64_t)(c->p - c->in), (uint64_t)(c->end - c->in)))
            return SPAA_ERR_CANCELLED;
        c->line++;
        c->n = sp_mapped_eol(c->p, c->end, &c->next);
        if (c->n && (*c->p == 'M' || *c->p == '-') && sp_mapped_sentinel(c->p, c->n)) {
            st = sp_je_flush(je);
            return st ? st
                      : sp_mapped_lines(&je->m, c->next, c->end, (uint64_t)(c->next - c->in), c->line + 1);
        }
        if (c->p + c->n == c->end) /* jemalloc ends its lines: of this one something is missing */
            return jemalloc_cut(je, c);
        st = jemalloc_take_line(je, c, &head);
        c->p = c->next;
    }
    return st ? st : sp_je_flush(je);
}

/* "heap_v2/524288" and what may stand before it. */
static spaa_status jemalloc_open_text(struct sp_je *je, struct cursor *c)
{
    struct sp_str binary;
    size_t used;
    spaa_status st = sp_mapped_symbols(&je->m, c->p, c->end, &used, &binary);
    for (const char *p = c->p; p < c->p + used; p++)
        c->line += *p == '\n';
    c->p += used;
    for (; !st && c->p < c->end; c->p = c->next) {
        c->line++;
        c->n = sp_mapped_eol(c->p, c->end, &c->next);
        if (!c->n)
            continue;
        if (*c->p != '%')
            break;
        sp_emit(je->d, SP_W773, jemalloc_here_at_line(c), "%.*s", (int)(c->n < 200 ? c->n : 200), c->p);
    }
    if (st)
        return st;
    static const char first[] = "heap_v2/";
    size_t n = sizeof first - 1;
    const char *p = c->p + n;
    if (c->p == c->end || c->n <= n || memcmp(c->p, first, n) != 0 ||
        !sp_mapped_int(&p, c->p + c->n, &je->rate) || je->rate < 0) {
        sp_emit(je->d, SP_E765, jemalloc_here_at_line(c), "no heap_v2/N, where N is the rate of sampling");
        return SPAA_ERR_INPUT;
    }
    c->p = c->next;
    return SPAA_OK;
}

static spaa_status jemalloc_begin_event(struct sp_je *je)
{
    struct sp_event e = {.kind = SP_ALLOCATION, .mode = je->rate > 1 ? SP_PERIOD : SP_EVENT};
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    char t[20];
    e.name = sp_profile_cstr(je->p, "heap");
    e.unit = sp_profile_cstr(je->p, "bytes");
    e.allocation_tracking = sp_profile_cstr(je->p, "{\"tracks_frees\":true,\"has_timestamps\":false}");
    if (je->rate > 1)
        e.sample_period = sp_profile_str(je->p, t, sp_u64_text((uint64_t)je->rate, t));
    e.primary = sp_metric_intern(je->p, "live_bytes", 10);
    if (e.name == SP_STR_FAIL || e.unit == SP_STR_FAIL || e.allocation_tracking == SP_STR_FAIL ||
        e.sample_period == SP_STR_FAIL || e.primary == SP_NONE)
        return sp_nomem(je->d);
    c.event = je->event = sp_event_add(je->p, &e);
    je->context = je->event == SP_NONE ? SP_NONE : sp_context_intern(je->p, &c);
    je->m.nmetrics = JE_VALUES;
    return je->context == SP_NONE ? sp_nomem(je->d) : SPAA_OK;
}

/* Which numbers mean something is known now. Those of samples stand beside estimates only. */
static spaa_status jemalloc_metrics(struct sp_je *je)
{
    bool sampled = je->rate > 1, accum = je->accum;
    struct sp_mapped_metric v[JE_VALUES] = {
        {"live_count", "count"},
        {"live_bytes", "bytes"},
        {accum ? "alloc_count" : NULL, "count"},
        {accum ? "alloc_bytes" : NULL, "bytes"},
        {sampled && accum ? "x_raw_live_count"
         : sampled        ? "samples"
                          : NULL,
         sampled && accum ? "count" : NULL},
        {sampled ? "x_raw_live_bytes" : NULL, "bytes"},
        {sampled && accum ? "samples" : NULL, NULL},
        {sampled && accum ? "x_raw_alloc_bytes" : NULL, "bytes"},
    };
    return sp_mapped_metrics(&je->m, v, JE_VALUES);
}

static spaa_status jemalloc_header(struct sp_je *je)
{
    struct sp_profile *p = je->p;
    struct sp_header *h = &p->header;
    struct sp_buf b;
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(p, "jemalloc");
    h->has_x_spaa = true;
    h->ips = SP_IPS_RETURN;
    h->frames = je->opts->frames ? je->opts->frames : SP_FRAMES_ADDRESS;
    h->group_by = je->by_thread ? je->opts->group_by & (SP_BY_TID | SP_BY_COMM) : 0;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "\"x_jemalloc\":{\"rate\":%lld", (long long)je->rate);
    if (je->totals.len) {
        sp_buf_puts(&b, ",\"totals\":[");
        sp_buf_add(&b, je->totals.data, je->totals.len);
        sp_buf_ch(&b, ']');
    }
    sp_mapped_json(&je->m, &b);
    sp_buf_ch(&b, '}');
    h->extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(p, b.data, b.len);
    sp_buf_free(&b);
    if (h->version == SP_STR_FAIL || h->source_tool == SP_STR_FAIL || h->extra_json == SP_STR_FAIL)
        return sp_nomem(je->d);
    return SPAA_OK;
}

static spaa_status jemalloc_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                                 struct sp_profile *p)
{
    const unsigned char *bytes;
    size_t n;
    spaa_status st = sp_input_whole(in, &bytes, &n);
    struct sp_je *je = st ? NULL : calloc(1, sizeof *je);
    if (!je)
        return st ? st : sp_nomem(d);
    struct cursor c = {.p = (const char *)bytes, .end = (const char *)bytes + n, .in = (const char *)bytes};
    je->p = p;
    je->d = d;
    je->opts = opts;
    je->by_thread = opts->group_by & (SP_BY_TID | SP_BY_COMM);
    sp_mapped_init(&je->m, p, opts, d, n);
    sp_buf_init(&je->totals, 0);
    st = jemalloc_open_text(je, &c);
    if (!st)
        st = jemalloc_begin_event(je);
    if (!st)
        st = jemalloc_read_lines(je, &c);
    if (!st) {
        sp_mapped_check(&je->sums, sp_mapped_heap_totals, d);
        st = jemalloc_metrics(je);
    }
    if (!st)
        st = sp_mapped_finish(&je->m);
    if (!st)
        st = jemalloc_header(je);
    sp_mapped_free(&je->m);
    sp_vec_free(&je->threads);
    sp_map_free(&je->thread_map);
    sp_vec_free(&je->rows);
    sp_buf_free(&je->totals);
    free(je);
    return st;
}

const struct spaa_format spaa_format_jemalloc = {
    .name = "jemalloc",
    .title = "jemalloc heap profile (heap_v2)",
    .extensions = "jemalloc.heap",
    .media_type = "text/plain",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ | SP_NAMES_FROM_SYMBOLS,
    .probe = sp_je_probe,
    .read = jemalloc_read,
};
