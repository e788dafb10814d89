/* Which program of a trace a binary or a PDB is of: by GUID and age, which SPDConvert and the linker compare.
 */
#ifndef SP_SPT_MATCH_H
#define SP_SPT_MATCH_H

#include "formats/common/spt/spt.h"
#include "formats/common/spt/tally.h"

enum sp_spt_verdict {
    SP_SPT_MATCH,
    SP_SPT_AGE,   /* linked again into the same PDB */
    SP_SPT_GUID,  /* the name is in the trace, the build is another */
    SP_SPT_OTHER, /* not in the trace */
    SP_SPT_NO_RSDS,
    SP_SPT_CUT,       /* a part of an image or a PDB: nothing can be told, whatever id it has */
    SP_SPT_NO_BINARY, /* neither a PE image nor a PDB */
    SP_SPT_UNREADABLE,
};

struct sp_spt_binary {
    const char *path;
    bool is_pdb, has_rsds;
    struct sp_rsds rsds;
    const char *machine;  /* NULL: not known */
    char pdb[260];        /* of an image: where its PDB was */
    const char *why;      /* NO_BINARY, CUT: what it is, if it looks like a PDB; else NULL */
    uint64_t size, reach; /* of an image: as struct sp_pe's */
    enum sp_spt_verdict verdict;
    uint32_t program; /* the one it was compared with; UINT32_MAX: none */
};

/* The path is borrowed. matched: by program; set where it is found. */
void sp_spt_judge(const struct sp_spt *f, const char *path, struct sp_diags *d, bool *matched,
                  struct sp_spt_binary *out);

#endif
