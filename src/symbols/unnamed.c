/*
 * Functions that no symbol names: where they begin and end, by the table that exceptions are unwound with.
 * Compilers write an entry of it for each function, and strip leaves it, for the program needs it.
 */
#include "io/file.h"
#include "symbols/internal.h"

bool sp_module_unnamed(struct sp_module *m, uint64_t addr, uint64_t *start, uint64_t *end)
{
    struct sp_symbols *s = m->owner;
    if (m->key.kind != SP_MODULE_FILE || !m->file || m->elf.macho || m->is_pe || s->opts.no_symbols ||
        s->failed)
        return false;
    if (!m->cfi_tried) {
        m->cfi_tried = true;
        sp_symbols_fail(s, sp_file_fatal(sp_cfi_load(m->file, NULL, s->d, &m->cfi)));
    }
    if (!m->cfi || s->failed || !sp_cfi_extent(m->cfi, addr - m->shift, start, end))
        return false;
    *start += m->shift;
    *end += m->shift;
    return true;
}
