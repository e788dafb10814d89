/*
 * Functions by their machine code: where control goes from them.
 *
 * A function is what a symbol covers, or where there is none, what an FDE does. Its code is decoded once,
 * from its first byte on; where that cannot be done, or a jump goes where a register says, it is `open`: it
 * may go anywhere. Calls through slots of the loader lead to names, which several files may export.
 */
#ifndef SP_FUNCTIONS_H
#define SP_FUNCTIONS_H

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "dwarf/cfi.h"
#include "symbols/symbols.h"
#include "unwind/code.h"

/* A file that has code, by its number in the table. */
struct sp_code_module {
    struct sp_module *symbols;
    /* The recorded build's; NULL: not at hand. Without a build-id a file tells of names only. */
    struct sp_mcode *code, *names;
    struct sp_cfi *cfi; /* NULL: not needed yet, or none */
    bool cfi_tried;
    bool main_tried, has_main; /* it is a program, and has a symbol `main` there */
    uint64_t main;
};

/* Where a jump or call leads: a place of the function's own module, or a name. */
struct sp_code_exit {
    uint64_t to;
    const char *name; /* NULL: `to` is the place */
};

struct sp_function_code {
    uint64_t start, end;
    const char *name; /* NULL: of an FDE */
    uint32_t module;
    bool read, calls_read, pointer_read;
    bool open;                                     /* control may leave it to where nobody can say */
    bool open_calls;                               /* it calls what nobody can say */
    uint32_t first_exit, exits, first_call, calls; /* slices of `to`: jumps out of it, and its calls */
    int32_t own_pointer; /* bytes from its start to what may set the frame pointer; -1: it cannot be read */
};

struct sp_functions {
    struct sp_diags *d;
    SP_VEC(struct sp_code_module) modules;
    SP_VEC(struct sp_function_code) functions;
    SP_VEC(struct sp_code_exit) to;
    struct sp_map module_map, function_map;
    SP_VEC(unsigned char) bytes;
    spaa_status failed;
};

void sp_functions_free(struct sp_functions *f);
/* The number of a module; UINT32_MAX: out of memory, or a failure that was reported: see failed. */
uint32_t sp_functions_module(struct sp_functions *f, struct sp_module *m);
/* Whether all files could be read that were asked for something; false: failed. */
bool sp_functions_whole(struct sp_functions *f);
/* The function at an address of a module; UINT32_MAX: it is not known, or failed. */
uint32_t sp_functions_at(struct sp_functions *f, uint32_t module, uint64_t addr);
/* Where a program's `main` is; false: it is a library, or has no such symbol. */
bool sp_functions_main(struct sp_functions *f, uint32_t module, uint64_t *main);
/* Its exits; its calls; false: failed. */
bool sp_functions_exits(struct sp_functions *f, uint32_t function);
bool sp_functions_calls(struct sp_functions *f, uint32_t function);
/*
 * x86-64: whether the frame pointer at this address is proven to be another function's: call frame
 * information finds the caller by the stack pointer, and no instruction before it in its function sets the
 * frame pointer. Who walks by frame pointers skips the caller of such a frame. Code without the tables proves
 * nothing.
 */
bool sp_functions_frameless(struct sp_functions *f, uint32_t module, uint64_t at);
/* Where an instruction begins that ends at `at` in the function: its kind, 0 when that is not known. */
unsigned sp_functions_kind_before(struct sp_functions *f, uint32_t function, uint64_t at);

#endif
