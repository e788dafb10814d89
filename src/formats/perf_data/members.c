/* Members of JSON objects, as they are collected for x_perf. */
#include "formats/perf_data/perf_data.h"

void sp_pd_comma(struct sp_buf *b)
{
    if (b->len && !strchr("[{:,", b->data[b->len - 1]))
        sp_buf_ch(b, ',');
}

void sp_pd_member(struct sp_buf *b, const char *name)
{
    sp_pd_comma(b);
    sp_buf_printf(b, "\"%s\":", name);
}

void sp_pd_member_u64(struct sp_buf *b, const char *name, uint64_t v)
{
    sp_pd_member(b, name);
    sp_buf_u64(b, v);
}

void sp_pd_member_hex(struct sp_buf *b, const char *name, uint64_t v)
{
    sp_pd_member(b, name);
    sp_buf_printf(b, "\"0x%llx\"", (unsigned long long)v);
}
