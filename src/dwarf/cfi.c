/*
 * The tables of a file: sections are copied, FDEs listed and sorted.
 *
 * Quirks: an .eh_frame of a separate debug file is empty (NOBITS) and skipped; terminators in the middle of
 * .eh_frame (linkers join several) end nothing; FDEs of functions that the linker dropped start at 0 and are
 * left out. Two FDEs of one address: .eh_frame's, which is what the running program itself would use.
 */
#include "dwarf/cfi_private.h"

#include "base/word.h"
#include "io/file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTION_MAX ((uint64_t)1 << 30)
#define FDES_MAX    ((size_t)32 << 20)

enum { ENC_OMIT = 0xff, ENC_INDIRECT = 0x80, ENC_PCREL = 0x10, ENC_APPLY = 0x70 };

const unsigned char *sp_cfi_take(struct sp_cfi_cursor *c, uint64_t n)
{
    if (c->bad || n > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        return NULL;
    }
    const unsigned char *p = c->p;
    c->p += n;
    return p;
}

uint64_t sp_cfi_fixed(struct sp_cfi_cursor *c, unsigned bytes)
{
    const unsigned char *p = sp_cfi_take(c, bytes);
    if (!p)
        return 0;
    c->bad = bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8;
    return c->bad ? 0 : sp_load_swapped(p, bytes, c->swap);
}

uint64_t sp_cfi_uleb(struct sp_cfi_cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        const unsigned char *p = sp_cfi_take(c, 1);
        if (!p)
            return 0;
        if (shift < 64)
            v |= (uint64_t)(*p & 127) << shift;
        if (!(*p & 128))
            return v;
    }
}

int64_t sp_cfi_sleb(struct sp_cfi_cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        const unsigned char *p = sp_cfi_take(c, 1);
        if (!p)
            return 0;
        if (shift < 64)
            v |= (uint64_t)(*p & 127) << shift;
        if (*p & 128)
            continue;
        if (*p & 64 && shift + 7 < 64)
            v |= ~(uint64_t)0 << (shift + 7);
        return (int64_t)v;
    }
}

static uint64_t sign_extended(uint64_t v, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;
    return (uint64_t)((int64_t)(v << shift) >> shift);
}

uint64_t sp_cfi_pointer(const struct sp_cfi *t, const struct sp_cfi_part *part, struct sp_cfi_cursor *c,
                        uint8_t encoding)
{
    uint64_t here = part->addr + (uint64_t)(c->p - (t->data.v + part->at)), v = 0;
    unsigned bytes = t->word;
    switch (encoding & 15) {
    case 0:
        v = sp_cfi_fixed(c, bytes);
        break;
    case 1:
        v = sp_cfi_uleb(c);
        break;
    case 9:
        v = (uint64_t)sp_cfi_sleb(c);
        break;
    case 2:
    case 3:
    case 4:
        v = sp_cfi_fixed(c, 1u << ((encoding & 15) - 1));
        break;
    case 10:
    case 11:
    case 12:
        bytes = 1u << ((encoding & 7) - 1);
        v = sign_extended(sp_cfi_fixed(c, bytes), bytes);
        break;
    default:
        c->bad = true;
    }
    if ((encoding & ENC_APPLY) == ENC_PCREL)
        v += here;
    else if (encoding & ENC_APPLY)
        c->bad = true;
    if (encoding & ENC_INDIRECT)
        c->bad = true;
    return t->word == 4 ? v & UINT32_MAX : v;
}

/* What follows an entry's length: the cursor is cut to it. False: no entry here. */
static bool open_entry(const struct sp_cfi *t, const struct sp_cfi_part *part, size_t at,
                       struct sp_cfi_cursor *c, unsigned *offset_bytes)
{
    *c = (struct sp_cfi_cursor){t->data.v + at, t->data.v + part->at + part->n, t->swap, false};
    uint64_t n = sp_cfi_fixed(c, 4);
    *offset_bytes = 4;
    if (n == UINT32_MAX) {
        n = sp_cfi_fixed(c, 8);
        *offset_bytes = 8;
    }
    if (c->bad || n > (uint64_t)(c->end - c->p))
        return false;
    c->end = c->p + n;
    return true;
}

/* The letters of an augmentation that begins with z, whose data c is at. */
static bool read_augmentation(const struct sp_cfi *t, const struct sp_cfi_part *part, const char *letters,
                              struct sp_cfi_cursor *c, struct sp_cfi_cie *out)
{
    uint64_t n = sp_cfi_uleb(c);
    const unsigned char *data = c->p;
    if (!sp_cfi_take(c, n))
        return false;
    struct sp_cfi_cursor a = {data, c->p, t->swap, false};
    out->sized = true;
    for (const char *l = letters + 1; *l; l++) {
        if (*l == 'R')
            out->pointers = (uint8_t)sp_cfi_fixed(&a, 1);
        else if (*l == 'L')
            sp_cfi_take(&a, 1);
        else if (*l == 'P') {
            uint8_t encoding = (uint8_t)sp_cfi_fixed(&a, 1);
            /* The routine's address is of no interest, only how long it is. */
            sp_cfi_pointer(t, part, &a, encoding & 15);
        } else if (*l == 'S')
            out->signal = true;
        else if (*l != 'B' && *l != 'G')
            break;
    }
    return !a.bad;
}

static bool read_cie(const struct sp_cfi *t, const struct sp_cfi_part *part, size_t at,
                     struct sp_cfi_cie *out)
{
    struct sp_cfi_cursor c;
    unsigned bytes;
    *out = (struct sp_cfi_cie){0};
    if (!open_entry(t, part, at, &c, &bytes))
        return false;
    uint64_t id = sp_cfi_fixed(&c, part->eh ? 4 : bytes);
    if (id != (part->eh ? 0 : bytes == 8 ? UINT64_MAX : UINT32_MAX))
        return false;
    uint64_t version = sp_cfi_fixed(&c, 1);
    const char *letters = (const char *)c.p;
    if (c.bad || (version != 1 && version != 3 && version != 4) || !memchr(letters, 0, (size_t)(c.end - c.p)))
        return false;
    sp_cfi_take(&c, strlen(letters) + 1);
    if (version == 4 && (sp_cfi_fixed(&c, 1) != t->word || sp_cfi_fixed(&c, 1) != 0))
        return false;
    if (strcmp(letters, "eh") == 0)
        sp_cfi_take(&c, t->word);
    out->code_align = sp_cfi_uleb(&c);
    out->data_align = sp_cfi_sleb(&c);
    out->ra = version == 1 ? sp_cfi_fixed(&c, 1) : sp_cfi_uleb(&c);
    if (c.bad || out->ra >= SP_CFI_REGS)
        return false;
    if (letters[0] == 'z' && !read_augmentation(t, part, letters, &c, out))
        return false;
    if (letters[0] && letters[0] != 'z' && strcmp(letters, "eh") != 0)
        return false;
    out->program = c.p;
    out->end = c.end;
    return !c.bad;
}

/* Where an entry's CIE is; SIZE_MAX: it is one itself, or it points nowhere. */
static size_t cie_of(const struct sp_cfi *t, const struct sp_cfi_part *part, struct sp_cfi_cursor *c,
                     unsigned bytes)
{
    size_t field = (size_t)(c->p - t->data.v);
    uint64_t id = sp_cfi_fixed(c, part->eh ? 4 : bytes);
    if (c->bad)
        return SIZE_MAX;
    if (part->eh)
        return id && id <= field - part->at ? field - (size_t)id : SIZE_MAX;
    return id < part->n && id != UINT32_MAX ? part->at + (size_t)id : SIZE_MAX;
}

bool sp_cfi_open_fde(const struct sp_cfi *t, const struct sp_cfi_fde *f, struct sp_cfi_cie *cie,
                     struct sp_cfi_cursor *program)
{
    const struct sp_cfi_part *part = &t->parts[f->part];
    unsigned bytes;
    if (!open_entry(t, part, f->at, program, &bytes))
        return false;
    size_t at = cie_of(t, part, program, bytes);
    if (at == SIZE_MAX || !read_cie(t, part, at, cie))
        return false;
    sp_cfi_pointer(t, part, program, cie->pointers);
    sp_cfi_pointer(t, part, program, cie->pointers & 15);
    if (cie->sized)
        sp_cfi_take(program, sp_cfi_uleb(program));
    return !program->bad;
}

/* Lists the FDEs of a section. */
static bool list_fdes(struct sp_cfi *t, uint32_t number)
{
    const struct sp_cfi_part *part = &t->parts[number];
    struct sp_cfi_cie cie = {0};
    size_t known = SIZE_MAX;
    bool usable = false;
    for (size_t at = part->at, end = part->at + part->n; end - at >= 4;) {
        struct sp_cfi_cursor c;
        unsigned bytes;
        if (!open_entry(t, part, at, &c, &bytes))
            return true;
        size_t next = (size_t)(c.end - t->data.v);
        if (next - at <= 4) { /* a terminator */
            at = next;
            continue;
        }
        size_t cie_at = cie_of(t, part, &c, bytes);
        if (cie_at != SIZE_MAX && cie_at != known) {
            usable = read_cie(t, part, cie_at, &cie);
            known = cie_at;
        }
        if (cie_at != SIZE_MAX && usable) {
            struct sp_cfi_fde f = {.at = (uint32_t)at, .part = number};
            f.start = sp_cfi_pointer(t, part, &c, cie.pointers);
            f.end = f.start + sp_cfi_pointer(t, part, &c, cie.pointers & 15);
            if (!c.bad && f.start && f.end > f.start && t->fdes.n < FDES_MAX && !sp_vec_push(&t->fdes, f))
                return false;
        }
        at = next;
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct sp_cfi_fde *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->part != y->part ? (x->part < y->part ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

static void sort_fdes(struct sp_cfi *t)
{
    bool sorted = true;
    for (size_t i = 1; i < t->fdes.n && sorted; i++)
        sorted = by_address(&t->fdes.v[i - 1], &t->fdes.v[i]) < 0;
    if (!sorted)
        qsort(t->fdes.v, t->fdes.n, sizeof *t->fdes.v, by_address);
    size_t n = 0;
    for (size_t i = 0; i < t->fdes.n; i++)
        if (!n || t->fdes.v[n - 1].start != t->fdes.v[i].start)
            t->fdes.v[n++] = t->fdes.v[i];
    t->fdes.n = n;
}

/* Copies a section into the table. */
static bool add_part(struct sp_cfi *t, Elf_Scn *s, const GElf_Shdr *sh, bool eh)
{
    if (t->nparts == sizeof t->parts / sizeof *t->parts)
        return true;
    if (sh->sh_flags & SHF_COMPRESSED && elf_compress(s, 0, 0) < 0)
        return true;
    Elf_Data *d = elf_rawdata(s, NULL);
    if (!d || !d->d_buf || !d->d_size || d->d_size > SECTION_MAX - t->data.n)
        return true;
    if (!sp_vec_reserve(&t->data, t->data.n + d->d_size))
        return false;
    memcpy(t->data.v + t->data.n, d->d_buf, d->d_size);
    t->parts[t->nparts++] = (struct sp_cfi_part){t->data.n, d->d_size, sh->sh_addr, eh};
    t->data.n += d->d_size;
    return true;
}

static bool cfi_read_sections(struct sp_cfi *t, Elf *elf)
{
    size_t names;
    GElf_Ehdr eh;
    GElf_Shdr sh;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) || elf_getshdrstrndx(elf, &names))
        return true;
    static const uint16_t one = 1;
    bool host_big = *(const unsigned char *)&one == 0;
    t->machine = eh.e_machine;
    t->word = eh.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
    t->big_endian = eh.e_ident[EI_DATA] == ELFDATA2MSB;
    t->swap = t->big_endian != host_big;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        if (!gelf_getshdr(s, &sh) || sh.sh_type == SHT_NOBITS || sh.sh_size > SECTION_MAX)
            continue;
        const char *name = elf_strptr(elf, names, sh.sh_name);
        bool eh_frame = name && !strcmp(name, ".eh_frame");
        if ((eh_frame || (name && !strcmp(name, ".debug_frame"))) && !add_part(t, s, &sh, eh_frame))
            return false;
    }
    return true;
}

/* libelf does not say that memory ran out, errno does. */
static spaa_status cfi_add_file(struct sp_cfi *t, const char *path, struct sp_diags *d)
{
    uint64_t size;
    int fd = path ? sp_file_open(path, &size) : -1;
    if (fd < 0)
        return SPAA_OK;
    bool ok = true;
    errno = 0;
    Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    if (elf)
        ok = cfi_read_sections(t, elf);
    spaa_status st = ok && errno != ENOMEM ? sp_file_check(fd, size, path, d) : SPAA_ERR_NOMEM;
    elf_end(elf);
    close(fd);
    return st;
}

spaa_status sp_cfi_load(const char *file, const char *debug, struct sp_diags *d, struct sp_cfi **out)
{
    struct sp_cfi *t = calloc(1, sizeof *t);
    if (!t)
        return SPAA_ERR_NOMEM;
    t->word = 8;
    spaa_status st = sp_file_fatal(file ? sp_elf_read(file, d, &t->elf, NULL) : SPAA_OK);
    if (st == SPAA_OK)
        st = cfi_add_file(t, file, d);
    if (st == SPAA_OK)
        st = cfi_add_file(t, debug, d);
    /* .eh_frame first: it wins where both describe a function. */
    for (int eh = 1; eh >= 0 && st == SPAA_OK; eh--)
        for (uint32_t i = 0; i < t->nparts && st == SPAA_OK; i++)
            if (t->parts[i].eh == eh && !list_fdes(t, i))
                st = SPAA_ERR_NOMEM;
    if (st != SPAA_OK) {
        sp_cfi_free(t);
        return st;
    }
    sort_fdes(t);
    *out = t;
    return SPAA_OK;
}

void sp_cfi_free(struct sp_cfi *c)
{
    if (!c)
        return;
    sp_elf_free(&c->elf);
    sp_vec_free(&c->data);
    sp_vec_free(&c->fdes);
    free(c);
}

size_t sp_cfi_count(const struct sp_cfi *c)
{
    return c->fdes.n;
}

unsigned sp_cfi_machine(const struct sp_cfi *c)
{
    return c->machine;
}

bool sp_cfi_big_endian(const struct sp_cfi *c)
{
    return c->big_endian;
}

bool sp_cfi_vaddr(const struct sp_cfi *c, uint64_t file_offset, uint64_t *vaddr)
{
    return sp_elf_vaddr(&c->elf, file_offset, vaddr);
}
