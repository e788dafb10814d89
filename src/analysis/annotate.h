/*
 * Where in a function its weight is: by source line, and by address in its code.
 *
 * What is inlined into the function counts at the line of the call in it, and in its self, for it is code of
 * the function; it is named beside. The self of a line is the weight of stacks whose leaf is there, its total
 * that of stacks that go through it, each counted once. A caller that was inferred (model/edges.h) counts in
 * the function's total, but at no line: what it is proven by does not say from where in it it called.
 */
#ifndef SP_ANNOTATE_H
#define SP_ANNOTATE_H

#include "analysis/function_lookup.h"
#include "analysis/places.h"
#include "analysis/select.h"

struct sp_annotated_line {
    uint32_t file; /* number in files */
    uint32_t line; /* 0: not known */
    int64_t self, total, samples, total_samples;
    uint32_t first, n; /* slice of inlined, the heaviest first */
};
/* What is inlined at a line. */
struct sp_annotated_inline {
    uint32_t line; /* number in lines */
    uint32_t function;
    int64_t self, total;
};
/* An instruction, or for a call what stands at the end of it: at - 1 is in it. */
struct sp_annotated_code {
    uint32_t dso;
    bool call;
    uint64_t at;
    int64_t self, total, samples;
};

struct sp_annotation {
    struct sp_places *places;
    SP_VEC(struct sp_source_place) files;   /* line is 0; n 0: not known. The first has most weight */
    SP_VEC(struct sp_annotated_line) lines; /* by file and line */
    SP_VEC(struct sp_annotated_inline) inlined;
    SP_VEC(struct sp_annotated_code) code;       /* by DSO and address; where frames have addresses */
    int64_t self, total, samples, total_samples; /* with what is inlined */
    int64_t own;                                 /* of self: of the function alone */
    int64_t unlined;                             /* of self: whose line is not known */
    int64_t unlined_total;                       /* of total: of stacks in which no line of it is known */
    int64_t inferred;                            /* of unlined_total: no frame of it was recorded there */
};

spaa_status sp_annotate(struct sp_selection *s, const struct sp_function_lookup *lookup,
                        const struct sp_symbol_opts *symbols, struct sp_diags *d, struct sp_annotation *out);
void sp_annotation_free(struct sp_annotation *a);

#endif
