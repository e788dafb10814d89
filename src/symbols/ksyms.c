/* A kallsyms file, parsed once for the kernel and all its modules. */
#include "symbols/internal.h"

#include "io/file.h"
#include "symbols/kallsyms.h"

#include <string.h>

uint64_t sp_ksyms_at(const struct sp_ksyms *k, const char *ref)
{
    return ref && !strcmp(ref, "_stext") ? k->stext : k->text;
}

spaa_status sp_ksyms_of(struct sp_symbols *s, const char *path, struct sp_ksyms **out)
{
    for (*out = s->ksyms; *out; *out = (*out)->next)
        if (!strcmp((*out)->path, path))
            return SPAA_OK;
    struct sp_ksyms *k = sp_arena_zalloc(&s->arena, sizeof *k);
    char *text;
    size_t n;
    if (!k || !(k->path = sp_arena_dup(&s->arena, path, strlen(path))))
        return SPAA_ERR_NOMEM;
    sp_symtab_init(&k->tab);
    k->next = s->ksyms;
    s->ksyms = *out = k;
    spaa_status st = sp_file_slurp(path, SP_KALLSYMS_MAX, s->d, &text, &n);
    if (st != SPAA_OK)
        return sp_file_fatal(st);
    if (!sp_symtab_keep(&k->tab, text) ||
        !sp_kallsyms_parse(text, n, &k->tab, &k->text, &k->stext, &k->restricted))
        return SPAA_ERR_NOMEM;
    k->readable = true;
    return SPAA_OK;
}
