#include "model/by_event.h"

#include "base/num.h"

#include <stdlib.h>

static uint32_t by_event_of_stack(const struct sp_profile *p, uint32_t i)
{
    return p->contexts.v[p->stacks.v[i].context].event;
}

static uint32_t by_event_of_context(const struct sp_profile *p, uint32_t i)
{
    return p->contexts.v[i].event;
}

/* Sorts the numbers below n by event, by counting. */
static bool by_event_sort(const struct sp_profile *p, size_t n,
                          uint32_t (*event_of)(const struct sp_profile *, uint32_t), uint32_t **numbers,
                          uint32_t **first)
{
    size_t events = p->events.n;
    uint32_t *v = malloc((n + 1) * sizeof *v), *f = calloc(events + 2, sizeof *f);
    *numbers = v;
    *first = f;
    if (!v || !f)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (event_of(p, i) < events)
            f[event_of(p, i) + 2]++;
    for (size_t e = 2; e < events + 2; e++)
        f[e] += f[e - 1];
    for (uint32_t i = 0; i < n; i++) /* what was the first of the next one becomes that of this one */
        if (event_of(p, i) < events)
            v[f[event_of(p, i) + 1]++] = i;
    return true;
}

unsigned sp_decimal_digits(const struct sp_profile *p, const struct sp_decimal *d)
{
    int64_t m;
    unsigned scale;
    struct sp_str t = sp_pstr(p, d->text);
    return sp_parse_scaled(t.p, t.n, &m, &scale) ? scale : 0;
}

bool sp_by_event_of(const struct sp_profile *p, struct sp_by_event *out)
{
    struct sp_by_event b = {0};
    for (size_t i = 0; i < p->decimals.n; i++) {
        unsigned char *finest = &b.finest[p->decimals.v[i].metric];
        unsigned digits = sp_decimal_digits(p, &p->decimals.v[i]); /* 18 at most */
        if (digits > *finest)
            *finest = (unsigned char)digits;
    }
    if (!by_event_sort(p, p->stacks.n, by_event_of_stack, &b.stacks, &b.stacks_first) ||
        !by_event_sort(p, p->contexts.n, by_event_of_context, &b.contexts, &b.contexts_first)) {
        sp_by_event_free(&b);
        return false;
    }
    *out = b;
    return true;
}

void sp_by_event_free(struct sp_by_event *b)
{
    free(b->stacks);
    free(b->stacks_first);
    free(b->contexts);
    free(b->contexts_first);
    *b = (struct sp_by_event){0};
}

static struct sp_among by_event_part(const uint32_t *numbers, const uint32_t *first, uint32_t event)
{
    return (struct sp_among){numbers + first[event], first[event + 1] - first[event]};
}

struct sp_among sp_stacks_among(const struct sp_profile *p, const struct sp_by_event *b, uint32_t event)
{
    return b ? by_event_part(b->stacks, b->stacks_first, event) : (struct sp_among){NULL, p->stacks.n};
}

struct sp_among sp_contexts_among(const struct sp_profile *p, const struct sp_by_event *b, uint32_t event)
{
    return b ? by_event_part(b->contexts, b->contexts_first, event) : (struct sp_among){NULL, p->contexts.n};
}
