/*
 * Parts of a text that stand there again in the same bytes, as texts that were put together have them: they
 * are counted once.
 */
#ifndef SP_HANG_REPEATS_H
#define SP_HANG_REPEATS_H

#include "base/map.h"
#include "base/vec.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_hang_part {
    const char *from, *to; /* without the blank lines at its end */
    uint64_t scope;
};

struct sp_hang_repeats {
    SP_VEC(struct sp_hang_part) parts;
    SP_VEC(struct sp_hang_part) again; /* in the order of the text; none lies within another */
    struct sp_map by_text;
    size_t at; /* in again: what follows, as lines are read */
};

void sp_hang_repeats_free(struct sp_hang_repeats *r);
/* A part of the text, in the order of their ends; parts of one scope are compared. *again: one of them has
 * the same bytes. False: no memory; of the next one, too. */
bool sp_hang_repeats_add(struct sp_hang_repeats *r, const char *from, const char *to, uint64_t scope,
                         bool *again);
/* What is known to stand there again. */
bool sp_hang_repeats_push(struct sp_hang_repeats *r, const char *from, const char *to);
/* Of each line in its order: whether it lies in such a part. *begins: it is the first one read of it. */
bool sp_hang_repeats_skip(struct sp_hang_repeats *r, const char *line, bool *begins);

#endif
