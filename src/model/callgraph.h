/* How a recording's callchains were walked, by the command that made it. */
#ifndef SP_CALLGRAPH_H
#define SP_CALLGRAPH_H

#include "model/profile.h"

enum sp_callgraph {
    SP_CALLGRAPH_NOT_TOLD,
    SP_CALLGRAPH_POINTERS, /* by frame pointers */
    SP_CALLGRAPH_COPIES,   /* unwound from copies of stacks */
    SP_CALLGRAPH_BRANCHES, /* from the CPU's record of calls */
};

/* What perf calls them: "fp", "dwarf", "lbr". */
extern const char *const sp_callgraph_names[];
/* Of perf's options: `-g`, `--call-graph MODE`; the last one counts, as it does for perf. */
enum sp_callgraph sp_callgraph_of(const struct sp_profile *p);

#endif
