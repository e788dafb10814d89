/* What all rows of a top have alike, or have from another column: people need not be shown it. */
#ifndef SP_TOP_SAME_H
#define SP_TOP_SAME_H

#include "analysis/top.h"

/* False: samples of the first rows are to those of the whole as their weights are, and say what self% says.
 */
bool sp_top_samples_tell(const struct sp_top *t, const struct sp_selection *s, size_t limit);
/* The binary of the first rows; SP_NONE: they are of several, of builds of one name, or hardly any. */
uint32_t sp_top_only_dso(const struct sp_top *t, size_t limit);

#endif
