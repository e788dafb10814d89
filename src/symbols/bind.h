/*
 * From places in code to frames of a profile: the one way there is.
 *
 * A reader knows what was mapped where and when. Of each address it says which object of code it lies in (a
 * file, the kernel, memory that a process wrote itself, …) and where in it. What that place is called is
 * decided here: the functions, with those inlined, and their lines; DSO and address as linked; `[jit]` where
 * the map or dump of a process knows its code, else `[anon]` or `[unknown]`; `[kernel]`; the address in hex
 * where nobody has a name.
 *
 *     uint32_t object = sp_binder_object(b, &(struct sp_object){…});        found by content, or new
 *     sp_bind(b, &(struct sp_place){.object = object, .addr = …, .code = SP_MODULE_LATEST}, &place);
 *     const uint32_t *frames = sp_binder_frames(b, place, &n);              innermost first
 *
 * Each place is looked up once. A DSO enters the profile with its first frame. Not thread-safe.
 */
#ifndef SP_BIND_H
#define SP_BIND_H

#include "model/profile.h"
#include "symbols/symbols.h"

enum sp_object_kind {
    SP_OBJECT_FILE,
    SP_OBJECT_SPECIAL,   /* [vdso] and other names in brackets: offsets, no file */
    SP_OBJECT_ANONYMOUS, /* memory; code that its process has a map or dump of if pid > 0 */
    SP_OBJECT_UNMAPPED,  /* nothing is known to have been there: the same */
    SP_OBJECT_KERNEL,
    SP_OBJECT_KMOD,
    SP_OBJECT_BPF,     /* one function: its name is all that is known */
    SP_OBJECT_PATCH,   /* the same, of code that the kernel made for itself (ftrace, kprobes) */
    SP_OBJECT_FOREIGN, /* guests and the hypervisor: never looked up here */
};

/* Texts are copied. Objects are one if all but `place.map_…` is equal. */
struct sp_object {
    enum sp_object_kind kind;
    bool is_kernel;
    bool doubtful; /* FILE: as sp_dso */
    bool replaced; /* FILE: as sp_module_key */
    bool memfd;    /* FILE: a program, or code that its process has a map or dump of */
    struct sp_str
        path; /* as recorded; of BPF and PATCH the name of the function; of KMOD with brackets or not */
    struct sp_str name;     /* of its DSO; n 0: by its kind, else the path */
    struct sp_str build_id; /* n 0: not known */
    int64_t pid;            /* ANONYMOUS, UNMAPPED, memfd; else 0 */
    uint64_t kernel_text;   /* of the kernel's: where _text is taken to have stood; 0: not known */
    uint64_t start;         /* BPF, PATCH */
    /* What is known of it. Of FILE, `ips` says what the addresses of places are; once the file is found, ips
     * of frames are linked. `base` of a FILE: what its code is told apart from others' by */
    struct sp_dso_place place;
    uint32_t extra_json; /* of its DSO */
    uint32_t origin;     /* objects of different origin are different */
};

struct sp_place {
    uint64_t addr; /* of the kernel's and of memory: in the recording; of others: in the object */
    uint32_t object;
    uint32_t code;  /* sp_module_code; SP_MODULE_LATEST */
    uint8_t kind;   /* enum sp_frame_kind, of its frames */
    bool is_return; /* what was called stands before it */
};

/* What stands at a place. */
#define SP_NAMED_MAX 64u
struct sp_named {
    struct sp_resolved frames[SP_NAMED_MAX]; /* innermost first, the physical function last */
    size_t n;                                /* 0: it has no name */
    uint32_t name; /* the profile's, that the physical function keeps; SP_STR_NONE: what was looked up */
    uint64_t ip;
    bool has_start; /* n 0: it is known where the function begins that nobody names */
    uint64_t start; /* that, as linked */
    uint64_t moved; /* what makes addresses that were looked up (sp_resolved.start) addresses as linked */
};

struct sp_numbers {
    uint32_t *v;
    size_t n, cap;
};

struct sp_binder;
/* `keep`: what is kept of frames. Lines are not looked up where frames have none. */
spaa_status sp_binder_new(struct sp_profile *p, const struct sp_symbol_opts *opts, enum sp_granularity keep,
                          struct sp_diags *d, struct sp_binder **out);
void sp_binder_free(struct sp_binder *b); /* NULL is fine */
struct sp_symbols *sp_binder_symbols(const struct sp_binder *b);

/* Finds or adds; SP_NONE: out of memory. */
uint32_t sp_binder_object(struct sp_binder *b, const struct sp_object *o);
const struct sp_object *sp_binder_object_at(const struct sp_binder *b, uint32_t object);
size_t sp_binder_objects(const struct sp_binder *b);
/* Where a FILE's code is mapped from, of which the first part is kept, should it have been split. */
void sp_binder_mapped(struct sp_binder *b, uint32_t object, uint64_t offset, uint64_t size);
/*
 * The symbolizer's module of an object, opened with an address in it that is asked for first; *out is NULL
 * where nobody can be asked.
 */
spaa_status sp_binder_module(struct sp_binder *b, uint32_t object, uint64_t addr, struct sp_module **out);
/* Whether an object is a file and this is its module. */
bool sp_binder_is_of(const struct sp_binder *b, uint32_t object, const struct sp_module *m);
/* What a process wrote into memory itself. */
uint32_t sp_binder_written(struct sp_binder *b, int64_t pid);
/*
 * A memfd's code may be what its process wrote there, if its map or dump covers this address of the
 * recording: *object becomes that then.
 */
spaa_status sp_binder_memfd(struct sp_binder *b, uint32_t *object, uint64_t addr);
/* The DSO of an object's frames without the names of just-in-time code; SP_NONE: out of memory. */
uint32_t sp_binder_dso(struct sp_binder *b, uint32_t object);
/* The same, if it is in the profile already; else SP_NONE. */
uint32_t sp_binder_dso_made(const struct sp_binder *b, uint32_t object);

/* The number of a place, which is looked up the first time. Failures are reported. */
spaa_status sp_bind(struct sp_binder *b, const struct sp_place *place, uint32_t *out);
const uint32_t *sp_binder_frames(const struct sp_binder *b, uint32_t place, size_t *n);
const struct sp_place *sp_binder_place(const struct sp_binder *b, uint32_t place);
/* The file of a place, NULL where its addresses are no file's as linked, and its ip there. */
struct sp_module *sp_binder_linked(const struct sp_binder *b, const struct sp_place *place, uint64_t *ip);
/* Reads with several threads what these places of one object need; answers do not depend on it. */
spaa_status sp_binder_prepare(struct sp_binder *b, const struct sp_place *places, size_t n, unsigned jobs);

/* The two halves of sp_bind, for who has a say between them: what is there, and frames of it. */
spaa_status sp_binder_name(struct sp_binder *b, const struct sp_place *place, struct sp_named *out);
spaa_status sp_binder_put(struct sp_binder *b, const struct sp_place *place, const struct sp_named *named,
                          uint32_t extra_json, struct sp_numbers *out);
/*
 * A frame that the file names itself, cut to what is kept of frames. All strings and numbers are the
 * profile's; SP_NONE, also of SP_STR_FAIL in them: out of memory.
 */
uint32_t sp_binder_frame(struct sp_binder *b, const struct sp_frame *frame, uint32_t name, uint32_t dso);
uint32_t sp_unknown_dso(struct sp_profile *p); /* `[unknown]`; SP_NONE: out of memory */
/* "0x…" as the name of what has none, "orders+0x2d80" of a function that begins there. */
uint32_t sp_unnamed(struct sp_profile *p, uint64_t ip);
uint32_t sp_unnamed_function(struct sp_profile *p, uint32_t dso, uint64_t start);

/*
 * A frame of a function that the symbolizer found where its file is linked, in a DSO of the profile: `frame`
 * with that function and what is known of it, cut to what is kept of frames. SP_NONE: out of memory.
 */
uint32_t sp_bind_function(struct sp_profile *p, const struct sp_resolved *r, uint32_t dso,
                          const struct sp_frame *frame, enum sp_granularity keep);

/* After the last place: what has no names and why, and notes on the profile's DSOs. */
spaa_status sp_binder_report(struct sp_binder *b);

#endif
