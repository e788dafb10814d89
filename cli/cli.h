/*
 * The program `spaa`: a user of include/spaa/run.h that has a command line and a terminal.
 *
 * main.c finds the command, options.c takes the arguments apart by what the library says the command takes,
 * spaa_run_fd does it, finish.c says what there is to say. Data goes to standard output, everything else to
 * standard error. upload and `spt match` are this program's own: inside.h.
 */
#ifndef SP_CLI_H
#define SP_CLI_H

#include <spaa/spaa.h>

#include <stdbool.h>

enum { CLI_SETTINGS = 64 }; /* options that settings may add (config.h) */
enum cli_exit { EXIT_FINE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_IO = 3 };

/* Whose words were typed (words.h). */
enum words_of { WORDS_NONE, WORDS_PERF, WORDS_PPROF, WORDS_TRACK };

struct cli {
    const char *program; /* what it calls itself: "spaa", or "sptdump" */
    struct spaa_command command;
    size_t number; /* of the command */
    /* As the command line has them, in arrays that have room for all of it. */
    struct spaa_ask_option *options;
    const char **files;
    size_t noptions, nfiles;
    char **made; /* values that were made of other tools' words */
    size_t nmade;
    enum words_of words_of;
    const char *words_percentage; /* perf's --percentage; NULL: not given */
    unsigned words_lists;         /* heaptrack_print's, as it was told: words.c */
    bool words_names;             /* pprof's -focus=, -ignore= or -hide= */
    const char *words_rows;       /* words chose rows by this: "name" of functions, or "binary" */
    bool has_split;               /* of two lists of files: there was a `--`, after `split` */
    size_t split;
    bool json;                      /* asked for: errors are answered, too */
    const char *colour;             /* as --color asks; NULL: it does not */
    bool answered;                  /* standard output has something */
    bool mistaken;                  /* it ends without an answer, for what was asked */
    struct spaa_diagnostics *diags; /* what is to be said */
    size_t said;                    /* of them, on standard error already */
    size_t replaced;                /* 1 + the one that a later one says better, with its place; 0: none */
    size_t before;                  /* of them, were there before the command ran */
    size_t told;                    /* those behind, up to this one: the answer has told notes and warnings */
    struct progress *progress;      /* NULL: none is shown */
    struct deadline *deadline;      /* NULL: none */
    struct pager *pager;            /* NULL: none */
};

/* options.c: fills options and files. EXIT_FINE, EXIT_USAGE or EXIT_IO. */
int cli_parse(struct cli *c, int argc, char **argv);

/* asked.c: the last value that was given for an option; NULL: none. "" for flags. */
const char *cli_option(const struct cli *c, const char *name);
/* Into c->command and c->number; false: there is none of this name. */
bool cli_find_command(struct cli *c, const char *name);
/* "did you mean …" among these names, with a blank behind, or "". */
void cli_nearest(const char *asked, const char *const *names, size_t n, char *out, size_t size);

/* finish.c: reports bad usage, hint NULL: none; returns EXIT_USAGE. */
int cli_usage(struct cli *c, const char *hint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Whether a descriptor is a terminal that shows colours, and nobody said that there shall be none. */
bool cli_takes_colour(int fd);
/* Text to standard output: an exit code, reported. */
int cli_print(struct cli *c, const char *text);
/* Says on standard error what of these diagnostics was not said yet. */
void cli_say(struct cli *c, const struct spaa_diagnostics *diags);
/* The end: answers an error in JSON where that was asked for, says everything. Returns the exit code. */
int cli_finish(struct cli *c, int code);
void cli_free(struct cli *c);

#endif
