/* Parts of the validator: validate.c goes through the text, validate_graph.c through the call graph,
 * validate_members.c checks what stands around that. */
#ifndef SP_CODEGURU_VALIDATE_H
#define SP_CODEGURU_VALIDATE_H

#include "formats/codeguru/codeguru.h"

#define SP_CG_DIGITS 18
#define SP_CG_ONE    INT64_C(1000000000000000000) /* 10^SP_CG_DIGITS */

struct sp_cg_counter {
    uint32_t name; /* number in `names` */
    __int128 sum;  /* in units of 10^-18, of which 2^63 counts are not too many; capped there */
    bool too_much; /* it was capped */
};

struct sp_cg_check {
    struct sp_diags *d;
    struct sp_json j;
    struct sp_strtab names; /* of nodes and counters */
    SP_VEC(struct sp_cg_counter) counters;
    SP_VEC(uint32_t) seen; /* by number in `names`: the search for names that stand twice that met it last */
    uint32_t searches;     /* begin one with ++ */
    bool nomem;
    const char *line_at; /* how far lines were counted, and how many there were */
    uint64_t lines;
};

/* A finding at a place of the text, with its line; `path` is where in the JSON it stands. */
void sp_cg_find(struct sp_cg_check *c, enum sp_code code, const char *at, const char *path, const char *hint,
                const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Whether reports with this code are still kept: paths need not be made for others. */
bool sp_cg_wanted(const struct sp_cg_check *c, enum sp_code code);

/* Whether this search met the name with this number before. Out of memory: noted in `nomem`. */
bool sp_cg_again(struct sp_cg_check *c, uint32_t search, uint32_t name);

/* The call graph, the cursor at its object. *counted: some count is not zero. `where`: the node in which it
 * is no JSON from somewhere on. */
spaa_status sp_cg_check_graph(struct sp_cg_check *c, struct sp_input *in, bool *counted,
                              struct sp_buf *where);

struct sp_cg_time {
    const char *at; /* NULL: the member is not there, or is no number */
    bool no_number; /* it is there, and was found to be none */
    int64_t ms;
};
/* start or end, the cursor at its value. */
bool sp_cg_check_time(struct sp_cg_check *c, const char *name, struct sp_cg_time *t);
void sp_cg_check_times(struct sp_cg_check *c, const struct sp_cg_time *start, const struct sp_cg_time *end);
/* agentMetadata, raw; after the call graph was counted. */
void sp_cg_check_agent(struct sp_cg_check *c, struct sp_span raw, int64_t ms);

#endif
