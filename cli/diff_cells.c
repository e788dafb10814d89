/* Numbers, verdicts and ends of the tables of `spaa diff`. */
#include "diff.h"

#include "base/num.h"

#include <math.h>

void diff_number(struct sp_buf *out, double x, unsigned digits, bool sign)
{
    char t[64];
    double scale = pow(10, digits);
    if (!isfinite(x) || fabs(x) * scale > 9e15) {
        sp_buf_puts(out, isinf(x) && x > 0 ? "new" : "-");
        return;
    }
    int64_t v = llround(x * scale);
    uint64_t whole = (uint64_t)(v < 0 ? -v : v), unit = (uint64_t)llround(scale);
    sp_buf_puts(out, v < 0 ? "-" : sign && v > 0 ? "+" : "");
    sp_buf_u64(out, whole / unit);
    if (digits) {
        size_t n = sp_u64_text(whole % unit, t);
        sp_buf_ch(out, '.');
        for (size_t i = n; i < digits; i++)
            sp_buf_ch(out, '0');
        sp_buf_add(out, t, n);
    }
}

int diff_end_table(const struct diff_answer *a, struct sp_table *t, struct sp_buf *b, size_t n, size_t limit,
                   const char *what)
{
    int rc = answer_table(a->c, t);
    if (!rc && n > limit)
        sp_printf(a->c->out, "%s%zu more%s; -n 0 shows all\n", a->c->format == FORMAT_MARKDOWN ? "\n" : "",
                  n - limit, what);
    sp_buf_free(b);
    sp_table_free(t);
    return rc;
}

const char *diff_verdict_word(const struct sp_diff_test *t)
{
    static const char *const words[] = {"significant", "inconclusive", "below MDE",
                                        "-",           "differs",      "unchanged"};
    return t->test && strcmp(t->test, "exact") == 0 && t->verdict == SP_DIFF_SIGNIFICANT ? "changed"
                                                                                         : words[t->verdict];
}
