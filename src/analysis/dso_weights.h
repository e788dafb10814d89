/* Weights by DSO, heaviest first. */
#ifndef SP_DSO_WEIGHTS_H
#define SP_DSO_WEIGHTS_H

#include "model/profile.h"

struct sp_dso_weight {
    uint32_t dso;
    int64_t weight;
};

struct sp_dso_weights {
    SP_VEC(struct sp_dso_weight) list;
};

/* Of weights by number of DSO, those that are not 0; equal ones by name. False: out of memory. */
bool sp_dso_weights_of(const struct sp_profile *p, const int64_t *weights, struct sp_dso_weights *out);
void sp_dso_weights_free(struct sp_dso_weights *x);

#endif
