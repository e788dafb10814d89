/* What functions are called in a brief, and where they stand. */
#include "ask/summary.h"

#include "analysis/own_name.h"
#include "model/identity.h"

/* "JS:*renderRow /a/render.js:15:19": the name, the place behind it, V8's tier; false: it has no place. */
static bool own_script_name(struct sp_str whole, struct sp_str *name, struct sp_str *place, char *tier)
{
    struct sp_str file = sp_own_name_file(whole);
    *tier = '*';
    if (!file.n || file.p <= whole.p || file.p > whole.p + whole.n)
        return false;
    const char *end = whole.p + whole.n;
    struct sp_str base = sp_base_name(file);
    *name = (struct sp_str){whole.p, (uint32_t)(file.p - whole.p)};
    while (name->n && (name->p[name->n - 1] == ' ' || name->p[name->n - 1] == '('))
        name->n--;
    if (name->n >= 3 && memcmp(name->p, "JS:", 3) == 0) {
        *name = (struct sp_str){name->p + 3, name->n - 3};
        if (name->n && memchr("*~^+", *name->p, 4))
            *tier = *name->p;
        if (name->n && *tier == *name->p)
            *name = (struct sp_str){name->p + 1, name->n - 1};
    }
    if (name->n > 4 && memcmp(name->p, "py::", 4) == 0) /* "py::score:/srv/p.py" */
        *name = (struct sp_str){name->p + 4, name->n - 4 - (name->p[name->n - 1] == ':')};
    const char *line = file.p + file.n;
    while (line + 1 < end &&
           (*line == ':' ? line[1] >= '0' && line[1] <= '9' : *line >= '0' && *line <= '9') &&
           !(*line == ':' && line > file.p + file.n))
        line++;
    if (line < end && *line >= '0' && *line <= '9')
        line++;
    *place = (struct sp_str){base.p, (uint32_t)(line - base.p)};
    return true;
}

void sp_summary_name(struct sp_buf *b, const struct sp_summary *x, uint32_t function)
{
    const struct sp_profile *p = x->x.s.profile;
    struct sp_str name, place;
    char tier;
    if (function == SP_NONE ||
        !own_script_name(sp_pstr(p, p->functions.v[function].name), &name, &place, &tier)) {
        sp_said_text(b, &x->names, &x->x, function);
        return;
    }
    if (name.n)
        sp_buf_add(b, name.p, name.n);
    else
        sp_buf_printf(b, "(anonymous %.*s)", (int)place.n, place.p);
    sp_buf_puts(b, tier == '~' ? " interpreted" : tier == '^' ? " baseline" : tier == '+' ? " maglev" : "");
}

/* The program's; where that is not known, that of most of what own functions weigh, unless they are of
 * several processes. */
static uint32_t own_main_dso(const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    uint32_t heaviest = SP_NONE;
    for (size_t i = 0; i < x->fold.rows.n; i++) {
        uint32_t f = x->fold.rows.v[i].function;
        uint32_t dso = f == SP_NONE ? SP_NONE : p->functions.v[f].dso;
        if (dso == SP_NONE)
            continue;
        struct sp_str base = sp_base_name(sp_dso_name(p, dso));
        if (x->program.n && sp_str_cmp(base, x->program) == 0)
            return dso;
        heaviest = heaviest == SP_NONE ? dso : heaviest;
    }
    return x->processes.rows.n > 1 ? SP_NONE : heaviest;
}

/* The file that its lines stand in, where nothing says where it is declared. */
static struct sp_str own_file(const struct sp_profile *p, uint32_t function)
{
    for (size_t i = 0; i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        if (f->function != function || f->srcline == SP_STR_NONE)
            continue;
        struct sp_str line = sp_base_name(sp_pstr(p, f->srcline));
        const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
        return (struct sp_str){line.p, colon ? (uint32_t)(colon - line.p) : line.n};
    }
    return (struct sp_str){"", 0};
}

void sp_summary_place(struct sp_buf *b, const struct sp_summary *x, uint32_t function)
{
    const struct sp_profile *p = x->x.s.profile;
    const struct sp_function *f = &p->functions.v[function];
    const struct sp_func_info *info = f->info ? &p->func_infos.v[f->info - 1] : NULL;
    struct sp_str name, place;
    char tier;
    if (own_script_name(sp_pstr(p, f->name), &name, &place, &tier)) {
        sp_buf_add(b, place.p, place.n);
    } else if (info && info->file != SP_STR_NONE) {
        place = sp_base_name(sp_pstr(p, info->file));
        sp_buf_add(b, place.p, place.n);
        if (info->line)
            sp_buf_printf(b, ":%u", info->line);
    } else {
        place = own_file(p, function);
        sp_buf_add(b, place.p, place.n);
    }
    struct sp_str dso = sp_base_name(sp_dso_name(p, f->dso));
    uint32_t program = own_main_dso(x);
    bool main = program != SP_NONE && sp_str_cmp(dso, sp_base_name(sp_dso_name(p, program))) == 0;
    if (dso.n && !main && !sp_str_is(dso, "[jit]"))
        sp_buf_printf(b, "%s%.*s", b->len ? " " : "", (int)dso.n, dso.p);
}
