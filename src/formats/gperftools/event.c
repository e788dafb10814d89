/* The event of a profile, its contexts, and the header. */
#include "base/hash.h"
#include "base/num.h"
#include "formats/gperftools/gperftools.h"
#include "model/labels.h"
#include "json/json.h"

#include <stdio.h>

static void gperftools_types_json(struct sp_gp *gp, const struct sp_gp_event *e)
{
    struct sp_buf *b = &gp->types;
    sp_buf_puts(b, "\"sample_types\":[");
    for (uint32_t i = 0; i < e->ntypes; i++) {
        const struct sp_gp_type *t = &e->types[i];
        sp_buf_puts(b, i ? ",{\"type\":" : "{\"type\":");
        sp_json_string(b, t->type, strlen(t->type));
        sp_buf_puts(b, ",\"unit\":");
        sp_json_string(b, t->pprof_unit, strlen(t->pprof_unit));
        sp_buf_puts(b, ",\"event\":");
        sp_json_string(b, e->name, strlen(e->name));
        sp_buf_puts(b, ",\"metric\":");
        sp_json_string(b, t->metric, strlen(t->metric));
        sp_buf_ch(b, '}');
    }
    sp_buf_puts(b, "],\"default_sample_type\":");
    sp_json_string(b, e->types[e->primary].type, strlen(e->types[e->primary].type));
    const char *type = e->period_type ? e->period_type : e->types[e->primary].type;
    sp_buf_puts(b, ",\"period_type\":[");
    sp_json_string(b, type, strlen(type));
    sp_buf_ch(b, ',');
    sp_json_string(b, e->period_unit, strlen(e->period_unit));
    sp_buf_ch(b, ']');
    if (e->period)
        sp_buf_printf(b, ",\"period\":%lld", (long long)e->period);
}

static spaa_status gperftools_metrics(struct sp_gp *gp, const struct sp_gp_event *e)
{
    struct sp_mapped_metric v[8];
    for (uint32_t i = 0; i < e->ntypes; i++)
        v[i] = (struct sp_mapped_metric){e->types[i].metric, e->types[i].unit};
    for (uint32_t i = 0; i < e->nmore; i++)
        v[e->ntypes + i] = e->more[i];
    return sp_mapped_metrics(&gp->m, v, e->ntypes + e->nmore);
}

spaa_status sp_gp_declare(struct sp_gp *gp, const struct sp_gp_event *e)
{
    struct sp_profile *p = gp->p;
    struct sp_event x = {.kind = e->kind, .mode = e->period == 1 ? SP_EVENT : SP_PERIOD};
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    char t[20];
    spaa_status st = gperftools_metrics(gp, e);
    if (st)
        return st;
    if (e->kind != SP_TIMER) /* nothing was interrupted */
        p->header.ips = SP_IPS_RETURN;
    x.primary = gp->m.metrics[e->primary];
    x.name = sp_profile_cstr(p, e->name);
    if (e->types[e->primary].unit)
        x.unit = sp_profile_cstr(p, e->types[e->primary].unit);
    if (e->tracking)
        x.allocation_tracking = sp_profile_cstr(p, e->tracking);
    if (e->period > 1)
        x.sample_period = sp_profile_str(p, t, sp_u64_text((uint64_t)e->period, t));
    if (x.name == SP_STR_FAIL || x.unit == SP_STR_FAIL || x.allocation_tracking == SP_STR_FAIL ||
        x.sample_period == SP_STR_FAIL)
        return sp_nomem(gp->d);
    c.event = gp->event = sp_event_add(p, &x);
    gp->context = gp->event == SP_NONE ? SP_NONE : sp_context_intern(p, &c);
    gperftools_types_json(gp, e);
    return gp->context == SP_NONE || gp->types.failed ? sp_nomem(gp->d) : SPAA_OK;
}

uint32_t sp_gp_block_context(struct sp_gp *gp, int64_t bytes)
{
    uint64_t hash = sp_hash_mix((uint64_t)bytes, 9);
    struct sp_probe at = sp_map_probe(&gp->block_map, hash);
    for (uint32_t i; (i = sp_map_next(&gp->block_map, &at)) != SP_MAP_NONE;)
        if (gp->blocks.v[i] == bytes)
            return gp->block_contexts.v[i];
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)bytes);
    struct sp_label l = {.key = sp_profile_cstr(gp->p, "bytes"), .flags = SP_LABEL_NUMBER};
    l.value = sp_profile_str(gp->p, text, (size_t)n);
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = gp->event};
    c.labels = l.key == SP_STR_FAIL || l.value == SP_STR_FAIL ? SP_NONE : sp_labels_intern(gp->p, &l, 1);
    uint32_t context = c.labels == SP_NONE ? SP_NONE : sp_context_intern(gp->p, &c);
    if (context == SP_NONE || gp->blocks.n >= SP_NONE - 1 || !sp_vec_push(&gp->blocks, bytes) ||
        !sp_vec_push(&gp->block_contexts, context) ||
        !sp_map_add(&gp->block_map, hash, (uint32_t)gp->blocks.n - 1))
        return SP_NONE;
    return context;
}

static uint32_t gperftools_header_more(struct sp_gp *gp)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_gperftools\":{\"kind\":");
    sp_json_string(&b, gp->kind, strlen(gp->kind));
    sp_buf_add(&b, gp->notes.data, gp->notes.len);
    if (gp->comments.len) {
        sp_buf_puts(&b, ",\"comments\":[");
        sp_buf_add(&b, gp->comments.data, gp->comments.len);
        sp_buf_ch(&b, ']');
    }
    sp_mapped_json(&gp->m, &b);
    sp_buf_puts(&b, "},\"x_pprof\":{");
    sp_buf_add(&b, gp->types.data, gp->types.len);
    sp_buf_ch(&b, '}');
    bool failed = b.failed || gp->notes.failed || gp->comments.failed || gp->types.failed;
    uint32_t more = failed ? SP_STR_FAIL : sp_profile_str(gp->p, b.data, b.len);
    sp_buf_free(&b);
    return more;
}

spaa_status sp_gp_header(struct sp_gp *gp)
{
    struct sp_profile *p = gp->p;
    struct sp_header *h = &p->header;
    int64_t ns;
    char t[32];
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(p, gp->tool);
    h->has_x_spaa = true;
    h->frames = gp->opts->frames ? gp->opts->frames : SP_FRAMES_ADDRESS;
    h->group_by = gp->group_by;
    if (gp->duration_ms > 0 && !__builtin_mul_overflow(gp->duration_ms, (int64_t)1000000, &ns))
        h->duration = sp_profile_str(p, t, sp_ns_seconds(ns, t));
    h->extra_json = gperftools_header_more(gp);
    if (h->version == SP_STR_FAIL || h->source_tool == SP_STR_FAIL || h->duration == SP_STR_FAIL ||
        h->extra_json == SP_STR_FAIL)
        return sp_nomem(gp->d);
    return SPAA_OK;
}
