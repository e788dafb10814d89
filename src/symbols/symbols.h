/*
 * From addresses to names and lines: ELF symbol tables, DWARF, kallsyms, perf-PID.map; demangled.
 *
 * A module is one binary as recorded. Open it once, look up each distinct address once. Everything is
 * owned by the symbolizer and lives until sp_symbols_free. Not thread-safe.
 *
 * Where a file is looked for, in this order, each accepted only if its build-id equals the recorded
 * one (when one is recorded). The binary: symfs + path; ~/.debug/.build-id; the path itself; the symbol store
 * (store.h); what debuginfod's client fetched before. A separate debug file, when the binary is stripped or
 * missing: symfs + /usr/lib/debug/.build-id/xx/yyyy.debug; debug_dir's .build-id; ~/.debug/.build-id;
 * /usr/lib/debug/.build-id; by .gnu_debuglink beside the binary, in .debug there and under the debug
 * directories; the store, whose copy of the binary may be the one that is not stripped; what the client
 * fetched. It adds its .symtab to what the stripped file has; without one, .gnu_debugdata does. The [vdso] is
 * in no file but perf's copy: this process's serves, too. A file of another build is not used, and reported
 * (SP_W312). Inlined functions and lines come from the binary's own DWARF, else from its debug file's
 * (dwarf/dwarf.h). With debuginfod, what was found nowhere is asked for by build-id.
 *
 * Mach-O images, whose build-id is their UUID, are looked for at the same paths, then by UUID in the whole of
 * dsym and of symfs (macho_files.c); their .dSYM bundle beside the file, then likewise. One that has not the
 * recorded UUID is never used, nor any where none is recorded. Addresses as linked count from where the image
 * begins.
 *
 * The kernel and its modules: the kallsyms given; symfs + /proc/kallsyms; the copy in the store of the
 * recorded build-id and boot; that in ~/.debug; /proc/kallsyms if the running kernel has the recorded
 * build-id, or there is none and host, release and _text are the recorded ones; a copy in the store of
 * another boot; the kernel's debug file by build-id. A kernel that stood elsewhere (KASLR) is relocated by
 * _text; its modules then cannot be. Modules use what their kernel uses, so open that first.
 *
 * Windows: images (PE) below symfs, by the recorded path without its drive, or by their name alone; their
 * PDBs, by GUID and age (symbols/windows.h).
 *
 * Just-in-time code: the jitdump that was named for the process, below symfs first; jit-PID.dump in
 * symfs + /tmp and /tmp; else symfs + /tmp/perf-PID.map; symfs + /perf-PID.map; the key's path if it ends in
 * .map; /tmp/perf-PID.map.
 */
#ifndef SP_SYMBOLS_H
#define SP_SYMBOLS_H

#include "base/buf.h"
#include "base/diag.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Where symbols are looked for; NULL fields: the usual places only. */
struct sp_symbol_opts {
    const char *symfs;         /* a root directory to prefix recorded paths with */
    const char *debug_dir;     /* a directory like /usr/lib/debug */
    const char *dsym;          /* a directory that holds Mach-O images and .dSYM bundles, anywhere below it */
    const char *kallsyms;      /* a copy of /proc/kallsyms of the recorded boot */
    const char *store;         /* the folder of copies by build-id (store.h); "none": none */
    const char *const *images; /* binaries and PDBs that were named: tried first, by their ids; borrowed */
    size_t nimages;
    bool takes_images; /* somebody can name some: hints tell of `--image` and `--map` */
    bool no_symbols;
    bool no_inline; /* the physical function alone, at the line where it calls what is inlined */
    bool no_lines;
    bool no_debug;   /* symbol tables alone, as who wants neither of the two asks for */
    bool trust_maps; /* perf maps and jitdumps of other users */
    bool debuginfod; /* ask the servers of DEBUGINFOD_URLS for what is not found */
};

/* What the times of a recording are, to compare those of jitdumps with. */
struct sp_recording_clock {
    bool monotonic; /* CLOCK_MONOTONIC, which jitdumps have unless they count cycles */
    bool cycles;    /* cycles become times by: */
    uint64_t shift, mult, zero;
};

/* What a file that somebody named is. */
struct sp_offered {
    const char *path;   /* borrowed */
    bool pdb;           /* else a PE image or an ELF file */
    char build_id[129]; /* lower-case hex; of PE and PDB GUID and age; "" when there is none */
};
/*
 * SPAA_ERR_NOT_FOUND, SPAA_ERR_INPUT when it is none of the three: *why says what it is then ("%s is " …),
 * SPAA_ERR_IO (reported), SPAA_ERR_NOMEM.
 */
spaa_status sp_offered_read(const char *path, struct sp_diags *d, struct sp_offered *out, const char **why);

/* Whether a recorded id is that of a file. That of an ELF file may be recorded as Breakpad writes it, as a
 * GUID. */
bool sp_same_build_id(const char *recorded, const char *file);

struct sp_symbols;
struct sp_module;

enum sp_module_kind {
    SP_MODULE_FILE,   /* an ELF file or Mach-O image */
    SP_MODULE_KERNEL, /* the kernel proper: kallsyms */
    SP_MODULE_KMOD,   /* a kernel module: kallsyms, module part */
    SP_MODULE_JIT,    /* anonymous code of a process: perf-PID.map */
};

struct sp_module_key {
    enum sp_module_kind kind;
    const char *path;       /* as recorded; for KMOD the name without brackets */
    const char *build_id;   /* lower-case hex, or NULL */
    int64_t pid;            /* JIT */
    uint64_t kernel_text;   /* KERNEL, KMOD: address of _text in the recording; 0: unknown */
    const char *kernel_ref; /* the symbol there, "_text" or "_stext", if the recording says so; a literal */
    bool doubtful;          /* FILE: names were taken of it when it was; no part of the key */
    bool replaced;          /* FILE: what its path names now is known to be another one */
};

/*
 * One frame at an address: the function and, for inlined ones, how deep. Strings live in the symbolizer.
 *
 * What tells functions of one name apart is to be the same wherever it is asked for: of an inlined copy and
 * of code of its own, with DWARF and from a symbol table alone. So
 * - `local` says whether other files may have a function of this linkage name: not external by DWARF, else a
 * local symbol. Inlined functions are what they are elsewhere. Parts (foo.cold, foo.isra.0) are what foo is,
 * hidden functions, which linkers make local, Rust's, whose names have their crate in them, and what stands
 * in a function that is not local (a lambda, a local class) are not local.
 * - `file` is that which declares the function (DWARF), else the one under which a local symbol stands
 * (STT_FILE, a base name as a rule). A static function of a .c file has the same base name from both. One in
 * a header has the header's by DWARF alone, and is one function then; symbols have it once for each .c file
 * that includes it.
 * - `start` is that of the function that a part belongs to, or of the first of its forms in its file, if
 * there are but such (foo.constprop.0, foo.constprop.1); of a local inlined function that of its code of its
 * own in that unit, if it has any.
 */
struct sp_resolved {
    const char *func;      /* demangled */
    const char *raw;       /* as in the symbol table, NULL when equal to func */
    const char *arguments; /* "<f64>" that func is to have, but has not yet; NULL: none. Only inside. */
    const char *closures;  /* "{closure#2}" that ends func where it has "{{closure}}"; likewise */
    const char *srcline;   /* "file:line", or NULL; the file as seen from where the compiler ran */
    const char *comp_dir;  /* of srcline: where it ran; NULL: not known */
    const char *source;    /* of srcline: all of its file, where debug information has that; NULL */
    uint64_t symoff;       /* address - start of the symbol */
    uint32_t inline_depth; /* 0 for the physical frame, which is the last one */
    /* What tells it from other functions of its name; NULL and 0 where it is not known. */
    const char
        *linkage;     /* the symbol as it stands in the file, with parts like .cold; what DWARF has of it */
    const char *file; /* where it is declared, written as in srcline; else the file of its symbol */
    uint32_t line;    /* of the declaration */
    uint64_t start;   /* where it starts, as addresses that are looked up */
    bool has_start, local;
};

spaa_status sp_symbols_new(const struct sp_symbol_opts *opts, struct sp_diags *d, struct sp_symbols **out);
void sp_symbols_free(struct sp_symbols *s);
/* The module for a key, opened on first use. *out is never NULL on SPAA_OK; it may know nothing. */
spaa_status sp_symbols_module(struct sp_symbols *s, const struct sp_module_key *key, struct sp_module **out);
/* A process mapped this file: if it is a jitdump by its name, it is where its code is looked up. */
spaa_status sp_symbols_mapped(struct sp_symbols *s, int64_t pid, const char *path);
/* Before the first module is opened; without it no times can be compared. */
void sp_symbols_clock(struct sp_symbols *s, const struct sp_recording_clock *clock);
/* The recorded machine's name and the release of its kernel (NULL: not known), before the first module. */
spaa_status sp_symbols_machine(struct sp_symbols *s, const char *host, const char *release);
/* When the recording's file was written (tv_sec 0: not known), before the first module. */
void sp_symbols_recorded(struct sp_symbols *s, struct timespec written);
/*
 * JIT: the code that stood at an address at a time of the recording, a number for sp_module_resolve_code;
 * SP_MODULE_LATEST where there was only one, or nobody knows when.
 */
#define SP_MODULE_LATEST UINT32_MAX
uint32_t sp_module_code(const struct sp_module *m, uint64_t addr, uint64_t time);
/*
 * JIT: the n times at which code came to stand where other code stood before or after, ascending, equal ones
 * once: between two of them sp_module_code does not change. False: out of memory. The caller frees.
 */
bool sp_module_code_times(const struct sp_module *m, uint64_t **times, size_t *n);
/* JIT: whether code with a name stands at an address. */
bool sp_module_covers(const struct sp_module *m, uint64_t addr);
/* True if some symbol source was found. */
bool sp_module_found(const struct sp_module *m);
const struct sp_module_key *sp_module_key(const struct sp_module *m);
/* FILE: the build-id read from the file itself, lower-case hex, or NULL. */
const char *sp_module_build_id(const struct sp_module *m);
/*
 * FILE: whether it may be another build: it was replaced, or written after the recording, which has no
 * build-id of it. Not of one below symfs: whoever put it there says that it is the one.
 */
bool sp_module_is_doubtful(const struct sp_module *m);
#define SP_DOUBTFUL_WHY                                                                                      \
    "the binary was replaced, or changed since it was recorded, and no build-id shows which one ran"
/* FILE: where the ELF file and its separate debug file were found; NULL where they were not (yet). */
const char *sp_module_file(const struct sp_module *m);
const char *sp_module_debug(const struct sp_module *m);
/* The file whose time of writing is the binary's: that one, or the same build at its recorded path. */
const char *sp_module_dated_file(const struct sp_module *m);
/* Appends why the file of a FILE module was not found; what helps, which may stand in `hint`, "" if nothing.
 */
const char *sp_module_missing(const struct sp_module *m, struct sp_buf *why, struct sp_buf *hint);
/* A file that a module is known by, and its place in a store (store.h). Lent of the module. */
#define SP_MODULE_PARTS 4
struct sp_module_part {
    const char *path, *id;
    char part[32];
};
/* FILE, KERNEL: the files that were found; looks for a debug file, too. SPAA_ERR_NOMEM, SPAA_ERR_IO:
 * reported. */
spaa_status sp_module_parts(struct sp_module *m, struct sp_module_part out[SP_MODULE_PARTS], size_t *n);
/*
 * FILE: the symbol that covers an address as linked: where it begins and ends, and its name as in the file.
 * False: none does, or the lookup failed (sp_symbols_failed).
 */
bool sp_module_extent(struct sp_module *m, uint64_t vaddr, uint64_t *start, uint64_t *end, const char **name);
/* FILE: where the one global symbol of this name is, as linked. False: there is none, or the lookup failed.
 */
bool sp_module_symbol(struct sp_module *m, const char *name, uint64_t *vaddr);
/*
 * FILE: a file offset to the ELF virtual address (by PT_LOAD); false when no ELF file is there to say.
 */
bool sp_module_vaddr(const struct sp_module *m, uint64_t file_offset, uint64_t *vaddr);
/* FILE: whether an address as linked is in a part that is loaded and not to be executed: no code can stand
 * there. False where no ELF file is there to say. */
bool sp_module_is_data(const struct sp_module *m, uint64_t vaddr);
/*
 * The frames at an address, innermost first, physical one last: FILE: ELF virtual address; KERNEL,
 * KMOD, JIT: absolute address of the recording. 0 when there is no name. At most max (>= 1) frames
 * are returned, the innermost ones left out first. The physical frame has the name of the symbol table
 * where that knows one; the frames inlined into it share its symoff.
 */
size_t sp_module_resolve(struct sp_module *m, uint64_t addr, struct sp_resolved *out, size_t max);
/* The same, of the code that sp_module_code named. */
size_t sp_module_resolve_code(struct sp_module *m, uint32_t code, uint64_t addr, struct sp_resolved *out,
                              size_t max);
/* Counts an address that was not asked about because the file is not there to say what it is in it. */
void sp_module_missed(struct sp_module *m);
/*
 * FILE: where the function begins and ends that an address is in, which was not resolved: nobody knows its
 * name, but that it is one function. False: nothing says so, or the lookup failed.
 */
bool sp_module_unnamed(struct sp_module *m, uint64_t addr, uint64_t *start, uint64_t *end);
/* FILE: bytes of its code as linked, as the file has them; how many of n: fewer at the end of what it has,
 * and 0 where no file is there. */
size_t sp_module_bytes(struct sp_module *m, uint64_t vaddr, unsigned char *out, size_t n);
/* FILE: a source file of it, by its absolute path, of debuginfod's servers; *out NULL: none. SPAA_ERR_NOMEM.
 */
spaa_status sp_module_fetch_source(struct sp_module *m, const char *path, const char **out);
/* Reads with several threads what these addresses of a FILE need. Answers do not depend on it. */
void sp_module_prepare(struct sp_module *m, const uint64_t *addrs, size_t n, unsigned jobs);
/* Demangles C++, Rust (legacy, v0) and D; NULL when the name is not mangled. Lives in the symbolizer. */
const char *sp_symbols_demangle(struct sp_symbols *s, const char *name);
/* Why some answer is not what it should be: no memory, or a file that changed; it was reported. Ask last. */
spaa_status sp_symbols_failed(const struct sp_symbols *s);
/*
 * Why modules have no symbols (or only the exported ones), as infos (SP_I320) with the number of
 * addresses that got no name, the five worst one by one; SP_W312 too where a file was of another build.
 * Call once after all lookups.
 */
void sp_symbols_report(struct sp_symbols *s);
/* Which files gave names and no lines, for those who asked for lines (SP_I803). */
void sp_symbols_report_lines(struct sp_symbols *s);

#endif
