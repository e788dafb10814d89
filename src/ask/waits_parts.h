/* The parts of the question waits: see waits.c. */
#ifndef SP_WAITS_PARTS_H
#define SP_WAITS_PARTS_H

#include "analysis/off_cpu_accounts.h"
#include "analysis/wait_reason.h"
#include "ask/common.h"
#include "model/intervals.h"

/* What reports say that name what threads waited for. */
spaa_status sp_waits_reported(struct sp_ask *q, struct sp_answer *out);
extern const struct sp_table_decl sp_waits_rows, sp_waits_waiters, sp_waits_waits, sp_waits_chains,
    sp_waits_steps, sp_waits_held;

/* Samples with states of threads, and without threads. */
bool sp_waits_only_states(const struct sp_profile *p);
spaa_status sp_waits_by_state(struct sp_ask *q, struct sp_answer *out);
extern const struct sp_table_decl sp_waits_states, sp_waits_state_stacks;

/* Time off the CPU, as weights of stacks; of recordings of the scheduler as intervals, too. */
spaa_status sp_waits_off_cpu(struct sp_ask *q, struct sp_answer *out);
extern const struct sp_table_decl sp_waits_threads, sp_waits_reasons, sp_waits_places;

/* What waits_off_cpu.c has found, for its tables (waits_off_cpu_tables.c) and words (waits_off_cpu_words.c).
 */
/* A budget of so many bytes has room for one table, and for little that is not known. */
enum { SP_WAITS_LITTLE = 1300 };

struct sp_waits_asked {
    struct sp_asked *a;
    const struct sp_off_cpu_accounts *acc;
    const struct sp_wait_reasons *why;
    bool idle;    /* --idle */
    bool holders; /* stacks are of who held others up, not of who waited */
    size_t limit;
    size_t bytes;           /* what --budget leaves; SIZE_MAX: any */
    unsigned char *stalled; /* per acc->who, of answers for people: it is of a process that stood still */
    bool stalls;            /* there were some */
};
spaa_status sp_waits_put_tables(const struct sp_waits_asked *x);
void sp_waits_facts(const struct sp_waits_asked *x);
void sp_waits_head(const struct sp_waits_asked *x);    /* the answer in one line */
void sp_waits_unknown(const struct sp_waits_asked *x); /* what cannot be known, and what settles it */
/* Of their running time so much is not known that "≥" does not say enough. */
bool sp_waits_much_unknown(const struct sp_off_cpu_accounts *c);
const char *sp_waits_unknown_words(const struct sp_off_cpu_accounts *c);
/* Threads of the answer run goroutines, and wait where none can run. */
bool sp_waits_has_goroutines(const struct sp_asked *a);
/* "160 ms", "1.02 s", "≥ 34 us" of at_least; nanoseconds with three digits. */
void sp_waits_duration(struct sp_buf *b, int64_t ns, bool at_least);

/* Whether stacks are of who waited or of who held others up, where that is not plain. */
void sp_waits_put_whose(const struct sp_profile *p, uint32_t event, struct sp_answer *out);

/* Where many threads stood still at once: lines and tables, after the heading of waits_off_cpu.c. */
struct sp_waits_stalled_process {
    int64_t pid;
    uint32_t comm; /* a text of the profile */
    bool by_name;  /* all of this name: it is not told by its pid alone */
};
struct sp_waits_stalled { /* processes of which threads stood still; may have some twice */
    SP_VEC(struct sp_waits_stalled_process) v;
};
/* Free *out in any case. */
spaa_status sp_waits_stalls(struct sp_asked *a, const struct sp_intervals *v,
                            const struct sp_wait_reasons *why, struct sp_waits_stalled *out);
extern const struct sp_table_decl sp_waits_stall_sets, sp_waits_stall_episodes, sp_waits_stall_takers,
    sp_waits_stall_holds, sp_waits_stall_candidates, sp_waits_stall_links, sp_waits_stall_path,
    sp_waits_wakes;
#define SP_WAITS_STALL_TABLES                                                                                \
    &sp_waits_stall_sets, &sp_waits_stall_episodes, &sp_waits_stall_takers, &sp_waits_stall_holds,           \
        &sp_waits_stall_candidates, &sp_waits_stall_links, &sp_waits_stall_path, &sp_waits_wakes

#endif
