/* Help, from the tables of commands and options. */
#include "cli.h"

#include "formats/open.h"
#include "render/text.h"

#include <stdio.h>

static void overview(struct sp_output *out)
{
    sp_puts(
        out,
        "spaa — one tool for every sampled profile\n\n"
        "usage: spaa COMMAND [FILE…] [options]\n"
        "       spaa FILE            the same as spaa summary FILE\n\n"
        "Every command opens every readable format by its content, through zstd and gzip, from - too.\n\n");
    for (const struct cli_command *c = cli_commands(); c->name; c++)
        sp_printf(out, "  %-11s %s\n", c->name, c->title);
    sp_puts(out, "\nspaa help COMMAND explains one; spaa --version prints the version.\n"
                 "exit: 0 fine, 1 the answer is no, 2 bad usage, 3 input or output failed, 4 a bug,\n"
                 "      5 the data cannot tell (diff --fail-on)\n");
}

static void option_line(struct sp_output *out, char short_name, const char *name, const char *value,
                        const char *help)
{
    char left[96];
    char letter[8] = "    ";
    if (short_name)
        snprintf(letter, sizeof letter, "-%c, ", short_name);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, name, value ? " " : "", value ? value : "");
    int pad = 28 - (int)sp_text_width(left, strlen(left));
    if (pad < 0)
        sp_printf(out, "  %s\n  %-28s %s\n", left, "", help);
    else
        sp_printf(out, "  %s%*s %s\n", left, pad, "", help);
}

/* The options of one group that the command takes, but for those of an earlier one of its groups. */
static void group_options(const struct cli_command *command, unsigned group, const char *title,
                          const char **above, struct sp_output *out)
{
    for (const struct sp_option *o = sp_option_table; o->name; o++) {
        unsigned mine = o->groups & (command->groups | G_ALL);
        if (!(mine & group) || mine & (group - 1))
            continue;
        if (!*above || strcmp(*above, title) != 0)
            sp_printf(out, "\n%s\n", title);
        *above = title;
        option_line(out, o->letter, o->name, o->value, o->help);
    }
}

/* What formats declare as their own, in the order of the formats. */
static void own_options(const struct cli_command *command, struct sp_output *out)
{
    unsigned when = cli_own_when(command);
    bool titled = false;
    for (size_t i = 0; spaa_formats[i]; i++)
        for (const struct sp_format_option *o = spaa_formats[i]->options; o && o->name; o++) {
            char help[256];
            if (!(o->when & when))
                continue;
            if (!titled)
                sp_puts(out, "\noptions of one format\n");
            titled = true;
            snprintf(help, sizeof help, "%s: %s", spaa_formats[i]->name, o->help);
            option_line(out, 0, o->name, o->value, help);
        }
}

void cli_help(const struct cli_command *command, struct sp_output *out)
{
    static const char *const titles[] = {
#define SPAA_GROUP(name, title) title,
#include "ask/groups.def"
#undef SPAA_GROUP
    };
    if (!command) {
        overview(out);
        return;
    }
    sp_printf(out, "spaa %s — %s\n\nusage: spaa %s %s [options]\n", command->name, command->title,
              command->name, command->args);
    const char *above = NULL;
    for (size_t g = 0; g < sizeof titles / sizeof *titles; g++)
        group_options(command, 1u << g, titles[g], &above, out);
    own_options(command, out);
    sp_puts(out, "\nexamples\n");
    for (const char *p = command->examples; *p;) {
        size_t n = strcspn(p, "\n");
        sp_printf(out, "  %.*s\n", (int)n, p);
        p += n;
        p += *p == '\n';
    }
}
