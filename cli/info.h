/* What `spaa info` shows of hang reports. */
#ifndef SP_CLI_INFO_H
#define SP_CLI_INFO_H

#include "answer.h"

#include "analysis/label_report.h"

/* info_io_report.c: `--io` */
int info_io(struct cli *c);
struct info_metric {
    uint32_t metric;
    int64_t total;
    unsigned scale;
    bool cannot_add;
    struct sp_str unit;
};
struct info_metrics {
    struct info_metric *v;
    size_t n, cap;
};
/* info_metrics.c: every metric of an event */
spaa_status info_metrics_of(struct cli *c, uint32_t event, struct info_metrics *list);
void info_metrics_json(struct sp_jw *w, const struct sp_profile *p, uint32_t event,
                       const struct info_metrics *list);
int info_metrics_text(struct cli *c, const struct info_metrics *lists); /* by event */

/* info_report.c: the machine, pressure, what was lost, which application was in front; nothing for other
 * profiles */
void info_report_text(struct cli *c);
void info_report_json(struct cli *c, struct sp_jw *w);

/* info_pools.c: the thread pools of the profile, those of most threads first. Free on success only. */
struct info_pools {
    struct sp_pools pools;
    const struct sp_pool **list;
    size_t n;
};
spaa_status info_pools_of(struct cli *c, struct info_pools *out);
void info_pools_free(struct info_pools *x);
void info_pools_json(const struct info_pools *x, struct sp_jw *w); /* "pools": […] */
void info_pools_text(struct cli *c, const struct info_pools *x);   /* a line, where there are some */

/* info_labels.c: which labels there are. */
struct info_labels {
    struct sp_label_report report;
    int64_t whole; /* of the default event: what weights of labels are shares of */
};
spaa_status info_labels_of(struct cli *c, struct info_labels *out);
void info_labels_free(struct info_labels *x);
void info_labels_json(const struct info_labels *x, const struct sp_profile *p, struct sp_jw *w);
void info_labels_text(struct cli *c, const struct info_labels *x); /* lines, where there are some */

#endif
