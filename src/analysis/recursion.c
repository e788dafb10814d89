#include "analysis/recursion.h"

#include "model/functions.h"

/* Names that compilers and runtimes give to functions without one. */
static bool is_nameless(struct sp_str name)
{
    static const char *const names[] = {"operator()", "<lambda",   "(anonymous", "<anonymous", "{lambda",
                                        "{closure",   "{{closure", "lambda",     "anonymous"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name.n >= strlen(names[i]) && memcmp(name.p, names[i], strlen(names[i])) == 0)
            return true;
    return name.n == 0 || sp_str_is(name, "[unknown]") || sp_str_is(name, "operator");
}

/* Where its function is declared by debug information; n 0: not known. */
static struct sp_str declaring_file(const struct sp_profile *p, const struct sp_frame *f)
{
    const struct sp_func_info *info = f->info ? &p->func_infos.v[f->info - 1] : NULL;
    return sp_pstr(p, info && info->line ? info->file : SP_STR_NONE);
}

struct sp_str sp_frame_file(const struct sp_profile *p, const struct sp_frame *f)
{
    if (!f->srcline)
        return declaring_file(p, f);
    struct sp_str s = sp_pstr(p, f->srcline);
    const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;
    for (const char *next = colon; next; next = memchr(next + 1, ':', (size_t)(s.p + s.n - next - 1)))
        colon = next;
    return colon ? (struct sp_str){s.p, (uint32_t)(colon - s.p)} : s;
}

/* The line of the declaration; 0: it is not known. */
static uint32_t declared(const struct sp_profile *p, uint32_t frame)
{
    const struct sp_func_info *x = sp_frame_known(p, frame);
    return x ? x->line : 0;
}

/* All frames from i to k stand at one address, with inlined ones between. */
static bool one_visit(const struct sp_profile *p, const uint32_t *stack, size_t i, size_t k)
{
    const struct sp_frame *a = &p->frames.v[stack[i]];
    bool inlined = false;
    for (size_t n = i; n <= k; n++) {
        const struct sp_frame *f = &p->frames.v[stack[n]];
        if (!(f->flags & SP_FRAME_IP) || f->ip != a->ip ||
            p->functions.v[f->function].dso != p->functions.v[a->function].dso)
            return false;
        inlined = inlined || f->flags & SP_FRAME_INLINED;
    }
    return inlined;
}

enum sp_sameness sp_same_function(const struct sp_profile *p, const uint32_t *stack, size_t i, size_t k)
{
    const struct sp_frame *a = &p->frames.v[stack[k]], *b = &p->frames.v[stack[i]];
    const unsigned start = SP_FRAME_IP | SP_FRAME_SYMOFF;
    bool inlined = (a->flags | b->flags) & SP_FRAME_INLINED;
    if (a->function != b->function || a->flags & SP_FRAME_UNRESOLVED || one_visit(p, stack, i, k))
        return SP_OTHERS;
    if (!inlined && (a->flags & b->flags & start) == start)
        return a->ip - a->symoff == b->ip - b->symoff ? SP_SAME : SP_OTHERS;
    uint32_t x = declared(p, stack[k]), y = declared(p, stack[i]);
    struct sp_str f = sp_frame_file(p, a), g = sp_frame_file(p, b);
    if (f.n && g.n && sp_str_cmp(f, g) != 0)
        return SP_OTHERS;
    if (x && y)
        return x == y ? SP_SAME : SP_OTHERS;
    bool nameless = is_nameless(sp_pstr(p, p->functions.v[a->function].name));
    return inlined || nameless ? SP_OTHERS : SP_SAMENAME;
}
