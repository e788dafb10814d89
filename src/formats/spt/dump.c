/*
 * `spaa dump`: an SPT file record by record as JSON lines, in constant memory. Addresses are hex strings as
 * everywhere in SPAA, offsets and counts numbers. Each line says its section:
 *
 *     {"section":"header","offset":0,…}
 *     {"section":"strtab","offset":32,"index":0,"text":"app.exe"}
 *     {"section":"progid","offset":16416,"id":0,"guid":"{…}","age":1,"string_index":0,"name":"app.exe",…}
 *     {"section":"event","offset":22560,"segment":0,"record":"SPT_OP_BINARY_ID",…}
 *     {"section":"total","program":0,"name":"app.exe","record":"SPT_OP_LBR","records":9,…}
 */
#include "base/num.h"
#include "formats/common/spt/tally.h"
#include "formats/spt/spt_format.h"
#include "json/json.h"

#include <string.h>

enum { HEADER = 1, STRINGS = 2, PROGRAMS = 4, EVENTS = 8, TOTALS = 16 };

const struct sp_dump_section sp_spt_sections[] = {{"header", "the header's fields"},
                                                  {"strtab", "the string table, string by string"},
                                                  {"progid", "GUID, age and name of each binary"},
                                                  {"event", "the records of the data stream"},
                                                  {"total", "hits of each binary and opcode"},
                                                  {0}};

struct dumper {
    struct sp_output *out;
    const struct sp_spt *f;
    struct sp_buf names; /* a program's name as JSON */
    uint32_t named;      /* of this one; SP_NONE: none yet */
    struct sp_jw w;
};

static void spt_open_line(struct dumper *u, const char *section, uint64_t offset)
{
    sp_jw_init(&u->w, u->out);
    sp_jw_open(&u->w, NULL, '{');
    sp_jw_cstr(&u->w, "section", section);
    if (offset != SP_NOWHERE)
        sp_jw_u64(&u->w, "offset", offset);
}

static void spt_close_line(struct dumper *u)
{
    sp_jw_close(&u->w, '}');
    sp_puts(u->out, "\n");
    sp_jw_free(&u->w);
}

static void spt_dump_header(struct dumper *u)
{
    const struct sp_spt *f = u->f;
    spt_open_line(u, "header", 0);
    sp_jw_cstr(&u->w, "signature", "0x5350543a");
    sp_jw_bool(&u->w, "signature_as_text", f->text_order);
    sp_jw_u64(&u->w, "version", f->version);
    sp_jw_u64(&u->w, "raw_data_id", f->raw_data_id);
    sp_jw_u64(&u->w, "target_arch", f->target_arch);
    sp_jw_u64(&u->w, "string_table_offset", f->strings_at);
    sp_jw_u64(&u->w, "program_id_table_offset", f->programs_at);
    sp_jw_u64(&u->w, "string_table_used", f->strings_used);
    sp_jw_u64(&u->w, "string_table_capacity", f->strings_capacity);
    sp_jw_u64(&u->w, "program_ids_used", f->programs_used);
    sp_jw_u64(&u->w, "program_id_capacity", f->programs_capacity);
    sp_jw_u64(&u->w, "data_stream_offset", f->data_at);
    spt_close_line(u);
}

static void spt_dump_strings(struct dumper *u)
{
    const struct sp_spt *f = u->f;
    for (size_t at = 0; at < f->nstrings;) {
        size_t n = strnlen(f->strings + at, f->nstrings - at);
        spt_open_line(u, "strtab", f->strings_at + at);
        sp_jw_u64(&u->w, "index", at);
        sp_jw_str(&u->w, "text", f->strings + at, n);
        spt_close_line(u);
        at += n + 1;
    }
}

static void spt_dump_programs(struct dumper *u)
{
    char guid[SP_GUID_ROOM], key[SP_RSDS_KEY_ROOM];
    for (uint32_t i = 0; i < u->f->nprograms; i++) {
        const struct sp_spt_program *p = &u->f->programs[i];
        spt_open_line(u, "progid", u->f->programs_at + (uint64_t)i * SP_SPT_PROGRAM_BYTES);
        sp_jw_u64(&u->w, "id", i);
        sp_guid_text(p->rsds.guid, guid);
        sp_jw_cstr(&u->w, "guid", guid);
        sp_jw_u64(&u->w, "age", p->rsds.age);
        sp_jw_u64(&u->w, "string_index", p->string);
        sp_jw_str(&u->w, "name", p->name.p, p->name.n);
        sp_rsds_key(&p->rsds, true, key);
        sp_jw_cstr(&u->w, "pdb_key", key);
        sp_rsds_key(&p->rsds, false, key);
        sp_jw_cstr(&u->w, "build_id", key);
        spt_close_line(u);
    }
}

static struct sp_str spt_name_json(struct dumper *u, uint32_t program)
{
    char room[32];
    if (u->named != program) {
        struct sp_str name = sp_spt_program_name(u->f, program, room);
        sp_buf_clear(&u->names);
        sp_json_string(&u->names, name.p, name.n);
        u->named = program;
    }
    return (struct sp_str){u->names.data, (uint32_t)u->names.len};
}

static char *spt_text(char *p, const char *s)
{
    size_t n = strlen(s);
    memcpy(p, s, n);
    return p + n;
}

static char *spt_number(char *p, const char *key, uint64_t v)
{
    p = spt_text(p, key);
    return p + sp_u64_text(v, p);
}

/* "0x1f" with its quotes */
static char *spt_hex(char *p, uint32_t v)
{
    p = spt_text(p, "\"0x");
    p += sp_hex_text(v, p);
    *p++ = '"';
    return p;
}

static char *spt_entries(char *p, const struct sp_spt_record *r)
{
    const unsigned char *e = r->entries;
    p = spt_text(p, r->kind == SP_SPT_KIND_LBR         ? ",\"pairs\":["
                    : r->kind == SP_SPT_KIND_CALLSTACK ? ",\"frames\":["
                                                       : ",\"rvas\":[");
    for (unsigned i = 0; i < r->n; i++) {
        if (i)
            *p++ = ',';
        if (r->kind == SP_SPT_KIND_LBR) {
            p = spt_hex(spt_text(p, "{\"from\":"), sp_spt_u32(e + 4));
            p = spt_hex(spt_text(p, ",\"to\":"), sp_spt_u32(e));
            *p++ = '}';
            e += 8;
        } else {
            p = spt_hex(p, sp_spt_u32(e));
            e += 4;
        }
    }
    return spt_text(p, "]");
}

/* The longest: 255 pairs of 40 bytes; bytes that are no record: 4096 times 2. */
static void spt_dump_record(struct dumper *u, const struct sp_spt_record *r)
{
    const char *op = r->what == SP_SPT_BYTES ? NULL : sp_spt_op_name(r->op);
    char *start = sp_output_room(u->out, 16 << 10), *p = start;
    p = spt_number(p, "{\"section\":\"event\",\"offset\":", r->offset);
    p = spt_number(p, ",\"segment\":", r->segment);
    p = spt_text(p, op ? ",\"record\":\"" : ",\"record\":null");
    if (op) {
        p = spt_text(spt_text(p, op), "\"");
        p = spt_number(p, ",\"opcode\":", r->op);
    }
    switch (r->what) {
    case SP_SPT_SEGMENT:
        p = spt_number(p, ",\"padding\":", r->second);
        p = spt_number(p, ",\"program\":", r->program);
        p = spt_number(p, ",\"length\":", r->length);
        sp_output_took(u->out, (size_t)(p - start));
        sp_puts(u->out, ",\"name\":");
        sp_write(u->out, spt_name_json(u, r->program).p, spt_name_json(u, r->program).n);
        sp_puts(u->out, "}\n");
        return;
    case SP_SPT_REPEATED:
        p = spt_number(p, ",\"padding\":", r->second);
        p = spt_number(p, ",\"repeat\":", r->count);
        break;
    case SP_SPT_EVENT:
        p = spt_number(p, ",\"program\":", r->program);
        p = spt_number(p, ",\"n\":", r->n);
        p = r->hits ? spt_number(p, ",\"hits\":", r->hits) : spt_text(p, ",\"hits\":null");
        p = spt_entries(p, r);
        break;
    case SP_SPT_BYTES:
        p = spt_text(p, ",\"bytes\":\"");
        for (size_t i = 0; i < r->size; i++) {
            *p++ = "0123456789abcdef"[r->entries[i] >> 4];
            *p++ = "0123456789abcdef"[r->entries[i] & 15];
        }
        *p++ = '"';
        break;
    case SP_SPT_END:
        break;
    }
    p = spt_text(p, "}\n");
    sp_output_took(u->out, (size_t)(p - start));
}

static void spt_dump_totals(struct dumper *u, struct sp_spt_tallies *t)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    for (uint32_t i = 0; i < t->used; i++)
        for (int k = 0; k < SP_SPT_KINDS; k++) {
            const struct sp_spt_tally *y = &t->v[i];
            if (!sp_spt_has(y, k))
                continue;
            struct sp_str name = spt_name_json(u, y->program);
            spt_open_line(u, "total", SP_NOWHERE);
            sp_jw_u64(&u->w, "program", y->program);
            sp_jw_raw(&u->w, "name", name.p, name.n);
            sp_jw_cstr(&u->w, "record", sp_spt_kinds[k].name);
            sp_jw_cstr(&u->w, "event", sp_spt_kinds[k].event);
            sp_jw_u64(&u->w, "records", y->records[k]);
            sp_jw_u64(&u->w, k == SP_SPT_KIND_CALLSTACK ? "arcs" : "entries", y->entries[k]);
            sp_buf_clear(&b);
            sp_spt_sum_text(&b, y->hits[k]);
            sp_jw_raw(&u->w, "hits", b.data, b.len);
            spt_close_line(u);
        }
    sp_buf_free(&b);
}

static spaa_status spt_dump_stream(struct dumper *u, struct sp_input *in, unsigned sections,
                                   struct sp_diags *d)
{
    struct sp_spt_stream s;
    struct sp_spt_record r;
    struct sp_spt_tallies t = {0};
    spaa_status st;
    sp_spt_begin(&s, in, u->f, d);
    while (!(st = sp_spt_next(&s, &r)) && r.what != SP_SPT_END && !u->out->status) {
        if (sections & EVENTS)
            spt_dump_record(u, &r);
        if (sections & TOTALS && !sp_spt_tally_add(&t, &r)) {
            st = sp_nomem(d);
            break;
        }
    }
    if (!st && sections & TOTALS) {
        sp_spt_tallies_sort(&t);
        spt_dump_totals(u, &t);
    }
    sp_spt_tallies_free(&t);
    return st;
}

spaa_status sp_spt_dump(struct sp_input *in, unsigned sections, struct sp_diags *d, struct sp_output *out)
{
    struct sp_spt f;
    spaa_status st = sp_spt_open(in, d, &f);
    if (st)
        return st;
    struct dumper u = {.out = out, .f = &f, .named = SP_NONE};
    sp_buf_init(&u.names, 0);
    if (sections & HEADER)
        spt_dump_header(&u);
    if (sections & STRINGS)
        spt_dump_strings(&u);
    if (sections & PROGRAMS)
        spt_dump_programs(&u);
    if (sections & (EVENTS | TOTALS))
        st = f.streams ? spt_dump_stream(&u, in, sections, d) : SPAA_ERR_INPUT;
    if (!st && u.names.failed)
        st = sp_nomem(d);
    sp_buf_free(&u.names);
    sp_spt_close(&f);
    return st ? st : out->status;
}
