/* The header record of a SPAA file. */
#include "formats/spaa/spaa.h"
#include "formats/spaa/write.h"

#include "model/labels.h"
#include "json/json.h"

static void write_event(struct writer *w, const struct sp_event *e)
{
    struct sp_buf *b = &w->b;
    sp_write_str(w, "{\"name\":", "event", e->name);
    sp_buf_printf(b, ",\"kind\":\"%s\",\"sampling\":{\"mode\":\"%s\"", sp_event_kind_names[e->kind],
                  sp_mode_names[e->mode]);
    if (e->primary != SP_NONE)
        sp_write_str(w, ",\"primary_metric\":", "primary_metric", w->p->metrics.v[e->primary].name);
    sp_write_raw(w, ",\"sample_period\":", e->sample_period);
    sp_write_raw(w, ",\"frequency_hz\":", e->frequency_hz);
    sp_write_raw(w, ",", e->sampling_extra_json);
    sp_buf_ch(b, '}');
    sp_write_raw(w, ",\"allocation_tracking\":", e->allocation_tracking);
    sp_write_raw(w, ",", e->extra_json);
    sp_buf_ch(b, '}');
}

static void write_host(struct writer *w, const struct sp_host *h)
{
    if (!h->name && !h->os && !h->arch && !h->cpus)
        return;
    sp_buf_puts(&w->b, ",\"host\":{");
    size_t from = w->b.len;
    sp_write_opt_str(w, ",\"name\":", "host.name", h->name);
    sp_write_opt_str(w, ",\"os\":", "host.os", h->os);
    sp_write_opt_str(w, ",\"arch\":", "host.arch", h->arch);
    sp_write_raw(w, ",\"cpus\":", h->cpus);
    if (!w->b.failed) { /* the first member has no comma */
        memmove(w->b.data + from, w->b.data + from + 1, w->b.len - from - 1);
        w->b.len--;
    }
    sp_buf_ch(&w->b, '}');
}

static void write_sources(struct writer *w)
{
    const struct sp_profile *p = w->p;
    if (!p->sources.n)
        return;
    sp_buf_puts(&w->b, ",\"sources\":[");
    for (size_t i = 0; i < p->sources.n; i++) {
        struct sp_str s = sp_pstr(p, p->sources.v[i]);
        if (i)
            sp_buf_ch(&w->b, ',');
        sp_json_string(&w->b, s.p, s.n);
    }
    sp_buf_ch(&w->b, ']');
}

/* The keys of labels that contexts have: stacks are told apart by these, too. */
static void write_label_keys(struct writer *w, const char *comma)
{
    struct sp_label_list keys = {0};
    struct sp_buf word;
    sp_buf_init(&word, 0);
    w->b.failed |= !sp_labels_keys(w->p, &keys);
    for (size_t i = 0; i < keys.list.n; i++, comma = ",") {
        struct sp_str key = sp_pstr(w->p, keys.list.v[i].key);
        sp_buf_clear(&word);
        sp_buf_puts(&word, "label:");
        sp_buf_add(&word, key.p, key.n);
        sp_buf_puts(&w->b, comma);
        sp_json_string(&w->b, word.data ? word.data : "", word.len);
        w->b.failed |= word.failed;
    }
    sp_buf_free(&word);
    sp_vec_free(&keys.list);
}

/* The metric of the vocabulary's unknown ones that does not add up, and is the next by name; SP_NONE: no
 * more. */
static uint32_t next_combined(const struct sp_profile *p, uint32_t last)
{
    uint32_t next = SP_NONE;
    for (uint32_t i = 0; i < p->metrics.n; i++) {
        const struct sp_metric *m = &p->metrics.v[i];
        if (*m->info->name || m->info->op == SP_OP_SUM)
            continue;
        struct sp_str name = sp_pstr(p, m->name);
        if ((last == SP_NONE || sp_str_cmp(name, sp_pstr(p, p->metrics.v[last].name)) > 0) &&
            (next == SP_NONE || sp_str_cmp(name, sp_pstr(p, p->metrics.v[next].name)) < 0))
            next = i;
    }
    return next;
}

static void write_combine(struct writer *w)
{
    const struct sp_profile *p = w->p;
    uint32_t first = next_combined(p, SP_NONE);
    for (uint32_t i = first; i != SP_NONE; i = next_combined(p, i)) {
        struct sp_str name = sp_pstr(p, p->metrics.v[i].name);
        sp_buf_puts(&w->b, i == first ? ",\"combine\":{" : ",");
        sp_json_string(&w->b, name.p, name.n);
        sp_buf_printf(&w->b, ":\"%s\"", sp_metric_op_names[p->metrics.v[i].info->op]);
    }
    if (first != SP_NONE)
        sp_buf_ch(&w->b, '}');
}

static void write_x_spaa(struct writer *w)
{
    const struct sp_header *h = &w->p->header;
    struct sp_buf *b = &w->b;
    sp_buf_printf(b, ",\"x_spaa\":{\"frames\":\"%s\",\"group_by\":[", sp_granularity_names[h->frames]);
    const char *comma = "";
    for (unsigned i = 0; sp_group_names[i]; i++) {
        if (!(h->group_by >> i & 1))
            continue;
        sp_buf_printf(b, "%s\"%s\"", comma, sp_group_names[i]);
        comma = ",";
    }
    write_label_keys(w, comma);
    sp_buf_puts(b, "]");
    sp_write_opt_str(w, ",\"id\":", "id", h->id_name);
    if (h->ips)
        sp_buf_printf(b, ",\"ip\":\"%s\"", sp_ips_names[h->ips]);
    sp_write_opt_str(w, ",\"default_event\":", "default_event", h->default_event);
    write_combine(w);
    sp_write_opt_str(w, ",\"clock\":", "clock", h->clock);
    sp_write_raw(w, ",\"duration\":", h->duration);
    write_host(w, &h->host);
    if (h->lost)
        sp_buf_printf(b, ",\"lost\":%llu", (unsigned long long)h->lost);
    if (h->truncated)
        sp_buf_printf(b, ",\"truncated\":%llu", (unsigned long long)h->truncated);
    if (h->unfinished)
        sp_buf_printf(b, ",\"unfinished\":%llu", (unsigned long long)h->unfinished);
    if (h->throttled_ns)
        sp_buf_printf(b, ",\"throttled_ns\":%llu", (unsigned long long)h->throttled_ns);
    if (h->frames_filtered)
        sp_buf_puts(b, ",\"frames_filtered\":true");
    write_sources(w);
    sp_write_raw(w, ",", h->x_spaa_extra_json);
    sp_buf_ch(b, '}');
}

void sp_write_header(struct writer *w)
{
    const struct sp_profile *p = w->p;
    const struct sp_header *h = &p->header;
    struct sp_buf *b = &w->b;
    sp_buf_puts(b, "{\"type\":\"header\",\"format\":\"spaa\",\"version\":");
    struct sp_str version = h->version ? sp_pstr(p, h->version) : (struct sp_str){"1.0", 3};
    sp_json_string(b, version.p, version.n);
    if (h->source_tool)
        sp_write_str(w, ",\"source_tool\":", "source_tool", h->source_tool);
    sp_buf_printf(b, ",\"frame_order\":\"%s\",\"events\":[", h->root_first ? "root_to_leaf" : "leaf_to_root");
    for (size_t i = 0; i < p->events.n; i++) {
        if (i)
            sp_buf_ch(b, ',');
        write_event(w, &p->events.v[i]);
    }
    sp_buf_ch(b, ']');
    if (h->time_start || h->time_end || h->time_unit || h->time_extra_json) {
        /* A range has both ends; what is known of one is kept beside, and read again from there. */
        sp_buf_puts(b, h->time_start && h->time_end ? ",\"time_range\":{" : ",\"x_time_range\":{");
        sp_write_raw(w, "\"start\":", h->time_start);
        sp_write_raw(w, h->time_start ? ",\"end\":" : "\"end\":", h->time_end);
        sp_write_opt_str(w, h->time_start || h->time_end ? ",\"unit\":" : "\"unit\":", "unit", h->time_unit);
        sp_write_raw(w, h->time_start || h->time_end || h->time_unit ? "," : "", h->time_extra_json);
        sp_buf_ch(b, '}');
    }
    if (h->tool || h->command || h->tool_version || h->source_extra_json) {
        sp_buf_puts(b, ",\"source\":{");
        sp_write_opt_str(w, "\"tool\":", "tool", h->tool);
        sp_write_opt_str(w, h->tool ? ",\"command\":" : "\"command\":", "command", h->command);
        sp_write_opt_str(w,
                         h->tool || h->command ? ",\"tool_version\":" : "\"tool_version\":", "tool_version",
                         h->tool_version);
        sp_write_raw(w, h->tool || h->command || h->tool_version ? "," : "", h->source_extra_json);
        sp_buf_ch(b, '}');
    }
    sp_buf_printf(b, ",\"stack_id_mode\":\"%s\"", h->ids_local ? "local" : "content_addressable");
    sp_write_raw(w, ",", h->extra_json);
    size_t here = b->len; /* x_spaa stands last, behind what its own strings add to x_raw_hex */
    if (h->has_x_spaa)
        write_x_spaa(w);
    b->len = here;
    sp_write_raw_hex(w);
    if (h->has_x_spaa)
        write_x_spaa(w);
    sp_buf_clear(&w->raw_hex);
}
