/*
 * spaa __complete N WORD…: what word N of a command line could be, for the shells (completions/), which ask
 * whenever somebody types a tab. WORDs stand behind the program's name, without quotes.
 *
 * The answer is a line "files", "dirs" or "none": what else to offer where nothing below fits; and a line
 * "WORD<tab>what it is" for each that begins as word N does. Commands, options and their values come from the
 * tables of the library; events, threads, functions, … from the file that the line names, if that takes no
 * longer than COMPLETE_MS: after that the program ends with what complete_in_time was told, or without an
 * answer, which is as good as "files".
 * Nothing is said on standard error, and the exit code is 0.
 */
#ifndef SP_CLI_COMPLETE_H
#define SP_CLI_COMPLETE_H

#include "cli.h"

#include <stddef.h>

enum { COMPLETE_MS = 100, COMPLETE_MS_MAX = 60000 };

int cli_complete(struct cli *c, int argc, char **argv);

/* The line, taken apart into the command's options and files, and what is asked for. */
struct complete {
    struct cli *c;
    const char *word;                  /* what is there of it: of --option=A,B, "B" */
    size_t before;                     /* so much of the whole word stands before it */
    size_t listed;                     /* so much before it are values of the same list, with commas */
    struct spaa_command_option option; /* that it is a value of; name NULL: none */
    char *text;                        /* the answer; malloced */
    size_t n, room, offered;
};

/* ---- complete_time.c ---- */

/* From here to complete_stop_clock the process may end, after COMPLETE_MS. */
void complete_start_clock(void);
void complete_stop_clock(void);
/* What was offered so far is the answer if time ends before the whole one. */
void complete_in_time(const struct complete *x);

/* ---- complete_offer.c ---- */

/* A candidate, if it begins as the word does; title NULL: none. */
void complete_offer(struct complete *x, const char *candidate, const char *title);
/* From here on it is another of several values: what stands before the last comma stays as it is. */
void complete_after_comma(struct complete *x);

/* ---- complete_values.c; each returns what else to offer ---- */

/* Values of x->option. */
const char *complete_option(struct complete *x);
/* What may stand behind the command that is no option. */
const char *complete_argument(struct complete *x);

/* ---- complete_profile.c: what the file on the line has, by a name in words of options.def ---- */
void complete_profile(struct complete *x, const char *kind);

#endif
