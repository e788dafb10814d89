/* What is said of bad usage. */
#include "cli.h"

#include "base/nearest.h"

#include <stdarg.h>
#include <stdio.h>

int cli_usage(struct cli *c, const char *hint, const char *fmt, ...)
{
    char message[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    sp_emit_hint(&c->diags, SP_E037, SP_AT_NOTHING, hint ? hint : "", "%s", message);
    return EXIT_USAGE;
}

void cli_nearest(const char *asked, const char *const *names, char *out, size_t n)
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
