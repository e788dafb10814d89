/* What the files of merging share. */
#ifndef SP_MERGE_PRIVATE_H
#define SP_MERGE_PRIVATE_H

#include "model/facts.h"
#include "model/merge.h"

/* `exclusive` of a stack while it is being added up: its values are in `own`. */
#define SP_EXCLUSIVE_OWN 2u

/* An input that says what is live at a moment, by what its process is known by; 0: not known. */
struct sp_snapshot {
    uint64_t host, command, program, places, pid;
    uint64_t n; /* inputs that may be of this process */
};

/* That an input has a binary which has no build-id (file 0), or text of a file of it, by hashes. */
struct sp_source_seen {
    uint64_t binary, file;
};

struct sp_merger {
    struct sp_merge_opts opts;
    struct sp_diags *d;
    struct sp_profile *p;
    bool any; /* an input was added */
    /*
     * Exclusive weights that are not the stack's own: columns and texts under the same numbers of stacks and
     * metrics. NULL until there are any.
     */
    struct sp_profile *own;
    struct sp_map dsos, frames; /* by what makes two records one, which is less than their content */
    struct sp_map pairs;        /* linked stacks, by both; single ones are in p */
    /* Layouts united before: most records with other metrics than what is there are alike. */
    struct {
        uint32_t a, b, both;
    } united[16];
    size_t stale;                                   /* bytes of texts of sums that were added to since */
    uint64_t samples_left, windows_left, text_left; /* left out */
    uint64_t links_left, kernel_left;
    bool beyond; /* a sum left 64 bits */
    bool units_differ;
    SP_VEC(struct sp_snapshot) snapshots;
    SP_VEC(struct sp_source_seen) sources;
};

/* One input on its way in: numbers of its tables to numbers of the whole. */
struct sp_absorber {
    struct sp_merger *m;
    struct sp_profile *to;
    const struct sp_profile *from;
    const struct sp_profile *from_own; /* when `from` is the whole so far, made coarser: its `own` */
    struct sp_diags *d;
    uint32_t source; /* x_source for records that must stay apart */
    uint32_t *strs, *events, *metrics, *dsos, *functions, *frames, *contexts, *layouts, *stacks, *edges;
    bool nomem;
};

/* merge_texts.c */
uint32_t sp_absorb_str(struct sp_absorber *a, uint32_t s);
uint32_t sp_absorb_text(struct sp_absorber *a, uint32_t s); /* the same; empty is absent */
/* The texts among the fields of a row that was copied. */
void sp_absorb_facts(struct sp_absorber *a, const struct sp_fact *facts, void *row);
/* What differs is absent, and stays so. */
static inline void sp_meet(uint32_t *have, uint32_t next)
{
    if (*have != next)
        *have = SP_STR_NONE;
}
/* Total order of two texts of the whole, absent first. */
int sp_merge_text_cmp(const struct sp_profile *p, uint32_t a, uint32_t b);
/* The sum of two number texts; SP_STR_NONE with *st set where it cannot be had. */
uint32_t sp_merge_add_texts(struct sp_merger *m, uint32_t a, uint32_t b, spaa_status *st);

/* merge_snapshots.c: notes an input; false: out of memory. Then warns of those that may be of one process. */
bool sp_merge_note_snapshot(struct sp_merger *m, const struct sp_profile *from);
void sp_merge_say_snapshots(const struct sp_merger *m);

/* merge_sources.c: notes what source text an input has; false: out of memory. Then leaves out what may be of
 * another build, and says so; before the pieces are settled. */
bool sp_merge_note_sources(struct sp_merger *m, const struct sp_profile *from);
void sp_merge_drop_sources(struct sp_merger *m);

/* merge_header.c */
void sp_absorb_header(struct sp_absorber *a, bool first);
/* merged: the input is what was added up so far. */
spaa_status sp_absorb_duration(struct sp_absorber *a, bool first, bool merged);
spaa_status sp_absorb_events(struct sp_absorber *a);
unsigned sp_stated_groups(const struct sp_profile *p); /* what the records of a file are grouped by */

/* merge_dictionary.c */
spaa_status sp_absorb_dictionary(struct sp_absorber *a);

/* merge_stacks.c */
spaa_status sp_absorb_layouts(struct sp_absorber *a);
spaa_status sp_absorb_stacks(struct sp_absorber *a);
/* The values of a list of `from` in the order of the whole's layout. */
struct sp_value sp_absorb_value(struct sp_absorber *a, uint32_t layout, uint32_t first, uint32_t metric);
/* Adds, or takes the larger or smaller one, as the vocabulary says; `text` for SP_DECIMAL. */
spaa_status sp_merge_weight(struct sp_merger *m, struct sp_profile *p, uint32_t stack, uint32_t metric,
                            int64_t v, struct sp_str text);

/* merge_rest.c */
spaa_status sp_absorb_rest(struct sp_absorber *a);
spaa_status sp_merge_exclusives(struct sp_merger *m);
spaa_status sp_merge_sort_rest(struct sp_merger *m);

#endif
