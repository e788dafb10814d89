#include "symbols/pe.h"

#include "io/file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEBUG_MAX = 64,
    EXPORTS_MAX = 1 << 20,
    NAME_MAX_BYTES = 4096,
    SYMBOL_BYTES = 18,
    MACHINE_X86 = 0x14c,
    MACHINE_X64 = 0x8664,
    CLASS_EXTERNAL = 2,
    CLASS_STATIC = 3,
    TYPE_FUNCTION = 0x20,
    STUB_MAX = 4096, /* what stands before the headers; programs of DOS have any number in its place */
};
#define TABLE_MAX ((size_t)256 << 20)

struct directory {
    uint32_t rva, size;
};

struct image {
    int fd;
    uint64_t size;
    struct sp_pe *pe;
    uint32_t symbols, nsymbols; /* COFF symbol table */
    struct directory exports, functions, debug;
};

/* Where a function begins and ends, as x64's .pdata says. */
struct bounds {
    uint32_t begin, end;
};

static uint16_t u16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t pe_u32(const unsigned char *p)
{
    return (uint32_t)u16(p) | (uint32_t)u16(p + 2) << 16;
}

static bool read_at(const struct image *m, uint64_t offset, void *out, size_t n)
{
    if (offset > m->size || n > m->size - offset)
        return false;
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(m->fd, (char *)out + done, n - done, (off_t)(offset + done));
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* n bytes at an offset belong to the image, whether they are there or not. */
static void reaches(struct image *m, uint64_t offset, uint64_t n)
{
    if (n && offset + n > m->pe->reach)
        m->pe->reach = offset + n;
}

static bool read_head(struct image *m, uint64_t offset, void *out, size_t n)
{
    reaches(m, offset, n);
    return read_at(m, offset, out, n);
}

/* The file offset of n bytes at an RVA; false where no section holds them. */
static bool offset_of(const struct image *m, uint32_t rva, size_t n, uint64_t *offset)
{
    for (unsigned i = 0; i < m->pe->nsections; i++) {
        const struct sp_pe_section *s = &m->pe->sections[i];
        if (rva >= s->rva && rva - s->rva < s->raw_size && n <= s->raw_size - (rva - s->rva)) {
            *offset = (uint64_t)s->raw + (rva - s->rva);
            return true;
        }
    }
    return false;
}

static bool read_rva(const struct image *m, uint32_t rva, void *out, size_t n)
{
    uint64_t offset;
    return offset_of(m, rva, n, &offset) && read_at(m, offset, out, n);
}

/* A table of n elements into malloced memory; NULL with *nomem false where the file does not have it. */
static unsigned char *table_at(const struct image *m, uint64_t offset, size_t n, size_t each, bool *nomem)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, each, &bytes) || !bytes || bytes > TABLE_MAX || offset > m->size ||
        bytes > m->size - offset)
        return NULL;
    unsigned char *p = malloc(bytes + 1);
    *nomem = !p;
    if (p && !read_at(m, offset, p, bytes)) {
        free(p);
        return NULL;
    }
    if (p)
        p[bytes] = 0;
    return p;
}

static unsigned char *table_rva(const struct image *m, uint32_t rva, size_t n, size_t each, bool *nomem)
{
    uint64_t offset;
    size_t bytes;
    if (__builtin_mul_overflow(n, each, &bytes) || !offset_of(m, rva, bytes, &offset))
        return NULL;
    return table_at(m, offset, n, each, nomem);
}

static struct directory directory(const unsigned char *dirs, size_t n, unsigned i)
{
    struct directory d = {0, 0};
    if (i < n) {
        d.rva = pe_u32(dirs + (size_t)8 * i);
        d.size = pe_u32(dirs + (size_t)8 * i + 4);
    }
    return d;
}

static void read_sections(struct image *m, uint64_t at, unsigned n)
{
    for (unsigned i = 0; i < n && i < SP_PE_SECTIONS_MAX; i++) {
        unsigned char s[40];
        if (!read_head(m, at + (uint64_t)40 * i, s, sizeof s))
            break;
        uint32_t flags = pe_u32(s + 36);
        struct sp_pe_section section = {.size = pe_u32(s + 8),
                                        .rva = pe_u32(s + 12),
                                        .raw_size = pe_u32(s + 16),
                                        .raw = pe_u32(s + 20),
                                        .code = flags & 0x20 || flags & 0x20000000};
        m->pe->sections[m->pe->nsections++] = section;
        reaches(m, section.raw, section.raw_size);
    }
}

/* DOS header, COFF header, optional header, section table. */
static bool read_headers(struct image *m)
{
    unsigned char dos[64], coff[24], opt[112 + 16 * 8];
    if (!read_at(m, 0, dos, sizeof dos) || dos[0] != 'M' || dos[1] != 'Z')
        return false;
    uint64_t at = pe_u32(dos + 60);
    if (at > STUB_MAX ? !read_at(m, at, coff, sizeof coff) : !read_head(m, at, coff, sizeof coff))
        return false;
    if (memcmp(coff, "PE\0\0", 4) != 0)
        return false;
    size_t opt_n = u16(coff + 20), have = opt_n < sizeof opt ? opt_n : sizeof opt;
    if (opt_n < 96 || !read_head(m, at + 24, opt, have))
        return false;
    uint16_t magic = u16(opt);
    size_t dirs = magic == 0x20b ? 112 : 96;
    if ((magic != 0x10b && magic != 0x20b) || have < dirs)
        return false;
    m->pe->is_64 = magic == 0x20b;
    m->pe->machine = u16(coff + 4);
    m->pe->timestamp = pe_u32(coff + 8);
    m->pe->image_base = m->pe->is_64 ? pe_u32(opt + 24) | (uint64_t)pe_u32(opt + 28) << 32 : pe_u32(opt + 28);
    m->symbols = pe_u32(coff + 12);
    m->nsymbols = pe_u32(coff + 16);
    m->pe->has_symbols = m->symbols && m->nsymbols;
    size_t n = pe_u32(opt + dirs - 4), room = (have - dirs) / 8;
    n = n < room ? n : room;
    m->exports = directory(opt + dirs, n, 0);
    m->functions = directory(opt + dirs, n, 3);
    m->debug = directory(opt + dirs, n, 6);
    struct directory certificates = directory(opt + dirs, n, 4); /* the one that has an offset in the file */
    reaches(m, certificates.rva, certificates.size);
    if (m->pe->has_symbols)
        reaches(m, m->symbols, (uint64_t)m->nsymbols * SYMBOL_BYTES + 4);
    read_sections(m, at + 24 + opt_n, u16(coff + 6));
    return true;
}

static bool take_rsds(const struct image *m, const unsigned char *entry)
{
    unsigned char head[24];
    uint32_t size = pe_u32(entry + 16), rva = pe_u32(entry + 20);
    uint64_t offset = pe_u32(entry + 24);
    if (pe_u32(entry + 12) != 2 || size < sizeof head) /* IMAGE_DEBUG_TYPE_CODEVIEW */
        return false;
    if ((!offset && !offset_of(m, rva, size, &offset)) || !read_at(m, offset, head, sizeof head) ||
        memcmp(head, "RSDS", 4) != 0)
        return false;
    memcpy(m->pe->rsds.guid, head + 4, 16);
    m->pe->rsds.age = pe_u32(head + 20);
    size_t n = size - sizeof head;
    n = n < sizeof m->pe->pdb - 1 ? n : sizeof m->pe->pdb - 1;
    if (!read_at(m, offset + sizeof head, m->pe->pdb, n))
        n = 0;
    m->pe->pdb[n] = '\0';
    return m->pe->has_rsds = true;
}

static void read_debug(const struct image *m)
{
    unsigned char entry[28];
    for (uint32_t i = 0; i < m->debug.size / 28 && i < DEBUG_MAX; i++)
        if (!read_rva(m, m->debug.rva + 28 * i, entry, sizeof entry) || take_rsds(m, entry))
            return;
}

/* x64's table of functions, ascending as the linker sorts it; *n is 0 where there is none. */
static bool read_functions(const struct image *m, struct bounds **out, size_t *n)
{
    bool nomem = false;
    *out = NULL;
    *n = 0;
    if (m->pe->machine != MACHINE_X64)
        return true;
    size_t count = m->functions.size / 12;
    unsigned char *p = table_rva(m, m->functions.rva, count, 12, &nomem);
    if (!p)
        return !nomem;
    struct bounds *b = malloc((count + 1) * sizeof *b);
    for (size_t i = 0; b && i < count; i++) {
        struct bounds f = {pe_u32(p + 12 * i), pe_u32(p + 12 * i + 4)};
        if (f.begin < f.end && (!*n || f.begin > b[*n - 1].begin))
            b[(*n)++] = f;
    }
    free(p);
    *out = b;
    return b != NULL;
}

/* How far a symbol reaches by the table of functions; 0: it does not say. */
static uint32_t pe_size_of(const struct bounds *b, size_t n, uint32_t start)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (b[mid].begin < start)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < n && b[lo].begin == start)
        return b[lo].end - start;
    return lo < n ? b[lo].begin - start : 0;
}

static bool pe_add(struct sp_symtab *syms, const struct bounds *b, size_t nb, uint32_t rva, enum sp_bind bind,
                   const char *name, size_t n)
{
    const char *kept = sp_arena_dup(&syms->arena, name, n);
    return kept && sp_symtab_add(syms, rva, pe_size_of(b, nb, rva), bind, kept);
}

/* COFF symbols of code; false: out of memory. *any tells whether there were some. */
static bool read_coff(const struct image *m, struct sp_symtab *syms, const struct bounds *b, size_t nb,
                      bool *any)
{
    bool nomem = false, ok = true;
    unsigned char size[4];
    uint64_t after = m->symbols + (uint64_t)m->nsymbols * SYMBOL_BYTES;
    size_t strings_n = 0;
    unsigned char *table = m->symbols ? table_at(m, m->symbols, m->nsymbols, SYMBOL_BYTES, &nomem) : NULL;
    unsigned char *strings = NULL;
    if (table && read_at(m, after, size, 4) && (strings_n = pe_u32(size)) > 4)
        strings = table_at(m, after, strings_n, 1, &nomem);
    for (uint32_t i = 0; table && ok && !nomem && i < m->nsymbols; i++) {
        const unsigned char *s = table + (size_t)i * SYMBOL_BYTES;
        uint16_t in = u16(s + 12), type = u16(s + 14);
        unsigned class = s[16];
        i += s[17]; /* auxiliary records */
        if (!in || in > m->pe->nsections || !m->pe->sections[in - 1].code ||
            !(class == CLASS_EXTERNAL || (class == CLASS_STATIC && type == TYPE_FUNCTION)))
            continue;
        const char *name = (const char *)s;
        size_t n = strnlen(name, 8);
        if (!pe_u32(s)) { /* a longer one: its offset among the strings */
            if (!strings || pe_u32(s + 4) >= strings_n)
                continue;
            name = (const char *)strings + pe_u32(s + 4);
            n = strnlen(name, NAME_MAX_BYTES);
        }
        *any = true;
        if (m->pe->machine == MACHINE_X86 && n > 1 && *name == '_') { /* what C names begin with there */
            name++;
            n--;
        }
        ok = !n || pe_add(syms, b, nb, m->pe->sections[in - 1].rva + pe_u32(s + 8),
                          class == CLASS_EXTERNAL ? SP_BIND_GLOBAL : SP_BIND_LOCAL, name, n);
    }
    free(table);
    free(strings);
    return ok && !nomem;
}

static bool is_code(const struct image *m, uint32_t rva)
{
    for (unsigned i = 0; i < m->pe->nsections; i++)
        if (rva >= m->pe->sections[i].rva && rva - m->pe->sections[i].rva < m->pe->sections[i].size)
            return m->pe->sections[i].code;
    return false;
}

static bool read_exports(const struct image *m, struct sp_symtab *syms, const struct bounds *b, size_t nb)
{
    unsigned char head[40], name_rva[4], ordinal[2];
    bool nomem = false, ok = true;
    if (m->exports.size < sizeof head || !read_rva(m, m->exports.rva, head, sizeof head))
        return true;
    uint32_t nfunctions = pe_u32(head + 20), names = pe_u32(head + 24), name_at = pe_u32(head + 32),
             ordinal_at = pe_u32(head + 36);
    unsigned char *functions =
        nfunctions <= EXPORTS_MAX ? table_rva(m, pe_u32(head + 28), nfunctions, 4, &nomem) : NULL;
    for (uint32_t i = 0; functions && ok && i < names && i < EXPORTS_MAX; i++) {
        char name[NAME_MAX_BYTES];
        uint64_t offset;
        if (!read_rva(m, name_at + 4 * i, name_rva, 4) || !read_rva(m, ordinal_at + 2 * i, ordinal, 2))
            break;
        if (u16(ordinal) >= nfunctions || !offset_of(m, pe_u32(name_rva), 1, &offset))
            continue;
        size_t room = (size_t)(m->size - offset < sizeof name ? m->size - offset : sizeof name);
        uint32_t rva = pe_u32(functions + (size_t)4 * u16(ordinal));
        bool forwarded = rva - m->exports.rva < m->exports.size;
        if (!rva || forwarded || !is_code(m, rva) || offset > m->size || !read_at(m, offset, name, room))
            continue;
        size_t n = strnlen(name, room);
        ok = !n || pe_add(syms, b, nb, rva, SP_BIND_GLOBAL, name, n);
    }
    free(functions);
    return ok && !nomem;
}

static spaa_status pe_read_symbols(const struct image *m, struct sp_symtab *syms)
{
    struct bounds *b;
    size_t n;
    bool any = false, ok = read_functions(m, &b, &n) && read_coff(m, syms, b, n, &any);
    if (ok && !any)
        ok = read_exports(m, syms, b, n);
    free(b);
    return ok ? SPAA_OK : SPAA_ERR_NOMEM;
}

spaa_status sp_pe_read(const char *path, struct sp_diags *d, struct sp_pe *out, struct sp_symtab *syms)
{
    struct image m = {.pe = out};
    *out = (struct sp_pe){0};
    m.fd = sp_file_open(path, &m.size);
    if (m.fd < 0)
        return SPAA_ERR_NOT_FOUND;
    out->size = m.size;
    spaa_status st = SPAA_ERR_INPUT;
    if (read_headers(&m)) {
        read_debug(&m);
        st = syms ? pe_read_symbols(&m, syms) : SPAA_OK;
    }
    if (st != SPAA_ERR_NOMEM && sp_file_check(m.fd, m.size, path, d))
        st = SPAA_ERR_IO;
    close(m.fd);
    return st;
}

const char *sp_pe_machine_name(uint16_t machine)
{
    static const struct {
        uint16_t machine;
        const char *name;
    } names[] = {{MACHINE_X64, "x64"}, {MACHINE_X86, "x86"}, {0xaa64, "arm64"},
                 {0x1c4, "arm"},       {0x200, "ia64"},      {0x5064, "riscv64"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine)
            return names[i].name;
    return NULL;
}
