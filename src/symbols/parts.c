/* The files that a module's names and lines are taken from, and what they are called in a store. */
#include "symbols/internal.h"
#include "symbols/store.h"

#include <stdio.h>

static void add_part(struct sp_module_part *out, size_t *n, const char *path, const char *id,
                     const char *part)
{
    if (!path || !sp_is_build_id(id))
        return;
    out[*n] = (struct sp_module_part){.path = path, .id = id};
    snprintf(out[(*n)++].part, sizeof out->part, "%s", part);
}

static void kernel_parts(const struct sp_module *m, struct sp_module_part *out, size_t *n)
{
    char part[SP_STORE_PART_ROOM];
    if (m->ksyms) {
        snprintf(part, sizeof part, SP_STORE_KALLSYMS "%016llx", (unsigned long long)m->ksyms->text);
        add_part(out, n, m->ksyms->path, m->key.build_id, part);
    }
    add_part(out, n, m->debug, m->key.build_id, SP_STORE_DEBUG);
}

/* Each under the build-id by which it is looked up: a recorded one may be padded or cut off (find.c). */
static spaa_status file_parts(struct sp_module *m, struct sp_module_part *out, size_t *n)
{
    spaa_status st = SPAA_OK;
    enum sp_why why = m->why;
    bool all = m->elf.has_symtab && m->elf.has_dwarf;
    if (!m->debug && !all && !m->is_pe)
        st = sp_find_debug(m);
    m->why = why;
    add_part(out, n, m->file, m->key.build_id, SP_STORE_FILE);
    if (m->has_pdb)
        add_part(out, n, m->debug, m->key.build_id ? m->key.build_id : m->elf.build_id, SP_STORE_PDB);
    else
        add_part(out, n, m->debug, sp_module_wanted_id(m), SP_STORE_DEBUG);
    struct sp_dwarf *dwarf = st ? NULL : sp_module_dwarf(m);
    const char *id, *common = dwarf ? sp_dwarf_common(dwarf, &id) : NULL;
    if (common)
        add_part(out, n, common, id, SP_STORE_DEBUG);
    if (!st && dwarf)
        st = sp_dwarf_failed(dwarf);
    return st ? st : m->owner->failed;
}

spaa_status sp_module_parts(struct sp_module *m, struct sp_module_part out[SP_MODULE_PARTS], size_t *n)
{
    spaa_status st = SPAA_OK;
    *n = 0;
    if (m->key.kind == SP_MODULE_KERNEL)
        kernel_parts(m, out, n);
    else if (m->key.kind == SP_MODULE_FILE)
        st = file_parts(m, out, n);
    if (st)
        sp_symbols_fail(m->owner, st);
    return st;
}
