/* The header: what was recorded, when, and the totals as heaptrack_print gives them, in bytes. */
#include "base/num.h"
#include "formats/heaptrack/heaptrack.h"
#include "json/json.h"

static void heaptrack_summary_totals(struct sp_ht *ht, struct sp_buf *b)
{
    const struct {
        const char *name;
        int64_t v;
    } all[] = {{"alloc_count", ht->alloc_count},
               {"alloc_bytes", ht->alloc_bytes},
               {"temporary_count", ht->temporary},
               {"peak_bytes", ht->peak_bytes},
               {"peak_time_ms", ht->peak_time},
               {"live_bytes", ht->live_bytes},
               {"live_count", ht->live_count},
               {"suppressed_bytes", ht->suppressed_bytes},
               {"leaked_bytes", ht->live_bytes - ht->suppressed_bytes}};
    sp_buf_puts(b, ",\"totals\":{");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_buf_printf(b, "%s\"%s\":%lld", i ? "," : "", all[i].name, (long long)all[i].v);
    uint64_t rss;
    if (ht->peak_rss >= 0 && !__builtin_mul_overflow((uint64_t)ht->peak_rss, ht->page_size, &rss)) {
        sp_buf_puts(b, ",\"peak_rss_bytes\":");
        sp_buf_u64(b, rss);
    }
    sp_buf_puts(b, ",\"runtime_ms\":");
    sp_buf_i64(b, ht->now + 1);
    sp_buf_ch(b, '}');
}

static void heaptrack_summary_suppressions(struct sp_ht *ht, struct sp_buf *b)
{
    bool any = false;
    for (size_t i = 0; i < ht->suppressions.n; i++) {
        const struct sp_ht_suppression *s = &ht->suppressions.v[i];
        struct sp_str pattern = sp_pstr(ht->p, s->pattern);
        if (s->built_in && !s->matches)
            continue;
        sp_buf_puts(b, any ? "," : ",\"suppressions\":[");
        any = true;
        sp_buf_puts(b, "{\"pattern\":");
        sp_json_string(b, pattern.p, pattern.n);
        sp_buf_printf(b, ",\"built_in\":%s,\"matches\":%llu,\"leaked_bytes\":%lld}",
                      s->built_in ? "true" : "false", (unsigned long long)s->matches, (long long)s->leaked);
    }
    if (any)
        sp_buf_ch(b, ']');
}

/* "1.4.0" of 0x010400. */
static void heaptrack_summary_version(const struct sp_ht *ht, struct sp_buf *b)
{
    uint64_t v = ht->heaptrack_version;
    sp_buf_printf(b, "%llu.%llu.%llu", (unsigned long long)(v >> 16), (unsigned long long)(v >> 8 & 255),
                  (unsigned long long)(v & 255));
}

static uint32_t heaptrack_summary_text(struct sp_ht *ht, struct sp_buf *b)
{
    uint32_t s = b->failed ? SP_STR_FAIL : sp_profile_str(ht->p, b->data, b->len);
    sp_buf_clear(b);
    return s;
}

static void heaptrack_summary_say(struct sp_ht *ht)
{
    if (ht->suppressed_stacks)
        sp_emit(ht->d, SP_I756, SP_AT_NOTHING, "%lld bytes of %llu stacks", (long long)ht->suppressed_bytes,
                (unsigned long long)ht->suppressed_stacks);
    if (ht->unknown_frees)
        sp_emit(ht->d, SP_I757, SP_AT_NOTHING, "%llu%s", (unsigned long long)ht->unknown_frees,
                ht->attached ? ": it was attached to a running process" : "");
}

spaa_status sp_ht_summary(struct sp_ht *ht)
{
    struct sp_profile *p = ht->p;
    struct sp_header *h = &p->header;
    struct sp_buf b;
    char t[32];
    sp_buf_init(&b, 0);
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(p, "heaptrack");
    h->command = ht->command;
    heaptrack_summary_version(ht, &b);
    h->tool_version = heaptrack_summary_text(ht, &b);
    h->time_start = sp_profile_cstr(p, "0");
    h->time_end = h->duration = sp_profile_str(p, t, sp_ns_seconds((ht->now + 1) * 1000000, t));
    h->time_unit = sp_profile_cstr(p, "seconds");
    h->has_x_spaa = true;
    h->frames = ht->opts->frames > SP_FRAMES_ADDRESS ? ht->opts->frames : SP_FRAMES_ADDRESS;
    h->group_by = 0;
    sp_buf_printf(&b, "\"x_heaptrack\":{\"file_version\":%u,\"raw\":%s,\"attached\":%s", ht->version,
                  ht->raw ? "true" : "false", ht->attached ? "true" : "false");
    if (ht->page_size)
        sp_buf_printf(&b, ",\"page_size\":%llu,\"pages\":%llu", (unsigned long long)ht->page_size,
                      (unsigned long long)ht->pages);
    heaptrack_summary_totals(ht, &b);
    heaptrack_summary_suppressions(ht, &b);
    sp_buf_ch(&b, '}');
    h->more = heaptrack_summary_text(ht, &b);
    sp_buf_free(&b);
    const uint32_t all[] = {h->version,  h->source_tool, h->tool_version, h->time_start,
                            h->time_end, h->time_unit,   h->more};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == SP_STR_FAIL)
            return sp_nomem(ht->d);
    heaptrack_summary_say(ht);
    return SPAA_OK;
}
