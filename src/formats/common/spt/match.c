/*
 * A binary that has the trace's name and another GUID was built at another time; one with the GUID and
 * another age was linked again into the same PDB. A PDB has the name of its binary but for the extension.
 */
#include "formats/common/spt/match.h"

#include "pdb/pdb.h"
#include "symbols/pe.h"

#include <string.h>

/* What the file is, in `verdict` too: OTHER where it has an id to compare. */
static void match_read(struct sp_spt_binary *x, struct sp_diags *d)
{
    struct sp_pe pe;
    struct sp_pdb_id id;
    const char *why = "";
    spaa_status st = sp_pe_read(x->path, d, &pe, NULL);
    x->size = pe.size;
    x->reach = pe.reach;
    if (!st) {
        x->has_rsds = pe.has_rsds;
        x->rsds = pe.rsds;
        x->machine = sp_pe_machine_name(pe.machine);
        memcpy(x->pdb, pe.pdb, sizeof x->pdb);
    } else if (st == SPAA_ERR_INPUT && !(st = sp_pdb_read_id(x->path, d, &id, &why))) {
        x->has_rsds = x->is_pdb = true;
        memcpy(x->rsds.guid, id.guid, sizeof x->rsds.guid);
        x->rsds.age = id.age;
        x->machine = sp_pe_machine_name(id.machine);
    }
    x->why = st == SPAA_ERR_INPUT && strcmp(why, "no PDB") != 0 && strcmp(why, "empty") != 0 ? why : NULL;
    bool cut = (!st && !x->is_pdb && x->reach > x->size) ||
               (st == SPAA_ERR_INPUT && (x->reach > x->size || why == sp_pdb_cut_off));
    x->verdict = cut                    ? SP_SPT_CUT
                 : st == SPAA_ERR_INPUT ? SP_SPT_NO_BINARY
                 : st                   ? SP_SPT_UNREADABLE
                 : x->has_rsds          ? SP_SPT_OTHER
                                        : SP_SPT_NO_RSDS;
}

/* Of an image the whole name counts, of a PDB what stands before the extension. */
static bool match_name(const struct sp_spt_binary *x, struct sp_str program)
{
    struct sp_str base = sp_spt_base_name((struct sp_str){x->path, (uint32_t)strlen(x->path)}),
                  of = sp_spt_base_name(program);
    if (!x->is_pdb)
        return sp_spt_name_is(program, base);
    const char *dot = memrchr(base.p, '.', base.n), *other = of.n ? memrchr(of.p, '.', of.n) : NULL;
    base.n = dot ? (uint32_t)(dot - base.p) : base.n;
    of.n = other ? (uint32_t)(other - of.p) : of.n;
    return base.n == of.n && sp_spt_name_is(of, base);
}

void sp_spt_judge(const struct sp_spt *f, const char *path, struct sp_diags *d, bool *matched,
                  struct sp_spt_binary *x)
{
    *x = (struct sp_spt_binary){.path = path, .program = UINT32_MAX};
    match_read(x, d);
    enum sp_spt_verdict none = x->verdict;
    for (uint32_t i = 0; i < f->nprograms && none <= SP_SPT_NO_RSDS; i++) {
        const struct sp_spt_program *p = &f->programs[i];
        bool same_name = match_name(x, p->name);
        enum sp_spt_verdict v = none;
        if (x->has_rsds && sp_rsds_same_guid(&p->rsds, &x->rsds))
            v = p->rsds.age == x->rsds.age ? SP_SPT_MATCH : SP_SPT_AGE;
        else if (same_name && x->has_rsds)
            v = SP_SPT_GUID;
        if (v == SP_SPT_MATCH)
            matched[i] = true;
        if (v < x->verdict || (v == x->verdict && same_name && x->program == UINT32_MAX)) {
            x->verdict = v;
            x->program = i;
        }
    }
}
