/*
 * A file with debug sections: mapped, found by name, inflated where they are compressed.
 *
 * Only headers are touched here, and compressed sections whole. A mapped file that somebody truncates
 * meanwhile kills the process, as with every debugger; nothing else is read this way.
 *
 * Compression: ELF's own (SHF_COMPRESSED, zlib or zstd) and GNU's older .zdebug_ sections.
 */
#include "symbols/file.h"
#include "symbols/dwarf/private.h"

#include <gelf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define SHIFT_MAX 1032u /* zlib cannot do better */

static const char *const names[DW_SECTIONS] = {"info",        "abbrev",  "str",      "line",
                                               "line_str",    "ranges",  "rnglists", "addr",
                                               "str_offsets", "aranges", "cu_index"};

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

static bool inflate_zlib(const unsigned char *p, size_t n, unsigned char *out, size_t size)
{
    z_stream z = {0};
    if (inflateInit(&z) != Z_OK)
        return false;
    int rc = Z_OK;
    z.next_in = (unsigned char *)(uintptr_t)p;
    z.next_out = out;
    while (rc == Z_OK && n + z.avail_in && size + z.avail_out) {
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
    bool ok = (rc == Z_OK || rc == Z_STREAM_END) && !size && !z.avail_out;
    inflateEnd(&z);
    return ok;
}

/* Replaces a compressed section by what it holds; one that cannot be is left out. False: out of memory. */
static bool unpack(struct sp_dw_file *f, unsigned i, const unsigned char *p, size_t n, unsigned type,
                   uint64_t size)
{
    if (!size || size > DW_INFLATED_MAX || (type == ELFCOMPRESS_ZLIB && size / SHIFT_MAX > n))
        return true;
    unsigned char *out = malloc(size);
    if (!out)
        return false;
    bool ok = type == ELFCOMPRESS_ZLIB ? inflate_zlib(p, n, out, size)
                                       : type == 2 && ZSTD_decompress(out, size, p, n) == size;
    if (!ok) {
        free(out);
        return true;
    }
    f->inflated[i] = out;
    f->sec[i] = (struct sp_dw_bytes){out, size};
    return true;
}

static bool take_section(struct sp_dw_file *f, const GElf_Shdr *sh, unsigned i, bool gnu, bool elf64)
{
    if (sh->sh_type == SHT_NOBITS || sh->sh_offset > f->size || sh->sh_size > f->size - sh->sh_offset ||
        f->sec[i].p || !sh->sh_size)
        return true;
    const unsigned char *p = f->map + sh->sh_offset;
    struct sp_dw_cursor c = {p, p + sh->sh_size, f->big, false};
    if (sh->sh_flags & SHF_COMPRESSED) {
        unsigned type = (unsigned)sp_dw_fixed(&c, 4);
        sp_dw_skip(&c, elf64 ? 4 : 0);
        uint64_t size = sp_dw_fixed(&c, elf64 ? 8 : 4);
        sp_dw_skip(&c, elf64 ? 8 : 4);
        return c.bad || unpack(f, i, c.p, (size_t)(c.end - c.p), type, size);
    }
    if (gnu) {
        if (sh->sh_size < 12 || memcmp(p, "ZLIB", 4) != 0)
            return true;
        c.p += 4;
        c.big = true;
        uint64_t size = sp_dw_fixed(&c, 8);
        return unpack(f, i, c.p, (size_t)(c.end - c.p), ELFCOMPRESS_ZLIB, size);
    }
    f->sec[i] = (struct sp_dw_bytes){p, sh->sh_size};
    return true;
}

static void hex(const unsigned char *p, size_t n, char out[static 129])
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

static void take_altlink(struct sp_dw_file *f, const GElf_Shdr *sh)
{
    if (sh->sh_type == SHT_NOBITS || sh->sh_offset > f->size || sh->sh_size > f->size - sh->sh_offset)
        return;
    const unsigned char *p = f->map + sh->sh_offset;
    size_t n = strnlen((const char *)p, sh->sh_size);
    if (!n || n >= sizeof f->altlink || n + 1 >= sh->sh_size)
        return;
    memcpy(f->altlink, p, n + 1);
    hex(p + n + 1, sh->sh_size - n - 1, f->alt_id);
}

static void take_build_id(struct sp_dw_file *f, const GElf_Shdr *sh)
{
    if (sh->sh_type != SHT_NOTE || sh->sh_offset > f->size || sh->sh_size > f->size - sh->sh_offset)
        return;
    const unsigned char *p = f->map + sh->sh_offset;
    struct sp_dw_cursor c = {p, p + sh->sh_size, f->big, false};
    uint64_t name = sp_dw_fixed(&c, 4), desc = sp_dw_fixed(&c, 4);
    if (sp_dw_fixed(&c, 4) != NT_GNU_BUILD_ID || name != 4 || c.end - c.p < 4 || memcmp(c.p, "GNU", 4) != 0)
        return;
    c.p += 4;
    if (desc <= (uint64_t)(c.end - c.p))
        hex(c.p, desc, f->build_id);
}

static spaa_status read_sections(struct sp_dw_file *f, Elf *elf)
{
    size_t shstrndx;
    GElf_Ehdr eh;
    GElf_Shdr sh;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh))
        return SPAA_ERR_INPUT;
    f->big = eh.e_ident[EI_DATA] == ELFDATA2MSB;
    f->unlinked = eh.e_type == ET_REL;
    if (elf_getshdrstrndx(elf, &shstrndx))
        return SPAA_ERR_NOT_FOUND;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        const char *name = gelf_getshdr(s, &sh) ? elf_strptr(elf, shstrndx, sh.sh_name) : NULL;
        if (!name)
            continue;
        bool gnu;
        unsigned i = section_of(name, f->split, &gnu);
        if (i < DW_SECTIONS && !take_section(f, &sh, i, gnu, eh.e_ident[EI_CLASS] == ELFCLASS64))
            return SPAA_ERR_NOMEM;
        if (!strcmp(name, ".gnu_debugaltlink"))
            take_altlink(f, &sh);
        else if (!strcmp(name, ".note.gnu.build-id"))
            take_build_id(f, &sh);
    }
    return f->sec[DW_INFO].n && f->sec[DW_ABBREV].n ? SPAA_OK : SPAA_ERR_NOT_FOUND;
}

static spaa_status map_file(struct sp_dw_file *f, const char *path)
{
    struct stat st;
    int fd = sp_file_open(path);
    if (fd < 0)
        return SPAA_ERR_NOT_FOUND;
    spaa_status rc = SPAA_ERR_INPUT;
    if (!fstat(fd, &st) && st.st_size > 0) {
        void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            f->map = map;
            f->size = (size_t)st.st_size;
            rc = SPAA_OK;
        }
    }
    close(fd);
    return rc;
}

spaa_status sp_dw_file_open(const char *path, bool split, struct sp_dw_file **out)
{
    struct sp_dw_file *f = calloc(1, sizeof *f);
    if (!f)
        return SPAA_ERR_NOMEM;
    size_t n = strlen(path) + 1;
    char *copy = malloc(n);
    f->path = copy;
    f->split = split;
    spaa_status st = copy ? map_file(f, path) : SPAA_ERR_NOMEM;
    if (copy)
        memcpy(copy, path, n);
    if (!st) {
        Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_memory((char *)f->map, f->size);
        st = elf ? read_sections(f, elf) : SPAA_ERR_INPUT;
        elf_end(elf);
    }
    if (st)
        sp_dw_file_free(f);
    else
        *out = f;
    return st;
}

static void free_unit(struct sp_dw_unit *u)
{
    sp_vec_free(&u->lines.rows);
    sp_vec_free(&u->lines.sequences);
    sp_vec_free(&u->lines.files);
    sp_vec_free(&u->inlines.nodes);
    sp_vec_free(&u->inlines.seg);
    sp_vec_free(&u->inlines.seg_node);
}

void sp_dw_file_free(struct sp_dw_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->units.n; i++) {
        struct sp_dw_unit *u = &f->units.v[i];
        free_unit(u);
        if (u->split_file) { /* has no split units itself: this goes one step down */
            struct sp_dw_file *s = u->split_file;
            for (size_t k = 0; k < s->units.n; k++)
                free_unit(&s->units.v[k]);
            s->units.n = 0;
            sp_dw_file_free(s);
        }
    }
    sp_vec_free(&f->units);
    sp_dw_file_free(f->alt);
    for (unsigned i = 0; i < DW_SECTIONS; i++)
        free(f->inflated[i]);
    if (f->map)
        munmap(f->map, f->size);
    free((char *)(uintptr_t)f->path);
    free(f);
}
