/* Findings as the lines of a brief. */
#include "ask/findings_words.h"

#include "analysis/cpu_time.h"
#include "analysis/own_name.h"
#include "answer/text.h"
#include "model/identity.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 120, NAME = 46 };

bool sp_finding_is_rule(enum sp_finding_kind kind)
{
    return sp_finding_infos[kind].group == SP_FINDING_RULE;
}

void sp_finding_title(struct sp_buf *b, const struct sp_finding *f)
{
    for (const char *c = f->what; *c; c++)
        sp_buf_ch(b, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    sp_buf_puts(b, *f->what ? " SYSCALLS" : f->title);
}

double sp_finding_bound(const struct sp_finding *f)
{
    bool is = sp_finding_infos[f->kind].flags & SP_FINDING_BOUND && f->weighs_work && !f->at_least &&
              f->part < f->of;
    return is ? (double)f->of / (double)(f->of - f->part) : 0;
}

/* ---- pieces ---- */

static size_t columns(const struct sp_buf *b)
{
    return b->len ? sp_text_width(b->data, b->len) : 0;
}

/* "80", "7.4": as exact as samples are. */
static void say_number(struct sp_buf *b, double v)
{
    sp_buf_printf(b, v >= 99.95 || (v >= 9.95 && v < 99.05) ? "%.0f" : "%.1f", v);
}

static double percent_of(const struct sp_finding *f, int64_t v)
{
    return f->of > 0 ? 100 * (double)v / (double)f->of : 0;
}

/* "80 % ±2.5", "7.4 % (5.9–9.3)", "at least 40 %" */
static void say_share(struct sp_buf *b, const struct sp_finding *f)
{
    enum { ALIKE = 8 }; /* of the interval's two halves: how much less one may be, in parts of a hundred */
    double v = percent_of(f, f->weight), down = v - f->low, up = f->high - v;
    sp_buf_puts(b, f->at_least ? "at least " : "");
    say_number(b, v);
    sp_buf_puts(b, " %");
    if (!f->has_interval || f->at_least || f->low >= 99.95)
        return;
    if (fabs(up - down) * 100 <= ALIKE * (up + down)) {
        sp_buf_printf(b, " ±%.1f", (up + down) / 2);
        return;
    }
    sp_buf_puts(b, " (");
    say_number(b, f->low);
    sp_buf_puts(b, "–");
    say_number(b, f->high);
    sp_buf_puts(b, ")");
}

/* Occurrences of an event, rather than time or bytes. */
static bool is_counts(const struct sp_asked *x, const struct sp_finding *f)
{
    return !f->weighs_work && !sp_str_is(x->s.unit, "ns") && !sp_str_is(x->s.unit, "bytes") &&
           x->s.profile->events.v[x->s.event].kind != SP_TIMER;
}

/* What shares are of. */
static void say_whole(struct sp_buf *b, const struct sp_asked *x, const struct sp_finding *f)
{
    enum { EVENT = 30 };
    struct sp_str name = sp_pstr(x->s.profile, x->s.profile->events.v[x->s.event].name);
    if (sp_is_cpu(&x->s) || !is_counts(x, f))
        sp_buf_puts(b, sp_is_cpu(&x->s) ? "CPU" : "weight");
    else
        sp_text_fit(b, name.p, name.n, EVENT);
}

static void say_cut(struct sp_buf *b, const struct sp_buf *name)
{
    sp_text_fit(b, name->len ? name->data : "", name->len, NAME);
    b->failed |= name->failed;
}

static void say_own(struct sp_buf *b, const struct sp_asked *x, const struct sp_said_names *n,
                    uint32_t function)
{
    struct sp_buf name;
    sp_buf_init(&name, 0);
    sp_said_text(&name, n, x, function);
    say_cut(b, &name);
    sp_buf_free(&name);
}

/* "std::basic_regex" of "std::__cxx11::basic_regex<…>::basic_regex(…)": plain, and a constructor is its type.
 */
static void say_callee(struct sp_buf *b, const struct sp_asked *x, uint32_t function)
{
    struct sp_str whole = sp_pstr(x->s.profile, x->s.profile->functions.v[function].name);
    struct sp_buf name, plain;
    sp_buf_init(&name, 0);
    sp_buf_init(&plain, 0);
    sp_own_plain_name(&plain, whole);
    const char *p = sp_buf_cstr(&plain), *version = *p ? strchr(p + 1, '@') : NULL;
    size_t n = version ? (size_t)(version - p) : plain.len;
    const char *last = memrchr(p, ':', n);
    size_t own = last ? (size_t)(p + n - last - 1) : 0;
    if (own && n >= 2 * own + 2 && memcmp(last - 1 - own, last + 1, own) == 0 && last[-1] == ':')
        n -= own + 2;
    sp_buf_add(&name, p, n);
    name.failed |= plain.failed;
    say_cut(b, &name);
    sp_buf_free(&plain);
    sp_buf_free(&name);
}

/* A way is worth saying where a fair part of it comes that way. */
static bool has_way(const struct sp_finding *f)
{
    enum { FAIR = 5 }; /* a fifth */
    return (__int128)f->way * FAIR >= f->weight && (f->steps[0] != SP_NONE || !f->callers_missing);
}

/* That it is in the kernel goes without saying. */
static bool says_callee(const struct sp_asked *x, const struct sp_finding *f)
{
    const struct sp_profile *p = x->s.profile;
    return f->callee != SP_NONE && f->kind != SP_FIND_FAULT &&
           !p->dsos.v[p->functions.v[f->callee].dso].is_kernel;
}

/* "handle > validate > std::regex", from step `first` on, and its share where it is not nearly all. */
static void say_way(struct sp_buf *b, const struct sp_asked *x, const struct sp_said_names *n,
                    const struct sp_finding *f, size_t first)
{
    bool any = false;
    for (size_t i = first; i < SP_FINDING_STEPS; i++) {
        if (f->steps[i] == SP_NONE)
            continue;
        sp_buf_puts(b, any ? " > " : "");
        say_own(b, x, n, f->steps[i]);
        any = true;
    }
    if (says_callee(x, f)) {
        sp_buf_puts(b, any ? " > " : "");
        say_callee(b, x, f->callee);
    }
    if ((__int128)f->way * 10 < (__int128)f->weight * 9) {
        sp_buf_puts(b, " (");
        say_number(b, percent_of(f, f->way));
        sp_buf_puts(b, " %)");
    }
}

static void say_place(struct sp_buf *b, const struct sp_finding *f)
{
    struct sp_str base = sp_base_name(f->place.file);
    if (base.n) {
        sp_buf_puts(b, "   ");
        sp_buf_add(b, base.p, base.n);
        sp_buf_printf(b, ":%u", f->place.line);
    }
}

/* ---- the first line ---- */

/* The first rule may be the cause of others where its callers are missing from them; not where the leaf shows
 * it, or the kernel's own frames do: then what both are about is recorded. */
static bool may_be_part(const struct sp_findings *all, unsigned number)
{
    size_t i = 0;
    while (i < all->list.n && (!sp_finding_is_rule(all->list.v[i].kind) || all->list.v[i].beneath))
        i++;
    const struct sp_finding *first = i < all->list.n ? &all->list.v[i] : NULL;
    return number > 1 && first && !(sp_finding_infos[first->kind].flags & SP_FINDING_EXACT) &&
           first->parts[SP_PART_KERNEL_LOCK] * 2 <= first->weight;
}

static void say_head(struct sp_buf *b, const struct sp_asked *x, const struct sp_said_names *n,
                     const struct sp_findings *all, const struct sp_finding *f, unsigned number,
                     unsigned without)
{
    sp_buf_clear(b);
    if (number)
        sp_buf_printf(b, "%u ", number);
    sp_finding_title(b, f);
    sp_buf_puts(b, "   ");
    say_share(b, f);
    if (without < 1) {
        sp_buf_puts(b, " of ");
        say_whole(b, x, f);
    }
    sp_buf_puts(b, "   ");
    if (has_way(f))
        say_way(b, x, n, f, without < 2 || f->steps[1] == SP_NONE ? 0 : 1);
    else
        sp_buf_puts(b, !f->callers_missing        ? "from many places"
                       : may_be_part(all, number) ? "callers missing: may be part of 1"
                                                  : "callers missing");
    if (without < 3 && has_way(f))
        say_place(b, f);
}

static void fit(struct sp_buf *b)
{
    if (columns(b) <= WIDTH)
        return;
    b->len = sp_text_within(b->data, b->len, WIDTH - 1);
    sp_buf_puts(b, "…");
}

/* ---- the second line ---- */

static bool is_of_sizes(const char *call)
{
    static const char *const calls[] = {"write", "pwrite64", "writev",   "read",    "pread64",
                                        "readv", "sendto",   "recvfrom", "sendmsg", "recvmsg"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(call, calls[i]) == 0)
            return true;
    return false;
}

/* "allocating 9.0, freeing 5.2; " */
static void say_parts(struct sp_buf *b, const struct sp_finding *f)
{
    bool any = false;
    for (size_t i = 1; i < SP_PARTS; i++) {
        if (percent_of(f, f->parts[i]) < 0.05 && i != SP_PART_MATCHING)
            continue;
        if (i == SP_PART_MATCHING && f->kind != SP_FIND_REGEX)
            continue;
        sp_buf_printf(b, "%s%s ", any ? ", " : "", sp_finding_part_words[i]);
        say_number(b, percent_of(f, f->parts[i]));
        sp_buf_puts(b, any ? "" : " %");
        any = true;
    }
    sp_buf_puts(b, any ? ". " : "");
}

static void say_evidence(struct sp_buf *b, const struct sp_asked *x, const struct sp_finding *f, bool parts)
{
    bool built = f->kind == SP_FIND_REGEX || f->kind == SP_FIND_FORMAT;
    const char *more = parts && f->kind == SP_FIND_REGEX ? ";" : ".";
    if (built && f->repeats)
        sp_buf_printf(b, "begins anew %u times at least%s ", f->apart, more);
    else if (built && f->apart > 1)
        sp_buf_printf(b, "%s at least %u times; once each? ", f->kind == SP_FIND_REGEX ? "compiled" : "built",
                      f->apart);
    else if (built)
        sp_buf_printf(b, "once or often: that is not shown%s ", more);
    if (f->kind == SP_FIND_RECURSION)
        sp_buf_printf(b, "up to %u deep%s. ", f->deepest, f->by_name ? ", by its name alone" : "");
    if (f->kind == SP_FIND_DEBUG)
        sp_buf_printf(b, "%zu functions that -O2 inlines have self weight. ", f->count);
    if (f->kind == SP_FIND_LOCK && (sp_is_cpu(&x->s) || is_counts(x, f)))
        sp_buf_puts(b, sp_is_cpu(&x->s) ? "CPU spent, not the time waited. " : "Counts, not time. ");
    if (f->kind == SP_FIND_SYSCALL && f->in_kernel != SP_ABSENT) {
        say_number(b, percent_of(f, f->in_kernel));
        sp_buf_puts(b, " % in the kernel. ");
    }
    if (f->kind != SP_FIND_LOCK && parts)
        say_parts(b, f);
}

/* Whether it would tell more to know the sizes: not where bytes are known to be what costs. */
static bool asks_sizes(const struct sp_finding *f)
{
    return is_of_sizes(f->what) && f->parts[SP_PART_BYTES] * 2 <= f->weight;
}

static void say_detail(struct sp_buf *b, const struct sp_asked *x, const struct sp_finding *f,
                       unsigned without)
{
    double bound = sp_finding_bound(f);
    sp_buf_clear(b);
    sp_buf_puts(b, "  ");
    say_evidence(b, x, f, without < 3 || (f->kind != SP_FIND_SYSCALL && f->kind != SP_FIND_REGEX));
    if (without < 4 && asks_sizes(f))
        sp_buf_printf(b, "Sizes are not in this file: perf record -e syscalls:sys_enter_%s. ", f->what);
    bool unsure = (f->kind == SP_FIND_REGEX || f->kind == SP_FIND_FORMAT) && !f->repeats;
    sp_buf_printf(b, "%s: %s", unsure ? "If per call" : "Fix", f->remedy);
    if (bound >= 1.005 && without < 2)
        sp_buf_printf(b, ". Bound: %s ÷ %.*f", sp_is_cpu(&x->s) ? "CPU" : "weight",
                      bound >= 9.95   ? 0
                      : bound >= 1.95 ? 1
                                      : 2,
                      bound);
    if (without < 1 && !asks_sizes(f))
        sp_buf_printf(b, ". Confirm: %s", f->confirm);
}

/* ---- all of it ---- */

static void say_rule(struct sp_buf *b, const struct sp_asked *x, const struct sp_said_names *n,
                     const struct sp_findings *all, const struct sp_finding *f, unsigned number,
                     void (*take)(void *arg, const struct sp_buf *line), void *arg)
{
    enum { PIECES = 5 };
    for (unsigned i = 0; i < PIECES; i++) {
        say_head(b, x, n, all, f, number, i);
        if (columns(b) <= WIDTH)
            break;
    }
    fit(b);
    take(arg, b);
    for (unsigned i = 0; i < PIECES; i++) {
        say_detail(b, x, f, i);
        if (columns(b) <= WIDTH)
            break;
    }
    fit(b);
    take(arg, b);
}

void sp_finding_lines(const struct sp_asked *x, const struct sp_said_names *n, const struct sp_findings *all,
                      size_t i, unsigned number, void (*take)(void *arg, const struct sp_buf *line),
                      void *arg)
{
    const struct sp_finding *f = &all->list.v[i];
    struct sp_buf b;
    if (f->beneath)
        return;
    sp_buf_init(&b, 0);
    if (sp_finding_is_rule(f->kind)) {
        say_rule(&b, x, n, all, f, number, take, arg);
    } else {
        sp_finding_text(&b, x, n, f);
        fit(&b);
        take(arg, &b);
    }
    sp_buf_free(&b);
}

/* The number that a brief gives the finding: rules are numbered in turn. */
static unsigned number_of(const struct sp_findings *all, size_t i)
{
    unsigned n = 0;
    for (size_t k = 0; k <= i; k++)
        n += sp_finding_is_rule(all->list.v[k].kind) && !all->list.v[k].beneath;
    return n;
}

void sp_finding_beneath(struct sp_buf *b, const struct sp_asked *x, const struct sp_said_names *n,
                        const struct sp_findings *all)
{
    (void)x;
    (void)n;
    bool any = false;
    for (size_t above = 0; above < all->list.n; above++) {
        bool some = false;
        for (size_t i = 0; i < all->list.n; i++) {
            const struct sp_finding *f = &all->list.v[i];
            if (f->beneath != above + 1)
                continue;
            sp_buf_puts(b, some ? ", " : any ? "; " : "");
            sp_buf_puts(b, *f->what ? f->what : sp_finding_infos[f->kind].id);
            sp_buf_ch(b, ' ');
            say_number(b, percent_of(f, f->weight));
            sp_buf_puts(b, " %");
            some = true;
        }
        if (some)
            sp_buf_printf(b, ": nearly all beneath %u, not extra", number_of(all, above));
        any = any || some;
    }
}
