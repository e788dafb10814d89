/* How the program ends: what is said on standard error, the error object, the exit code. */
#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_usage(struct cli *c, const char *hint, const char *fmt, ...)
{
    char message[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    spaa_diagnostics_add(&c->diags, "SPAA-E037", hint ? hint : "", message);
    return EXIT_USAGE;
}

bool cli_takes_colour(int fd)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0 && !(no && *no);
}

int cli_print(struct cli *c, const char *text)
{
    size_t n = strlen(text);
    c->answered = true;
    while (n) {
        ssize_t sent = write(1, text, n);
        struct pollfd wait = {.fd = 1, .events = POLLOUT};
        if (sent >= 0) {
            text += sent;
            n -= (size_t)sent;
        } else if (errno == EPIPE) { /* nobody reads */
            return EXIT_FINE;
        } else if (errno == EAGAIN) {
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            char message[160];
            snprintf(message, sizeof message, "standard output: %s", strerror(errno));
            spaa_diagnostics_add(&c->diags, "SPAA-E020", NULL, message);
            return EXIT_IO;
        }
    }
    return EXIT_FINE;
}

static bool colour_of_errors(const struct cli *c)
{
    return cli_takes_colour(2) && !(c->colour && strcmp(c->colour, "never") == 0);
}

/*
 * What the answer has told of, nobody needs to be told again; and where there is none, because the question
 * was mistaken, notes about the input say nothing of the mistake.
 */
static bool finish_says(const struct cli *c, const char *severity, bool told)
{
    bool note = strcmp(severity, "info") == 0, error = strcmp(severity, "error") == 0;
    if (error || strcmp(severity, "fatal") == 0)
        return true;
    if (note && c->mistaken && !cli_option(c, "verbose"))
        return false;
    return !cli_option(c, "quiet") && !(told && (note || strcmp(severity, "warning") == 0));
}

void cli_say(struct cli *c, const struct spaa_diagnostics *diags)
{
    struct spaa_diagnostic d = {.size = sizeof d};
    for (; spaa_diagnostics_get(diags, c->said, &d) == SPAA_OK; c->said++) {
        char *text = NULL;
        if (c->said + 1 != c->replaced &&
            finish_says(c, d.severity, c->said >= c->before && c->said < c->told) &&
            spaa_diagnostics_text(diags, c->said, colour_of_errors(c), &text) == SPAA_OK)
            fprintf(stderr, "%s: %s", c->program, text);
        spaa_free(text);
    }
}

static void say_unkept(const struct cli *c)
{
    struct spaa_unkept u = {.size = sizeof u};
    for (size_t k = 0; spaa_diagnostics_unkept(c->diags, k, &u) == SPAA_OK; k++)
        if (finish_says(c, u.severity, c->told > c->before))
            fprintf(stderr, "%s: %s: %s: %llu more [%s]\n", c->program,
                    strcmp(u.severity, "info") == 0 ? "note" : u.severity, u.title,
                    (unsigned long long)u.count, u.code);
}

int cli_finish(struct cli *c, int code)
{
    char *error = NULL;
    if (code >= EXIT_NO && c->json && !c->answered && spaa_diagnostics_error(c->diags, &error) == SPAA_OK)
        cli_print(c, error);
    spaa_free(error);
    c->mistaken = (code == EXIT_USAGE || code == EXIT_NO) && !c->answered;
    cli_say(c, c->diags);
    say_unkept(c);
    return code;
}

void cli_free(struct cli *c)
{
    spaa_diagnostics_free(c->diags);
    for (size_t i = 0; i < c->nmade; i++)
        free(c->made[i]);
    free(c->made);
    free(c->options);
    free(c->files);
}
