/*
 * Reads pprof: messages become tables by their ids, samples become stacks, one for each event in which a
 * sample has a value that is not 0. The format itself is described in pprof.h.
 */
#include "formats/pprof/pprof.h"

#include "base/watch.h"

#define UNKNOWN_MAX ((size_t)64 << 10) /* bytes of unknown fields that are kept */

/* ---- messages ---- */

/* {"field":16,"type":2,"hex":"…"}, numbers as 8 or 4 bytes or as they are. */
static void pprof_keep_unknown(struct sp_pprof *pp, const struct sp_wire_field *f, const unsigned char *at)
{
    struct sp_buf *b = &pp->unknown;
    size_t before = b->len;
    if (b->len > UNKNOWN_MAX || f->n > UNKNOWN_MAX / 2) {
        sp_emit(pp->d, SP_L724, sp_pprof_at(pp, at), "field %u", f->number);
        return;
    }
    sp_buf_printf(b, "%s{\"field\":%u,\"type\":%u,", before ? "," : "", f->number, f->type);
    if (f->type == SP_WIRE_BYTES)
        sp_pprof_put_hex(b, f->p, f->n);
    else
        sp_buf_printf(b, "\"value\":%llu}", (unsigned long long)f->v);
    sp_emit(pp->d, SP_W725, sp_pprof_at(pp, at), "field %u of the profile is not known; it was kept",
            f->number);
}

/* The first pass: where everything is. */
static spaa_status pprof_read_profile(struct sp_pprof *pp)
{
    struct sp_pprof_decoder d = sp_pprof_decoder_of(pp->in, pp->n);
    const struct sp_pprof_list *strings = &pp->file.strings;
    while (sp_pprof_decode(&d, &sp_pprof_profile_fields, &pp->file))
        pprof_keep_unknown(pp, &d.field, d.wire.at);
    if (d.nomem || pp->unknown.failed)
        return sp_nomem(pp->d);
    if (d.wire.error)
        sp_emit(pp->d, SP_L720, sp_pprof_at(pp, d.wire.at), "%s; %llu bytes were not read", d.wire.error,
                (unsigned long long)(d.wire.end - d.wire.at));
    if (strings->n && strings->v[0].n)
        sp_emit(pp->d, SP_W725, SP_AT_NOTHING, "the first string is \"%.*s\", and should be empty",
                strings->v[0].n > 40 ? 40 : (int)strings->v[0].n, strings->v[0].p);
    pp->strings = calloc(strings->n + 1, sizeof *pp->strings);
    return pp->strings ? SPAA_OK : sp_nomem(pp->d);
}

/* ---- ids ---- */

static void pprof_free_ids(struct sp_pprof_ids *ids)
{
    free(ids->dense);
    free(ids->ids);
    sp_map_free(&ids->map);
}

static bool pprof_begin_ids(struct sp_pprof_ids *x, size_t n)
{
    x->ndense = n < UINT32_MAX / 4 ? 2 * n + 64 : UINT32_MAX / 2;
    x->dense = calloc(x->ndense, sizeof *x->dense);
    x->ids = calloc(n + 1, sizeof *x->ids);
    return x->dense && x->ids;
}

/* Enters message i under its id; what is damaged behind the id is reported when the message is needed. */
static bool pprof_add_id(struct sp_pprof *pp, struct sp_pprof_ids *x, uint32_t i, struct sp_str message,
                         const struct sp_pprof_fields *fields)
{
    struct sp_pprof_decoder d = sp_pprof_decoder_of(message.p, message.n);
    uint64_t id = 0;
    while (sp_pprof_decode(&d, &sp_pprof_id_fields, &id))
        ;
    x->ids[i] = id;
    if (id && id < x->ndense && !x->dense[id]) {
        x->dense[id] = i + 1;
        return true;
    }
    if (!id || sp_pprof_find(x, id) != SP_NONE) {
        sp_emit(pp->d, id ? SP_W725 : SP_L722, sp_pprof_at(pp, message.p),
                id ? "a second %s %llu; the first one counts" : "a %s without an id (%llu)",
                sp_pprof_message_name(fields), (unsigned long long)id);
        return true;
    }
    return sp_map_add(&x->map, sp_pprof_id_hash(id), i);
}

static bool pprof_index(struct sp_pprof *pp, struct sp_pprof_ids *x, const struct sp_pprof_list *messages,
                        const struct sp_pprof_fields *fields)
{
    bool ok = pprof_begin_ids(x, messages->n);
    for (uint32_t i = 0; ok && i < messages->n; i++)
        ok = pprof_add_id(pp, x, i, messages->v[i], fields);
    return ok;
}

/* ---- tables ---- */

static bool pprof_is_kernel(struct sp_str file)
{
    static const struct sp_str starts[] = {{"[kernel", 7}, {"[guest.kernel", 13}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (file.n >= starts[i].n && memcmp(file.p, starts[i].p, starts[i].n) == 0)
            return true;
    return file.n > 3 && memcmp(file.p + file.n - 3, ".ko", 3) == 0;
}

/* The DSO of a mapping; SP_NONE: out of memory. */
static uint32_t pprof_mapping_dso(struct sp_pprof *pp, const struct sp_pprof_mapping *m)
{
    struct sp_str name = sp_pstr(pp->p, m->file);
    if (!name.n || sp_str_is(name, "[unknown]"))
        return pp->unknown_dso;
    struct sp_dso dso = {.name = m->file, .is_kernel = pprof_is_kernel(name)};
    if (sp_pprof_is_build_id(sp_pstr(pp->p, m->build_id)))
        dso.build_id = m->build_id;
    if (!sp_pprof_is_linked(m))
        dso.place.ips = SP_DSO_FILE_OFFSET;
    return sp_dso_intern(pp->p, &dso);
}

static bool pprof_read_mapping(struct sp_pprof *pp, uint32_t number)
{
    const struct sp_str message = pp->file.mappings.v[number];
    struct sp_pprof_mapping_msg msg = {0};
    if (!pprof_add_id(pp, &pp->mapping_ids, number, message, &sp_pprof_mapping_fields) ||
        !sp_pprof_read(pp, &sp_pprof_mapping_fields, message, &msg))
        return false;
    struct sp_pprof_mapping m = {.start = msg.start, .limit = msg.limit, .offset = msg.offset};
    for (unsigned k = 0; k < 4; k++)
        m.has |= (uint8_t)((msg.has[k] != 0) << k);
    m.file = sp_pprof_str(pp, msg.file);
    m.build_id = sp_pprof_str(pp, msg.build_id);
    if (m.file == SP_STR_FAIL || m.build_id == SP_STR_FAIL)
        return false;
    m.dso = pprof_mapping_dso(pp, &m);
    return m.dso != SP_NONE && sp_vec_push(&pp->maps.list, m);
}

/* Mappings, and by their ids the locations and functions, which samples will ask for. */
static spaa_status pprof_read_tables(struct sp_pprof *pp)
{
    struct sp_pprof_profile_msg *file = &pp->file;
    struct sp_dso unknown = {.name = sp_profile_cstr(pp->p, "[unknown]")};
    pp->unknown_dso = unknown.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(pp->p, &unknown);
    pp->maps.unknown = pp->unknown_dso;
    bool ok = pp->unknown_dso != SP_NONE && pprof_begin_ids(&pp->mapping_ids, file->mappings.n);
    for (uint32_t i = 0; ok && i < file->mappings.n; i++)
        ok = pprof_read_mapping(pp, i);
    ok = ok && sp_pprof_mappings_index(&pp->maps, pp->p->dsos.n) &&
         pprof_index(pp, &pp->function_ids, &file->functions, &sp_pprof_function_fields) &&
         pprof_index(pp, &pp->location_ids, &file->locations, &sp_pprof_location_fields);
    pp->functions = calloc(file->functions.n + 1, sizeof *pp->functions);
    pp->locations = calloc(file->locations.n + 1, sizeof *pp->locations);
    pp->single_frames = calloc(pp->location_ids.ndense + 1, sizeof *pp->single_frames);
    return ok && pp->functions && pp->locations && pp->single_frames ? SPAA_OK : sp_nomem(pp->d);
}

/* ---- samples ---- */

/* Where the field begins that holds a sample's location id number `k`: only reports ask for it. */
static const unsigned char *pprof_field_of_id(struct sp_str message, size_t k)
{
    struct sp_wire w = sp_wire_of((const unsigned char *)message.p, message.n);
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        struct sp_wire ids = sp_wire_numbers_of(&f);
        if (f.number != 1)
            continue;
        if (f.type == SP_WIRE_VARINT && !k--)
            break;
        for (uint64_t id; sp_wire_number(&ids, &id);)
            if (!k--)
                return w.at;
    }
    return w.at;
}

static spaa_status pprof_leave_out(struct sp_pprof *pp, const void *at, const char *why)
{
    sp_emit(pp->d, SP_L723, sp_pprof_at(pp, at), "%s; the sample was left out", why);
    return SPAA_ERR_LIMIT;
}

/* The same of one location, which is number k of the sample's, with room for one frame for each of the
 * others. */
static spaa_status pprof_add_location(struct sp_pprof *pp, struct sp_str message, size_t k)
{
    const struct sp_pprof_numbers *ids = &pp->sample.locations;
    const uint64_t id = ids->v[k];
    const uint32_t number = sp_pprof_find(&pp->location_ids, id);
    if (number == SP_NONE) {
        sp_emit(pp->d, SP_L722, sp_pprof_at(pp, pprof_field_of_id(message, k)),
                "a sample in location %llu; the frame was left out", (unsigned long long)id);
        return SPAA_OK;
    }
    const struct sp_pprof_location *l = &pp->locations[number];
    if ((!l->n && !sp_pprof_frames(pp, number)) ||
        !sp_vec_reserve(&pp->stack, pp->stack.n + l->n + (ids->n - k)))
        return sp_nomem(pp->d);
    memcpy(pp->stack.v + pp->stack.n, pp->loc_frames.v + l->first, l->n * sizeof *pp->stack.v);
    pp->stack.n += l->n;
    if (l->n == 1 && id < pp->location_ids.ndense)
        pp->single_frames[id] = pp->loc_frames.v[l->first] + 1;
    if (pp->stack.n <= PPROF_STACK_MAX)
        return SPAA_OK;
    return pprof_leave_out(pp, pprof_field_of_id(message, k), "more than a million frames in one stack");
}

/* The frames of the sample's locations into pp->stack; SPAA_ERR_LIMIT (reported): it cannot be used. */
static spaa_status pprof_sample_frames(struct sp_pprof *pp, struct sp_str message)
{
    const struct sp_pprof_numbers *ids = &pp->sample.locations;
    const size_t ndense = pp->location_ids.ndense, count = ids->n;
    const uint32_t *const single_frames = pp->single_frames;
    spaa_status st = SPAA_OK;
    size_t k = 0;
    pp->stack.n = 0;
    if (!sp_vec_reserve(&pp->stack, count))
        return sp_nomem(pp->d);
    while (!st && k < count) {
        uint32_t *out = pp->stack.v + pp->stack.n, frame;
        for (const uint64_t *id = ids->v; k < count && id[k] < ndense && (frame = single_frames[id[k]]); k++)
            *out++ = frame - 1;
        pp->stack.n = (size_t)(out - pp->stack.v);
        if (k < count)
            st = pprof_add_location(pp, message, k++);
    }
    if (!st && pp->stack.n > PPROF_STACK_MAX)
        return pprof_leave_out(pp, pprof_field_of_id(message, ids->n - 1),
                               "more than a million frames in one stack");
    return st;
}

/* As many values as there are types: missing ones are 0. */
static spaa_status pprof_fit_values(struct sp_pprof *pp, struct sp_str message)
{
    struct sp_pprof_numbers *values = &pp->sample.values;
    size_t n = pp->file.sample_types.n;
    if (values->n != n && !(n > PPROF_TYPES_MAX && values->n > PPROF_TYPES_MAX))
        sp_emit(pp->d, SP_L721, sp_pprof_at(pp, message.p), "%zu values for %zu sample types; %s", values->n,
                n, values->n < n ? "the others were taken as 0" : "the others were left out");
    while (values->n < pp->ntypes)
        if (!sp_vec_push(values, 0))
            return sp_nomem(pp->d);
    return SPAA_OK;
}

static spaa_status pprof_add_stack(struct sp_pprof *pp, uint32_t event, uint32_t set)
{
    const struct sp_pprof_event *e = &pp->event[event];
    uint32_t context = sp_pprof_context(pp, set, event);
    bool is_new;
    if (context == SP_NONE)
        return sp_nomem(pp->d);
    uint32_t s = sp_stack_intern(pp->p, pp->stack.v, pp->stack.n, context, SP_UNIFIED, &is_new);
    if (s == SP_NONE)
        return sp_nomem(pp->d);
    if (is_new)
        sp_stack_set_layout(pp->p, s, e->layout);
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (!sp_weight_add(pp->p, s, pp->type[e->types[i]].metric, (int64_t)pp->sample.values.v[e->types[i]]))
            return sp_nomem(pp->d);
    return SPAA_OK;
}

static bool pprof_has_value(const struct sp_pprof *pp, uint32_t event)
{
    const struct sp_pprof_event *e = &pp->event[event];
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (pp->sample.values.v[e->types[i]])
            return true;
    return false;
}

/* The sample in work, whose parts are all there, as stacks. */
static spaa_status pprof_add_sample(struct sp_pprof *pp)
{
    spaa_status st = SPAA_OK;
    uint32_t set = sp_pprof_label_set(pp, &pp->sample.labels);
    bool any = false;
    if (set == SP_NONE)
        return sp_nomem(pp->d);
    for (uint32_t e = 0; !st && e < pp->nevents; e++)
        if (pprof_has_value(pp, e)) {
            st = pprof_add_stack(pp, e, set);
            any = true;
        }
    return st || any ? st : pprof_add_stack(pp, 0, set); /* nothing but zeros is a sample, too */
}

/* What of it can be read into pp->sample, pp->stack; SPAA_ERR_LIMIT (reported): it cannot be used. */
static spaa_status pprof_decode_sample(struct sp_pprof *pp, struct sp_str message)
{
    struct sp_pprof_sample_msg *s = &pp->sample;
    struct sp_pprof_decoder d = sp_pprof_decoder_of(message.p, message.n);
    s->locations.n = s->values.n = s->labels.n = 0;
    while (sp_pprof_decode(&d, &sp_pprof_sample_fields, s))
        pp->odd++;
    if (d.nomem)
        return sp_nomem(pp->d);
    spaa_status st = pprof_sample_frames(pp, message);
    if (st)
        return st;
    if (d.error) {
        sp_emit(pp->d, SP_L721, sp_pprof_at(pp, d.at), "%s; the sample was left out", d.error);
        return SPAA_ERR_LIMIT;
    }
    st = pprof_fit_values(pp, message);
    if (!st && pp->p->stack_frames.n + pp->stack.n > PPROF_FRAMES_MIN + 16 * pp->n)
        return pprof_leave_out(pp, message.p, "far more frames than bytes in the input");
    return st;
}

/* Room for what the samples are if all are new; growing would move it. One of less than 16 bytes is rare. */
static bool pprof_make_room(struct sp_pprof *pp)
{
    struct sp_pprof_amount samples = pp->file.samples;
    size_t n = samples.n < samples.bytes / 16 ? samples.n : samples.bytes / 16;
    return sp_vec_reserve(&pp->p->stacks, n) && sp_vec_reserve(&pp->p->stack_frames, samples.bytes / 2);
}

/* The second pass. */
static spaa_status pprof_read_samples(struct sp_pprof *pp)
{
    enum { ASK_SAMPLES = 256 };
    struct sp_wire w = sp_wire_of(pp->in, pp->n);
    size_t samples = 0;
    spaa_status st = SPAA_OK;
    if (!pprof_make_room(pp) || sp_pprof_label_set(pp, &pp->sample.labels) != 0)
        return sp_nomem(pp->d);
    for (struct sp_wire_field f; !st && sp_wire_next(&w, &f);) {
        if (f.number != PPROF_SAMPLE || f.type != SP_WIRE_BYTES)
            continue;
        if (samples++ % ASK_SAMPLES == 0 &&
            sp_progress(pp->d, "reading", pp->d->file, "bytes", (uint64_t)(f.p - pp->in), pp->n))
            return SPAA_ERR_CANCELLED;
        if (f.n < UINT32_MAX)
            st = pprof_decode_sample(pp, (struct sp_str){(const char *)f.p, (uint32_t)f.n});
        else
            st = pprof_leave_out(pp, f.p, "a sample of more than 4 GiB");
        if (!st)
            st = pprof_add_sample(pp);
        else if (st == SPAA_ERR_LIMIT)
            st = SPAA_OK;
    }
    return st;
}

/* ---- all of it ---- */

static void pprof_report(struct sp_pprof *pp)
{
    size_t n = pp->file.locations.n;
    if (pp->odd)
        sp_emit(pp->d, SP_L724, SP_AT_NOTHING, "%llu fields inside of messages", (unsigned long long)pp->odd);
    if (pp->damaged_text)
        sp_emit(pp->d, SP_W725, SP_AT_NOTHING, "keys of labels that are no UTF-8; these bytes became U+FFFD");
    if (pp->used < n)
        sp_emit(pp->d, SP_I740, SP_AT_NOTHING, "%llu of %zu locations are in no sample",
                (unsigned long long)(n - pp->used), n);
}

static void pprof_release(struct sp_pprof *pp)
{
    struct sp_pprof_list *lists[] = {&pp->file.sample_types, &pp->file.mappings, &pp->file.locations,
                                     &pp->file.functions,    &pp->file.strings,  &pp->location.lines,
                                     &pp->sample.labels};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        sp_vec_free(lists[i]);
    sp_vec_free(&pp->file.comments);
    free(pp->strings);
    sp_buf_free(&pp->unknown);
    pprof_free_ids(&pp->mapping_ids);
    pprof_free_ids(&pp->location_ids);
    pprof_free_ids(&pp->function_ids);
    sp_vec_free(&pp->maps.list);
    sp_vec_free(&pp->maps.first);
    free(pp->locations);
    free(pp->functions);
    free(pp->single_frames);
    sp_vec_free(&pp->loc_frames);
    sp_vec_free(&pp->lines);
    sp_vec_free(&pp->sample.locations);
    sp_vec_free(&pp->sample.values);
    sp_vec_free(&pp->stack);
    sp_vec_free(&pp->sets);
    sp_vec_free(&pp->contexts);
    sp_buf_free(&pp->label_text);
    sp_map_free(&pp->set_map);
    sp_buf_free(&pp->text);
    sp_buf_free(&pp->text2);
}

spaa_status sp_pprof_read_file(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                               struct sp_profile *p)
{
    struct sp_pprof pp = {.p = p, .d = d, .opts = opts};
    spaa_status st = sp_input_whole(in, &pp.in, &pp.n);
    if (st)
        return st;
    sp_buf_init(&pp.unknown, 0);
    sp_buf_init(&pp.label_text, (size_t)8 << 30);
    sp_buf_init(&pp.text, 0);
    sp_buf_init(&pp.text2, 0);
    st = pprof_read_profile(&pp);
    if (!st)
        sp_pprof_find_mark(&pp);
    if (!st)
        st = sp_pprof_types(&pp);
    if (!st)
        st = pprof_read_tables(&pp);
    if (!st)
        st = pprof_read_samples(&pp);
    if (!st)
        st = sp_pprof_header(&pp);
    if (!st)
        pprof_report(&pp);
    pprof_release(&pp);
    return st;
}
