/*
 * How findings are made: all rows are walked once, and each rule that is about a row takes a hit of it
 * (finding_rule.hit); from its hits it tells its findings (finding_rule.tell).
 *
 * To add a rule: a line in findings.def; its names, if it has any, in finding_names.def; a file with a struct
 * finding_rule, and its line in finding_rules (findings.c). Where hits are rows with a function of a class,
 * and what is told is nothing but that, finding_class_hit and finding_class_tell are all it takes.
 */
#ifndef SP_FINDING_PRIVATE_H
#define SP_FINDING_PRIVATE_H

#include "analysis/findings.h"
#include "analysis/fold.h"

enum finding_class {
    FC_REGEX,
    FC_MATCH,
    FC_FORMAT,
    FC_STARTUP,
    FC_LOCK,
    FC_CONTENDED,
    FC_FUTEX,
    FC_ALLOC,
    FC_COPY,
    FC_FAULT,
    FC_SYSCALL,
    FC_BYTES,
    FC_UNWIND,
    FC_CAST,
    FC_GC,
    FC_INTERPRETER,
    FC_INLINE,
    FC_IDLE, /* these three by function_tags.h */
    FC_WAIT,
    FC_IRQ,
    FCS
};

struct finding_row {
    size_t number;
    const uint32_t *frames; /* leaf first; lent */
    size_t n;
    const struct sp_selected *s;
    uint32_t classes;          /* bits */
    size_t first[FCS];         /* of each class that it has: the frame nearest to the leaf, */
    size_t last[FCS];          /* and the farthest */
    uint32_t parts;            /* bits of enum sp_finding_part */
    struct sp_str comm, state; /* of its context */
};

/* A row that a rule is about: its frame nearest to the leaf that makes it one, and the farthest. */
struct finding_hit {
    uint32_t row, at, top;
    uint32_t parts;
    uint32_t group; /* of a rule that tells several findings */
};

struct finding_rule;

struct finder {
    struct sp_selection *s;
    const struct sp_profile *p;
    const struct sp_quality *q;
    const struct sp_own *own;
    struct sp_diags *d;
    struct sp_findings out;
    uint32_t *classes;    /* per function: bits of enum finding_class */
    unsigned char *parts; /* per function: enum sp_finding_part */
    struct sp_fold functions;
    int64_t *through; /* per function: its total, once all rows are in */
    SP_VEC(struct finding_hit) hits[SP_FINDINGS];
    struct finding_recursion *recursion;
    struct sp_strtab calls; /* names of system calls; by group */
    int64_t matching;       /* weight of regular expressions that are used, not built */
    double effective;       /* samples of equal weight that are as sure; 0: not known */
    bool nomem;             /* a hit was lost */
    bool kernel_seen;       /* some frame is the kernel's */
    bool callers_seen;      /* some stack has a caller that is no part of its leaf's own inlined functions */
    /* of leaves that allow interrupts again; per function: of it, called by it */
    int64_t irq, *irq_leaf, *irq_caller;
};

struct finding_rule {
    enum sp_finding_kind kind;
    enum finding_class class; /* what finding_class_hit looks for, and finding_class_tell names */
    bool (*hit)(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                struct finding_hit *hit);
    bool (*tell)(const struct finding_rule *r, struct finder *x); /* false: out of memory */
};

bool finding_class_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                       struct finding_hit *hit);
bool finding_class_tell(const struct finding_rule *r, struct finder *x);

/* The hits of a rule, those of a group or (UINT32_MAX) all, as a finding: weights, parts, callers; not its
 * words. False: out of memory. */
bool finding_of_hits(const struct finding_rule *r, struct finder *x, uint32_t group, struct sp_finding *f);
/* Adds it, where it reaches its threshold. */
bool finding_add(struct finder *x, const struct sp_finding *f);
bool finding_reaches(const struct finder *x, const struct sp_finding *f);
struct sp_finding finding_about(enum sp_finding_kind kind, int64_t weight, int64_t part, int64_t of);
/* The function with most of something; SP_NONE where nothing is above 0. classes: of these, 0: of any. */
uint32_t finding_heaviest(const struct finder *x, const int64_t *weight, uint32_t classes);
double finding_effective(const struct sp_selection *s); /* samples; 0: not known */
/* Stands where a call cannot have been made: what is above did not call what is beneath. */
bool finding_is_gap(const struct sp_profile *p, uint32_t frame);
/* The own function nearest to the leaf, from a frame on, no farther than the next gap; SP_NONE. */
uint32_t finding_nearest(const struct finder *x, const uint32_t *frames, size_t n, size_t from, size_t *at);

/* finding_allocator_lock.c: whether an allocator took the lock of a hit, and what a finding is called then.
 */
bool finding_in_allocator(const struct finder *x, const struct finding_row *row, size_t from);
bool finding_name_allocator_lock(struct sp_finding *f, bool contended);

/* finding_names.c: x->classes, x->parts. */
bool finding_names(struct finder *x);
/* finding_way.c: from, steps, callee, way, place. */
bool finding_way(struct finder *x, const struct finding_hit *hits, size_t n, uint32_t group,
                 struct sp_finding *f);
/* finding_repeats.c: apart, repeats; of the hits of the finding's group. */
bool finding_repeats(struct finder *x, const struct finding_hit *hits, size_t n, struct sp_finding *f);
/* finding_beneath.c: what lies beneath what, once all are there. */
bool finding_beneath(struct finder *x);
/* finding_nature.c: what an event is by its nature is no finding, and what is counted may not be time. */
bool finding_goes_without_saying(const struct finder *x, enum sp_finding_kind kind);
bool finding_weighs_work(const struct finder *x);

/* finding_data.c, finding_threads.c, finding_irq.c */
bool finding_tell_data(struct finder *x);
bool finding_tell_threads(struct finder *x);
void finding_irq_row(struct finder *x, const struct finding_row *row);
bool finding_tell_irq(struct finder *x);

/* finding_recursion.c: the frames of a row in turn, leaf first, then the row. */
struct finding_recursion *finding_recursion_new(const struct finder *x);
void finding_recursion_free(struct finding_recursion *r);
bool finding_recursion_row(struct finder *x, const struct finding_row *row);

extern const struct finding_rule finding_rule_regex, finding_rule_format, finding_rule_lock,
    finding_rule_allocation, finding_rule_unwinding, finding_rule_cast, finding_rule_fault,
    finding_rule_syscall, finding_rule_gc, finding_rule_interpreter, finding_rule_debug,
    finding_rule_recursion, finding_rule_idle, finding_rule_wait;

#endif
