#include "analysis/own.h"

#include "analysis/function_lookup.h"
#include "analysis/match.h"
#include "analysis/own_name.h"
#include "analysis/own_table.h"
#include "analysis/recursion.h"
#include "analysis/redacted_name.h"
#include "model/identity.h"

#include <stdlib.h>
#include <string.h>

const char *const sp_own_by_names[] = {NULL, "declaration", "namespace", "binary", "--own"};

static bool own_holds(struct sp_str s, const char *what)
{
    return s.n && memmem(s.p, s.n, what, strlen(what));
}

static bool own_ends(struct sp_str s, const char *what)
{
    size_t n = strlen(what);
    return s.n >= n && memcmp(s.p + s.n - n, what, n) == 0;
}

/* ---- binaries ---- */

enum binary { PROGRAM, SYSTEM, JITTED, UNKNOWN };

static struct sp_str base_name(struct sp_str path)
{
    struct sp_str base = sp_base_name(path);
    for (uint32_t i = base.n; i > 0; i--)
        if (base.p[i - 1] == '\\')
            return (struct sp_str){base.p + i, base.n - i};
    return base;
}

static enum binary own_binary_of(const struct sp_dso *dso, struct sp_str path)
{
    struct sp_str base = base_name(path);
    bool library = own_holds(base, ".so") || own_holds(base, ".dylib");
    if (dso->is_kernel || sp_own_in_table(SP_OWN_BINARY, base) || sp_own_in_table(SP_OWN_FOLDER, path) ||
        (library && sp_own_in_table(SP_OWN_LIBRARIES, path)))
        return SYSTEM;
    if (sp_str_is(path, "[jit]"))
        return JITTED;
    return !path.n || sp_str_is(path, "[unknown]") || sp_str_is(path, "[anon]") ? UNKNOWN : PROGRAM;
}

/* ---- source files ---- */

enum source { NO_SOURCE, FOREIGN, OURS };

/* What compilers of the JVM record is the file's name alone, which shows nothing. */
static bool own_is_bare(struct sp_str file)
{
    return !memchr(file.p, '/', file.n) &&
           (own_ends(file, ".java") || own_ends(file, ".kt") || own_ends(file, ".scala"));
}

static enum source source_of(struct sp_str file)
{
    if (!file.n || own_is_bare(file) || (file.p[0] == '<' && !sp_own_in_table(SP_OWN_SOURCE, file)))
        return NO_SOURCE;
    /* MODULE@VERSION/FILE.go, of builds with -trimpath */
    if (own_ends(file, ".go") && file.p[0] != '/' && own_holds(file, "@v"))
        return FOREIGN;
    return sp_own_in_table(SP_OWN_SOURCE, file) ? FOREIGN : OURS;
}

/* A name alone, as in valgrind's logs, may be that of a library's header or source; no header of std is
 * *.cpp. */
static bool is_placed(struct sp_str file)
{
    bool folder = file.n && (memchr(file.p, '/', file.n) || memchr(file.p, '\\', file.n));
    return folder || own_ends(file, ".cpp") || own_ends(file, ".cc") || own_ends(file, ".cxx");
}

/* ---- what is known of each function, and of each binary ---- */

enum evidence {
    HAS_FOREIGN = 1, /* a line in a source file that is not own */
    HAS_OURS = 2,
    HAS_INLINED = 4,
    HAS_KERNEL = 8,
    HAS_UNRESOLVED = 16,
    IS_GO = 32,
    IS_RUST = 64,
    IS_MIXED = 128, /* of a binary without inlined frames: lines of one function are in several places */
};

struct judge {
    const struct sp_profile *p;
    unsigned char *functions, *dsos; /* enum evidence */
    unsigned char *binaries;         /* per DSO: enum binary */
    uint32_t *file;                  /* per function: one of its source files, in files */
    struct sp_strtab files;
    SP_VEC(unsigned char) sources; /* per file: enum source */
    struct sp_buf plain;
};

/* The number of a file in x->files, whose kind is in x->sources; SP_STR_FAIL. */
static uint32_t take_file(struct judge *x, struct sp_str file)
{
    uint32_t id = sp_intern(&x->files, file.p, file.n);
    if (id == SP_STR_FAIL)
        return id;
    while (x->sources.n <= id) {
        enum source is = source_of(sp_str_at(&x->files, (uint32_t)x->sources.n));
        if (!sp_vec_push(&x->sources, (unsigned char)is))
            return SP_STR_FAIL;
    }
    return id;
}

static bool own_add_file(struct judge *x, uint32_t function, struct sp_str file)
{
    uint32_t id = take_file(x, file), dso = x->p->functions.v[function].dso;
    if (id == SP_STR_FAIL)
        return false;
    x->file[function] = id;
    x->functions[function] |= x->sources.v[id] == OURS      ? HAS_OURS
                              : x->sources.v[id] == FOREIGN ? HAS_FOREIGN
                                                            : 0;
    x->dsos[dso] |= own_ends(file, ".go") ? IS_GO : own_ends(file, ".rs") ? IS_RUST : 0;
    return true;
}

static bool look_at_frames(struct judge *x)
{
    const struct sp_profile *p = x->p;
    uint32_t last = SP_STR_NONE, last_info = 0, last_function = SP_NONE;
    for (size_t i = 0; i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        unsigned char *e = &x->functions[f->function], *dso = &x->dsos[p->functions.v[f->function].dso];
        *e |= f->kind == SP_KERNEL ? HAS_KERNEL : 0;
        *e |= f->flags & SP_FRAME_UNRESOLVED ? HAS_UNRESOLVED : 0;
        if (f->flags & SP_FRAME_INLINED) {
            *e |= HAS_INLINED;
            *dso |= HAS_INLINED;
        }
        if (f->srcline == last && f->info == last_info && f->function == last_function)
            continue;
        last = f->srcline;
        last_info = f->info;
        last_function = f->function;
        struct sp_str file = sp_frame_file(p, f);
        if (file.n && !own_add_file(x, f->function, file))
            return false;
    }
    return true;
}

static bool look_at_names(struct judge *x)
{
    const struct sp_profile *p = x->p;
    for (uint32_t i = 0; i < p->functions.n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[i].name), file = sp_own_name_file(name);
        unsigned char *dso = &x->dsos[p->functions.v[i].dso];
        if (file.n && !own_add_file(x, i, file))
            return false;
        if (!(*dso & IS_GO) && sp_own_in_table(SP_OWN_GO_SIGN, name))
            *dso |= IS_GO;
        if (!(*dso & IS_RUST) && (sp_own_in_table(SP_OWN_RUST_SIGN, name) ||
                                  (name.n && name.p[0] == '<' && own_holds(name, " as "))))
            *dso |= IS_RUST;
    }
    for (uint32_t i = 0; i < p->functions.n; i++) {
        unsigned char *dso = &x->dsos[p->functions.v[i].dso];
        const unsigned char both = HAS_OURS | HAS_FOREIGN;
        if (!(*dso & HAS_INLINED) && (x->functions[i] & both) == both)
            *dso |= IS_MIXED;
    }
    for (uint32_t i = 0; i < p->dsos.n; i++)
        x->binaries[i] = (unsigned char)own_binary_of(&p->dsos.v[i], sp_pstr(p, p->dsos.v[i].name));
    return true;
}

/* ---- namespaces ---- */

/* Whether a file is that of this package in a tree of Go's own sources, wherever that stands. */
static bool is_go_source(struct sp_str file, struct sp_str package)
{
    for (uint32_t i = 0; i + package.n < file.n; i++) {
        if (memcmp(file.p + i, package.p, package.n) != 0 || file.p[i + package.n] != '/')
            continue;
        if (!i || (i >= 5 && memcmp(file.p + i - 5, "/src/", 5) == 0))
            return true;
    }
    return false;
}

/* Whether a file is of any package of Go's own: `reflect.growslice` is linked to `runtime/slice.go`. */
static bool is_go_file(struct sp_str file)
{
    const char *slash = file.n ? memchr(file.p, '/', file.n) : NULL;
    return slash && slash > file.p &&
           sp_own_in_table(SP_OWN_GO, (struct sp_str){file.p, (uint32_t)(slash - file.p)});
}

static bool go_is_foreign(const struct judge *x, uint32_t function, struct sp_str name)
{
    struct sp_str package = sp_own_go_package(name), first = package.n ? package : name;
    const char *end = memchr(first.p, package.n ? '/' : '.', first.n);
    if (end)
        first.n = (uint32_t)(end - first.p);
    if (own_holds(package, "/vendor/"))
        return true;
    struct sp_str file = sp_str_at(&x->files, x->file[function]);
    if (!sp_own_in_table(SP_OWN_GO, first))
        return !package.n && is_go_file(file); /* assembly */
    return !(x->functions[function] & HAS_OURS) || !package.n || is_go_source(file, package) ||
           is_go_file(file);
}

static bool rust_is_foreign(struct sp_str path)
{
    return sp_own_in_table(SP_OWN_RUST, path);
}

static bool impl_is_foreign(struct sp_str type, struct sp_str trait)
{
    return !(type.n && !rust_is_foreign(type)) && !(trait.n && !rust_is_foreign(trait));
}

/* "Ljava/util/Map;::put", "java/util/Map.put", "java.util.Map.put" */
static bool jvm_is_foreign(struct sp_str name)
{
    if (name.n > 2 && name.p[0] == 'L' && memchr(name.p, ';', name.n)) {
        name.p++;
        name.n--;
    }
    return sp_own_in_table(SP_OWN_JVM, name);
}

/* A stub that jumps to a function of another binary. */
static bool is_plt(struct sp_str name)
{
    return own_ends(name, "@plt") || own_ends(name, "@plt.sec");
}

/* "malloc" of "malloc@@GLIBC_2.2.5" and of "malloc.part.0". */
static struct sp_str without_suffix(struct sp_str name)
{
    for (uint32_t i = 1; i < name.n; i++)
        if (name.p[i] == '@' || name.p[i] == '.')
            return (struct sp_str){name.p, i};
    return name;
}

enum space { NO_SPACE, FOREIGN_UNLESS_OURS, ALWAYS_FOREIGN };

static enum space space_of(struct judge *x, uint32_t function)
{
    const struct sp_profile *p = x->p;
    uint32_t dso = p->functions.v[function].dso;
    struct sp_str name = sp_pstr(p, p->functions.v[function].name), type, trait;
    struct sp_redacted_name hidden;
    if (sp_redacted_name(name, &hidden)) /* which says what the name did */
        return hidden.library ? ALWAYS_FOREIGN : NO_SPACE;
    if (is_plt(name))
        return ALWAYS_FOREIGN;
    if (x->dsos[dso] & IS_GO && go_is_foreign(x, function, name))
        return ALWAYS_FOREIGN;
    sp_buf_clear(&x->plain);
    sp_own_plain_name(&x->plain, name);
    struct sp_str plain = {sp_buf_text(&x->plain), (uint32_t)x->plain.len};
    if (x->dsos[dso] & IS_RUST && sp_own_impl(plain, &type, &trait))
        return impl_is_foreign(type, trait) ? FOREIGN_UNLESS_OURS : NO_SPACE;
    if (x->dsos[dso] & IS_RUST && rust_is_foreign(plain))
        return FOREIGN_UNLESS_OURS;
    if (jvm_is_foreign(plain) || sp_own_in_table(SP_OWN_NET, plain) || sp_own_in_table(SP_OWN_ANY, name) ||
        (x->binaries[dso] == JITTED && sp_own_in_table(SP_OWN_JIT, name)))
        return ALWAYS_FOREIGN;
    if (sp_own_in_table(SP_OWN_CXX, plain) || sp_own_in_table(SP_OWN_C, without_suffix(plain)))
        return FOREIGN_UNLESS_OURS;
    return NO_SPACE;
}

/* ---- verdicts ---- */

/* "[unknown]", "[callees not recorded]": what stands for a function. */
static bool is_placeholder(struct sp_str name)
{
    return !name.n || (name.p[0] == '[' && name.p[name.n - 1] == ']' && !own_holds(name, "::"));
}

static void own_say(struct sp_own *o, uint32_t function, bool own, enum sp_own_by by)
{
    o->own[function] = own;
    o->by[function] = (unsigned char)by;
}

static void own_judge(struct judge *x, uint32_t f, struct sp_own *o)
{
    const struct sp_profile *p = x->p;
    uint32_t dso = p->functions.v[f].dso;
    unsigned e = x->functions[f];
    if (x->dsos[dso] & IS_MIXED && !(e & HAS_OURS))
        e &= ~(unsigned)HAS_FOREIGN; /* a line of what was inlined into it, perhaps */
    if (e & HAS_KERNEL || x->binaries[dso] == SYSTEM) {
        own_say(o, f, false, SP_OWN_BY_BINARY);
    } else if (e & HAS_UNRESOLVED || is_placeholder(sp_pstr(p, p->functions.v[f].name))) {
        own_say(o, f, e & HAS_UNRESOLVED && x->binaries[dso] == PROGRAM, SP_OWN_BY_BINARY);
    } else if (e & HAS_FOREIGN && !(e & HAS_OURS)) {
        own_say(o, f, false, SP_OWN_BY_DECLARATION);
    } else {
        enum space space = space_of(x, f);
        bool declared = e & HAS_OURS && !(e & HAS_FOREIGN) && is_placed(sp_str_at(&x->files, x->file[f]));
        if (space == ALWAYS_FOREIGN || (space && !declared))
            own_say(o, f, false, SP_OWN_BY_NAMESPACE);
        else
            own_say(o, f, true,
                    e & HAS_OURS                                             ? SP_OWN_BY_DECLARATION
                    : x->binaries[dso] == PROGRAM && !(x->dsos[dso] & IS_GO) ? SP_OWN_BY_BINARY
                                                                             : SP_OWN_BY_NAMESPACE);
    }
}

static spaa_status by_rules(struct judge *x, struct sp_own *o)
{
    for (uint32_t i = 0; i < x->p->functions.n; i++)
        own_judge(x, i, o);
    return x->plain.nomem ? SPAA_ERR_NOMEM : SPAA_OK;
}

/* ---- --own ---- */

static spaa_status own_no_match(const struct sp_profile *p, const char *pattern, struct sp_diags *d)
{
    struct sp_buf asked;
    struct sp_str *names = malloc((p->functions.n + 1) * sizeof *names);
    if (!names)
        return sp_nomem(d);
    for (size_t i = 0; i < p->functions.n; i++)
        names[i] = sp_pstr(p, p->functions.v[i].name);
    sp_buf_init(&asked, 0);
    sp_buf_printf(&asked, "--own %s", pattern);
    spaa_status st = sp_no_such(d, SP_E032, sp_buf_cstr(&asked), names, p->functions.n);
    sp_buf_free(&asked);
    free(names);
    return st;
}

static spaa_status own_by_pattern(struct judge *x, const char *pattern, struct sp_diags *d, struct sp_own *o)
{
    const struct sp_profile *p = x->p;
    unsigned char *names = NULL, *dsos = NULL, *files = NULL;
    bool any = false;
    spaa_status st = sp_match_functions(p, pattern, d, &names);
    if (!st)
        st = sp_match_dsos(p, pattern, d, &dsos);
    if (!st)
        st = sp_match_strings(&x->files, NULL, x->sources.n, pattern, d, &files);
    for (uint32_t i = 0; !st && i < p->functions.n; i++)
        own_say(o, i, names[i] || dsos[p->functions.v[i].dso], SP_OWN_BY_OPTION);
    for (size_t i = 0; !st && i < p->frames.n; i++) {
        struct sp_str file = sp_frame_file(p, &p->frames.v[i]);
        if (file.n && files[take_file(x, file)])
            own_say(o, p->frames.v[i].function, true, SP_OWN_BY_OPTION);
    }
    for (uint32_t i = 0; !st && i < p->functions.n; i++)
        any = any || o->own[i];
    free(names);
    free(dsos);
    free(files);
    return st ? st : any ? SPAA_OK : own_no_match(p, pattern, d);
}

/* ---- all of it ---- */

/* Whether some stack of the selection has an own function; false also when out of memory. */
static bool some_stack(struct sp_selection *s, const struct sp_own *o, bool *failed)
{
    for (size_t i = 0; i < s->rows.n; i++) {
        size_t n;
        const uint32_t *frames = sp_selected_frames(s, i, &n);
        if (!frames) {
            *failed = true;
            return false;
        }
        for (size_t k = 0; k < n; k++)
            if (o->own[s->profile->frames.v[frames[k]].function])
                return true;
    }
    return false;
}

/* s NULL: whatever stacks there are. */
static spaa_status own_judge_all(struct judge *x, const char *pattern, struct sp_selection *s,
                                 struct sp_diags *d, struct sp_own *o)
{
    bool failed = !look_at_frames(x) || !look_at_names(x);
    if (failed)
        return sp_nomem(d);
    spaa_status st = pattern ? own_by_pattern(x, pattern, d, o) : by_rules(x, o);
    if (st)
        return st == SPAA_ERR_NOMEM ? sp_nomem(d) : st;
    o->all = s && !pattern && !some_stack(s, o, &failed);
    if (o->all) {
        memset(o->own, 1, x->p->functions.n);
        memset(o->by, SP_OWN_BY_NOTHING, x->p->functions.n);
    }
    return failed ? sp_nomem(d) : SPAA_OK;
}

static spaa_status own_make(const struct sp_profile *p, struct sp_selection *s, const char *pattern,
                            struct sp_diags *d, struct sp_own *out)
{
    struct judge x = {.p = p};
    struct sp_own o = {.own = calloc(p->functions.n + 1, 1), .by = calloc(p->functions.n + 1, 1)};
    x.functions = calloc(p->functions.n + 1, 1);
    x.dsos = calloc(p->dsos.n + 1, 1);
    x.binaries = calloc(p->dsos.n + 1, 1);
    x.file = calloc(p->functions.n + 1, sizeof *x.file);
    sp_buf_init(&x.plain, UINT32_MAX);
    spaa_status st =
        sp_strtab_init(&x.files) && o.own && o.by && x.functions && x.dsos && x.binaries && x.file
            ? own_judge_all(&x, pattern, s, d, &o)
            : sp_nomem(d);
    free(x.functions);
    free(x.dsos);
    free(x.binaries);
    free(x.file);
    sp_vec_free(&x.sources);
    sp_strtab_free(&x.files);
    sp_buf_free(&x.plain);
    if (st)
        sp_own_free(&o);
    else
        *out = o;
    return st;
}

spaa_status sp_own_of(struct sp_selection *s, const char *pattern, struct sp_diags *d, struct sp_own *out)
{
    return own_make(s->profile, s, pattern, d, out);
}

spaa_status sp_own_by_rules(const struct sp_profile *p, struct sp_diags *d, struct sp_own *out)
{
    return own_make(p, NULL, NULL, d, out);
}

void sp_own_free(struct sp_own *o)
{
    free(o->own);
    free(o->by);
    *o = (struct sp_own){0};
}
