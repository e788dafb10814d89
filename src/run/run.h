/*
 * Commands, whole: what `spaa convert`, `spaa top` and the others do, for the command line, which is one
 * program among others, and for all who run them through include/spaa/run.h.
 *
 * A command gets its files and options as words in a struct sp_run, opens its inputs with sp_run_open or
 * those of its neighbours, and answers through run->out or writes what the option `output` names. It knows
 * of no terminal and of no process: what it has to say goes to run->diags.
 */
#ifndef SP_RUN_H
#define SP_RUN_H

#include "analysis/select.h"
#include "ask/options.h"
#include "ask/question.h"
#include "ask/usage.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/vec.h"
#include "formats/files.h"
#include "io/output.h"
#include "model/profile.h"
#include "render/answer_render.h"

/* What a command ends with: spaa_run_result.exit_code. */
enum sp_exit {
    SP_EXIT_FINE = 0,
    SP_EXIT_NO = 1,
    SP_EXIT_USAGE = 2,
    SP_EXIT_IO = 3,
    SP_EXIT_BUG = 4,
    SP_EXIT_UNSURE = 5
};

struct sp_run;
struct sp_command {
    const char *name, *args;
    uint64_t groups; /* of options (ask/options.h) */
    const char *title, *examples;
    const struct sp_question *question; /* NULL: it answers by itself */
    bool of_program;                    /* only the program `spaa` does it, not the library */
};

/* ---- what there is: commands.c ---- */

/* Command i: those of questions.def, then those of commands.def; false: there is none. */
bool sp_command_at(size_t i, struct sp_command *out);
bool sp_command_find(const char *name, struct sp_command *out);

/* An option that a command takes: one of options.def, or one of a format. */
struct sp_command_option {
    const char *name;
    char letter;       /* 0: none */
    const char *value; /* NULL: a flag */
    const char *help;
    const char *group;              /* its heading */
    bool shared;                    /* of a heading that most commands have: no option of this one's own */
    const struct sp_option *option; /* NULL: it is of `format` */
    const struct spaa_format *format;
};
/* Option k: by group, in the order of help, then the formats' own; false: there is none. */
bool sp_command_option(const struct sp_command *command, size_t k, struct sp_command_option *out);
bool sp_command_option_find(const struct sp_command *command, const char *name,
                            struct sp_command_option *out);

/* Keys of labels, owned. */
struct sp_run_keys {
    SP_VEC(const char *) list;
};

/* An input that is there already: a profile of the caller's. */
struct sp_run_given {
    struct sp_profile *p;
    const struct spaa_format *format;
    const char *name;
    bool *regrouped;                 /* its stacks were told apart anew, from its samples */
    const struct sp_options *opened; /* how, as a command says it */
    bool *spoiled;                   /* memory ran out while that was done: it cannot be asked any more */
};

struct sp_run {
    struct sp_command command;
    struct sp_options v;
    const char *argument;    /* of a question that takes one */
    struct sp_buf arguments; /* where that is of several words */
    SP_VEC(const char *) files;
    const struct sp_run_given *given; /* instead of files that are read; lent */
    size_t ngiven;
    bool has_split; /* G_DIFF: there are two lists, the second one after `split` files */
    size_t split;
    SP_VEC(struct sp_own_opt) own; /* options of formats */
    struct sp_diags *diags;
    spaa_status status; /* the first one that was no SPAA_OK: what the exit code comes from */
    size_t told;        /* of the diagnostics, notes and warnings that the answer has told */
    enum sp_answer_form form;
    bool shown_once; /* the answer is rendered, once, and then gone: rows need not be kept */
    unsigned width;  /* columns of text; 0: no terminal */
    bool colour;

    /* What a command sets before it opens its inputs. */
    struct sp_needs needs;
    bool states_own;  /* what is written says what of a stack is its leaf's own (model/callees.h) */
    bool names_asked; /* it adds names: an original without them is not what is wanted */

    struct sp_run_keys grouping;      /* labels of --group-by, once the inputs are read */
    struct sp_run_keys needed;        /* all that options name */
    struct sp_label_keys kept;        /* the same, lent to readers */
    bool regrouped, regrouped_groups; /* stacks were told apart anew, by what samples know: labels, others */
    struct sp_profile *profile;
    bool lent;                          /* profile is one of those given, or of the copies */
    SP_VEC(struct sp_profile *) copies; /* of those given, which are to stay as they are */
    const struct spaa_format *input;    /* of the (first) input */
    struct sp_formats formats;          /* of several inputs, all there are */
    const struct spaa_format *to;       /* what sp_run_rewrite writes */

    /* Where answers go: a descriptor, or memory (fd < 0). */
    int fd;
    struct sp_output *out; /* opened on first use: sp_run_stdout */
    void (*answering)(void *arg);
    void *answering_arg;
    void (*temporary)(void *arg, const char *path);
    void *temporary_arg;
    uint64_t frames;   /* drawn in a flame graph */
    uint64_t left_out; /* of it, too narrow or too deep */
    char *written;     /* the file it was written to; NULL: none; owned */
};

void sp_run_init(struct sp_run *run, struct sp_diags *d);
void sp_run_free(struct sp_run *run); /* but for its diagnostics */

/* ---- ending: finish.c ---- */

/* The exit code of a status, which is kept as what the command ends with. */
int sp_run_exit(struct sp_run *run, spaa_status st);
/* Bad usage, reported with a hint or NULL; SP_EXIT_USAGE. */
int sp_run_usage(struct sp_run *run, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Opens run->out; never NULL after SP_EXIT_FINE. */
int sp_run_stdout(struct sp_run *run);
/* The status of a command that ended with this code. SPAA_OK where there is an answer. */
spaa_status sp_run_status(const struct sp_run *run, int code);
/* Writes out what is in run->out, and looks at --strict: the exit code in the end. */
int sp_run_finish(struct sp_run *run, int code);

/* ---- output files: output.c ---- */

/* sp_output_open and sp_output_close of a file that was named, or of run->out for "-"; one at a time. */
spaa_status sp_run_output_open(struct sp_run *run, const char *path, struct sp_output **out);
void sp_run_output_close(struct sp_run *run, struct sp_output *out);

/* ---- inputs: open.c ---- */

/* The inputs as one profile into run->profile; without files ./perf.data where it is there. An exit code. */
int sp_run_open(struct sp_run *run);
/* One input with options of one's own (convert). */
spaa_status sp_run_read(struct sp_run *run, const char *path, const struct sp_read_opts *opts,
                        struct sp_profile **out);
/* All inputs as one, by how->read and how->merge. */
spaa_status sp_run_read_all(struct sp_run *run, const struct sp_files_opts *how);
/* SPAA_ERR_USAGE or SPAA_ERR_NOMEM, reported. Lent of the run. */
spaa_status sp_run_read_opts(struct sp_run *run, struct sp_read_opts *out);
/* What of it is in the options; false: reported. Texts are lent. */
bool sp_run_select_opts(struct sp_run *run, struct sp_select_opts *out);
/* The selection that the options ask for. */
spaa_status sp_run_select(struct sp_run *run, struct sp_selection *out);
/* Options of formats that neither the inputs nor `out` have are refused: SP_EXIT_USAGE, else SP_EXIT_FINE. */
int sp_run_check_own(struct sp_run *run, const struct spaa_format *out);
unsigned sp_run_jobs(const struct sp_run *run);

/* ---- profiles as they are needed: ready.c ---- */

unsigned sp_run_needed_groups(const struct sp_run *run); /* enum sp_group: by the question and its filters */
/* Tells the stacks of run->profile apart by what the filters ask for, where its samples know that. */
spaa_status sp_run_regroup(struct sp_run *run);
/* The options ask for all that threads did, on the CPU and off it: the event of model/wall.h. */
bool sp_run_wants_wall(const struct sp_run *run);
/* Makes it of run->profile where they do; sp_run_regroup does this too. */
spaa_status sp_run_add_wall(struct sp_run *run);
/* Commands that the answer names are to read as the given profiles were read. */
void sp_run_as_opened(struct sp_run *run);
/* Profile i of those given (the only one for any i), ready to be asked; lent. */
spaa_status sp_run_take(struct sp_run *run, size_t i, struct sp_profile **out);
/* Profiles as one, which are then as they were. The result is divided by what leaves have, and the caller's.
 */
spaa_status sp_run_join(const struct sp_run_given *given, size_t n, const struct sp_merge_opts *how,
                        struct sp_diags *d, struct sp_profile **out);

/* ---- labels.c ---- */

/* Fills run->grouping, run->needed and run->kept; false: out of memory, reported. */
bool sp_run_label_keys(struct sp_run *run);
bool sp_run_needs_labels(const struct sp_run *run);
void sp_run_label_keys_free(struct sp_run_keys *k);
/* Tells the stacks of run->profile apart by the labels that are asked for, where only its samples have them.
 */
spaa_status sp_run_regroup_labels(struct sp_run *run);
/* --tagroot and --tagleaf: labels as frames of run->profile. */
spaa_status sp_run_tag_stacks(struct sp_run *run);

/* ---- write.c ---- */

/* Options for writing run->profile, by --event and --metric; and writing it to run->v.output. */
spaa_status sp_run_write_opts(struct sp_run *run, struct sp_write_opts *w);
spaa_status sp_run_write(struct sp_run *run, const struct spaa_format *f, const struct sp_write_opts *w);
/* The one input, changed, to the output that was named (run->out by default): an exit code. */
int sp_run_rewrite(struct sp_run *run,
                   spaa_status (*change)(struct sp_run *run, const struct sp_read_opts *opts));

/* ---- running ---- */

/* A question, asked: question.c. */
struct sp_run_asked {
    struct sp_ask q;
    SP_VEC(struct sp_profile *) each; /* inputs that are a profile each */
};
/*
 * run->command is of a question: asks it. An exit code; what was asked is to be freed, whatever it is, when
 * the answer, for which sp_answer_init was done, is not looked at any more.
 */
int sp_run_question(struct sp_run *run, struct sp_run_asked *out, struct sp_answer *answer);
void sp_run_question_free(struct sp_run *run, struct sp_run_asked *x);
/* The same, and shows the answer. */
int sp_run_ask(struct sp_run *run);

#define SPAA_COMMAND(name, args, groups, title, examples) int sp_cmd_##name(struct sp_run *run);
#define SPAA_PROGRAM(name, args, groups, title, examples)
#include "run/commands.def"
#undef SPAA_COMMAND
#undef SPAA_PROGRAM

/* dispatch.c: does what run->command says, to its end: an exit code. */
int sp_run_command(struct sp_run *run);

#endif
