/*
 * The debug sections of a file: found by name, read, inflated where they are compressed.
 *
 * libelf reads the headers (with ELF_C_READ it maps nothing), the sections are read here, and the file is
 * closed again. Where libelf has no memory it gives NULL as for damage, but errno tells. Of a Mach-O file,
 * the sections of one image (macho.h), whose names are cut off after 16 characters.
 *
 * Compression: ELF's own (SHF_COMPRESSED, zlib or zstd) and GNU's older .zdebug_ sections.
 */
#include "io/file.h"
#include "dwarf/elf.h"
#include "dwarf/macho_private.h"
#include "dwarf/private.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define SHIFT_MAX 1032u /* zlib cannot do better */
#define NOTE_MAX  ((uint64_t)64 << 10)

static const char *const names[DW_SECTIONS] = {"info",        "abbrev",  "str",      "line",
                                               "line_str",    "ranges",  "rnglists", "addr",
                                               "str_offsets", "aranges", "cu_index"};

const char *sp_dw_section_name(unsigned i)
{
    return names[i];
}

/* Which section a name is of; DW_SECTIONS: none that is needed. */
static unsigned section_of(const char *name, bool split, bool *gnu)
{
    *gnu = !strncmp(name, ".zdebug_", 8);
    if (!*gnu && strncmp(name, ".debug_", 7) != 0)
        return DW_SECTIONS;
    name += *gnu ? 8 : 7;
    size_t n = strlen(name);
    bool dwo = n > 4 && !strcmp(name + n - 4, ".dwo");
    if (dwo)
        n -= 4;
    for (unsigned i = 0; i < DW_SECTIONS; i++)
        if (strlen(names[i]) == n && !memcmp(name, names[i], n))
            return dwo == split || (split && i == DW_CU_INDEX) ? i : DW_SECTIONS;
    return DW_SECTIONS;
}

/* The same of a section of a Mach-O image: "__debug_str_offs". */
static unsigned macho_section_of(const char *name, bool *gnu)
{
    size_t all = strlen(name);
    *gnu = !strncmp(name, "__zdebug_", 9);
    if (!*gnu && strncmp(name, "__debug_", 8) != 0)
        return DW_SECTIONS;
    name += *gnu ? 9 : 8;
    size_t n = strlen(name);
    for (unsigned i = 0; i < DW_SECTIONS; i++)
        if (!strncmp(names[i], name, n) && (!names[i][n] || all == 16))
            return i;
    return DW_SECTIONS;
}

/* A file while its sections are read. */
struct source {
    struct sp_dw_file *f;
    struct sp_diags *diags;
    int fd;
    uint64_t size;
    bool elf64;
};

/* SPAA_ERR_INPUT: damaged, or of another size. */
static spaa_status inflate_zlib(const unsigned char *p, size_t n, unsigned char *out, size_t size)
{
    z_stream z = {0};
    int rc = inflateInit(&z);
    if (rc != Z_OK)
        return rc == Z_MEM_ERROR ? SPAA_ERR_NOMEM : SPAA_ERR_INPUT;
    z.next_in = (unsigned char *)(uintptr_t)p;
    z.next_out = out;
    while (rc == Z_OK && n + z.avail_in) {
        if (!z.avail_in) {
            z.avail_in = n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)n;
            n -= z.avail_in;
        }
        if (!z.avail_out) {
            z.avail_out = size > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)size;
            size -= z.avail_out;
        }
        rc = inflate(&z, Z_NO_FLUSH);
    }
    bool ok = rc == Z_STREAM_END && !size && !z.avail_out;
    inflateEnd(&z);
    return ok ? SPAA_OK : rc == Z_MEM_ERROR ? SPAA_ERR_NOMEM : SPAA_ERR_INPUT;
}

static spaa_status inflate_zstd(const unsigned char *p, size_t n, unsigned char *out, size_t size)
{
    size_t got = ZSTD_decompress(out, size, p, n);
    if (ZSTD_isError(got) && ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
        return SPAA_ERR_NOMEM;
    return got == size ? SPAA_OK : SPAA_ERR_INPUT;
}

/* What a compressed section holds; one that cannot be inflated is left out. */
static spaa_status dwarf_file_unpack(struct sp_dw_file *f, unsigned i, const unsigned char *p, size_t n,
                                     unsigned type, uint64_t size)
{
    enum { TYPE_ZLIB = 1, TYPE_ZSTD = 2 };
    if (size > f->inflatable) {
        f->excess = true;
        return SPAA_OK;
    }
    if (!size || (type == TYPE_ZLIB && size / SHIFT_MAX > n)) {
        sp_dw_lacks(f, i);
        return SPAA_OK;
    }
    f->inflatable -= size;
    unsigned char *out = malloc(size);
    if (!out)
        return SPAA_ERR_NOMEM;
    spaa_status st = type == TYPE_ZLIB   ? inflate_zlib(p, n, out, size)
                     : type == TYPE_ZSTD ? inflate_zstd(p, n, out, size)
                                         : SPAA_ERR_INPUT;
    if (st) {
        free(out);
        sp_dw_lacks(f, i);
        return sp_file_fatal(st);
    }
    f->owned[i] = out;
    f->sec[i] = (struct sp_dw_bytes){out, size, 0};
    return SPAA_OK;
}

/* The bytes of a section, malloced; NULL with SPAA_OK: they are not in the file. */
static spaa_status read_section(const struct source *s, const GElf_Shdr *sh, unsigned char **out)
{
    *out = NULL;
    if (sh->sh_type == SHT_NOBITS || sh->sh_offset > s->size || sh->sh_size > s->size - sh->sh_offset ||
        !sh->sh_size)
        return SPAA_OK;
    unsigned char *p = malloc(sh->sh_size);
    if (!p)
        return SPAA_ERR_NOMEM;
    spaa_status st = sp_file_read(s->fd, s->size, sh->sh_offset, p, sh->sh_size, s->f->path, s->diags);
    if (st)
        free(p);
    else
        *out = p;
    return st;
}

/* A section's bytes, malloced, which are taken; GNU's are inflated. */
static spaa_status take_bytes(struct sp_dw_file *f, unsigned i, unsigned char *p, size_t n, bool gnu)
{
    spaa_status st = SPAA_OK;
    if (!gnu) {
        f->owned[i] = p;
        f->sec[i] = (struct sp_dw_bytes){p, n, 0};
        return SPAA_OK;
    }
    if (n >= 12 && memcmp(p, "ZLIB", 4) == 0) {
        struct sp_dw_cursor c = {p + 4, p + n, true, false};
        uint64_t size = sp_dw_fixed(&c, 8);
        st = dwarf_file_unpack(f, i, c.p, (size_t)(c.end - c.p), ELFCOMPRESS_ZLIB, size);
    } else {
        sp_dw_lacks(f, i);
    }
    free(p);
    return st;
}

static spaa_status take_section(const struct source *s, const GElf_Shdr *sh, unsigned i, bool gnu)
{
    struct sp_dw_file *f = s->f;
    unsigned char *p;
    spaa_status st = f->sec[i].p ? SPAA_OK : read_section(s, sh, &p);
    if (st || f->sec[i].p)
        return st;
    if (!p) {
        if (sh->sh_type != SHT_NOBITS && sh->sh_size)
            sp_dw_lacks(f, i);
        return SPAA_OK;
    }
    if (!(sh->sh_flags & SHF_COMPRESSED))
        return take_bytes(f, i, p, sh->sh_size, gnu);
    struct sp_dw_cursor c = {p, p + sh->sh_size, f->big, false};
    unsigned type = (unsigned)sp_dw_fixed(&c, 4);
    sp_dw_skip(&c, s->elf64 ? 4 : 0);
    uint64_t size = sp_dw_fixed(&c, s->elf64 ? 8 : 4);
    sp_dw_skip(&c, s->elf64 ? 8 : 4);
    if (c.bad)
        sp_dw_lacks(f, i);
    else
        st = dwarf_file_unpack(f, i, c.p, (size_t)(c.end - c.p), type, size);
    free(p);
    return st;
}

static void dwarf_file_hex(const unsigned char *p, size_t n, char out[static 129])
{
    static const char digits[] = "0123456789abcdef";
    if (n > 64)
        n = 64;
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[p[i] >> 4];
        out[2 * i + 1] = digits[p[i] & 15];
    }
    out[2 * n] = '\0';
}

static void take_altlink(struct sp_dw_file *f, const unsigned char *p, size_t size)
{
    size_t n = strnlen((const char *)p, size);
    if (!n || n >= sizeof f->altlink || n + 1 >= size)
        return;
    memcpy(f->altlink, p, n + 1);
    dwarf_file_hex(p + n + 1, size - n - 1, f->alt_id);
}

static void take_build_id(struct sp_dw_file *f, const unsigned char *p, size_t size)
{
    struct sp_dw_cursor c = {p, p + size, f->big, false};
    uint64_t name = sp_dw_fixed(&c, 4), desc = sp_dw_fixed(&c, 4);
    if (sp_dw_fixed(&c, 4) != NT_GNU_BUILD_ID || name != 4 || c.end - c.p < 4 || memcmp(c.p, "GNU", 4) != 0)
        return;
    c.p += 4;
    if (desc <= (uint64_t)(c.end - c.p))
        dwarf_file_hex(c.p, desc, f->build_id);
}

/* What says which file this is, and which it goes with. */
static spaa_status take_identity(const struct source *s, const GElf_Shdr *sh, const char *name)
{
    bool alt = !strcmp(name, ".gnu_debugaltlink");
    unsigned char *p = NULL;
    if ((!alt && (strcmp(name, ".note.gnu.build-id") != 0 || sh->sh_type != SHT_NOTE)) ||
        sh->sh_size > NOTE_MAX)
        return SPAA_OK;
    spaa_status st = read_section(s, sh, &p);
    if (p && alt)
        take_altlink(s->f, p, sh->sh_size);
    else if (p)
        take_build_id(s->f, p, sh->sh_size);
    free(p);
    return st;
}

/* Units, or something to say of sections that cannot be used. */
static bool has_units(const struct sp_dw_file *f)
{
    return f->sec[DW_INFO].n || f->excess || f->lacking;
}

static spaa_status dwarf_file_read_sections(struct source *src, Elf *elf)
{
    struct sp_dw_file *f = src->f;
    size_t shstrndx;
    GElf_Ehdr eh;
    GElf_Shdr sh;
    spaa_status st = SPAA_OK;
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh))
        return SPAA_ERR_INPUT;
    f->big = eh.e_ident[EI_DATA] == ELFDATA2MSB;
    f->unlinked = eh.e_type == ET_REL;
    src->elf64 = eh.e_ident[EI_CLASS] == ELFCLASS64;
    if (elf_getshdrstrndx(elf, &shstrndx))
        return SPAA_ERR_NOT_FOUND;
    for (Elf_Scn *s = NULL; !st && (s = elf_nextscn(elf, s));) {
        const char *name = gelf_getshdr(s, &sh) ? elf_strptr(elf, shstrndx, sh.sh_name) : NULL;
        if (!name)
            continue;
        bool gnu;
        unsigned i = section_of(name, f->split, &gnu);
        st = i < DW_SECTIONS ? take_section(src, &sh, i, gnu) : take_identity(src, &sh, name);
    }
    if (st)
        return st;
    bool strings = f->unlinked && !f->split && f->sec[DW_STR].n; /* all that dwz may find in common */
    return has_units(f) || strings ? SPAA_OK : SPAA_ERR_NOT_FOUND;
}

/* SPAA_ERR_INPUT: it is no Mach-O file. */
static spaa_status dwarf_file_read_macho(struct sp_dw_file *f, const char *uuid, struct sp_diags *diags)
{
    struct sp_macho m;
    spaa_status st = sp_macho_open(f->path, uuid, diags, &m);
    if (!st && uuid && strcmp(m.image.uuid, uuid) != 0)
        st = SPAA_ERR_NOT_FOUND;
    f->base = m.text;
    for (size_t k = 0; !st && k < m.sections.n; k++) {
        const struct sp_macho_section *s = &m.sections.v[k];
        unsigned char *p = NULL;
        bool gnu;
        unsigned i = s->dwarf ? macho_section_of(s->name, &gnu) : DW_SECTIONS;
        if (i == DW_SECTIONS || f->sec[i].p)
            continue;
        st = sp_macho_bytes(&m, (struct sp_macho_part){s->offset, s->size}, &p);
        if (!st && p)
            st = take_bytes(f, i, p, s->size, gnu);
    }
    st = sp_macho_close(&m, st);
    return st ? st : has_units(f) ? SPAA_OK : SPAA_ERR_NOT_FOUND;
}

/* Which file it is, and how much its compressed sections may hold. */
static void note_file(struct sp_dw_file *f, int fd, uint64_t size)
{
    struct stat st;
    if (!fstat(fd, &st)) {
        f->dev = st.st_dev;
        f->ino = st.st_ino;
    }
    f->inflatable = sp_elf_inflatable(size);
}

static spaa_status dwarf_file_read_file(struct sp_dw_file *f, const char *uuid, struct sp_diags *diags)
{
    struct source s = {.f = f, .diags = diags};
    s.fd = sp_file_open(f->path, &s.size);
    if (s.fd < 0)
        return SPAA_ERR_NOT_FOUND;
    note_file(f, s.fd, s.size);
    errno = 0;
    Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(s.fd, ELF_C_READ, NULL);
    spaa_status st = dwarf_file_read_sections(&s, elf);
    if (errno == ENOMEM)
        st = SPAA_ERR_NOMEM;
    elf_end(elf);
    if (!sp_file_fatal(st) && sp_file_check(s.fd, s.size, f->path, diags))
        st = SPAA_ERR_IO;
    close(s.fd);
    return st == SPAA_ERR_INPUT && !f->split ? dwarf_file_read_macho(f, uuid, diags) : st;
}

static void end_strings(struct sp_dw_bytes *b)
{
    const unsigned char *last = b->n ? memrchr(b->p, 0, b->n) : NULL;
    b->text = last ? (size_t)(last - b->p) + 1 : 0;
}

static bool is_all_alike(const struct sp_dw_bytes *b)
{
    return b->n && (!b->p[0] || b->p[0] == 0xff) && !memcmp(b->p, b->p + 1, b->n - 1);
}

spaa_status sp_dw_file_open(const char *path, bool split, const char *uuid, struct sp_diags *diags,
                            struct sp_dw_file **out)
{
    struct sp_dw_file *f = calloc(1, sizeof *f);
    if (!f)
        return SPAA_ERR_NOMEM;
    size_t n = strlen(path) + 1;
    char *copy = malloc(n);
    if (copy)
        memcpy(copy, path, n);
    f->path = copy;
    f->split = split;
    spaa_status st = copy ? dwarf_file_read_file(f, uuid, diags) : SPAA_ERR_NOMEM;
    end_strings(&f->sec[DW_STR]);
    end_strings(&f->sec[DW_LINE_STR]);
    f->no_addresses = is_all_alike(&f->sec[DW_ADDR]);
    if (st)
        sp_dw_file_free(f);
    else
        *out = f;
    return st;
}

static void free_unit(struct sp_dw_unit *u)
{
    sp_vec_free(&u->inlines.nodes);
    sp_vec_free(&u->inlines.copies);
    sp_vec_free(&u->inlines.scopes);
    sp_vec_free(&u->inlines.seg);
    sp_vec_free(&u->inlines.seg_node);
}

void sp_dw_file_free(struct sp_dw_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->units.n; i++)
        free_unit(&f->units.v[i]);
    sp_vec_free(&f->units);
    sp_dw_file_free(f->alt);
    for (unsigned i = 0; i < DW_SECTIONS; i++)
        free(f->owned[i]);
    free((char *)(uintptr_t)f->path);
    free(f);
}
