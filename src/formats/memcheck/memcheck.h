/*
 * Parts of the reader of memcheck's logs: what valgrind found that a program had not freed at its end.
 *
 *     ==2628== HEAP SUMMARY:
 *     ==2628==     in use at exit: 13,840 bytes in 19 blocks
 *     ==2628==   total heap usage: 43 allocs, 24 frees, 423,112 bytes allocated
 *     ==2628==
 *     ==2628== 640 (64 direct, 576 indirect) bytes in 1 blocks are definitely lost in loss record 3 of 11
 *     ==2628==    at 0x48417B4: malloc (in /usr/lib/vgpreload_memcheck.so)
 *     ==2628==    by 0x10928D: list (vg_heap.c:18)
 *     ==2628==
 *     ==2628== LEAK SUMMARY:
 *     ==2628==    definitely lost: 13,264 bytes in 10 blocks
 *
 * or the same as XML (docs/internals/xml-output-protocol4.txt), which has no summaries. By
 * memcheck/mc_leakcheck.c and mc_errors.c. Between the signs stands the process, with --time-stamp=yes behind
 * a time: several write to one log. What is lost indirectly is found through other lost blocks, and has
 * records of its own where they are shown: so bytes of a record are its direct ones, as in the summary.
 *
 * A program may ask for leak checks while it runs: each lists all that is lost then, so they do not add up.
 * The last one counts, which is that of the exit. With -q there are records alone.
 */
#ifndef SP_MEMCHECK_H
#define SP_MEMCHECK_H

#include "formats/common/text/lines.h"
#include "formats/common/valgrind/valgrind.h"

#define SP_MC_PROCESSES_MAX ((size_t)1 << 16)

enum sp_mc_kind { SP_MC_DEFINITE, SP_MC_INDIRECT, SP_MC_POSSIBLE, SP_MC_REACHABLE, SP_MC_KINDS };
extern const char *const sp_mc_words[];  /* in enum order: "definitely lost" */
extern const char *const sp_mc_labels[]; /* "definite" */

struct sp_mc_amount {
    int64_t bytes, blocks;
};

/* "640 (64 direct, 576 indirect) bytes in 1 blocks are definitely lost in loss record 3 of 11" */
struct sp_mc_leak {
    enum sp_mc_kind kind;
    struct sp_mc_amount direct;
    int64_t indirect; /* bytes */
    int64_t number, of;
};
bool sp_mc_leak(const char *p, size_t n, struct sp_mc_leak *out);
/* "13,840 bytes in 19 blocks", and in later checks "133 (+33) bytes in 2 (+1) blocks". */
bool sp_mc_amount(const char *p, size_t n, struct sp_mc_amount *out);
/* "43 allocs, 24 frees, 423,112 bytes allocated" */
struct sp_mc_usage {
    int64_t allocs, frees, bytes;
};
bool sp_mc_usage(const char *p, size_t n, struct sp_mc_usage *out);
/* "==2628== text", "--2628-- text", "**2628** text": the process and the text; false: it is none. */
bool sp_mc_line(const char *p, size_t n, int64_t *pid, char *sign, struct sp_str *text);
int sp_mc_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

struct sp_mc_record {
    struct sp_mc_leak leak;
    uint32_t process, search;
    size_t first, n; /* slice of places */
};

struct sp_mc_process {
    int64_t pid, parent; /* SP_ABSENT: not known */
    uint32_t command;
    uint32_t search;    /* the leak check in work, from 1 */
    uint32_t done;      /* the last one that has a summary; 0: none */
    uint32_t checks;    /* how many there were */
    bool exited, ended; /* its HEAP SUMMARY was seen, its last line */
    bool has_summary, in_summary, has_in_use, has_usage, freed;
    struct sp_mc_amount summary[SP_MC_KINDS], suppressed, in_use;
    struct sp_mc_usage usage;
    uint64_t errors; /* that are no leaks */

    bool open, headline; /* a record is; the line before began something */
    struct sp_mc_leak leak;
    SP_VEC(struct sp_vg_place) path;
};

struct sp_mc {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_lines lines;
    struct sp_vg vg;
    struct sp_vg_event event;
    SP_VEC(struct sp_mc_process) processes;
    size_t last; /* the process of the line before */
    struct sp_map pids;
    SP_VEC(struct sp_mc_record) records;
    SP_VEC(struct sp_vg_place) places;
    uint64_t other_lines, lost_stacks;
    bool xml, all_kinds, cut;
};

/* leaks.c: processes and their records. NULL: out of memory, or too many. */
struct sp_mc_process *sp_mc_process(struct sp_mc *m, int64_t pid);
spaa_status sp_mc_begin(struct sp_mc *m, struct sp_mc_process *x, const struct sp_mc_leak *leak);
spaa_status sp_mc_frame(struct sp_mc *m, struct sp_mc_process *x, const struct sp_vg_frame *f);
spaa_status sp_mc_end(struct sp_mc *m, struct sp_mc_process *x); /* of the open record, if any */
/* The process ends: leak checks up to here were of while it ran. */
void sp_mc_exit(struct sp_mc_process *x);
/* A leak check has its summary. */
void sp_mc_summary(struct sp_mc_process *x);

/* text.c, xml.c */
spaa_status sp_mc_take_line(void *reader, const char *p, size_t n);
spaa_status sp_mc_read_xml(struct sp_mc *m, const char *p, size_t n);

/* profile.c */
spaa_status sp_mc_finish(struct sp_mc *m);

#endif
