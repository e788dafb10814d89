/*
 * What the files of the builder share: builder.c (the whole, metrics, events, binaries, frames),
 * builder_stacks.c and builder_times.c (samples, windows). What a caller says is checked, and interned as
 * readers do.
 */
#ifndef SP_API_BUILDING_H
#define SP_API_BUILDING_H

#include "api/api.h"

#include "base/buf.h"
#include "base/map.h"
#include "spaa/builder.h"

struct built_metric {
    uint32_t metric, unit;
};
struct spaa_builder {
    struct spaa_profile *s; /* NULL: finished, or out of memory */
    SP_VEC(struct built_metric) metrics;
    struct sp_buf derivations; /* of metrics: members of the header */
    SP_VEC(uint32_t) frames;   /* scratch */
    SP_VEC(struct sp_label) labels;
    SP_VEC(struct sp_weight_field) fields;
    struct sp_map windows;   /* by id */
    SP_VEC(uint32_t) marked; /* per stack: which window had it last, of so many `marks` */
    size_t marks;
    int64_t first_ns, last_ns; /* of samples and windows */
    bool has_times;
};

/*
 * How each call begins and ends. Ready: there is a builder that can be added to, and a place for the result.
 * When memory is exhausted, what was begun is not whole: the profile is lost.
 */
bool sp_build_ready(const struct spaa_builder *b, const void *out);
spaa_status sp_build_not_ready(struct spaa_diagnostics **to);
spaa_status sp_build_end(struct spaa_builder *b, spaa_status st, struct spaa_diagnostics **to);

/* Texts of the profile; NULL is SP_STR_NONE. False: out of memory. */
bool sp_build_text(struct sp_profile *p, const char *s, uint32_t *out);
bool sp_build_seconds(struct sp_profile *p, int64_t ns, uint32_t *out);

/* A pid, tid or cpu: not negative, or absent. */
bool sp_build_is_id(int64_t v);
spaa_status sp_build_check_labels(struct spaa_builder *b, const struct spaa_stack_label *labels, size_t n);
/* Their set; SP_NONE: out of memory. */
uint32_t sp_build_labels(struct spaa_builder *b, const struct spaa_stack_label *labels, size_t n);
spaa_status sp_build_check_weights(struct spaa_builder *b, const struct spaa_stack_weight *w, size_t n);

#endif
