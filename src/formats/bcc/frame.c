/*
 * A frame as bcc's tools print it:
 *
 *     schedule                                        a name
 *     main+0x6d [allocs]                              with the offset, and the module
 *     clear_page_erms_[k]                             -a of profile
 *     0xffffffff8134f1d0 finish_task_switch+0x91      an address before it
 *     ffffffff810df082 hrtimer_wakeup                 stackcount -v, wakeuptime
 *     #0  0x00007f3e4c0a1b00 read+0x10 (/usr/lib/libc.so.6+0x114b00)    libbpf-tools with -v
 *     3 [<00007f3e4c0a1b00>] read+0x10 [libc.so.6]                      their memleak
 *     [unknown]                                       no name
 *     [Missed User Stack]                             no stack
 */
#include "base/num.h"
#include "formats/bcc/bcc.h"

static struct sp_str bcc_behind(struct sp_str s, size_t n)
{
    while (n < s.n && (s.p[n] == ' ' || s.p[n] == '\t'))
        n++;
    return (struct sp_str){s.p + n, (uint32_t)(s.n - n)};
}

/* Digits, and a blank behind them: how many; 0: none. */
static size_t bcc_hex(struct sp_str s, size_t at, uint64_t *out)
{
    return at < s.n ? sp_parse_hex(s.p + at, s.p + s.n, out) : 0;
}

static bool bcc_blank_at(struct sp_str s, size_t at)
{
    return at < s.n && (s.p[at] == ' ' || s.p[at] == '\t');
}

/* "#0  " and "3 [<00007f3e4c0a1b00>] " are no part of it. */
static struct sp_str bcc_without_number(struct sp_str s, struct bcc_frame *f)
{
    uint64_t v;
    size_t mark = s.n && *s.p == '#', used = sp_parse_u64(s.p + mark, s.p + s.n, &v);
    if (!used || !bcc_blank_at(s, mark + used))
        return s;
    struct sp_str rest = bcc_behind(s, mark + used);
    if (mark)
        return rest.n > 2 && memcmp(rest.p, "0x", 2) == 0 ? rest : s;
    size_t digits = rest.n > 4 && memcmp(rest.p, "[<", 2) == 0 ? bcc_hex(rest, 2, &v) : 0;
    if (!digits || rest.n < digits + 5 || memcmp(rest.p + 2 + digits, ">]", 2) != 0)
        return s;
    f->address = v;
    f->has_address = true;
    return bcc_behind(rest, digits + 4);
}

/* With 0x; without it digits and blanks fill sixteen columns and one, as nothing else does. */
static struct sp_str bcc_without_address(struct sp_str s, struct bcc_frame *f)
{
    enum { COLUMNS = 17 };
    uint64_t v;
    size_t x = s.n > 2 && memcmp(s.p, "0x", 2) == 0 ? 2 : 0, digits = bcc_hex(s, x, &v);
    struct sp_str rest = bcc_behind(s, x + digits);
    bool padded = digits >= 4 && (size_t)(rest.p - s.p) == COLUMNS;
    bool alone = x && digits && x + digits == s.n;
    if (alone && !f->has_address) {
        f->address = v;
        f->has_address = true;
        return rest;
    }
    if (f->has_address || !digits || !rest.n || !bcc_blank_at(s, x + digits) || (!x && !padded))
        return s;
    f->address = v;
    f->has_address = true;
    return rest;
}

/* " [allocs]" and " (/usr/lib/libc.so.6+0x114b00)" off the end. */
static struct sp_str bcc_without_module(struct sp_str s, struct bcc_frame *f)
{
    const char *end = s.p + s.n, *open = NULL;
    uint64_t v;
    if (s.n < 4 || (end[-1] != ']' && end[-1] != ')'))
        return s;
    for (const char *p = end - 2; p > s.p && !open; p--)
        open = p[-1] == ' ' && *p == (end[-1] == ']' ? '[' : '(') ? p : NULL;
    if (!open && !(f->has_address && end[-1] == ')' && *s.p == '('))
        return s;
    open = open ? open : s.p;
    struct sp_str module = {open + 1, (uint32_t)(end - open - 2)};
    if (end[-1] == ')') { /* arguments of C++ have no such end */
        const char *plus = memrchr(module.p, '+', module.n);
        if (!plus || end - plus < 5 || memcmp(plus, "+0x", 3) != 0 ||
            sp_parse_hex(plus + 3, end - 1, &v) != (size_t)(end - 1 - plus - 3))
            return s;
        module.n = (uint32_t)(plus - module.p);
    }
    if (!module.n || (module.n > 6 && memcmp(module.p, "clone ", 6) == 0)) /* of a name: f() [clone .cold] */
        return s;
    f->module = module;
    s.n = open > s.p ? (uint32_t)(open - 1 - s.p) : 0;
    return s;
}

static void bcc_strip_offset(struct bcc_frame *f)
{
    const char *end = f->name.p + f->name.n, *plus = memrchr(f->name.p, '+', f->name.n);
    if (!plus || plus == f->name.p || end - plus < 4 || memcmp(plus, "+0x", 3) != 0 ||
        sp_parse_hex(plus + 3, end, &f->offset) != (size_t)(end - plus - 3))
        return;
    f->has_offset = true;
    f->name.n = (uint32_t)(plus - f->name.p);
}

static bool bcc_is_nameless(struct sp_str s)
{
    return !s.n || sp_str_is(s, "[unknown]") || sp_str_is(s, "Unknown") || sp_str_is(s, "unknown") ||
           sp_str_is(s, "<null sym>");
}

void bcc_parse_frame(struct sp_str s, struct bcc_frame *f)
{
    static const char missed[] = "[Missed ", mark[] = "_[k]";
    *f = (struct bcc_frame){.module = {"", 0}};
    if (s.n > sizeof missed && memcmp(s.p, missed, sizeof missed - 1) == 0) {
        const char *close = memchr(s.p, ']', s.n); /* an error's number may follow */
        f->missed = true;
        f->kernel = s.p[sizeof missed - 1] == 'K';
        f->name = (struct sp_str){s.p, close ? (uint32_t)(close + 1 - s.p) : s.n};
        return;
    }
    f->name = bcc_without_module(bcc_without_address(bcc_without_number(s, f), f), f);
    bcc_strip_offset(f);
    if (f->name.n >= sizeof mark && memcmp(f->name.p + f->name.n - 4, mark, 4) == 0) {
        f->name.n -= (uint32_t)sizeof mark - 1;
        f->kernel = true;
        bcc_strip_offset(f);
    }
    f->kernel = f->kernel || sp_str_is(f->module, "kernel") || (f->has_address && f->address >> 48 == 0xffff);
    if (f->kernel && sp_str_is(f->module, "kernel"))
        f->module.n = 0;
    if (bcc_is_nameless(f->name))
        f->name = f->has_address ? (struct sp_str){"", 0} : (struct sp_str){"[unknown]", 9};
}
