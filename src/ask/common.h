/*
 * What the answers of most questions share: the selection that the options ask for, the facts of it,
 * functions and threads as columns, and the quality of the data.
 *
 *     struct sp_asked x;
 *     spaa_status st = sp_asked_begin(q, out, &x);   selects; facts and the heading
 *     …                                              tables
 *     if (!st)
 *         st = sp_asked_end(&x);                     quality
 *     sp_asked_free(&x);                             whatever it returned
 */
#ifndef SP_COMMON_H
#define SP_COMMON_H

#include "analysis/full_name.h"
#include "analysis/function_handle.h"
#include "analysis/own.h"
#include "analysis/quality.h"
#include "answer/words.h"
#include "ask/question.h"
#include "ask/selection_words.h"
#include "ask/usage.h"

struct sp_asked {
    struct sp_ask *q;
    struct sp_answer *out;
    struct sp_selection s; /* of q->profiles[0] */
    uint32_t measure;      /* that of s, 0 */
    struct sp_handles handles;
    struct sp_full_names names;
    struct sp_own own;
    struct sp_buf b; /* scratch */
    bool selected, has_handles, has_names, has_own;
};

/* The options' selection; false: reported. Texts are lent. */
bool sp_ask_select_opts(const struct sp_ask *q, struct sp_select_opts *out);
spaa_status sp_ask_select(const struct sp_ask *q, const struct sp_select_opts *how, struct sp_selection *out);
/* Nothing that was asked for names a view or states: of time off the CPU, waits for work are not in it. */
bool sp_ask_leaves_idle_out(const struct sp_ask *q, const struct sp_select_opts *how);

/* Selects, takes handles, and says what the selection is. how NULL: as the options say. */
spaa_status sp_asked_begin(struct sp_ask *q, struct sp_answer *out, struct sp_asked *x);
spaa_status sp_asked_begin_with(struct sp_ask *q, const struct sp_select_opts *how, struct sp_answer *out,
                                struct sp_asked *x);
/* The parts of it, for answers that have another heading. */
spaa_status sp_asked_select(struct sp_ask *q, const struct sp_select_opts *how, struct sp_answer *out,
                            struct sp_asked *x);
spaa_status sp_asked_begin_selected(struct sp_asked *x); /* what begin does after it */
void sp_asked_facts(struct sp_asked *x);                 /* profile, whole, kept */
void sp_asked_heading(struct sp_asked *x);
spaa_status sp_asked_own(struct sp_asked *x); /* x->own, made once */
spaa_status sp_asked_end(struct sp_asked *x); /* quality */
/* "2 samples lost by the profiler, 1 stack cut off": what there is of it; nothing where all is there. */
void sp_losses_text(struct sp_buf *b, const struct sp_quality *q);
/* Of x->s, where only parts are set. */
void sp_quality_facts(struct sp_asked *x, const struct sp_quality *q);
/* People who do not ask for rows (--limit) get none where all would be of no weight. */
size_t sp_asked_limit(const struct sp_asked *x, size_t limit);
void sp_asked_free(struct sp_asked *x);

/* What a selection's weights and shares are of. */
struct sp_measure sp_measure_of(const struct sp_selection *s);
/* A weight and its share as people read them: "1.5 s (12.00%)"; "- (-%)" where values must not be added. */
void sp_text_weight_of(struct sp_buf *b, const struct sp_selection *s, int64_t v);
void sp_text_share_of(struct sp_buf *b, const struct sp_selection *s, int64_t v); /* "12.00", "-" */

/* Samples of a weight are to those of the whole as it is to the whole: they say nothing that its share does
 * not. */
bool sp_samples_follow(const struct sp_selection *s, int64_t weight, int64_t samples);

/* Samples are events of the scheduler: who waited how long is for the question waits. */
bool sp_is_scheduler(const struct sp_selection *s);
/* The weight is time off the CPU (model/off_cpu.h), whichever event measured it. */
bool sp_is_off_cpu(const struct sp_selection *s);

/* Rows to show: --limit, else `otherwise`; SIZE_MAX: all. False: reported. */
bool sp_ask_limit(const struct sp_ask *q, size_t otherwise, size_t *out);

/*
 * The columns of a function, from number `at` of a declaration on: sp_put_function fills them. title,
 * dso_title: headings for people, NULL: they are not shown. more: flags of all of them.
 */
enum {
    SP_FUNCTION_ID,
    SP_FUNCTION_NAME,
    SP_FUNCTION_MARKS, /* for people: what is said right behind the name, " [inlined]"; the question's */
    SP_FUNCTION_DSO,
    SP_FUNCTION_BUILD, /* for people: which build, where there are several of the name */
    SP_FUNCTION_BUILD_ID,
    SP_FUNCTION_OWN,
    SP_FUNCTION_OWN_BY,
    SP_FUNCTION_NCOLUMNS
};
#define SP_FUNCTION_COLUMNS_OF(at, title, dso_title, more)                                                   \
    [(at) +                                                                                                  \
        SP_FUNCTION_ID] = {"id", SP_COL_HANDLE, (const char *)(title) ? "id" : NULL,                         \
                           .flags = SP_COL_CSV | (more),                                                     \
                           .doc = "what other commands take for it: f: and digits of a hash"},               \
        [(at) + SP_FUNCTION_NAME] = {"function", SP_COL_NAME, title, .flags = SP_COL_FLEXIBLE | (more),      \
                                     .doc = "the whole name"},                                               \
        [(at) + SP_FUNCTION_MARKS] = {"marks", SP_COL_TEXT, title,                                           \
                                      .flags = SP_COL_SUFFIX | SP_COL_NO_JSON | SP_COL_CSV,                  \
                                      .doc = "what is said of it behind its name"},                          \
        [(at) + SP_FUNCTION_DSO] = {"dso", SP_COL_DSO, dso_title, .flags = SP_COL_FLEXIBLE | (more),         \
                                    .doc = "the binary it is in"},                                           \
        [(at) + SP_FUNCTION_BUILD] = {"build", SP_COL_TEXT, dso_title,                                       \
                                      .flags = SP_COL_SUFFIX | SP_COL_NO_JSON,                               \
                                      .doc = "which build of the binary"},                                   \
        [(at) +                                                                                              \
            SP_FUNCTION_BUILD_ID] = {"build_id", SP_COL_TEXT, .flags = SP_COL_OPTIONAL | SP_COL_CSV,         \
                                     .doc = "of its binary, where the profile has another of that name"},    \
        [(at) + SP_FUNCTION_OWN] = {"own", SP_COL_BOOL, .flags = (more),                                     \
                                    .doc = "it is the program's own, of no library"},                        \
        [(at) +                                                                                              \
            SP_FUNCTION_OWN_BY] = {"own_by", SP_COL_TEXT, .flags = (more),                                   \
                                   .doc = "why: declaration, namespace, binary, option; null: all are own"}
#define SP_FUNCTION_COLUMNS(at, title, dso_title) SP_FUNCTION_COLUMNS_OF(at, title, dso_title, 0)
/* In the last row; SP_NONE: it is none, all stay null. */
void sp_put_function(struct sp_asked *x, struct sp_answer_table *t, size_t at, uint32_t function);
#define SP_FUNCTION_FACTS(name)                                                                              \
    {name ".id", SP_COL_HANDLE, .doc = "handle of the function, of the first of several"},                   \
        {name ".function", SP_COL_NAME, .doc = "its name"},                                                  \
        {name ".dso", SP_COL_DSO, .doc = "the binary it is in"},                                             \
        {name ".build_id", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,                                           \
         .doc = "of its binary, where the profile has another of that name"},                                \
        {name ".own", SP_COL_BOOL, .doc = "it is the program's own, of no library"},                         \
    {                                                                                                        \
        name ".own_by", SP_COL_TEXT, .doc = "why: declaration, namespace, binary, option; null: all are own" \
    }
/* The members of one function as facts "NAME.id", "NAME.function", … */
void sp_fact_function(struct sp_asked *x, const char *name, uint32_t function);
/* DSO, its build and its build-id, in these columns; SP_NONE: null. */
void sp_put_dso(struct sp_asked *x, struct sp_answer_table *t, size_t dso, size_t build, size_t build_id,
                uint32_t number);

/* The columns of a pool of threads: null where a row is none. */
#define SP_POOL_COLUMNS_OF(at, more)                                                                         \
    [at] = {"pool", SP_COL_TEXT, .flags = (more),                                                            \
            .doc = "the pattern of a pool's names; null: the row is no pool"},                               \
    [(at) + 1] = {"threads", SP_COL_COUNT, .flags = (more), .doc = "how many threads the pool has"}
#define SP_POOL_COLUMNS(at) SP_POOL_COLUMNS_OF(at, 0)
void sp_put_pool(struct sp_asked *x, struct sp_answer_table *t, size_t at, const struct sp_pool *pool);

/* The columns of where a source line is, for programs: null where it is not known (analysis/places.h). */
#define SP_SOURCE_COLUMNS_OF(at, more)                                                                       \
    [at] = {"path", SP_COL_TEXT, .flags = (more), .doc = "of lines: the file, absolute; null: not known"},   \
    [(at) + 1] = {"comp_dir", SP_COL_TEXT, .flags = (more),                                                  \
                  .doc = "of lines: the directory that the compiler ran in; null: not known"}
struct sp_source_place;
void sp_put_source(struct sp_asked *x, struct sp_answer_table *t, size_t at,
                   const struct sp_source_place *place);

void sp_put_str(struct sp_answer *a, struct sp_answer_table *t, size_t column,
                struct sp_str s); /* n 0: null */
void sp_put_buf(struct sp_answer *a, struct sp_answer_table *t, size_t column,
                struct sp_buf *b);                                        /* clears it */
void sp_fact_str(struct sp_answer *a, const char *name, struct sp_str s); /* n 0: null */
struct sp_str sp_dso_name(const struct sp_profile *p, uint32_t dso);      /* "" of SP_NONE */

/* Facts and tables that sp_asked_begin and _end add, for docs and tests. */
extern const struct sp_answer_column sp_common_facts[]; /* name NULL ends */
/* A line of a declaration of facts, where there are many. */
#define FACT(path, kind, words)                                                                              \
    {                                                                                                        \
        path, kind, .doc = words                                                                             \
    }
/* The same of a fact that only some answers have. */
#define SOMETIMES(path, kind, words)                                                                         \
    {                                                                                                        \
        path, kind, .flags = SP_COL_SOMETIMES, .doc = words                                                  \
    }
extern const struct sp_table_decl *const sp_common_tables[];

#endif
