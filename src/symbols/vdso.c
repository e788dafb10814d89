/*
 * The [vdso], code that the kernel maps into every process and that is in no file: the one of this process,
 * when it is the recorded one by its build-id. perf keeps a copy in ~/.debug where it records, which is tried
 * before.
 */
#include "symbols/internal.h"

#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include "base/num.h"
#include "io/file.h"

#define MAPS_MAX ((size_t)16 << 20)
#define VDSO_MAX ((uint64_t)1 << 20)

/* "7ffe1b5f2000-7ffe1b5f4000 r-xp … [vdso]" */
static spaa_status find_range(struct sp_diags *d, uint64_t *start, uint64_t *end)
{
    char *text;
    size_t n;
    *start = *end = 0;
    spaa_status st = sp_file_slurp("/proc/self/maps", MAPS_MAX, d, &text, &n);
    if (st)
        return sp_file_fatal(st);
    char *at = strstr(text, "[vdso]\n");
    while (at && at > text && at[-1] != '\n')
        at--;
    size_t used = at ? sp_parse_hex(at, text + n, start) : 0;
    if (!used || at[used] != '-' || !sp_parse_hex(at + used + 1, text + n, end))
        *start = *end = 0;
    free(text);
    return SPAA_OK;
}

spaa_status sp_vdso_add(struct sp_module *m)
{
    uint64_t start, end;
    struct sp_elf e = {0};
    if (!m->key.path || strcmp(m->key.path, "[vdso]") != 0 || !sp_is_build_id(m->key.build_id))
        return SPAA_OK;
    spaa_status st = find_range(m->owner->d, &start, &end);
    if (st || end <= start || end - start > VDSO_MAX)
        return st;
    unsigned char *copy = malloc((size_t)(end - start));
    if (!copy)
        return SPAA_ERR_NOMEM;
    memcpy(copy, (const void *)(uintptr_t)start, (size_t)(end - start));
    st = sp_elf_read_image(copy, (size_t)(end - start), &e, NULL);
    if (!st && sp_same_build_id(m->key.build_id, e.build_id)) {
        st = sp_elf_read_image(copy, (size_t)(end - start), NULL, &m->tab);
        if (!st && !sp_symtab_finish(&m->tab, SP_RULES_ELF))
            st = SPAA_ERR_NOMEM;
        m->built = true;
        m->why = SP_WHY_NONE;
    } else if (!st) {
        m->why = SP_WHY_OTHER_VDSO;
    }
    sp_elf_free(&e);
    free(copy);
    return st == SPAA_ERR_NOMEM ? st : SPAA_OK;
}
#else
spaa_status sp_vdso_add(struct sp_module *m)
{
    (void)m;
    return SPAA_OK;
}
#endif
