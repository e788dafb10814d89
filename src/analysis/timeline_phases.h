/*
 * Phases: stretches of a profile's time that differ from the rest, in their weight or in what it is of, and
 * the functions that make the difference.
 *
 * Looked for in the samples of a selection, by analysis/timeline_scan.h: the rate of all samples, and of each
 * function its share of the samples, by self and by total (of the functions that have most). What several
 * functions show at about the same time is one phase, and so is what comes back; where a thing fills most of
 * the time, the rest is the phase. A phase has at least a hundredth of all samples more (or less) than the
 * rest would have in its time.
 */
#ifndef SP_TIMELINE_PHASES_H
#define SP_TIMELINE_PHASES_H

#include "analysis/own.h"
#include "analysis/sample_times.h"
#include "analysis/timeline_scan.h"

enum { SP_PHASES = 6, SP_PHASE_FUNCTIONS = 5 };

struct sp_phase_stretch {
    int64_t lo, hi, lo_doubt, hi_doubt; /* ns of the profile's clock; ± so much with 95 % confidence */
};
struct sp_phase_function {
    uint32_t function;
    int64_t self, total;           /* weight in the phase */
    int64_t rest_self, rest_total; /* in the rest */
    int64_t rest_samples;          /* of the total: none, and it was seen at no other time */
    double share, rest_share;      /* of the samples, by total, in percent */
    double lo, hi;                 /* 95 % interval of the difference of these */
    double p, q;                   /* corrected for stretches; and by Benjamini and Hochberg for functions */
};
struct sp_phase {
    size_t first, n;              /* slice of stretches, in time */
    size_t functions, nfunctions; /* slice of functions: what makes the difference, most telling first */
    int64_t weight, rest_weight;
    int64_t samples, rest_samples;
    int64_t ns, rest_ns;
    bool quiet; /* next to nothing ran: fewer than a fiftieth of the samples that the rest has in such a time
                 */
    bool by_rate; /* found by how much ran, not by what ran */
    double p;
};
struct sp_phases {
    SP_VEC(struct sp_phase) list; /* most telling first */
    SP_VEC(struct sp_phase_stretch) stretches;
    SP_VEC(struct sp_phase_function) functions;
    int64_t start, end;         /* of the samples that were looked at */
    size_t samples, looked, of; /* functions that were looked at, of so many */
    size_t more;                /* phases that are left out */
    /* What would have been found, where nothing is: SP_ABSENT: nothing that short of all. */
    bool judged;        /* there are samples enough to look at all */
    int64_t least_ns;   /* of a function that runs at no other time, all the while */
    double least_ratio; /* of the weight of a tenth of the time to that of the rest */
};

/* Reported where the metric is not known for each sample. Free whatever it returned. */
spaa_status sp_phases_of(struct sp_selection *s, const struct sp_own *own, const struct sp_sample_times *m,
                         struct sp_diags *d, struct sp_phases *out);
void sp_phases_free(struct sp_phases *x);
static inline const struct sp_phase_stretch *sp_phase_stretch_of(const struct sp_phases *x,
                                                                 const struct sp_phase *p, size_t i)
{
    return &x->stretches.v[p->first + i];
}
/* Its weight per second against that of the rest; -1: the rest has none. */
static inline double sp_phase_ratio(const struct sp_phase *p)
{
    double rest = p->rest_ns ? (double)p->rest_weight / (double)p->rest_ns : 0;
    return rest > 0 && p->ns ? (double)p->weight / (double)p->ns / rest : -1;
}

#endif
