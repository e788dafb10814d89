/*
 * The command line: what its files share.
 *
 * main.c parses a command's arguments by the tables of commands.def and options.def into a struct cli
 * and calls the command, which opens its inputs with cli_open*, asks the analysis layer, and answers
 * through answer.h. Data goes to stdout, everything else to stderr.
 */
#ifndef SP_CLI_H
#define SP_CLI_H

#include "analysis/select.h"
#include "ask/options.h"
#include "base/diag.h"
#include "base/vec.h"
#include "formats/files.h"
#include "io/output.h"
#include "model/profile.h"

enum cli_exit { EXIT_FINE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_IO = 3, EXIT_BUG = 4, EXIT_UNSURE = 5 };

enum cli_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN };

struct cli;
struct sp_question;
struct cli_command {
    const char *name, *args;
    unsigned groups;
    const char *title, *examples;
    const struct sp_question *question; /* NULL: it answers by itself */
};

/* Those of questions.def, then those of commands.def; name NULL ends. */
const struct cli_command *cli_commands(void);

/* Keys of labels, owned. */
struct cli_label_keys {
    SP_VEC(const char *) list;
};

struct cli {
    const char *program; /* what it calls itself: "spaa", or "sptdump" */
    const struct cli_command *command;
    struct sp_options v;
    SP_VEC(const char *) files;
    bool has_split; /* G_DIFF: there was a `--`, after `split` files */
    size_t split;
    SP_VEC(struct sp_own_opt) own; /* options of formats */
    struct sp_diags diags;
    size_t said; /* of them, on standard error already */
    size_t told; /* of them, notes and warnings that the answer has told */
    enum cli_format format;
    unsigned needs_groups; /* enum sp_group bits that a command's own options need, set before too */
    bool no_lines;         /* likewise: no source lines are shown */
    bool no_ids;           /* set by a command before it opens its inputs: ids of stacks are not asked for */
    bool states_own;       /* what is written says what of a stack is its leaf's own (model/callees.h) */
    bool names_asked;   /* set by a command that adds names: an original without them is not what is wanted */
    bool needs_samples; /* set by a command before it opens its inputs: read with raw samples */
    unsigned
        needs_windows; /* likewise: with at most so many windows of time, where the input has what it takes */
    struct cli_label_keys grouping; /* of --group-by, once the inputs are read */
    struct cli_label_keys needed;   /* all that options name */
    struct sp_label_keys kept;      /* the same, lent to readers */
    bool regrouped;                 /* stacks were told apart by labels of samples */
    bool colour;                    /* for stdout */
    unsigned width;                 /* columns of the terminal, 0: not a terminal */
    struct sp_profile *profile;
    const struct spaa_format *input; /* of the (first) input */
    struct sp_formats formats;       /* of several inputs, all there are */
    const struct spaa_format *to;    /* what cli_rewrite writes */
    uint64_t input_bytes;
    struct sp_output *out; /* stdout, opened on first use */
};

/* options.c: fills c->command, values, files. EXIT_FINE or EXIT_USAGE (said on stderr). */
int cli_parse(struct cli *c, int argc, char **argv);
/* A whole number option within lo..hi, or otherwise when it was not given; false: said on stderr. */
bool cli_number(struct cli *c, const char *name, const char *value, long lo, long hi, long otherwise,
                long *out);
/* An option's value among names (NULL-terminated); false: said on stderr, with the nearest. */
bool cli_choice(struct cli *c, const char *name, const char *value, const char *const *names, int otherwise,
                int *out);
/* --sort: self, or total; older words for them are taken, too. False: said on stderr. */
bool cli_sort(struct cli *c, bool *by_total);
/* When a command hands an option of a format to it: SP_CAN_READ, SP_CAN_WRITE, both or neither. */
unsigned cli_own_when(const struct cli_command *command);

/* usage.c: one line on stderr, and in JSON form on stdout where that was asked for; returns EXIT_USAGE. */
int cli_usage(struct cli *c, const char *hint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "did you mean …" where some name is near; else "". */
void cli_nearest(const char *asked, const char *const *names, char *out, size_t n);

/* help.c */
void cli_help(const struct cli_command *command, struct sp_output *out); /* NULL: the overview */

/* open.c: the inputs as one profile into c->profile. An exit code; errors are in c->diags. */
int cli_open(struct cli *c);
int cli_open_default(struct cli *c); /* the same; without files ./perf.data where it is there */
/* One input with options of one's own (convert). */
spaa_status cli_read(struct cli *c, const char *path, const struct sp_read_opts *opts,
                     struct sp_profile **out);
/* All inputs as one, by how->read and how->merge. */
spaa_status cli_read_all(struct cli *c, const struct sp_files_opts *how);
bool cli_read_opts(struct cli *c, struct sp_read_opts *out);
/* Tells the stacks of c->profile apart by what the filters ask for, where its samples know that. */
spaa_status cli_regroup(struct cli *c);
/* labels.c: fills c->grouping, c->needed and c->kept; false: out of memory, reported. */
bool cli_label_keys(struct cli *c);
bool cli_needs_labels(const struct cli *c);
void cli_label_keys_free(struct cli_label_keys *k);
/* Tells the stacks of c->profile apart by the labels that are asked for, where only its samples have them. */
spaa_status cli_regroup_labels(struct cli *c);
/* --tagroot and --tagleaf: labels as frames of c->profile. */
spaa_status cli_tag_stacks(struct cli *c);
/* write.c: options for writing c->profile, by --event and --metric; and writing it to c->v.output. */
spaa_status cli_write_opts(struct cli *c, struct sp_write_opts *w);
spaa_status cli_write(struct cli *c, const struct spaa_format *f, const struct sp_write_opts *w);
/* The one input, changed, to the output that was named (standard output by default): an exit code. */
int cli_rewrite(struct cli *c, spaa_status (*change)(struct cli *c, const struct sp_read_opts *opts));
/* What of it is in the options; false: said on stderr. Texts are lent. */
bool cli_select_opts(struct cli *c, struct sp_select_opts *out);
/* The selection that the options ask for. */
spaa_status cli_select(struct cli *c, struct sp_selection *out);
/* Options of formats that neither the inputs nor `out` have are refused: EXIT_USAGE, else EXIT_FINE. */
int cli_check_own(struct cli *c, const struct spaa_format *out);
unsigned cli_jobs(const struct cli *c);

/* finish.c: exit code of a failed status */
int cli_exit_of(spaa_status st);
/* Says the diagnostics on stderr; in JSON form of a failed command writes the error object to stdout. */
int cli_finish(struct cli *c, int code);
/* Says on standard error what was reported so far, where a command takes long. */
void cli_say_so_far(struct cli *c);
/* stdout; never NULL after EXIT_FINE of cli_stdout. */
int cli_stdout(struct cli *c);

/* cmd_ask.c: c->command is of a question */
int cli_ask(struct cli *c);

#define SPAA_COMMAND(name, args, groups, title, examples) int sp_cmd_##name(struct cli *c);
#include "commands.def"
#undef SPAA_COMMAND

#endif
