/* annotate --ratio: ratios of the function and of its lines. Of instructions samples are too few, and skid.
 */
#include "ask/annotate.h"
#include "ask/symbol_options.h"

#include <stdlib.h>

/* The number among x's files of one of another annotation; SP_NONE: x has it not. */
static uint32_t ratio_file(const struct sp_annotate *x, const struct sp_source_place *at)
{
    for (uint32_t i = 0; i < x->a.files.n; i++) {
        const struct sp_source_place *f = &x->a.files.v[i];
        bool path = f->path && at->path ? strcmp(f->path, at->path) == 0 : !f->path == !at->path;
        if (path && sp_str_cmp(f->file, at->file) == 0)
            return i;
    }
    return SP_NONE;
}

static void ratio_add(struct sp_ratio_part *part, bool per, const struct sp_annotated_line *l)
{
    if (per) {
        part->self.per += l->self;
        part->self.per_samples = l->samples;
        part->total.per += l->total;
        part->total.per_samples = l->total_samples;
    } else {
        part->self.of += l->self;
        part->self.of_samples = l->samples;
        part->total.of += l->total;
        part->total.of_samples = l->total_samples;
    }
}

/* The lines and the whole of one of a ratio's events. */
static spaa_status ratio_take(struct sp_annotate *x, size_t k, bool per)
{
    struct sp_ratio_asked *asked = &x->ratios.v[k];
    struct sp_symbol_opts symbols = sp_symbol_options(x->asked.q->options);
    struct sp_annotation other;
    spaa_status st =
        sp_annotate(per ? &asked->per : &asked->of, &x->lookup, &symbols, x->asked.q->diags, &other);
    if (st)
        return st;
    struct sp_annotated_line whole = {.self = other.self,
                                      .total = other.total,
                                      .samples = other.samples,
                                      .total_samples = other.total_samples};
    ratio_add(&x->ratio_whole[k], per, &whole);
    for (size_t i = 0; i < other.lines.n; i++) {
        const struct sp_annotated_line *l = &other.lines.v[i];
        uint32_t file = ratio_file(x, &other.files.v[l->file]);
        const struct sp_annotated_line *mine = file == SP_NONE ? NULL : sp_annotate_line(x, file, l->line);
        if (mine)
            ratio_add(&x->ratio_lines[(size_t)(mine - x->a.lines.v) * x->ratios.n + k], per, l);
    }
    sp_annotation_free(&other);
    return SPAA_OK;
}

spaa_status sp_annotate_ratios(struct sp_annotate *x)
{
    struct sp_diags *d = x->asked.q->diags;
    const struct sp_options *o = x->asked.q->options;
    if (o->ratios.n && o->assembly)
        return sp_usage(d, "leave out --asm", "--ratio is of lines, not of instructions");
    if (o->ratios.n && o->annotate_base)
        return sp_usage(d, "ask it of each version by itself", "--ratio is of one version, --diff shows two");
    spaa_status st = sp_ratios_of(&x->asked, &x->ratios);
    if (st || !x->ratios.n)
        return st;
    x->ratio_lines = calloc(x->a.lines.n * x->ratios.n + 1, sizeof *x->ratio_lines);
    if (!x->ratio_lines)
        return sp_nomem(d);
    for (size_t k = 0; !st && k < x->ratios.n; k++) {
        st = ratio_take(x, k, false);
        if (!st)
            st = ratio_take(x, k, true);
    }
    return st;
}

void sp_annotate_put_ratios(struct sp_annotate *x, struct sp_answer_table *t, size_t first,
                            const struct sp_annotated_line *l)
{
    for (size_t k = 0; k < x->ratios.n; k++)
        sp_ratios_put(&x->asked, &x->ratios, t, first, k,
                      &x->ratio_lines[(size_t)(l - x->a.lines.v) * x->ratios.n + k]);
}
