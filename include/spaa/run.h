/*
 * Commands, whole: files and options in, an answer or a file out. What the command line does, a program, a
 * server or another language does by this; `spaa` itself is its first user.
 *
 *     const char *files[] = {"perf.data"};
 *     struct spaa_ask_option by = {"by", "dso"};
 *     struct spaa_run_options o = {.size = sizeof o, .command = "top", .files = files, .file_count = 1,
 *                                  .options = &by, .option_count = 1, .form = "json"};
 *     char *text;
 *     spaa_run_memory(&o, &text, NULL, NULL, NULL);
 *
 * Questions (spaa/ask.h) are commands, and so are convert, merge, symbolize, flamegraph, query, formats,
 * validate, dump: the tables below list them with their options.
 *
 * Threads: calls that run at the same time do not know of each other, unless they share profiles.
 */
#ifndef SPAA_RUN_H
#define SPAA_RUN_H

#include <spaa/ask.h>
#include <spaa/watch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what there is; these functions only read; strings are static ---- */

struct spaa_command {
    size_t size;
    const char *name, *args; /* "convert", "IN -o OUT" */
    const char *title;       /* what it does, in words */
    const char *examples;    /* lines of "command # what for" */
    const char *schema;      /* of the JSON of a question; NULL */
    int is_question;         /* spaa_ask answers it, too */
    int two_sides;           /* its files may be two lists: spaa_run_options.has_split */
    int writes;              /* it writes what the option `output` names, not an answer */
    int of_program;          /* only the program `spaa` does it: SPAA_ERR_UNSUPPORTED here */
};

struct spaa_command_option {
    size_t size;
    const char *name;   /* without dashes */
    char letter;        /* for the command line: 'n' of -n; 0 */
    const char *value;  /* what it takes, in words; NULL: it is a flag */
    const char *help;   /* one line */
    const char *group;  /* the heading it stands under: options come by heading */
    const char *format; /* of options of one format only: its name; NULL */
    int repeats;        /* it may be given several times, and each value counts */
    int common;         /* often needed: `spaa mcp` lists it among the arguments of a tool */
    int shared;         /* most commands take it: it is no option of this one's own */
};

SPAA_API size_t spaa_command_count(void);
/* SPAA_ERR_NOT_FOUND: there is no command i, or no option k of it. SPAA_ERR_USAGE: out is NULL or has no
 * size. */
SPAA_API spaa_status spaa_command_get(size_t i, struct spaa_command *out);
SPAA_API spaa_status spaa_command_option_get(size_t i, size_t k, struct spaa_command_option *out);

/*
 * "did you mean A or B?" where some of the names are near to what was asked for, else "": at most size - 1
 * bytes and a NUL. Returns how long it is in whole, as snprintf does; 0 where a pointer is NULL.
 */
SPAA_API size_t spaa_did_you_mean(const char *asked, const char *const *names, size_t count, char *text,
                                  size_t size);

/* ---- running ---- */

struct spaa_run_options {
    size_t size;
    const char *command;      /* "top", "convert" */
    const char *const *files; /* as on the command line: inputs, and what comes behind them (FUNCTION, SQL);
                                 "-" is standard input. None: perf.data in the working directory */
    size_t file_count;
    int has_split; /* of questions about two sides: the first `split` files are the base; of a flame graph of
                      two profiles, too: what the second one is compared with (split 1) */
    size_t split;
    /*
     * Instead of inputs among `files`, for questions, flamegraph and query. They stay the caller's; what they
     * have to be told apart by is done as spaa_ask does it, and options of reading change nothing.
     */
    struct spaa_profile *const *profiles;
    size_t profile_count;
    const struct spaa_ask_option
        *options; /* all that the command takes, those of reading and of formats too */
    size_t option_count;
    const char *form; /* of an answer: "table", "json", "csv", "markdown", where the options `format` and
                         `json` do not say it; NULL: "table" */
    unsigned width;   /* of text, in columns; 0: no terminal */
    int colour;       /* text may be coloured, where the option `color` does not say it */
    const struct spaa_watch *watch; /* NULL: nobody watches */
    /*
     * Called with the path of a file that has just come to be and would be left half-written if the program
     * ended now, and with NULL when there is none any more: one at a time, each for its moment with signals
     * of the calling thread blocked, so that a handler may remove it. NULL: not wanted.
     */
    void (*temporary)(void *arg, const char *path);
    void *temporary_arg;
    /* Called once, when everything has been read and computed that comes before the first byte of the
       answer. NULL: not wanted. */
    void (*answering)(void *arg);
    void *answering_arg;
    /*
     * Of each of `profiles`, what was said when it was opened, or NULL: the answer tells it, and the
     * diagnostics have it, as if the profile had been read now. NULL: for none.
     */
    const struct spaa_diagnostics *const *said;
    /*
     * Opens a source file for reading, whose path a profile or the option `source-path` names, and which need
     * not be there: a descriptor, which is closed by the callee, or -1 where there is none or it is not to be
     * shown. NULL: whatever the process may read. Files of debuginfod's servers and text that the profile
     * carries are not asked about.
     */
    int (*open_source)(void *arg, const char *path);
    void *open_source_arg;
};

/* How it went, beside the status. */
struct spaa_run_result {
    size_t size;
    int exit_code; /* what the command line ends with: 0 fine, 1 the answer is no, 2 usage, 3 input or output,
                      4 a bug, 5 the data cannot tell */
    size_t told; /* of the diagnostics of this call, how many of the first the answer has told already, where
                    it tells notes and warnings */
    uint64_t frames;    /* of a flame graph: those that are drawn */
    char written[4096]; /* of a flame graph: the file, also where the command chose its name; "": none */
    uint64_t left_out;  /* of a flame graph: frames too narrow or too deep to be drawn */
};

/*
 * Runs a command; its answer goes to the descriptor, which stays the caller's, and open (as
 * spaa_profile_write_fd says of pipes). A file that the option `output` names appears only when it is
 * complete; "-" there is the descriptor. SPAA_OK says that there is an answer: with an exit_code of 1 it is
 * no, with 5 the data cannot tell, with 3 it is of less than what was given, by the option `strict` or where
 * validate could not read a file. result may be NULL.
 */
SPAA_API spaa_status spaa_run_fd(const struct spaa_run_options *options, int fd,
                                 struct spaa_run_result *result, struct spaa_diagnostics **diagnostics);
/*
 * The same into memory: *text ends in a NUL that *size (may be NULL) does not count, and is the caller's, to
 * be given to spaa_free; SPAA_ERR_LIMIT beyond 2 GiB.
 */
SPAA_API spaa_status spaa_run_memory(const struct spaa_run_options *options, char **text, size_t *size,
                                     struct spaa_run_result *result, struct spaa_diagnostics **diagnostics);

#ifdef __cplusplus
}
#endif
#endif
