#include "ask/leaks_words.h"

#include "ask/leaks.h"
#include "ask/memory_moment.h"

#include "analysis/heap_weights.h"
#include "analysis/owners.h"
#include "analysis/short_name.h"
#include "answer/words.h"
#include "model/identity.h"
#include "model/memory_doubts.h"

#include <math.h>

/* ---- cells ---- */

/* The names, "copy_of < remember < main": of long ones as many as a column holds. */
static void say_callers(struct sp_buf *b, const struct sp_profile *p, const struct sp_leak_callers *c,
                        bool full)
{
    enum { ROOM = 48, NAME = 32 };
    struct sp_buf one;
    sp_buf_init(&one, 0);
    for (unsigned i = 0; i < c->n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[c->v[i]].name);
        sp_buf_clear(&one);
        sp_short_name(&one, name.p, name.n, full ? SP_WHOLE_NAME : SP_SHORTEST);
        if (!full && i && b->len + one.len > ROOM) {
            sp_buf_puts(b, " < …");
            break;
        }
        sp_buf_puts(b, i ? " < " : "");
        if (full || one.len <= NAME) {
            sp_buf_add(b, one.data, one.len);
        } else { /* a word of two hundred characters hides the rest; the end says most */
            size_t from = one.len - NAME;
            while ((one.data[from] & 0xc0) == 0x80 && from + 1 < one.len)
                from++;
            sp_buf_puts(b, "…");
            sp_buf_add(b, one.data + from, one.len - from);
        }
    }
    b->failed |= one.failed;
    sp_buf_free(&one);
}

void sp_leak_callers_text(struct sp_buf *b, const struct sp_profile *p, const struct sp_leak_callers *c,
                          bool full)
{
    struct sp_leak_callers nearest = *c;
    bool for_one = c->n && c->grew && c->others && !full;
    nearest.n = for_one ? 1 : c->n;
    nearest.others = for_one ? 0 : c->others;
    if (for_one)
        sp_buf_puts(b, "grew for ");
    c = &nearest;
    say_callers(b, p, c, full);
    if (c->n && c->weight != c->whole) {
        sp_buf_ch(b, ' ');
        sp_text_percent(b, c->weight, c->whole);
        sp_buf_ch(b, '%');
    }
    if (c->n && c->others)
        sp_buf_printf(b, "; %u other caller%s", c->others, c->others == 1 ? "" : "s");
}

void sp_leak_rate_text(struct sp_buf *b, double per_second, double doubt, int64_t watched_ns)
{
    enum { HOUR = 3600, LONG_MINUTES = 10 };
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    bool hourly = fabs(per_second) < 1024 && watched_ns >= (int64_t)LONG_MINUTES * 60 * 1000000000;
    double by = hourly ? 1.0 / HOUR : 1, shown = fabs(per_second) / by;
    int u = 0, decimals;
    for (; u < 4 && shown >= 1024; u++, shown /= 1024)
        by *= 1024;
    doubt /= by;
    decimals = shown >= 100 || (!u && shown >= 10) ? 0 : shown >= 10 ? 1 : 2;
    while (decimals && doubt > 0 && doubt * pow(10, decimals) >= 20) /* two digits of doubt are too many */
        decimals--;
    sp_buf_printf(b, "%+.*f %s/%s", decimals, per_second / by, units[u], hourly ? "h" : "s");
    if (doubt >= 0 && doubt * pow(10, decimals) >= 0.5)
        sp_buf_printf(b, " ± %.*f", decimals, doubt);
}

bool sp_leak_is_flat(const struct sp_leak_row *r)
{
    bool held = r->kind == SP_LEAK_NEVER_FREED || r->kind == SP_LEAK_PARTLY || r->kind == SP_LEAK_HELD;
    return held && r->growth.known && r->growth.flat_ns != SP_ABSENT;
}

/* Since when nothing changes, where that is most of the time. */
static void say_flat(struct sp_buf *b, const struct sp_leaks *l, const struct sp_leak_row *r, bool brief)
{
    int64_t whole = l->grown_ns / 3 * 4;
    if (!sp_leak_is_flat(r) || r->growth.flat_ns > whole / 2)
        return;
    sp_buf_puts(b, brief ? ", flat" : ", flat from ");
    if (brief)
        return;
    sp_text_weight(b, (struct sp_str){"ns", 2}, 0, r->growth.flat_ns);
    sp_buf_puts(b, " on");
}

/* A few samples are no evidence of what happens to all. */
static void say_samples(struct sp_buf *b, const struct sp_leak_row *r)
{
    enum { FEW = 20 };
    bool of_freeing = r->kind == SP_LEAK_NEVER_FREED || r->kind == SP_LEAK_PARTLY || r->kind == SP_LEAK_FREED;
    if (!of_freeing || r->samples == SP_ABSENT || r->samples >= FEW)
        return;
    sp_buf_puts(b, ", by ");
    sp_text_count(b, (uint64_t)r->samples, "sample");
}

static void say_state(struct sp_buf *b, const struct sp_leaks *l, const struct sp_leak_row *r, bool brief)
{
    const int64_t *v = r->now.v;
    sp_buf_puts(b, sp_leak_kind_names[r->kind]);
    if (r->kind == SP_LEAK_GROWING) {
        sp_buf_ch(b, ' ');
        sp_leak_rate_text(b, r->growth.per_second, r->growth.doubt, l->grown_ns);
    }
    if (r->kind == SP_LEAK_NEVER_FREED && !r->never_freed)
        sp_buf_puts(b, " there");
    if (r->kind == SP_LEAK_PARTLY && v[SP_LEAK_LIVE_BYTES] != SP_ABSENT && v[SP_LEAK_ALLOC_BYTES] > 0) {
        sp_buf_puts(b, ", ");
        sp_text_about(b, v[SP_LEAK_LIVE_BYTES], v[SP_LEAK_ALLOC_BYTES]);
        sp_buf_puts(b, " left");
    }
    say_flat(b, l, r, brief);
    if (!brief)
        say_samples(b, r);
}

void sp_leak_state_text(struct sp_buf *b, const struct sp_leaks *l, const struct sp_leak_row *r)
{
    say_state(b, l, r, false);
}

void sp_leak_state_brief(struct sp_buf *b, const struct sp_leaks *l, const struct sp_leak_row *r)
{
    say_state(b, l, r, true);
}

/* "std::operator+" of "std::basic_string<char> std::operator+<char>(…)", which short names leave as it is. */
static struct sp_str operator_of(struct sp_str name)
{
    static const char word[] = "operator";
    const char *at = name.n ? memmem(name.p, name.n, word, sizeof word - 1) : NULL;
    size_t from = at ? (size_t)(at - name.p) : 0, to = from + sizeof word; /* with a letter of its own */
    if (!at || to >= name.n || !memchr(name.p, '(', name.n))
        return name;
    while (from && name.p[from - 1] != ' ')
        from--;
    while (to < name.n && name.p[to] != '<' && name.p[to] != '(')
        to++;
    return (struct sp_str){name.p + from, (uint32_t)(to - from)};
}

/* Without arguments of templates and what comes after, which of containers is a method. */
static struct sp_str template_of(struct sp_str name)
{
    static const char dots[] = "<…>";
    if (name.n > 1 && name.p[0] == '<') { /* "<T as Trait>::method" */
        const char *as = memmem(name.p, name.n, " as ", 4);
        name = (struct sp_str){name.p + 1, as ? (uint32_t)(as - name.p) - 1 : name.n - 1};
    }
    const char *at = memmem(name.p, name.n, dots, sizeof dots - 1);
    if (at && at > name.p)
        name.n = (uint32_t)(at - name.p);
    return name;
}

void sp_leak_through_text(struct sp_buf *b, struct sp_str name, size_t others, bool full)
{
    static const char inner[] = "std::__cxx11::";
    struct sp_buf one;
    sp_buf_init(&one, 0);
    sp_short_name(&one, name.p, name.n, full ? SP_WHOLE_NAME : SP_SHORTEST);
    struct sp_str text = {one.len ? one.data : "", (uint32_t)one.len};
    text = full || !text.n ? text : template_of(operator_of(text));
    if (!full && text.n > sizeof inner && memcmp(text.p, inner, sizeof inner - 1) == 0) {
        sp_buf_puts(b, "std::");
        text = (struct sp_str){text.p + sizeof inner - 1, text.n - (uint32_t)sizeof inner + 1};
    }
    sp_buf_add(b, text.p, text.n);
    if (others)
        sp_buf_printf(b, " +%zu", others);
    b->failed |= one.failed;
    sp_buf_free(&one);
}

void sp_leak_lines_text(struct sp_buf *b, const struct sp_leaks *l, const struct sp_leak_row *r,
                        bool of_callers)
{
    enum { NAME = 40 };
    const struct sp_leak_part *parts = l->parts[SP_LEAK_LINES].v + r->part[SP_LEAK_LINES];
    size_t n = r->nparts[SP_LEAK_LINES], others = 0;
    struct sp_str line = n ? sp_base_name(sp_pstr(l->profile, parts->key)) : (struct sp_str){"", 0};
    if (!line.n)
        return;
    sp_buf_puts(b, of_callers ? " for " : " ");
    if (line.n > NAME) { /* its end has the line */
        size_t cut = line.n - NAME;
        while ((line.p[cut] & 0xc0) == 0x80 && cut + 1 < line.n)
            cut++;
        sp_buf_puts(b, "…");
        line = (struct sp_str){line.p + cut, line.n - (uint32_t)cut};
    }
    sp_buf_add(b, line.p, line.n);
    for (size_t i = 1; i < n; i++)
        others += parts[i].now.v[l->rank] != SP_ABSENT && parts[i].now.v[l->rank] > 0;
    if (others)
        sp_buf_printf(b, " +%zu line%s", others, others == 1 ? "" : "s");
}

/* ---- lines ---- */

static void say_amount(struct sp_buf *b, const char *before, int64_t v, int m, const char *behind)
{
    if (v == SP_ABSENT)
        return;
    sp_buf_puts(b, before);
    if (sp_leak_is_bytes(m))
        sp_text_bytes(b, v, 0);
    else
        sp_text_grouped(b, v, 0);
    sp_buf_puts(b, behind);
}

static const char *blocks_of(int64_t n)
{
    return n == 1 ? " block" : " blocks";
}

/* The tool looked for leaks, and nothing was left: of all of it, not of what was selected. */
static bool is_clean(const struct sp_leaks_asked *x)
{
    const struct sp_leaks *l = &x->l;
    struct sp_str event = sp_pstr(l->profile, l->profile->events.v[x->x->s.event].name);
    return sp_str_is(event, "leak") && !x->x->s.whole && !l->told && !l->suppressed &&
           l->now.v[SP_LEAK_LIVE_BYTES] == 0 && l->now.v[SP_LEAK_LIVE_COUNT] == 0;
}

/* How far what is live is known to be lost, where the file says nothing of it. */
static void say_unknown_reach(const struct sp_leaks_asked *x, struct sp_buf *b)
{
    const struct sp_profile *p = x->l.profile;
    struct sp_str tool = sp_pstr(p, p->header.source_tool);
    if (x->l.told || is_clean(x) || !sp_leaks_of_live(&x->l))
        return;
    if (sp_heap_is_of_go(p))
        sp_buf_puts(b, " (Go: reachable when garbage was last collected)");
    else if (sp_str_is(tool, "heaptrack"))
        sp_buf_puts(b, " (heaptrack cannot tell lost from still reachable)");
    else
        sp_buf_puts(b, " (the file does not tell lost from still reachable)");
}

static void say_reaches(struct sp_leaks_asked *x)
{
    static const char *const words[] = {"definitely lost ", "indirectly ",      "possibly ",
                                        "of another kind ", "still reachable ", "not told "};
    struct sp_buf *b = &x->x->b;
    sp_buf_clear(b);
    for (int r = 0; x->l.told && r < SP_LEAK_REACHES; r++) {
        const int64_t *v = x->l.reach[r].v;
        if (v[SP_LEAK_LIVE_BYTES] == SP_ABSENT && v[SP_LEAK_LIVE_COUNT] == SP_ABSENT)
            continue;
        if (r == SP_LEAK_UNTOLD && v[SP_LEAK_LIVE_BYTES] <= 0 && v[SP_LEAK_LIVE_COUNT] <= 0)
            continue; /* suppressed */
        sp_buf_puts(b, b->len ? ", " : "");
        say_amount(b, words[r], v[SP_LEAK_LIVE_BYTES], SP_LEAK_LIVE_BYTES, "");
        say_amount(b, v[SP_LEAK_LIVE_BYTES] == SP_ABSENT ? words[r] : " in ", v[SP_LEAK_LIVE_COUNT],
                   SP_LEAK_LIVE_COUNT, blocks_of(v[SP_LEAK_LIVE_COUNT]));
    }
    if (b->len)
        sp_answer_line_buf(x->x->out, b);
}

void sp_leaks_say_doubts(struct sp_leaks_asked *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_profile *p = x->l.profile;
    uint64_t cut = sp_leak_stacks_cut(p);
    if (x->end_untold)
        sp_answer_line(a,
                       "! NO STACKS AT THE END: who holds what is live then is not recorded%s; "
                       "massif --detailed-freq=1 records it",
                       x->l.rank == SP_LEAK_PEAK_BYTES ? ", rows are of the peak" : " (--metric peak)");
    if (sp_files_without_folders(p))
        sp_answer_line(a, "! LIBRARIES MAY LOOK OWN: recorded without valgrind's --fullpath-after= (nothing "
                          "behind it)");
    if (cut)
        sp_answer_line(a,
                       "! CALLERS MISSING: %llu stacks end before main; "
                       "LSAN_OPTIONS=fast_unwind_on_malloc=0 records them",
                       (unsigned long long)cut);
}

void sp_leaks_say_totals(struct sp_leaks_asked *x)
{
    struct sp_buf *b = &x->x->b;
    const int64_t *v = x->l.now.v;
    sp_buf_clear(b);
    say_amount(b, "live ", v[SP_LEAK_LIVE_BYTES], SP_LEAK_LIVE_BYTES, "");
    say_amount(b, b->len ? " in " : "live ", v[SP_LEAK_LIVE_COUNT], SP_LEAK_LIVE_COUNT,
               blocks_of(v[SP_LEAK_LIVE_COUNT]));
    if (b->len) {
        sp_memory_moment_text(b, sp_memory_moment_of(x->l.profile, x->x->s.event, x->l.told),
                              x->x->q->options->at);
        say_unknown_reach(x, b);
    }
    say_amount(b, b->len ? "; allocated " : "allocated ", v[SP_LEAK_ALLOC_BYTES], SP_LEAK_ALLOC_BYTES, "");
    say_amount(b,
               v[SP_LEAK_ALLOC_BYTES] != SP_ABSENT ? " by "
               : b->len                            ? "; "
                                                   : "",
               v[SP_LEAK_ALLOC_COUNT], SP_LEAK_ALLOC_COUNT, v[SP_LEAK_ALLOC_COUNT] == 1 ? " call" : " calls");
    if (!sp_leaks_of_live(&x->l))
        say_amount(b, ", ", v[SP_LEAK_TEMPORARY], SP_LEAK_TEMPORARY, " of them temporary (freed next)");
    say_amount(b, b->len ? "; peak " : "peak ", v[SP_LEAK_PEAK_BYTES], SP_LEAK_PEAK_BYTES, "");
    if (b->len)
        sp_answer_line_buf(x->x->out, b);
    say_reaches(x);
}

static void say_left_out(struct sp_leaks_asked *x)
{
    struct sp_buf *b = &x->x->b;
    const struct sp_leaks *l = &x->l;
    if (!l->suppressed)
        return;
    sp_buf_clear(b);
    const struct sp_profile *p = l->profile;
    bool heaptrack = sp_str_is(sp_pstr(p, p->header.source_tool), "heaptrack");
    sp_buf_printf(b, "not counted as live, since %s suppressions fit: what is left of %llu stack%s",
                  heaptrack ? "heaptrack's" : "the recording's", (unsigned long long)l->suppressed,
                  l->suppressed == 1 ? "" : "s");
    say_amount(b, ", ", l->hidden[SP_LEAK_LIVE_BYTES], SP_LEAK_LIVE_BYTES, "");
    sp_buf_puts(b, " (--suppressed counts it)");
    sp_answer_line_buf(x->x->out, b);
}

/* How many rows have nothing of what ranks them. */
static void say_nothing(struct sp_leaks_asked *x)
{
    const char *noun = x->by == SP_LEAKS_BY_STACK ? "call stack" : "function",
               *end = x->nothing == 1 ? "" : "s";
    if (x->end_untold && sp_leaks_of_live(&x->l))
        sp_answer_line(x->x->out, "of %zu more %s%s it is not known what they hold; -n 0 shows all",
                       x->nothing, noun, end);
    else if (sp_leaks_of_live(&x->l))
        sp_answer_line(x->x->out, "%zu more %s%s hold%s nothing now%s; -n 0 shows all", x->nothing, noun, end,
                       x->nothing == 1 ? "s" : "",
                       x->l.has[SP_LEAK_ALLOC_COUNT] ? " (churn: --metric calls)" : "");
    else
        sp_answer_line(x->x->out, "%zu more %s%s without; -n 0 shows all", x->nothing, noun, end);
}

/* LeakSanitizer walks frame pointers, which the C library has none of: what called it is not known. */
static void say_stopped(struct sp_leaks_asked *x)
{
    struct sp_buf *b = &x->x->b;
    const struct sp_profile *p = x->l.profile;
    int64_t sum = 0;
    if (!sp_str_is(sp_pstr(p, p->header.source_tool), "lsan") || !x->x->s.owners)
        return;
    for (size_t i = 0; i < x->l.rows.n; i++) {
        const struct sp_leak_row *r = &x->l.rows.v[i];
        bool hands_out = r->function != SP_NONE && !sp_is_own(&x->x->own, r->function) &&
                         x->x->s.owners[r->function] != SP_MAY_OWN;
        if (hands_out && r->now.v[SP_LEAK_LIVE_BYTES] > 0)
            sum += r->now.v[SP_LEAK_LIVE_BYTES];
    }
    if (!sum)
        return;
    sp_buf_clear(b);
    say_amount(
        b, "", sum, SP_LEAK_LIVE_BYTES,
        " end in the C library, whose caller the unwinder missed: LSAN_OPTIONS=fast_unwind_on_malloc=0");
    sp_answer_line_buf(x->x->out, b);
}

void sp_leaks_say_notes(struct sp_leaks_asked *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_leaks *l = &x->l;
    if (is_clean(x))
        sp_answer_line(a, "no leak: the recording says that nothing was left at the end");
    say_stopped(x);
    if (x->declared)
        sp_answer_line(a,
                       "lines are where the functions begin: which line in them allocated is not recorded");
    if (x->nothing)
        say_nothing(x);
    say_left_out(x);
    if (!l->growth && !l->told && !is_clean(x) && sp_leaks_of_live(l))
        sp_answer_line(
            a, "growing or not is not known: that takes several dumps (spaa leaks FIRST … LAST), or a longer "
               "heaptrack recording");
    if (l->peaks_apart && l->rank == SP_LEAK_PEAK_BYTES)
        sp_answer_line(a, "peaks of stacks cannot be added: they are shown where a row is one stack");
}
