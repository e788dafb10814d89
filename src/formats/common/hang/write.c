/* The stacks of a report by process and thread, and what its records keep, as lines. */
#include "formats/common/hang/write.h"

#include "base/hash.h"
#include "base/num.h"
#include "base/watch.h"
#include "formats/common/text/left_out.h"
#include "formats/common/text/one_number.h"
#include "model/labels.h"
#include "model/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sp_hang_put(struct sp_hang_writer *w, struct sp_span s)
{
    size_t from = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\n' || s.p[i] == '\r') {
            sp_write(w->out, s.p + from, i - from);
            sp_write(w->out, " ", 1);
            from = i + 1;
        }
    sp_write(w->out, s.p + from, s.n - from);
}

struct sp_span sp_hang_decoded(struct sp_hang_writer *w, struct sp_span raw)
{
    sp_buf_clear(&w->buf);
    if (!sp_json_text_to(&w->buf, raw))
        return (struct sp_span){"", 0};
    return (struct sp_span){w->buf.data, w->buf.len};
}

struct sp_span sp_hang_decoded_member(struct sp_hang_writer *w, struct sp_span object, const char *key)
{
    struct sp_span raw;
    return sp_json_find(object, key, &raw) ? sp_hang_decoded(w, raw) : (struct sp_span){"", 0};
}

static void hang_pad(struct sp_hang_writer *w, size_t used, size_t column)
{
    for (size_t i = used; i < column; i++)
        sp_write(w->out, " ", 1);
    if (used >= column)
        sp_write(w->out, " ", 1);
}

void sp_hang_key_line(struct sp_hang_writer *w, const char *key, struct sp_span value)
{
    if (!value.n)
        return;
    sp_puts(w->out, key);
    sp_puts(w->out, ":");
    hang_pad(w, strlen(key) + 1, 18);
    sp_hang_put(w, value);
    sp_puts(w->out, "\n");
}

void sp_hang_put_fields(struct sp_hang_writer *w, struct sp_span fields, size_t column)
{
    for (struct sp_span pair, item; sp_json_next(&fields, &pair);) {
        size_t n = 0;
        if (!sp_json_next(&pair, &item))
            continue;
        struct sp_span key = sp_hang_decoded(w, item);
        n = key.n;
        sp_hang_put(w, key);
        struct sp_span value =
            sp_json_next(&pair, &item) ? sp_hang_decoded(w, item) : (struct sp_span){"", 0};
        if (n) {
            sp_puts(w->out, ":");
            if (value.n)
                hang_pad(w, n + 1, column);
        }
        sp_hang_put(w, value);
        sp_puts(w->out, "\n");
    }
}

/* Counts of 18 digits, as they are read; those of callers are sums. */
#define MOST_COUNTED INT64_C(999999999999999999)

/* The event and the weight that views show, if nothing else was asked for; reported where there is none. */
static spaa_status hang_choose_event(struct sp_hang_writer *w, const struct sp_write_opts *o)
{
    w->event = sp_one_event(w->p, o);
    if (w->event == SP_NONE) {
        sp_emit(w->d, SP_E036, SP_AT_NOTHING, "the profile declares no event");
        return SPAA_ERR_UNSUPPORTED;
    }
    spaa_status st = sp_say_events_left(w->p, o, w->event, "a report", w->d);
    if (!st && w->no_states && !w->ours) /* of a report without states, they follow from the frames */
        st = sp_say_states_added(w->p, o, w->event, w->d);
    if (st)
        return st;
    w->metric = sp_one_counted(w->p, o, w->event, w->d);
    w->counts = w->metric != SP_NONE && sp_one_counts(w->p, o, w->metric, w->d);
    return w->metric == SP_NONE ? SPAA_ERR_UNSUPPORTED
                                : sp_one_fits(w->p, w->event, w->metric, MOST_COUNTED, "a report", w->d);
}

/* A weight as a whole number; a decimal is rounded, which is told. */
static int64_t hang_stack_count(struct sp_hang_writer *w, uint32_t stack)
{
    int64_t v = sp_weight(w->p, stack, w->metric);
    if (v == SP_ABSENT)
        return 0;
    if (v != SP_DECIMAL)
        return v;
    double x = sp_weight_double(w->p, stack, w->metric);
    sp_emit(w->d, SP_I321, SP_AT_NOTHING, "fractions: a report has whole numbers only");
    return x > 0 && x < 9e18 ? llround(x) : 0;
}

/* `"ranges":[[1,37],[44,44,1]]` of a stack's x_spindump. */
static bool hang_stack_ranges(struct sp_hang_writer *w, uint32_t stack, struct sp_hang_stack *s)
{
    struct sp_span raw, item, number;
    s->ranges = NULL;
    s->nranges = 0;
    size_t first = w->ranges.n;
    if (!sp_json_find2(sp_hang_span(sp_pstr(w->p, w->p->stacks.v[stack].extra_json)), w->x_key, "ranges",
                       &raw))
        return true;
    while (sp_json_next(&raw, &item)) {
        struct sp_hang_segment g = {0};
        int64_t v[3] = {0, 0, -1};
        for (int i = 0; i < 3 && sp_json_next(&item, &number); i++)
            if (sp_parse_i64(number.p, number.p + number.n, &v[i]) != number.n)
                v[i] = 0;
        g.from = v[0];
        g.to = v[1];
        g.count = v[2] < 0 ? v[1] - v[0] + 1 : v[2];
        if (g.from < 1 || g.to < g.from || g.to >= INT64_MAX / 4 || g.count < 1)
            continue;
        if (!sp_vec_push(&w->ranges, g))
            return false;
    }
    s->nranges = w->ranges.n - first;
    return true;
}

struct hang_keyed {
    struct sp_hang_group key;
    uint32_t stack;
};

static int hang_by_group(const void *va, const void *vb, void *arg)
{
    const struct hang_keyed *a = va, *b = vb;
    const struct sp_profile *p = arg;
    if (a->key.pid != b->key.pid)
        return a->key.pid < b->key.pid ? -1 : 1;
    int c = sp_str_cmp(sp_pstr(p, a->key.comm), sp_pstr(p, b->key.comm));
    if (!c)
        c = sp_str_cmp(sp_pstr(p, a->key.instance), sp_pstr(p, b->key.instance));
    if (!c)
        c = (a->key.tid > b->key.tid) - (a->key.tid < b->key.tid);
    if (!c)
        c = (a->key.header > b->key.header) - (a->key.header < b->key.header);
    return c ? c : (a->stack > b->stack) - (a->stack < b->stack);
}

/* The texts of a stack's frames, root first, behind those of the path at hand. */
static bool hang_add_frames(struct sp_hang_writer *w, uint32_t stack)
{
    const struct sp_stack *from = &w->p->stacks.v[stack];
    const uint32_t *frames = sp_stack_frames(w->p, stack);
    if (!sp_vec_reserve(&w->paths, w->paths.n + from->n))
        return false;
    for (uint32_t i = from->n; i-- > 0;) {
        uint32_t text = w->text_of(w, frames[i]);
        if (text == SP_STR_FAIL)
            return false;
        w->paths.v[w->paths.n++] = text;
    }
    return true;
}

/* Linked records of one observation are one stack of the user's, the kernel's frames last. */
static bool hang_add_stack(struct sp_hang_writer *w, uint32_t stack, uint32_t context)
{
    uint32_t kernel = sp_stack_linked(w->p, stack);
    size_t before = w->paths.n;
    struct sp_hang_stack s = {.count = hang_stack_count(w, stack), .state = w->state_of(w, context)};
    if (s.state == SP_STR_FAIL || !hang_add_frames(w, stack) ||
        (kernel != SP_NONE && !hang_add_frames(w, kernel)))
        return false;
    s.n = (uint32_t)(w->paths.n - before);
    return hang_stack_ranges(w, stack, &s) && sp_vec_push(&w->stacks, s);
}

/* Pointers into arrays that have grown. */
static void hang_settle_pointers(struct sp_hang_writer *w)
{
    const uint32_t *path = w->paths.v;
    const struct sp_hang_segment *ranges = w->ranges.v;
    for (size_t i = 0; i < w->stacks.n; i++) {
        w->stacks.v[i].path = path;
        path += w->stacks.v[i].n;
        w->stacks.v[i].ranges = ranges;
        if (w->stacks.v[i].nranges)
            ranges += w->stacks.v[i].nranges;
    }
}

static struct sp_hang_whose hang_whose(const struct sp_hang_writer *w, const struct sp_context *c)
{
    struct sp_hang_whose x = {SP_STR_NONE, 1};
    const struct sp_label *l = sp_labels_find(w->p, c->labels, (struct sp_str){"instance", 8});
    struct sp_span raw;
    int64_t v;
    if (l)
        x.instance = l->value;
    if (c->extra_json &&
        sp_json_find2(sp_hang_span(sp_pstr(w->p, c->extra_json)), w->x_key, "header", &raw) &&
        sp_parse_i64(raw.p, raw.p + raw.n, &v) == raw.n && v > 0 && v < UINT32_MAX)
        x.header = (uint32_t)v;
    return x;
}

static bool hang_gather(struct sp_hang_writer *w)
{
    const struct sp_profile *p = w->p;
    SP_VEC(struct hang_keyed) all = {0};
    for (uint32_t i = 0; i < p->threads.n; i++)
        if (!sp_map_add(&w->threads, sp_hash_mix((uint64_t)p->threads.v[i].tid, 0), i))
            return false;
    w->frame_text = calloc(p->frames.n + 1, sizeof *w->frame_text);
    w->context_state = malloc((p->contexts.n + 1) * sizeof *w->context_state);
    w->whose = malloc((p->contexts.n + 1) * sizeof *w->whose);
    bool ok = w->frame_text && w->context_state && w->whose;
    for (size_t i = 0; ok && i < p->contexts.n; i++) {
        w->context_state[i] = SP_NONE;
        w->whose[i] = hang_whose(w, &p->contexts.v[i]);
    }
    for (uint32_t i = 0; ok && i < p->stacks.n; i++) {
        const struct sp_context *c = &p->contexts.v[p->stacks.v[i].context];
        uint32_t linked = sp_stack_linked(p, i);
        if (c->event != w->event || (linked != SP_NONE && p->stacks.v[i].type == SP_KERNEL_STACK))
            continue;
        const struct sp_hang_whose *x = &w->whose[p->stacks.v[i].context];
        struct hang_keyed k = {.key = {.pid = c->pid,
                                       .tid = c->tid,
                                       .comm = c->comm,
                                       .instance = x->instance,
                                       .header = x->header},
                               .stack = i};
        int64_t count = hang_stack_count(w, i);
        if (count <= 0)
            continue;
        if (!p->stacks.v[i].n && (linked == SP_NONE || !p->stacks.v[linked].n))
            w->stackless += (uint64_t)count;
        else
            ok = sp_vec_push(&all, k);
    }
    if (ok && all.n)
        qsort_r(all.v, all.n, sizeof *all.v, hang_by_group, w->p);
    for (size_t i = 0; ok && i < all.n; i++) {
        const struct sp_hang_group *k = &all.v[i].key,
                                   *last = w->groups.n ? &w->groups.v[w->groups.n - 1] : NULL;
        ok = !sp_leaving(w->d, i) && hang_add_stack(w, all.v[i].stack, p->stacks.v[all.v[i].stack].context);
        if (ok &&
            (!last || !sp_hang_same_process(last, k) || last->tid != k->tid || last->header != k->header)) {
            struct sp_hang_group g = *k;
            g.first = i;
            ok = sp_vec_push(&w->groups, g);
        }
        if (ok)
            w->groups.v[w->groups.n - 1].n++;
    }
    if (ok)
        hang_settle_pointers(w);
    sp_vec_free(&all);
    return ok;
}

int64_t sp_hang_sum_of(const struct sp_hang_writer *w, const struct sp_hang_group *g)
{
    int64_t sum = 0;
    for (size_t i = 0; g && i < g->n; i++)
        if (__builtin_add_overflow(sum, w->stacks.v[g->first + i].count, &sum))
            return 0;
    return sum;
}

int64_t sp_hang_steps(const struct sp_hang_writer *w)
{
    int64_t most = 0, sum = 0;
    for (size_t i = 0; i < w->groups.n; i++) {
        const struct sp_hang_group *g = &w->groups.v[i];
        bool again = i && sp_hang_same_process(g - 1, g) && g->tid == g[-1].tid; /* another header of it */
        if (__builtin_add_overflow(again ? sum : 0, sp_hang_sum_of(w, g), &sum))
            sum = INT64_MAX;
        most = sum > most ? sum : most;
    }
    return most;
}

struct sp_hang_thread sp_hang_thread_of(const struct sp_hang_writer *w, int64_t tid)
{
    struct sp_hang_thread t = {NULL, {NULL, 0}};
    struct sp_probe at = sp_map_probe(&w->threads, sp_hash_mix((uint64_t)tid, 0));
    for (uint32_t i; (i = sp_map_next(&w->threads, &at)) != SP_MAP_NONE;)
        if (w->p->threads.v[i].tid == tid) {
            t.row = &w->p->threads.v[i];
            sp_json_find(sp_hang_span(sp_pstr(w->p, t.row->extra_json)), w->x_key, &t.members);
        }
    return t;
}

bool sp_hang_queue_of(struct sp_span s, struct sp_span *label, struct sp_span *number)
{
    static const char sample[] = "DispatchQueue_";
    bool ours = sp_hang_starts(s, sample);
    size_t n = 0;
    if (ours) {
        s = sp_hang_after(s, sizeof sample - 1);
        while (n < s.n && sp_hang_digit(s.p[n]))
            n++;
        *number = (struct sp_span){s.p, n};
        s = sp_hang_after(s, n);
        const char *kind = sp_hang_group(s);
        if (kind && kind - s.p > 3 && kind[-1] == ' ' && kind[-2] == ' ')
            s.n = (size_t)(kind - s.p);
        *label = sp_hang_starts(s, ": ") ? sp_hang_trim(sp_hang_after(s, 2)) : (struct sp_span){NULL, 0};
        return n && label->n;
    }
    const char *open = sp_hang_group(s);
    if (!open || open - s.p < 3 || *s.p != '"' || open[-1] != '"')
        return false;
    *label = (struct sp_span){s.p + 1, (size_t)(open - 1 - (s.p + 1))};
    *number = (struct sp_span){open + 1, (size_t)(s.p + s.n - 1 - (open + 1))};
    while (n < number->n && sp_hang_digit(number->p[n]))
        n++;
    return n && n == number->n && !memchr(label->p, '"', label->n);
}

struct sp_span sp_hang_thread_text(struct sp_hang_writer *w, const struct sp_hang_thread *t, const char *key)
{
    struct sp_span raw;
    for (const struct sp_fact *f = sp_thread_facts; t->row && f->key; f++)
        if (f->type == SP_FACT_TEXT && strcmp(f->key, key) == 0) {
            uint32_t text = sp_fact_get_text(f, t->row);
            return text ? sp_hang_span(sp_pstr(w->p, text)) : (struct sp_span){NULL, 0};
        }
    if (!sp_json_find(t->members, key, &raw))
        return (struct sp_span){NULL, 0};
    raw = sp_hang_decoded(w, raw);
    return raw.n ? raw : (struct sp_span){"", 0};
}

bool sp_hang_process_members(const struct sp_hang_writer *w, size_t process, struct sp_span *out)
{
    const struct sp_process_fact *x = &w->p->processes.v[process];
    return sp_json_find(sp_hang_span(sp_pstr(w->p, x->extra_json)), w->x_key, out) && out->n &&
           *out->p == '{';
}

/* Whether a comm is the name in a record, which as JSON has U+FFFD for bytes that are no UTF-8. */
static bool hang_same_name(struct sp_str comm, struct sp_span name)
{
    struct sp_buf b, plain;
    if (comm.n == name.n && (!name.n || memcmp(comm.p, name.p, name.n) == 0))
        return true;
    if (sp_utf8_prefix(comm.p, comm.n) == comm.n)
        return false;
    sp_buf_init(&b, 0);
    sp_buf_init(&plain, 0);
    bool same = sp_json_string(&b, comm.p, comm.n) &&
                sp_json_text_to(&plain, (struct sp_span){b.data, b.len}) && plain.len == name.n &&
                memcmp(plain.data, name.p, name.n) == 0;
    sp_buf_free(&b);
    sp_buf_free(&plain);
    return same;
}

/* The first group of a process; groups are sorted by pid, comm, instance. NULL: it has no stacks left. */
struct sp_hang_group *sp_hang_first_group(struct sp_hang_writer *w, const struct sp_process_fact *x)
{
    struct sp_span name = sp_hang_span(sp_pstr(w->p, x->name));
    struct sp_str instance = sp_pstr(w->p, x->instance);
    size_t lo = 0, hi = w->groups.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (w->groups.v[mid].pid < x->pid)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < w->groups.n && w->groups.v[lo].pid == x->pid; lo++) {
        if (hang_same_name(sp_pstr(w->p, w->groups.v[lo].comm), name) &&
            sp_str_cmp(sp_pstr(w->p, w->groups.v[lo].instance), instance) == 0)
            return &w->groups.v[lo];
    }
    return NULL;
}

static struct sp_hang_group *hang_thread_group(struct sp_hang_writer *w, struct sp_hang_group *first,
                                               struct sp_hang_listed who)
{
    struct sp_hang_group *g = first, *end = w->groups.v + w->groups.n;
    size_t n = first ? (size_t)(end - first) : 0;
    while (n) { /* the groups of the process, by tid and header, and what is behind them */
        size_t half = n / 2;
        const struct sp_hang_group *x = &g[half];
        bool before =
            sp_hang_same_process(x, first) && (x->tid != who.tid ? x->tid < who.tid : x->header < who.header);
        g = before ? g + half + 1 : g;
        n = before ? n - half - 1 : half;
    }
    bool found =
        g && g < end && sp_hang_same_process(g, first) && g->tid == who.tid && g->header == who.header;
    return found ? g : NULL;
}

struct sp_hang_group *sp_hang_group_of(struct sp_hang_writer *w, struct sp_hang_group *first,
                                       struct sp_hang_listed who, uint32_t owner)
{
    struct sp_hang_group *g = hang_thread_group(w, first, who);
    return g && sp_hang_unwritten(g, owner) ? g : NULL;
}

bool sp_hang_unwritten(const struct sp_hang_group *g, uint32_t owner)
{
    return !g->written && (!g->owner || g->owner == owner);
}

struct sp_hang_listed sp_hang_listed_of(struct sp_hang_writer *w, struct sp_span item, const char *id_key)
{
    struct sp_hang_listed who = {SP_ABSENT, 1};
    struct sp_span s = item, raw;
    int64_t v;
    if (*item.p == '{') {
        if (sp_json_find_i64(item, "header", &v) && v > 0 && v < UINT32_MAX)
            who.header = (uint32_t)v;
        if (!sp_json_find(item, id_key, &raw))
            return who;
        s = raw.n && *raw.p == '"' ? sp_hang_decoded(w, raw) : raw;
    }
    if (s.n && sp_parse_i64(s.p, s.p + s.n, &v) == s.n)
        who.tid = v;
    return who;
}

bool sp_hang_settle_owners(struct sp_hang_writer *w, const char *id_key)
{
    for (uint32_t i = 0; i < w->p->processes.n; i++) {
        const struct sp_process_fact *x = &w->p->processes.v[i];
        struct sp_span members, list, item;
        if (!sp_hang_process_members(w, i, &members) || !sp_json_find(members, "threads", &list))
            continue;
        struct sp_hang_group *first = sp_hang_first_group(w, x);
        while (first && sp_json_next(&list, &item)) {
            struct sp_hang_group *g = hang_thread_group(w, first, sp_hang_listed_of(w, item, id_key));
            if (g && !g->owner)
                g->owner = i + 1;
        }
    }
    return !w->buf.failed;
}

/* Texts that the row has no field for, or no value that they would come back from, behind what is in w->buf;
 * to be placed when all are there. */
enum { IMAGE_START, IMAGE_END, IMAGE_NAME, IMAGE_VERSION, IMAGE_UUID, IMAGE_SUFFIX, IMAGE_PATH, IMAGE_TEXTS };

static void hang_image_address(struct sp_buf *b, uint64_t v)
{
    char t[16];
    if (v == SP_NO_ADDRESS) {
        sp_buf_puts(b, "???");
    } else {
        sp_buf_puts(b, "0x");
        sp_buf_add(b, t, sp_hex_text(v, t));
    }
}

static void hang_image_text_of(struct sp_hang_writer *w, const struct sp_image *x, int which)
{
    struct sp_str s = {"", 0};
    switch (which) {
    case IMAGE_START:
        hang_image_address(&w->buf, x->start);
        break;
    case IMAGE_END:
        hang_image_address(&w->buf, x->end);
        break;
    case IMAGE_UUID:
        sp_hang_uuid_text(sp_pstr(w->p, x->build_id), &w->buf);
        break;
    case IMAGE_NAME:
        s = sp_pstr(w->p, x->name);
        break;
    case IMAGE_PATH:
        s = sp_pstr(w->p, x->path);
        break;
    default:
        break;
    }
    sp_buf_add(&w->buf, s.p, s.n);
}

static bool hang_put_image(struct sp_hang_writer *w, const struct sp_image *x)
{
    static const char *const keys[IMAGE_TEXTS] = {"start", "end",    "name", "version",
                                                  "uuid",  "suffix", "path"};
    struct sp_span more = {NULL, 0}, raw;
    struct sp_span extra = sp_hang_span(sp_pstr(w->p, x->extra_json));
    if (!sp_json_find(extra, w->x_key, &more) && !sp_json_find(extra, "x_spindump", &more))
        sp_json_find(extra, "x_sample", &more);
    struct sp_hang_image i = {.kernel = x->flags & SP_FACT_KERNEL, .plus = sp_json_find_true(more, "plus")};
    struct sp_span *to[IMAGE_TEXTS] = {&i.start_text, &i.end_text, &i.name, &i.version,
                                       &i.uuid,       &i.suffix,   &i.path};
    size_t at[IMAGE_TEXTS + 1];
    sp_buf_clear(&w->buf);
    for (int k = 0; k < IMAGE_TEXTS; k++) {
        at[k] = w->buf.len;
        if (!sp_json_find(more, keys[k], &raw) || !sp_json_text_to(&w->buf, raw))
            hang_image_text_of(w, x, k);
    }
    at[IMAGE_TEXTS] = w->buf.len;
    for (size_t k = 0; k < IMAGE_TEXTS && w->buf.len; k++)
        *to[k] = (struct sp_span){w->buf.data + at[k], at[k + 1] - at[k]};
    for (size_t k = 0; k < w->buf.len; k++)
        if (w->buf.data[k] == '\n' || w->buf.data[k] == '\r')
            w->buf.data[k] = ' ';
    sp_hang_image_line(w->out, &i);
    return !w->buf.failed;
}

struct sp_span sp_hang_frame_address(struct sp_hang_writer *w, const struct sp_frame *f)
{
    struct sp_span raw, more = sp_hang_span(sp_pstr(w->p, f->extra_json));
    if (!sp_json_find2(more, w->x_key, "address", &raw) &&
        !sp_json_find2(more, "x_spindump", "address", &raw) &&
        !sp_json_find2(more, "x_sample", "address", &raw))
        return (struct sp_span){"", 0};
    return sp_hang_decoded(w, raw);
}

bool sp_hang_put_images(struct sp_hang_writer *w, const struct sp_process_fact *x, const char *title)
{
    if (x->images)
        sp_puts(w->out, title);
    for (uint32_t i = 0; i < x->images; i++)
        if (!hang_put_image(w, &w->p->images.v[w->p->process_images.v[x->first + i]]))
            return false;
    return true;
}

static void hang_writer_release(struct sp_hang_writer *w)
{
    free(w->frame_text);
    free(w->context_state);
    free(w->whose);
    sp_vec_free(&w->stacks);
    sp_vec_free(&w->paths);
    sp_vec_free(&w->ranges);
    sp_vec_free(&w->groups);
    sp_map_free(&w->threads);
    sp_hang_render_free(&w->render);
    sp_strtab_free(&w->texts);
    sp_buf_free(&w->buf);
}

static spaa_status hang_write_event(struct sp_hang_writer *w, const char *format,
                                    const struct sp_write_opts *opts, bool (*put)(struct sp_hang_writer *w))
{
    w->ours = sp_str_is(sp_pstr(w->p, w->p->header.source_tool), format);
    spaa_status st = hang_choose_event(w, opts);
    if (st)
        return st;
    if (!hang_gather(w))
        return sp_nomem(w->d);
    if (w->stackless)
        sp_emit(w->d, SP_I321, SP_AT_NOTHING, "%llu samples without a stack",
                (unsigned long long)w->stackless);
    return put(w) && !w->buf.failed ? w->out->status : sp_nomem(w->d);
}

spaa_status sp_hang_write(struct sp_hang_writer *w, const char *format, const struct sp_write_opts *opts,
                          bool (*put)(struct sp_hang_writer *w))
{
    sp_buf_init(&w->buf, 0);
    w->render.texts = &w->texts;
    spaa_status st = sp_strtab_init(&w->texts) ? hang_write_event(w, format, opts, put) : sp_nomem(w->d);
    hang_writer_release(w);
    return st;
}
