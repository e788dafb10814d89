/*
 * Histograms and statistics of input and output, of records `x_…_histogram` and `x_…_aggregate` of any format
 * (docs/spaa.md), in their order. They stay extension records, between which and others order says something.
 */
#ifndef SP_MODEL_IO_RECORDS_H
#define SP_MODEL_IO_RECORDS_H

#include "model/profile.h"

struct sp_io_bucket {
    int64_t begin, end; /* end SP_ABSENT: open */
    int64_t count, cdf;
};

struct sp_io_table {
    uint32_t title, unit;
    uint32_t first, n; /* slice of buckets */
};

struct sp_io_sums {
    int64_t ios, mean_us, sd_us, max_us, reads, read_bytes, writes, write_bytes; /* SP_ABSENT: not stated */
    uint32_t title;
};

struct sp_io_records {
    struct sp_strtab strs; /* of titles and units */
    SP_VEC(struct sp_io_table) tables;
    SP_VEC(struct sp_io_bucket) buckets;
    SP_VEC(struct sp_io_sums) statistics;
};

spaa_status sp_io_records_of(const struct sp_profile *p, struct sp_diags *d, struct sp_io_records *out);
void sp_io_records_free(struct sp_io_records *r);

#endif
