/*
 * What makes a function one function: its name, its DSO, and what tells it from others of that name there in
 * every build of the program (`tells`):
 *
 *   the linkage name, where it says more than the name: `_Z4hashi` of `hash`, but not `hash` of `hash`, and
 * not
 *   `_Z4hashi` of `hash(int)`, which shows its parameters;
 *   of a function that other files may have too (static, in an anonymous namespace), `@` and the base name of
 *   the file that declares it: `@table.c`, `_ZL4hashi@table.cpp` of `hash`; or its path, where formats know
 *   files but no symbols (SP_FUNC_PATH): `@lib/a/index.js`.
 *
 * Never a line or an address; nothing where nothing more than the name is known. Parts of a function that
 * compilers set aside (`.cold`, `.isra.0`) and tiers of just-in-time compilers are that function: linkage
 * names count without them, and names are shown without them. Linkage names of Rust say nothing more than
 * the names they are shown as: what they have beside are hashes, which change with the compiler and with
 * versions of crates.
 *
 * What is still equal, two static functions in two files of one name, is told apart by where it starts,
 * within one build only: the DSO must have a build-id. That address is no part of `tells`, nor of ids: of two
 * builds such functions cannot be told apart. Of a function of which there are forms alone (`.constprop.0`)
 * that is where the first of them starts. What has no start (inlined) belongs to the one that starts first,
 * what was set aside (`.cold`, `.part.0`) to the one that starts where it says, else to the same one
 * (sp_functions_settle), so that the order of records makes no difference.
 */
#ifndef SP_MODEL_FUNCTIONS_H
#define SP_MODEL_FUNCTIONS_H

#include "base/buf.h"
#include "model/tables.h"

/* ---- names ---- */

/* A name as it is shown: without parts (`.cold`, ` [clone .isra.0]`, ` (.cold)`) and tiers. A slice of it. */
struct sp_str sp_function_shown(struct sp_str demangled);
/*
 * What formats without a sign for it write in place of a name: nothing, `[unknown]`, `??`, an address. Frames
 * of such a name are SP_FRAME_UNRESOLVED.
 */
bool sp_is_no_name(struct sp_str name);
/* A linkage name without parts, and its parts alone. Slices of it. */
struct sp_str sp_linkage_whole(struct sp_str linkage);
static inline struct sp_str sp_linkage_parts(struct sp_str linkage)
{
    uint32_t n = sp_linkage_whole(linkage).n;
    return (struct sp_str){linkage.p + n, linkage.n - n};
}

/*
 * A name of Rust's first mangling, `_ZN3app4work17h0123456789abcdefE`. Instances of one generic function
 * differ in the hash alone, which another compiler, or another version of a crate, makes anew.
 */
bool sp_linkage_is_hashed(struct sp_str linkage);

/* ---- making them ---- */

/* The number of a function of which nothing more than the name is known; SP_NONE: out of memory. */
uint32_t sp_function_intern(struct sp_profile *p, uint32_t name, uint32_t dso);
/*
 * The function of a frame with such info (an sp_frame.info). Of what is known of it by several frames, that
 * which says most becomes its own (sp_function.info).
 */
uint32_t sp_function_known(struct sp_profile *p, uint32_t name, uint32_t dso, uint32_t info);
/*
 * Sets function and info of a frame. At coarser grain than addresses what tells parts of a function apart is
 * left out; where functions make frames, the function alone has the info. info: as of sp_func_info_intern.
 * False: out of memory.
 */
bool sp_frame_set_function(struct sp_profile *p, struct sp_frame *f, uint32_t name, uint32_t dso,
                           const struct sp_func_info *info, enum sp_granularity grain);
/* What sp_frame.info is to be; 0 where nothing is known; SP_NONE: out of memory. */
uint32_t sp_func_info_intern(struct sp_profile *p, const struct sp_func_info *info);
/* The text for sp_function.tells; SP_STR_FAIL: out of memory. */
uint32_t sp_function_tells(struct sp_profile *p, uint32_t name, uint32_t info);
/* After the last frame, see above; frames keep their numbers. False: out of memory. */
bool sp_functions_settle(struct sp_profile *p);

/* ---- what is known ---- */

/* Of the frame, else of its function; NULL: nothing. */
const struct sp_func_info *sp_frame_known(const struct sp_profile *p, uint32_t frame);
/* Of a function; NULL: nothing. */
static inline const struct sp_func_info *sp_function_info(const struct sp_profile *p, uint32_t function)
{
    uint32_t info = p->functions.v[function].info;
    return info ? &p->func_infos.v[info - 1] : NULL;
}
/* The symbol of a frame: its linkage name with parts, else the name of its function. */
struct sp_str sp_frame_symbol(const struct sp_profile *p, uint32_t frame);
/* The file that tells a function from others of its name, as tells has it; n 0: none does. */
struct sp_str sp_function_file(const struct sp_profile *p, uint32_t function);
/* Where a function starts, if that tells it from others of its name; false: it does not. */
bool sp_function_start(const struct sp_profile *p, uint32_t function, uint64_t *start);
/* Total order of two infos (1 + number, 0: none) by content, what says more first. */
int sp_func_info_cmp(const struct sp_profile *p, uint32_t a, uint32_t b);
/*
 * Name and parts as demanglers write them, for formats that print symbols: `f.cold`, `f(int) [clone .cold]`.
 */
void sp_put_symbol_shown(struct sp_buf *out, const struct sp_profile *p, uint32_t frame);

#endif
