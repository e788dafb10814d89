/*
 * SPT (Sample Profile Trace): what Windows' SPTAggregate makes for sample-guided optimization.
 *
 * Microsoft's page on SPTDump describes version 1: a header of 32 bytes, a string table, a table of program
 * IDs (GUID, age, string index), and a stream of segments, each of one binary:
 *
 *     81 pad id:2 length:4            BINARY_ID; length counts from itself to the next segment
 *     82 pad count:8                  REPEAT: the next record counts 1 + count times
 *     01..05, 41  N rva:4 * N         samples of the instruction pointer
 *     10  N (to:4 from:4) * N         branches (LBR)
 *     42  N rva:4 * N                 a call stack, leaf first
 *
 * All numbers are little-endian. What the page leaves open, and how damage is survived, is said at the code:
 * header.c (signature, tables, names), stream.c (segments, REPEAT, resynchronising).
 *
 * This is the decoder, for all who look at traces; tally.h sums one up. From and to profiles: formats/spt.
 *
 * One decoder serves the reader, the validator, `spaa dump` and sptdump: sp_spt_open, then sp_spt_next until
 * SP_SPT_END. Both report what they find, with its offset, into the diagnostics they were given.
 */
#ifndef SP_SPT_H
#define SP_SPT_H

#include "base/arena.h"
#include "formats/format.h"
#include "symbols/rsds.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SP_SPT_HEADER_BYTES = 32,
    SP_SPT_PROGRAM_BYTES = 24,
    SP_SPT_RECORD_BYTES = 2 + 8 * 255, /* of the largest record */
    SP_SPT_STRINGS_USUAL = 0x4000,
    SP_SPT_PROGRAMS_USUAL = 0x100,
};
#define SP_SPT_SIGNATURE 0x5350543Au

enum sp_spt_op {
    SP_SPT_UNHALT_CYCLE = 0x01,
    SP_SPT_RETIRE_INSTR = 0x02,
    SP_SPT_RETIRE_BR_INSTR = 0x03,
    SP_SPT_L1_ICACHE_MISS = 0x04,
    SP_SPT_L1_DCACHE_MISS = 0x05,
    SP_SPT_LBR = 0x10,
    SP_SPT_ETW_INSTR = 0x41,
    SP_SPT_ETW_CALLSTACK = 0x42,
    SP_SPT_BINARY_ID = 0x81,
    SP_SPT_REPEAT = 0x82,
};

/* The opcodes that count something, densely: what tables are indexed by. */
enum { SP_SPT_IP_KINDS = 6, SP_SPT_KIND_LBR = 6, SP_SPT_KIND_CALLSTACK = 7, SP_SPT_KINDS = 8 };

struct sp_spt_kind {
    unsigned char op;
    const char *name;  /* "SPT_OP_LBR" */
    const char *event; /* "lbr" */
    enum sp_event_kind kind;
};
extern const struct sp_spt_kind sp_spt_kinds[SP_SPT_KINDS];
int sp_spt_kind_of(unsigned char op);         /* -1: REPEAT, BINARY_ID, and what is no opcode */
const char *sp_spt_op_name(unsigned char op); /* of any opcode; NULL: unknown */

#define SP_SPT_NO_NAME "[no name]" /* of a program whose name is empty; written as that */

struct sp_spt_program {
    struct sp_rsds rsds;
    uint32_t string;    /* index as it stands */
    struct sp_str name; /* SP_SPT_NO_NAME: an empty one; "[program 3]": the index leads to none */
};

/* What stands before the data stream. Owned by whoever called sp_spt_open. */
struct sp_spt {
    bool text_order; /* the signature reads "SPT:" in the file */
    uint32_t signature, version, raw_data_id, target_arch;
    uint32_t strings_at, programs_at;
    uint16_t strings_used, strings_capacity, programs_used, programs_capacity;
    uint64_t data_at;    /* where the data stream begins */
    bool ordinals;       /* string indexes are ordinals */
    const char *strings; /* the used part, as far as the file has it */
    size_t nstrings;     /* bytes of it */
    struct sp_spt_program *programs;
    uint32_t nprograms; /* as many of programs_used as there are */
    bool streams;       /* the data stream can be read */
    struct sp_arena arena;
};

enum sp_spt_what {
    SP_SPT_END,
    SP_SPT_SEGMENT,  /* BINARY_ID */
    SP_SPT_REPEATED, /* REPEAT: `count` */
    SP_SPT_EVENT,    /* any kind that counts */
    SP_SPT_BYTES,    /* not understood: pieces of at most SP_SPT_PIECE bytes */
};
enum { SP_SPT_PIECE = 4096 };

struct sp_spt_record {
    enum sp_spt_what what;
    uint64_t offset;
    unsigned char op, second; /* the first two bytes: opcode, and N or padding */
    unsigned n;               /* entries of an event */
    int kind;
    const unsigned char *entries; /* of an event; of BYTES, the bytes. Lent until the next call */
    size_t size;                  /* of the whole record */
    uint64_t hits;                /* of an event: 1 + repeats; 0: beyond 64 bits, not to be counted */
    uint64_t count;               /* of a REPEAT */
    uint32_t segment;             /* from 0 */
    uint32_t program, length;     /* program: the segment's */
};

enum sp_spt_mode { SP_SPT_READING, SP_SPT_TO_STOP, SP_SPT_SEARCHING };

struct sp_spt_stream {
    const struct sp_spt *file;
    struct sp_input *in;
    struct sp_diags *d;
    const unsigned char *base, *p, *end; /* the view; what was used of it is [base, p) */
    uint64_t at;                         /* the offset of p */
    bool last;                           /* the view reaches to the end of the input */
    bool inside, any;                    /* in a segment; there was one */
    uint64_t begin, stop;                /* the segment's */
    uint32_t segment, program;
    uint64_t repeat, repeat_at;
    bool repeating, too_many;
    enum sp_spt_mode mode;
    uint64_t lost_at, lost; /* where the bytes being skipped began, and how many */
    bool lost_zero;         /* all of them are 0 */
    uint64_t skipped;       /* in all */
    bool done;
};

static inline uint16_t sp_spt_u16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t sp_spt_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t sp_spt_u64(const unsigned char *p)
{
    return sp_spt_u32(p) | (uint64_t)sp_spt_u32(p + 4) << 32;
}

/*
 * header.c: reads what stands before the data stream and consumes it. SPAA_ERR_INPUT, reported, when it is no
 * SPT or of another version; with SPAA_OK `streams` may still be false (reported too).
 */
spaa_status sp_spt_open(struct sp_input *in, struct sp_diags *d, struct sp_spt *out);
void sp_spt_close(struct sp_spt *f); /* a zeroed one is fine */
int sp_spt_probe(const unsigned char *p, size_t n, bool whole, const char **reason);
/* The name of a program, also of one that is not in the table. */
struct sp_str sp_spt_program_name(const struct sp_spt *f, uint32_t program, char room[static 32]);
/* Whether programs a and b are one binary. */
bool sp_spt_same_program(const struct sp_spt *f, uint32_t a, uint32_t b);

/* A number of hits: 96 bits, so that no file overflows them. */
struct sp_spt_sum {
    uint64_t low;
    uint32_t high;
};

static inline void sp_spt_add(struct sp_spt_sum *s, uint64_t hits)
{
    s->high += __builtin_add_overflow(s->low, hits, &s->low);
}

/* The part of a Windows or POSIX path after the last separator. */
struct sp_str sp_spt_base_name(struct sp_str path);
/*
 * Whether a program called `name` is the one that is asked for: as it stands, by its base name, or without
 * its extension; in any case of letters.
 */
bool sp_spt_name_is(struct sp_str name, struct sp_str asked);

/* stream.c: the data stream, from where sp_spt_open left the input. */
void sp_spt_begin(struct sp_spt_stream *s, struct sp_input *in, const struct sp_spt *file,
                  struct sp_diags *d);
/* The next record; SP_SPT_END for ever after the last. Fails as the input does. */
spaa_status sp_spt_next(struct sp_spt_stream *s, struct sp_spt_record *out);

#endif
