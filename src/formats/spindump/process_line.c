/*
 * The line of a process, behind its key:
 *
 *     name (bundle) [pid] [unique pid N] (suspended)
 *
 * The name holds blanks, parentheses and brackets, so it is taken apart from the right.
 */
#include "formats/spindump/spindump.h"

#include <string.h>

const char *sp_spindump_last_pid(struct sp_span s, size_t *n)
{
    for (size_t i = s.n; i-- > 0;) {
        size_t k = i + 1;
        if (s.p[i] != '[')
            continue;
        while (k < s.n && sp_hang_digit(s.p[k]))
            k++;
        if (k > i + 1 && k < s.n && s.p[k] == ']') {
            *n = k + 1 - i;
            return s.p + i;
        }
    }
    return NULL;
}

void sp_spindump_parse_process(struct sp_span s, struct sp_spindump_process *x)
{
    size_t n;
    *x = (struct sp_spindump_process){.pid = SP_ABSENT};
    s = sp_hang_trim(s);
    if (sp_hang_ends(s, "(suspended)")) {
        x->suspended = true;
        s = sp_hang_trim((struct sp_span){s.p, s.n - strlen("(suspended)")});
    }
    const char *unique = s.n && s.p[s.n - 1] == ']' ? memmem(s.p, s.n, "[unique pid ", 12) : NULL;
    if (unique) {
        x->unique_pid = (struct sp_span){unique + 12, (size_t)(s.p + s.n - 1 - (unique + 12))};
        s = sp_hang_trim((struct sp_span){s.p, (size_t)(unique - s.p)});
    }
    if (!sp_hang_cut_pid(&s, &x->pid)) {
        const char *at = sp_spindump_last_pid(s, &n);
        x->pid = SP_ABSENT;
        if (at) {
            struct sp_span head = {s.p, (size_t)(at + n - s.p)};
            struct sp_span rest = sp_hang_trim(sp_hang_after(s, head.n));
            if (sp_hang_cut_pid(&head, &x->pid)) {
                s = head;
                x->rest = rest;
            }
        }
    }
    const char *group = sp_hang_group(s);
    if (group && group - s.p > 1 && group[-1] == ' ') {
        struct sp_span b = {group + 1, (size_t)(s.p + s.n - 1 - (group + 1))};
        if (memchr(b.p, '.', b.n) && !memchr(b.p, ' ', b.n)) {
            x->bundle = b;
            s = sp_hang_trim((struct sp_span){s.p, (size_t)(group - s.p)});
        }
    }
    x->name = s;
}
