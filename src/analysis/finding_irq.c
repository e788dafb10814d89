/* What software clocks charge to where interrupts are allowed again, and whose time it is. */
#include "analysis/finding_private.h"

/* A leaf that allows interrupts again: its weight is that of the nearest caller that does something else. */
void finding_irq_row(struct finder *x, const struct finding_row *row)
{
    size_t k = 0, n = row->n;
    const uint32_t *frames = row->frames;
    int64_t weight = row->s->weight;
    const struct sp_frame *f = x->p->frames.v;
    while (k < n && x->classes[f[frames[k]].function] >> FC_IRQ & 1)
        k++;
    if (!k)
        return;
    x->irq += weight;
    x->irq_leaf[f[frames[0]].function] += weight;
    if (k < n)
        x->irq_caller[f[frames[k]].function] += weight;
}

bool finding_tell_irq(struct finder *x)
{
    struct sp_finding f = finding_about(SP_FIND_IRQ, x->irq, x->irq, x->s->whole);
    f.function = finding_heaviest(x, x->irq_leaf, 0);
    f.through = f.function == SP_NONE ? 0 : x->irq_leaf[f.function];
    for (size_t i = 0; i < SP_FINDING_CALLERS; i++) {
        uint32_t caller = f.callers[i].function = finding_heaviest(x, x->irq_caller, 0);
        if (caller == SP_NONE)
            continue;
        f.callers[i].weight = x->irq_caller[caller];
        x->irq_caller[caller] = 0;
    }
    return finding_goes_without_saying(x, SP_FIND_IRQ) || finding_add(x, &f);
}
