/*
 * The procedure linkage table has no symbols of its own: entry i stands for relocation i of .rela.plt.
 *
 * Layout by machine: a header, then entries of one size. With Intel's control-flow protection the
 * calls go to .plt.sec, which has no header and the same order. Entries of indirect functions
 * without a symbol are named as objdump does: *ABS*+0xADDRESS@plt.
 */
#include "symbols/plt.h"

#include <stdio.h>
#include <string.h>

struct layout {
    unsigned machine, header, entry;
};

static const struct layout layouts[] = {
    {EM_X86_64, 16, 16}, {EM_386, 16, 16}, {EM_AARCH64, 32, 16}, {EM_RISCV, 32, 16}, {EM_ARM, 20, 12},
};

static const struct layout *layout_of(unsigned machine)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].machine == machine)
            return &layouts[i];
    return NULL;
}

/* Symbol number and addend of relocation i, whichever of the two kinds the section holds. */
static bool relocation(Elf_Data *d, bool rela, size_t i, size_t *sym, uint64_t *addend)
{
    GElf_Rela a;
    GElf_Rel r;
    if (i > INT32_MAX || (rela ? !gelf_getrela(d, (int)i, &a) : !gelf_getrel(d, (int)i, &r)))
        return false;
    *sym = rela ? GELF_R_SYM(a.r_info) : GELF_R_SYM(r.r_info);
    *addend = rela ? (uint64_t)a.r_addend : 0;
    return true;
}

static bool add_entry(struct sp_symtab *out, uint64_t at, uint64_t size, const char *name, uint64_t addend)
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

bool sp_plt_symbols(struct sp_elf_file *f, struct sp_symtab *out)
{
    const struct layout *l = layout_of(f->machine);
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
    if (!sp_elf_strings(f, f->dynsym, out, &strings, &usable))
        return false;
    uint64_t at = f->plt_sec ? 0 : l->header, addend;
    size_t sym;
    GElf_Sym s;
    for (size_t i = 0; relocation(relocs, rel.sh_type == SHT_RELA, i, &sym, &addend); i++, at += l->entry) {
        if (at > plt.sh_size || plt.sh_size - at < l->entry)
            break;
        const char *name = "";
        if (sym && sym <= INT32_MAX && gelf_getsym(syms, (int)sym, &s) && s.st_name < usable)
            name = strings + s.st_name;
        if (!add_entry(out, plt.sh_addr + at, l->entry, name, addend))
            return false;
    }
    return true;
}
