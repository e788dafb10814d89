/* The table of findings: findings.def. */
#include "analysis/findings.h"

enum { BOUND = SP_FINDING_BOUND, COVERS = SP_FINDING_COVERS, CPU = SP_FINDING_CPU, EXACT = SP_FINDING_EXACT };

const struct sp_finding_info sp_finding_infos[SP_FINDINGS] = {
#define SP_FINDING(kind, id, least, group, flags, title, remedy, confirm)                                    \
    [SP_FIND_##kind] = {id, least, SP_FINDING_##group, flags, title, remedy, confirm},
#include "analysis/findings.def"
#undef SP_FINDING
};
