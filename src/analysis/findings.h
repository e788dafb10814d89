/*
 * What looks wrong in a selection: facts with their numbers, each where it passes its threshold.
 *
 * findings.def declares them; functions are known by their names (finding_names.def). Findings of the data
 * and of who was busy stand first, then rules: what the program does, with a remedy, heaviest first. A rule
 * weighs the rows that it is about, each once, so rules overlap; one that lies nearly all beneath another
 * says so.
 */
#ifndef SP_FINDINGS_H
#define SP_FINDINGS_H

#include "analysis/own.h"
#include "analysis/quality.h"

enum sp_finding_kind {
#define SP_FINDING(kind, id, least, group, flags, title, remedy, confirm) SP_FIND_##kind,
#include "analysis/findings.def"
#undef SP_FINDING
    SP_FINDINGS
};

enum sp_finding_group { SP_FINDING_DATA, SP_FINDING_LOAD, SP_FINDING_RULE };
enum sp_finding_flag {
    SP_FINDING_BOUND = 1,
    SP_FINDING_COVERS = 2,
    SP_FINDING_CPU = 4,
    SP_FINDING_EXACT = 8
};

struct sp_finding_info {
    const char *id;
    unsigned percent; /* the threshold; of FEW: samples */
    enum sp_finding_group group;
    unsigned flags;
    const char *title, *remedy, *confirm; /* of rules; a finding may know better */
};
extern const struct sp_finding_info sp_finding_infos[SP_FINDINGS];

/* What of a class of functions it is: the parts that a finding is told by. */
enum sp_finding_part {
#define SP_PART(part, words) SP_PART_##part,
#include "analysis/finding_names.def"
#undef SP_PART
    SP_PARTS
};
extern const char *const sp_finding_part_words[SP_PARTS];

enum { SP_FINDING_CALLERS = 3, SP_FINDING_STEPS = 2, SP_FINDING_WHAT = 24 };

/* A line of source; n 0: it is not known. */
struct sp_finding_place {
    struct sp_str file;
    uint32_t line;
};

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
    size_t count;     /* DOMINANT: threads in all; DEBUG: functions that should be inlined */
    struct {
        uint32_t function; /* SP_NONE: there are no more */
        int64_t weight;
    } callers[SP_FINDING_CALLERS]; /* IRQ: whose time it is, heaviest first */

    /* ---- of rules ---- */

    const char *title, *remedy, *confirm; /* literals */
    char what[SP_FINDING_WHAT];           /* SYSCALL: which one; "" where several are meant */
    bool has_interval;
    double low, high;        /* Wilson's 95 % interval of the share, in percent */
    bool callers_missing;    /* so that it may come from elsewhere, too */
    bool at_least;           /* so that there may be more of it, too */
    bool weighs_work;        /* weights are time, cycles or instructions: less of them is faster */
    int64_t in_kernel;       /* of the weight, where the leaf is the kernel's */
    int64_t parts[SP_PARTS]; /* of the weight; they may overlap. MATCHING: beside it */
    /* The heaviest way to it: own functions, callers first, ends with SP_NONE; then what the last one calls.
     */
    uint32_t steps[SP_FINDING_STEPS], callee;
    int64_t way;                   /* the weight of that way */
    struct sp_finding_place place; /* where the last own function calls it */
    uint32_t apart;                /* REGEX, FORMAT: so often at least it began anew */
    bool repeats;                  /* the same: again and again, which is shown */
    uint32_t group;                /* which of the rule's hits it has; UINT32_MAX: all */
    uint32_t beneath;              /* 1 + number in the list of what it nearly all lies beneath; 0: nothing */
};

struct sp_findings {
    SP_VEC(struct sp_finding) list;
};

spaa_status sp_findings_of(struct sp_selection *s, const struct sp_quality *q, const struct sp_own *own,
                           struct sp_diags *d, struct sp_findings *out);
void sp_findings_free(struct sp_findings *f);

#endif
