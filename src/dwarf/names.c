/*
 * The full name of a function that is linked by none: static, of a local class, of a namespace without a
 * name, a lambda. It is put together of the scopes it stands in and, in C++, the types of its parameters, and
 * reads as the name that a demangler makes of one as linked: `(anonymous namespace)::hash(int)`,
 * `useB(int)::{lambda(char)#1}::operator()(char) const`. So an inlined copy and code of its own have one
 * name.
 *
 * What types need and is not known here (pointers to members, expressions) leaves the parameters out.
 * Compilers that were told to describe no types describe no parameters: then there are none to be had.
 *
 * Types nest: the functions below call each other DW_NAME_DEPTH deep at most, and all entries read are
 * counted.
 */
#include "dwarf/private.h"

#include <stdio.h>
#include <stdlib.h>

#define PARTS_MAX     32u
#define MODIFIERS_MAX 16u

struct namer {
    struct sp_dwarf *d;
    struct sp_buf b;
    size_t work;
    unsigned depth;
    bool parameters; /* are to be shown */
    bool failed;     /* something is in it that cannot be told */
};

static bool put_type(struct namer *z, struct sp_dw_unit *u, const struct sp_dw_value *ref, bool bare);
static bool put_entity(struct namer *z, const struct sp_dw_entry *e);

static bool give_up(struct namer *z)
{
    z->failed = true;
    return false;
}

/* The entry a reference leads to; false: none. */
static bool name_follow(struct namer *z, struct sp_dw_unit *u, const struct sp_dw_value *ref,
                        struct sp_dw_entry *e)
{
    struct sp_dw_unit *to = sp_dw_referred(z->d, u, ref);
    return to && sp_dw_entry_read(z->d, to, ref->u, &z->work, e);
}

static bool is_class(uint16_t tag)
{
    return tag == TAG_structure_type || tag == TAG_class_type || tag == TAG_union_type;
}

static bool starts_with(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* ---- what stands in angle brackets ---- */

static const char *const integers[][3] = {
    /* DWARF's spelling, a demangler's, what a demangler ends literals with */
    {"int", "int", ""},
    {"unsigned int", "unsigned int", "u"},
    {"long int", "long", "l"},
    {"long unsigned int", "unsigned long", "ul"},
    {"long long int", "long long", "ll"},
    {"long long unsigned int", "unsigned long long", "ull"},
    {"short int", "short", NULL},
    {"short unsigned int", "unsigned short", NULL},
    {"__int128 unsigned", "unsigned __int128", NULL},
    {"_Bool", "bool", NULL},
};

static const char *const *integer_of(const char *name)
{
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        for (unsigned k = 0; k < 2; k++)
            if (!strcmp(integers[i][k], name))
                return integers[i];
    return NULL;
}

/* The type without other names for it, const and volatile; false: there is none. */
static bool plain_type(struct namer *z, struct sp_dw_unit *u, const struct sp_dw_value *ref,
                       struct sp_dw_entry *e)
{
    bool found = name_follow(z, u, ref, e);
    for (unsigned i = 0; found && i < MODIFIERS_MAX; i++) {
        if (e->tag != TAG_typedef && e->tag != TAG_const_type && e->tag != TAG_volatile_type)
            return true;
        struct sp_dw_value next = e->type;
        found = name_follow(z, e->u, &next, e);
    }
    return false;
}

static bool put_constant(struct namer *z, const struct sp_dw_entry *param)
{
    struct sp_dw_entry t;
    if (!param->has_value || !plain_type(z, param->u, &param->type, &t))
        return give_up(z);
    if (t.tag == TAG_base_type && t.name && !strcmp(t.name, "bool"))
        return sp_buf_puts(&z->b, param->value ? "true" : "false");
    const char *const *as = t.tag == TAG_base_type && t.name ? integer_of(t.name) : NULL;
    if (!as || !as[2]) {
        sp_buf_ch(&z->b, '(');
        put_type(z, param->u, &param->type, true);
        sp_buf_ch(&z->b, ')');
    }
    if (as && as[2] && *as[2] == 'u')
        sp_buf_u64(&z->b, param->value);
    else
        sp_buf_i64(&z->b, (int64_t)param->value);
    return sp_buf_puts(&z->b, as && as[2] ? as[2] : "");
}

static bool is_argument(uint16_t tag)
{
    return tag == TAG_template_type_parameter || tag == TAG_template_value_parameter ||
           tag == TAG_GNU_template_template_param || tag == TAG_GNU_template_parameter_pack;
}

static void put_argument(struct namer *z, const struct sp_dw_entry *a, unsigned *n)
{
    if ((*n)++)
        sp_buf_puts(&z->b, ", ");
    if (a->tag == TAG_template_type_parameter)
        put_type(z, a->u, &a->type, false);
    else if (a->tag == TAG_template_value_parameter)
        put_constant(z, a);
    else if (a->name)
        sp_buf_puts(&z->b, a->name);
    else
        give_up(z);
}

/* "<int, 3ul>"; whether there is such a thing at all. */
static bool put_arguments(struct namer *z, const struct sp_dw_entry *e, bool show)
{
    struct sp_dw_children it = sp_dw_children_of(e);
    struct sp_dw_entry a, in;
    unsigned n = 0;
    bool any = false;
    while (!z->failed && sp_dw_child_next(z->d, &it, &z->work, &a)) {
        if (!is_argument(a.tag))
            continue;
        if (!show)
            return true;
        if (!any)
            sp_buf_puts(&z->b, z->b.len && z->b.data[z->b.len - 1] == '<' ? " <" : "<");
        any = true;
        struct sp_dw_children pack = sp_dw_children_of(&a);
        if (a.tag == TAG_GNU_template_parameter_pack)
            while (!z->failed && sp_dw_child_next(z->d, &pack, &z->work, &in))
                put_argument(z, &in, &n);
        else
            put_argument(z, &a, &n);
    }
    if (any)
        sp_buf_puts(&z->b, z->b.data[z->b.len - 1] == '>' ? " >" : ">");
    return any;
}

/* The length of a name without the arguments that end it. */
static size_t stem_of(const char *name)
{
    size_t n = strlen(name), depth = 0;
    for (size_t i = n; i-- > 0;) {
        depth += name[i] == '>';
        depth -= name[i] == '<';
        if (name[i] == '<' && !depth)
            return i && name[i - 1] == ' ' ? i - 1 : i;
        if (!depth)
            break;
    }
    return n;
}

/* Of a class that is declared alone the arguments stand in its name alone, in the compiler's spelling. */
static void put_spelled(struct namer *z, const char *name, size_t n)
{
    static const unsigned longest_first[] = {5, 3, 4, 2, 7, 6};
    for (size_t i = 0; i < n;) {
        size_t k = 0;
        bool word = i && !strchr("<( ", name[i - 1]);
        for (unsigned j = 0; !k && !word && j < sizeof longest_first / sizeof *longest_first; j++) {
            const char *const *as = integers[longest_first[j]];
            if (starts_with(name + i, as[0]) && strchr(",> *&)", name[i + strlen(as[0])])) {
                k = strlen(as[0]);
                sp_buf_puts(&z->b, as[1]);
            }
        }
        if (!k)
            sp_buf_ch(&z->b, name[i]);
        i += k ? k : 1;
    }
}

static void put_name(struct namer *z, const struct sp_dw_entry *e)
{
    size_t n = strlen(e->name);
    bool ends = n && e->name[n - 1] == '>', has = ends && put_arguments(z, e, false);
    if (has) {
        sp_buf_add(&z->b, e->name, stem_of(e->name));
        put_arguments(z, e, true);
    } else if (ends && e->tag != TAG_subprogram) {
        put_spelled(z, e->name, n);
    } else {
        sp_buf_add(&z->b, e->name, n);
    }
}

/* ---- parameters ---- */

/* " const", " volatile" or both: what `this` points to. */
static const char *object_of(struct namer *z, const struct sp_dw_entry *parameter)
{
    static const char *const words[] = {"", " const", " volatile", " const volatile"};
    struct sp_dw_entry e;
    struct sp_dw_value ref = parameter->type;
    struct sp_dw_unit *u = parameter->u;
    bool through = false;
    unsigned is = 0;
    for (unsigned i = 0; i < 5 && name_follow(z, u, &ref, &e); i++) {
        if (through)
            is |= e.tag == TAG_const_type ? 1 : e.tag == TAG_volatile_type ? 2 : 0;
        through |= e.tag == TAG_pointer_type;
        if (is_class(e.tag))
            break;
        ref = e.type;
        u = e.u;
    }
    return words[is];
}

static void put_parameter(struct namer *z, const struct sp_dw_entry *p, unsigned *n)
{
    if (p->tag != TAG_formal_parameter && p->tag != TAG_unspecified_parameters)
        return;
    if ((*n)++)
        sp_buf_puts(&z->b, ", ");
    if (p->tag == TAG_unspecified_parameters)
        sp_buf_puts(&z->b, "...");
    else
        put_type(z, p->u, &p->type, true);
}

/* "int, char"; what the function says of its object. */
static const char *put_parameters(struct namer *z, const struct sp_dw_entry *f)
{
    struct sp_dw_children it = sp_dw_children_of(f);
    struct sp_dw_entry p, in;
    unsigned n = 0;
    const char *object = "";
    while (!z->failed && sp_dw_child_next(z->d, &it, &z->work, &p)) {
        struct sp_dw_children pack = sp_dw_children_of(&p);
        if (p.tag == TAG_formal_parameter && p.artificial)
            object = f->object && !*object ? object_of(z, &p) : object;
        else if (p.tag == TAG_GNU_formal_parameter_pack)
            while (!z->failed && sp_dw_child_next(z->d, &pack, &z->work, &in))
                put_parameter(z, &in, &n);
        else
            put_parameter(z, &p, &n);
    }
    return object;
}

static void put_function(struct namer *z, const struct sp_dw_entry *f)
{
    if (!f->name) {
        give_up(z);
        return;
    }
    put_name(z, f);
    /* extern "C", and main */
    bool plain = f->external && !f->linkage && !f->object;
    if (!z->parameters || plain || !f->u->inlines.typed)
        return;
    sp_buf_ch(&z->b, '(');
    const char *object = put_parameters(z, f);
    sp_buf_ch(&z->b, ')');
    sp_buf_puts(&z->b, object);
    sp_buf_puts(&z->b, f->lref ? " &" : f->rref ? " &&" : "");
}

/* ---- lambdas ---- */

/* The function that a class without a name is called by, if it is a lambda's. */
static bool lambda_call(struct namer *z, const struct sp_dw_entry *e, struct sp_dw_entry *call)
{
    struct sp_dw_children it = sp_dw_children_of(e);
    if (!is_class(e->tag) || (e->name && !starts_with(e->name, "<lambda")))
        return false;
    while (sp_dw_child_next(z->d, &it, &z->work, call))
        if (call->tag == TAG_subprogram && call->name && starts_with(call->name, "operator()"))
            return true;
    return false;
}

/*
 * A lambda without code of its own. Symbols number the lambdas of a scope, but classes of those that vanished
 * are not in debug information, so that counting them may give the number of another: the line it stands at
 * says which one it is, as {lambda(int)@11}.
 */
static void put_lambda(struct namer *z, const struct sp_dw_entry *e, const struct sp_dw_entry *call)
{
    const struct sp_dw_inlines *in = &e->u->inlines;
    const uint32_t parent = sp_dw_scope_of(in, e->off);
    struct sp_dw_entry before, other;
    unsigned number = 1;
    const bool typed = z->parameters && in->typed;
    sp_buf_puts(&z->b, typed ? "{lambda(" : "{lambda");
    size_t at = z->b.len;
    if (typed)
        put_parameters(z, call);
    size_t n = z->b.len - at;
    if (e->decl_line || call->decl_line) {
        sp_buf_printf(&z->b, typed ? ")@%u}" : "@%u}", e->decl_line ? e->decl_line : call->decl_line);
        return;
    }
    for (size_t i = parent == DW_NO_NODE ? 0 : parent + 1; !z->failed && i < in->scopes.n; i++) {
        const struct sp_dw_scope *s = &in->scopes.v[i];
        if (s->die >= e->off)
            break;
        if (++z->work > DW_NAME_WORK)
            give_up(z);
        if (s->parent != parent || !is_class(s->tag) ||
            !sp_dw_entry_read(z->d, e->u, s->die, &z->work, &before) || !lambda_call(z, &before, &other))
            continue;
        size_t end = z->b.len;
        if (typed && !e->u->old_lambdas)
            put_parameters(z, &other);
        bool same = e->u->old_lambdas || (z->b.len - end == n && !memcmp(z->b.data + at, z->b.data + end, n));
        z->b.len = end;
        number += same;
    }
    sp_buf_printf(&z->b, typed ? ")#%u}" : "#%u}", number);
}

/* ---- scopes ---- */

static void put_part(struct namer *z, const struct sp_dw_entry *e)
{
    struct sp_dw_entry call;
    if (e->elsewhere && (z->parameters || !e->name))
        give_up(z);
    else if (e->tag == TAG_namespace)
        sp_buf_puts(&z->b, e->name ? e->name : "(anonymous namespace)");
    else if (e->tag == TAG_subprogram)
        put_function(z, e);
    else if (lambda_call(z, e, &call))
        put_lambda(z, e, &call);
    else if (e->name)
        put_name(z, e);
    else
        sp_buf_puts(&z->b, e->tag == TAG_union_type ? "(anonymous union)" : "(anonymous struct)");
}

/* The entry that states the name: a definition has it of its declaration. */
static void to_declaration(struct namer *z, struct sp_dw_entry *e)
{
    struct sp_dw_entry next;
    for (unsigned hops = 0; hops < DW_HOPS_MAX && name_follow(z, e->u, &e->origin, &next); hops++)
        *e = next;
}

/* The entries that the name is made of, the outermost last. */
static unsigned parts_of(struct namer *z, const struct sp_dw_entry *e, struct sp_dw_entry *parts)
{
    unsigned n = 0;
    parts[n++] = *e;
    for (;;) {
        struct sp_dw_entry *last = &parts[n - 1];
        to_declaration(z, last);
        if (!sp_dw_inlines_build(z->d, last->u))
            sp_dw_fail(z->d, SPAA_ERR_NOMEM);
        uint32_t scope = sp_dw_scope_of(&last->u->inlines, last->off);
        if (scope == DW_NO_NODE)
            return n;
        if (n == PARTS_MAX ||
            !sp_dw_entry_read(z->d, last->u, last->u->inlines.scopes.v[scope].die, &z->work, &parts[n])) {
            give_up(z);
            return n;
        }
        n++;
    }
}

/* What the standard library's names are short for. */
static void shorten(struct namer *z, size_t at)
{
    static const char *const names[][2] = {
        {"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
        {"std::basic_istream<char, std::char_traits<char> >", "std::istream"},
        {"std::basic_ostream<char, std::char_traits<char> >", "std::ostream"},
        {"std::basic_iostream<char, std::char_traits<char> >", "std::iostream"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i][0]);
        if (z->b.len - at != n || memcmp(z->b.data + at, names[i][0], n) != 0)
            continue;
        z->b.len = at;
        sp_buf_puts(&z->b, names[i][1]);
    }
}

static bool put_entity(struct namer *z, const struct sp_dw_entry *e)
{
    struct sp_dw_entry *parts = z->depth < DW_NAME_DEPTH ? malloc(PARTS_MAX * sizeof *parts) : NULL;
    size_t at = z->b.len;
    if (!parts) {
        if (z->depth < DW_NAME_DEPTH)
            sp_dw_fail(z->d, SPAA_ERR_NOMEM);
        return give_up(z);
    }
    z->depth++;
    unsigned n = parts_of(z, e, parts);
    for (unsigned i = n; i-- > 0 && !z->failed;) {
        put_part(z, &parts[i]);
        sp_buf_puts(&z->b, i ? "::" : "");
    }
    if (is_class(parts[0].tag) && !z->failed)
        shorten(z, at);
    z->depth--;
    free(parts);
    return !z->failed && !z->b.failed;
}

/* ---- types ---- */

static void put_modifiers(struct namer *z, const char *modifiers, unsigned n)
{
    while (n--) {
        char m = modifiers[n];
        sp_buf_puts(&z->b, m == 'c'   ? " const"
                           : m == 'v' ? " volatile"
                           : m == 'r' ? " restrict"
                           : m == 'R' ? "&&"
                                      : "");
        if (m == '*' || m == '&')
            sp_buf_ch(&z->b, m);
    }
}

/* "int (*)(char)", "int (&) [3]" */
static bool put_derived(struct namer *z, const struct sp_dw_entry *t, const char *modifiers, unsigned n)
{
    struct sp_dw_children it = sp_dw_children_of(t);
    struct sp_dw_entry range;
    bool function = t->tag == TAG_subroutine_type;
    put_type(z, t->u, &t->type, false);
    sp_buf_ch(&z->b, ' ');
    if (n) {
        sp_buf_ch(&z->b, '(');
        put_modifiers(z, modifiers, n);
        sp_buf_puts(&z->b, function ? ")" : ") ");
    }
    if (function) {
        sp_buf_ch(&z->b, '(');
        put_parameters(z, t);
        return sp_buf_ch(&z->b, ')');
    }
    while (sp_dw_child_next(z->d, &it, &z->work, &range)) {
        if (range.tag != TAG_subrange_type)
            continue;
        sp_buf_ch(&z->b, '[');
        if (range.has_value)
            sp_buf_u64(&z->b, range.value);
        sp_buf_ch(&z->b, ']');
    }
    return !z->failed;
}

static bool put_base(struct namer *z, const struct sp_dw_entry *t)
{
    const char *const *as = t->name ? integer_of(t->name) : NULL;
    return t->name ? sp_buf_puts(&z->b, as ? as[1] : t->name) : give_up(z);
}

/* What a modifier is written as; 0: the type is none, ' ': it stands for another one. */
static char modifier_of(uint16_t tag)
{
    switch (tag) {
    case TAG_pointer_type:
        return '*';
    case TAG_reference_type:
        return '&';
    case TAG_rvalue_reference_type:
        return 'R';
    case TAG_const_type:
        return 'c';
    case TAG_volatile_type:
        return 'v';
    case TAG_restrict_type:
        return 'r';
    case TAG_typedef:
        return ' ';
    default:
        return 0;
    }
}

static bool put_plain(struct namer *z, const struct sp_dw_entry *t, const char *modifiers, unsigned n)
{
    if (t->tag == TAG_subroutine_type || t->tag == TAG_array_type)
        return put_derived(z, t, modifiers, n);
    if (t->tag == TAG_base_type || t->tag == TAG_unspecified_type)
        put_base(z, t);
    else if (is_class(t->tag) || t->tag == TAG_enumeration_type)
        put_entity(z, t);
    else
        return give_up(z);
    put_modifiers(z, modifiers, n);
    return !z->failed;
}

/* bare: without const and volatile of its own, as parameters are. */
static bool put_type(struct namer *z, struct sp_dw_unit *u, const struct sp_dw_value *ref, bool bare)
{
    char modifiers[MODIFIERS_MAX];
    unsigned n = 0;
    struct sp_dw_value next = *ref;
    struct sp_dw_entry t;
    if (z->failed || z->b.failed || z->depth >= DW_NAME_DEPTH)
        return give_up(z);
    z->depth++;
    for (unsigned i = 0; i < 2 * MODIFIERS_MAX && n < MODIFIERS_MAX; i++) {
        if (!next.is) {
            sp_buf_puts(&z->b, "void");
            put_modifiers(z, modifiers, n);
            z->depth--;
            return !z->failed;
        }
        if (!name_follow(z, u, &next, &t))
            break;
        char m = modifier_of(t.tag);
        if (!m) {
            bool ok = put_plain(z, &t, modifiers, n);
            z->depth--;
            return ok;
        }
        bool own = bare && !n && (m == 'c' || m == 'v' || m == 'r');
        if (m != ' ' && !own && !(n && m == 'c' && modifiers[n - 1] == 'c'))
            modifiers[n++] = m;
        next = t.type;
        u = t.u;
    }
    z->depth--;
    return give_up(z);
}

/* Of function templates names as linked have the type that is returned, too. */
static void put_returned(struct namer *z, const struct sp_dw_entry *e)
{
    struct sp_dw_entry f = *e;
    to_declaration(z, &f);
    bool returns =
        z->parameters && f.u->inlines.typed && f.name && !starts_with(f.name, "operator ") && f.type.is;
    if (!returns || !put_arguments(z, &f, false))
        return;
    put_type(z, f.u, &f.type, false);
    sp_buf_ch(&z->b, ' ');
}

/* What names may cost in all, by how much there is to read. */
static bool may_work(const struct sp_dwarf *d, const struct sp_dw_file *f)
{
    size_t bytes = f->sec[DW_INFO].n, most = DW_NAMES_WORK;
    if (bytes < DW_NAMES_WORK / DW_NAMES_TIMES)
        most = DW_NAMES_FREE + DW_NAMES_TIMES * bytes;
    return d->name_work < most;
}

const char *sp_dw_scoped_name(struct sp_dwarf *d, struct sp_dw_unit *u, uint64_t die, bool parameters)
{
    struct sp_dw_entry e;
    const char *name = NULL;
    bool ok = may_work(d, u->f);
    /* Where the parameters cannot be told, the scopes may be. */
    for (unsigned tries = 0; ok && !name && tries < 2u; tries++) {
        struct namer z = {.d = d, .parameters = parameters && !tries};
        sp_buf_init(&z.b, DW_NAME_TEXT);
        if (sp_dw_entry_read(d, u, die, &z.work, &e)) {
            if (!sp_dw_inlines_build(d, u))
                sp_dw_fail(d, SPAA_ERR_NOMEM);
            put_returned(&z, &e);
            if (put_entity(&z, &e) && !(name = sp_arena_dup(&d->arena, z.b.data, z.b.len)))
                sp_dw_fail(d, SPAA_ERR_NOMEM);
        }
        if (z.b.nomem)
            sp_dw_fail(d, SPAA_ERR_NOMEM);
        d->name_work += z.work;
        sp_buf_free(&z.b);
        ok = !sp_dwarf_failed(d) && parameters;
    }
    return name;
}
