/* The header: what stands once in a pprof; what SPAA has no name for is "x_pprof" there. */
#include "base/num.h"
#include "formats/pprof/pprof.h"

static void pprof_string_member(struct sp_pprof *pp, struct sp_buf *b, const char *key, uint64_t string)
{
    if (!string)
        return;
    sp_buf_printf(b, ",\"%s\":", key);
    sp_pprof_json(b, sp_pprof_text(pp, string));
}

static void pprof_types_member(struct sp_pprof *pp, struct sp_buf *b)
{
    sp_buf_puts(b, "\"sample_types\":[");
    for (uint32_t i = 0; i < pp->ntypes; i++) {
        const struct sp_pprof_type *t = &pp->type[i];
        sp_buf_puts(b, i ? ",{\"type\":" : "{\"type\":");
        sp_pprof_json(b, sp_pprof_text(pp, t->value.type));
        sp_buf_puts(b, ",\"unit\":");
        sp_pprof_json(b, sp_pprof_text(pp, t->value.unit));
        sp_buf_puts(b, ",\"event\":");
        sp_pprof_json(b, sp_pstr(pp->p, pp->p->events.v[pp->event[t->event].number].name));
        sp_buf_puts(b, ",\"metric\":");
        sp_pprof_json(b, sp_pstr(pp->p, pp->p->metrics.v[t->metric].name));
        sp_buf_ch(b, '}');
    }
    sp_buf_ch(b, ']');
}

static void pprof_period_member(struct sp_pprof *pp, struct sp_buf *b)
{
    if (pp->file.period_type.p) {
        sp_buf_puts(b, ",\"period_type\":[");
        sp_pprof_json(b, sp_pprof_text(pp, pp->period_type.type));
        sp_buf_ch(b, ',');
        sp_pprof_json(b, sp_pprof_text(pp, pp->period_type.unit));
        sp_buf_ch(b, ']');
    }
    if (pp->file.period)
        sp_buf_printf(b, ",\"period\":%lld", (long long)pp->file.period);
}

static void pprof_comments_member(struct sp_pprof *pp, struct sp_buf *b)
{
    for (size_t i = 0; i < pp->file.comments.n; i++) {
        sp_buf_puts(b, i ? "," : ",\"comments\":[");
        sp_pprof_json(b, sp_pprof_text(pp, pp->file.comments.v[i]));
    }
    if (pp->file.comments.n)
        sp_buf_ch(b, ']');
}

static void pprof_keys_member(struct sp_pprof *pp, struct sp_buf *b)
{
    bool any = false;
    for (int k = 0; k < PPROF_KEYS; k++) {
        if (!pp->keys[k].set)
            continue;
        sp_buf_puts(b, any ? "," : ",\"keys\":{");
        sp_buf_printf(b, "\"%s\":{\"key\":", sp_pprof_key_names[k]);
        sp_pprof_json(b, sp_pprof_text(pp, pp->keys[k].key));
        pprof_string_member(pp, b, "unit", pp->keys[k].unit);
        sp_buf_puts(b, pp->keys[k].text ? ",\"text\":true}" : "}");
        any = true;
    }
    if (any)
        sp_buf_ch(b, '}');
}

static void pprof_mappings_member(struct sp_pprof *pp, struct sp_buf *b)
{
    for (size_t i = 0; i < pp->maps.list.n; i++) {
        const struct sp_pprof_mapping *m = &pp->maps.list.v[i];
        char t[3][17] = {{0}};
        t[0][sp_hex_text(m->start, t[0])] = t[1][sp_hex_text(m->limit, t[1])] = 0;
        t[2][sp_hex_text(m->offset, t[2])] = 0;
        sp_buf_printf(b, "%s{\"start\":\"0x%s\",\"limit\":\"0x%s\",\"offset\":\"0x%s\",\"file\":",
                      i ? "," : ",\"mappings\":[", t[0], t[1], t[2]);
        sp_pprof_json(b, sp_pstr(pp->p, m->file));
        sp_buf_puts(b, ",\"build_id\":");
        sp_pprof_json(b, sp_pstr(pp->p, m->build_id));
        sp_buf_puts(b, ",\"has\":[");
        const char *comma = "";
        for (unsigned k = 0; k < 4; k++)
            if (m->has >> k & 1) {
                sp_buf_printf(b, "%s\"%s\"", comma, sp_pprof_has_names[k]);
                comma = ",";
            }
        sp_buf_puts(b, "]}");
    }
    if (pp->maps.list.n)
        sp_buf_ch(b, ']');
}

static uint32_t pprof_header_more(struct sp_pprof *pp)
{
    struct sp_buf *b = &pp->text;
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_pprof\":{");
    pprof_types_member(pp, b);
    pprof_string_member(pp, b, "default_sample_type", pp->file.default_sample_type);
    pprof_period_member(pp, b);
    if ((int64_t)pp->file.time < 0)
        sp_buf_printf(b, ",\"time_nanos\":%lld", (long long)pp->file.time);
    if ((int64_t)pp->file.duration < 0)
        sp_buf_printf(b, ",\"duration_nanos\":%lld", (long long)pp->file.duration);
    pprof_string_member(pp, b, "drop_frames", pp->file.drop_frames);
    pprof_string_member(pp, b, "keep_frames", pp->file.keep_frames);
    pprof_string_member(pp, b, "doc_url", pp->file.doc_url);
    pprof_comments_member(pp, b);
    pprof_keys_member(pp, b);
    pprof_mappings_member(pp, b);
    if (pp->unknown.len) {
        sp_buf_puts(b, ",\"unknown\":[");
        sp_buf_add(b, pp->unknown.data, pp->unknown.len);
        sp_buf_ch(b, ']');
    }
    sp_buf_ch(b, '}');
    return b->failed ? SP_STR_FAIL : sp_profile_str(pp->p, b->data, b->len);
}

static uint32_t pprof_seconds(struct sp_pprof *pp, int64_t ns)
{
    char t[32];
    return sp_profile_str(pp->p, t, sp_ns_seconds(ns, t));
}

spaa_status sp_pprof_header(struct sp_pprof *pp)
{
    struct sp_profile *p = pp->p;
    struct sp_header *h = &p->header;
    int64_t time = (int64_t)pp->file.time, duration = (int64_t)pp->file.duration, end;
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(p, "pprof");
    h->has_x_spaa = true;
    h->ips = SP_IPS_CALL;
    h->frames = pp->opts->frames ? pp->opts->frames : SP_FRAMES_ADDRESS;
    for (int k = 0; k < PPROF_KEYS; k++)
        if (pp->keys[k].set)
            h->group_by |= pp->opts->group_by & (unsigned)(k == PPROF_PID   ? SP_BY_PID
                                                           : k == PPROF_TID ? SP_BY_TID
                                                                            : SP_BY_COMM);
    h->group_by |= (pp->had_marked[PPROF_STATE] ? pp->opts->group_by & SP_BY_STATE : 0u) |
                   (pp->had_marked[PPROF_CPU] ? SP_BY_CPU : 0u);
    if (duration > 0)
        h->duration = pprof_seconds(pp, duration);
    if (time > 0) {
        if (duration < 0 || __builtin_add_overflow(time, duration, &end))
            end = time;
        h->time_start = pprof_seconds(pp, time);
        h->time_end = pprof_seconds(pp, end);
        h->time_unit = sp_profile_cstr(p, "seconds");
        h->clock = sp_profile_cstr(p, "CLOCK_REALTIME");
    }
    h->extra_json = pprof_header_more(pp);
    const uint32_t all[] = {h->version,  h->source_tool, h->duration, h->time_start,
                            h->time_end, h->time_unit,   h->clock,    h->extra_json};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == SP_STR_FAIL)
            return sp_nomem(pp->d);
    return SPAA_OK;
}
