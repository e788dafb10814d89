/* Reads pprof: the order of things, and the header. The format itself is described in pprof.h. */
#include "base/num.h"
#include "formats/pprof/pprof.h"

static void string_member(struct sp_pp *pp, struct sp_buf *b, const char *key, uint64_t string)
{
    if (!string)
        return;
    sp_buf_printf(b, ",\"%s\":", key);
    sp_pp_json(b, sp_pp_text(pp, string));
}

static void types_member(struct sp_pp *pp, struct sp_buf *b)
{
    sp_buf_puts(b, "\"sample_types\":[");
    for (uint32_t i = 0; i < pp->ntypes; i++) {
        const struct sp_pp_type *t = &pp->type[i];
        sp_buf_puts(b, i ? ",{\"type\":" : "{\"type\":");
        sp_pp_json(b, sp_pp_text(pp, t->type));
        sp_buf_puts(b, ",\"unit\":");
        sp_pp_json(b, sp_pp_text(pp, t->unit));
        sp_buf_puts(b, ",\"event\":");
        sp_pp_json(b, sp_pstr(pp->p, pp->p->events.v[pp->event[t->event].number].name));
        sp_buf_puts(b, ",\"metric\":");
        sp_pp_json(b, sp_pstr(pp->p, pp->p->metrics.v[t->metric].name));
        sp_buf_ch(b, '}');
    }
    sp_buf_ch(b, ']');
}

static void period_member(struct sp_pp *pp, struct sp_buf *b)
{
    if (pp->period_type.p) {
        uint64_t type[3] = {0};
        struct sp_wire w = sp_wire_of(pp->period_type.p, pp->period_type.n);
        for (struct sp_wire_field f; sp_wire_next(&w, &f);)
            if (f.type == SP_WIRE_VARINT && f.number <= 2)
                type[f.number] = f.v;
        sp_buf_puts(b, ",\"period_type\":[");
        sp_pp_json(b, sp_pp_text(pp, type[1]));
        sp_buf_ch(b, ',');
        sp_pp_json(b, sp_pp_text(pp, type[2]));
        sp_buf_ch(b, ']');
    }
    if (pp->single[PP_PERIOD])
        sp_buf_printf(b, ",\"period\":%lld", (long long)pp->single[PP_PERIOD]);
}

static void comments_member(struct sp_pp *pp, struct sp_buf *b)
{
    for (size_t i = 0; i < pp->comments.n; i++) {
        sp_buf_puts(b, i ? "," : ",\"comments\":[");
        sp_pp_json(b, sp_pp_text(pp, pp->comments.v[i]));
    }
    if (pp->comments.n)
        sp_buf_ch(b, ']');
}

static void keys_member(struct sp_pp *pp, struct sp_buf *b)
{
    static const char *const names[] = {"pid", "tid", "comm"};
    bool any = false;
    for (int k = 0; k < PP_KEYS; k++) {
        if (!pp->keys[k].set)
            continue;
        sp_buf_puts(b, any ? "," : ",\"keys\":{");
        sp_buf_printf(b, "\"%s\":{\"key\":", names[k]);
        sp_pp_json(b, sp_pp_text(pp, pp->keys[k].key));
        string_member(pp, b, "unit", pp->keys[k].unit);
        sp_buf_puts(b, pp->keys[k].text ? ",\"text\":true}" : "}");
        any = true;
    }
    if (any)
        sp_buf_ch(b, '}');
}

static void mappings_member(struct sp_pp *pp, struct sp_buf *b)
{
    static const char *const has[] = {"functions", "filenames", "lines", "inlines"};
    for (size_t i = 0; i < pp->maps.list.n; i++) {
        const struct sp_pp_mapping *m = &pp->maps.list.v[i];
        char t[3][17] = {{0}};
        t[0][sp_hex_text(m->start, t[0])] = t[1][sp_hex_text(m->limit, t[1])] = 0;
        t[2][sp_hex_text(m->offset, t[2])] = 0;
        sp_buf_printf(b, "%s{\"start\":\"0x%s\",\"limit\":\"0x%s\",\"offset\":\"0x%s\",\"file\":",
                      i ? "," : ",\"mappings\":[", t[0], t[1], t[2]);
        sp_pp_json(b, sp_pstr(pp->p, m->file));
        sp_buf_puts(b, ",\"build_id\":");
        sp_pp_json(b, sp_pstr(pp->p, m->build_id));
        sp_buf_puts(b, ",\"has\":[");
        const char *comma = "";
        for (unsigned k = 0; k < 4; k++)
            if (m->has >> k & 1) {
                sp_buf_printf(b, "%s\"%s\"", comma, has[k]);
                comma = ",";
            }
        sp_buf_puts(b, "]}");
    }
    if (pp->maps.list.n)
        sp_buf_ch(b, ']');
}

static uint32_t header_more(struct sp_pp *pp)
{
    struct sp_buf *b = &pp->text;
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_pprof\":{");
    types_member(pp, b);
    string_member(pp, b, "default_sample_type", pp->single[PP_DEFAULT_TYPE]);
    period_member(pp, b);
    if ((int64_t)pp->single[PP_TIME] < 0)
        sp_buf_printf(b, ",\"time_nanos\":%lld", (long long)pp->single[PP_TIME]);
    if ((int64_t)pp->single[PP_DURATION] < 0)
        sp_buf_printf(b, ",\"duration_nanos\":%lld", (long long)pp->single[PP_DURATION]);
    string_member(pp, b, "drop_frames", pp->single[PP_DROP_FRAMES]);
    string_member(pp, b, "keep_frames", pp->single[PP_KEEP_FRAMES]);
    string_member(pp, b, "doc_url", pp->single[PP_DOC_URL]);
    comments_member(pp, b);
    keys_member(pp, b);
    mappings_member(pp, b);
    if (pp->unknown.len) {
        sp_buf_puts(b, ",\"unknown\":[");
        sp_buf_add(b, pp->unknown.data, pp->unknown.len);
        sp_buf_ch(b, ']');
    }
    sp_buf_ch(b, '}');
    return b->failed ? SP_STR_FAIL : sp_profile_str(pp->p, b->data, b->len);
}

static uint32_t seconds(struct sp_pp *pp, int64_t ns)
{
    char t[32];
    return sp_profile_str(pp->p, t, sp_ns_seconds(ns, t));
}

spaa_status sp_pp_header(struct sp_pp *pp)
{
    struct sp_profile *p = pp->p;
    struct sp_header *h = &p->header;
    int64_t time = (int64_t)pp->single[PP_TIME], duration = (int64_t)pp->single[PP_DURATION], end;
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(p, "pprof");
    h->has_x_spaa = true;
    h->ips = SP_IPS_CALL;
    h->frames = pp->opts->frames ? pp->opts->frames : SP_FRAMES_ADDRESS;
    for (int k = 0; k < PP_KEYS; k++)
        if (pp->keys[k].set)
            h->group_by |= pp->opts->group_by & (unsigned)(k == PP_PID   ? SP_BY_PID
                                                           : k == PP_TID ? SP_BY_TID
                                                                         : SP_BY_COMM);
    h->group_by |= (pp->had_marked[PP_STATE] ? pp->opts->group_by & SP_BY_STATE : 0u) |
                   (pp->had_marked[PP_CPU] ? SP_BY_CPU : 0u);
    if (duration > 0)
        h->duration = seconds(pp, duration);
    if (time > 0) {
        if (duration < 0 || __builtin_add_overflow(time, duration, &end))
            end = time;
        h->time_start = seconds(pp, time);
        h->time_end = seconds(pp, end);
        h->time_unit = sp_profile_cstr(p, "seconds");
        h->clock = sp_profile_cstr(p, "CLOCK_REALTIME");
    }
    h->more = header_more(pp);
    const uint32_t all[] = {h->version,  h->source_tool, h->duration, h->time_start,
                            h->time_end, h->time_unit,   h->clock,    h->more};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == SP_STR_FAIL)
            return sp_nomem(pp->d);
    return SPAA_OK;
}

static void report(struct sp_pp *pp)
{
    size_t n = pp->locations.list.n;
    if (pp->odd)
        sp_emit(pp->d, SP_L724, SP_AT_NOTHING, "%llu fields inside of messages", (unsigned long long)pp->odd);
    if (pp->damaged_text)
        sp_emit(pp->d, SP_W725, SP_AT_NOTHING, "keys of labels that are no UTF-8; these bytes became U+FFFD");
    if (pp->used < n)
        sp_emit(pp->d, SP_I740, SP_AT_NOTHING, "%llu of %zu locations are in no sample",
                (unsigned long long)(n - pp->used), n);
}

static void release(struct sp_pp *pp)
{
    struct sp_pp_slices *all[] = {&pp->types,     &pp->mappings, &pp->locations,
                                  &pp->functions, &pp->runs,     &pp->labels};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_vec_free(&all[i]->list);
    sp_vec_free(&pp->strings);
    free(pp->numbers);
    sp_vec_free(&pp->comments);
    sp_buf_free(&pp->unknown);
    sp_pp_ids_free(&pp->mapping_ids);
    sp_pp_ids_free(&pp->location_ids);
    sp_pp_ids_free(&pp->function_ids);
    sp_vec_free(&pp->maps.list);
    sp_vec_free(&pp->maps.first);
    free(pp->locs);
    free(pp->fns);
    free(pp->shorts);
    free(pp->ready);
    sp_pp_path_free(&pp->path);
    sp_vec_free(&pp->queued_values);
    sp_vec_free(&pp->loc_frames);
    sp_vec_free(&pp->made);
    sp_vec_free(&pp->lines);
    sp_vec_free(&pp->stack);
    sp_vec_free(&pp->hashes);
    free(pp->seen);
    sp_vec_free(&pp->values);
    sp_vec_free(&pp->sets);
    sp_vec_free(&pp->contexts);
    sp_buf_free(&pp->label_text);
    sp_map_free(&pp->set_map);
    sp_buf_free(&pp->text);
    sp_buf_free(&pp->text2);
}

static spaa_status read_pprof(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                              struct sp_profile *p)
{
    struct sp_pp pp = {.p = p, .d = d, .opts = opts};
    spaa_status st = sp_input_whole(in, &pp.in, &pp.n);
    if (st)
        return st;
    sp_buf_init(&pp.unknown, 0);
    sp_buf_init(&pp.label_text, (size_t)8 << 30);
    sp_buf_init(&pp.text, 0);
    sp_buf_init(&pp.text2, 0);
    st = sp_pp_scan(&pp);
    if (!st)
        sp_pp_find_mark(&pp);
    if (!st)
        st = sp_pp_types(&pp);
    if (!st)
        st = sp_pp_tables(&pp);
    if (!st)
        st = sp_pp_samples(&pp);
    if (!st && !sp_pp_drop_unused(&pp))
        st = sp_nomem(d);
    if (!st)
        st = sp_pp_header(&pp);
    if (!st)
        report(&pp);
    release(&pp);
    return st;
}

const struct spaa_format spaa_format_pprof = {
    .name = "pprof",
    .title = "pprof protobuf (Go, C++, Java, Rust)",
    .extensions = "pprof pb pb.gz",
    .media_type = "application/protobuf",
    .comes_back = "equal content: samples, labels, mappings, lines, comments",
    .caps = SP_CAN_READ | SP_CAN_WRITE,
    .probe = sp_pp_probe,
    .read = read_pprof,
    .write = sp_pp_write,
};
