/*
 * Hang reports as people paste them into issues and chats: between the lines of a Markdown code fence, with
 * words around it.
 *
 *     Here it hangs:
 *     ```text
 *     Process:          Editor [412]
 *     ```
 */
#ifndef SP_HANG_FENCES_H
#define SP_HANG_FENCES_H

#include "base/diag.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_hang_fences {
    bool any, inside;
    uint64_t outside; /* lines around them that were not empty */
};

/* Of a text, or of its beginning. */
struct sp_hang_fences sp_hang_fences_of(const char *p, size_t n);
/* Of each line in its order: whether it is a fence, or stands outside of them. */
bool sp_hang_fences_skip(struct sp_hang_fences *f, struct sp_span line);
/* When all was read: what was left out around them. */
void sp_hang_fences_say(const struct sp_hang_fences *f, struct sp_diags *d);

#endif
