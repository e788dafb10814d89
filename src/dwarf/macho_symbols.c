/*
 * What is said of a Mach-O image as a whole, and its functions: those symbols of its table that stand in
 * sections of code, without the underscore that C names begin with there.
 *
 * Left out are debugging entries (N_STAB: of the debug map, which repeats functions that are there as
 * symbols, and names object files, which are not linked) and what is undefined, absolute or an alias of
 * another image. Private external symbols are seen in the whole image, as hidden ones of ELF.
 *
 * Symbols have no sizes. A function ends where the next one begins, be it one without a symbol: that is what
 * LC_FUNCTION_STARTS tells of stripped images; or with its section.
 */
#include "dwarf/macho_private.h"

#include <stdlib.h>
#include <string.h>

#define STARTS_MAX SP_SYMS_MAX

enum {
    N_EXT = 0x01,
    N_TYPE = 0x0e,
    N_PEXT = 0x10,
    N_STAB = 0xe0,
    N_SECT = 0x0e,
    N_WEAK_DEF = 0x80,
};

/* The section of code that a symbol is in; NULL: none. */
static const struct sp_macho_section *section_at(const struct sp_macho *m, unsigned number, uint64_t addr)
{
    if (!number || number > m->sections.n)
        return NULL;
    const struct sp_macho_section *s = &m->sections.v[number - 1];
    return s->code && addr >= s->addr && addr - s->addr < s->size ? s : NULL;
}

static enum sp_bind bind_of(unsigned type, unsigned desc)
{
    if (desc & N_WEAK_DEF)
        return SP_BIND_WEAK;
    return type & (N_EXT | N_PEXT) ? SP_BIND_GLOBAL : SP_BIND_LOCAL;
}

/* One entry of the table; false: out of memory. */
static bool add_symbol(const struct sp_macho *m, const unsigned char *p, const char *strings,
                       struct sp_symtab *out)
{
    uint32_t name = sp_macho_u32(p);
    unsigned type = p[4], desc = (unsigned)p[6] | (unsigned)p[7] << 8;
    uint64_t addr = m->is_64 ? sp_macho_u64(p + 8) : sp_macho_u32(p + 8);
    if (type & N_STAB || (type & N_TYPE) != N_SECT || name >= m->strings.size || !section_at(m, p[5], addr))
        return true;
    const char *text = strings + name;
    text += *text == '_';
    return !*text || !sp_symtab_may_name(out, text) ||
           sp_symtab_add(out, addr - m->text, 0, bind_of(type, desc), text);
}

static spaa_status add_symbols(struct sp_macho *m, struct sp_symtab *out)
{
    unsigned char *table = NULL, *strings = NULL;
    size_t each = m->is_64 ? 16 : 12;
    bool ok = true;
    spaa_status st = sp_macho_bytes(m, m->symbols, &table);
    if (!st && table)
        st = sp_macho_bytes(m, m->strings, &strings);
    if (!st && strings && !sp_symtab_keep(out, strings))
        st = SPAA_ERR_NOMEM;
    if (!st && strings)
        sp_symtab_strings(out, (size_t)m->strings.size);
    for (size_t i = 0; !st && strings && ok && i < m->nsymbols; i++)
        ok = add_symbol(m, table + i * each, (const char *)strings, out);
    free(table);
    return st ? st : ok ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* LEB128 differences, the first one from where __TEXT begins; 0 ends them. */
static spaa_status add_starts(struct sp_macho *m, struct sp_symtab *out)
{
    unsigned char *p;
    uint64_t at = 0;
    spaa_status st = sp_macho_bytes(m, m->starts, &p);
    size_t n = p ? (size_t)m->starts.size : 0, most = out->stops.n + STARTS_MAX;
    for (size_t i = 0; !st && i < n && out->stops.n < most;) {
        uint64_t step = 0;
        unsigned shift = 0;
        do
            step |= shift < 64 ? (uint64_t)(p[i] & 0x7f) << shift : 0;
        while (shift += 7, i++, i < n && p[i - 1] & 0x80);
        at += step;
        if (!step || at < step)
            break;
        if (!sp_vec_push(&out->stops, at))
            st = SPAA_ERR_NOMEM;
    }
    free(p);
    return st;
}

static spaa_status add_functions(struct sp_macho *m, struct sp_symtab *out)
{
    for (size_t i = 0; i < m->sections.n; i++) {
        const struct sp_macho_section *s = &m->sections.v[i];
        if (s->code && !sp_vec_push(&out->stops, s->addr + s->size - m->text))
            return SPAA_ERR_NOMEM;
    }
    spaa_status st = add_starts(m, out);
    return st ? st : add_symbols(m, out);
}

/* What is known of the image in the words of ELF, addresses from where it begins. */
static void describe(struct sp_macho *m)
{
    struct sp_elf *e = &m->is;
    e->macho = true;
    memcpy(e->build_id, m->image.uuid, sizeof m->image.uuid);
    e->has_symtab = m->nsymbols && (m->locals || m->image.debug);
    for (size_t i = 0; i < m->sections.n; i++)
        e->has_dwarf |= m->sections.v[i].dwarf && (!strcmp(m->sections.v[i].name, "__debug_info") ||
                                                   !strcmp(m->sections.v[i].name, "__zdebug_info"));
    if (m->image.debug && e->loads.n) { /* the code is elsewhere, as __TEXT there: from the first byte on */
        e->loads.n = 1;
        e->loads.v[0] = (struct sp_elf_load){0, m->text_size, m->text, true};
    }
    for (size_t i = 0; i < e->loads.n; i++)
        e->loads.v[i].vaddr -= m->text;
}

spaa_status sp_macho_read(const char *path, const char *uuid, struct sp_diags *d, struct sp_elf *out,
                          struct sp_symtab *syms)
{
    struct sp_macho m;
    struct sp_elf e = {0};
    spaa_status st = sp_macho_open(path, uuid, d, &m);
    if (!st && syms && uuid && strcmp(m.image.uuid, uuid) == 0)
        st = add_functions(&m, syms);
    if (!st) {
        describe(&m);
        e = m.is;
        m.is = (struct sp_elf){0};
    }
    st = sp_macho_close(&m, st);
    if (st)
        sp_elf_free(&e);
    else
        *out = e;
    return st;
}
