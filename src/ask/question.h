/*
 * A question: one file that takes a profile and options, and fills an answer. It prints nothing and knows of
 * no output form. Registered by one line in questions.def, it is a command with its help (run/question.c), a
 * table of SQL (sql/questions.c), a page of docs/json.md, and spaa_ask of the library.
 */
#ifndef SP_QUESTION_H
#define SP_QUESTION_H

#include "analysis/select.h"
#include "answer/answer.h"
#include "ask/options.h"
#include "model/profile.h"

/* What must be known of the inputs before they are read. */
struct sp_needs {
    unsigned groups;  /* enum sp_group: what stacks are told apart by */
    bool samples;     /* raw samples are kept */
    bool times;       /* the same, of one input alone: who asks can do without */
    unsigned windows; /* at most so many windows of time */
    bool windows_do;  /* where the input has these, samples are not needed */
    bool fields;      /* rows are of what tells the samples of a tracepoint apart (analysis/event_fields.h) */
    bool no_ids;      /* ids of stacks are not asked for */
    bool no_lines;    /* source lines are not shown, nor what follows from them */
};

struct spaa_format;
struct sp_idle_places;

struct sp_ask {
    const struct sp_question *question;
    const struct sp_options *options;
    struct sp_diags *diags;
    struct sp_profile *const *profiles; /* sp_callees_split was done; questions of two sides: base first */
    size_t nprofiles, split;            /* split: how many are the base; 0: no sides */
    const char *const *names;           /* of the inputs as they were named; of sides, one for each profile */
    size_t nnames;
    const char *argument; /* FUNCTION of `spaa function FILE FUNCTION`; NULL: none */
    /*
     * A question of sides, or of several inputs apart, reads them one by one, with options of its own for
     * each, so that never all are in memory: input i, which is then the question's. NULL: profiles has them.
     */
    spaa_status (*open)(void *arg, size_t i, const struct sp_options *o, struct sp_profile **out);
    void *open_arg;
    /* Another profile, beside the question's: of the path that an option names. NULL: nobody can. */
    spaa_status (*open_base)(void *arg, const char *path, struct sp_profile **out);
    void *open_base_arg;
    struct sp_idle_places *waits; /* of sides: idle places that count as waits; NULL: not asked for */
    bool brief;                   /* only for people: facts that no title shows may be left out */
    bool sheet;                   /* only for CSV: all columns, no facts */
    bool once; /* it is shown once, as JSON or CSV: tables may have rows that are walked (answer/answer.h) */
    const struct spaa_format *format; /* that the first input was read as; NULL: not known */
};

struct sp_question {
    const char *name;     /* "top" */
    const char *args;     /* "FILE…", for help */
    uint64_t groups;      /* of options it takes (ask/options.h), beside those that all have */
    const char *title;    /* what it answers */
    const char *examples; /* lines of "command # what for", each runs */
    bool argument;        /* the last word is none of the inputs, but q->argument */
    /* Words in front of the last one that are of the argument too, joined by blanks; NULL: none is. */
    bool (*is_argument)(const char *word);
    bool sides;        /* it compares BASE… with NEW… */
    size_t json_bytes; /* what JSON may take where nobody says how many rows; 0: any */
    size_t text_bytes; /* what text may take, likewise */
    bool apart;        /* several inputs are a profile each, not one */
    const char
        *writes;      /* -o: ask() changes the profile, which is written there in this format; NULL: no -o */
    bool all_metrics; /* it is of other metrics of records beside the selection's */
    bool draws; /* -o: a picture, which run/sched.c draws; beside `writes` one of an .svg, run/curve.c */
    const char *schema; /* "spaa.top/3" */
    const struct sp_answer_column
        *facts; /* beside the common ones (ask/common.h), name NULL ends; NULL: none */
    const struct sp_table_decl *const
        *tables; /* NULL ends: all that an answer may have; the first is SQL's */
    spaa_status (*needs)(const struct sp_options *o, struct sp_diags *d,
                         struct sp_needs *out); /* NULL: nothing */
    /* Errors are reported; usage errors too, with the hint (SPAA_ERR_USAGE). */
    spaa_status (*ask)(struct sp_ask *q, struct sp_answer *out);
};

extern const struct sp_question *const sp_questions[];        /* NULL ends */
const struct sp_question *sp_question_find(const char *name); /* NULL: there is none */

/* Asks, and makes the next commands. sp_answer_init was done; what is there after an error is to be freed
 * too. */
spaa_status sp_ask(struct sp_ask *q, struct sp_answer *out);

#endif
