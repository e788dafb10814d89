/*
 * What the parts of the PDB reader share.
 *
 *   msf.c      the container: streams made of blocks
 *   check.c    what failed, what is damaged
 *   open.c     what the file is: its id, streams, sections
 *   modules.c  the modules, and which one an address is from
 *   module.c   one module: its functions
 *   scopes.c   one function: what is inlined into it, and where
 *   lines.c    source lines of a module, and its files
 *   types.c    names of inlined functions
 *   publics.c  public symbols
 *   globals.c  code of their own of inlined functions
 *   pdb.c      the question
 *
 * Whatever a file says is checked where it is used. Functions that return false ran out of memory or found
 * the file changed (`failed` says which) unless they say otherwise; what is damaged is left out and counted.
 */
#ifndef SP_PDB_PRIVATE_H
#define SP_PDB_PRIVATE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "pdb/pdb.h"

#include <string.h>
#include <sys/types.h>

#define SP_MSF_NIL UINT32_MAX /* the size of a stream that is not there */

/* ---- msf.c ---- */

struct sp_msf_stream {
    uint32_t size;  /* 0 where it is not there */
    uint32_t first; /* its first block, in `blocks` */
};

struct sp_msf {
    const char *path;
    struct sp_diags *d;
    int fd; /* -1: closed for now */
    uint64_t size;
    dev_t dev;
    ino_t ino;
    uint32_t block; /* bytes */
    uint32_t nblocks;
    uint32_t *blocks; /* of all streams, one behind the other */
    struct sp_msf_stream *streams;
    uint32_t nstreams;
    uint64_t bytes_read;
    spaa_status failed;
};

/* As sp_pdb_open; m is to be closed in any case. The path must outlive it. */
spaa_status sp_msf_open(struct sp_msf *m, const char *path, struct sp_diags *d, const char **why);
void sp_msf_close(struct sp_msf *m);
void sp_msf_rest(struct sp_msf *m); /* gives the descriptor back until the next read */
/* False: there are not so many bytes (SPAA_OK stays in `failed`), or the file changed. */
bool sp_msf_read(struct sp_msf *m, uint32_t stream, uint32_t at, void *out, size_t n);
uint32_t sp_msf_size(const struct sp_msf *m, uint32_t stream); /* 0: not there */
/* n bytes of a stream, malloced, with 4 zeros behind; NULL: failed, or damaged as above. */
unsigned char *sp_msf_load(struct sp_msf *m, uint32_t stream, uint32_t at, uint32_t n);

/* ---- tables ---- */

struct sp_pdb_section {
    uint32_t rva, size;
};

/* A stretch of code (or data) that the linker took from one module. */
struct sp_pdb_part {
    uint32_t rva, size;
    uint32_t module;
};

struct sp_pdb_move {
    uint32_t rva, to;
};

/* A source line from an address on; line 0: nothing is known from here on. */
struct sp_pdb_row {
    uint32_t rva, line;
    uint32_t file; /* offset in the module's checksums */
    uint32_t order;
};

/* What is inlined: one call that was replaced. */
struct sp_pdb_site {
    uint32_t parent;      /* 1 + number of the site it is in; 0: the function itself */
    uint32_t depth;       /* 1: inlined into the function */
    uint32_t item;        /* its function, in the IPI stream */
    uint32_t rows, nrows; /* of the function's rows */
    uint32_t source;      /* 1 + number of its function's file and line; 0: not known */
};

/* From an address on: the innermost site there; 0: none, else 1 + number. */
struct sp_pdb_stretch {
    uint32_t rva, site;
};

struct sp_pdb_function {
    uint32_t rva, size;
    uint32_t record; /* where its record is in the module's symbols */
    uint32_t whole;  /* of code that was set aside: RVA of the function; else rva */
    bool local, thunk, part;
    bool built;
    const char *linkage; /* once built */
    SP_VEC(struct sp_pdb_site) sites;
    SP_VEC(struct sp_pdb_row) rows; /* of each site, ascending; line 0 ends a stretch */
    SP_VEC(struct sp_pdb_stretch) stretches;
};

/* Where an inlined function stands. */
struct sp_pdb_source {
    uint32_t item, file, line;
    bool asked; /* for what follows */
    bool local;
    uint32_t type;
    const char *name, *linkage; /* of its own code, if there is some */
};

struct sp_pdb_file {
    uint32_t at;      /* offset in the module's checksums */
    uint32_t name_at; /* offset in the string table */
    const char *name; /* once asked for */
};

struct sp_pdb_module {
    uint32_t stream, symbol_bytes, c11_bytes, c13_bytes;
    bool loaded;
    unsigned char *symbols;
    const char *dir;                          /* where the compiler ran, or NULL */
    SP_VEC(struct sp_pdb_function) functions; /* by rva */
    SP_VEC(struct sp_pdb_row) rows;
    SP_VEC(struct sp_pdb_file) files;
    SP_VEC(struct sp_pdb_source) sources; /* by item */
};

struct sp_pdb_checkpoint {
    uint32_t index, at;
};

struct sp_pdb_types {
    uint32_t stream;
    uint32_t header, begin, end, bytes;
    bool tried;
    SP_VEC(struct sp_pdb_checkpoint) marks; /* where some records are, ascending */
};

struct sp_pdb_name {
    uint32_t item;
    uint32_t type;
    bool member;      /* of a class */
    const char *name; /* with its scopes; NULL: not known */
};

struct sp_pdb {
    struct sp_msf msf;
    char *path;
    struct sp_diags *d;
    struct sp_pdb_id id;
    struct sp_arena arena;
    size_t damaged;
    bool fastlink; /* linked with /DEBUG:FASTLINK */
    spaa_status failed;
    uint32_t names_stream, names_size; /* the string table; its bytes begin at 12 */
    uint32_t symbols_stream, publics_stream, globals_stream;
    uint32_t publics_at, npublics; /* the address map */
    uint32_t *publics;             /* once asked for: offsets of records, by address */
    bool publics_tried, globals_tried;
    uint32_t *buckets; /* where those of the global symbols begin, and the last ends; NULL: there are none */
    SP_VEC(struct sp_pdb_section) sections;
    SP_VEC(struct sp_pdb_module) modules;
    SP_VEC(struct sp_pdb_part) parts;     /* by rva */
    SP_VEC(struct sp_pdb_move) to_source; /* OMAP; none: the image is as it was linked */
    SP_VEC(struct sp_pdb_move) to_image;
    struct sp_pdb_types tpi, ipi;
    SP_VEC(struct sp_pdb_name) names; /* of inlined functions, in order of asking */
    struct sp_map name_map;
};

static inline uint16_t sp_pdb_u16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t sp_pdb_u32(const unsigned char *p)
{
    return (uint32_t)sp_pdb_u16(p) | (uint32_t)sp_pdb_u16(p + 2) << 16;
}

/* check.c: out of memory; false. */
bool sp_pdb_nomem(struct sp_pdb *p);
/* After a read that did not succeed: true if the file is damaged, which is counted, false if it failed. */
bool sp_pdb_damage(struct sp_pdb *p);

/* Where section:offset is; false: nowhere. */
bool sp_pdb_rva(const struct sp_pdb *p, uint32_t section, uint32_t offset, uint32_t *rva);

/* modules.c */
bool sp_pdb_read_modules(struct sp_pdb *p, uint32_t at, uint32_t size);
bool sp_pdb_read_parts(struct sp_pdb *p, uint32_t at, uint32_t size);
/* The stretch an address is in; NULL: none. */
const struct sp_pdb_part *sp_pdb_part_at(const struct sp_pdb *p, uint32_t rva);

/* module.c */
bool sp_pdb_load_module(struct sp_pdb *p, struct sp_pdb_module *m);
/* The last function that starts at or before an address; the one that it is in. NULL: none. */
const struct sp_pdb_function *sp_pdb_function_before(const struct sp_pdb_module *m, uint32_t rva);
struct sp_pdb_function *sp_pdb_function_at(struct sp_pdb_module *m, uint32_t rva);
/* The name in a function's record. */
const char *sp_pdb_function_name(const struct sp_pdb_module *m, const struct sp_pdb_function *f);

/* A record of symbols: its kind, and its bytes with the 4 of its header. */
struct sp_pdb_record {
    const unsigned char *p;
    uint32_t n, kind;
};
/* The record at an offset, which moves behind it; false: no more. */
bool sp_pdb_next_record(const struct sp_pdb_module *m, uint32_t *at, struct sp_pdb_record *out);
bool sp_pdb_opens_scope(uint32_t kind);
bool sp_pdb_closes_scope(uint32_t kind);

enum {
    S_END = 0x0006,
    S_THUNK32 = 0x1102,
    S_BLOCK32 = 0x1103,
    S_WITH32 = 0x1104,
    S_PUB32 = 0x110e,
    S_LPROC32 = 0x110f,
    S_GPROC32 = 0x1110,
    S_GMANPROC = 0x112a,
    S_LMANPROC = 0x112b,
    S_SEPCODE = 0x1132,
    S_LPROC32_ID = 0x1146,
    S_GPROC32_ID = 0x1147,
    S_BUILDINFO = 0x114c,
    S_INLINESITE = 0x114d,
    S_INLINESITE_END = 0x114e,
    S_PROC_ID_END = 0x114f,
    S_LPROC32_DPC = 0x1155,
    S_LPROC32_DPC_ID = 0x1156,
    S_INLINESITE2 = 0x115d,
};

/* scopes.c: sites, rows and stretches of a function. */
bool sp_pdb_build_function(struct sp_pdb *p, struct sp_pdb_module *m, struct sp_pdb_function *f);

/* lines.c */
bool sp_pdb_load_lines(struct sp_pdb *p, struct sp_pdb_module *m);
/* Of rows by address, the one that an address is in; NULL: none. */
const struct sp_pdb_row *sp_pdb_row_at(const struct sp_pdb_row *rows, size_t n, uint32_t rva);
/* 1 + number in sources; 0: none. */
uint32_t sp_pdb_source_of(const struct sp_pdb_module *m, uint32_t item);
/* *name is NULL where it is not known. */
bool sp_pdb_file_name(struct sp_pdb *p, struct sp_pdb_module *m, uint32_t file, const char **name);

/* types.c */
/* What an inlined function is called. */
bool sp_pdb_item(struct sp_pdb *p, uint32_t item, struct sp_pdb_name *out);
/* Of a S_BUILDINFO: where the compiler ran. */
bool sp_pdb_build_dir(struct sp_pdb *p, uint32_t item, const char **dir);
void sp_pdb_types_free(struct sp_pdb_types *t);

/* publics.c */
/*
 * The last public symbol at or before an address, not before `from`: its address and name; *name is NULL
 * where there is none.
 */
bool sp_pdb_public_before(struct sp_pdb *p, uint32_t rva, uint32_t from, uint32_t *start, const char **name);
/* The public symbol where a function of that name starts; *name is NULL where there is none of it. */
bool sp_pdb_public_of(struct sp_pdb *p, uint32_t rva, const char *function, const char **name);

/* globals.c: name, linkage name and whether others may have one of that name, of an inlined function. */
bool sp_pdb_own_code(struct sp_pdb *p, const struct sp_pdb_module *m, struct sp_pdb_source *s);

#endif
