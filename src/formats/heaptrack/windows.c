/*
 * What happened when: windows of the profile, each with what its stacks allocated and freed in it, so that
 * sums over windows are sums of the profile. How long the recording is shows last: when there are too many
 * windows, each two become one.
 */
#include "model/windows.h"
#include "base/buf.h"
#include "base/num.h"
#include "formats/heaptrack/heaptrack.h"

#include <stdio.h>

#define FIRST_WIDTH 10000000 /* ns: as often as heaptrack writes its clock */
#define ROWS_MOST   ((size_t)1 << 19)

bool sp_ht_windows_touch(struct sp_ht *ht, uint32_t info)
{
    struct sp_ht_windows *w = &ht->windows;
    const struct sp_ht_info *x = &ht->infos.v[info];
    if (w->seen.v[info] == w->now)
        return true;
    w->seen.v[info] = w->now;
    return sp_vec_push(&w->touched, ((struct sp_ht_touched){info, x->allocs, x->live, x->temporary}));
}

static void heaptrack_window_add_counts(struct sp_ht_row *to, const struct sp_ht_row *x)
{
    to->alloc_bytes += x->alloc_bytes;
    to->alloc_count += x->alloc_count;
    to->live_bytes += x->live_bytes;
    to->live_count += x->live_count;
    to->temporary += x->temporary;
}

/*
 * A row of the window whose rows begin at `first`: added to the one of its cost where there is one. There is
 * room for it, at a place that was read already.
 */
static void heaptrack_window_put_row(struct sp_ht_windows *w, size_t first, const struct sp_ht_row *x)
{
    uint32_t *at = &w->at.v[x->cost];
    if (*at > first) {
        heaptrack_window_add_counts(&w->rows.v[*at - 1], x);
        return;
    }
    w->rows.v[w->rows.n++] = *x;
    *at = (uint32_t)w->rows.n;
}

static spaa_status heaptrack_window_close(struct sp_ht *ht, int64_t end)
{
    struct sp_ht_windows *w = &ht->windows;
    w->open.end = end;
    w->open.left = ht->live_bytes;
    w->open.first = w->rows.n;
    if (w->rows.n + w->touched.n >= UINT32_MAX || !sp_vec_reserve(&w->rows, w->rows.n + w->touched.n + 1))
        return sp_nomem(ht->d);
    for (size_t i = 0; i < w->touched.n; i++) {
        const struct sp_ht_touched *was = &w->touched.v[i];
        const struct sp_ht_info *x = &ht->infos.v[was->info];
        int64_t size = (int64_t)x->size, allocs = x->allocs - was->allocs,
                live = (int64_t)x->live - was->live, temporary = x->temporary - was->temporary;
        heaptrack_window_put_row(
            w, w->open.first,
            &(struct sp_ht_row){x->cost, allocs * size, allocs, live * size, live, temporary});
    }
    w->open.n = w->rows.n - w->open.first;
    if (!sp_vec_push(&w->list, w->open))
        return sp_nomem(ht->d);
    w->touched.n = 0;
    w->now++;
    w->open = (struct sp_ht_window){.start = end, .rss = -1, .most = ht->live_bytes};
    return SPAA_OK;
}

static void heaptrack_window_forget_rows(struct sp_ht_windows *w)
{
    if (w->at.n)
        memset(w->at.v, 0, w->at.n * sizeof *w->at.v);
}

/*
 * Whether two of them become one of about the new width. The clock stands still while nothing happens: what
 * was there before such a stretch does not become a part of it.
 */
static bool heaptrack_windows_join(const struct sp_ht_windows *w, const struct sp_ht_window *a,
                                   const struct sp_ht_window *b)
{
    enum { WIDER = 3 };
    return !b->cut && b->end - a->start <= WIDER * 2 * w->width;
}

/* Each two windows become one, but where one is to begin. */
static void heaptrack_windows_halve(struct sp_ht_windows *w)
{
    size_t n = 0;
    heaptrack_window_forget_rows(w);
    w->rows.n = 0;
    for (size_t i = 0, next; i < w->list.n; i = next) {
        struct sp_ht_window out = w->list.v[i];
        size_t end = out.first + out.n, first = w->rows.n;
        next = i + 1;
        if (next < w->list.n && heaptrack_windows_join(w, &out, &w->list.v[next])) {
            const struct sp_ht_window *b = &w->list.v[next++];
            out.end = b->end;
            out.left = b->left;
            out.most = b->most > out.most ? b->most : out.most;
            out.rss = b->rss > out.rss ? b->rss : out.rss;
            end = b->first + b->n;
        }
        for (size_t k = out.first; k < end; k++) {
            struct sp_ht_row x = w->rows.v[k];
            heaptrack_window_put_row(w, first, &x);
        }
        out.first = first;
        out.n = w->rows.n - first;
        w->list.v[n++] = out;
    }
    heaptrack_window_forget_rows(w);
    w->list.n = n;
    w->width *= 2;
}

/* Too many of them; or of their rows, of which most programs have few: a quarter will do as well then. */
static bool heaptrack_windows_are_many(const struct sp_ht *ht)
{
    const struct sp_ht_windows *w = &ht->windows;
    return w->list.n > w->most || (ht->opts->windows_do && w->rows.n > ROWS_MOST && w->list.n > w->most / 4);
}

/* So few as are asked for, as far as the cuts let them. */
static spaa_status heaptrack_windows_fit(struct sp_ht *ht)
{
    struct sp_ht_windows *w = &ht->windows;
    int64_t end = w->list.n ? w->list.v[w->list.n - 1].end : 0;
    for (size_t before = SIZE_MAX;
         heaptrack_windows_are_many(ht) && (w->list.n < before || w->width < end);) {
        before = w->list.n;
        heaptrack_windows_halve(w);
    }
    return SPAA_OK;
}

/* Windows that end where they were asked to, up to now. */
static spaa_status heaptrack_windows_cut(struct sp_ht *ht, int64_t now)
{
    struct sp_ht_windows *w = &ht->windows;
    spaa_status st = SPAA_OK;
    for (; !st && w->cut < SP_READ_CUTS && ht->opts->cuts[w->cut] <= now; w->cut++) {
        if (ht->opts->cuts[w->cut] <= w->open.start)
            continue;
        st = heaptrack_window_close(ht, ht->opts->cuts[w->cut]);
        w->open.cut = true;
    }
    return st;
}

spaa_status sp_ht_windows_time(struct sp_ht *ht, int64_t now)
{
    struct sp_ht_windows *w = &ht->windows;
    spaa_status st = SPAA_OK;
    if (!w->most)
        return SPAA_OK;
    now *= 1000000;
    if (!w->width) {
        w->width = FIRST_WIDTH;
        w->open.rss = w->open.rss ? w->open.rss : -1;
    }
    st = heaptrack_windows_cut(ht, now);
    if (!st && now - w->open.start >= w->width)
        st = heaptrack_window_close(ht, now);
    return st ? st : heaptrack_windows_fit(ht);
}

/* ---- into the profile ---- */

struct window_row {
    struct sp_ht_row row;
    uint32_t stack;
};

static int heaptrack_window_cmp_stack(const void *va, const void *vb)
{
    const struct window_row *a = va, *b = vb;
    return (a->stack > b->stack) - (a->stack < b->stack);
}

struct writer {
    struct sp_ht *ht;
    uint32_t layout;
    SP_VEC(struct window_row) rows;
};

enum { FIELDS = 7 };

static bool heaptrack_window_layout(struct writer *w)
{
    static const char *const names[FIELDS] = {"alloc_bytes", "alloc_count", "free_bytes",       "free_count",
                                              "live_bytes",  "live_count",  "x_temporary_count"};
    struct sp_profile *p = w->ht->p;
    struct sp_weight_field fields[FIELDS];
    uint32_t unit[2] = {sp_profile_cstr(p, "bytes"), sp_profile_cstr(p, "count")};
    if (unit[0] == SP_STR_FAIL || unit[1] == SP_STR_FAIL)
        return false;
    for (size_t i = 0; i < FIELDS; i++)
        fields[i] =
            (struct sp_weight_field){sp_metric_find(p, names[i], strlen(names[i])), unit[i % 2 || i == 6], 0};
    w->layout = sp_layout_intern(p, fields, FIELDS);
    return w->layout != SP_NONE;
}

static bool heaptrack_window_add_row(struct writer *w, const struct window_row *x)
{
    struct sp_profile *p = w->ht->p;
    const struct sp_ht_row *r = &x->row;
    struct sp_window_row out = {.stack = x->stack, .layout = w->layout, .first = (uint32_t)p->values.n};
    const int64_t v[FIELDS] = {r->alloc_bytes,
                               r->alloc_count,
                               r->alloc_bytes - r->live_bytes,
                               r->alloc_count - r->live_count,
                               r->live_bytes,
                               r->live_count,
                               r->temporary};
    if (p->values.n + FIELDS >= UINT32_MAX)
        return false;
    for (size_t i = 0; i < FIELDS; i++)
        if (!sp_vec_push(&p->values, ((struct sp_value){v[i], 0})))
            return false;
    return sp_vec_push(&p->window_rows, out);
}

/* For a question, which adds rows up: in whichever order, traces that are one stack apart. */
static bool heaptrack_window_add_rows(struct writer *w, const struct sp_ht_window *x)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct sp_ht_row *r = &w->ht->windows.rows.v[x->first + i];
        if (!heaptrack_window_add_row(w, &(struct window_row){*r, w->ht->stack_of.v[r->cost]}))
            return false;
    }
    return true;
}

/* To be written: one for each stack. */
static bool heaptrack_window_add_stacks(struct writer *w, const struct sp_ht_window *x)
{
    w->rows.n = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct sp_ht_row *r = &w->ht->windows.rows.v[x->first + i];
        if (!sp_vec_push(&w->rows, ((struct window_row){*r, w->ht->stack_of.v[r->cost]})))
            return false;
    }
    if (w->rows.n)
        qsort(w->rows.v, w->rows.n, sizeof *w->rows.v, heaptrack_window_cmp_stack);
    for (size_t i = 0, k; i < w->rows.n; i = k) { /* traces that are one stack */
        for (k = i + 1; k < w->rows.n && w->rows.v[k].stack == w->rows.v[i].stack; k++)
            heaptrack_window_add_counts(&w->rows.v[i].row, &w->rows.v[k].row);
        if (!heaptrack_window_add_row(w, &w->rows.v[i]))
            return false;
    }
    return true;
}

static bool heaptrack_window_add(struct writer *w, const struct sp_ht_window *x, size_t number)
{
    struct sp_profile *p = w->ht->p;
    struct sp_window out = {.first = (uint32_t)p->window_rows.n};
    char t[32];
    struct sp_buf b;
    if (!(w->ht->opts->windows_do ? heaptrack_window_add_rows : heaptrack_window_add_stacks)(w, x))
        return false;
    out.n = (uint32_t)p->window_rows.n - out.first;
    sp_buf_init(&b, 256);
    out.id = sp_window_id_of(p, t, (size_t)snprintf(t, sizeof t, "w%zu", number));
    sp_buf_printf(&b, "\"x_heaptrack\":{\"live_bytes\":%lld,\"most_live_bytes\":%lld", (long long)x->left,
                  (long long)x->most);
    if (x->rss >= 0 && x->rss <= INT64_MAX / (int64_t)(w->ht->page_size + 1))
        sp_buf_printf(&b, ",\"rss_bytes\":%lld", (long long)(x->rss * (int64_t)w->ht->page_size));
    sp_buf_ch(&b, '}');
    out.extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(p, b.data, b.len);
    sp_buf_free(&b);
    out.start = sp_profile_str(p, t, sp_ns_seconds(x->start, t));
    out.end = sp_profile_str(p, t, sp_ns_seconds(x->end, t));
    out.unit = sp_profile_cstr(p, "seconds");
    return out.id != SP_STR_FAIL && out.extra_json != SP_STR_FAIL && out.start != SP_STR_FAIL &&
           out.end != SP_STR_FAIL && out.unit != SP_STR_FAIL && sp_vec_push(&p->windows, out);
}

spaa_status sp_ht_windows_finish(struct sp_ht *ht)
{
    struct writer w = {.ht = ht};
    if (!ht->windows.most)
        return SPAA_OK;
    spaa_status st = heaptrack_window_close(ht, (ht->now + 1) * 1000000);
    if (!st)
        st = heaptrack_windows_fit(ht);
    size_t rows = ht->windows.rows.n; /* room for all at once: growing copies them */
    bool ok = !st && heaptrack_window_layout(&w) &&
              sp_vec_reserve(&ht->p->window_rows, ht->p->window_rows.n + rows) &&
              sp_vec_reserve(&ht->p->values, ht->p->values.n + rows * FIELDS);
    for (size_t i = 0; ok && i < ht->windows.list.n; i++)
        ok = heaptrack_window_add(&w, &ht->windows.list.v[i], i + 1);
    sp_vec_free(&w.rows);
    if (!ok || ht->opts->windows_do) /* for a question: nobody writes them */
        return st ? st : ok ? SPAA_OK : sp_nomem(ht->d);
    return sp_windows_order(ht->p);
}

void sp_ht_windows_free(struct sp_ht_windows *w)
{
    sp_vec_free(&w->seen);
    sp_vec_free(&w->touched);
    sp_vec_free(&w->at);
    sp_vec_free(&w->rows);
    sp_vec_free(&w->list);
}
