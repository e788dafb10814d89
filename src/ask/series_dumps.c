/* The table of dumps: what each holds, what came since the one before it, and which owners changed most. */
#include "ask/series_parts.h"

#include "analysis/short_name.h"
#include "answer/words.h"

#include <stdlib.h>

enum { CHANGED = 5, SAID = 2 };

enum {
    NUMBER,
    SECONDS,
    FILE_NAME,
    LIVE_BYTES,
    CHANGE,
    LIVE_COUNT,
    ALLOCATED,
    PER_SECOND,
    LEVEL,
    WORDS,
};
static const struct sp_answer_column dump_columns[] = {
    [NUMBER] = {"dump", SP_COL_COUNT, "dump", .doc = "1, 2, … in their order"},
    [SECONDS] = {"seconds", SP_COL_NUMBER, "s", .doc = "from the first one; null: times are not known"},
    [FILE_NAME] = {"file", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "its file"},
    [LIVE_BYTES] = {"live_bytes", SP_COL_WEIGHT, "live", .doc = "bytes that are live"},
    [CHANGE] = {"live_change", SP_COL_WEIGHT, "change", .doc = "of these, since the dump before"},
    [LIVE_COUNT] = {"live_count", SP_COL_WEIGHT, "blocks", .doc = "blocks that are live"},
    [ALLOCATED] = {"allocated", SP_COL_WEIGHT, "allocated",
                   .doc = "bytes allocated since the dump before; null: not known, or it is the first"},
    [PER_SECOND] = {"allocated_per_second", SP_COL_WEIGHT, "a second", .doc = "that per second"},
    [LEVEL] = {"level", SP_COL_TEXT, "", .flags = SP_COL_NO_JSON | SP_COL_SPARE,
               .doc = "a bar, of the dump with most"},
    [WORDS] = {"changed_most", SP_COL_TEXTS, "changed most", .flags = SP_COL_NO_JSON | SP_COL_FLEXIBLE,
               .doc = "the functions whose live bytes changed most, in the direction of the sum"},
};
const struct sp_table_decl sp_series_dumps = {"dumps", dump_columns,
                                              sizeof dump_columns / sizeof *dump_columns, .noun = "dumps",
                                              .doc = "of several files: a row for each, in their order"};

enum { OWNER, OWNER_DSO, OWNER_CHANGE, OWNER_NOW };
static const struct sp_answer_column changed_columns[] = {
    [OWNER] = {"function", SP_COL_NAME, .doc = "an own function that asked for memory"},
    [OWNER_DSO] = {"dso", SP_COL_DSO, .doc = "the binary it is in"},
    [OWNER_CHANGE] = {"change", SP_COL_WEIGHT, .doc = "live bytes gained since the dump before"},
    [OWNER_NOW] = {"live_bytes", SP_COL_WEIGHT, .doc = "what is live of it"},
};
const struct sp_table_decl sp_series_changed = {
    "changed", changed_columns, sizeof changed_columns / sizeof *changed_columns, .of = "dumps",
    .doc = "the functions that changed most since the dump before, most first"};

struct change {
    size_t owner;
    int64_t by, now;
};

/* What there is of bytes: where only blocks are known, these. */
static enum sp_leak_metric level_of(const struct sp_series *s)
{
    static const enum sp_leak_metric all[] = {SP_LEAK_LIVE_BYTES, SP_LEAK_LIVE_COUNT, SP_LEAK_ALLOC_BYTES};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (s->h.known[all[i]])
            return all[i];
    return SP_LEAK_ALLOC_COUNT;
}

static int64_t size_of(int64_t v)
{
    return v < 0 ? -v : v;
}

/* The largest changes, most first; ties by who came first. */
static size_t find_changes(const struct sp_series *s, size_t dump, struct change *out)
{
    enum sp_leak_metric m = level_of(s);
    size_t n = 0;
    for (size_t i = 0; dump && i < s->h.owners.n; i++) {
        struct change c = {.owner = i, .now = sp_heap_value(sp_heap_at(&s->h, i, dump), m)};
        c.by = c.now - sp_heap_value(sp_heap_at(&s->h, i, dump - 1), m);
        if (!c.by || (n == CHANGED && size_of(c.by) <= size_of(out[n - 1].by)))
            continue;
        size_t at = n < CHANGED ? n++ : n - 1;
        for (; at && size_of(out[at - 1].by) < size_of(c.by); at--)
            out[at] = out[at - 1];
        out[at] = c;
    }
    return n;
}

static struct sp_str owner_name(const struct sp_series *s, size_t owner)
{
    static const char none[] = "[no stack]";
    const struct sp_heap_owner *o = &s->h.owners.v[owner];
    return o->name ? sp_str_at(&s->h.strs, o->name) : (struct sp_str){none, sizeof none - 1};
}

/* "+2.00 MiB store": the first two, in the direction of the whole. */
static void put_words(struct sp_series *s, struct sp_answer_table *t, const struct change *c, size_t n,
                      int64_t whole)
{
    struct sp_value_text words[SAID];
    struct sp_buf *b = &s->x.b;
    size_t said = 0;
    for (size_t i = 0; i < n && said < SAID; i++) {
        if ((c[i].by < 0) != (whole < 0) || (said && size_of(c[i].by) * 10 < size_of(whole)))
            continue;
        struct sp_str name = owner_name(s, c[i].owner);
        sp_buf_clear(b);
        sp_series_amount(b, level_of(s), (double)c[i].by, true);
        sp_buf_ch(b, ' ');
        sp_short_name(b, name.p, name.n, SP_SHORTEST);
        words[said].n = b->len;
        words[said].p = sp_arena_dup(&s->out->arena, sp_buf_text(b), b->len);
        s->out->failed |= b->failed || !words[said].p;
        said++;
    }
    if (!s->out->failed)
        sp_put_texts(s->out, t, WORDS, words, said);
}

static int64_t since(const struct sp_series *s, size_t dump, enum sp_leak_metric m)
{
    int64_t v;
    if (!dump || s->h.dumps.v[dump].all.v[m] == SP_ABSENT || s->h.dumps.v[dump - 1].all.v[m] == SP_ABSENT ||
        __builtin_sub_overflow(s->h.dumps.v[dump].all.v[m], s->h.dumps.v[dump - 1].all.v[m], &v))
        return SP_ABSENT;
    return v;
}

static void put_bar(struct sp_series *s, struct sp_answer_table *t, int64_t v, int64_t most)
{
    enum { WIDTH = 12 };
    struct sp_buf *b = &s->x.b;
    sp_buf_clear(b);
    for (int64_t i = 0; most > 0 && v > 0 && i < (int64_t)(((__int128)v * WIDTH + most - 1) / most); i++)
        sp_buf_puts(b, "█");
    sp_put_buf(s->out, t, LEVEL, b);
}

static void put_dump(struct sp_series *s, struct sp_answer_table *t, struct sp_answer_table *changed,
                     size_t i, int64_t most)
{
    const struct sp_heap_series *h = &s->h;
    const struct sp_heap_dump *x = &h->dumps.v[i];
    struct change c[CHANGED];
    enum sp_leak_metric m = level_of(s);
    int64_t allocated = since(s, i, SP_LEAK_ALLOC_BYTES);
    bool timed = h->order == SP_HEAP_BY_TIME;
    double seconds = timed && i ? sp_heap_seconds(h, i) - sp_heap_seconds(h, i - 1) : 0;
    sp_table_row(s->out, t);
    sp_put_int(t, NUMBER, (int64_t)i + 1);
    if (timed)
        sp_put_scaled(t, SECONDS, (x->time_ns - h->dumps.v[0].time_ns) / 1000000, 3);
    sp_put_text(s->out, t, FILE_NAME, x->name, strlen(x->name));
    sp_put_int(t, LIVE_BYTES, x->all.v[SP_LEAK_LIVE_BYTES]);
    sp_put_int(t, LIVE_COUNT, x->all.v[SP_LEAK_LIVE_COUNT]);
    sp_put_int(t, CHANGE, since(s, i, SP_LEAK_LIVE_BYTES));
    allocated = allocated < 0 ? SP_ABSENT : allocated; /* it fell, which is said */
    sp_put_int(t, ALLOCATED, allocated);
    if (allocated != SP_ABSENT && seconds > 0)
        sp_put_int(t, PER_SECOND, (int64_t)((double)allocated / seconds + 0.5));
    put_bar(s, t, sp_heap_value(&x->all, m), most);
    size_t n = find_changes(s, i, c);
    put_words(s, t, c, n, since(s, i, m) == SP_ABSENT ? 0 : since(s, i, m));
    for (size_t k = 0; k < n; k++) {
        struct sp_str name = owner_name(s, c[k].owner),
                      dso = sp_str_at(&h->strs, h->owners.v[c[k].owner].dso);
        sp_table_row(s->out, changed);
        sp_put_text(s->out, changed, OWNER, name.p, name.n);
        if (dso.n)
            sp_put_text(s->out, changed, OWNER_DSO, dso.p, dso.n);
        sp_put_int(changed, OWNER_CHANGE, c[k].by);
        sp_put_int(changed, OWNER_NOW, c[k].now);
    }
}

static void hide_what_is_not_known(struct sp_series *s, struct sp_answer_table *t)
{
    const struct sp_heap_series *h = &s->h;
    if (h->order != SP_HEAP_BY_TIME) {
        sp_table_title(s->out, t, SECONDS, NULL);
        sp_table_title(s->out, t, PER_SECOND, NULL);
        sp_table_title(s->out, t, FILE_NAME, "file");
    }
    if (!h->known[SP_LEAK_LIVE_COUNT])
        sp_table_title(s->out, t, LIVE_COUNT, NULL);
    if (!h->known[SP_LEAK_ALLOC_BYTES]) {
        sp_table_title(s->out, t, ALLOCATED, NULL);
        sp_table_title(s->out, t, PER_SECOND, NULL);
    }
}

void sp_series_put_dumps(struct sp_series *s, bool quiet)
{
    struct sp_answer_table *t = sp_answer_table(s->out, &sp_series_dumps),
                           *changed = sp_answer_detail(s->out, &sp_series_changed, t);
    int64_t most = 0;
    if (!changed)
        return;
    static const size_t bytes[] = {LIVE_BYTES, CHANGE, ALLOCATED, PER_SECOND};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        t->measure.v[bytes[i]] = s->bytes;
    t->measure.v[LIVE_COUNT] = s->count;
    changed->measure.v[OWNER_CHANGE] = changed->measure.v[OWNER_NOW] =
        sp_series_is_bytes(level_of(s)) ? s->bytes : s->count;
    t->quiet = quiet;
    hide_what_is_not_known(s, t);
    for (size_t i = 0; i < s->h.dumps.n; i++) {
        int64_t v = sp_heap_value(&s->h.dumps.v[i].all, level_of(s));
        most = v > most ? v : most;
    }
    for (size_t i = 0; i < s->h.dumps.n; i++)
        put_dump(s, t, changed, i, most);
}
