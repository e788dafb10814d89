#include "formats/common/hang/wait.h"

#include "base/num.h"

#include <string.h>

/* "NAME [12] thread 0x1f" anywhere in s: the last pid in brackets, and the thread behind it. */
static bool wait_holder(struct sp_span s, struct sp_wait_fact *x, struct sp_span *name)
{
    for (size_t i = s.n; i-- > 0;) {
        if (s.p[i] != '[')
            continue;
        int64_t pid;
        size_t n = sp_parse_i64(s.p + i + 1, s.p + s.n, &pid);
        if (!n || pid < 0 || i + 1 + n >= s.n || s.p[i + 1 + n] != ']')
            continue;
        static const char thread[] = "] thread 0x";
        struct sp_span rest = {s.p + i + 1 + n, s.n - i - 1 - n};
        uint64_t tid;
        x->holder_pid = pid;
        if (rest.n > sizeof thread - 1 && memcmp(rest.p, thread, sizeof thread - 1) == 0 &&
            sp_parse_hex(rest.p + sizeof thread - 1, rest.p + rest.n, &tid) && tid <= INT64_MAX)
            x->holder_tid = (int64_t)tid;
        while (i && s.p[i - 1] == ' ')
            i--;
        *name = (struct sp_span){s.p, i};
        return true;
    }
    return false;
}

static void wait_cut(struct sp_span *s, const char *begin)
{
    size_t n = strlen(begin);
    if (s->n > n && memcmp(s->p, begin, n) == 0)
        *s = (struct sp_span){s->p + n, s->n - n};
}

static bool wait_is_lock(struct sp_span on)
{
    static const char *const locks[] = {"turnstile", "lock", "mutex"};
    if (on.n > 5 && memcmp(on.p, "queue", 5) == 0)
        return false;
    for (size_t i = 0; i < 3; i++)
        if (on.n && memmem(on.p, on.n, locks[i], strlen(locks[i])))
            return true;
    return false;
}

/* Splits "blocked by KIND … waiting for NAME [pid] thread 0x…". */
static uint32_t wait_parse(struct sp_profile *p, struct sp_span text)
{
    static const char *const links[] = {" waiting for ", " owned by ", " on ", " held by "};
    struct sp_wait_fact x = {.holder_pid = SP_ABSENT, .holder_tid = SP_ABSENT};
    struct sp_span s = text, name = {NULL, 0};
    const char *first = NULL;
    size_t skip = 0;
    wait_cut(&s, "suspended, ");
    wait_cut(&s, "blocked by ");
    for (size_t i = 0; i < 4; i++) {
        const char *at = memmem(s.p, s.n, links[i], strlen(links[i]));
        if (at && (!first || at < first)) {
            first = at;
            skip = strlen(links[i]);
        }
    }
    struct sp_span on = s;
    if (first && wait_holder((struct sp_span){first + skip, (size_t)(s.p + s.n - first) - skip}, &x, &name))
        on.n = (size_t)(first - s.p);
    x.flags = wait_is_lock(on) ? SP_FACT_LOCK : 0;
    x.on = sp_profile_str(p, on.p, on.n);
    x.text = sp_profile_str(p, text.p, text.n);
    x.holder_name = name.n ? sp_profile_str(p, name.p, name.n) : SP_STR_NONE;
    if (x.on == SP_STR_FAIL || x.text == SP_STR_FAIL || x.holder_name == SP_STR_FAIL)
        return SP_NONE;
    return sp_wait_intern(p, &x);
}

uint32_t sp_hang_wait(struct sp_profile *p, struct sp_str word, struct sp_span text)
{
    bool suspended = sp_str_is(word, "SUSPENDED"); /* beside a wait for somebody's lock */
    if (suspended ? !(text.n && memmem(text.p, text.n, " [", 2))
                  : !(sp_str_is(word, "BLOCKED") || sp_str_is(word, "WAITING") || sp_str_is(word, "UNKNOWN")))
        return 0;
    uint32_t whole = sp_profile_text(p, text.n ? text.p : "", text.n); /* valid UTF-8, lent by the profile */
    if (whole == SP_STR_FAIL)
        return SP_NONE;
    struct sp_str s = sp_pstr(p, whole);
    return wait_parse(p, (struct sp_span){s.p, s.n});
}
