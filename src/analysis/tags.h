/* Labels as frames of the stacks that have them, so that trees, flame graphs and other formats show them. */
#ifndef SP_TAGS_H
#define SP_TAGS_H

#include "model/profile.h"

#define SP_TAG_DSO "[label]"

/*
 * Puts frames of the DSO [label], named KEY:VALUE ([no KEY] where a stack has none), at the root and at the
 * leaf of every stack, by keys joined by commas (NULL: none), the first nearest to the root. Ids that were
 * read no longer fit then, and go. SPAA_ERR_NOT_FOUND, reported, for a key that no context has.
 */
spaa_status sp_tag_stacks(struct sp_profile *p, const char *root_keys, const char *leaf_keys,
                          struct sp_diags *d);
/* A key that no context has, asked for by `option`: says which there are. Returns SPAA_ERR_NOT_FOUND. */
spaa_status sp_no_label(const struct sp_profile *p, const char *option, const char *asked,
                        struct sp_diags *d);

#endif
