/* Parts of the format of sample(1), macOS' sampler of one process. See reader.c and writer.c. */
#ifndef SP_SAMPLE_H
#define SP_SAMPLE_H

#include "formats/common/hang/line.h"
#include "formats/format.h"

/* frame.c: what stands behind a row's count. */
struct sp_sample_report_frame {
    struct sp_span symbol;  /* "???" where unknown */
    struct sp_span image;   /* p NULL: none named */
    struct sp_span offsets; /* "10" or "10,20,..." as printed; n 0: none */
    uint64_t offset;        /* the first */
    struct sp_span base;    /* of "load address BASE + OFF" */
    uint64_t image_off;     /* its OFF */
    struct sp_span addresses, srcline;
    bool torn; /* the row is cut off: what is whole of it was read */
};
void sp_sample_report_parse_frame(struct sp_span s, struct sp_sample_report_frame *f);

struct sp_sample_report_thread {
    int64_t tid; /* SP_ABSENT: no number */
    struct sp_span id, name, queue;
    bool named; /* a colon stands behind the id */
    int64_t samples;
};
/* "Thread_N: name   DispatchQueue_1: label  (serial)"; false: none. */
bool sp_sample_report_parse_thread(struct sp_span s, struct sp_sample_report_thread *t);

int sp_sample_report_probe(const unsigned char *p, size_t n, bool whole, const char **reason);
spaa_status sp_sample_report_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                                  struct sp_profile *p);
spaa_status sp_sample_report_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                                   struct sp_output *out);

#endif
