/* The parts of the answer to `spaa info`, a file each. */
#ifndef SP_ASK_INFO_H
#define SP_ASK_INFO_H

#include "ask/common.h"

#include "analysis/label_report.h"

struct sp_info_metric {
    uint32_t metric;
    int64_t total;
    unsigned scale;
    bool cannot_add;
    struct sp_str unit;
};

/* What is said of an event. */
struct sp_info_event {
    int64_t samples; /* SP_ABSENT: not counted */
    int64_t total;
    unsigned scale;
    bool cannot_add;
    struct sp_str unit;
    uint64_t stacks;
    struct sp_quality quality;
    struct sp_chains *chains;
    SP_VEC(struct sp_info_metric) metrics; /* in the order of the profile */
};

struct sp_info {
    struct sp_ask *q;
    struct sp_answer *out;
    struct sp_profile *profile;
    struct sp_by_event by_event;
    struct sp_frame_lacks lacks;
    struct sp_info_event *events; /* by event */
    size_t nevents;               /* of these, that are there */
    struct sp_pools pools;
    const struct sp_pool **pool_list; /* of most threads first */
    struct sp_label_report labels;
    uint64_t processes; /* how many */
    uint64_t reused;    /* numbers that were of several processes, one after the other */
    int64_t labels_of;  /* the default event's weight: what weights of labels are shares of */
    bool has_pools, has_labels;
    struct sp_buf b; /* scratch */
};

/* info_gather.c. Free whatever it returned. */
spaa_status sp_info_gather(struct sp_ask *q, struct sp_answer *out, struct sp_info *x);
void sp_info_free(struct sp_info *x);
/* Of how many processes the profiler says when they began, or ended. */
int64_t sp_info_told(const struct sp_profile *p, bool ended);

/* info_words.c: what stands above the table of events, for people. */
spaa_status sp_info_words(struct sp_info *x);

/* info_tables.c */
extern const struct sp_table_decl sp_info_events, sp_info_metrics, sp_info_metric_rows, sp_info_pools,
    sp_info_labels, sp_info_binaries;
void sp_info_tables(struct sp_info *x);
struct sp_rsds;
/* The GUID and age that a binary's build-id is made of; false: it is made of something else. */
bool sp_info_rsds(const struct sp_profile *p, const struct sp_dso *d, struct sp_rsds *out);

/* info_report.c: the header of a hang report, lines for people or facts. */
spaa_status sp_info_report(struct sp_info *x);

/* info_io.c: `--io` is another answer. */
extern const struct sp_table_decl sp_info_tiers, sp_info_histograms, sp_info_buckets, sp_info_io_rows,
    sp_info_io_buckets;
spaa_status sp_info_io(struct sp_ask *q, struct sp_answer *out);

#endif
