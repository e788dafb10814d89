/*
 * What looks wrong in a selection: facts with their numbers, each where it passes its threshold.
 *
 * Kinds of functions are known by exact names and beginnings of names (findings.c). A finding of such a kind
 * weighs the rows with any such frame, each once, so findings overlap. docs/views.md says the thresholds;
 * the tests hold it to sp_finding_infos.
 */
#ifndef SP_FINDINGS_H
#define SP_FINDINGS_H

#include "analysis/own.h"
#include "analysis/quality.h"

enum sp_finding_kind {
    SP_FIND_UNRESOLVED, /* leaves without a symbol */
    SP_FIND_NO_STACK,
    SP_FIND_LOST,
    SP_FIND_TRUNCATED,
    SP_FIND_FEW,
    SP_FIND_IDLE,
    SP_FIND_WAIT,
    SP_FIND_LOCK,
    SP_FIND_ALLOC,
    SP_FIND_FAULT,
    SP_FIND_SYSCALL,
    SP_FIND_RECURSION,
    SP_FIND_IRQ,       /* charged to what allows interrupts again */
    SP_FIND_SATURATED, /* one thread was on a CPU nearly all the time */
    SP_FIND_DOMINANT,  /* one thread of several has nearly all weight */
    SP_FINDINGS
};

struct sp_finding_info {
    const char *id;
    unsigned percent; /* the threshold; of FEW: samples */
};
extern const struct sp_finding_info sp_finding_infos[SP_FINDINGS];

enum { SP_FINDING_CALLERS = 3 };

struct sp_finding {
    enum sp_finding_kind kind;
    int64_t weight;    /* of the rows it is about; SP_ABSENT where it is about counts */
    int64_t part, of;  /* the share it was judged by: weights, or counts of samples or stacks, or ns */
    uint32_t function; /* the heaviest of its kind, or SP_NONE */
    int64_t through;   /* the weight of the rows with this function */
    /*
     * The own function that most of it comes from: the nearest one that calls a function of the kind, or is
     * one. SP_NONE: there is none.
     */
    uint32_t from;
    int64_t from_weight;
    uint32_t context; /* one of the thread, or SP_NONE */
    uint32_t deepest; /* RECURSION: times in one stack */
    bool by_name;     /* RECURSION: shown by names alone */
    size_t count;     /* DOMINANT: threads in all */
    struct {
        uint32_t function; /* SP_NONE: there are no more */
        int64_t weight;
    } callers[SP_FINDING_CALLERS]; /* IRQ: whose time it is, heaviest first */
};

struct sp_findings {
    SP_VEC(struct sp_finding) list; /* in the order of the kinds */
};

spaa_status sp_findings_of(struct sp_selection *s, const struct sp_quality *q, const struct sp_own *own,
                           struct sp_diags *d, struct sp_findings *out);
void sp_findings_free(struct sp_findings *f);

#endif
