/*
 * The header, the string table and the program ID table.
 *
 * The signature is the number 0x5350543A; a writer that takes "SPT:" for text puts its bytes the other way
 * round, which is accepted. A program's string index is a byte offset into the string table; where some of
 * them begin no string and all make sense as ordinals, they are ordinals. Names end at a NUL; where the used
 * part has none, the rest of the table is looked at.
 */
#include "formats/common/spt/spt.h"

#include "base/hash.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

#define TABLES_MAX ((uint64_t)64 << 20) /* where the data stream begins, at most */
#define PART_MAX   ((size_t)260)        /* bytes of a name that begins inside another */

const struct sp_spt_kind sp_spt_kinds[SP_SPT_KINDS] = {
    {SP_SPT_UNHALT_CYCLE, "SPT_OP_UNHALT_CYCLE", "unhalted_cycles", SP_HARDWARE},
    {SP_SPT_RETIRE_INSTR, "SPT_OP_RETIRE_INSTR", "instructions_retired", SP_HARDWARE},
    {SP_SPT_RETIRE_BR_INSTR, "SPT_OP_RETIRE_BR_INSTR", "branch_instructions_retired", SP_HARDWARE},
    {SP_SPT_L1_ICACHE_MISS, "SPT_OP_L1_ICACHE_MISS", "l1_icache_misses", SP_HARDWARE},
    {SP_SPT_L1_DCACHE_MISS, "SPT_OP_L1_DCACHE_MISS", "l1_dcache_misses", SP_HARDWARE},
    {SP_SPT_ETW_INSTR, "SPT_OP_ETW_INSTR", "etw_instructions", SP_TIMER},
    {SP_SPT_LBR, "SPT_OP_LBR", "lbr", SP_HARDWARE},
    {SP_SPT_ETW_CALLSTACK, "SPT_OP_ETW_CALLSTACK", "etw_callstack", SP_TIMER},
};

int sp_spt_kind_of(unsigned char op)
{
    if (op >= SP_SPT_UNHALT_CYCLE && op <= SP_SPT_L1_DCACHE_MISS)
        return op - SP_SPT_UNHALT_CYCLE;
    return op == SP_SPT_ETW_INSTR       ? SP_SPT_IP_KINDS - 1
           : op == SP_SPT_LBR           ? SP_SPT_KIND_LBR
           : op == SP_SPT_ETW_CALLSTACK ? SP_SPT_KIND_CALLSTACK
                                        : -1;
}

const char *sp_spt_op_name(unsigned char op)
{
    int kind = sp_spt_kind_of(op);
    return kind >= 0                ? sp_spt_kinds[kind].name
           : op == SP_SPT_BINARY_ID ? "SPT_OP_BINARY_ID"
           : op == SP_SPT_REPEAT    ? "SPT_OP_REPEAT"
                                    : NULL;
}

int sp_spt_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    (void)whole;
    if (n >= 4 && memcmp(p, ":TPS", 4) == 0) {
        *reason = "the signature of SPT";
        return 100;
    }
    /* "SPT:" may begin any text; a version is a small number. In a big-endian file, which is refused, it ends
     * so. */
    if (n >= 8 && memcmp(p, "SPT:", 4) == 0 && !p[5] && !p[6] && (!p[7] || !p[4])) {
        *reason = "the signature of SPT, as text";
        return 100;
    }
    return 0;
}

void sp_spt_close(struct sp_spt *f)
{
    sp_arena_free(&f->arena);
    *f = (struct sp_spt){0};
}

struct sp_str sp_spt_program_name(const struct sp_spt *f, uint32_t program, char room[static 32])
{
    if (program < f->nprograms)
        return f->programs[program].name;
    int n = snprintf(room, 32, "[program %u]", program);
    return (struct sp_str){room, (uint32_t)n};
}

bool sp_spt_same_program(const struct sp_spt *f, uint32_t a, uint32_t b)
{
    const struct sp_spt_program *x = &f->programs[a], *y = &f->programs[b];
    return sp_rsds_same_guid(&x->rsds, &y->rsds) && x->rsds.age == y->rsds.age &&
           sp_str_cmp(x->name, y->name) == 0;
}

struct sp_str sp_spt_base_name(struct sp_str path)
{
    uint32_t n = path.n;
    while (n && path.p[n - 1] != '/' && path.p[n - 1] != '\\')
        n--;
    return (struct sp_str){path.p + n, path.n - n};
}

static bool spt_same_letters(struct sp_str a, struct sp_str b)
{
    for (uint32_t i = 0; i < a.n && a.n == b.n; i++) {
        unsigned char x = (unsigned char)a.p[i], y = (unsigned char)b.p[i];
        x |= (unsigned)x - 'A' < 26 ? 32 : 0;
        y |= (unsigned)y - 'A' < 26 ? 32 : 0;
        if (x != y)
            return false;
    }
    return a.n == b.n;
}

static struct sp_str spt_stem(struct sp_str name)
{
    const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;
    return dot && dot > name.p ? (struct sp_str){name.p, (uint32_t)(dot - name.p)} : name;
}

bool sp_spt_name_is(struct sp_str name, struct sp_str asked)
{
    struct sp_str base = sp_spt_base_name(name);
    return spt_same_letters(name, asked) || spt_same_letters(base, asked) ||
           spt_same_letters(spt_stem(base), asked);
}

static void spt_read_fields(struct sp_spt *f, const unsigned char *p)
{
    f->text_order = p[0] == 'S';
    f->signature = SP_SPT_SIGNATURE;
    f->version = sp_spt_u32(p + 4);
    f->raw_data_id = sp_spt_u32(p + 8);
    f->target_arch = sp_spt_u32(p + 12);
    f->strings_at = sp_spt_u32(p + 16);
    f->programs_at = sp_spt_u32(p + 20);
    f->strings_used = sp_spt_u16(p + 24);
    f->strings_capacity = sp_spt_u16(p + 26);
    f->programs_used = sp_spt_u16(p + 28);
    f->programs_capacity = sp_spt_u16(p + 30);
    f->data_at = f->programs_at + (uint64_t)f->programs_capacity * SP_SPT_PROGRAM_BYTES;
}

static bool spt_overlap(uint64_t a, uint64_t a_n, uint64_t b, uint64_t b_n)
{
    return a_n && b_n && a < b + b_n && b < a + a_n;
}

static void spt_check_fields(const struct sp_spt *f, struct sp_diags *d)
{
    uint64_t programs = (uint64_t)f->programs_capacity * SP_SPT_PROGRAM_BYTES;
    if (f->text_order)
        sp_emit(d, SP_W435, SP_AT(0), " ");
    if (f->raw_data_id)
        sp_emit(d, SP_W443, SP_AT(8), "RawDataId is 0x%x", f->raw_data_id);
    if (f->target_arch)
        sp_emit(d, SP_W443, SP_AT(12), "TargetArch is 0x%x", f->target_arch);
    if (f->strings_used > f->strings_capacity)
        sp_emit(d, SP_E404, SP_AT(24), "%u bytes of strings used, room for %u", f->strings_used,
                f->strings_capacity);
    if (f->programs_used > f->programs_capacity)
        sp_emit(d, SP_E404, SP_AT(28), "%u program IDs used, room for %u", f->programs_used,
                f->programs_capacity);
    if (f->data_at < SP_SPT_HEADER_BYTES)
        sp_emit(d, SP_E403, SP_AT(20), "the data stream would begin at 0x%llx, inside the header",
                (unsigned long long)f->data_at);
    if (spt_overlap(0, SP_SPT_HEADER_BYTES, f->strings_at, f->strings_capacity))
        sp_emit(d, SP_E405, SP_AT(16), "the string table at 0x%x and the header", f->strings_at);
    if (spt_overlap(0, SP_SPT_HEADER_BYTES, f->programs_at, programs))
        sp_emit(d, SP_E405, SP_AT(20), "the program ID table at 0x%x and the header", f->programs_at);
    if (spt_overlap(f->strings_at, f->strings_capacity, f->programs_at, programs))
        sp_emit(d, SP_E405, SP_AT(16), "the string table at 0x%x and the program ID table at 0x%x",
                f->strings_at, f->programs_at);
    else if (f->strings_capacity && f->strings_at + (uint64_t)f->strings_capacity > f->data_at)
        sp_emit(d, SP_E405, SP_AT(16), "the string table at 0x%x and the data stream at 0x%llx",
                f->strings_at, (unsigned long long)f->data_at);
}

/* Number of strings in the used part: each ends with a NUL or with the table. */
static uint32_t spt_count_strings(const struct sp_spt *f)
{
    uint32_t n = 0;
    for (size_t i = 0; i < f->nstrings; i++)
        n += !f->strings[i] || i + 1 == f->nstrings;
    return n;
}

static bool spt_begins_string(const struct sp_spt *f, uint32_t index)
{
    return index < f->nstrings && (index == 0 || !f->strings[index - 1]);
}

/*
 * Offsets of a sound table begin strings, and in all but the smallest tables some is larger than the number
 * of strings; ordinals are never that large, and sooner or later one begins nothing.
 */
static bool spt_are_ordinals(const struct sp_spt *f)
{
    uint32_t strings = spt_count_strings(f);
    bool any = false;
    for (uint32_t i = 0; i < f->nprograms; i++) {
        uint32_t index = f->programs[i].string;
        if (index >= strings)
            return false;
        any = any || !spt_begins_string(f, index);
    }
    return any;
}

/* Turns ordinals into offsets, in `offset` of each program. */
static bool spt_place_ordinals(struct sp_spt *f, uint32_t *offsets)
{
    uint32_t *starts = malloc(((size_t)spt_count_strings(f) + 1) * sizeof *starts), n = 0;
    for (uint32_t i = 0; starts && i < f->nstrings; i++)
        if (spt_begins_string(f, i))
            starts[n++] = i;
    for (uint32_t i = 0; starts && i < f->nprograms; i++)
        offsets[i] = starts[f->programs[i].string];
    free(starts);
    return starts != NULL;
}

/* `table` bytes from f->strings on are there; the used part is a part of them. */
static bool spt_name_program(struct sp_spt *f, uint32_t i, size_t at, size_t table, struct sp_diags *d)
{
    struct sp_spt_program *p = &f->programs[i];
    uint64_t where = f->programs_at + (uint64_t)i * SP_SPT_PROGRAM_BYTES + 20;
    if (at >= table) {
        char room[32];
        int n = snprintf(room, sizeof room, "[program %u]", i);
        sp_emit(d, SP_E406, SP_AT(where),
                "program ID %u has string index 0x%x, the string table has %zu bytes", i, p->string,
                f->nstrings);
        p->name = (struct sp_str){sp_arena_dup(&f->arena, room, (size_t)n), (uint32_t)n};
        return p->name.p != NULL;
    }
    bool begins = spt_begins_string(f, (uint32_t)at);
    size_t n = strnlen(f->strings + at, begins || table - at < PART_MAX ? table - at : PART_MAX);
    p->name = (struct sp_str){f->strings + at, (uint32_t)n};
    if (at + n == table)
        sp_emit(d, SP_E406, SP_AT(where), "the name of program ID %u does not end inside the string table",
                i);
    else if (at + n >= f->nstrings)
        sp_emit(d, SP_W444, SP_AT(where), "the name of program ID %u ends beyond the used %zu bytes", i,
                f->nstrings);
    else if (!begins)
        sp_emit(d, SP_W444, SP_AT(where), "the name of program ID %u begins inside another, at 0x%zx", i, at);
    if (sp_utf8_prefix(p->name.p, n) != n)
        sp_emit(d, SP_W441, SP_AT(f->strings_at + at), "program ID %u", i);
    if (!n)
        p->name = (struct sp_str){SP_SPT_NO_NAME, sizeof SP_SPT_NO_NAME - 1};
    return true;
}

/* Programs that stand twice, found by hash. */
static bool spt_find_doubles(const struct sp_spt *f, struct sp_diags *d)
{
    struct sp_map seen = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < f->nprograms; i++) {
        const struct sp_spt_program *p = &f->programs[i];
        uint64_t hash = sp_hash_key_seed(p->rsds.guid, 16, p->rsds.age);
        struct sp_probe at = sp_map_probe(&seen, hash);
        uint32_t k;
        while ((k = sp_map_next(&seen, &at)) != SP_MAP_NONE && !sp_spt_same_program(f, k, i))
            ;
        if (k != SP_MAP_NONE)
            sp_emit(d, SP_W445, SP_AT(f->programs_at + (uint64_t)i * SP_SPT_PROGRAM_BYTES),
                    "program IDs %u and %u", k, i);
        else
            ok = sp_map_add(&seen, hash, i);
    }
    sp_map_free(&seen);
    return ok;
}

/* p has the first n bytes of the file, which are all or reach to the data stream and the strings. */
static bool spt_read_tables(struct sp_spt *f, const unsigned char *p, size_t n, struct sp_diags *d)
{
    size_t table = 0, used = f->strings_used < f->strings_capacity ? f->strings_used : f->strings_capacity;
    if (f->strings_at < n)
        table = n - f->strings_at < f->strings_capacity ? n - f->strings_at : f->strings_capacity;
    char *strings = sp_arena_dup(&f->arena, p + (table ? f->strings_at : 0), table);
    f->strings = strings;
    f->nstrings = used < table ? used : table;
    if (used > table)
        sp_emit(d, SP_E403, SP_AT(16), "the string table ends at 0x%llx, the file at 0x%zx",
                (unsigned long long)(f->strings_at + (uint64_t)f->strings_capacity), n);
    uint32_t wanted = f->programs_used < f->programs_capacity ? f->programs_used : f->programs_capacity;
    size_t room = f->programs_at < n ? (n - f->programs_at) / SP_SPT_PROGRAM_BYTES : 0;
    f->nprograms = wanted < room ? wanted : (uint32_t)room;
    f->programs = sp_arena_zalloc(&f->arena, ((size_t)f->nprograms + 1) * sizeof *f->programs);
    if (!strings || !f->programs)
        return false;
    for (uint32_t i = 0; i < f->nprograms; i++) {
        const unsigned char *e = p + f->programs_at + (size_t)i * SP_SPT_PROGRAM_BYTES;
        memcpy(f->programs[i].rsds.guid, e, 16);
        f->programs[i].rsds.age = sp_spt_u32(e + 16);
        f->programs[i].string = sp_spt_u32(e + 20);
    }
    f->ordinals = spt_are_ordinals(f);
    if (f->ordinals)
        sp_emit(d, SP_W440, SP_AT(f->programs_at), " ");
    uint32_t *offsets = malloc(((size_t)f->nprograms + 1) * sizeof *offsets);
    for (uint32_t i = 0; offsets && i < f->nprograms; i++)
        offsets[i] = f->programs[i].string;
    bool ok = offsets && (!f->ordinals || spt_place_ordinals(f, offsets));
    for (uint32_t i = 0; ok && i < f->nprograms; i++)
        ok = spt_name_program(f, i, offsets[i], table, d);
    free(offsets);
    return ok && spt_find_doubles(f, d);
}

static spaa_status spt_judge_signature(const struct sp_spt *f, const unsigned char *p, size_t n,
                                       struct sp_diags *d)
{
    if (!n) {
        sp_emit(d, SP_E421, SP_AT(0), " ");
        return SPAA_ERR_INPUT;
    }
    if (n < 4 || (memcmp(p, ":TPS", 4) != 0 && memcmp(p, "SPT:", 4) != 0)) {
        sp_emit(d, SP_E400, SP_AT(0), "the first bytes are %02x %02x %02x %02x", n ? p[0] : 0u,
                n > 1 ? p[1] : 0u, n > 2 ? p[2] : 0u, n > 3 ? p[3] : 0u);
        return SPAA_ERR_INPUT;
    }
    if (n < SP_SPT_HEADER_BYTES) {
        sp_emit(d, SP_E402, SP_AT(n), "the header has 32 bytes, the file %zu", n);
        return SPAA_ERR_INPUT;
    }
    if (f->version == __builtin_bswap32(1)) {
        sp_emit(d, SP_E422, SP_AT(4), "the version is 00 00 00 01");
        return SPAA_ERR_INPUT;
    }
    if (f->version != 1) {
        sp_emit(d, SP_E401, SP_AT(4), "%u", f->version);
        return SPAA_ERR_INPUT;
    }
    return SPAA_OK;
}

spaa_status sp_spt_open(struct sp_input *in, struct sp_diags *d, struct sp_spt *out)
{
    struct sp_spt f = {0};
    const unsigned char *p;
    size_t n;
    sp_arena_init(&f.arena, 0);
    spaa_status st = sp_input_peek(in, SP_SPT_HEADER_BYTES, &p, &n);
    if (!st && n >= SP_SPT_HEADER_BYTES)
        spt_read_fields(&f, p);
    if (!st)
        st = spt_judge_signature(&f, p, n, d);
    if (st)
        return st;
    spt_check_fields(&f, d);
    uint64_t strings_end = f.strings_at + (uint64_t)f.strings_capacity,
             want = f.data_at > strings_end ? f.data_at : strings_end;
    if (want > TABLES_MAX) {
        sp_emit_hint(d, SP_E403, SP_AT(16), "tables stand at the beginning of the file, in its first 64 MiB",
                     "the tables end at 0x%llx", (unsigned long long)want);
        want = f.data_at < TABLES_MAX ? f.data_at : TABLES_MAX;
    }
    want = want > SP_SPT_HEADER_BYTES ? want : SP_SPT_HEADER_BYTES;
    st = sp_input_peek(in, (size_t)want, &p, &n);
    if (st)
        return st;
    n = n < want ? n : (size_t)want;
    bool ok = spt_read_tables(&f, p, n, d);
    f.streams = f.data_at <= n && f.data_at <= TABLES_MAX && f.data_at >= SP_SPT_HEADER_BYTES;
    if (f.data_at > n && f.data_at <= TABLES_MAX)
        sp_emit(d, SP_E402, SP_AT(n), "the data stream begins at 0x%llx, the file ends at 0x%zx",
                (unsigned long long)f.data_at, n);
    if (ok)
        sp_input_consume(in, f.data_at < n ? (size_t)f.data_at : n);
    else
        sp_spt_close(&f);
    *out = f;
    return ok ? SPAA_OK : sp_nomem(d);
}
