/* Rules that are about functions of a class, wherever they stand in a stack, or as its leaf. */
#include "analysis/finding_private.h"

static bool idle_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                     struct finding_hit *hit)
{
    return finding_class_hit(r, x, row, hit) || sp_str_is(row->state, "IDLE");
}

/* Allocators of the kernel are not the program's. */
static bool allocation_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                           struct finding_hit *hit)
{
    if (!finding_class_hit(r, x, row, hit))
        return false;
    unsigned is = x->parts[x->p->frames.v[row->frames[hit->top]].function];
    bool copies = row->classes >> FC_COPY & 1 && row->last[FC_COPY] > hit->top;
    hit->parts = 1u << is | (copies ? 1u << SP_PART_COPYING : 0);
    return true;
}

/* What libraries ask for themselves, as std::use_facet does, is no cast of the program's: it has a remedy
 * where the program's own code calls it, which the next frame shows. */
static bool cast_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                     struct finding_hit *hit)
{
    if (!finding_class_hit(r, x, row, hit) || x->own->all)
        return false;
    size_t above = hit->top + 1;
    return above < row->n && !finding_is_gap(x->p, row->frames[above]) &&
           sp_is_own(x->own, x->p->frames.v[row->frames[above]].function);
}

static bool gc_thread(struct sp_str comm)
{
    static const char *const names[] = {"GC Thread", "G1 ", "ParGC", "ZWorker", "ZDriver", "Shenandoah"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (comm.n >= strlen(names[i]) && memcmp(comm.p, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool gc_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                   struct finding_hit *hit)
{
    if (finding_class_hit(r, x, row, hit))
        return true;
    hit->at = hit->top = row->n ? (uint32_t)row->n - 1 : 0;
    return gc_thread(row->comm);
}

/* What an interpreter calls is not it. */
static bool interpreter_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                            struct finding_hit *hit)
{
    (void)hit;
    if (!row->n)
        return false;
    uint32_t leaf = x->p->frames.v[row->frames[0]].function;
    struct sp_str name = sp_pstr(x->p, x->p->functions.v[leaf].name);
    bool handler =
        name.n > 16 && memcmp(name.p, "Builtins_", 9) == 0 && memcmp(name.p + name.n - 7, "Handler", 7) == 0;
    return handler || x->classes[leaf] >> r->class & 1;
}

const struct finding_rule finding_rule_idle = {SP_FIND_IDLE, FC_IDLE, idle_hit, finding_class_tell};
const struct finding_rule finding_rule_wait = {SP_FIND_WAIT, FC_WAIT, finding_class_hit, finding_class_tell};
const struct finding_rule finding_rule_allocation = {SP_FIND_ALLOC, FC_ALLOC, allocation_hit,
                                                     finding_class_tell};
const struct finding_rule finding_rule_unwinding = {SP_FIND_UNWIND, FC_UNWIND, finding_class_hit,
                                                    finding_class_tell};
const struct finding_rule finding_rule_cast = {SP_FIND_CAST, FC_CAST, cast_hit, finding_class_tell};
const struct finding_rule finding_rule_gc = {SP_FIND_GC, FC_GC, gc_hit, finding_class_tell};
const struct finding_rule finding_rule_interpreter = {SP_FIND_INTERPRETER, FC_INTERPRETER, interpreter_hit,
                                                      finding_class_tell};
