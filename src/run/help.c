/* Help, from the tables of commands and options. */
#include "run/declarations.h"
#include "run/run.h"

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
    struct sp_command c;
    for (size_t i = 0; sp_command_at(i, &c); i++)
        sp_printf(out, "  %-11s %s\n", c.name, c.title);
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

/* The options that a command takes, by their headings. */
static void help_options(const struct sp_command *command, struct sp_output *out)
{
    struct sp_command_option o;
    const char *above = NULL;
    for (size_t k = 0; sp_command_option(command, k, &o); k++) {
        char help[256];
        if (!above || strcmp(above, o.group) != 0)
            sp_printf(out, "\n%s\n", o.group);
        above = o.group;
        snprintf(help, sizeof help, "%s%s%s", o.format ? o.format->name : "", o.format ? ": " : "", o.help);
        option_line(out, o.letter, o.name, o.value, help);
    }
}

static void help_command(const struct sp_command *command, struct sp_output *out)
{
    sp_printf(out, "spaa %s — %s\n\nusage: spaa %s %s [options]\n", command->name, command->title,
              command->name, command->args);
    help_options(command, out);
    sp_puts(out, "\nexamples\n");
    for (const char *p = command->examples; *p;) {
        size_t n = strcspn(p, "\n");
        sp_printf(out, "  %.*s\n", (int)n, p);
        p += n;
        p += *p == '\n';
    }
}

static int no_command(struct sp_run *run, const char *asked)
{
    const char *names[64] = {0};
    char near[256];
    struct sp_command x;
    for (size_t i = 0; i < 63 && sp_command_at(i, &x); i++)
        names[i] = x.name;
    sp_near_hint(asked, names, near, sizeof near);
    return sp_run_usage(run, *near ? near : "`spaa help` lists them", "there is no command %s", asked);
}

int sp_cmd_help(struct sp_run *run)
{
    struct sp_command found;
    const char *asked = run->files.n ? run->files.v[0] : NULL;
    if (asked && !sp_command_find(asked, &found))
        return no_command(run, asked);
    int rc = sp_run_stdout(run);
    if (!rc && run->v.json)
        sp_declarations(run->out);
    else if (!rc && asked)
        help_command(&found, run->out);
    else if (!rc)
        overview(run->out);
    return rc;
}
