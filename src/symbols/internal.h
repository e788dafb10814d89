/* What the parts of the symbolizer share; symbols/symbols.h is for everybody else. */
#ifndef SP_SYMBOLS_INTERNAL_H
#define SP_SYMBOLS_INTERNAL_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/strtab.h"
#include "dwarf/cfi.h"
#include "dwarf/dwarf.h"
#include "dwarf/elf.h"
#include "dwarf/macho.h"
#include "dwarf/symtab.h"
#include "symbols/jitdump.h"
#include "symbols/paths.h"
#include "symbols/symbols.h"

/* Why a module has no symbols, or not all. */
enum sp_why {
    SP_WHY_NONE,
    SP_WHY_NO_FILE,
    SP_WHY_OTHER_BUILD,
    SP_WHY_NOT_ELF,
    SP_WHY_STRIPPED,
    SP_WHY_NO_KALLSYMS,
    SP_WHY_RESTRICTED,
    SP_WHY_UNPROVEN,   /* the running kernel may not be the recorded one, which has no build-id */
    SP_WHY_BOOTED,     /* the same, by where _text is */
    SP_WHY_OTHER_BOOT, /* module addresses of another boot cannot be compared */
    SP_WHY_NO_MAP,
    SP_WHY_OTHER_VDSO,
    SP_WHY_NO_UUID, /* a Mach-O file, and the recording does not say which it was */
    SP_WHY_DAMAGED, /* not all that names functions is there */
    SP_WHY_NO_PDB,
    SP_WHY_BAD_PDB, /* the file, and what it is */
};

/* A kallsyms file, parsed once for the kernel and all its modules. */
struct sp_ksyms {
    struct sp_ksyms *next;
    const char *path;
    struct sp_symtab tab;
    uint64_t text, stext; /* the addresses of _text, which may be that of _stext, and _stext */
    bool readable, restricted;
};

struct sp_pdb;

struct sp_module {
    struct sp_symbols *owner;
    struct sp_module_key key;
    struct sp_elf elf; /* the file itself, when file is set; of Mach-O also of the debug file alone */
    const char *file;  /* where it was found, or NULL */
    const char *debug; /* where its separate debug file was found, or NULL */
    /* Some that are cut off, say, and what is wrong with the debug file; NULL: none,
     * or it is of another build. */
    const char *damaged_file, *damaged_debug, *bad_debug, *bad_debug_why;
    bool takes_damaged;     /* while they are tried, since no whole ones were found */
    const char *original;   /* the same build at its recorded path, where file is a copy that has no time */
    bool doubtful;          /* sp_module_is_doubtful */
    bool built;             /* tab is filled as far as it can be */
    struct sp_symtab tab;   /* FILE, JIT, and KERNEL by an ELF file */
    struct sp_ksyms *ksyms; /* KERNEL, KMOD */
    struct sp_jitdump jit;  /* JIT: lines, and what stood where when */
    bool jit_timed;         /* its times are those of the recording */
    uint64_t jit_untold;    /* addresses whose code was replaced, nobody knows when */
    bool long_places;       /* names of source files were left out for their length */
    uint64_t shift;         /* address of the recording - address in the table */
    enum sp_why why;
    /* OTHER_BUILD: the file and its build-id; DAMAGED: the file, unless it was taken, and what is wrong;
     * RESTRICTED: the file; UNPROVEN, BOOTED: what of the recording
     */
    const char *other, *other_id;
    const char *stray, *stray_id; /* a .dSYM of its name and its UUID, which is another one */
    uint64_t misses;
    struct sp_dwarf *dwarf; /* NULL: none, or not asked for yet */
    bool dwarf_tried;
    struct sp_cfi *cfi; /* where functions without a name begin; NULL: none, or not asked for yet */
    bool cfi_tried;
    struct sp_line_cache *cache; /* with dwarf, pdb */
    bool is_pe;                  /* file is an image of Windows; elf says the same of it */
    bool has_pdb;                /* debug is its PDB */
    const char *pdb_path;        /* as the image names it */
    struct sp_pdb *pdb;          /* NULL: none, or not asked for yet */
    uint64_t lineless;           /* addresses with a name and no line */
};

/* A jitdump that a recording says a process wrote. */
struct sp_jit_path {
    int64_t pid;
    const char *path;
};

/* An image of a Mach-O file, or one that cannot be read: without a UUID. */
struct sp_macho_file {
    const char *path;
    char uuid[SP_UUID_ROOM];
    bool debug; /* of a .dSYM bundle */
};
struct sp_macho_files {
    SP_VEC(struct sp_macho_file) v;             /* by UUID */
    SP_VEC(const struct sp_macho_file *) named; /* by the name of the file */
    const char *cache;                          /* a dyld shared cache, which is not read */
    bool tried;
};
enum { SP_MACHO_FOLDERS = 2 }; /* --dsym, --symfs */

struct sp_symbols {
    struct sp_symbol_opts opts;
    const char *home;
    const char *store;          /* NULL: there is none */
    const char *host, *release; /* of the recorded machine; NULL: not known */
    struct sp_diags *d;
    struct sp_arena arena;
    struct sp_strtab names;
    SP_VEC(uint32_t) plain; /* by name: 0 not tried, SP_STR_FAIL not mangled, else the demangled name */
    SP_VEC(struct sp_module *) modules;
    struct sp_map by_key;
    struct sp_ksyms *ksyms;
    struct sp_macho_files macho_files[SP_MACHO_FOLDERS];
    SP_VEC(struct sp_jit_path) jit_paths;
    SP_VEC(struct sp_offered) offered; /* opts.images, once they are needed */
    struct sp_recording_clock clock;
    struct timespec recorded; /* at the latest; 0: not known */
    struct sp_debuginfod *debuginfod;
    bool debuginfod_tried;
    void *lzma; /* the library */
    bool lzma_tried;
    spaa_status failed; /* why an answer is not what it should be: no memory, or a file that changed */
};

/* report.c */
#define SP_HINT_LINES "install its debug package, pass `--debug-dir DIR`, or build it with -g"
#define SP_HINT_DSYM  "pass `--dsym DIR`, below which is its .dSYM bundle (`dsymutil` makes it)"
bool sp_module_lacks_lines(const struct sp_module *m); /* names, but no debug information to have lines of */

/* build_id.c */
bool sp_is_build_id(const char *s);

/* names.c */
/* The interned name and its demangled form; false: out of memory, which is reported. */
bool sp_symbols_names(struct sp_symbols *s, const char *name, struct sp_resolved *out);
/*
 * Where the linkage name has but a hash for them, says in the name which closure it is, and the arguments of
 * a generic function behind it, so that it reads as that of Rust's later mangling: `app::main::{closure#2}`,
 * `app::work::<f64>`. False: out of memory.
 */
bool sp_symbols_arguments(struct sp_symbols *s, struct sp_resolved *r);
/* The answers are not to be used; false. SPAA_ERR_NOMEM is reported here, others were; SPAA_OK is nothing. */
bool sp_symbols_fail(struct sp_symbols *s, spaa_status st);
static inline bool sp_symbols_nomem(struct sp_symbols *s)
{
    return sp_symbols_fail(s, SPAA_ERR_NOMEM);
}

/* known.c: what tells functions of one name apart; false: out of memory. */
/* Of the physical frame: where its symbol says more, or something else, than DWARF. */
bool sp_module_known(struct sp_module *m, const struct sp_sym *sym, struct sp_resolved *physical);
/* Of an inlined function that has code of its own at this address: where that starts, and its name as linked,
 * if DWARF has but a plain one (else NULL). */
bool sp_module_copy(struct sp_module *m, uint64_t copy, const char *plain, struct sp_resolved *inlined);

/* paths.c */
const char *sp_module_keep(struct sp_module *m, const char *s); /* a copy, or NULL */
/* Frees what paths were made in; SPAA_ERR_NOMEM if one could not be, and nothing worse was known. */
spaa_status sp_path_end(struct sp_buf *b, spaa_status st);

/* find.c */
/* These return SPAA_OK also when nothing is found, else SPAA_ERR_NOMEM; SPAA_ERR_IO when a file changed. */
spaa_status sp_find_file(struct sp_module *m);
spaa_status sp_find_debug(struct sp_module *m);
/* The build-id that a debug file must have: the file's own, else the recorded one; NULL: unknown. */
const char *sp_module_wanted_id(const struct sp_module *m);
/* What a file says, and its symbols with syms: an ELF file, or of a Mach-O file the image that is wanted. */
spaa_status sp_module_read(const struct sp_module *m, const char *path, struct sp_elf *out,
                           struct sp_symtab *syms);

/* macho_files.c: whether a build-id is as long as a UUID. */
bool sp_is_uuid(const char *build_id);
/* An image (debug: of a .dSYM bundle) by its UUID in the folders given; *path NULL: none. SPAA_ERR_NOMEM. */
spaa_status sp_macho_find(struct sp_symbols *s, const char *uuid, bool debug, const char **path);
/* One whose file has that name, in what was gone through; NULL: none. */
const struct sp_macho_file *sp_macho_named(const struct sp_symbols *s, const char *name, bool debug);
const char *sp_macho_cache(const struct sp_symbols *s); /* a dyld shared cache that was met, or NULL */
void sp_macho_files_free(struct sp_symbols *s);

/* debuginfod.c: a file fetched by its build-id; *path NULL: there is none. SPAA_ERR_NOMEM. */
spaa_status sp_debuginfod_fetch(struct sp_symbols *s, const char *build_id, bool executable,
                                const char **path);
/* A source file of a build, by its absolute path. */
spaa_status sp_debuginfod_source(struct sp_symbols *s, const char *build_id, const char *file,
                                 const char **path);
/* One that the client fetched before, asking nobody; "": there is none. Room in b. */
const char *sp_debuginfod_cached(const struct sp_symbols *s, struct sp_buf *b, const char *build_id,
                                 bool executable);
void sp_debuginfod_end(struct sp_symbols *s);

/* minidebug.c: the symbols of the file's .gnu_debugdata. SPAA_ERR_NOMEM, SPAA_ERR_IO. */
spaa_status sp_minidebug_add(struct sp_module *m);
void sp_minidebug_end(struct sp_symbols *s);

/* gopclntab.c: the functions of a Go program that is stripped. SPAA_ERR_NOMEM, SPAA_ERR_IO. */
spaa_status sp_gopclntab_add(struct sp_module *m);

/* vdso.c: the symbols of this process's [vdso], if it is the recorded one. SPAA_ERR_NOMEM. */
spaa_status sp_vdso_add(struct sp_module *m);

/* places.c */
#define SP_LINE_CACHE 4096u /* entries; a power of two */
/* Texts made of strings of DWARF or a PDB lately, by where those stand. */
struct sp_line_cache {
    struct {
        const char *linkage, *func, *raw;
    } name[SP_LINE_CACHE];
    struct {
        const char *file, *dir, *text;
        uint32_t line;
    } srcline[SP_LINE_CACHE];
};
static inline size_t sp_line_slot(const void *a, const void *b, uint64_t n)
{
    return sp_hash_mix((uintptr_t)a ^ n << 32, (uintptr_t)b) & (SP_LINE_CACHE - 1);
}

/* "file:line", without line "file", in the symbolizer's strings; *out NULL: no file. False: out of memory. */
bool sp_module_place(struct sp_module *m, const struct sp_dwarf_file *f, uint32_t line, const char **out);

/* lines.c */
struct sp_dwarf *sp_module_dwarf(struct sp_module *m); /* NULL: none */
/* The frames that DWARF knows at an address as linked; 0: none. False: out of memory. */
bool sp_module_lines(struct sp_module *m, uint64_t addr, struct sp_resolved *out, size_t max, size_t *n);
/* The line of an address in a function of a jitdump, if it is known; false: out of memory. */
bool sp_module_jit_line(struct sp_module *m, const struct sp_sym *sym, uint64_t addr,
                        struct sp_resolved *out);
/* ksyms.c: where the symbol at which the recording says the kernel stood is in a kallsyms; 0: it has none. */
uint64_t sp_ksyms_at(const struct sp_ksyms *k, const char *ref);

/* The parsed kallsyms of a path, once per path. SPAA_ERR_NOMEM. */
spaa_status sp_ksyms_of(struct sp_symbols *s, const char *path, struct sp_ksyms **out);

#define SP_RUNNING_KALLSYMS "/proc/kallsyms"
/* running.c: whether the running kernel is the recorded one. SPAA_ERR_NOMEM. */
spaa_status sp_running_build(const char *id, struct sp_diags *d, bool *same);
/* Without a build-id. If not, the module says why. */
spaa_status sp_running_boot(struct sp_module *m, bool *same);

/* load.c: fills the table or gives the reason; fails as above. */
spaa_status sp_load_elf(struct sp_module *m);
spaa_status sp_load_kernel(struct sp_module *m);
spaa_status sp_load_perf_map(struct sp_module *m);

#endif
