/*
 * Writes SPT.
 *
 * The file is rendered: what was added up (collect.c), each binary in one segment (more where it grows
 * large), per opcode by descending hits, then by address. Addresses of equal hits share a record; hits above
 * 1 are a REPEAT before it. Tables have the usual capacities, or those of the file that the profile came
 * from.
 */
#include "formats/spt/collect.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT_BYTES = 16 << 20 /* after which a segment is closed */ };

struct writer {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_output *out;
    struct sp_spt_collected *c;
    struct sp_buf segment;
    uint32_t program;
    uint64_t raw_data_id, target_arch, strings_capacity, programs_capacity;
};

static void spt_put(struct sp_buf *b, uint64_t v, unsigned bytes)
{
    char t[8];
    for (unsigned i = 0; i < bytes; i++)
        t[i] = (char)(v >> (8 * i));
    sp_buf_add(b, t, bytes);
}

static bool spt_flush_segment(struct writer *w)
{
    struct sp_buf head;
    char room[16];
    if (!w->segment.len)
        return !w->segment.failed;
    head = (struct sp_buf){.data = room, .cap = sizeof room, .max = sizeof room};
    spt_put(&head, SP_SPT_BINARY_ID, 1);
    spt_put(&head, 0, 1);
    spt_put(&head, w->program, 2);
    spt_put(&head, w->segment.len + 4, 4);
    sp_write(w->out, head.data, head.len);
    sp_write(w->out, w->segment.data, w->segment.len);
    bool ok = !w->segment.failed;
    sp_buf_clear(&w->segment);
    return ok;
}

/* n things of one kind and equal hits as one record; a sum beyond 64 bits takes several. */
static bool spt_put_record(struct writer *w, const struct sp_spt_thing *t, unsigned n)
{
    struct sp_spt_sum sum = t->sum;
    while (sum.low || sum.high) {
        uint64_t hits = sum.high ? UINT64_MAX : sum.low;
        sum.high -= sum.high && sum.low < hits;
        sum.low -= hits;
        if (hits > 1) {
            spt_put(&w->segment, SP_SPT_REPEAT, 1);
            spt_put(&w->segment, 0, 1);
            spt_put(&w->segment, hits - 1, 8);
        }
        spt_put(&w->segment, sp_spt_kinds[t->kind].op, 1);
        spt_put(&w->segment, t->kind == SP_SPT_KIND_CALLSTACK ? t->n : n, 1);
        for (unsigned i = 0; i < n; i++)
            for (uint32_t k = 0; k < t[i].n; k++)
                spt_put(&w->segment, t[i].addresses[k], 4);
        if (w->segment.len > SEGMENT_BYTES && !spt_flush_segment(w))
            return false;
    }
    return !w->segment.failed;
}

static int spt_by_sum(const struct sp_spt_sum *x, const struct sp_spt_sum *y)
{
    if (x->high != y->high)
        return x->high < y->high ? 1 : -1;
    return (x->low < y->low) - (x->low > y->low);
}

/* By program and kind, then by descending hits, then by addresses. */
static int spt_by_place(const void *a, const void *b)
{
    const struct sp_spt_thing *x = a, *y = b;
    if (x->program != y->program)
        return x->program < y->program ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int c = spt_by_sum(&x->sum, &y->sum);
    for (uint32_t i = 0; !c && i < x->n && i < y->n; i++)
        c = (x->addresses[i] > y->addresses[i]) - (x->addresses[i] < y->addresses[i]);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

/* How many of the things from t on share a record. */
static unsigned spt_share(const struct sp_spt_thing *t, size_t left)
{
    unsigned n = 1;
    while (t->kind != SP_SPT_KIND_CALLSTACK && n < 255 && n < left && t[n].program == t->program &&
           t[n].kind == t->kind && !spt_by_sum(&t[n].sum, &t->sum))
        n++;
    return n;
}

static bool spt_write_segments(struct writer *w)
{
    const struct sp_spt_thing *t = w->c->things.v;
    size_t n = w->c->things.n;
    bool ok = true;
    if (n)
        qsort(w->c->things.v, n, sizeof *t, spt_by_place);
    for (size_t i = 0, k; ok && i < n; i += k) {
        k = spt_share(t + i, n - i);
        if (t[i].program != w->program)
            ok = spt_flush_segment(w);
        w->program = t[i].program;
        ok = ok && spt_put_record(w, t + i, (unsigned)k);
    }
    return ok && spt_flush_segment(w);
}

/* Fields of the file that the profile came from, in the header's x_spt. */
static void spt_read_origin(struct writer *w)
{
    struct sp_span key, raw;
    struct sp_json j;
    struct sp_buf text;
    sp_buf_init(&text, 0);
    if (sp_spt_enter(&j, &text, sp_pstr(w->p, w->p->header.extra_json)))
        while (sp_json_key(&j, &key)) {
            uint64_t *to = sp_span_is(key, "raw_data_id")             ? &w->raw_data_id
                           : sp_span_is(key, "target_arch")           ? &w->target_arch
                           : sp_span_is(key, "string_table_capacity") ? &w->strings_capacity
                           : sp_span_is(key, "program_id_capacity")   ? &w->programs_capacity
                                                                      : NULL;
            if (!to || sp_json_type(&j) != SP_JSON_NUMBER)
                sp_json_skip(&j, &raw);
            else
                sp_json_u64(&j, to);
        }
    sp_json_free(&j);
    sp_buf_free(&text);
}

static spaa_status spt_no_room(struct writer *w, const char *what, size_t n)
{
    sp_emit_hint(w->d, SP_E420, SP_AT_NOTHING, "`--binary NAME` writes only some of them",
                 "%zu %s, SPT has room for 65535", n, what);
    return SPAA_ERR_UNSUPPORTED;
}

static uint64_t spt_capacity(uint64_t origin, uint64_t usual, size_t need)
{
    uint64_t v = origin && origin <= UINT16_MAX ? origin : usual;
    return v >= need ? v : need;
}

/* The names one behind the other; index[i] is where that of program i stands. */
static bool spt_lay_out_names(const struct sp_spt_collected *c, struct sp_buf *strings, uint32_t *index)
{
    for (size_t i = 0; i < c->programs.n; i++) {
        struct sp_str name = c->programs.v[i].name;
        if (i && sp_str_cmp(c->programs.v[i - 1].name, name) == 0) {
            index[i] = index[i - 1];
            continue;
        }
        index[i] = (uint32_t)strings->len;
        sp_buf_add(strings, name.p, name.n);
        sp_buf_ch(strings, '\0');
    }
    return !strings->failed;
}

static void spt_fill_to(struct sp_buf *b, uint64_t size)
{
    while (!b->failed && b->len < size)
        sp_buf_ch(b, '\0');
}

static void spt_lay_out_tables(const struct writer *w, const struct sp_buf *strings, const uint32_t *index,
                               struct sp_buf *out)
{
    size_t n = w->c->programs.n;
    uint64_t room = spt_capacity(w->strings_capacity, SP_SPT_STRINGS_USUAL, strings->len),
             programs = spt_capacity(w->programs_capacity, SP_SPT_PROGRAMS_USUAL, n);
    spt_put(out, SP_SPT_SIGNATURE, 4);
    spt_put(out, 1, 4);
    spt_put(out, w->raw_data_id, 4);
    spt_put(out, w->target_arch, 4);
    spt_put(out, SP_SPT_HEADER_BYTES, 4);
    spt_put(out, SP_SPT_HEADER_BYTES + room, 4);
    spt_put(out, strings->len, 2);
    spt_put(out, room, 2);
    spt_put(out, n, 2);
    spt_put(out, programs, 2);
    sp_buf_add(out, strings->data, strings->len);
    spt_fill_to(out, SP_SPT_HEADER_BYTES + room);
    for (size_t i = 0; i < n; i++) {
        sp_buf_add(out, w->c->programs.v[i].rsds.guid, 16);
        spt_put(out, w->c->programs.v[i].rsds.age, 4);
        spt_put(out, index[i], 4);
    }
    spt_fill_to(out, SP_SPT_HEADER_BYTES + room + programs * SP_SPT_PROGRAM_BYTES);
}

/* Header, string table, program ID table. */
static spaa_status spt_write_tables(struct writer *w)
{
    struct sp_buf strings, head;
    spaa_status st = SPAA_OK;
    sp_buf_init(&strings, 0);
    sp_buf_init(&head, 0);
    uint32_t *index = calloc(w->c->programs.n + 1, sizeof *index);
    if (!index || !spt_lay_out_names(w->c, &strings, index))
        st = sp_nomem(w->d);
    else if (strings.len > UINT16_MAX)
        st = spt_no_room(w, "bytes of names", strings.len);
    else if (w->c->programs.n > UINT16_MAX)
        st = spt_no_room(w, "binaries", w->c->programs.n);
    if (!st) {
        spt_lay_out_tables(w, &strings, index, &head);
        if (head.failed)
            st = sp_nomem(w->d);
        else
            sp_write(w->out, head.data, head.len);
    }
    free(index);
    sp_buf_free(&strings);
    sp_buf_free(&head);
    return st;
}

spaa_status sp_spt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                         struct sp_output *out)
{
    struct sp_spt_collected c = {0};
    struct writer w = {.p = p, .d = d, .out = out, .c = &c};
    sp_buf_init(&w.segment, 0);
    spaa_status st = sp_spt_collect(p, opts, d, &c);
    if (!st) {
        spt_read_origin(&w);
        st = spt_write_tables(&w);
    }
    if (!st)
        st = spt_write_segments(&w) ? out->status : sp_nomem(d);
    sp_buf_free(&w.segment);
    sp_spt_collected_free(&c);
    return st;
}
