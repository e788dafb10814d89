/*
 * The keys of an aggregation's records: what they are called (--keys), the context they make up, and how they
 * lie.
 *
 * Names that SPAA has fields for go there: execname and comm, pid, tid, cpu (as far as the profile is grouped
 * by them), uid and zonename; others under the format's namespace, unnamed ones as its `keys` list.
 */
#ifndef SP_AGGREGATION_KEYS_H
#define SP_AGGREGATION_KEYS_H

#include "base/buf.h"
#include "formats/common/aggregation/aggregation.h"
#include "formats/format.h"

enum { SP_AGG_KEYS_MAX = 16, SP_AGG_STACKS_MAX = 8 };

struct sp_agg_key {
    uint32_t text;   /* number of the profile's strs */
    uint32_t stacks; /* how many stacks stand before it */
    bool is_number;
};

enum { SP_AGG_KEYS_FEW = 4 };
struct sp_agg_keys_known {
    uint32_t event, n, stacks;
    uint32_t context; /* + 1; 0: an empty place */
    struct {
        uint32_t text, stacks;
    } list[SP_AGG_KEYS_FEW];
};

struct sp_agg_keys {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    const char *namespace;                                    /* "x_dtrace" */
    struct sp_str names[SP_AGG_KEYS_MAX + SP_AGG_STACKS_MAX]; /* of --keys; they point into the options */
    uint8_t name_side[SP_AGG_KEYS_MAX + SP_AGG_STACKS_MAX]; /* enum sp_agg_side + 1 of stacks, 0: a scalar */
    size_t nnames;
    uint8_t stack_type; /* of stacks without a name */

    struct sp_agg_key list[SP_AGG_KEYS_MAX]; /* of the record in work */
    uint32_t n, stacks;
    uint32_t shape; /* "string,stack,number" of the longest record */
    uint32_t shape_size;
    struct sp_agg_keys_known known[256]; /* contexts of few keys, by hash */
    bool misfit_said;
};

/* Reads --keys and --stack-type of the options; SPAA_ERR_USAGE is reported. */
spaa_status sp_agg_keys_init(struct sp_agg_keys *k, struct sp_profile *p, const struct sp_read_opts *opts,
                             const char *namespace, struct sp_diags *d);
/* Adds a scalar key to the record in work; false: out of memory. More than SP_AGG_KEYS_MAX are an error,
 * said. */
bool sp_agg_key_add(struct sp_agg_keys *k, const char *p, size_t n);
/* The side of the stack at a place, by its name or --stack-type. */
enum sp_agg_side sp_agg_keys_side(const struct sp_agg_keys *k, uint32_t place);
/* How many stacks --keys names. */
uint32_t sp_agg_keys_stacks(const struct sp_agg_keys *k);
/* The context of the record in work; SP_NONE when memory is out. `line` is for diagnostics. */
uint32_t sp_agg_keys_context(struct sp_agg_keys *k, uint32_t event, uint64_t line);
/* Grouping that the names allow: for the header. */
unsigned sp_agg_keys_groups(const struct sp_agg_keys *k);
/* Appends `"keys":[…]`: the names, or where there are none the shape. */
void sp_agg_keys_header(const struct sp_agg_keys *k, struct sp_buf *out);
/* A note on the shape, where keys have no names. */
void sp_agg_keys_say(const struct sp_agg_keys *k, const char *example);

#endif
