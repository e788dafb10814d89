/* The command line, taken apart by what the library says that a command takes. */
#include "cli.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool options_at(const struct cli *c, size_t k, struct spaa_command_option *out)
{
    *out = (struct spaa_command_option){.size = sizeof *out};
    return spaa_command_option_get(c->number, k, out) == SPAA_OK;
}

static bool options_find(const struct cli *c, const char *name, size_t n, struct spaa_command_option *out)
{
    for (size_t k = 0; options_at(c, k, out); k++)
        if (strlen(out->name) == n && memcmp(out->name, name, n) == 0)
            return true;
    return false;
}

static bool options_letter(const struct cli *c, char letter, struct spaa_command_option *out)
{
    for (size_t k = 0; options_at(c, k, out); k++)
        if (out->letter == letter)
            return true;
    return false;
}

/* "did you mean --sort, --metric?": names as they are typed. */
static void options_dashed(const char *near, char *out, size_t size)
{
    static const char begin[] = "did you mean ";
    size_t n = 0;
    for (const char *p = near; *p && n + 4 < size; p++) {
        bool name = p == near + sizeof begin - 1 || (p > near + sizeof begin && p[-1] == ' ' && p[-2] == ',');
        if (name) {
            out[n++] = '-';
            out[n++] = '-';
        }
        out[n++] = *p;
    }
    out[n] = 0;
}

/* "--by --sort": what the command has of its own; nothing where that is much, or nothing. */
static void options_own(const struct cli *c, char *out, size_t size)
{
    struct spaa_command_option o;
    size_t n = 0;
    *out = '\0';
    for (size_t k = 0; options_at(c, k, &o); k++) {
        if (o.shared)
            continue;
        n += (size_t)snprintf(out + n, size - n, " --%s", o.name);
        if (n >= size) {
            *out = '\0';
            return;
        }
    }
}

static int unknown_option(struct cli *c, const char *arg)
{
    const char *names[256];
    struct spaa_command_option o;
    char near[260], dashed[300], own[160], hint[700];
    size_t n = 0;
    for (; n < sizeof names / sizeof *names && options_at(c, n, &o); n++)
        names[n] = o.name;
    cli_nearest(arg + strspn(arg, "-"), names, n, near, sizeof near);
    options_dashed(near, dashed, sizeof dashed);
    options_own(c, own, sizeof own);
    snprintf(hint, sizeof hint, "%s%s%s%s`spaa help %s --all` lists the options", dashed,
             *own ? "its own:" : "", own, *own ? "; " : "", c->command.name);
    return cli_usage(c, hint, "%s has no option %s", c->command.name, arg);
}

static void options_add(struct cli *c, const char *name, const char *value)
{
    c->options[c->noptions++] = (struct spaa_ask_option){name, value};
}

/* --name, --name=value, --name value */
static int long_option(struct cli *c, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *eq = strchr(name, '='), *value = eq ? eq + 1 : NULL;
    size_t n = eq ? (size_t)(eq - name) : strlen(name);
    struct spaa_command_option o;
    int rc;
    if (!options_find(c, name, n, &o))
        return cli_words_option(c, argc, argv, i, &rc) ? rc : unknown_option(c, argv[*i]);
    if (!o.value && value)
        return cli_usage(c, NULL, "--%s takes no value", o.name);
    if (o.value && !value) {
        if (*i + 1 >= argc)
            return cli_usage(c, NULL, "--%s needs a value: %s", o.name, o.value);
        value = argv[++*i];
    }
    name = o.name;
    rc = value ? cli_words_value(c, &name, &value) : EXIT_FINE;
    if (!rc)
        options_add(c, name, value);
    return rc;
}

/* -n 5, -n5, -q */
static int short_options(struct cli *c, int argc, char **argv, int *i)
{
    int rc;
    struct spaa_command_option o;
    bool first = options_letter(c, argv[*i][1], &o), alone = !argv[*i][2];
    if ((!(first && alone) || cli_words_letter(c, argv[*i])) && cli_words_option(c, argc, argv, i, &rc))
        return rc;
    for (const char *p = argv[*i] + 1; *p; p++) {
        if (!options_letter(c, *p, &o))
            return unknown_option(c, argv[*i]);
        if (!o.value) {
            options_add(c, o.name, NULL);
            continue;
        }
        const char *value = p[1] ? p + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (!value)
            return cli_usage(c, NULL, "-%c needs a value: %s", *p, o.value);
        options_add(c, o.name, value);
        return EXIT_FINE;
    }
    return EXIT_FINE;
}

/* No argument has more options than characters. */
static bool options_room(struct cli *c, int argc, char **argv)
{
    size_t n = 4 + CLI_SETTINGS; /* words of other tools may imply some */
    for (int i = 0; i < argc; i++)
        n += strlen(argv[i]) + 1;
    c->options = calloc(n, sizeof *c->options);
    c->files = calloc((size_t)argc + 1, sizeof *c->files);
    c->made = calloc((size_t)argc + 1, sizeof *c->made);
    return c->options && c->files && c->made;
}

int cli_parse(struct cli *c, int argc, char **argv)
{
    bool options = true;
    if (!options_room(c, argc, argv)) {
        spaa_diagnostics_add(&c->diags, "SPAA-E008", NULL, "out of memory");
        return EXIT_IO;
    }
    cli_words_switch(c, argc, argv);
    for (int i = 0; i < argc; i++) {
        int rc = EXIT_FINE;
        if (options && !c->has_split && c->command.two_sides && strcmp(argv[i], "--") == 0) {
            c->has_split = true; /* options may follow */
            c->split = c->nfiles;
        } else if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1] == '-')
            rc = long_option(c, argc, argv, &i);
        else if (options && argv[i][0] == '-' && argv[i][1])
            rc = short_options(c, argc, argv, &i);
        else
            c->files[c->nfiles++] = argv[i];
        if (rc)
            return rc;
    }
    int rc = cli_words_end(c);
    if (rc)
        return rc;
    const char *format = cli_option(c, "format");
    c->json = cli_option(c, "json") || (format && strcmp(format, "json") == 0);
    c->colour = cli_option(c, "color");
    return EXIT_FINE;
}
