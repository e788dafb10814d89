/*
 * Objects without members that stand twice: of those with one key the first is kept.
 *
 * A walk over a text that writes it anew, or only looks when `out` is NULL. Who knows the objects steps
 * through them by next_key; walk_any takes any value, however deep it nests.
 */
#ifndef SP_JSON_UNIQUE_H
#define SP_JSON_UNIQUE_H

#include "base/diag.h"
#include "base/map.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "json/json.h"

struct sp_unique_level {
    size_t keys;
    bool object, any; /* any: something stands in it already */
};

struct sp_unique {
    struct sp_json j;
    struct sp_buf *out; /* NULL: only looking */
    struct sp_buf key;  /* of the member that the walk stands at */
    bool wrong;         /* something would be left out */
    bool failed;        /* out of memory */
    SP_VEC(uint64_t)
    keys; /* of the open objects, by hash, the innermost last, each behind the object's number */
    uint64_t objects;
    struct sp_map many; /* positions in `keys`: those of objects with many members, behind the first few */
    SP_VEC(struct sp_unique_level) levels;
    void (*twice)(void *arg); /* while writing: the member at `key` is left out */
    void *arg;
};

void sp_unique_init(struct sp_unique *u, void (*twice)(void *arg), void *arg);
void sp_unique_reset(struct sp_unique *u, struct sp_span text); /* to its start */
bool sp_unique_failed(const struct sp_unique *u); /* for want of memory, which ends a walk as bad JSON does */
void sp_unique_free(struct sp_unique *u);

void sp_unique_put(struct sp_unique *u, const char *p, size_t n);
/* A prefix and a key into u->key; the cursor lends keys for a moment only. */
bool sp_unique_hold(struct sp_unique *u, const char *prefix, struct sp_span key);
/* Where the keys of an object that is entered start; they end at that - 1 when it is closed. */
size_t sp_unique_first_key(struct sp_unique *u);
/* Whether the key held stands in the object already, whose keys are those from `from` on; else it does now.
 */
bool sp_unique_seen(struct sp_unique *u, size_t from);
/* The comma before a member and its key. */
void sp_unique_put_key(struct sp_unique *u, bool first);
/* The key of the next member that does not stand in the object yet, into u->key. */
bool sp_unique_next_key(struct sp_unique *u, size_t from);
/* Any value. */
bool sp_unique_walk_any(struct sp_unique *u);

/* A whole text, interned; what is left out is reported. A text that is no JSON stays as it is. */
uint32_t sp_unique_text(struct sp_strtab *to, struct sp_span text, struct sp_diags *d);

#endif
