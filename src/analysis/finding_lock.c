/*
 * Locks. Where a thread had to wait, the lock's slow path shows: names of its own, or the kernel's futex
 * beneath a function that locks. What else is in functions that lock is the price of locking. Conditions wait
 * in futex, too, which is no lock.
 */
#include "analysis/finding_private.h"
#include "model/go_fatal.h"

enum { FREE, TAKEN };

static bool lock_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                     struct finding_hit *hit)
{
    bool slow = row->classes >> FC_CONTENDED & 1;
    if (!finding_class_hit(r, x, row, hit) && !slow)
        return false;
    bool futex = row->classes >> FC_LOCK & 1 && row->classes >> FC_FUTEX & 1 &&
                 row->last[FC_LOCK] > row->first[FC_FUTEX];
    if (slow && (!(row->classes >> FC_LOCK & 1) || row->first[FC_CONTENDED] < hit->at))
        hit->at = (uint32_t)row->first[FC_CONTENDED];
    if (slow && row->last[FC_CONTENDED] > hit->top)
        hit->top = (uint32_t)row->last[FC_CONTENDED];
    hit->group = slow || futex ? TAKEN : FREE;
    bool kernel = slow && row->parts >> SP_PART_KERNEL_LOCK & 1 && !(row->parts >> SP_PART_CONTENDED & 1);
    hit->parts = kernel ? 1u << SP_PART_KERNEL_LOCK : hit->group == TAKEN ? 1u << SP_PART_CONTENDED : 0;
    if (!kernel && finding_in_allocator(x, row, hit->at))
        hit->parts |= 1u << SP_PART_ALLOCATOR;
    return true;
}

/* Of goroutines at one moment nothing is said of how long, nor who has the locks. */
static void lock_tell_goroutines(const struct finder *x, struct sp_finding *f)
{
    bool deadlock = sp_go_is_deadlock(x->p);
    if (!sp_str_is(sp_pstr(x->p, x->p->events.v[x->s->event].name), "goroutine"))
        return;
    f->title = deadlock ? "DEADLOCK" : "WAITING FOR LOCKS";
    f->remedy = deadlock ? "take locks in one order everywhere; `spaa waits` has what each waits for"
                         : "who has them a dump does not say: see what the others do, and a later dump";
}

static bool lock_tell(const struct finding_rule *r, struct finder *x)
{
    struct sp_finding all, taken;
    if (!finding_of_hits(r, x, TAKEN, &taken))
        return false;
    if (finding_reaches(x, &taken)) {
        if (taken.parts[SP_PART_KERNEL_LOCK] * 2 > taken.weight) {
            taken.title = "KERNEL LOCK CONTENTION";
            taken.remedy = "fewer threads at once in these calls, or fewer of the calls";
        }
        finding_name_allocator_lock(&taken, true);
        lock_tell_goroutines(x, &taken);
        uint32_t slow = finding_heaviest(x, x->through, 1u << FC_CONTENDED);
        taken.function = slow != SP_NONE ? slow : taken.function;
        taken.through = taken.function != SP_NONE ? x->through[taken.function] : 0;
        return finding_add(x, &taken);
    }
    if (!finding_of_hits(r, x, UINT32_MAX, &all))
        return false;
    if (!finding_name_allocator_lock(&all, false)) {
        all.title = "LOCKING";
        all.remedy = "lock less often: once for many, or data of each thread's own";
        lock_tell_goroutines(x, &all);
    }
    return finding_add(x, &all);
}

const struct finding_rule finding_rule_lock = {SP_FIND_LOCK, FC_LOCK, lock_hit, lock_tell};
