/* The header: what the other records are judged by. A second header is checked, and changes nothing. */
#include "formats/spaa/validate/fields.h"

#include "model/vocab.h"
#include "json/find.h"

static bool header_is_first(const struct sp_validator *v)
{
    return v->known->header.seen == 1;
}

void sp_begin_header(struct sp_validator *v)
{
    sp_ids_free(&v->known->header.other_ids);
}

void sp_check_header_format(struct sp_validator *v, const struct sp_checked *x)
{
    if (!sp_span_is(x->text, "spaa"))
        sp_report(v, SP_E107, x->raw.p, "it is \"%.*s\"", SP_CLIP(x->text));
}

void sp_check_header_version(struct sp_validator *v, const struct sp_checked *x)
{
    const char *p = x->text.p, *end = p + x->text.n;
    bool ok = p < end && *p++ == '1';
    while (ok && p < end) {
        ok = *p++ == '.' && p < end && (unsigned char)(*p - '0') < 10;
        while (p < end && (unsigned char)(*p - '0') < 10)
            p++;
    }
    if (!ok)
        sp_report(v, SP_E108, x->raw.p, "\"%.*s\"", SP_CLIP(x->text));
}

/* A delta profile, a sum() and a difference of folded stacks have values below zero. */
static const char *const signed_tools[] = {"pprof", "folded", "dtrace", "bpftrace", NULL};

void sp_check_header_tool(struct sp_validator *v, const struct sp_checked *x)
{
    if (header_is_first(v)) {
        v->known->header.dtrace = sp_span_is(x->text, "dtrace");
        v->known->header.differences = sp_name_index(signed_tools, x->text.p, x->text.n) >= 0;
    }
    if (sp_name_index(sp_known_tools, x->text.p, x->text.n) < 0)
        sp_report(v, SP_W200, x->raw.p, "\"%.*s\"", SP_CLIP(x->text));
}

void sp_check_header_order(struct sp_validator *v, const struct sp_checked *x)
{
    if (header_is_first(v))
        v->known->header.order = x->choice == 0 ? SP_LEAF_FIRST : SP_ROOT_FIRST;
}

void sp_begin_event(struct sp_validator *v)
{
    memset(&v->event, 0, sizeof v->event);
}

void sp_check_event_name(struct sp_validator *v, const struct sp_checked *x)
{
    v->event.has_name = true;
    v->event.name = sp_fingerprint(x->text.p, x->text.n);
    v->event.name_at = x->raw.p;
}

void sp_check_event_kind(struct sp_validator *v, const struct sp_checked *x)
{
    v->event.rules.allocation = x->choice == SP_ALLOCATION || x->choice == SP_DEALLOCATION;
}

void sp_check_mode(struct sp_validator *v, const struct sp_checked *x)
{
    v->event.mode = (enum sp_mode)x->choice;
}

void sp_check_primary_metric(struct sp_validator *v, const struct sp_checked *x)
{
    v->event.rules.has_primary = true;
    v->event.rules.primary = sp_fingerprint(x->text.p, x->text.n);
    v->event.primary_classes = sp_metric_classes(v, v->event.rules.primary, x->text);
}

void sp_check_sampling_rate(struct sp_validator *v, const struct sp_checked *x)
{
    v->event.has_rate |= x->field == &sp_field_infos[SP_F_SAMPLING_frequency_hz];
    if (sp_decimal_is_negative(x->text))
        sp_report(v, SP_W210, x->raw.p, "%.*s", SP_CLIP(x->text));
    else if (sp_decimal_is_zero(x->text))
        sp_report(v, SP_W203, x->raw.p, "`%.*s` is 0", x->field->length, x->field->quoted + 1);
}

void sp_check_sampling(struct sp_validator *v, const struct sp_checked *x)
{
    if (v->event.mode == SP_FREQUENCY && !v->event.has_rate)
        sp_report_title(v, SP_I231, x->raw.p);
    v->event.rules.derivation = sp_states_derivation(v, x->rec);
}

void sp_check_event(struct sp_validator *v, const struct sp_checked *x)
{
    if (v->event.rules.allocation && v->event.rules.has_primary &&
        !(v->event.primary_classes & SP_METRIC_ALLOCATION))
        sp_report(v, SP_W223, x->raw.p, "the event's primary metric");
    v->event.rules.derivation |= sp_states_derivation(v, x->rec);
    if (!v->event.has_name)
        return;
    /* The names of a second header are told apart from those of the first by being looked at on their own. */
    struct sp_ids *names = header_is_first(v) ? &v->known->header.event_ids : &v->known->header.other_ids;
    bool added;
    uint32_t at = sp_ids_get_fp(names, v->event.name, &added);
    bool kept = at != SP_ID_NONE;
    if (kept && !added) {
        size_t cut = sp_path_push(v, "name", 4);
        sp_report(v, SP_E119, v->event.name_at, "an event of this name is already declared");
        sp_path_cut(v, cut);
    } else if (kept && header_is_first(v)) {
        kept = sp_vec_push(&v->known->header.events, v->event.rules);
    }
    if (!kept)
        sp_out_of_memory(v);
}

void sp_begin_range(struct sp_validator *v)
{
    memset(&v->range, 0, sizeof v->range);
}

void sp_check_start(struct sp_validator *v, const struct sp_checked *x)
{
    v->range.start = x->raw;
}

void sp_check_end(struct sp_validator *v, const struct sp_checked *x)
{
    v->range.end = x->raw;
}

void sp_check_time_range(struct sp_validator *v, const struct sp_checked *x)
{
    struct sp_span a = v->range.start, b = v->range.end;
    struct sp_header_known *h = &v->known->header;
    if (!a.p || !b.p)
        return;
    if (sp_decimal_compare(b, a) < 0) {
        sp_report(v, SP_W216, x->raw.p, "from %.*s to %.*s", SP_CLIP(a), SP_CLIP(b));
    } else if (header_is_first(v)) {
        if (!sp_buf_add(&h->range, a.p, a.n) || !sp_buf_add(&h->range, b.p, b.n)) {
            sp_out_of_memory(v);
            return;
        }
        h->has_range = true;
        h->range_start = (struct sp_span){h->range.data, a.n};
        h->range_end = (struct sp_span){h->range.data + a.n, b.n};
        h->start_value = sp_decimal(h->range_start);
        h->end_value = sp_decimal(h->range_end);
    }
}

void sp_finish_window(struct sp_validator *v, const struct sp_rec *rec)
{
    (void)rec;
    struct sp_span a = v->range.start, b = v->range.end;
    if (a.p && b.p && sp_decimal_compare(b, a) < 0) {
        size_t cut = sp_path_push(v, "end", 3);
        sp_report(v, SP_E123, b.p, "from %.*s to %.*s", SP_CLIP(a), SP_CLIP(b));
        sp_path_cut(v, cut);
    }
}

/* x_spaa is ours; ids under another name than ours are those of somebody else. */
static void header_id_name(struct sp_validator *v, const struct sp_rec *rec)
{
    for (uint32_t i = rec->odd; i != SP_ODD_END; i = v->decoder.odd.v[i].next) {
        const struct sp_odd *o = &v->decoder.odd.v[i];
        struct sp_span raw, id;
        if (!(o->what & SP_ODD_UNKNOWN) || o->key.escaped || o->value.kind != SP_JSON_OBJECT ||
            !sp_span_is((struct sp_span){o->key.p, o->key.n}, "x_spaa"))
            continue;
        raw = (struct sp_span){o->value.p + 1, o->value.n - 2};
        if (sp_json_find(raw, "id", &id) && !sp_span_is(id, "\"" SP_IDENTITY_NAME "\"")) {
            size_t cut = sp_path_push(v, "x_spaa.id", 9);
            sp_report(v, SP_I232, o->value.p + v->shift, "%.*s", SP_CLIP(id));
            sp_path_cut(v, cut);
        }
        return;
    }
}

void sp_finish_header(struct sp_validator *v, const struct sp_rec *rec)
{
    if (!header_is_first(v))
        return;
    header_id_name(v, rec);
    v->known->header.derivation = sp_states_derivation(v, rec);
    v->known->header.events_known = sp_field_nested(v, rec, SP_F_HEADER_events) != NULL;
}
