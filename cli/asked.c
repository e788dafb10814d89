/* What was asked for: the command, by its name, and the options that were given. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

bool cli_find_command(struct cli *c, const char *name)
{
    struct spaa_command found = {.size = sizeof found};
    for (size_t i = 0; spaa_command_get(i, &found) == SPAA_OK; i++)
        if (strcmp(found.name, name) == 0) {
            c->command = found;
            c->number = i;
            return true;
        }
    return false;
}

const char *cli_option(const struct cli *c, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < c->noptions; i++)
        if (strcmp(c->options[i].name, name) == 0)
            found = c->options[i].value ? c->options[i].value : "";
    return found;
}

void cli_nearest(const char *asked, const char *const *names, size_t n, char *out, size_t size)
{
    char words[256];
    bool any = spaa_did_you_mean(asked, names, n, words, sizeof words) > 0;
    snprintf(out, size, "%s%s", any ? words : "", any ? " " : "");
}
