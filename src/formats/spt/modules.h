/*
 * What SPT calls the binaries of a profile: by GUID and age, of whatever says which build it is.
 *
 * - GUID and age of a PDB, as Windows' build-ids are: as they stand.
 * - 32 digits, a UUID as Mach-O files have it: that, and age 0.
 * - Other build-ids, those of ELF files: a GUID of their first 16 bytes (shorter ones with zeros behind them)
 *   and age 0, as Breakpad makes them; files are recognised by it (symbols/build_id.c).
 * - None, or addresses that are offsets in a file that was not there: no GUID (all zeros) and age 0, and the
 *   whole path as its name. Nothing matches that, so that no names come of what are no RVAs.
 *
 * What is in no file (`[unknown]`, `[anon]`, `[jit]`, …) is no module.
 */
#ifndef SP_SPT_MODULES_H
#define SP_SPT_MODULES_H

#include "formats/format.h"
#include "symbols/rsds.h"

enum sp_spt_fate { SP_SPT_OUT /* not asked for */, SP_SPT_IN, SP_SPT_NO_MODULE };
enum sp_spt_known_by { SP_SPT_BY_PDB, SP_SPT_BY_UUID, SP_SPT_BY_BUILD_ID, SP_SPT_BY_NAME, SP_SPT_BY_OFFSETS };

struct sp_spt_module {
    enum sp_spt_fate fate;
    enum sp_spt_known_by known_by;
    uint32_t program;                /* the writer's */
    uint64_t lost_hits, lost_frames; /* of NO_MODULE: samples, and frames of call stacks */
    struct sp_rsds rsds;
    bool used;
};

struct sp_spt_modules {
    const struct sp_profile *p;
    struct sp_spt_module *v; /* by DSO */
    bool from_spt;
};

/*
 * Judges all DSOs by the options --binary NAME (repeated, or names between commas) and --no-kernel.
 * SPAA_ERR_USAGE, reported: a NAME that is not there or no module. Freed by the caller either way.
 */
spaa_status sp_spt_modules_new(const struct sp_profile *p, const struct sp_write_opts *opts,
                               struct sp_diags *d, struct sp_spt_modules *out);
void sp_spt_modules_free(struct sp_spt_modules *m); /* a zeroed one is fine */
/* What it is written as. */
struct sp_str sp_spt_module_name(const struct sp_spt_modules *m, uint32_t dso);
/* Says what was left out, and which of those that were used have what for a GUID; false: out of memory. */
bool sp_spt_modules_report(const struct sp_spt_modules *m, struct sp_diags *d);

#endif
