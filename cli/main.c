/* spaa: the command line's entry. */
#include "cli.h"
#include "output.h"

#include "sptdump.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SPAA_VERSION_TEXT "spaa " SPAA_VERSION

/* Commands that are no question. */
static const struct {
    const char *name;
    int (*run)(struct cli *c);
} runs[] = {
#define SPAA_COMMAND(name, args, groups, title, examples) {#name, sp_cmd_##name},
#include "commands.def"
#undef SPAA_COMMAND
};

static int run_command(struct cli *c)
{
    if (c->command->question)
        return cli_ask(c);
    size_t i = 0;
    while (strcmp(runs[i].name, c->command->name) != 0)
        i++;
    return runs[i].run(c);
}

static const struct cli_command *find_command(const char *name)
{
    for (const struct cli_command *c = cli_commands(); c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static int unknown_command(struct cli *c, const char *word)
{
    const char *names[64];
    char near[256], hint[400];
    size_t n = 0;
    for (const struct cli_command *x = cli_commands(); x->name && n < 63; x++)
        names[n++] = x->name;
    names[n] = NULL;
    cli_nearest(word, names, near, sizeof near);
    snprintf(hint, sizeof hint, "%s%s`spaa help` lists the commands", near, *near ? " " : "");
    return cli_usage(c, hint, "there is no command or file \"%s\"", word);
}

static void terminal(struct cli *c)
{
    struct winsize w;
    bool tty = isatty(1);
    if (tty)
        c->width = ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 100;
    c->colour = tty && !getenv("NO_COLOR");
}

/* Errors found before or while the options are parsed answer in JSON too. */
static bool asks_for_json(int argc, char **argv)
{
    bool diff = argc > 1 && strcmp(argv[1], "diff") == 0; /* its `--` is no end of the options */
    for (int i = 1; i < argc && (diff || strcmp(argv[i], "--") != 0); i++)
        if (strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "--format=json") == 0 ||
            (strcmp(argv[i], "--format") == 0 && i + 1 < argc && strcmp(argv[i + 1], "json") == 0))
            return true;
    return false;
}

static int main_run(struct cli *c, int argc, char **argv)
{
    static const struct cli_command nothing = {
        .name = "spaa", .args = "", .groups = G_ALL, .title = "", .examples = ""};
    const char *word = argc > 1 ? argv[1] : "help";
    c->command = &nothing;
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0) {
        int rc = cli_stdout(c);
        if (!rc)
            sp_puts(c->out, SPAA_VERSION_TEXT "\n");
        return rc;
    }
    int skip = 2;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        c->command = find_command("help");
    } else if (!(c->command = find_command(word))) {
        c->command = &nothing;
        if (word[0] == '-' && word[1])
            return cli_usage(c, "`spaa help` shows how", "a command comes before the options");
        if (access(word, F_OK) != 0 && strcmp(word, "-") != 0)
            return unknown_command(c, word);
        c->command = find_command("summary");
        skip = 1;
    }
    int rc = cli_parse(c, argc > skip ? argc - skip : 0, argv + skip);
    if (rc)
        return rc;
    if (c->v.help) {
        rc = cli_stdout(c);
        if (!rc)
            cli_help(c->command, c->out);
        return rc;
    }
    return run_command(c);
}

int main(int argc, char **argv)
{
    struct cli c = {.program = is_sptdump(argv[0]) ? "sptdump" : "spaa"};
    cli_output_signals();
    sp_diags_init(&c.diags);
    terminal(&c);
    if (is_sptdump(argv[0]))
        return cli_finish(&c, sptdump(&c, argc, argv));
    c.format = asks_for_json(argc, argv) ? FORMAT_JSON : FORMAT_TABLE;
    return cli_finish(&c, main_run(&c, argc, argv));
}
