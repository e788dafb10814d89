/*
 * sptdump [options] FILE: an SPT file as plain text, to be compared by eye with SPDDump's and SPTDump's.
 *
 * Options are whole words behind /, - or --, in any case of letters; they combine. Anything else is the file,
 * so /home/x.spt is one. Fields are called as in Microsoft's description, offsets and RVAs are hex, a hit
 * count is 1 + repeats; call stacks are spelled out as arcs, branches as from -> to. Streams in constant
 * memory.
 */
#include "sptdump.h"

#include "answer/text.h"
#include "base/num.h"
#include "formats/common/spt/spt.h"
#include "formats/common/spt/tally.h"
#include "io/input.h"
#include "run/run.h"

#include <stdio.h>
#include <strings.h>

enum { HEADER = 1, PROGRAMS = 2, STRINGS = 4, EVENTS = 8, ALL = 15, HELP = 16 };

static const struct {
    const char *word;
    unsigned parts;
    const char *help;
} options[] = {{"all", ALL, "the entire file (default)"},
               {"header", HEADER, "the header"},
               {"progid", PROGRAMS, "program IDs: GUID and age of each binary"},
               {"strtab", STRINGS, "the string table"},
               {"event", EVENTS, "the sample events"},
               {"help", HELP, "this text"}};

struct report {
    struct sp_output *out;
    const struct sp_spt *f;
    struct sp_buf name; /* a program's, fit to be shown */
};

bool is_sptdump(const char *argv0)
{
    const char *slash = argv0 ? strrchr(argv0, '/') : NULL, *name = slash ? slash + 1 : argv0 ? argv0 : "";
    return strcasecmp(name, "sptdump") == 0 || strcasecmp(name, "sptdump.exe") == 0;
}

static unsigned option(const char *arg)
{
    const char *word = arg + (arg[0] == '-' && arg[1] == '-' ? 2 : arg[0] == '-' || arg[0] == '/');
    for (size_t i = 0; word != arg && i < sizeof options / sizeof *options; i++)
        if (strcasecmp(word, options[i].word) == 0)
            return options[i].parts;
    return 0;
}

/* One word behind / or -, with no more slashes: what one types for an option. */
static bool like_option(const char *arg)
{
    return (arg[0] == '-' || arg[0] == '/') && arg[1] && !strchr(arg + 1, '/');
}

static void help(struct sp_output *out)
{
    sp_puts(out, "sptdump [options] sptfile: shows a Sample Profile Trace (SPT)\n\n");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        sp_printf(out, "  /%-8s %s\n", options[i].word, options[i].help);
    sp_puts(out,
            "\nOptions combine, in any case of letters; -header and --header are the same.\n"
            "`spaa dump FILE` shows the same as JSON lines, `spaa validate FILE` what is wrong with a file,\n"
            "`spaa spt match FILE BINARY…` which binaries it belongs to.\n");
}

static void report_header(struct report *r)
{
    const struct sp_spt *f = r->f;
    sp_puts(r->out, "Header\n");
    sp_printf(r->out, "  %-22s 0x%08X  \"SPT:\"%s\n", "Signature", f->signature,
              f->text_order ? "  (bytes in the order of the text)" : "");
    sp_printf(r->out, "  %-22s %u\n", "Version", f->version);
    sp_printf(r->out, "  %-22s 0x%08X\n", "RawDataId", f->raw_data_id);
    sp_printf(r->out, "  %-22s 0x%08X\n", "TargetArch", f->target_arch);
    sp_printf(r->out, "  %-22s 0x%08X\n", "StringTableOffset", f->strings_at);
    sp_printf(r->out, "  %-22s 0x%08X\n", "ProgramIdTableOffset", f->programs_at);
    sp_printf(r->out, "  %-22s 0x%04X  (%u bytes)\n", "StringTableUsed", f->strings_used, f->strings_used);
    sp_printf(r->out, "  %-22s 0x%04X  (%u bytes)\n", "StringTableCapacity", f->strings_capacity,
              f->strings_capacity);
    sp_printf(r->out, "  %-22s 0x%04X  (%u)\n", "ProgramIdsUsed", f->programs_used, f->programs_used);
    sp_printf(r->out, "  %-22s 0x%04X  (%u)\n", "ProgramIdCapacity", f->programs_capacity,
              f->programs_capacity);
    sp_printf(r->out, "  %-22s 0x%08llX\n\n", "Data stream", (unsigned long long)f->data_at);
}

static void report_strings(struct report *r)
{
    const struct sp_spt *f = r->f;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_printf(r->out, "String table at 0x%08X, %zu of %u bytes used\n", f->strings_at, f->nstrings,
              f->strings_capacity);
    for (size_t at = 0; at < f->nstrings;) {
        size_t n = strnlen(f->strings + at, f->nstrings - at);
        sp_buf_clear(&b);
        sp_text_safe(&b, f->strings + at, n);
        sp_printf(r->out, "  0x%04zX  %s\n", at, sp_buf_cstr(&b));
        at += n + 1;
    }
    sp_puts(r->out, "\n");
    sp_buf_free(&b);
}

static const char *sptdump_name_of(struct report *r, uint32_t program)
{
    char room[32];
    struct sp_str name = sp_spt_program_name(r->f, program, room);
    sp_buf_clear(&r->name);
    sp_text_safe(&r->name, name.p, name.n);
    return sp_buf_cstr(&r->name);
}

/* GUID and age in the forms that SPDDump, symbol servers and SPAA have them. */
static void report_programs(struct report *r)
{
    const struct sp_spt *f = r->f;
    char t[SP_RSDS_KEY_ROOM];
    sp_printf(r->out, "Program IDs at 0x%08X, %u of %u used\n", f->programs_at, f->programs_used,
              f->programs_capacity);
    for (uint32_t i = 0; i < f->nprograms; i++) {
        const struct sp_spt_program *p = &f->programs[i];
        sp_printf(r->out, "  %-5u %s\n", i, sptdump_name_of(r, i));
        sp_guid_text(p->rsds.guid, t);
        sp_printf(r->out, "        GUID          %s\n", t);
        sp_printf(r->out, "        Age           %u  (0x%X)\n", p->rsds.age, p->rsds.age);
        sp_printf(r->out, "        String index  0x%04X%s\n", p->string, f->ordinals ? "  (an ordinal)" : "");
        sp_rsds_key(&p->rsds, true, t);
        sp_printf(r->out, "        PDB key       %s\n", t);
        sp_rsds_key(&p->rsds, false, t);
        sp_printf(r->out, "        build_id      %s\n", t);
    }
    sp_puts(r->out, "\n");
}

static char *sptdump_text(char *p, const char *s)
{
    size_t n = strlen(s);
    memcpy(p, s, n);
    return p + n;
}

/* 0x0000ABCD: 8 digits, more where they are needed */
static char *sptdump_hex(char *p, uint64_t v)
{
    static const char digits[] = "0123456789ABCDEF";
    *p++ = '0';
    *p++ = 'x';
    unsigned n = 8;
    while (n < 16 && v >> (4 * n))
        n++;
    while (n--)
        *p++ = digits[v >> (4 * n) & 15];
    return p;
}

static char *sptdump_number(char *p, const char *what, uint64_t v)
{
    p = sptdump_text(p, what);
    return p + sp_u64_text(v, p);
}

static char *sptdump_entries(char *p, const struct sp_spt_record *e)
{
    static const char indent[] = "                ", arrow[] = " -> ";
    const unsigned char *at = e->entries;
    unsigned arcs = e->kind == SP_SPT_KIND_CALLSTACK && e->n > 1 ? e->n - 1 : 0, lines = arcs ? arcs : e->n;
    for (unsigned i = 0; i < lines; i++) {
        p = sptdump_text(p, indent);
        if (e->kind == SP_SPT_KIND_LBR) { /* to stands first */
            p = sptdump_hex(sptdump_text(sptdump_hex(p, sp_spt_u32(at + 4)), arrow), sp_spt_u32(at));
            at += 8;
        } else {
            p = sptdump_hex(p, sp_spt_u32(at));
            if (arcs)
                p = sptdump_hex(sptdump_text(p, arrow), sp_spt_u32(at + 4));
            at += 4;
        }
        *p++ = '\n';
    }
    return p;
}

/* The longest: 255 pairs of 41 bytes. */
static void report_event(struct report *r, const struct sp_spt_record *e)
{
    char *start = sp_output_room(r->out, 16 << 10), *p = sptdump_hex(sptdump_text(start, "  "), e->offset);
    p = sptdump_text(sptdump_text(p, "  "), sp_spt_op_name(e->op));
    if (e->what == SP_SPT_REPEATED) {
        p = sptdump_number(p, "  ", e->count);
        *p++ = '\n';
    } else {
        p = sptdump_number(p, "  N = ", e->n);
        p = e->hits ? sptdump_number(p, "  hits = ", e->hits)
                    : sptdump_text(p, "  hits beyond 64 bits: not counted");
        p = e->kind == SP_SPT_KIND_CALLSTACK && e->n < 2 ? sptdump_text(p, "  no arc\n")
                                                         : sptdump_text(p, "\n");
        p = sptdump_entries(p, e);
    }
    sp_output_took(r->out, (size_t)(p - start));
}

static void report_bytes(struct report *r, const struct sp_spt_record *e)
{
    for (size_t i = 0; i < e->size; i += 16) {
        char *start = sp_output_room(r->out, 128), *p = sptdump_hex(sptdump_text(start, "  "), e->offset + i);
        p = sptdump_text(p, i ? "         " : "  bytes: ");
        for (size_t k = i; k < e->size && k < i + 16; k++) {
            *p++ = ' ';
            *p++ = "0123456789ABCDEF"[e->entries[k] >> 4];
            *p++ = "0123456789ABCDEF"[e->entries[k] & 15];
        }
        *p++ = '\n';
        sp_output_took(r->out, (size_t)(p - start));
    }
}

static void report_record(struct report *r, const struct sp_spt_record *e)
{
    if (e->what == SP_SPT_SEGMENT)
        sp_printf(r->out, "%s  0x%08llX  SPT_OP_BINARY_ID  segment %u, program ID %u, %s, length 0x%08X\n",
                  e->segment ? "\n" : "", (unsigned long long)e->offset, e->segment, e->program,
                  sptdump_name_of(r, e->program), e->length);
    else if (e->what == SP_SPT_BYTES)
        report_bytes(r, e);
    else
        report_event(r, e);
}

static void report_totals(struct report *r, struct sp_spt_tallies *t)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_spt_tallies_sort(t);
    sp_puts(r->out, "\nTotals\n");
    for (uint32_t i = 0; i < t->used; i++) {
        const struct sp_spt_tally *y = &t->v[i];
        sp_printf(r->out, "  program ID %u, %s\n", y->program, sptdump_name_of(r, y->program));
        for (int k = 0; k < SP_SPT_KINDS; k++) {
            if (!sp_spt_has(y, k))
                continue;
            sp_buf_clear(&b);
            sp_spt_sum_text(&b, y->hits[k]);
            sp_printf(r->out, "    %-23s %12llu records %12llu %-8s %16s hits\n", sp_spt_kinds[k].name,
                      (unsigned long long)y->records[k], (unsigned long long)y->entries[k],
                      k == SP_SPT_KIND_LBR         ? "pairs"
                      : k == SP_SPT_KIND_CALLSTACK ? "arcs"
                                                   : "RVAs",
                      sp_buf_cstr(&b));
        }
    }
    if (!t->used)
        sp_puts(r->out, "  no samples\n");
    sp_buf_free(&b);
}

static spaa_status report_events(struct report *r, struct sp_input *in, struct sp_diags *d)
{
    struct sp_spt_stream s;
    struct sp_spt_record e;
    struct sp_spt_tallies t = {0};
    spaa_status st;
    sp_printf(r->out, "Events at 0x%08llX\n", (unsigned long long)r->f->data_at);
    sp_spt_begin(&s, in, r->f, d);
    while (!(st = sp_spt_next(&s, &e)) && e.what != SP_SPT_END && !r->out->status) {
        report_record(r, &e);
        if (!sp_spt_tally_add(&t, &e)) {
            st = sp_nomem(d);
            break;
        }
    }
    if (!st)
        report_totals(r, &t);
    sp_spt_tallies_free(&t);
    return st;
}

static spaa_status sptdump_report(struct sp_run *run, const char *path, struct sp_input *in, unsigned parts)
{
    struct sp_spt f;
    spaa_status st = sp_spt_open(in, run->diags, &f);
    if (st)
        return st;
    struct report r = {.out = run->out, .f = &f};
    sp_buf_init(&r.name, 0);
    sp_text_safe(&r.name, path, strlen(path));
    sp_printf(run->out, "SPT file %s\n\n", sp_buf_cstr(&r.name));
    if (parts & HEADER)
        report_header(&r);
    if (parts & STRINGS)
        report_strings(&r);
    if (parts & PROGRAMS)
        report_programs(&r);
    if (parts & EVENTS)
        st = f.streams ? report_events(&r, in, run->diags) : SPAA_ERR_INPUT;
    if (!st)
        st = sp_input_failed(in);
    sp_buf_free(&r.name);
    sp_spt_close(&f);
    return st;
}

int sptdump(void *cli, struct sp_run *run)
{
    (void)cli;
    unsigned parts = 0;
    const char *path = NULL;
    struct sp_input *in = NULL;
    for (size_t i = 0; i < run->files.n; i++) {
        const char *word = run->files.v[i];
        unsigned one = option(word);
        if (!one && path && (like_option(path) || like_option(word)))
            return sp_run_usage(run, "`sptdump /help` lists the options", "sptdump has no option %s",
                                like_option(path) ? path : word);
        if (!one && path)
            return sp_run_usage(run, "`sptdump /help` lists the options", "sptdump takes one file: %s or %s",
                                path, word);
        if (!one)
            path = word;
        parts |= one;
    }
    if (!path && !(parts & HELP))
        return sp_run_usage(run, "`sptdump /help` lists the options", "sptdump needs a file");
    int rc = sp_run_stdout(run);
    if (rc || parts & HELP) {
        if (!rc)
            help(run->out);
        return rc;
    }
    sp_diags_source(run->diags, path, "spt");
    spaa_status st = sp_input_open(path, run->diags, &in);
    if (!st)
        st = sptdump_report(run, path, in, parts ? parts : ALL);
    sp_input_close(in);
    sp_diags_source(run->diags, NULL, NULL);
    return sp_run_exit(run, st);
}
