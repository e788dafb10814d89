#include "ask/usage.h"

#include "analysis/names.h"
#include "base/nearest.h"
#include "base/num.h"
#include "model/vocab.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

spaa_status sp_usage_of(struct sp_diags *d, const char *hint, const char *fmt, va_list args)
{
    char message[1024];
    vsnprintf(message, sizeof message, fmt, args);
    sp_emit_hint(d, SP_E037, SP_AT_NOTHING, hint ? hint : "", "%s", message);
    return SPAA_ERR_USAGE;
}

spaa_status sp_usage(struct sp_diags *d, const char *hint, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    spaa_status st = sp_usage_of(d, hint, fmt, args);
    va_end(args);
    return st;
}

void sp_near_hint(const char *asked, const char *const *names, char *out, size_t n)
{
    struct sp_str strs[128];
    size_t count = 0;
    struct sp_buf words;
    for (; names[count] && count < 128; count++)
        strs[count] = (struct sp_str){names[count], (uint32_t)strlen(names[count])};
    sp_buf_init(&words, 4096);
    sp_nearest_words(&words, asked, strs, count);
    const char *text = sp_buf_cstr(&words);
    snprintf(out, n, "%s", strncmp(text, "did you mean", 12) == 0 ? text : "");
    sp_buf_free(&words);
}

bool sp_option_number(struct sp_diags *d, const char *name, const char *value, long lo, long hi,
                      long otherwise, long *out)
{
    int64_t v;
    *out = otherwise;
    if (!value)
        return true;
    size_t n = strlen(value);
    if (!n || sp_parse_i64(value, value + n, &v) != n || v < lo || v > hi) {
        if (hi == LONG_MAX)
            sp_usage(d, NULL, "--%s needs a whole number from %ld on, not \"%s\"", name, lo, value);
        else
            sp_usage(d, NULL, "--%s needs a whole number from %ld to %ld, not \"%s\"", name, lo, hi, value);
        return false;
    }
    *out = (long)v;
    return true;
}

bool sp_option_choice(struct sp_diags *d, const char *name, const char *value, const char *const *names,
                      int otherwise, int *out)
{
    *out = otherwise;
    if (!value)
        return true;
    int i = sp_name_index(names, value, strlen(value));
    if (i >= 0) {
        *out = i;
        return true;
    }
    char near[256], hint[600];
    sp_near_hint(value, names, near, sizeof near);
    size_t n = (size_t)snprintf(hint, sizeof hint, "%s%sone of:", near, *near ? " " : "");
    for (i = 0; names[i] && n < sizeof hint; i++)
        n += (size_t)snprintf(hint + n, sizeof hint - n, "%s %s", i ? "," : "", names[i]);
    sp_usage(d, hint, "--%s has no value \"%s\"", name, value);
    return false;
}

bool sp_option_sort(struct sp_diags *d, const char *value, bool *by_total)
{
    static const char *const names[] = {"self", "total", NULL};
    int sort;
    bool ok = sp_option_choice(d, "sort", sp_weight_word(value), names, 0, &sort);
    *by_total = ok && sort == 1;
    return ok;
}
