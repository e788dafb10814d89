/* summary, in parts: what it gathers, its tables for programs, and the brief for people. */
#ifndef SP_SUMMARY_H
#define SP_SUMMARY_H

#include "analysis/findings.h"
#include "analysis/own_calls.h"
#include "analysis/top.h"
#include "ask/common.h"
#include "ask/findings_words.h"
#include "ask/summary_hang.h"
#include "ask/summary_memory.h"

/* Rows that a table has at most. */
enum {
    SP_SUMMARY_HOT = 5,
    SP_SUMMARY_NAMED = 16,
    SP_SUMMARY_FINDINGS = 8,
    SP_SUMMARY_SHARES = 5,
    SP_SUMMARY_CALLEES = 3
};

/* What changes what may be concluded, or what cannot be known at all. Texts are the answer's. */
struct sp_caution {
    const char *id;        /* "callers_unreliable" */
    const char *title;     /* "CALLERS UNRELIABLE"; NULL: it is something that cannot be known */
    const char *statement; /* with figures */
    const char *settle;    /* what would settle it; NULL: nothing that is known */
};

/* Processes of one name; n 0: what it is called is not known. */
struct sp_recorded {
    struct sp_str name;
    int64_t pid; /* of the first; SP_ABSENT: not known */
    size_t n;
    int64_t weight;
    bool is_command; /* it is called as what was started */
};

/* Time off the CPU of what is asked about, in all its threads; texts are the answer's, NULL: nothing to say.
 */
struct sp_summary_waits {
    bool known;
    int64_t runnable, blocked, idle; /* ns; idle is not in blocked */
    int64_t maybe_idle, unseen;      /* in none of these */
    int64_t unknown;                 /* running or waiting: not recorded which */
    const char *reasons, *most;
};

struct sp_summary {
    struct sp_asked x;
    struct sp_summary_waits waits;
    struct sp_quality quality;
    struct sp_top threads, dsos, processes;
    struct sp_findings findings;
    struct sp_own_fold fold;
    struct sp_own_calls calls;
    struct sp_said_names names;          /* of the functions that words are about */
    uint32_t hottest;                    /* function to ask about, or SP_NONE */
    struct sp_str program;               /* the base name of what was to be measured; n 0: not known */
    struct sp_str command;               /* the program and its arguments; n 0: not known */
    bool driver;                         /* the command was a shell, a build: it runs what is measured */
    SP_VEC(struct sp_recorded) recorded; /* processes by name, heaviest first */
    struct sp_summary_memory memory;
    struct sp_summary_hang hang;
    const char *fields, *counted; /* what its events were, and what they are called; NULL: no fields tell */
    const char *noun;             /* what shares are of: "CPU", "allocated bytes" */
    bool all_cpus;                /* recorded of all CPUs, whatever was started */
    bool cpu;                     /* the weight is time or cycles of CPUs, or samples of running threads */
    SP_VEC(struct sp_caution) cautions;
};

extern const struct sp_answer_column sp_summary_facts[]; /* name NULL ends */
extern const struct sp_table_decl *const sp_summary_tables[];

/* All but the tables; the selection was made. Free whatever it returned. */
spaa_status sp_summary_gather(struct sp_summary *x);
void sp_summary_free(struct sp_summary *x); /* the selection, too */

/* summary_recorded.c: the program, its command, the processes. */
void sp_summary_recorded(struct sp_summary *x);

/* summary_command.c: the same, of the command line of `perf record`. */
typedef bool sp_was_recorded_fn(const struct sp_summary *x, const void *arg, struct sp_str base);
void sp_summary_command(struct sp_summary *x, struct sp_str rest, sp_was_recorded_fn *recorded,
                        const void *arg);

/* summary_head.c: what is measured, and the answer in one line. */
void sp_summary_measure(struct sp_summary *x); /* noun, cpu */
void sp_summary_head_text(struct sp_buf *b, struct sp_summary *x);

/* summary_cautions.c: x->cautions. */
spaa_status sp_summary_cautions(struct sp_summary *x);
/* summary_data.c: most of what has no name is just-in-time code, which no file of symbols names. */
bool sp_summary_lacks_jit_names(const struct sp_summary *x);

/* summary_names.c: a function as the brief calls it, and its file and line: "srv.cpp:23". */
void sp_summary_name(struct sp_buf *b, const struct sp_summary *x, uint32_t function);
void sp_summary_place(struct sp_buf *b, const struct sp_summary *x, uint32_t function);

/* Whether the brief has the own functions: of a hang report where they are what took the time. */
static inline bool sp_summary_shows_own(const struct sp_summary *x)
{
    return !x->hang.known ||
           (x->hang.own_rows && (x->hang.verdict == SP_HANG_RAN || x->hang.verdict == SP_HANG_UNKNOWN));
}

/* summary_own.c: own functions as a call tree, at most `rows` of them, line by line to `take`. */
void sp_summary_own_lines(const struct sp_summary *x, size_t rows,
                          void (*take)(void *arg, enum sp_line_style style, const struct sp_buf *line),
                          void *arg);

/* summary_brief.c: all of it for people, within its budget. */
spaa_status sp_summary_brief(struct sp_summary *x);

/* summary_waits.c: x->waits, of an event that measures time off the CPU, whichever event is asked about. */
spaa_status sp_summary_waits(struct sp_summary *x);

/* summary_fields.c: x->fields and x->counted. */
spaa_status sp_summary_fields(struct sp_summary *x);

/* summary_tables.c: all of it for programs. */
void sp_summary_put(struct sp_summary *x);

/* The next diagnostic of something missing from the input from i on, the first of its code; NULL: there is
 * none. */
const struct sp_diag *sp_summary_missing(const struct sp_summary *x, size_t *i);
bool sp_summary_is_irq(const struct sp_summary *x, uint32_t function);

#endif
