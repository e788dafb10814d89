/* What names of functions say of waits: wait_reasons.def. */
#ifndef SP_WAIT_RULE_H
#define SP_WAIT_RULE_H

#include "analysis/wait_reason.h"
#include "base/buf.h"

struct sp_wait_rule {
    const char *name; /* a `*` at the end: any rest */
    uint8_t reason;   /* enum sp_wait_reason */
    uint8_t rank;
    bool kernel, image, idle, unsure;
};

extern const struct sp_wait_rule sp_wait_rules[]; /* name NULL ends */

/* The rule of the highest rank for a function; NULL: none. `scratch` is overwritten; it may fail. */
const struct sp_wait_rule *sp_wait_rule_of(struct sp_str name, bool kernel, struct sp_buf *scratch);

/* Of a function of a profile: by its name, of the kernel's else by its image. */
const struct sp_wait_rule *sp_wait_rule_of_function(const struct sp_profile *p, uint32_t function,
                                                    bool kernel, struct sp_buf *scratch);

/* A library's function as people call it: "lll_lock_wait" of __GI___lll_lock_wait. Lent of name, or
 * scratch's. */
struct sp_str sp_wait_call_name(struct sp_str name, bool kernel, struct sp_buf *scratch);

#endif
