/*
 * What is said of a function: its name, where it is declared, who sees it. An entry may leave that to others:
 * one inlined or compiled apart to the function itself (abstract origin), a definition to its declaration
 * (specification). The nearest that states a thing counts.
 */
#include "base/hash.h"
#include "dwarf/private.h"

/* What an entry and those it led to have stated; `last` has the name as a rule. */
struct stated {
    const char *linkage, *name;
    struct sp_dwarf_file file;
    uint32_t line;
    bool external;
    struct sp_dw_entry last;
};

/* Of split DWARF the files are those of what stands for the unit in the program itself. */
static void put_decl(struct sp_dwarf *d, const struct sp_dw_entry *e, struct stated *s)
{
    if (!s->line)
        s->line = e->decl_line;
    if (s->file.name || e->decl_file.is != DW_NUMBER)
        return;
    struct sp_dw_unit *lines = e->u->skeleton ? (struct sp_dw_unit *)e->u->skeleton : e->u;
    if (!sp_dw_files_build(d, lines))
        sp_dw_fail(d, SPAA_ERR_NOMEM);
    else if (lines->lines)
        sp_dw_file_of(lines->lines, e->decl_file.u, &s->file);
}

static void ask(struct sp_dwarf *d, struct sp_dw_unit *u, uint64_t die, struct stated *s)
{
    struct sp_dw_entry e;
    size_t work = 0;
    *s = (struct stated){0};
    for (unsigned hops = 0; u && hops < DW_HOPS_MAX && sp_dw_entry_read(d, u, die, &work, &e); hops++) {
        s->linkage = s->linkage ? s->linkage : e.linkage;
        s->name = s->name ? s->name : e.name;
        s->external |= e.external;
        s->last = e;
        put_decl(d, &e, s);
        die = e.origin.u;
        u = sp_dw_referred(d, u, &e.origin);
    }
}

/* Languages whose functions are linked by what they are called. */
static bool is_linked_plainly(uint16_t language)
{
    return language == LANG_C89 || language == LANG_C || language == LANG_C99 || language == LANG_C11 ||
           language == LANG_C17 || language == LANG_Go || language == LANG_Mips_Assembler;
}

static bool is_cplusplus(uint16_t language)
{
    return language == LANG_C_plus_plus || language == LANG_C_plus_plus_03 ||
           language == LANG_C_plus_plus_11 || language == LANG_C_plus_plus_14 ||
           language == LANG_C_plus_plus_17 || language == LANG_C_plus_plus_20 ||
           language == LANG_C_plus_plus_23 || language == LANG_ObjC_plus_plus;
}

/* A lambda is declared where its class is. */
static void put_class_decl(struct sp_dwarf *d, struct stated *s)
{
    struct sp_dw_unit *u = s->last.u;
    struct sp_dw_entry e;
    size_t work = 0;
    uint32_t scope = sp_dw_scope_of(&u->inlines, s->last.off);
    if (scope != DW_NO_NODE && u->inlines.scopes.v[scope].tag != TAG_namespace &&
        sp_dw_entry_read(d, u, u->inlines.scopes.v[scope].die, &work, &e))
        put_decl(d, &e, s);
}

/* What stands in a function that others see is there once, however local it is. */
static bool is_in_external(struct sp_dwarf *d, const struct sp_dw_entry *e)
{
    struct stated s = {.last = *e};
    for (unsigned hops = 0; s.last.u && hops < DW_HOPS_MAX; hops++) {
        struct sp_dw_unit *u = s.last.u;
        uint32_t scope = sp_dw_scope_of(&u->inlines, s.last.off);
        while (scope != DW_NO_NODE && u->inlines.scopes.v[scope].tag != TAG_subprogram)
            scope = u->inlines.scopes.v[scope].parent;
        if (scope == DW_NO_NODE)
            return false;
        ask(d, u, u->inlines.scopes.v[scope].die, &s);
        if (s.external)
            return true;
    }
    return false;
}

static bool is_closure(const char *name)
{
    return name && name[0] == '{' && strncmp(name, "{impl#", 6) != 0;
}

/* Which of the closures of a function of Rust it is, and those that this one is in; NULL: it is none. */
static const char *closures_of(struct sp_dwarf *d, const struct stated *s)
{
    enum { MOST = 8 };
    struct sp_dw_unit *u = s->last.u;
    const char *names[MOST], *text = NULL;
    struct sp_dw_entry e = s->last;
    struct sp_buf b;
    size_t n = 0, work = 0;
    if (!is_closure(s->name) || !u)
        return NULL;
    if (!sp_dw_inlines_build(d, u))
        sp_dw_fail(d, SPAA_ERR_NOMEM);
    for (const char *name = s->name; is_closure(name) && n < MOST; name = e.name) {
        names[n++] = name;
        uint32_t scope = sp_dw_scope_of(&u->inlines, e.off);
        if (scope == DW_NO_NODE || !sp_dw_entry_read(d, u, u->inlines.scopes.v[scope].die, &work, &e))
            break;
    }
    sp_buf_init(&b, DW_NAME_TEXT);
    while (n--) {
        sp_buf_add(&b, names[n], strcspn(names[n], "<"));
        sp_buf_puts(&b, n ? "::" : "");
    }
    if (b.nomem || (!b.failed && !(text = sp_arena_dup(&d->arena, b.data, b.len))))
        sp_dw_fail(d, SPAA_ERR_NOMEM);
    sp_buf_free(&b);
    return text;
}

/* Names may be ends of one long string. */
static void spend_name(struct sp_dwarf *d, struct sp_dw_file *f, const char *name)
{
    const struct sp_dw_bytes *b = &f->sec[DW_STR];
    uintptr_t at = (uintptr_t)name, from = (uintptr_t)b->p;
    if (name && at >= from && at < from + b->n)
        sp_dw_spend(d, f, DW_STR, strlen(name));
}

static struct sp_dwarf_frame says_of(struct sp_dwarf *d, struct sp_dw_unit *u, uint64_t die)
{
    const uint16_t language = u->language;
    const struct sp_dw_value to = {.is = DW_REF, .u = die};
    struct stated s;
    ask(d, sp_dw_referred(d, u, &to), die, &s);
    spend_name(d, s.last.u ? s.last.u->f : u->f, s.linkage);
    spend_name(d, s.last.u ? s.last.u->f : u->f, s.name);
    struct sp_dwarf_frame f = {.func = s.linkage ? s.linkage : s.name};
    /* A name with no other one to be linked by is that, if others can refer to it. */
    f.linked = s.linkage || is_linked_plainly(language) || (s.external && language != LANG_Rust);
    f.local =
        !s.external && language != LANG_Rust; /* its names as linked have their crate and path in them */
    if (!f.linked && s.name && (is_cplusplus(language) || language == LANG_Rust)) {
        f.scoped = sp_dw_scoped_name(d, s.last.u, s.last.off, is_cplusplus(language));
        if (!s.file.name)
            put_class_decl(d, &s);
    }
    f.local = f.local && !(is_cplusplus(language) && is_in_external(d, &s.last));
    if (language == LANG_Rust && s.linkage && s.name && s.name[0] != '<')
        f.arguments = strchr(s.name, '<');
    if (language == LANG_Rust && s.linkage)
        f.closures = closures_of(d, &s);
    f.decl = s.file;
    f.decl_line = s.line;
    return f;
}

struct sp_dwarf_frame sp_dw_function_of(struct sp_dwarf *d, struct sp_dw_unit *u, uint64_t die)
{
    uint64_t hash = sp_hash_mix(die, (uintptr_t)u);
    struct sp_probe at = sp_map_probe(&d->function_map, hash);
    for (uint32_t i; (i = sp_map_next(&d->function_map, &at)) != SP_MAP_NONE;)
        if (d->functions.v[i].u == u && d->functions.v[i].die == die)
            return d->functions.v[i].says;
    struct sp_dw_function f = {.u = u, .die = die, .says = says_of(d, u, die)};
    if (d->functions.n < UINT32_MAX - 1) {
        if (!sp_vec_push(&d->functions, f) ||
            !sp_map_add(&d->function_map, hash, (uint32_t)d->functions.n - 1))
            sp_dw_fail(d, SPAA_ERR_NOMEM);
    }
    return f.says;
}
