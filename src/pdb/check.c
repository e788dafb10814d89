/* What all parts say alike: what failed, what is damaged, where a place in a section is. */
#include "pdb/private.h"

bool sp_pdb_nomem(struct sp_pdb *p)
{
    if (!p->failed)
        p->failed = sp_nomem(p->d);
    return false;
}

bool sp_pdb_damage(struct sp_pdb *p)
{
    if (p->msf.failed == SPAA_ERR_NOMEM)
        return sp_pdb_nomem(p);
    if (p->msf.failed) {
        p->failed = p->msf.failed;
        return false;
    }
    p->damaged++;
    return true;
}

bool sp_pdb_rva(const struct sp_pdb *p, uint32_t section, uint32_t offset, uint32_t *rva)
{
    if (!section || section > p->sections.n || offset > UINT32_MAX - p->sections.v[section - 1].rva)
        return false;
    *rva = p->sections.v[section - 1].rva + offset;
    return true;
}
