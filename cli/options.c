/* Parsing the command line by the tables. */
#include "cli.h"

#include "ask/question.h"
#include "ask/usage.h"

#include <stdio.h>

enum { COMMANDS_MAX = 64 };

static const struct cli_command own_commands[] = {
#define SPAA_COMMAND(name, args, groups, title, examples) {#name, args, groups, title, examples, NULL},
#include "commands.def"
#undef SPAA_COMMAND
    {0},
};

const struct cli_command *cli_commands(void)
{
    static struct cli_command all[COMMANDS_MAX + 1];
    size_t n = 0;
    if (all[0].name)
        return all;
    for (size_t i = 0; sp_questions[i] && n < COMMANDS_MAX; i++) {
        const struct sp_question *q = sp_questions[i];
        all[n++] = (struct cli_command){q->name,  q->args,     q->groups | G_QUESTION | G_ANSWER | G_BUDGET,
                                        q->title, q->examples, q};
    }
    for (size_t i = 0; own_commands[i].name && n < COMMANDS_MAX; i++)
        all[n++] = own_commands[i];
    return all;
}

static bool applies(const struct cli *c, const struct sp_option *o)
{
    return o->groups & (c->command->groups | G_ALL);
}

static const struct sp_option *options_find(const struct cli *c, const char *name, size_t n)
{
    for (const struct sp_option *o = sp_option_table; o->name; o++)
        if (applies(c, o) && strlen(o->name) == n && memcmp(o->name, name, n) == 0)
            return o;
    return NULL;
}

static const struct sp_option *find_letter(const struct cli *c, char letter)
{
    for (const struct sp_option *o = sp_option_table; o->name; o++)
        if (applies(c, o) && o->letter == letter)
            return o;
    return NULL;
}

unsigned cli_own_when(const struct cli_command *command)
{
    unsigned writing = G_CONVERT | G_MERGE | G_UPLOAD | G_SYMBOLIZE;
    return (command->groups & G_READ ? SP_CAN_READ : 0u) | (command->groups & writing ? SP_CAN_WRITE : 0u);
}

/* An option that some format declares as its own, and that this command can hand to it. */
static const struct sp_format_option *find_own(const struct cli *c, const char *name, size_t n)
{
    unsigned when = cli_own_when(c->command);
    for (size_t i = 0; spaa_formats[i]; i++)
        for (const struct sp_format_option *o = spaa_formats[i]->options; o && o->name; o++)
            if (o->when & when && strlen(o->name) == n && memcmp(o->name, name, n) == 0)
                return o;
    return NULL;
}

static int unknown_option(struct cli *c, const char *arg)
{
    const char *names[128];
    size_t n = 0;
    for (const struct sp_option *o = sp_option_table; o->name && n < 100; o++)
        if (applies(c, o))
            names[n++] = o->name;
    for (size_t i = 0; spaa_formats[i]; i++)
        for (const struct sp_format_option *o = spaa_formats[i]->options; o && o->name && n < 127; o++)
            names[n++] = o->name;
    names[n] = NULL;
    char near[256], hint[320];
    cli_nearest(arg + strspn(arg, "-"), names, near, sizeof near);
    snprintf(hint, sizeof hint, "%s%s`spaa help %s` lists the options", near, *near ? " " : "",
             c->command->name);
    return cli_usage(c, hint, "%s has no option %s", c->command->name, arg);
}

/* --name, --name=value, --name value */
static int long_option(struct cli *c, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *eq = strchr(name, '=');
    size_t n = eq ? (size_t)(eq - name) : strlen(name);
    const struct sp_option *o = options_find(c, name, n);
    const struct sp_format_option *own = o ? NULL : find_own(c, name, n);
    if (!o && !own)
        return unknown_option(c, argv[*i]);
    const char *wanted = o ? o->value : own->value, *value = eq ? eq + 1 : NULL;
    if (!wanted && value)
        return cli_usage(c, NULL, "--%.*s takes no value", (int)n, name);
    if (wanted && !value) {
        if (*i + 1 >= argc)
            return cli_usage(c, NULL, "--%s needs a value: %s", o ? o->name : own->name, wanted);
        value = argv[++*i];
    }
    if (o)
        return sp_option_set(&c->v, o, value ? value : "") ? EXIT_FINE : EXIT_IO;
    return sp_vec_push(&c->own, ((struct sp_own_opt){own->name, value})) ? EXIT_FINE : EXIT_IO;
}

/* -n 5, -n5, -q */
static int short_options(struct cli *c, int argc, char **argv, int *i)
{
    for (const char *p = argv[*i] + 1; *p; p++) {
        const struct sp_option *o = find_letter(c, *p);
        if (!o)
            return unknown_option(c, argv[*i]);
        if (!o->value) {
            if (!sp_option_set(&c->v, o, ""))
                return EXIT_IO;
            continue;
        }
        const char *value = p[1] ? p + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (!value)
            return cli_usage(c, NULL, "-%c needs a value: %s", *p, o->value);
        return sp_option_set(&c->v, o, value) ? EXIT_FINE : EXIT_IO;
    }
    return EXIT_FINE;
}

int cli_parse(struct cli *c, int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", "csv", "markdown", NULL};
    bool options = true;
    for (int i = 0; i < argc; i++) {
        int rc = EXIT_FINE;
        if (options && !c->has_split && c->command->groups & G_DIFF && strcmp(argv[i], "--") == 0) {
            c->has_split = true; /* options may follow */
            c->split = c->files.n;
        } else if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1] == '-')
            rc = long_option(c, argc, argv, &i);
        else if (options && argv[i][0] == '-' && argv[i][1])
            rc = short_options(c, argc, argv, &i);
        else if (!sp_vec_push(&c->files, argv[i]))
            rc = EXIT_IO;
        if (rc)
            return rc;
    }
    int format = FORMAT_TABLE;
    if (!cli_choice(c, "format", c->v.format, formats, FORMAT_TABLE, &format))
        return EXIT_USAGE;
    c->format = c->v.json ? FORMAT_JSON : (enum cli_format)format;
    static const char *const colours[] = {"auto", "always", "never", NULL};
    int colour = 0;
    if (!cli_choice(c, "color", c->v.color, colours, 0, &colour))
        return EXIT_USAGE;
    if (colour)
        c->colour = colour == 1;
    return EXIT_FINE;
}

bool cli_number(struct cli *c, const char *name, const char *value, long lo, long hi, long otherwise,
                long *out)
{
    return sp_option_number(&c->diags, name, value, lo, hi, otherwise, out);
}

bool cli_choice(struct cli *c, const char *name, const char *value, const char *const *names, int otherwise,
                int *out)
{
    return sp_option_choice(&c->diags, name, value, names, otherwise, out);
}

bool cli_sort(struct cli *c, bool *by_total)
{
    return sp_option_sort(&c->diags, c->v.sort, by_total);
}
