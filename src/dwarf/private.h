/*
 * What the parts of the DWARF reader share.
 *
 *   cursor.c  bytes of a section
 *   file.c    the debug sections of an ELF file or Mach-O image, inflated where they are compressed
 *   headers.c the headers of its units
 *   other.c   paths of other files, and what all parts say alike
 *   damage.c  what is told of damage
 *   alt.c     dwz's common file
 *   form.c    values of attributes; abbreviations
 *   split.c   .dwo and .dwp files
 *   unit.c    what the first entries of units say, and the addresses they cover
 *   ranges.c  lists of address ranges
 *   reach.c   which of many stretches reaches over an address
 *   lines.c   line number programs
 *   inlines.c one walk over a unit's entries: its functions and what is inlined into them
 *   entry.c   what an entry says, and those that stand in it
 *   functions.c  what entries say of a function
 *   names.c   the names of functions that are linked by none
 *   dwarf.c   the question
 *
 * Every offset from the file is checked where it is used: a cursor that would leave its section becomes
 * bad and gives zeros from then on.
 */
#ifndef SP_DWARF_PRIVATE_H
#define SP_DWARF_PRIVATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "dwarf/dwarf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

enum sp_dw_section {
    DW_INFO,
    DW_ABBREV,
    DW_STR,
    DW_LINE,
    DW_LINE_STR,
    DW_RANGES,
    DW_RNGLISTS,
    DW_ADDR,
    DW_STR_OFFSETS,
    DW_ARANGES,
    DW_CU_INDEX, /* of a .dwp */
    DW_SECTIONS,
    DW_ALTLINK = DW_SECTIONS /* .gnu_debugaltlink, which is only told of */
};

struct sp_dw_bytes {
    const unsigned char *p;
    size_t n;
    size_t text; /* of strings: where the last one ends */
};

struct sp_dw_abbrevs;

/* One file: the one asked about, a .dwo, a .dwp, dwz's common one. */
struct sp_dw_file {
    const char *path;
    dev_t dev; /* which file it is, whatever it is called */
    ino_t ino;
    atomic_size_t spent[DW_SECTIONS]; /* bytes of a section that were read, as often as they were */
    uint64_t inflatable;              /* bytes that compressed sections may still hold */
    bool excess;                      /* one holds more */
    atomic_uint
        lacking; /* a bit for each section that is not there, or not all or not sound, and is needed */
    atomic_size_t damaged; /* units and line tables that cannot be used */
    uint64_t base;     /* Mach-O: where the image begins, which addresses that are asked about count from */
    bool big;          /* big-endian */
    bool split;        /* .dwo or .dwp */
    bool no_addresses; /* .debug_addr holds but zeros, or ones */
    bool unlinked;     /* addresses in it would have to be relocated first */
    struct sp_dw_bytes sec[DW_SECTIONS];
    void *owned[DW_SECTIONS];
    SP_VEC(struct sp_dw_unit) units; /* in order of their offset */
    char build_id[129];
    char altlink[1024], alt_id[129]; /* dwz's common file; "": none */
    struct sp_dw_file *alt;
    bool alt_tried;
};

/* Which parts of a .dwp's sections belong to a unit. */
struct sp_dw_parts {
    struct {
        uint64_t off, n;
    } info, abbrev, str_offsets, rnglists;
};

enum sp_dw_state { DW_NEW, DW_BUILT };

struct sp_dw_line_row {
    uint64_t addr;
    uint32_t line; /* 0: nothing known from here on */
    uint16_t file, column;
};
struct sp_dw_file_name {
    const char *name;
    const char *dir;    /* NULL: the directory of the compilation */
    const char *source; /* NULL: not embedded */
};
/* Where a stretch of addresses ends, among others that begin in order: reach.c. */
struct sp_dw_reach {
    uint64_t hi, max; /* max: the highest hi of those that end here in a tree of stretches */
};
/* A stretch of rows with ascending addresses; a row holds to the next one, the last to hi. */
struct sp_dw_sequence {
    uint64_t lo;
    struct sp_dw_reach reach;
    size_t first, n;
};
/* A line table, which units may share. */
struct sp_dw_lines {
    pthread_mutex_t lock;        /* guards the reading of it */
    const struct sp_dw_unit *of; /* the first unit that asked for it */
    SP_VEC(struct sp_dw_line_row) rows;
    SP_VEC(struct sp_dw_sequence) sequences; /* by lo */
    SP_VEC(struct sp_dw_file_name) files;    /* by the numbers that rows and call_file have */
    const char *comp_dir;
    bool named; /* files are there */
    bool built; /* and rows */
    bool damaged;
};

/* A function, or one inlined at a place. */
struct sp_dw_node {
    uint64_t die; /* its entry in the unit's file; of one inlined the function's, where that is in the file */
    uint64_t entry;  /* lowest address */
    uint32_t parent; /* what it is inlined into; DW_NO_NODE: nothing, it is a function of its own */
    uint32_t call_line;
    uint32_t call_file, call_column;
};
#define DW_NO_NODE UINT32_MAX

/* Code of its own of a function that is inlined elsewhere. */
struct sp_dw_copy {
    uint64_t die;   /* the function's entry, which both refer to */
    uint64_t entry; /* lowest address of the code */
};

/* An entry that what stands in it is named by: a namespace, a class, a function. */
struct sp_dw_scope {
    uint64_t die, end; /* where its entry begins, and what is in it ends */
    uint32_t parent;   /* DW_NO_NODE: none */
    uint16_t tag;
};

struct sp_dw_inlines {
    SP_VEC(struct sp_dw_node) nodes;
    SP_VEC(struct sp_dw_scope) scopes; /* by die */
    bool typed;                        /* functions have parameters */
    SP_VEC(struct sp_dw_copy) copies;  /* by die and entry */
    SP_VEC(uint64_t) seg;              /* starts of disjoint stretches of addresses, ascending */
    SP_VEC(uint32_t) seg_node;         /* the innermost node of each, or DW_NO_NODE */
    bool built;
};

struct sp_dw_unit {
    struct sp_dw_file *f;
    uint64_t off, end, die; /* in .debug_info: header, end, first entry */
    uint64_t abbrev_off;    /* absolute */
    uint8_t version, addr_size, off_size, type;
    uint16_t tag, language;
    bool old_lambdas; /* numbered one after the other, whatever their parameters */
    bool has_lines, has_ranges, damaged, rooted;
    /* Absolute offsets into their sections. */
    uint64_t str_base, addr_base, rng_base, ranges_base, line_off;
    uint64_t low_pc, high_pc; /* low_pc is the base of its ranges */
    uint64_t dwo_id;
    const char *comp_dir, *name, *dwo_name;
    struct sp_dw_parts parts;          /* of a .dwp; info.n 0: the whole file is its own */
    const struct sp_dw_unit *skeleton; /* of a split unit: what names its addresses */
    struct sp_dw_unit *split;          /* of a skeleton: the unit it stands for, once found */
    bool split_tried, split_missing;
    struct sp_dw_lines *lines; /* NULL: not asked for */
    struct sp_dw_inlines inlines;
    uint32_t number; /* of a unit with code of the main file */
};

struct sp_dw_cursor {
    const unsigned char *p, *end;
    bool big, bad;
};

/* Attributes of an abbreviation; what is not asked for is stepped over by `steps`. */
struct sp_dw_spec {
    uint16_t at, form;
    int64_t implicit;
};
struct sp_dw_step {
    uint16_t form; /* 0: skip n bytes */
    uint16_t n;
};
struct sp_dw_abbrev {
    uint64_t code;
    uint16_t tag;
    bool children, has_code, has_sibling;
    uint32_t first, n;           /* specs */
    uint32_t first_step, nsteps; /* steps */
};
struct sp_dw_abbrevs {
    uint64_t off;
    const struct sp_dw_file *f;
    uint8_t addr_size, off_size, version;
    SP_VEC(struct sp_dw_abbrev) list; /* by code */
    SP_VEC(struct sp_dw_spec) specs;
    SP_VEC(struct sp_dw_step) steps;
    bool dense; /* codes are 1, 2, 3, … */
};

enum sp_dw_class {
    DW_NOTHING,
    DW_NUMBER,
    DW_ADDRESS,
    DW_ADDRESS_INDEX,
    DW_STRING,
    DW_STRING_INDEX,
    DW_REF,      /* offset in the unit's own .debug_info */
    DW_REF_ALT,  /* offset in the common file's */
    DW_OFFSET,   /* in another section */
    DW_RNG_INDEX /* of a range list */
};
struct sp_dw_value {
    enum sp_dw_class is;
    uint64_t u;
    const char *s;
};

struct sp_dw_range {
    uint64_t lo, hi;
};
typedef SP_VEC(struct sp_dw_range) sp_dw_ranges;

/* A stretch of addresses and the unit that covers it. */
struct sp_dw_cover {
    uint64_t lo;
    struct sp_dw_reach reach;
    uint32_t unit;
};

/* What is said of the function of an entry. */
struct sp_dw_function {
    const struct sp_dw_unit *u;
    uint64_t die;
    struct sp_dwarf_frame says; /* what does not depend on the address */
};

/* A file that was found where one is looked for, and is not it. */
struct sp_dw_unusable {
    char *path; /* malloced; NULL: none */
    bool other; /* it is of another build; else it is damaged */
};

struct sp_dwarf {
    struct sp_dw_file *main;
    char *root, *debug_dir, *store;
    char *beside[SP_DWARF_BESIDE];
    SP_VEC(struct sp_dw_cover) covers; /* by lo */
    struct sp_dw_file *dwp;            /* of the whole file; may be NULL */
    bool dwp_tried, walk_all;
    pthread_mutex_t lock; /* guards abbrevs, tables, dwp, dwos, diags and opening of the common file */
    SP_VEC(struct sp_dw_file *) dwos;
    SP_VEC(struct sp_dw_lines *) tables;
    struct sp_map table_map; /* by where they stand */
    SP_VEC(struct sp_dw_abbrevs *) abbrevs;
    struct sp_map abbrev_map;
    size_t abbrev_total;
    struct sp_diags *diags; /* under the lock, once there are threads */
    atomic_int failed;      /* a spaa_status */
    atomic_bool excess;     /* a file asks for more than one of its size may: nothing is said */
    atomic_size_t missing;
    _Atomic(const char *) missing_name;
    SP_VEC(struct sp_dw_unusable) unusable;  /* under the lock */
    SP_VEC(struct sp_dw_function) functions; /* asked about so far */
    struct sp_map function_map;              /* by entry */
    struct sp_arena arena;                   /* of names that were put together */
    size_t name_work;                        /* entries read for them */
};

/* Caps on what a damaged file may ask for. */
#define DW_DEPTH_MAX   4096u               /* nesting of entries */
#define DW_HOPS_MAX    32u                 /* from an entry to the one that names it */
#define DW_NAME_DEPTH  24u                 /* types in types of a name */
#define DW_NAME_WORK   ((size_t)1 << 14)   /* entries read for a name */
#define DW_NAMES_WORK  ((size_t)1 << 26)   /* and for all of them */
#define DW_NAME_TEXT   ((size_t)4 << 10)   /* bytes of a name */
#define DW_RANGES_MAX  ((size_t)1 << 22)   /* address ranges of one unit */
#define DW_ABBREVS_MAX ((size_t)1 << 24)   /* abbreviations and their attributes, in all */
#define DW_SIZE_MAX    ((uint64_t)1 << 40) /* nothing in a file is larger */

/*
 * Several entries may name one list, table or program. Compilers let few of them: all that is read of a
 * section may be so many times what it holds. What compressed sections may hold: sp_elf_inflatable (elf.h).
 */
#define DW_READ_TIMES  8u
#define DW_READ_FREE   ((size_t)64 << 10)
#define DW_NAMES_TIMES 64u /* entries read for names, of a byte of .debug_info */
#define DW_NAMES_FREE  ((size_t)1 << 20)
#define DW_FREE_SPECS  256u  /* attributes of an abbreviation that take no byte of an entry */
#define DW_ROOT_SCAN   512u  /* bytes of abbreviations looked through for that of a first entry */
#define DW_SLOTS_MAX   1024u /* places of a .dwp's index looked at for an id */

/* other.c: counts n bytes read of a section of f. False, and so from then on: it is more than there may be.
 */
bool sp_dw_spend(struct sp_dwarf *d, struct sp_dw_file *f, enum sp_dw_section s, size_t n);
static inline bool sp_dw_excess(const struct sp_dwarf *d)
{
    return atomic_load_explicit(&d->excess, memory_order_relaxed);
}

/* What is referred to in a section of f does not stand there. */
static inline void sp_dw_lacks(struct sp_dw_file *f, enum sp_dw_section s)
{
    if (!(atomic_load_explicit(&f->lacking, memory_order_relaxed) >> s & 1))
        atomic_fetch_or(&f->lacking, 1u << s);
}

/* other.c: the answers are not to be used, if this is SPAA_ERR_NOMEM or SPAA_ERR_IO. */
void sp_dw_fail(struct sp_dwarf *d, spaa_status st);
/* damage.c: notes the first file that is there and of no use; a path at which nothing is, is not noted. */
void sp_dw_note_unusable(struct sp_dwarf *d, struct sp_dw_unusable *first, const char *path, bool other);
/* Takes what was noted, where nothing better was found: it is told. Under the lock; false: there was none. */
bool sp_dw_tell_unusable(struct sp_dwarf *d, struct sp_dw_unusable *noted);
/* The file of split or common debug information with this name was not found; borrowed. */
void sp_dw_missing(struct sp_dwarf *d, const char *name);
char *sp_dw_copy(const char *s, bool *ok); /* malloced; NULL of NULL; *ok false: out of memory */
const char *sp_dw_base_name(const char *path);
int sp_dw_dir_length(const char *path); /* with the last slash; 0: it has none */
/* A path, valid until the next use of b; "" where there was no memory. */
const char *sp_dw_path(struct sp_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same of root/dir/name, for files below root only (io/file.h). */
const char *sp_dw_path_below(struct sp_buf *b, const char *root, const char *dir, const char *name);
/* Frees b. A path that there was no memory for is not one that nothing is found at. */
void sp_dw_path_end(struct sp_dwarf *d, struct sp_buf *b, bool found);

/* cursor.c */
struct sp_dw_cursor sp_dw_at(const struct sp_dw_file *f, enum sp_dw_section s, uint64_t off, uint64_t end);
uint64_t sp_dw_bad(struct sp_dw_cursor *c);                   /* makes it so; 0 */
uint64_t sp_dw_fixed(struct sp_dw_cursor *c, unsigned bytes); /* 1, 2, 3, 4, 8 */
uint64_t sp_dw_uleb_slow(struct sp_dw_cursor *c);
int64_t sp_dw_sleb(struct sp_dw_cursor *c);
const char *sp_dw_cstr(struct sp_dw_cursor *c); /* NULL when it does not end */
void sp_dw_skip(struct sp_dw_cursor *c, uint64_t n);
/* NULL, which is noted: there is none. */
const char *sp_dw_string_at(struct sp_dw_file *f, enum sp_dw_section s, uint64_t off);
static inline uint64_t sp_dw_uleb(struct sp_dw_cursor *c)
{
    return c->p < c->end && *c->p < 0x80 ? *c->p++ : sp_dw_uleb_slow(c);
}

/* form.c */
/* The abbreviations of a unit, read once; NULL: damaged or out of memory. */
const struct sp_dw_abbrevs *sp_dw_abbrevs_of(struct sp_dwarf *d, const struct sp_dw_unit *u);
const struct sp_dw_abbrev *sp_dw_abbrev_find(const struct sp_dw_abbrevs *a, uint64_t code);
void sp_dw_abbrevs_free(struct sp_dwarf *d);
/* Reads the value of one attribute. Strings of common files need d. */
void sp_dw_value(struct sp_dwarf *d, const struct sp_dw_unit *u, struct sp_dw_cursor *c, uint16_t form,
                 int64_t implicit, struct sp_dw_value *v);
void sp_dw_skip_attributes(const struct sp_dw_unit *u, const struct sp_dw_abbrevs *t,
                           const struct sp_dw_abbrev *a, struct sp_dw_cursor *c);
const char *sp_dw_text(const struct sp_dw_unit *u, const struct sp_dw_value *v); /* NULL: none */
bool sp_dw_address(const struct sp_dw_unit *u, const struct sp_dw_value *v, uint64_t *addr);
bool sp_dw_indexed_address(const struct sp_dw_unit *u, uint64_t index, uint64_t *addr);

/* file.c; of a Mach-O file the image with a UUID, where one is given */
spaa_status sp_dw_file_open(const char *path, bool split, const char *uuid, struct sp_diags *diags,
                            struct sp_dw_file **out);
void sp_dw_file_free(struct sp_dw_file *f);
const char *sp_dw_section_name(unsigned i); /* without what stands before and behind it: "info" */

/* alt.c: dwz's common file of f, opened once; NULL when it is not there. */
struct sp_dw_file *sp_dw_alt(struct sp_dwarf *d, struct sp_dw_file *f);
/* The same for what refers to it: that f does not say which one it is, is noted. */
struct sp_dw_file *sp_dw_alt_referred(struct sp_dwarf *d, struct sp_dw_file *f);

/* split.c: finds the unit that a skeleton stands for. */
void sp_dw_split(struct sp_dwarf *d, struct sp_dw_unit *skeleton);

/* headers.c */
spaa_status sp_dw_units(struct sp_dwarf *d, struct sp_dw_file *f); /* the headers alone */
struct sp_dw_unit *sp_dw_unit_at(struct sp_dw_file *f, uint64_t off);

/* unit.c */
void sp_dw_unit_root(struct sp_dwarf *d, struct sp_dw_unit *u); /* what its first entry says */
spaa_status sp_dw_covers(struct sp_dwarf *d);

/* reach.c: of n stretches by where they begin, `first` that of the first of structures of `stride` bytes. */
void sp_dw_reach_set(struct sp_dw_reach *first, size_t stride, size_t n);
/* How many there are up to the last of the first `upto` that ends behind addr; 0: none does. */
size_t sp_dw_reach_find(const struct sp_dw_reach *first, size_t stride, size_t upto, uint64_t addr);

/* ranges.c; false: out of memory. Ranges that no code can have, and those beyond the caps, are left out.
 * *empty: the list has no entry at all. */
bool sp_dw_range_list(struct sp_dwarf *d, const struct sp_dw_unit *u, const struct sp_dw_value *v,
                      sp_dw_ranges *out, bool *empty);
bool sp_dw_range_add(const struct sp_dw_unit *u, sp_dw_ranges *out, uint64_t lo, uint64_t hi);

/* lines.c, inlines.c: false: out of memory. */
bool sp_dw_lines_build(struct sp_dwarf *d, struct sp_dw_unit *u);
bool sp_dw_files_build(struct sp_dwarf *d, struct sp_dw_unit *u); /* the names of files alone */
void sp_dw_lines_free(struct sp_dwarf *d);
const struct sp_dw_line_row *sp_dw_lines_find(const struct sp_dw_lines *l, uint64_t addr);
bool sp_dw_inlines_build(struct sp_dwarf *d, struct sp_dw_unit *u);
uint32_t sp_dw_inlines_find(const struct sp_dw_inlines *in, uint64_t addr);
/* The lowest address of code of its own that the function of an entry has in the unit; 0: none. */
uint64_t sp_dw_inlines_copy(const struct sp_dw_inlines *in, uint64_t die);

/* The innermost scope that an entry stands in; DW_NO_NODE: none. */
uint32_t sp_dw_scope_of(const struct sp_dw_inlines *in, uint64_t die);

/* What names are made of. */
struct sp_dw_entry {
    struct sp_dw_unit *u;
    uint64_t off;
    uint16_t tag;
    bool children, artificial, external, object, lref, rref, has_value;
    bool elsewhere; /* a class that another unit describes, known by a signature */
    const char *name, *linkage;
    struct sp_dw_value type, origin, decl_file; /* origin: abstract origin or specification */
    uint32_t decl_line;
    uint64_t value, sibling; /* value: of a constant, or how many elements an array has */
    struct sp_dw_cursor after;
};
/* The entries right below one. */
struct sp_dw_children {
    struct sp_dw_unit *u;
    struct sp_dw_cursor c;
    bool over;
};

/* entry.c: what an entry of u says. Reading is counted in *work; false: there is none, or too many were read.
 */
bool sp_dw_entry_read(struct sp_dwarf *d, struct sp_dw_unit *u, uint64_t off, size_t *work,
                      struct sp_dw_entry *e);
struct sp_dw_children sp_dw_children_of(const struct sp_dw_entry *e);
bool sp_dw_child_next(struct sp_dwarf *d, struct sp_dw_children *it, size_t *work, struct sp_dw_entry *e);
/* The unit that a reference of an entry leads to, made ready to be read; NULL: nowhere. */
struct sp_dw_unit *sp_dw_referred(struct sp_dwarf *d, struct sp_dw_unit *u, const struct sp_dw_value *ref);

/* names.c: the name with its scopes of the function of an entry of u that states no linkage name; NULL: there
 * is no saying. */
const char *sp_dw_scoped_name(struct sp_dwarf *d, struct sp_dw_unit *u, uint64_t die, bool parameters);

/* functions.c: what is said of the function of an entry of u, strings as long as d; memory: sp_dw_fail. */
struct sp_dwarf_frame sp_dw_function_of(struct sp_dwarf *d, struct sp_dw_unit *u, uint64_t die);
/* lines.c: a file by its number in the unit's table; false: there is none. */
bool sp_dw_file_of(const struct sp_dw_lines *l, uint64_t file, struct sp_dwarf_file *out);

/* From the standard; elf.h-like names with fewer letters. */
enum {
    AT_sibling = 0x01,
    AT_name = 0x03,
    AT_stmt_list = 0x10,
    AT_low_pc = 0x11,
    AT_high_pc = 0x12,
    AT_language = 0x13,
    AT_const_value = 0x1c,
    AT_producer = 0x25,
    AT_upper_bound = 0x2f,
    AT_artificial = 0x34,
    AT_count = 0x37,
    AT_type = 0x49,
    AT_object_pointer = 0x64,
    AT_signature = 0x69,
    AT_reference = 0x77,
    AT_rvalue_reference = 0x78,
    AT_GNU_template_name = 0x2110,
    AT_comp_dir = 0x1b,
    AT_abstract_origin = 0x31,
    AT_decl_file = 0x3a,
    AT_decl_line = 0x3b,
    AT_external = 0x3f,
    AT_specification = 0x47,
    AT_entry_pc = 0x52,
    AT_ranges = 0x55,
    AT_call_column = 0x57,
    AT_call_file = 0x58,
    AT_call_line = 0x59,
    AT_linkage_name = 0x6e,
    AT_str_offsets_base = 0x72,
    AT_addr_base = 0x73,
    AT_rnglists_base = 0x74,
    AT_dwo_name = 0x76,
    AT_MIPS_linkage_name = 0x2007,
    AT_GNU_dwo_name = 0x2130,
    AT_GNU_dwo_id = 0x2131,
    AT_GNU_ranges_base = 0x2132,
    AT_GNU_addr_base = 0x2133,
    TAG_array_type = 0x01,
    TAG_class_type = 0x02,
    TAG_formal_parameter = 0x05,
    TAG_pointer_type = 0x0f,
    TAG_reference_type = 0x10,
    TAG_structure_type = 0x13,
    TAG_typedef = 0x16,
    TAG_union_type = 0x17,
    TAG_unspecified_parameters = 0x18,
    TAG_subrange_type = 0x21,
    TAG_base_type = 0x24,
    TAG_const_type = 0x26,
    TAG_template_type_parameter = 0x2f,
    TAG_template_value_parameter = 0x30,
    TAG_volatile_type = 0x35,
    TAG_restrict_type = 0x37,
    TAG_namespace = 0x39,
    TAG_unspecified_type = 0x3b,
    TAG_rvalue_reference_type = 0x42,
    TAG_GNU_template_template_param = 0x4106,
    TAG_GNU_template_parameter_pack = 0x4107,
    TAG_GNU_formal_parameter_pack = 0x4108,
    TAG_enumeration_type = 0x04,
    TAG_compile_unit = 0x11,
    TAG_subroutine_type = 0x15,
    TAG_inlined_subroutine = 0x1d,
    TAG_subprogram = 0x2e,
    TAG_partial_unit = 0x3c,
    TAG_type_unit = 0x41,
    TAG_call_site = 0x48,
    TAG_skeleton_unit = 0x4a,
    TAG_GNU_call_site = 0x4109,
    LANG_C_plus_plus = 0x04,
    LANG_ObjC_plus_plus = 0x11,
    LANG_C_plus_plus_03 = 0x19,
    LANG_C_plus_plus_11 = 0x1a,
    LANG_C_plus_plus_14 = 0x21,
    LANG_C_plus_plus_17 = 0x2a,
    LANG_C_plus_plus_20 = 0x2b,
    LANG_C_plus_plus_23 = 0x3a,
    LANG_C89 = 0x01,
    LANG_C = 0x02,
    LANG_C99 = 0x0c,
    LANG_Go = 0x16,
    LANG_Rust = 0x1c,
    LANG_C11 = 0x1d,
    LANG_C17 = 0x2c,
    LANG_Mips_Assembler = 0x8001,
    UT_compile = 1,
    UT_type = 2,
    UT_partial = 3,
    UT_skeleton = 4,
    UT_split_compile = 5,
    UT_split_type = 6,
    FORM_addr = 0x01,
    FORM_block2 = 0x03,
    FORM_block4 = 0x04,
    FORM_data2 = 0x05,
    FORM_data4 = 0x06,
    FORM_data8 = 0x07,
    FORM_string = 0x08,
    FORM_block = 0x09,
    FORM_block1 = 0x0a,
    FORM_data1 = 0x0b,
    FORM_flag = 0x0c,
    FORM_sdata = 0x0d,
    FORM_strp = 0x0e,
    FORM_udata = 0x0f,
    FORM_ref_addr = 0x10,
    FORM_ref1 = 0x11,
    FORM_ref2 = 0x12,
    FORM_ref4 = 0x13,
    FORM_ref8 = 0x14,
    FORM_ref_udata = 0x15,
    FORM_indirect = 0x16,
    FORM_sec_offset = 0x17,
    FORM_exprloc = 0x18,
    FORM_flag_present = 0x19,
    FORM_strx = 0x1a,
    FORM_addrx = 0x1b,
    FORM_ref_sup4 = 0x1c,
    FORM_strp_sup = 0x1d,
    FORM_data16 = 0x1e,
    FORM_line_strp = 0x1f,
    FORM_ref_sig8 = 0x20,
    FORM_implicit_const = 0x21,
    FORM_loclistx = 0x22,
    FORM_rnglistx = 0x23,
    FORM_ref_sup8 = 0x24,
    FORM_strx1 = 0x25,
    FORM_strx2 = 0x26,
    FORM_strx3 = 0x27,
    FORM_strx4 = 0x28,
    FORM_addrx1 = 0x29,
    FORM_addrx2 = 0x2a,
    FORM_addrx3 = 0x2b,
    FORM_addrx4 = 0x2c,
    FORM_GNU_addr_index = 0x1f01,
    FORM_GNU_str_index = 0x1f02,
    FORM_GNU_ref_alt = 0x1f20,
    FORM_GNU_strp_alt = 0x1f21,
    LNCT_path = 1,
    LNCT_directory_index = 2,
    LNCT_LLVM_source = 0x2001,
};

#endif
