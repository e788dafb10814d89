/*
 * ELF: the file as a whole and its symbol tables, through libelf (elfutils).
 *
 * libelf checks that section data lie inside the file; offsets inside the data (names, notes,
 * links between sections) are checked here. Which symbols count is as in Linux perf
 * (tools/perf/util/symbol-elf.c): named functions, indirect functions and objects of allocated
 * sections; labels without a type only in sections named like text or data, and not when hidden;
 * no mapping symbols ($a, $d, $t, $x) of ARM and RISC-V; nothing absolute. Unlike perf, addresses are
 * virtual ones throughout.
 *
 * libelf reads with ELF_C_READ: it does not map the file, which may shrink. Where it has no memory it gives
 * NULL as for damage, but errno tells: nothing else here sets it to ENOMEM.
 *
 * Not read: function descriptors of 64-bit PowerPC's first ABI. Symbol tables in .gnu_debugdata: minidebug.c.
 */
#include "dwarf/elf.h"

#include "io/file.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADS_MAX      4096
#define NOTES_MAX      64                /* sections or segments of notes that are looked into */
#define NOTE_BYTES_MAX ((size_t)1 << 20) /* of one of them */
#define INFLATED_TIMES 64u               /* what compressed sections hold in all, of the file */
#define INFLATED_FREE  ((uint64_t)16 << 20)
#define INFLATED_MAX   ((uint64_t)8 << 30)

/* An ELF file while it is open. */
enum {
    SP_SECTION_ALLOC = 1,  /* in memory when the program runs */
    SP_SECTION_LABELS = 2, /* labels in it count as symbols */
};

struct sp_elf_file {
    Elf *elf;
    unsigned machine;
    bool little;
    size_t sections, shstrndx;
    unsigned char *section; /* SP_SECTION_ flags by index */
    uint64_t *section_end;  /* where each ends in memory; 0: it is not there, or not known where */
    uint64_t size;          /* of the file */
    bool linked;            /* sections have their addresses */
    bool unnamed;           /* there are sections whose name cannot be read */
    bool abbreviations;     /* .debug_abbrev has something in it */
    bool cut;               /* one reaches beyond the file */
    bool nameless;          /* symbols have no names, or a table of them cannot be read */
    Elf_Scn *symtab, *dynsym, *plt, *plt_sec, *plt_relocs;
};

void sp_elf_free(struct sp_elf *e)
{
    sp_vec_free(&e->loads);
    *e = (struct sp_elf){0};
}

static void elf_hex(const unsigned char *p, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[p[i] >> 4];
        out[2 * i + 1] = digits[p[i] & 15];
    }
    out[2 * n] = '\0';
}

/* Takes the build-id out of a block of notes, if there is one. */
static bool build_id_in(Elf_Data *notes, struct sp_elf *out)
{
    GElf_Nhdr h;
    size_t name, desc;
    for (size_t at = 0; notes && notes->d_buf && (at = gelf_getnote(notes, at, &h, &name, &desc)) > 0;) {
        if (h.n_type != NT_GNU_BUILD_ID || h.n_namesz != 4 || !h.n_descsz || h.n_descsz > SP_BUILD_ID_MAX)
            continue;
        const unsigned char *p = notes->d_buf;
        if (name > notes->d_size || notes->d_size - name < 4 || desc > notes->d_size ||
            notes->d_size - desc < h.n_descsz || memcmp(p + name, "GNU", 4) != 0)
            continue;
        elf_hex(p + desc, h.n_descsz, out->build_id);
        return true;
    }
    return false;
}

static void read_debuglink(Elf_Data *data, bool little, struct sp_elf *out)
{
    if (!data || !data->d_buf)
        return;
    const unsigned char *p = data->d_buf;
    size_t n = strnlen(data->d_buf, data->d_size), crc = (n + 4) & ~(size_t)3;
    /* A name with a directory in it could point anywhere. */
    if (!n || n >= sizeof out->debuglink || memchr(p, '/', n) || crc > data->d_size || data->d_size - crc < 4)
        return;
    memcpy(out->debuglink, p, n + 1);
    for (unsigned i = 0; i < 4; i++)
        out->debuglink_crc |= (uint32_t)p[crc + i] << (little ? 8 * i : 24 - 8 * i);
}

static const char *section_name(const struct sp_elf_file *f, const GElf_Shdr *sh)
{
    const char *s = elf_strptr(f->elf, f->shstrndx, sh->sh_name);
    return s ? s : "";
}

/* What thread-local variables start with has no place in memory of its own. */
static uint64_t section_end(const struct sp_elf_file *f, const GElf_Shdr *sh)
{
    bool placed = f->linked && sh->sh_flags & SHF_ALLOC && !(sh->sh_flags & SHF_TLS);
    return placed && sh->sh_size <= UINT64_MAX - sh->sh_addr ? sh->sh_addr + sh->sh_size : 0;
}

static bool holds(const struct sp_elf_file *f, uint64_t offset, uint64_t n)
{
    return offset <= f->size && n <= f->size - offset;
}

static bool holds_section(const struct sp_elf_file *f, const GElf_Shdr *sh)
{
    return sh->sh_type == SHT_NOBITS || sh->sh_type == SHT_NULL || holds(f, sh->sh_offset, sh->sh_size);
}

/* One pass over the sections: what they say of the file, and where the tables are. */
static void elf_read_sections(struct sp_elf_file *f, struct sp_elf *out)
{
    GElf_Shdr sh;
    unsigned notes = 0;
    bool code = false, elsewhere = false;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(f->elf, s));) {
        size_t i = elf_ndxscn(s);
        if (!gelf_getshdr(s, &sh))
            continue;
        const char *name = section_name(f, &sh);
        if (i < f->sections) {
            f->section[i] |= sh.sh_flags & SHF_ALLOC ? SP_SECTION_ALLOC : 0;
            f->section[i] |= strstr(name, "text") || strstr(name, "data") ? SP_SECTION_LABELS : 0;
            f->section_end[i] = section_end(f, &sh);
        }
        f->unnamed |= !*name;
        f->abbreviations |= sh.sh_type == SHT_PROGBITS && sh.sh_size && !strcmp(name, ".debug_abbrev");
        f->cut |= !holds_section(f, &sh);
        if (sh.sh_type == SHT_NOTE && !out->build_id[0] && notes++ < NOTES_MAX &&
            sh.sh_size <= NOTE_BYTES_MAX)
            build_id_in(elf_getdata(s, NULL), out);
        else if (sh.sh_type == SHT_SYMTAB && !f->symtab)
            f->symtab = s;
        else if (sh.sh_type == SHT_DYNSYM && !f->dynsym)
            f->dynsym = s;
        else if ((sh.sh_type == SHT_RELA || sh.sh_type == SHT_REL) && sh.sh_flags & SHF_ALLOC &&
                 (!strcmp(name, ".rela.plt") || !strcmp(name, ".rel.plt")))
            f->plt_relocs = s;
        else if (!strcmp(name, ".plt.sec"))
            f->plt_sec = s;
        else if (!strcmp(name, ".plt"))
            f->plt = s;
        else if (sh.sh_type == SHT_PROGBITS && !out->debuglink[0] && sh.sh_size <= 4096 &&
                 !strcmp(name, ".gnu_debuglink"))
            read_debuglink(elf_rawdata(s, NULL), f->little, out);
        if (sh.sh_type == SHT_SYMTAB && sh.sh_size > sh.sh_entsize)
            out->has_symtab = true;
        if (sh.sh_type == SHT_PROGBITS && sh.sh_size &&
            (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
            out->has_dwarf = true;
        if (sh.sh_flags & SHF_EXECINSTR)
            *(sh.sh_type == SHT_NOBITS ? &elsewhere : &code) = true;
        size_t length = strlen(name);
        out->go |= length >= 10 && !strcmp(name + length - 10, ".gopclntab");
        if (!strcmp(name, ".text"))
            out->text = sh.sh_addr;
        out->has_mini |= sh.sh_type == SHT_PROGBITS && !strcmp(name, ".gnu_debugdata");
    }
    out->has_mini = out->has_mini && !out->has_symtab;
    out->codeless = elsewhere && !code;
}

static bool read_segments(struct sp_elf_file *f, struct sp_elf *out)
{
    size_t n;
    unsigned notes = 0;
    GElf_Phdr ph;
    if (elf_getphdrnum(f->elf, &n))
        return true;
    for (size_t i = 0; i < n && i < LOADS_MAX && gelf_getphdr(f->elf, (int)i, &ph); i++) {
        if (ph.p_type == PT_NOTE && !out->build_id[0] && notes++ < NOTES_MAX && ph.p_offset <= INT64_MAX &&
            ph.p_filesz <= NOTE_BYTES_MAX) {
            Elf_Type type = ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
            build_id_in(elf_getdata_rawchunk(f->elf, (int64_t)ph.p_offset, (size_t)ph.p_filesz, type), out);
        }
        struct sp_elf_load load = {ph.p_offset, ph.p_filesz, ph.p_vaddr, ph.p_flags & PF_X};
        if (ph.p_type == PT_LOAD && !sp_vec_push(&out->loads, load))
            return false;
    }
    return true;
}

/* The string table a section links to, cut behind its last NUL so that every offset in it is a string. */
static Elf_Data *linked_strings(struct sp_elf_file *f, Elf_Scn *table, size_t *usable)
{
    GElf_Shdr sh;
    if (!gelf_getshdr(table, &sh))
        return NULL;
    Elf_Scn *s = elf_getscn(f->elf, sh.sh_link);
    if (!s || !gelf_getshdr(s, &sh) || sh.sh_type != SHT_STRTAB)
        return NULL;
    Elf_Data *d = elf_getdata(s, NULL);
    if (!d || !d->d_buf)
        return NULL;
    const char *last = memrchr(d->d_buf, '\0', d->d_size);
    *usable = last ? (size_t)(last - (const char *)d->d_buf) + 1 : 0;
    return d;
}

/*
 * A copy of the string table that a symbol table links to, kept by `keep`; every offset below *n is a
 * string. *n is 0 when there is none. False: out of memory.
 */
static bool elf_strings(struct sp_elf_file *f, Elf_Scn *table, struct sp_symtab *keep, const char **strings,
                        size_t *n)
{
    Elf_Data *d = linked_strings(f, table, n);
    *strings = NULL;
    if (!d || !*n) {
        *n = 0;
        return true;
    }
    char *copy = malloc(*n);
    if (!copy)
        return false;
    memcpy(copy, d->d_buf, *n);
    sp_symtab_strings(keep, *n);
    *strings = copy;
    return sp_symtab_keep(keep, copy);
}

static bool is_mapping_symbol(const struct sp_elf_file *f, const char *name)
{
    if (f->machine == EM_RISCV && name[0] == '.' && name[1] == 'L')
        return true;
    return (f->machine == EM_ARM || f->machine == EM_AARCH64 || f->machine == EM_RISCV) && name[0] == '$' &&
           name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.' || f->machine == EM_RISCV);
}

static bool wanted(const struct sp_elf_file *f, const GElf_Sym *s, const char *name)
{
    unsigned char in = SP_SECTION_ALLOC; /* SHN_XINDEX: in one of more than 65,000 sections */
    if (s->st_shndx < SHN_LORESERVE)
        in = s->st_shndx < f->sections ? f->section[s->st_shndx] : 0;
    if (!*name || s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON ||
        !(in & SP_SECTION_ALLOC) || is_mapping_symbol(f, name))
        return false;
    switch (GELF_ST_TYPE(s->st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
    case STT_OBJECT:
        return true;
    case STT_NOTYPE:
        return in & SP_SECTION_LABELS && GELF_ST_VISIBILITY(s->st_other) != STV_HIDDEN &&
               GELF_ST_VISIBILITY(s->st_other) != STV_INTERNAL;
    default:
        return false;
    }
}

static enum sp_bind elf_bind_of(const GElf_Sym *s)
{
    unsigned b = GELF_ST_BIND(s->st_info);
    return b == STB_WEAK ? SP_BIND_WEAK : b == STB_GLOBAL ? SP_BIND_GLOBAL : SP_BIND_LOCAL;
}

/*
 * The number of the unit that the local symbols after a symbol are of; 0: of one without a name, which has
 * what linkers make local. Its file has a name where that says which source it was, in every build: those of
 * Rust's units have a hash in them, go.go and <artificial> (of link time) stand for any.
 */
static bool elf_symbol_file(struct sp_symtab *out, const char *name, uint32_t *number)
{
    const char *base = strrchr(name, '/');
    base = base ? base + 1 : name;
    *number = 0;
    if (!*base)
        return true;
    bool any = *base == '<' || strstr(base, "-cgu.") || !strcmp(base, "go.go") || !strcmp(base, "ld-temp.o");
    *number = (uint32_t)out->files.n + 1;
    return sp_vec_push(&out->files, any ? NULL : name);
}

/* Others see a hidden function where it is linked: linkers make it local. */
static bool elf_has_file(const GElf_Sym *s)
{
    return GELF_ST_BIND(s->st_info) == STB_LOCAL && GELF_ST_VISIBILITY(s->st_other) == STV_DEFAULT;
}

/* A label behind the last byte of its section, such as _etext: it names nothing. */
static bool ends_there(const struct sp_elf_file *f, const GElf_Sym *s)
{
    uint64_t end = s->st_shndx < f->sections ? f->section_end[s->st_shndx] : 0;
    return end && s->st_value >= end;
}

/* Symbols without a size end there at the latest. */
static bool elf_add_stops(const struct sp_elf_file *f, struct sp_symtab *out)
{
    for (size_t i = 0; i < f->sections; i++)
        if (f->section_end[i] && !sp_vec_push(&out->stops, f->section_end[i]))
            return false;
    return true;
}

/* As in separate debug files, whose dynamic symbols are in the binary. */
static bool is_empty(Elf_Scn *table)
{
    GElf_Shdr sh;
    return !gelf_getshdr(table, &sh) || sh.sh_type == SHT_NOBITS || !sh.sh_size;
}

/* One that linkers do not write: nothing is in it, so that nobody knows where it was. */
static bool is_zeroed(const GElf_Sym *s)
{
    return !s->st_name && !s->st_info && !s->st_other && !s->st_shndx && !s->st_value && !s->st_size;
}

/* Its name is empty, or beyond the names. */
static bool lost_name(const GElf_Sym *s, const char *strings, size_t usable)
{
    return s->st_name && (s->st_name >= usable || !strings[s->st_name]);
}

static bool elf_read_symbols(struct sp_elf_file *f, Elf_Scn *table, struct sp_symtab *out)
{
    Elf_Data *d = table ? elf_getdata(table, NULL) : NULL;
    size_t size = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT), usable;
    const char *strings;
    f->nameless |= table && !is_empty(table) && (!d || !d->d_buf || !size);
    if (!d || !d->d_buf || !size)
        return true;
    if (!elf_strings(f, table, out, &strings, &usable))
        return false;
    GElf_Sym s;
    uint32_t file = 0;
    size_t n = d->d_size / size;
    if (!sp_vec_reserve(&out->syms, out->syms.n + (n < SP_SYMS_MAX ? n : SP_SYMS_MAX)))
        return false;
    for (size_t i = 1; i < n && i < SP_SYMS_MAX && gelf_getsym(d, (int)i, &s); i++) {
        if (GELF_ST_TYPE(s.st_info) == STT_FILE &&
            !elf_symbol_file(out, s.st_name < usable ? strings + s.st_name : "", &file))
            return false;
        if (is_zeroed(&s))
            out->lacks_some = f->nameless = true;
        if (lost_name(&s, strings, usable)) {
            f->nameless = true;
            if (!sp_vec_push(&out->stops, s.st_value)) /* one before it without a size ends there */
                return false;
        }
        if (!s.st_name || s.st_name >= usable || !wanted(f, &s, strings + s.st_name) ||
            !sp_symtab_may_name(out, strings + s.st_name))
            continue;
        /* The lowest bit of an ARM function says Thumb. */
        if (f->machine == EM_ARM && GELF_ST_TYPE(s.st_info) == STT_FUNC)
            s.st_value &= ~(GElf_Addr)1;
        if (!s.st_size && ends_there(f, &s))
            continue;
        if (!sp_symtab_add(out, s.st_value, s.st_size, elf_bind_of(&s), strings + s.st_name))
            return false;
        if (elf_has_file(&s) && out->syms.n)
            out->syms.v[out->syms.n - 1].file = file;
    }
    return true;
}

/*
 * The procedure linkage table has no symbols of its own: entry i stands for relocation i of .rela.plt.
 *
 * Layout by machine: a header, then entries of one size. With Intel's control-flow protection the
 * calls go to .plt.sec, which has no header and the same order. Entries of indirect functions
 * without a symbol are named as objdump does: *ABS*+0xADDRESS@plt.
 */
struct plt_layout {
    unsigned machine, header, entry;
};

static const struct plt_layout plt_layouts[] = {
    {EM_X86_64, 16, 16}, {EM_386, 16, 16}, {EM_AARCH64, 32, 16}, {EM_RISCV, 32, 16}, {EM_ARM, 20, 12},
};

static const struct plt_layout *elf_plt_layout(unsigned machine)
{
    for (size_t i = 0; i < sizeof plt_layouts / sizeof *plt_layouts; i++)
        if (plt_layouts[i].machine == machine)
            return &plt_layouts[i];
    return NULL;
}

/* Symbol number and addend of relocation i, whichever of the two kinds the section holds. */
static bool elf_plt_relocation(Elf_Data *d, bool rela, size_t i, size_t *sym, uint64_t *addend)
{
    GElf_Rela a;
    GElf_Rel r;
    if (i > INT32_MAX || (rela ? !gelf_getrela(d, (int)i, &a) : !gelf_getrel(d, (int)i, &r)))
        return false;
    *sym = rela ? GELF_R_SYM(a.r_info) : GELF_R_SYM(r.r_info);
    *addend = rela ? (uint64_t)a.r_addend : 0;
    return true;
}

static bool elf_add_plt_entry(struct sp_symtab *out, uint64_t at, uint64_t size, const char *name,
                              uint64_t addend)
{
    char text[40];
    if (!*name) {
        snprintf(text, sizeof text, "*ABS*+0x%llx", (unsigned long long)addend);
        name = text;
    }
    size_t n = strlen(name);
    char *full = sp_arena_alloc(&out->arena, n + 5);
    if (!full)
        return false;
    memcpy(full, name, n);
    memcpy(full + n, "@plt", 5);
    return sp_symtab_add(out, at, size, SP_BIND_GLOBAL, full);
}

static bool elf_plt_symbols(struct sp_elf_file *f, struct sp_symtab *out)
{
    const struct plt_layout *l = elf_plt_layout(f->machine);
    Elf_Scn *where = f->plt_sec ? f->plt_sec : f->plt;
    GElf_Shdr plt, rel, dyn;
    if (!l || !where || !f->plt_relocs || !f->dynsym || !gelf_getshdr(where, &plt) ||
        !gelf_getshdr(f->plt_relocs, &rel) || !gelf_getshdr(f->dynsym, &dyn) ||
        rel.sh_link != elf_ndxscn(f->dynsym))
        return true;
    Elf_Data *relocs = elf_getdata(f->plt_relocs, NULL), *syms = elf_getdata(f->dynsym, NULL);
    const char *strings;
    size_t usable;
    if (!relocs || !relocs->d_buf || !syms || !syms->d_buf)
        return true;
    if (!elf_strings(f, f->dynsym, out, &strings, &usable))
        return false;
    uint64_t at = f->plt_sec ? 0 : l->header, addend;
    size_t sym;
    GElf_Sym s;
    for (size_t i = 0; elf_plt_relocation(relocs, rel.sh_type == SHT_RELA, i, &sym, &addend);
         i++, at += l->entry) {
        if (at > plt.sh_size || plt.sh_size - at < l->entry)
            break;
        const char *name = "";
        if (sym && sym <= INT32_MAX && gelf_getsym(syms, (int)sym, &s) && s.st_name < usable)
            name = strings + s.st_name;
        if (!sp_symtab_may_name(out, name))
            break;
        if (!elf_add_plt_entry(out, plt.sh_addr + at, l->entry, name, addend))
            return false;
    }
    return true;
}

/* Whether the table of section names, which is a section itself, is one: linkers call it so. */
static bool has_names(const struct sp_elf_file *f)
{
    GElf_Shdr sh;
    Elf_Scn *s = f->shstrndx ? elf_getscn(f->elf, f->shstrndx) : NULL;
    if (!s || f->unnamed || !gelf_getshdr(s, &sh) || sh.sh_type != SHT_STRTAB)
        return false;
    const char *name = section_name(f, &sh);
    return !strcmp(name, ".shstrtab") || !strcmp(name, ".strtab");
}

static bool is_cut(const struct sp_elf_file *f, const GElf_Ehdr *eh, const struct sp_elf *e)
{
    uint64_t heads = (uint64_t)eh->e_shentsize * (eh->e_shnum ? eh->e_shnum : 1);
    bool cut = f->cut || (eh->e_shoff && !holds(f, eh->e_shoff, heads));
    for (size_t i = 0; i < e->loads.n && !cut && !f->sections; i++)
        cut = !holds(f, e->loads.v[i].offset, e->loads.v[i].filesz);
    return cut;
}

/* What is wrong with the file as a whole, so that parts of it are not found; NULL: nothing that can be seen.
 */
static const char *elf_damage(const struct sp_elf_file *f, const GElf_Ehdr *eh, const struct sp_elf *e)
{
    if (is_cut(f, eh, e))
        return "it is cut off";
    if (eh->e_shoff && !has_names(f))
        return "the names of its sections cannot be read";
    if (eh->e_type == ET_REL && e->loads.n)
        return "it has segments and is said to be no program";
    if ((eh->e_type == ET_EXEC || eh->e_type == ET_DYN) && !e->loads.n && !e->codeless)
        return "it has no segments that are loaded";
    if (f->abbreviations && !e->has_dwarf)
        return ".debug_info is missing or empty";
    if (f->nameless)
        return "it does not hold all its symbols, or not their names";
    return NULL;
}

/* Takes the handle, which may be NULL. */
static spaa_status read_elf(Elf *elf, uint64_t size, struct sp_elf *out, struct sp_symtab *syms)
{
    spaa_status st = SPAA_ERR_INPUT;
    struct sp_elf_file f = {.elf = elf, .size = size};
    GElf_Ehdr eh;
    if (!f.elf && errno == ENOMEM)
        return SPAA_ERR_NOMEM;
    if (!f.elf || elf_kind(f.elf) != ELF_K_ELF || !gelf_getehdr(f.elf, &eh))
        goto done;
    f.machine = eh.e_machine;
    f.little = eh.e_ident[EI_DATA] == ELFDATA2LSB;
    out->machine = eh.e_machine;
    out->entry = eh.e_entry;
    out->big = !f.little;
    f.linked = eh.e_type != ET_REL;
    if (elf_getshdrnum(f.elf, &f.sections))
        f.sections = 0;
    if (elf_getshdrstrndx(f.elf, &f.shstrndx))
        f.shstrndx = 0;
    f.section = calloc(f.sections + 1, 1);
    f.section_end = calloc(f.sections + 1, sizeof *f.section_end);
    st = SPAA_ERR_NOMEM;
    if (!f.section || !f.section_end)
        goto done;
    if (f.sections)
        elf_read_sections(&f, out);
    if (!read_segments(&f, out))
        goto done;
    if (syms && (!elf_read_symbols(&f, f.symtab, syms) || !elf_read_symbols(&f, f.dynsym, syms) ||
                 !elf_plt_symbols(&f, syms) || !elf_add_stops(&f, syms)))
        goto done;
    out->damage = elf_damage(&f, &eh, out);
    st = SPAA_OK;
done:
    if (errno == ENOMEM)
        st = SPAA_ERR_NOMEM;
    elf_end(f.elf);
    free(f.section);
    free(f.section_end);
    return st;
}

spaa_status sp_elf_read(const char *path, struct sp_diags *d, struct sp_elf *out, struct sp_symtab *syms)
{
    struct sp_elf e = {0};
    uint64_t size;
    int fd = sp_file_open(path, &size);
    if (fd < 0)
        return SPAA_ERR_NOT_FOUND;
    errno = 0;
    spaa_status st = SPAA_ERR_BUG;
    if (elf_version(EV_CURRENT) != EV_NONE)
        st = read_elf(elf_begin(fd, ELF_C_READ, NULL), size, &e, syms);
    if (st != SPAA_ERR_NOMEM && sp_file_check(fd, size, path, d))
        st = SPAA_ERR_IO;
    close(fd);
    if (st == SPAA_OK)
        *out = e;
    else
        sp_elf_free(&e);
    return st;
}

spaa_status sp_elf_read_image(unsigned char *image, size_t n, struct sp_elf *out, struct sp_symtab *syms)
{
    struct sp_elf e = {0};
    if (elf_version(EV_CURRENT) == EV_NONE)
        return SPAA_ERR_BUG;
    errno = 0;
    spaa_status st = read_elf(elf_memory((char *)image, n), n, &e, syms);
    if (!st && out)
        *out = e;
    else
        sp_elf_free(&e);
    return st;
}

static spaa_status copy_section(Elf *elf, const char *name, size_t max, unsigned char **out, size_t *n)
{
    size_t names;
    GElf_Shdr sh;
    if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
        return SPAA_ERR_NOT_FOUND;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        const char *mine = gelf_getshdr(s, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
        if (!mine || strcmp(mine, name) != 0 || sh.sh_type == SHT_NOBITS)
            continue;
        if (sh.sh_size > max)
            return SPAA_ERR_LIMIT;
        Elf_Data *d = elf_rawdata(s, NULL);
        if (!d || !d->d_buf || !d->d_size)
            return SPAA_ERR_NOT_FOUND;
        *out = malloc(d->d_size);
        if (!*out)
            return SPAA_ERR_NOMEM;
        memcpy(*out, d->d_buf, d->d_size);
        *n = d->d_size;
        return SPAA_OK;
    }
    return SPAA_ERR_NOT_FOUND;
}

spaa_status sp_elf_section(const char *path, const char *name, size_t max, struct sp_diags *d,
                           unsigned char **out, size_t *n, uint64_t *file_size)
{
    uint64_t size;
    int fd = sp_file_open(path, &size);
    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        if (fd >= 0)
            close(fd);
        return SPAA_ERR_NOT_FOUND;
    }
    unsigned char *bytes = NULL;
    errno = 0;
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    spaa_status st = copy_section(elf, name, max, &bytes, n);
    if (st && errno == ENOMEM)
        st = SPAA_ERR_NOMEM;
    elf_end(elf);
    if (st != SPAA_ERR_NOMEM && sp_file_check(fd, size, path, d))
        st = SPAA_ERR_IO;
    close(fd);
    if (st)
        free(bytes);
    else
        *out = bytes;
    if (file_size)
        *file_size = size;
    return st;
}

uint64_t sp_elf_inflatable(uint64_t file_size)
{
    uint64_t most = file_size < INFLATED_MAX / INFLATED_TIMES ? file_size * INFLATED_TIMES : INFLATED_MAX;
    return INFLATED_FREE + most;
}

bool sp_elf_vaddr(const struct sp_elf *e, uint64_t offset, uint64_t *vaddr)
{
    const struct sp_elf_load *best = NULL;
    for (size_t i = 0; i < e->loads.n; i++) {
        const struct sp_elf_load *l = &e->loads.v[i];
        if (offset >= l->offset && offset - l->offset < l->filesz && (!best || (l->exec && !best->exec)))
            best = l;
    }
    /* Mappings are whole pages: what lies behind a segment's end in its last page belongs to it. */
    for (size_t i = 0; i < e->loads.n && !best; i++) {
        const struct sp_elf_load *l = &e->loads.v[i];
        if (l->exec && l->filesz && offset >= l->offset && offset <= ((l->offset + l->filesz - 1) | 4095))
            best = l;
    }
    if (best)
        *vaddr = offset - best->offset + best->vaddr;
    return best;
}
