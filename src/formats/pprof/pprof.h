/*
 * What the files of the pprof format share.
 *
 * A pprof profile is one protobuf message (profile.proto of github.com/google/pprof), gzip'ed or not:
 *
 * - Profile: 1 sample_type*, 2 sample*, 3 mapping*, 4 location*, 5 function*, 6 string_table*,
 *   7 drop_frames, 8 keep_frames, 9 time_nanos, 10 duration_nanos, 11 period_type, 12 period,
 *   13 comment*, 14 default_sample_type, 15 doc_url
 * - ValueType: 1 type, 2 unit
 * - Sample: 1 location_id* (leaf first), 2 value* (one per sample_type), 3 label*
 * - Label: 1 key, 2 str, 3 num, 4 num_unit
 * - Mapping: 1 id, 2 memory_start, 3 memory_limit, 4 file_offset, 5 filename, 6 build_id,
 *   7 has_functions, 8 has_filenames, 9 has_line_numbers, 10 has_inline_frames
 * - Location: 1 id, 2 mapping_id, 3 address, 4 line* (the innermost inlined one first), 5 is_folded
 * - Line: 1 function_id, 2 line, 3 column
 * - Function: 1 id, 2 name, 3 system_name, 4 filename, 5 start_line
 *
 * Strings are numbers in string_table, whose first one is empty. Producers write the parts in any order, the
 * strings mostly last, so the reader goes through the file twice. In the first pass it notes where the
 * messages are (decode.c) and indexes them by their ids; in the second it decodes the samples one by one
 * (reader.c). A location is decoded when the first sample needs it, and its frames are kept (frames.c).
 * labels.c makes contexts of labels, types.c events of sample types, header.c the header of what stands once.
 */
#ifndef SP_PPROF_H
#define SP_PPROF_H

#include "base/hash.h"
#include "formats/format.h"
#include "proto/wire.h"
#include "json/json.h"

#include <stddef.h>

enum {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE,
    PPROF_MAPPING,
    PPROF_LOCATION,
    PPROF_FUNCTION,
    PPROF_STRING,
    PPROF_DROP_FRAMES,
    PPROF_KEEP_FRAMES,
    PPROF_TIME,
    PPROF_DURATION,
    PPROF_PERIOD_TYPE,
    PPROF_PERIOD,
    PPROF_COMMENT,
    PPROF_DEFAULT_TYPE,
    PPROF_DOC_URL
};

#define PPROF_TYPES_MAX 64u               /* sample types */
#define PPROF_LINES_MAX 1024u             /* of one location */
#define PPROF_STACK_MAX ((size_t)1 << 20) /* frames of one stack */
/* Frames of all stacks that are always accepted; 16 per byte of the input beyond. */
#define PPROF_FRAMES_MIN ((size_t)1 << 24)
/* What DSOs say whose ips are offsets in the file. */

/* ---- decode.c: the messages as they stand in the file ---- */

/* Bytes of messages and strings lie in the input. */
struct sp_pprof_list {
    struct sp_str *v;
    size_t n, cap;
};
struct sp_pprof_numbers {
    uint64_t *v;
    size_t n, cap;
};
struct sp_pprof_amount {
    size_t n, bytes;
};

struct sp_pprof_profile_msg {
    struct sp_pprof_amount samples;
    struct sp_pprof_list sample_types, mappings, locations, functions, strings;
    struct sp_str period_type; /* p NULL: none */
    struct sp_pprof_numbers comments;
    uint64_t drop_frames, keep_frames, time, duration, period, default_sample_type, doc_url;
};
struct sp_pprof_value_type {
    uint64_t type, unit;
};
struct sp_pprof_sample_msg {
    struct sp_pprof_numbers locations, values;
    struct sp_pprof_list labels;
};
struct sp_pprof_label_msg {
    uint64_t key, str, num, unit;
};
struct sp_pprof_mapping_msg {
    uint64_t id, start, limit, offset, file, build_id, has[4];
};
struct sp_pprof_location_msg {
    uint64_t id, mapping, address, folded;
    struct sp_pprof_list lines;
};
struct sp_pprof_line_msg {
    uint64_t function, line, column;
};
struct sp_pprof_function_msg {
    uint64_t id, name, system_name, file, start_line;
};

struct sp_pprof_fields; /* the fields of a message: which there are, of what kind, and where they go */
extern const struct sp_pprof_fields sp_pprof_profile_fields, sp_pprof_value_type_fields,
    sp_pprof_sample_fields, sp_pprof_label_fields, sp_pprof_mapping_fields, sp_pprof_location_fields,
    sp_pprof_line_fields, sp_pprof_function_fields;
extern const struct sp_pprof_fields sp_pprof_id_fields; /* of any message that has an id: into a uint64_t */
const char *sp_pprof_message_name(const struct sp_pprof_fields *fields); /* "location" */

struct sp_pprof_decoder {
    struct sp_wire wire;
    struct sp_wire_field field; /* the one that was read last */
    const char *error;          /* what is damaged first, and where; NULL: nothing */
    const unsigned char *at;
    bool nomem;
};
static inline struct sp_pprof_decoder sp_pprof_decoder_of(const void *p, size_t n)
{
    return (struct sp_pprof_decoder){.wire = sp_wire_of(p, n)};
}
/*
 * Decodes a message into its zeroed struct; repeated fields are appended. True: `field`, at wire.at, is none
 * of the table, or of another type than there; call it again for what follows. False: at the end, where
 * `error` and `nomem` tell of all that was read.
 */
bool sp_pprof_decode(struct sp_pprof_decoder *d, const struct sp_pprof_fields *fields, void *out);

int sp_pprof_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

/* ---- the reader's state ---- */

/* Numbers of messages by their ids: an array where they are dense, as they mostly are. */
struct sp_pprof_ids {
    uint32_t *dense; /* 1 + number */
    size_t ndense;
    uint64_t *ids; /* by number */
    struct sp_map map;
};
void sp_pprof_put_hex(struct sp_buf *b, const void *bytes, size_t n); /* "hex":"…"} */
uint64_t sp_pprof_id_hash(uint64_t id);
uint32_t sp_pprof_find_in_map(const struct sp_pprof_ids *ids, uint64_t id);
/* The number of the message with this id; SP_NONE: there is none. */
static inline uint32_t sp_pprof_find(const struct sp_pprof_ids *ids, uint64_t id)
{
    return id < ids->ndense ? ids->dense[id] - 1 : sp_pprof_find_in_map(ids, id);
}

struct sp_pprof_mapping {
    uint64_t start, limit, offset;
    uint32_t file, build_id; /* strings of the profile; build_id whatever it looks like */
    uint32_t dso;            /* SP_NONE: none of the profile */
    uint32_t next;           /* the next mapping of the same DSO; SP_NONE: none */
    uint8_t has;             /* bits: functions, filenames, lines, inlines */
    bool stated;             /* a file said so, not a writer */
    bool gone;               /* of use to no address any more */
};

/* Mappings of a profile, and where the frames of its DSOs belong. */
struct sp_pprof_mappings {
    SP_VEC(struct sp_pprof_mapping) list;
    SP_VEC(uint32_t) first; /* by DSO; SP_NONE: none */
    uint32_t unknown;       /* the DSO "[unknown]"; SP_NONE: not there */
};

struct sp_pprof_type {
    struct sp_pprof_value_type value;
    uint32_t event; /* in sp_pprof.event */
    uint32_t metric;
};
struct sp_pprof_event {
    uint32_t number, layout;
    uint32_t ntypes, types[PPROF_TYPES_MAX];
};

enum { PPROF_PID, PPROF_TID, PPROF_COMM, PPROF_KEYS };
/*
 * Labels that have a name of SPAA only where a writer of ours put them there: the comment PPROF_MARK says
 * under which keys, as "spaa labels: state=state cpu=cpu". Others may mean anything by these words.
 */
enum { PPROF_STATE, PPROF_CPU, PPROF_SOURCE, PPROF_MARKED };
extern const char *const sp_pprof_marked[PPROF_MARKED];
#define PPROF_MARK "spaa labels:"
/* Which label is the pid, the tid, the thread's name: the first one of a known spelling. */
struct sp_pprof_key {
    bool set, text;
    uint64_t key, unit; /* strings of the file */
};

struct sp_pprof_label_set {
    size_t at, n; /* its bytes in label_text */
    int64_t pid, tid, cpu;
    uint32_t comm, state, source;
    uint32_t labels; /* the others: a set */
};

/* A function as its frames need it. */
struct sp_pprof_function {
    struct sp_pprof_function_msg m;
    uint32_t name;          /* in the profile; of no use where it is not `named` */
    uint32_t dso, interned; /* the function of the profile in this DSO; SP_NONE: none yet */
    uint32_t info;          /* sp_frame.info: system name, file and first line */
    uint32_t more;          /* of frames of which nothing else is to be said; SP_STR_FAIL: none yet */
    bool decoded;           /* and nothing about it must be reported each time */
    bool named;             /* else by the address */
    bool is_placeholder;    /* its name is none: "[unknown]" */
    bool has_name;          /* else by the system name, if that */
    bool no_system;         /* has a name and no system name */
};

/* The frames of a location: loc_frames[first..+n); n 0: no sample has needed it yet. */
struct sp_pprof_location {
    uint32_t first, n;
};

struct sp_pprof {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    const unsigned char *in;
    size_t n;

    struct sp_pprof_profile_msg file;
    uint32_t *strings;     /* of the file as strings of the profile; 0: not yet */
    struct sp_buf unknown; /* fields of Profile that are not known, as items of a JSON array */
    uint64_t odd;          /* unknown fields inside of messages */
    uint64_t findings;     /* what was reported of messages, and such fields */
    bool damaged_text;     /* a label's key is no UTF-8 */

    /* types.c */
    uint32_t ntypes, nevents, default_type;
    struct sp_pprof_type type[PPROF_TYPES_MAX];
    struct sp_pprof_event event[PPROF_TYPES_MAX];
    struct sp_pprof_value_type period_type;

    /* by number, in the order of the file */
    struct sp_pprof_ids mapping_ids, location_ids, function_ids;
    struct sp_pprof_mappings maps;
    uint32_t unknown_dso;
    struct sp_pprof_location *locations;
    struct sp_pprof_function *functions;
    uint32_t *single_frames; /* by location ids that are dense: 1 + the frame, if one is all that was made */

    /* frames.c */
    SP_VEC(uint32_t) loc_frames;
    SP_VEC(struct sp_pprof_line_msg) lines; /* of the location in work; `function` is a number */
    struct sp_pprof_location_msg location;  /* in work */
    uint64_t used;                          /* locations that samples needed */

    /* reader.c: the sample in work, and its frames */
    struct sp_pprof_sample_msg sample;
    SP_VEC(uint32_t) stack;

    /* labels.c */
    struct sp_pprof_key keys[PPROF_KEYS];
    struct sp_str marked[PPROF_MARKED]; /* keys of labels; n 0: not marked */
    bool had_marked[PPROF_MARKED];
    SP_VEC(struct sp_pprof_label_set) sets;
    SP_VEC(uint32_t) contexts; /* by set and event */
    struct sp_buf label_text;
    struct sp_map set_map;

    struct sp_buf text, text2; /* scratch */
};

/* ---- reader.c ---- */

static inline struct sp_where sp_pprof_at(const struct sp_pprof *pp, const void *p)
{
    return SP_AT((uint64_t)((const unsigned char *)p - pp->in));
}
/* A string of the file; dangling numbers are reported, and empty. */
struct sp_str sp_pprof_text(struct sp_pprof *pp, uint64_t i);
/* The string of the profile for it; SP_STR_FAIL: out of memory. */
uint32_t sp_pprof_str(struct sp_pprof *pp, uint64_t i);
/* Appends a JSON string, or {"hex":"…"} for bytes that are no UTF-8. */
void sp_pprof_json(struct sp_buf *b, struct sp_str s);
/* Decodes a nested message into its zeroed struct, and reports what is wrong with it; false: out of memory.
 */
bool sp_pprof_read(struct sp_pprof *pp, const struct sp_pprof_fields *fields, struct sp_str message,
                   void *out);

/* ---- types.c: events and metrics of the sample types ---- */
spaa_status sp_pprof_types(struct sp_pprof *pp);

/* ---- frames.c: makes the frames of a location that has none yet; false: out of memory ---- */
bool sp_pprof_frames(struct sp_pprof *pp, uint32_t location);

/* ---- labels.c ---- */

void sp_pprof_find_mark(struct sp_pprof *pp); /* of the comments, of which it is none then */
/* The set that some labels are; SP_NONE: out of memory. The one of no labels is 0. */
uint32_t sp_pprof_label_set(struct sp_pprof *pp, const struct sp_pprof_list *labels);
/* The context of a set of labels in an event (of sp_pprof.event); SP_NONE: out of memory. */
uint32_t sp_pprof_context(struct sp_pprof *pp, uint32_t set, uint32_t event);

/* ---- header.c ---- */
spaa_status sp_pprof_header(struct sp_pprof *pp);

/* ---- mappings.c: what reader and writer must see alike ---- */

extern const char *const sp_pprof_key_names[PPROF_KEYS]; /* in the header's x_pprof.keys */
extern const char *const sp_pprof_has_names[4]; /* bits of sp_pprof_mapping.has, in x_pprof.mappings */
bool sp_pprof_mappings_index(struct sp_pprof_mappings *m, size_t ndsos);
/* The mapping that a frame of this DSO and ip has when nothing else is said; SP_NONE: none. */
uint32_t sp_pprof_mapping_guess(const struct sp_pprof_mappings *m, uint32_t dso, bool has_ip, uint64_t ip);
bool sp_pprof_is_build_id(struct sp_str s);
/* Its addresses are those of the file as linked: pprof looks up what is mapped from 0 to nowhere as it is. */
static inline bool sp_pprof_is_linked(const struct sp_pprof_mapping *m)
{
    return !m->start && !m->offset && (!m->limit || m->limit == UINT64_MAX);
}
/* Units of SPAA for those of pprof, and back. */
struct sp_str sp_pprof_unit_in(struct sp_str unit);
struct sp_str sp_pprof_unit_out(struct sp_str unit);
static inline struct sp_str sp_pprof_literal(const char *s)
{
    return (struct sp_str){s, (uint32_t)strlen(s)};
}
static inline bool sp_pprof_same(struct sp_str a, struct sp_str b)
{
    return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

/* ---- write.c ---- */
/* reader.c, write.c */
spaa_status sp_pprof_read_file(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                               struct sp_profile *p);
spaa_status sp_pprof_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                           struct sp_output *out);

#endif
