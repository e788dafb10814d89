/*
 * How much memory was live when: the level at the ends of stretches of time, and the most within them.
 *
 * Windows hold changes (struct sp_window): what is live at the end of one is the sum of all changes up to
 * there. Stretches are made of whole windows, so that nothing in them is divided; they are as equal as those
 * allow. The most within a window is known where its recording says it (model/heap_facts.h) and nothing is
 * filtered; else the level at its end is what was there at least.
 */
#ifndef SP_LEVELS_H
#define SP_LEVELS_H

#include "analysis/select.h"
#include "analysis/timeline.h"

/* Beside a bucket of sp_levels.t, whose weight is the change of the selection's metric in it. */
struct sp_level {
    int64_t start, end; /* the level of the metric where it begins and ends; SP_ABSENT: it is no level */
    int64_t most;       /* the most in it, or what was there at least */
    bool exact;         /* which of these */
    /* What happened in it; SP_ABSENT: not known. Bytes, calls. */
    int64_t allocated, calls, freed, frees, temporary;
    int64_t rss;       /* the most that was seen, of the whole process */
    size_t windows, n; /* slice of sp_levels.times.windows */
};

struct sp_levels {
    struct sp_timeline t; /* its buckets, and what changed most in each */
    SP_VEC(struct sp_level) list;
    struct sp_sample_times times; /* the windows */
    bool of_level;                /* the metric is what is live, so that there are levels */
    bool whole;                   /* nothing is filtered: what the recording says of all is meant */
    int64_t end, most;            /* at the end of the range; the most in it */
    int64_t most_lo, most_hi;     /* the window that has it, ns of the profile's clock */
    int64_t most_at;              /* the moment, where it is known; SP_ABSENT */
    bool exact;                   /* most is no lower bound */
    int64_t rss;
};

/*
 * The metric that a question over time is about where memory has windows: as named, else live_bytes. NULL:
 * it is about something else, or the windows do not tell it.
 */
const char *sp_levels_metric(const struct sp_profile *p, const struct sp_select_opts *o);
/* Whether some window has a value of the metric. */
bool sp_window_values_of(const struct sp_profile *p, uint32_t metric);
/*
 * The selection is without a range of time; `time` is that range, or NULL. SPAA_ERR_USAGE, reported, where
 * windows do not fit it; SPAA_ERR_NOT_FOUND, reported, where there are none in it. Free on success.
 */
spaa_status sp_levels_of(struct sp_selection *s, const char *time, size_t buckets, size_t hot,
                         struct sp_diags *d, struct sp_levels *out);
void sp_levels_free(struct sp_levels *l);

/*
 * What a picture of buckets of one window each is made of: the level of each of the heaviest owners, where
 * the first of them begins and where each ends.
 */
struct sp_level_owners {
    uint32_t *functions; /* n, those whose level was highest first */
    size_t n;
    int64_t *levels; /* (windows + 1) * (n + 1): of each of them, and of all together */
    int64_t *calls;  /* per window; SP_ABSENT: not known */
    int64_t *bytes;  /* allocated likewise */
};
spaa_status sp_level_owners_of(struct sp_selection *s, const struct sp_levels *l, size_t most,
                               struct sp_diags *d, struct sp_level_owners *out);
void sp_level_owners_free(struct sp_level_owners *o);

#endif
