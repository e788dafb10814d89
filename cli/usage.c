/* What is said of bad usage. */
#include "cli.h"

#include "ask/usage.h"

#include <stdarg.h>
#include <stdio.h>

int cli_usage(struct cli *c, const char *hint, const char *fmt, ...)
{
    char message[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    sp_usage(&c->diags, hint, "%s", message);
    return EXIT_USAGE;
}

void cli_nearest(const char *asked, const char *const *names, char *out, size_t n)
{
    sp_near_hint(asked, names, out, n);
}
