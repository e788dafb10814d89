#include "formats/common/hang/wait.h"

#include "base/num.h"

#include <string.h>

/*
 * What is waited for, and behind a linking word who held it:
 *
 *     blocked by turnstile with priority 46 waiting for Safari [412] thread 0x3fd5 after 2 hops
 *     blocked by turnstile waiting for this thread - part of a deadlock
 *     unfair lock owned by thread 0x3fd5
 *     blocked by queue "com.example.db" processed by Safari thread 0x3fd5
 *     blocked by wait4 on make [99]
 *
 * Names of processes and labels of queues may hold any of these words, so that the holder is read from its
 * end, and the label of a queue is stepped over.
 */
static const char *const wait_links[] = {" waiting for ", " owned by ", " processed by ", " serviced by ",
                                         " held by "};
static const char wait_hops[] = " after ";
static const char *const wait_deadlock[] = {" - part of a deadlock", ", part of a deadlock",
                                            " (part of a deadlock)"};

static bool wait_ends(struct sp_span s, const char *end)
{
    size_t n = strlen(end);
    return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

static bool wait_begins(struct sp_span s, const char *begin)
{
    size_t n = strlen(begin);
    return s.n >= n && memcmp(s.p, begin, n) == 0;
}

static bool wait_cut(struct sp_span *s, const char *begin)
{
    size_t n = strlen(begin);
    if (s->n <= n || !wait_begins(*s, begin))
        return false;
    *s = (struct sp_span){s->p + n, s->n - n};
    return true;
}

/* The last place of a text; NULL: it is not there. */
static const char *wait_last(struct sp_span s, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = s.n; s.n >= n && i >= n; i--)
        if (memcmp(s.p + i - n, text, n) == 0)
            return s.p + i - n;
    return NULL;
}

/* Cuts what is said behind the holder, that it is a part of a deadlock. */
static void wait_cut_deadlock(struct sp_span *s, struct sp_wait_fact *x)
{
    for (size_t i = 0; i < sizeof wait_deadlock / sizeof *wait_deadlock; i++)
        if (wait_ends(*s, wait_deadlock[i])) {
            s->n -= strlen(wait_deadlock[i]);
            x->flags |= SP_FACT_DEADLOCK;
            return;
        }
}

/* Cuts "after 2 hops". */
static void wait_cut_hops(struct sp_span *s, struct sp_wait_fact *x)
{
    const char *at = wait_last(*s, wait_hops), *end = s->p + s->n;
    size_t n = at ? sp_parse_i64(at + strlen(wait_hops), end, &x->hops) : 0;
    struct sp_span rest = {n ? at + strlen(wait_hops) + n : end, 0};
    rest.n = (size_t)(end - rest.p);
    if (n && x->hops >= 0 && (sp_span_is(rest, " hop") || sp_span_is(rest, " hops")))
        s->n = (size_t)(at - s->p);
    else
        x->hops = SP_ABSENT;
}

/* Cuts what is said behind the holder: ", suspended", that it is a part of a deadlock, "after 2 hops". */
static void wait_tail(struct sp_span *s, struct sp_wait_fact *x)
{
    if (wait_ends(*s, ", suspended"))
        s->n -= strlen(", suspended");
    wait_cut_deadlock(s, x);
    wait_cut_hops(s, x);
    wait_cut_deadlock(s, x); /* where the hops are said last */
}

/* "NAME [12] thread 0x1f", "NAME thread 0x1f", "thread 0x1f", "this thread", "NAME [12]". */
static bool wait_holder(struct sp_span s, struct sp_wait_fact *x, struct sp_span *name)
{
    static const char thread[] = "thread 0x";
    wait_tail(&s, x);
    wait_cut(&s, "receive port held by ");
    if (sp_span_is(s, "this thread")) {
        x->flags |= SP_FACT_SELF;
        return true;
    }
    const char *at = wait_last(s, thread), *end = s.p + s.n;
    uint64_t tid;
    if (at && (at == s.p || at[-1] == ' ')) {
        const char *digits = at + sizeof thread - 1;
        size_t n = sp_parse_hex(digits, end, &tid);
        if (n && tid <= INT64_MAX && (digits + n == end || strchr(" ,", digits[n]))) {
            x->holder_tid = (int64_t)tid;
            s.n = (size_t)(at - s.p);
        }
    }
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    *name = s;
    for (size_t i = s.n; i-- > 0;) {
        int64_t pid;
        if (s.p[i] != '[')
            continue;
        size_t n = sp_parse_i64(s.p + i + 1, s.p + s.n, &pid);
        if (!n || pid < 0 || i + 1 + n >= s.n || s.p[i + 1 + n] != ']')
            continue;
        x->holder_pid = pid;
        while (i && s.p[i - 1] == ' ')
            i--;
        *name = (struct sp_span){s.p, i};
        return true;
    }
    return x->holder_tid != SP_ABSENT;
}

/* A dispatch queue, whose label may hold any word. */
static bool wait_is_queue(struct sp_span on)
{
    return wait_begins(on, "queue") || wait_begins(on, "dispatch queue");
}

static bool wait_is_lock(struct sp_span on)
{
    static const char *const locks[] = {"turnstile", "lock", "mutex"};
    if (wait_is_queue(on))
        return true;
    for (size_t i = 0; i < 3; i++)
        if (on.n && memmem(on.p, on.n, locks[i], strlen(locks[i])))
            return true;
    return false;
}

/* The first linking word, behind the label of a queue; skip: its length. NULL: there is none. */
static const char *wait_link(struct sp_span s, size_t *skip)
{
    static const char on[] = " on "; /* "wait4 on make [99]", and of others what it is */
    const char *first = NULL, *quote = wait_is_queue(s) ? wait_last(s, "\"") : NULL;
    struct sp_span rest = {quote ? quote : s.p, 0};
    rest.n = (size_t)(s.p + s.n - rest.p);
    for (size_t i = 0; rest.n && i < sizeof wait_links / sizeof *wait_links; i++) {
        const char *at = memmem(rest.p, rest.n, wait_links[i], strlen(wait_links[i]));
        if (at && (!first || at < first)) {
            first = at;
            *skip = strlen(wait_links[i]);
        }
    }
    if (first || !rest.n)
        return first;
    *skip = sizeof on - 1;
    return memmem(rest.p, rest.n, on, sizeof on - 1);
}

/* A server without work: "mach_msg receive on port 0x303", "turnstile in S [20] waiting for receive port". */
static bool wait_receives(struct sp_span on, const struct sp_wait_fact *x)
{
    return x->holder_pid == SP_ABSENT && x->holder_tid == SP_ABSENT && !(x->flags & SP_FACT_SELF) && on.n &&
           !wait_is_queue(on) && memmem(on.p, on.n, "receive", 7);
}

static uint32_t wait_parse(struct sp_profile *p, struct sp_span text, bool waits)
{
    struct sp_wait_fact x = {.holder_pid = SP_ABSENT, .holder_tid = SP_ABSENT, .hops = SP_ABSENT};
    struct sp_span s = text, name = {NULL, 0};
    size_t skip = 0;
    wait_cut(&s, "suspended, ");
    wait_cut(&s, "blocked by ");
    const char *first = wait_link(s, &skip);
    struct sp_span on = s;
    if (first && wait_holder((struct sp_span){first + skip, (size_t)(s.p + s.n - first) - skip}, &x, &name)) {
        on.n = (size_t)(first - s.p);
        const char *priority = wait_last(on, " with priority "); /* of whoever waits, and it changes */
        if (priority)
            on.n = (size_t)(priority - on.p);
    }
    x.flags |= waits && wait_receives(on, &x) ? SP_FACT_RECEIVE : wait_is_lock(on) ? SP_FACT_LOCK : 0;
    x.on = sp_profile_str(p, on.p, on.n);
    x.text = sp_profile_str(p, text.p, text.n);
    x.holder_name = name.n ? sp_profile_str(p, name.p, name.n) : SP_STR_NONE;
    if (x.on == SP_STR_FAIL || x.text == SP_STR_FAIL || x.holder_name == SP_STR_FAIL)
        return SP_NONE;
    return sp_wait_intern(p, &x);
}

/* A suspended thread waits beside that for somebody's lock. */
static bool wait_names_holder(struct sp_span text)
{
    return text.n && (memmem(text.p, text.n, " [", 2) || memmem(text.p, text.n, "this thread", 11) ||
                      memmem(text.p, text.n, " thread 0x", 10));
}

uint32_t sp_hang_wait(struct sp_profile *p, struct sp_str word, struct sp_span text)
{
    bool suspended = sp_str_is(word, "SUSPENDED");
    if (suspended ? !wait_names_holder(text)
                  : !(sp_str_is(word, "BLOCKED") || sp_str_is(word, "WAITING") || sp_str_is(word, "UNKNOWN")))
        return 0;
    uint32_t whole = sp_profile_text(p, text.n ? text.p : "", text.n); /* valid UTF-8, lent by the profile */
    if (whole == SP_STR_FAIL)
        return SP_NONE;
    struct sp_str s = sp_pstr(p, whole);
    return wait_parse(p, (struct sp_span){s.p, s.n}, sp_str_is(word, "WAITING"));
}
