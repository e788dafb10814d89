/* The parts of `spaa symbols`: the symbol store (symbols/store.h), filled, listed, cleaned, packed. */
#ifndef SP_RUN_SYMBOLS_H
#define SP_RUN_SYMBOLS_H

#include "run/run.h"

#include "run/walk.h"
#include "symbols/store.h"

enum symbols_status {
    SYMBOLS_ADDED, /* or packed */
    SYMBOLS_THERE,
    SYMBOLS_MISSING, /* it was not found */
    SYMBOLS_REFUSED  /* it is not what it should be, or nobody can say which build it is */
};

/* A file that is to be kept, and what became of it. Texts live in the list. */
struct symbols_file {
    const char *name; /* as recorded, or as given */
    const char *path; /* where it is; NULL: nowhere */
    const char *id;   /* NULL: not known */
    char part[SP_STORE_PART_ROOM];
    uint64_t bytes;
    enum symbols_status status;
    const char *why, *hint; /* of what is missing or refused; hint may be "" */
};
struct symbols_files {
    SP_VEC(struct symbols_file) v;
    struct sp_arena arena;
};
/* symbols_files.c */
void sp_run_symbols_files_free(struct symbols_files *x);
/* Adds one; its texts are copied. SPAA_ERR_NOMEM is reported. */
spaa_status sp_run_symbols_files_add(struct sp_run *run, struct symbols_files *x,
                                     const struct symbols_file *file);

/* symbols_gather.c: the files that a recording needs, by name, each once; those not found with the reason. */
spaa_status sp_run_symbols_gather(struct sp_run *run, const char *recording, struct symbols_files *out);
/* symbols_answer.c: what became of each; `store` NULL: they were packed. An exit code. */
int sp_run_symbols_answer(struct sp_run *run, const struct symbols_files *x, const char *store,
                          const char *packed);

/* symbols_put.c */
/*
 * A copy of an open file into the store, if it is what file->id and file->part say; sets status, bytes and
 * why. SPAA_ERR_NOMEM, SPAA_ERR_IO: reported.
 */
spaa_status sp_run_symbols_put(struct sp_run *run, const char *store, int fd, struct symbols_file *file);
/* Notes where a build was added from, if nobody did yet. */
spaa_status sp_run_symbols_put_name(struct sp_run *run, const char *store, const char *id, const char *name);
/* symbols_unpack.c: the files of an archive into the store. */
spaa_status sp_run_symbols_unpack(struct sp_run *run, const char *store, struct sp_input *in,
                                  struct symbols_files *out);
/* All bytes of a file that had this size when it was opened. Reported. */
spaa_status sp_run_symbols_copy(struct sp_run *run, int fd, uint64_t size, const char *path,
                                struct sp_output *out);

/* symbols_list.c: what is in a store, the most recently used first. */
struct symbols_build {
    char id[SP_STORE_ID_ROOM];
    uint64_t bytes;
    int64_t used;         /* seconds: when one of them was used last */
    size_t first, n;      /* of walk.paths */
    unsigned parts;       /* 1 << enum symbols_kind */
    const char *from;     /* NULL: nobody knows */
    bool removed, in_use; /* gc */
};
enum symbols_kind { SYMBOLS_FILE, SYMBOLS_DEBUG, SYMBOLS_PDB, SYMBOLS_KALLSYMS };
struct symbols_store {
    struct walk walk;
    SP_VEC(struct symbols_build) v;
    uint64_t bytes;
};
spaa_status sp_run_symbols_read(struct sp_run *run, const char *store, struct symbols_store *out);
void sp_run_symbols_store_free(struct symbols_store *x);
int sp_run_symbols_show(struct sp_run *run, const char *store, const struct symbols_store *x, bool gc);

/* The actions; exit codes. `store` NULL: there is none, and none is needed. */
int sp_run_symbols_add(struct sp_run *run, const char *store);
int sp_run_symbols_list(struct sp_run *run, const char *store);
int sp_run_symbols_gc(struct sp_run *run, const char *store);
int sp_run_symbols_pack(struct sp_run *run);

#endif
