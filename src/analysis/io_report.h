/*
 * Histograms and statistics of input and output that a report holds (`x_…_histogram`, `x_…_aggregate`
 * records), with percentiles. A percentile is the end of the first bucket whose running count reaches the
 * share: that many took no longer, were no larger. In a last bucket without an end it is only known to be
 * more than its begin.
 */
#ifndef SP_IO_REPORT_H
#define SP_IO_REPORT_H

#include "model/io_records.h"

struct sp_io_bound {
    int64_t value;
    bool more; /* it is beyond value */
};

struct sp_io_histogram {
    uint32_t title, unit;
    uint32_t first, n; /* slice of records.buckets */
    int64_t total;
    struct sp_io_bound percentiles[3]; /* 50, 90, 99; where total > 0 */
};

struct sp_io_statistics {
    struct sp_io_sums sums;
    uint32_t latency; /* the histogram of the same tier; SP_NONE */
};

struct sp_io_report {
    struct sp_io_records records;
    SP_VEC(struct sp_io_histogram) histograms;
    SP_VEC(struct sp_io_statistics) statistics;
};

spaa_status sp_io_report_of(const struct sp_profile *p, struct sp_diags *d, struct sp_io_report *out);
void sp_io_report_free(struct sp_io_report *r);

#endif
