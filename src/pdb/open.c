/*
 * What the file is: its id (stream 1), the named streams, what the debug information's header says (DBI,
 * stream 3), and where sections are.
 *
 * The age that counts is that of DBI, as symbol servers and debuggers have it: what is written into a PDB
 * after linking (source server data) raises the other one alone.
 */
#include "pdb/private.h"

enum {
    STREAM_INFO = 1,
    STREAM_TPI = 2,
    STREAM_DBI = 3,
    STREAM_IPI = 4,
    DBI_HEADER = 64,
    INFO_HEADER = 28,
    SECTION_HEADER = 40,
    SECTIONS_MAX = 65535, /* their numbers have 16 bits */
    NAMED_MAX = 1 << 20,  /* bytes of names of streams */
    PUBLICS_HEADER = 28,
    FASTLINK = 0x494e494d, /* "MINI": MinimalDebugInfo */
    DBI_OLDEST = 19970606, /* version 6.0: before it lists have other forms */
};

/* The number of the stream of this name; 0: there is none. `t`: the table behind the info stream's header. */
static uint32_t open_named(const unsigned char *t, uint32_t n, const char *name)
{
    uint32_t text = n >= 4 ? sp_pdb_u32(t) : n;
    uint64_t at = 4 + (uint64_t)text;
    if (at + 12 > n)
        return 0;
    uint32_t count = sp_pdb_u32(t + at);
    at += 8;                               /* count, capacity */
    for (int bits = 0; bits < 2; bits++) { /* which places are taken, which were */
        if (at + 4 > n)
            return 0;
        at += 4 + (uint64_t)4 * sp_pdb_u32(t + at);
    }
    for (uint32_t i = 0; i < count && at + 8 <= n; i++, at += 8) {
        uint32_t key = sp_pdb_u32(t + at);
        if (key < text && strlen(name) < text - key && !memcmp(t + 4 + key, name, strlen(name) + 1))
            return sp_pdb_u32(t + at + 4);
    }
    return 0;
}

static void open_names(struct sp_pdb *p, const unsigned char *table, uint32_t n)
{
    unsigned char head[12];
    uint32_t stream = open_named(table, n, "/names");
    if (!stream || !sp_msf_read(&p->msf, stream, 0, head, sizeof head) || sp_pdb_u32(head) != 0xeffeeffe)
        return;
    uint32_t size = sp_pdb_u32(head + 8), there = sp_msf_size(&p->msf, stream) - (uint32_t)sizeof head;
    p->names_stream = stream;
    p->names_size = size < there ? size : there;
}

/* What stands behind the named streams: numbers of what the linker did (LLVM's PDB_FeatureSig). */
static bool open_has_feature(const unsigned char *t, uint32_t n, uint32_t feature)
{
    uint64_t at = n >= 4 ? 4 + (uint64_t)sp_pdb_u32(t) : n;
    uint32_t count = at + 8 <= n ? sp_pdb_u32(t + at) : 0;
    at += 8;
    for (int bits = 0; bits < 2; bits++) {
        if (at + 4 > n)
            return false;
        at += 4 + (uint64_t)4 * sp_pdb_u32(t + at);
    }
    for (at += (uint64_t)8 * count; at + 4 <= n; at += 4)
        if (sp_pdb_u32(t + at) == feature)
            return true;
    return false;
}

static bool open_info(struct sp_pdb *p)
{
    uint32_t size = sp_msf_size(&p->msf, STREAM_INFO);
    size = size < INFO_HEADER + NAMED_MAX ? size : INFO_HEADER + NAMED_MAX;
    unsigned char *info = size >= INFO_HEADER ? sp_msf_load(&p->msf, STREAM_INFO, 0, size) : NULL;
    if (!info)
        return false;
    p->id.age = sp_pdb_u32(info + 8);
    memcpy(p->id.guid, info + 12, 16);
    open_names(p, info + INFO_HEADER, size - INFO_HEADER);
    p->fastlink = open_has_feature(info + INFO_HEADER, size - INFO_HEADER, FASTLINK);
    free(info);
    return true;
}

static bool open_sections(struct sp_pdb *p, uint32_t stream)
{
    uint32_t n = sp_msf_size(&p->msf, stream) / SECTION_HEADER;
    n = n < SECTIONS_MAX ? n : SECTIONS_MAX;
    unsigned char *raw = sp_msf_load(&p->msf, stream, 0, n * SECTION_HEADER);
    if (!raw)
        return sp_pdb_damage(p);
    bool ok = sp_vec_reserve(&p->sections, (size_t)n + 1);
    for (uint32_t i = 0; ok && i < n; i++) {
        const unsigned char *s = raw + (size_t)i * SECTION_HEADER;
        p->sections.v[p->sections.n++] = (struct sp_pdb_section){sp_pdb_u32(s + 12), sp_pdb_u32(s + 8)};
    }
    free(raw);
    return ok || sp_pdb_nomem(p);
}

static int open_by_rva(const void *a, const void *b)
{
    const struct sp_pdb_move *x = a, *y = b;
    return (x->rva > y->rva) - (x->rva < y->rva);
}

/* A table of what was moved after linking (OMAP). */
static bool open_moves(struct sp_pdb *p, uint32_t stream, bool to_image)
{
    uint32_t n = sp_msf_size(&p->msf, stream) / 8;
    unsigned char *raw = n ? sp_msf_load(&p->msf, stream, 0, n * 8) : NULL;
    struct sp_pdb_move *v = raw ? malloc(n * sizeof *v) : NULL;
    if (!raw)
        return !n || sp_pdb_damage(p);
    for (uint32_t i = 0; v && i < n; i++)
        v[i] = (struct sp_pdb_move){sp_pdb_u32(raw + (size_t)8 * i), sp_pdb_u32(raw + (size_t)8 * i + 4)};
    free(raw);
    if (!v)
        return sp_pdb_nomem(p);
    qsort(v, n, sizeof *v, open_by_rva);
    if (to_image)
        p->to_image.v = v, p->to_image.n = n;
    else
        p->to_source.v = v, p->to_source.n = n;
    return true;
}

/* The streams that the optional header names: a number each, 0xffff for none. */
static bool open_optional(struct sp_pdb *p, const unsigned char *h, uint32_t n)
{
    enum { TO_SOURCE = 3, TO_IMAGE = 4, SECTIONS = 5, SECTIONS_BEFORE = 10 };
    uint32_t stream[11];
    for (uint32_t i = 0; i < 11; i++)
        stream[i] = 2 * i + 2 <= n ? sp_pdb_u16(h + (size_t)2 * i) : 0xffff;
    bool moved = sp_msf_size(&p->msf, stream[TO_SOURCE]) > 0;
    uint32_t sections = stream[moved ? SECTIONS_BEFORE : SECTIONS];
    if (!sp_msf_size(&p->msf, sections))
        sections = stream[SECTIONS];
    return open_sections(p, sections) &&
           (!moved || (open_moves(p, stream[TO_SOURCE], false) && open_moves(p, stream[TO_IMAGE], true)));
}

static void open_publics(struct sp_pdb *p)
{
    unsigned char h[PUBLICS_HEADER];
    if (!sp_msf_read(&p->msf, p->publics_stream, 0, h, sizeof h))
        return;
    uint64_t at = PUBLICS_HEADER + (uint64_t)sp_pdb_u32(h), size = sp_msf_size(&p->msf, p->publics_stream);
    uint32_t bytes = sp_pdb_u32(h + 4);
    if (at > size || bytes > size - at)
        return;
    p->publics_at = (uint32_t)at;
    p->npublics = bytes / 4;
}

/* False: failed, or damaged so that nothing can be known of it. */
static bool open_dbi(struct sp_pdb *p, bool id_only, const char **why)
{
    unsigned char h[DBI_HEADER];
    uint32_t size = sp_msf_size(&p->msf, STREAM_DBI);
    if (size < DBI_HEADER)
        return true; /* a PDB of types alone */
    if (!sp_msf_read(&p->msf, STREAM_DBI, 0, h, sizeof h))
        return false;
    if (sp_pdb_u32(h + 8))
        p->id.age = sp_pdb_u32(h + 8);
    p->id.machine = sp_pdb_u16(h + 58);
    if (id_only)
        return true;
    if (sp_pdb_u32(h) != UINT32_MAX || sp_pdb_u32(h + 4) < DBI_OLDEST) {
        *why = "a PDB whose lists are of a version before 6.0, which is not read";
        return false;
    }
    p->globals_stream = sp_pdb_u16(h + 12);
    p->publics_stream = sp_pdb_u16(h + 16);
    p->symbols_stream = sp_pdb_u16(h + 20);
    /* Behind the header: modules, contributions, section map, files, type servers, EC, optional header. */
    static const unsigned char sizes_at[] = {24, 28, 32, 36, 40, 52, 48};
    uint32_t at[8] = {DBI_HEADER};
    for (unsigned i = 0; i < 7; i++) {
        uint32_t n = sp_pdb_u32(h + sizes_at[i]);
        if (n > size - at[i])
            return false;
        at[i + 1] = at[i] + n;
    }
    unsigned char *optional = sp_msf_load(&p->msf, STREAM_DBI, at[6], at[7] - at[6]);
    bool ok = optional && open_optional(p, optional, at[7] - at[6]);
    free(optional);
    open_publics(p);
    return ok && sp_pdb_read_modules(p, at[0], at[1] - at[0]) && sp_pdb_read_parts(p, at[1], at[2] - at[1]);
}

static spaa_status pdb_open_streams(struct sp_pdb *p, bool id_only, const char **why)
{
    spaa_status st = sp_msf_open(&p->msf, p->path, p->d, why);
    if (st == SPAA_ERR_NOMEM)
        sp_nomem(p->d);
    if (st)
        return st;
    *why = "a damaged PDB: its streams do not say what it is of";
    p->tpi.stream = STREAM_TPI;
    p->ipi.stream = STREAM_IPI;
    if (!open_info(p) || !open_dbi(p, id_only, why)) {
        if (p->failed || (p->msf.failed && !sp_pdb_damage(p)))
            return p->failed;
        return SPAA_ERR_INPUT;
    }
    return p->failed ? p->failed : SPAA_OK;
}

static spaa_status pdb_open_file(const char *path, struct sp_diags *d, bool id_only, struct sp_pdb **out,
                                 const char **why)
{
    struct sp_pdb *p = calloc(1, sizeof *p);
    *out = NULL;
    *why = "no PDB";
    if (!p)
        return sp_nomem(d);
    sp_arena_init(&p->arena, 0);
    p->msf.fd = -1;
    p->d = d;
    p->path = sp_arena_dup(&p->arena, path, strlen(path));
    spaa_status st = p->path ? pdb_open_streams(p, id_only, why) : sp_nomem(d);
    sp_msf_rest(&p->msf);
    if (st)
        sp_pdb_free(p);
    else
        *out = p;
    return st;
}

spaa_status sp_pdb_open(const char *path, struct sp_diags *d, struct sp_pdb **out, const char **why)
{
    return pdb_open_file(path, d, false, out, why);
}

spaa_status sp_pdb_read_id(const char *path, struct sp_diags *d, struct sp_pdb_id *out, const char **why)
{
    struct sp_pdb *p;
    spaa_status st = pdb_open_file(path, d, true, &p, why);
    if (!st)
        *out = p->id;
    sp_pdb_free(p);
    return st;
}

static void pdb_free_module(struct sp_pdb_module *m)
{
    for (size_t i = 0; i < m->functions.n; i++) {
        sp_vec_free(&m->functions.v[i].sites);
        sp_vec_free(&m->functions.v[i].rows);
        sp_vec_free(&m->functions.v[i].stretches);
    }
    sp_vec_free(&m->functions);
    sp_vec_free(&m->rows);
    sp_vec_free(&m->files);
    sp_vec_free(&m->sources);
    free(m->symbols);
}

void sp_pdb_free(struct sp_pdb *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->modules.n; i++)
        pdb_free_module(&p->modules.v[i]);
    sp_vec_free(&p->modules);
    sp_vec_free(&p->sections);
    sp_vec_free(&p->parts);
    sp_vec_free(&p->to_source);
    sp_vec_free(&p->to_image);
    sp_vec_free(&p->names);
    sp_map_free(&p->name_map);
    sp_pdb_types_free(&p->tpi);
    sp_pdb_types_free(&p->ipi);
    free(p->publics);
    free(p->buckets);
    sp_msf_close(&p->msf);
    sp_arena_free(&p->arena);
    free(p);
}

const struct sp_pdb_id *sp_pdb_id(const struct sp_pdb *p)
{
    return &p->id;
}

spaa_status sp_pdb_failed(const struct sp_pdb *p)
{
    return p->failed;
}

size_t sp_pdb_damaged(const struct sp_pdb *p)
{
    return p->damaged;
}

bool sp_pdb_is_fastlink(const struct sp_pdb *p)
{
    return p->fastlink;
}

uint64_t sp_pdb_bytes_read(const struct sp_pdb *p)
{
    return p->msf.bytes_read;
}
