/* spaa: the command line's entry. */
#include "cli.h"
#include "complete.h"
#include "config.h"
#include "deadline.h"
#include "inside.h"
#include "pager.h"
#include "progress.h"
#include "signals.h"
#include "sptdump.h"
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { QUERY_SECONDS = 60 }; /* when no --timeout is given */

static int unknown_command(struct cli *c, const char *word)
{
    const char *names[64];
    char near[260], hint[400];
    struct spaa_command x = {.size = sizeof x};
    size_t n = 0;
    for (; n < sizeof names / sizeof *names && spaa_command_get(n, &x) == SPAA_OK; n++)
        names[n] = x.name;
    cli_nearest(word, names, n, near, sizeof near);
    snprintf(hint, sizeof hint, "%s`spaa help` lists the commands", near);
    return cli_usage(c, hint, "there is no command or file \"%s\"", word);
}

static int option_first(struct cli *c, const char *word)
{
    static const char *const names[] = {"--version", "--help"};
    char near[260], hint[320];
    cli_nearest(word, names, sizeof names / sizeof *names, near, sizeof near);
    snprintf(hint, sizeof hint, "%s`spaa help` shows how", near);
    return cli_usage(c, hint, "a command comes before the options");
}

/* The last value that the line seems to give to an option; NULL: none. */
static const char *main_seems(int argc, char **argv, const char *option)
{
    bool diff = argc > 1 && strcmp(argv[1], "diff") == 0; /* its `--` is no end of the options */
    size_t n = strlen(option);
    const char *found = NULL;
    for (int i = 1; i < argc && (diff || strcmp(argv[i], "--") != 0); i++)
        if (strncmp(argv[i], option, n) == 0 && argv[i][n] == '=')
            found = argv[i] + n + 1;
        else if (strcmp(argv[i], option) == 0)
            found = i + 1 < argc ? argv[i + 1] : "";
    return found;
}

/* Errors found before or while the options are parsed answer in JSON too, and in no colour. */
static void main_guess(struct cli *c, int argc, char **argv)
{
    const char *format = main_seems(argc, argv, "--format");
    c->json = main_seems(argc, argv, "--json") || (format && strcmp(format, "json") == 0);
    c->colour = main_seems(argc, argv, "--color");
}

/* From now on standard output is the answer's. */
static void answering(void *arg)
{
    struct cli *c = arg;
    c->answered = true;
    progress_clear(c->progress);
    deadline_stop(c->deadline);
    c->deadline = NULL;
    if (c->pager)
        pager_begin(c->pager);
}

/* The seconds that a query may take, reading included; 0: any. */
static long time_limit(const struct cli *c)
{
    const char *asked = cli_option(c, "timeout");
    char *end;
    if (strcmp(c->command.name, "query") != 0)
        return 0;
    if (!asked)
        return QUERY_SECONDS;
    errno = 0;
    long seconds = strtol(asked, &end, 10);
    return errno || *end || seconds < 0 || seconds > 1000000 ? 0 : seconds; /* others are refused */
}

static void say_drawn(const struct cli *c, const struct spaa_run_result *result)
{
    char *name = NULL;
    char left_out[64] = "";
    if (result->left_out)
        snprintf(left_out, sizeof left_out, "; %llu too narrow to be drawn",
                 (unsigned long long)result->left_out);
    if (*result->written && !cli_option(c, "quiet") && spaa_safe_text(result->written, 0, &name) == SPAA_OK)
        fprintf(stderr, "spaa: wrote %s (%llu frame%s%s); open it in a browser\n", name,
                (unsigned long long)result->frames, result->frames == 1 ? "" : "s", left_out);
    spaa_free(name);
}

static int run_with(struct cli *c, struct spaa_run_options *o)
{
    struct spaa_run_result result = {.size = sizeof result, .exit_code = EXIT_IO};
    struct progress bar;
    struct pager pager;
    struct spaa_watch watch;
    struct winsize w;
    struct spaa_diagnostic d = {.size = sizeof d};
    while (spaa_diagnostics_get(c->diags, c->before, &d) == SPAA_OK)
        c->before++;
    if (isatty(1))
        o->width = ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 100;
    o->colour = cli_takes_colour(1);
    o->temporary = cli_half_written;
    o->answering = answering;
    o->answering_arg = c;
    if (progress_begin(c, &bar, &watch)) {
        c->progress = &bar;
        o->watch = &watch;
    }
    c->deadline = deadline_start(c, time_limit(c));
    pager_want(&pager);
    c->pager = &pager;
    if (c->command.of_program)
        cli_run_program(c, o, &result);
    else
        spaa_run_fd(o, 1, &result, &c->diags);
    pager_end(&pager);
    c->pager = NULL;
    deadline_stop(c->deadline);
    progress_clear(c->progress);
    c->progress = NULL;
    c->told = c->before + result.told;
    say_drawn(c, &result);
    return result.exit_code;
}

/* `spaa help report`: a word of another tool, and no command; what it stands for is what to ask for. */
static int main_foreign_help(struct cli *c)
{
    struct cli asked = *c;
    char hint[80];
    int rc;
    if (strcmp(c->command.name, "help") != 0 || !c->nfiles || cli_find_command(&asked, c->files[0]))
        return EXIT_FINE;
    if (!cli_words_command(c, c->files[0], &rc))
        return rc;
    snprintf(hint, sizeof hint, "spaa help %s", c->command.name);
    return cli_usage(c, hint, "%s is another tool's word for %s", c->files[0], c->command.name);
}

static int run_command(struct cli *c)
{
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = c->command.name,
                                 .files = c->files,
                                 .file_count = c->nfiles,
                                 .has_split = c->has_split,
                                 .split = c->split,
                                 .options = c->options,
                                 .option_count = c->noptions};
    const char *asked = c->command.name;
    if (cli_option(c, "help")) {
        o = (struct spaa_run_options){.size = sizeof o, .command = "help", .files = &asked, .file_count = 1};
        cli_find_command(c, "help");
    } else if (strcmp(asked, "mcp") == 0) {
        return cmd_mcp(c);
    } else if (strcmp(asked, "config") == 0) {
        return cmd_config(c);
    } else if (strcmp(asked, "view") == 0) {
        return cmd_view(c);
    }
    return run_with(c, &o);
}

/* pprof is given the binary, too. */
static bool main_is_binary(const char *path)
{
    static const char *const magics[] = {"\177ELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe",
                                         "\xca\xfe\xba\xbe", "MZ\x90"}; /* MZ alone may begin a text */
    struct stat is;
    char head[4] = "";
    FILE *f = stat(path, &is) == 0 && S_ISREG(is.st_mode) ? fopen(path, "re") : NULL;
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    bool found = false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        found = found || (n == sizeof head && memcmp(head, magics[i], strlen(magics[i])) == 0);
    if (f)
        fclose(f);
    return found;
}

static int main_binaries(struct cli *c)
{
    const char *name = c->command.name;
    if (c->nfiles < 2 || strcmp(name, "symbols") == 0 || strcmp(name, "spt") == 0 ||
        !main_is_binary(c->files[0]))
        return EXIT_FINE;
    return cli_usage(c,
                     "leave it out: binaries are found by build-id and path, below --symfs DIR, or as `spaa "
                     "symbols add BINARY` kept them",
                     "%s is a binary, and files here are profiles", c->files[0]);
}

static int main_version(struct cli *c)
{
    char text[64];
    snprintf(text, sizeof text, "spaa %s\n", spaa_version());
    return cli_print(c, text);
}

static int main_run(struct cli *c, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0)
        return main_version(c);
    if (strcmp(word, "__complete") == 0)
        return cli_complete(c, argc - 2, argv + 2);
    int skip = 2;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        cli_find_command(c, "help");
    } else if (!cli_find_command(c, word)) {
        int rc;
        bool file = access(word, F_OK) == 0 || strcmp(word, "-") == 0;
        if (word[0] == '-' && word[1] && !cli_words_first(word))
            return option_first(c, word);
        if (word[0] != '-' && !file && !cli_words_command(c, word, &rc))
            return rc ? rc : unknown_command(c, word);
        if (file || word[0] == '-') {
            cli_find_command(c, "summary");
            skip = 1;
        }
    }
    bool config = strcmp(c->command.name, "config") == 0, help = strcmp(c->command.name, "help") == 0;
    int rc = cli_parse(c, argc > skip ? argc - skip : 0, argv + skip);
    rc = rc ? rc : main_binaries(c);
    rc = rc ? rc : main_foreign_help(c);
    if (rc)
        return rc;
    struct config settings = {0};
    help = help || cli_option(c, "help");
    if (!config && !help) /* the one reads them itself, the other is for whoever made a mistake in them */
        rc = config_read(c, &settings);
    if (!rc) {
        config_apply(c, &settings);
        if (!help)
            config_check_places(c, &settings);
        rc = run_command(c);
        if (rc)
            config_blame(c, &settings);
    }
    config_free(&settings);
    return rc;
}

static int main_sptdump(struct cli *c, int argc, char **argv)
{
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = "spt",
                                 .files = (const char *const *)argv + 1,
                                 .file_count = argc > 1 ? (size_t)argc - 1 : 0};
    cli_find_command(c, "spt");
    return run_with(c, &o);
}

int main(int argc, char **argv)
{
    bool dump = is_sptdump(argv[0]);
    struct cli c = {.program = dump ? "sptdump" : "spaa"};
    if (!dump)
        main_guess(&c, argc, argv);
    cli_signals();
    int rc = cli_finish(&c, dump ? main_sptdump(&c, argc, argv) : main_run(&c, argc, argv));
    cli_words_unmatched(&c);
    cli_free(&c);
    return rc;
}
