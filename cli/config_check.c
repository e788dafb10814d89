/* What settings and options say that cannot be of use: files and folders that are not there, and expressions
 * that are none. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files and folders ---- */

/* The path in the value of an option; NULL: it names none that has to be there. */
static const char *check_path(const struct cli *c, const char *option, const char *value)
{
    static const char *const paths[] = {"symfs", "debug-dir", "dsym", "kallsyms", NULL};
    const char *eq = strchr(value, '=');
    for (size_t i = 0; paths[i]; i++)
        if (strcmp(option, paths[i]) == 0)
            return value;
    if (strcmp(option, "symbol-store") == 0) /* `spaa symbols add` makes it */
        return strcmp(value, "none") == 0 || strcmp(c->command.name, "symbols") == 0 ? NULL : value;
    if (strcmp(option, "source-path") == 0 || strcmp(option, "base-source-path") == 0)
        return eq ? eq + 1 : value;
    return NULL;
}

/* A shell would have made another path of it. */
static const char *check_hint(const char *path, bool setting)
{
    if (strchr(path, '$'))
        return setting ? "settings know ~/ and no variables: write ~/ for the home directory"
                       : "variables in single quotes stay as they are";
    if (*path == '~' || strstr(path, "/~"))
        return setting ? "only ~/ at the start is the home directory"
                       : "the shell knows ~/ only where a word begins: a blank instead of =, or $HOME";
    return NULL;
}

static void check_place(struct cli *c, const char *option, const char *path, const struct config_setting *s)
{
    struct stat is;
    char text[1400], where[800];
    if (!*path || stat(path, &is) == 0)
        return;
    const char *why = strerror(errno);
    if (s)
        snprintf(where, sizeof where, "%.600s:%u: %s", s->file, s->line, option);
    else
        snprintf(where, sizeof where, "--%s", option);
    snprintf(text, sizeof text, "%s: %.500s: %s", where, path, why);
    spaa_diagnostics_add(&c->diags, "SPAA-W039", check_hint(path, s != NULL), text);
}

static const struct config_setting *check_setting(const struct config *x, const char *value)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].value == value)
            return &x->v[i];
    return NULL;
}

void config_check_places(struct cli *c, const struct config *x)
{
    for (size_t i = 0; i < c->noptions; i++) {
        const struct spaa_ask_option *o = &c->options[i];
        const char *path = o->value ? check_path(c, o->name, o->value) : NULL;
        if (path)
            check_place(c, o->name, path, check_setting(x, o->value));
    }
}

/* ---- settings alone ---- */

/* As a question would be refused: what is said of the expression, to be freed; NULL: it is one. */
static char *check_expression(const char *text)
{
    static const char stacks[] = "f 1\n";
    const struct spaa_open_options how = {.size = sizeof how, .format = "folded"};
    const struct spaa_ask_option asked = {"allocators", text};
    struct spaa_profile *p = NULL;
    struct spaa_diagnostics *d = NULL;
    struct spaa_diagnostic said = {.size = sizeof said};
    char *answer = NULL, *mistake = NULL;
    if (spaa_profile_open_memory(stacks, sizeof stacks - 1, "stacks", &how, &p, NULL) != SPAA_OK)
        return NULL;
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = "top",
                                 .profiles = &p,
                                 .profile_count = 1,
                                 .options = &asked,
                                 .option_count = 1};
    spaa_run_memory(&o, &answer, NULL, NULL, &d);
    for (size_t i = 0; !mistake && spaa_diagnostics_get(d, i, &said) == SPAA_OK; i++)
        if (strcmp(said.code, "SPAA-E035") == 0) {
            const char *what = strstr(said.message, ": "); /* behind the title of the code */
            mistake = strdup(what ? what + 2 : said.message);
        }
    spaa_free(answer);
    spaa_diagnostics_free(d);
    spaa_profile_free(p);
    return mistake;
}

int config_check(struct cli *c, const struct config *x)
{
    int rc = EXIT_FINE;
    for (const struct config_key *k = config_keys; k->name; k++) {
        const struct config_setting *s = config_of(x, k);
        char text[1400], *mistake;
        if (!s)
            continue;
        const char *path = check_path(c, k->option, s->value);
        if (path)
            check_place(c, k->option, path, s);
        if (k->kind != CONFIG_TEXT || !(mistake = check_expression(s->value)))
            continue;
        snprintf(text, sizeof text, "%.600s:%u: %s: %.600s", s->file, s->line, k->name, mistake);
        spaa_diagnostics_add(&c->diags, "SPAA-E035", NULL, text);
        free(mistake);
        rc = EXIT_USAGE;
    }
    return rc;
}
