/*
 * What tells functions of one name apart, where the symbol table knows it: symbols.h says what counts, and
 * why.
 */
#include "symbols/internal.h"

#include "model/functions.h"

#include <string.h>

static struct sp_symtab *known_table(struct sp_module *m)
{
    return m->ksyms ? &m->ksyms->tab : &m->tab;
}

/* `_ZZ4mainENK…`: what stands in a function that others see is there once, though its symbol is local. */
static bool is_in_external(const char *linkage, const char *shown)
{
    static const char nameless[] = "(anonymous namespace)";
    const char *parameters = strchr(shown, '(');
    return !strncmp(linkage, "_ZZ", 3) && linkage[3 + strspn(linkage + 3, "NK")] != 'L' && parameters &&
           strncmp(parameters, nameless, sizeof nameless - 1) != 0;
}

/* Whether both are declared at one place, as far as that is known. */
static bool declared_alike(struct sp_module *m, const struct sp_sym *a, const struct sp_sym *b)
{
    struct sp_dwarf *d = m->dwarf; /* its lines were asked for before */
    struct sp_dwarf_frame x, y;
    if (!d || !sp_dwarf_find(d, a->start, SP_DWARF_INLINES, &x, 1) ||
        !sp_dwarf_find(d, b->start, SP_DWARF_INLINES, &y, 1) || !x.decl.name || !y.decl.name)
        return true;
    const char *in = x.decl.dir ? x.decl.dir : "", *other = y.decl.dir ? y.decl.dir : "";
    return x.decl_line == y.decl_line && !strcmp(x.decl.name, y.decl.name) && !strcmp(in, other);
}

/*
 * Of a function of which there are forms alone, as when all calls were specialized, that which starts first
 * stands for it. Two of one name are of two functions.
 */
static const struct sp_sym *first_form(struct sp_module *m, const struct sp_sym *sym)
{
    const struct sp_symtab *t = known_table(m);
    const struct sp_sym *first = sym;
    struct sp_probe at = sp_symtab_forms(t, sym);
    for (const struct sp_sym *s; (s = sp_symtab_form_next(t, sym, &at));) {
        if (s != sym && !strcmp(s->name, sym->name))
            return sym;
        if (s->start < first->start && declared_alike(m, s, sym))
            first = s;
    }
    return first;
}

/* The symbol where the function starts, whichever part or form of it this one is; NULL: out of memory. */
static const struct sp_sym *known_whole(struct sp_module *m, const struct sp_sym *sym)
{
    struct sp_str name = {sym->name, (uint32_t)strlen(sym->name)};
    const struct sp_sym *whole = sp_symtab_whole(known_table(m), sym, sp_linkage_whole(name).n);
    return whole == sym ? first_form(m, sym) : whole;
}

bool sp_module_known(struct sp_module *m, const struct sp_sym *sym, struct sp_resolved *physical)
{
    struct sp_symtab *t = known_table(m);
    bool elf = t->rules == SP_RULES_ELF, declared = physical->file || physical->line;
    const struct sp_sym *whole = t->rules == SP_RULES_JIT ? sym : known_whole(m, sym);
    if (!whole)
        return sp_symbols_nomem(m->owner);
    physical->start = whole->start + m->shift;
    physical->has_start = true;
    /* Linkers make hidden functions local, compilers parts of those that all see. */
    physical->local = t->rules != SP_RULES_JIT && whole->bind == SP_BIND_LOCAL &&
                      (!declared || physical->local) && !is_in_external(whole->name, physical->func) &&
                      strncmp(whole->name, "_R", 2) != 0; /* Rust's names say all that there is */
    if (elf && !physical->file && whole->file)
        physical->file = t->files.v[whole->file - 1];
    return true;
}

bool sp_module_copy(struct sp_module *m, uint64_t copy, const char *plain, struct sp_resolved *inlined)
{
    const struct sp_sym *sym = m->ksyms ? NULL : sp_symtab_find(&m->tab, copy);
    char name[1024];
    inlined->has_start = inlined->local;
    inlined->start = copy + m->shift;
    if (!sym || sym->start != copy)
        return true;
    size_t n = 1 + strcspn(sym->name + 1, "."); /* without what says which part or form it is */
    const struct sp_sym *whole = known_whole(m, sym);
    if (!whole)
        return sp_symbols_nomem(m->owner);
    inlined->start = whole->start + m->shift;
    if (!plain || n >= sizeof name)
        return true;
    memcpy(name, sym->name, n);
    name[n] = '\0';
    return (strncmp(name, "_Z", 2) != 0 && strcmp(name, plain) != 0) ||
           sp_symbols_names(m->owner, name, inlined);
}
