/* What a file is that is to stand in a store: its own build-id decides, not where it was. */
#include "symbols/store.h"

#include "io/file.h"
#include "symbols/internal.h"
#include "symbols/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static spaa_status judge_kallsyms(const char *path, const char *part, struct sp_diags *d, const char **why)
{
    struct sp_symtab tab;
    uint64_t text, stext;
    bool restricted = false;
    char *data, at[20];
    size_t n;
    spaa_status st = sp_file_slurp(path, SP_KALLSYMS_MAX, d, &data, &n);
    if (st)
        *why = "it cannot be read as kallsyms";
    if (st)
        return sp_file_fatal(st);
    sp_symtab_init(&tab);
    bool ok = sp_symtab_keep(&tab, data) && sp_kallsyms_parse(data, n, &tab, &text, &stext, &restricted);
    snprintf(at, sizeof at, "%016llx", ok ? (unsigned long long)text : 0);
    if (ok && restricted)
        *why = "its addresses are hidden (kernel.kptr_restrict)";
    else if (ok && (!tab.syms.n || strcmp(at, part + sizeof SP_STORE_KALLSYMS - 1) != 0))
        *why = "it is no kallsyms with _text at that address";
    sp_symtab_free(&tab);
    return ok ? SPAA_OK : SPAA_ERR_NOMEM;
}

static void judge_elf(const struct sp_elf *e, struct sp_store_file *out)
{
    snprintf(out->id, sizeof out->id, "%s", e->build_id);
    for (size_t i = 0; i < e->loads.n && !e->codeless && !e->macho; i++)
        out->whole |= e->loads.v[i].exec && e->loads.v[i].filesz;
    snprintf(out->part, sizeof out->part, "%s", out->whole || e->macho ? SP_STORE_FILE : SP_STORE_DEBUG);
    out->binary = true;
    out->names = (e->has_symtab ? 1u : 0u) | (e->has_dwarf ? 2u : 0u);
}

/* ELF; Mach-O where it is said which image is meant; PE and PDB. */
static spaa_status judge_binary(const char *path, const char *id, struct sp_diags *d,
                                struct sp_store_file *out, const char **why)
{
    struct sp_elf e = {0};
    struct sp_offered o;
    spaa_status st = sp_elf_read(path, d, &e, NULL);
    if (st == SPAA_ERR_INPUT && id && sp_is_uuid(id))
        st = sp_macho_read(path, id, d, &e, NULL);
    if (!st)
        judge_elf(&e, out);
    if (!st && e.damage)
        *why = e.damage;
    sp_elf_free(&e);
    if (st != SPAA_ERR_INPUT)
        return st;
    st = sp_offered_read(path, d, &o, why);
    if (!st) {
        snprintf(out->id, sizeof out->id, "%s", o.build_id);
        snprintf(out->part, sizeof out->part, "%s", o.pdb ? SP_STORE_PDB : SP_STORE_FILE);
        out->names = o.pdb ? 3 : 1;
        out->binary = true;
    }
    return st;
}

/* Whether what it is may stand where it is wanted; a file with code may be the debug file of itself. */
static bool is_part(const struct sp_store_file *f, const char *part)
{
    return !part || !strcmp(f->part, part) ||
           (!strcmp(part, SP_STORE_DEBUG) && strcmp(f->part, SP_STORE_PDB) != 0);
}

spaa_status sp_store_judge(int fd, const char *id, const char *part, struct sp_diags *d,
                           struct sp_store_file *out, const char **why)
{
    char path[40];
    *out = (struct sp_store_file){.names = 1};
    *why = NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* what is judged is what is copied then */
    if (part && !strncmp(part, SP_STORE_KALLSYMS, sizeof SP_STORE_KALLSYMS - 1)) {
        snprintf(out->id, sizeof out->id, "%s", id);
        snprintf(out->part, sizeof out->part, "%s", part);
        return judge_kallsyms(path, part, d, why);
    }
    const char *other = "";
    spaa_status st = judge_binary(path, id, d, out, &other);
    if (st)
        *why = *other ? other : "it cannot be read";
    else if (*other)
        *why = other;
    else if (!sp_is_build_id(out->id))
        *why = "it has no build-id";
    else if (id && !sp_same_build_id(id, out->id))
        *why = "it has another build-id";
    else if (!is_part(out, part))
        *why = part && !strcmp(part, SP_STORE_FILE) ? "it is a debug file" : "it is no such file";
    else if (part)
        snprintf(out->part, sizeof out->part, "%s", part);
    return sp_file_fatal(st);
}
