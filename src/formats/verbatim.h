/* What is left of layers of bytes that readers kept: nothing. Goes with the last reader that names it. */
#ifndef SP_VERBATIM_H
#define SP_VERBATIM_H

#include "formats/format.h"

struct sp_verbatim;

static inline spaa_status sp_verbatim_new(struct sp_profile *p, const char *format, struct sp_input *in,
                                          struct sp_diags *d, struct sp_verbatim **out)
{
    (void)p, (void)format, (void)in, (void)d;
    *out = NULL;
    return SPAA_OK;
}

static inline void sp_verbatim_free(struct sp_verbatim *v)
{
    (void)v;
}

static inline spaa_status sp_verbatim_add(struct sp_verbatim *v, const void *bytes, size_t n)
{
    (void)v, (void)bytes, (void)n;
    return SPAA_OK;
}

static inline spaa_status sp_verbatim_finish(struct sp_verbatim *v)
{
    (void)v;
    return SPAA_OK;
}

static inline spaa_status sp_verbatim_replay(struct sp_profile *p, const char *format,
                                             const struct sp_write_opts *opts, struct sp_diags *d,
                                             struct sp_output *out, bool *done)
{
    (void)p, (void)format, (void)opts, (void)d, (void)out;
    *done = false;
    return SPAA_OK;
}

#endif
