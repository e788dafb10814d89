/*
 * Reads SPT into a profile.
 *
 * Each opcode that occurs is an event. A sample of the instruction pointer is a stack of one frame, a call
 * stack its frames, a branch a stack of two: to at the leaf, from at the root, of event `lbr`. SPT knows no
 * threads and no times. Hits are the metric `samples`, of branches `branches`. A frame's ip is its RVA;
 * callers are looked up one byte before it, where the call is.
 *
 * A call stack of no frames has nothing to say of which binary it is, so its context does: x_spt.
 */
#include "formats/spt/spt_format.h"

#include "base/hash.h"
#include "base/num.h"
#include "formats/spt/hits.h"
#include "formats/spt/names.h"
#include "symbols/bind.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Which frames an address of a program is. */
struct place {
    uint64_t key;
    uint32_t first, n; /* of `frames`; n 0: an empty slot */
};

struct reader {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_spt file;
    struct sp_spt_hits hits;
    struct sp_spt_names *names;
    struct sp_binder *binder;
    uint32_t *objects;        /* of the binder, by program; SP_NONE: not there yet */
    struct sp_numbers frames; /* of all places, one run behind the other */
    struct sp_numbers stack;
    uint32_t programs;
    struct place *places;
    size_t places_mask, places_n;
    uint32_t event[SP_SPT_KINDS], context[SP_SPT_KINDS], layout[SP_SPT_KINDS], metric[SP_SPT_KINDS];
    bool seen[SP_SPT_KINDS];
    struct sp_buf text;
};

/* Drivers and the kernel proper, by what Windows calls them. */
static bool spt_is_kernel(struct sp_str path)
{
    static const char *const names[] = {"ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe",
                                        "ntkrpamp.exe", "hal.dll",      "halmacpi.dll",
                                        "kdcom.dll",    "ci.dll",       "securekernel.exe"};
    struct sp_str base = sp_spt_base_name(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == base.n && strncasecmp(names[i], base.p, base.n) == 0)
            return true;
    return base.n > 4 && strncasecmp(base.p + base.n - 4, ".sys", 4) == 0;
}

/* The object of a program, also of one that is not in the table. */
static uint32_t spt_object_of(struct reader *r, uint32_t program)
{
    char room[32], key[SP_RSDS_KEY_ROOM];
    if (r->objects[program] != SP_NONE)
        return r->objects[program];
    struct sp_str name = sp_spt_program_name(&r->file, program, room);
    struct sp_object o = {.kind = SP_OBJECT_FILE, .path = name, .is_kernel = spt_is_kernel(name)};
    if (program < r->file.nprograms)
        o.build_id = (struct sp_str){key, (uint32_t)sp_rsds_key(&r->file.programs[program].rsds, false, key)};
    return r->objects[program] = sp_binder_object(r->binder, &o);
}

static uint32_t spt_dso_of(struct reader *r, uint32_t program)
{
    uint32_t object = spt_object_of(r, program);
    return object == SP_NONE ? SP_NONE : sp_binder_dso(r->binder, object);
}

/* Appends the frames of an address: its function and what is inlined there. */
static spaa_status spt_make_frames(struct reader *r, uint32_t program, uint32_t rva, bool caller)
{
    struct sp_place at = {
        .object = spt_object_of(r, program), .addr = rva, .code = SP_MODULE_LATEST, .is_return = caller};
    struct sp_named named = {.ip = rva};
    if (at.object == SP_NONE)
        return sp_nomem(r->d);
    at.kind = sp_binder_object_at(r->binder, at.object)->is_kernel ? SP_KERNEL : SP_USER;
    spaa_status st = SPAA_OK;
    if (!sp_spt_names_has(r->names, program))
        st = sp_binder_name(r->binder, &at, &named);
    else if (!sp_spt_names_find(r->names, program, rva - (caller && rva), &named))
        st = sp_nomem(r->d);
    return st ? st : sp_binder_put(r->binder, &at, &named, SP_STR_NONE, &r->frames);
}

static inline uint64_t spt_place_key(uint32_t program, uint32_t rva, bool caller)
{
    return (uint64_t)program << 33 | (uint64_t)rva << 1 | caller;
}

static bool spt_grow_places(struct reader *r)
{
    size_t n = r->places ? 2 * (r->places_mask + 1) : 1024;
    struct place *fresh = calloc(n, sizeof *fresh);
    if (!fresh)
        return false;
    for (size_t i = 0; r->places && i <= r->places_mask; i++) {
        if (!r->places[i].n)
            continue;
        size_t at = (size_t)sp_hash_mix(r->places[i].key, 0) & (n - 1);
        while (fresh[at].n)
            at = (at + 1) & (n - 1);
        fresh[at] = r->places[i];
    }
    free(r->places);
    r->places = fresh;
    r->places_mask = n - 1;
    return true;
}

/* Appends the frames of an address to the stack. */
static spaa_status spt_push_place(struct reader *r, uint32_t program, uint32_t rva, bool caller)
{
    uint64_t key = spt_place_key(program, rva, caller);
    if (2 * (r->places_n + 1) > r->places_mask && !spt_grow_places(r))
        return sp_nomem(r->d);
    size_t i = (size_t)sp_hash_mix(key, 0) & r->places_mask;
    while (r->places[i].n && r->places[i].key != key)
        i = (i + 1) & r->places_mask;
    if (!r->places[i].n) {
        size_t first = r->frames.n;
        spaa_status st = spt_make_frames(r, program, rva, caller);
        if (st)
            return st;
        r->places[i] = (struct place){key, (uint32_t)first, (uint32_t)(r->frames.n - first)};
        r->places_n++;
    }
    const struct place *at = &r->places[i];
    if (!sp_vec_reserve(&r->stack, r->stack.n + at->n))
        return sp_nomem(r->d);
    memcpy(r->stack.v + r->stack.n, r->frames.v + at->first, at->n * sizeof *r->stack.v);
    r->stack.n += at->n;
    return SPAA_OK;
}

/* A context of an empty stack that names its binary. */
static uint32_t spt_empty_context(struct reader *r, uint32_t program, int kind)
{
    struct sp_context c = r->p->contexts.v[r->context[kind]];
    uint32_t dso = spt_dso_of(r, program);
    if (dso == SP_NONE)
        return SP_NONE;
    struct sp_str name = sp_pstr(r->p, r->p->dsos.v[dso].name),
                  id = sp_pstr(r->p, r->p->dsos.v[dso].build_id);
    sp_buf_clear(&r->text);
    sp_buf_puts(&r->text, "\"x_spt\":{\"binary\":");
    sp_json_string(&r->text, name.p, name.n);
    if (id.n) {
        sp_buf_puts(&r->text, ",\"build_id\":");
        sp_json_string(&r->text, id.p, id.n);
    }
    sp_buf_ch(&r->text, '}');
    c.extra_json = r->text.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->text.data, r->text.len);
    return c.extra_json == SP_STR_FAIL ? SP_NONE : sp_context_intern(r->p, &c);
}

static bool spt_add_weight(struct reader *r, uint32_t stack, uint32_t metric, struct sp_spt_sum sum)
{
    char t[64];
    if (!sum.high && sum.low <= INT64_MAX)
        return sp_weight_add(r->p, stack, metric, (int64_t)sum.low);
    __int128 whole = (__int128)sum.high << 64 | sum.low;
    return sp_weight_add_text(r->p, stack, metric, t, sp_scaled_text(whole, 0, t));
}

/* A thing of the trace as a stack. Two programs may be one binary, addresses one function. */
static spaa_status reader_spt_add_stack(struct reader *r, const struct sp_spt_thing *t)
{
    bool calls = t->kind == SP_SPT_KIND_CALLSTACK, is_new;
    uint32_t context = t->n ? r->context[t->kind] : spt_empty_context(r, t->program, t->kind);
    if (context == SP_NONE)
        return sp_nomem(r->d);
    r->stack.n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        spaa_status st = spt_push_place(r, t->program, t->addresses[i], calls && i);
        if (st)
            return st;
    }
    uint32_t stack = sp_stack_intern(r->p, r->stack.v, (uint32_t)r->stack.n, context, SP_UNIFIED, &is_new);
    if (stack == SP_NONE)
        return sp_nomem(r->d);
    if (is_new)
        sp_stack_set_layout(r->p, stack, r->layout[t->kind]);
    return spt_add_weight(r, stack, r->metric[t->kind], t->sum) ? SPAA_OK : sp_nomem(r->d);
}

static bool spt_declare(struct reader *r, int kind)
{
    struct sp_profile *p = r->p;
    const struct sp_spt_kind *k = &sp_spt_kinds[kind];
    struct sp_event e = {.name = sp_profile_cstr(p, k->event), .kind = k->kind, .mode = SP_PERIOD};
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    r->metric[kind] =
        kind == SP_SPT_KIND_LBR ? sp_metric_intern(p, "branches", 8) : sp_metric_intern(p, "samples", 7);
    e.primary = r->metric[kind];
    if (e.name == SP_STR_FAIL || e.primary == SP_NONE)
        return false;
    c.event = r->event[kind] = sp_event_add(p, &e);
    r->context[kind] = c.event == SP_NONE ? SP_NONE : sp_context_intern(p, &c);
    r->layout[kind] = sp_layout_simple(p, r->metric[kind], SP_STR_NONE, SP_NONE, SP_STR_NONE);
    return r->context[kind] != SP_NONE && r->layout[kind] != SP_NONE;
}

static bool spt_fill_header(struct reader *r)
{
    struct sp_header *h = &r->p->header;
    const struct sp_spt *f = &r->file;
    sp_buf_clear(&r->text);
    sp_buf_printf(
        &r->text,
        "\"x_spt\":{\"version\":%u,\"raw_data_id\":%u,\"target_arch\":%u,\"string_table_offset\":%u,"
        "\"string_table_used\":%u,\"string_table_capacity\":%u,\"program_id_table_offset\":%u,"
        "\"program_ids_used\":%u,\"program_id_capacity\":%u}",
        f->version, f->raw_data_id, f->target_arch, f->strings_at, f->strings_used, f->strings_capacity,
        f->programs_at, f->programs_used, f->programs_capacity);
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = sp_profile_cstr(r->p, "spt");
    h->extra_json = r->text.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->text.data, r->text.len);
    h->has_x_spaa = true;
    h->frames = r->opts->frames ? r->opts->frames : SP_FRAMES_ADDRESS;
    h->group_by = 0;
    return h->version != SP_STR_FAIL && h->source_tool != SP_STR_FAIL && h->extra_json != SP_STR_FAIL;
}

static spaa_status spt_fill(struct reader *r)
{
    bool ok = spt_fill_header(r);
    spaa_status st;
    for (uint32_t i = 0; i < r->programs; i++)
        r->objects[i] = SP_NONE;
    for (uint32_t i = 0; ok && i < r->file.nprograms; i++)
        ok = spt_dso_of(r, i) != SP_NONE;
    for (int kind = 0; ok && kind < SP_SPT_KINDS; kind++)
        ok = !r->seen[kind] || spt_declare(r, kind);
    ok = ok && sp_spt_hits_finish(&r->hits);
    for (int calls = 0; calls < 2; calls++) /* call stacks last */
        for (size_t i = 0; ok && i < sp_spt_hits_count(&r->hits); i++) {
            struct sp_spt_thing t = sp_spt_hits_at(&r->hits, i);
            if ((t.kind == SP_SPT_KIND_CALLSTACK) == calls && (st = reader_spt_add_stack(r, &t)))
                return st;
        }
    return ok ? SPAA_OK : sp_nomem(r->d);
}

/* The entries of a record: a call stack is one thing, all else is a thing for each. */
static bool spt_add_record(struct reader *r, const struct sp_spt_record *rec)
{
    uint32_t addresses[2 * 255];
    uint32_t each = rec->kind == SP_SPT_KIND_LBR ? 2 : 1,
             n = rec->kind == SP_SPT_KIND_LBR ? 2 * rec->n : rec->n;
    struct sp_spt_sum sum = {rec->hits, 0};
    bool ok = true;
    for (uint32_t i = 0; i < n; i++)
        addresses[i] = sp_spt_u32(rec->entries + (size_t)4 * i);
    if (rec->program >= r->programs)
        r->programs = rec->program + 1;
    if (n || rec->kind == SP_SPT_KIND_CALLSTACK)
        r->seen[rec->kind] = true;
    if (rec->kind == SP_SPT_KIND_CALLSTACK)
        return sp_spt_hits_add(&r->hits, rec->program, rec->kind, addresses, n, sum);
    for (uint32_t i = 0; ok && i < n; i += each)
        ok = sp_spt_hits_add(&r->hits, rec->program, rec->kind, addresses + i, each, sum);
    return ok;
}

static spaa_status spt_read_stream(struct reader *r, struct sp_input *in)
{
    struct sp_spt_stream s;
    struct sp_spt_record rec;
    spaa_status st;
    sp_spt_begin(&s, in, &r->file, r->d);
    r->programs = r->file.nprograms;
    while (!(st = sp_spt_next(&s, &rec)) && rec.what != SP_SPT_END)
        if (rec.what == SP_SPT_EVENT && rec.hits && !spt_add_record(r, &rec))
            return sp_nomem(r->d);
    return st;
}

spaa_status sp_spt_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                        struct sp_profile *p)
{
    struct reader r = {.p = p, .d = d, .opts = opts};
    sp_buf_init(&r.text, 0);
    spaa_status st = sp_spt_hits_init(&r.hits, d);
    if (!st)
        st = sp_spt_open(in, d, &r.file);
    if (!st && !r.file.streams)
        st = SPAA_ERR_INPUT;
    if (!st)
        st = spt_read_stream(&r, in);
    if (!st)
        st = sp_spt_names_new(&r.file, opts, d, &r.names);
    struct sp_symbol_opts symbols = opts->symbols;
    if (!st)
        sp_spt_names_images(r.names, &symbols);
    if (!st)
        st = sp_binder_new(p, &symbols, opts->frames, d, &r.binder);
    if (!st && !(r.objects = malloc(((size_t)r.programs + 1) * sizeof *r.objects)))
        st = sp_nomem(d);
    if (!st)
        st = spt_fill(&r);
    if (!st)
        sp_spt_names_report(r.names);
    if (!st)
        st = sp_symbols_failed(sp_binder_symbols(r.binder));
    if (!st)
        st = sp_binder_report(r.binder);
    sp_spt_hits_free(&r.hits);
    sp_spt_close(&r.file);
    sp_buf_free(&r.text);
    free(r.places);
    free(r.objects);
    free(r.frames.v);
    free(r.stack.v);
    sp_binder_free(r.binder);
    sp_spt_names_free(r.names);
    return st;
}
