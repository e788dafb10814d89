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
 * strings mostly last, so the reader goes through the top level once and notes where things are (scan.c),
 * then through the tables (tables.c, texts.c), makes frames of the locations (ahead.c, frames.c), and then
 * goes through the samples: nearly all in groups, which are cut (cut.c), get their frames (path.c) and are
 * stored (quick.c), the others one by one (samples.c).
 */
#ifndef SP_PPROF_H
#define SP_PPROF_H

#include "base/hash.h"
#include "formats/format.h"
#include "formats/pprof/packed.h"
#include "proto/wire.h"
#include "json/json.h"

enum {
    PP_SAMPLE_TYPE = 1,
    PP_SAMPLE,
    PP_MAPPING,
    PP_LOCATION,
    PP_FUNCTION,
    PP_STRING,
    PP_DROP_FRAMES,
    PP_KEEP_FRAMES,
    PP_TIME,
    PP_DURATION,
    PP_PERIOD_TYPE,
    PP_PERIOD,
    PP_COMMENT,
    PP_DEFAULT_TYPE,
    PP_DOC_URL,
    PP_FIELDS
};

#define PP_TYPES_MAX 64u               /* sample types */
#define PP_LINES_MAX 1024u             /* of one location */
#define PP_STACK_MAX ((size_t)1 << 20) /* frames of one stack */
#define PP_FRAMES_MIN                                                                                        \
    ((size_t)1 << 24) /* frames of all stacks that are always accepted; 16 per byte beyond */
#define PP_UNKNOWN_MAX ((size_t)64 << 10) /* bytes of unknown fields that are kept */
#define PP_PATH_MAX    ((size_t)1 << 14)  /* frames of a stack, and bytes of its ids, that are read quickly */
#define PP_PATH_SLACK  PP_STEP            /* zeros behind a path that are copied with it */
#define PP_SHORT_BITS  5u
#define PP_SHORT_BYTES ((1u << PP_SHORT_BITS) - 1)
#define PP_SHORT_MAX   4u /* frames of a location that is read quickly */
/* Frames that so many ids may need if they are read quickly, and those that are written beside them. */
#define PP_PATH_ROOM(ids) ((ids)*PP_SHORT_MAX + 8)
#define PP_GROUP          32u                  /* samples that are cut together */
#define PP_QUEUE          (PP_TYPES_MAX + 32u) /* stacks that are looked up together */
/* What DSOs say whose ips are offsets in the file. */
#define PP_FILE_OFFSETS "\"x_pprof\":{\"ip\":\"file_offset\"}"
#define PP_GUESSES      16u /* mappings of one DSO that are tried for an address */

struct sp_pp_slice {
    const unsigned char *p;
    size_t n;
};
struct sp_pp_slices {
    SP_VEC(struct sp_pp_slice) list;
};

/* Numbers of things by the ids of the file: an array where they are dense, as they mostly are. */
struct sp_pp_ids {
    uint32_t *dense; /* 1 + number */
    size_t ndense;
    uint64_t *ids; /* by number */
    struct sp_map map;
};

struct sp_pp_mapping {
    uint64_t start, limit, offset;
    uint32_t file, build_id; /* strings of the profile; build_id whatever it looks like */
    uint32_t dso;            /* SP_NONE: none of the profile */
    uint32_t next;           /* the next mapping of the same DSO; SP_NONE: none */
    uint8_t has;             /* bits: functions, filenames, lines, inlines */
    bool stated;             /* a file said so, not a writer */
    bool gone;               /* of use to no address any more */
};

/* Mappings of a profile, and where the frames of its DSOs belong. */
struct sp_pp_mappings {
    SP_VEC(struct sp_pp_mapping) list;
    SP_VEC(uint32_t) first; /* by DSO; SP_NONE: none */
    uint32_t unknown;       /* the DSO "[unknown]"; SP_NONE: not there */
};

struct sp_pp_type {
    uint64_t type, unit; /* strings of the file */
    uint32_t event;      /* in sp_pp.events */
    uint32_t metric;
};
struct sp_pp_event {
    uint32_t number, layout;
    uint32_t ntypes, types[PP_TYPES_MAX], metrics[PP_TYPES_MAX]; /* metrics: of the types */
};

enum { PP_PID, PP_TID, PP_COMM, PP_KEYS };
/*
 * Labels that have a name of SPAA only where a writer of ours put them there: the comment PP_MARK says under
 * which keys, as "spaa labels: state=state cpu=cpu". Others may mean anything by these words.
 */
enum { PP_STATE, PP_CPU, PP_SOURCE, PP_MARKED };
extern const char *const sp_pp_marked[PP_MARKED];
#define PP_MARK "spaa labels:"
/* Which label is the pid, the tid, the thread's name: the first one of a known spelling. */
struct sp_pp_key {
    bool set, text;
    uint64_t key, unit; /* strings of the file */
};

#define PP_RECENT 256u
struct sp_pp_ends {
    uint64_t first, last;
    size_t place;
};
/* The first and the last eight of n bytes, or what there is, and a place for them. */
static inline struct sp_pp_ends sp_pp_ends(const unsigned char *p, size_t n)
{
    const uint64_t mask = n < 8 ? ((uint64_t)1 << 8 * n) - 1 : UINT64_MAX;
    struct sp_pp_ends e = {sp_load_le64(p) & mask, sp_load_le64(n < 8 ? p : p + n - 8) & mask, 0};
    e.place = (e.first ^ (e.last << 29 | e.last >> 35) ^ n) * 0x9e3779b97f4a7c15u >> 56;
    return e;
}

struct sp_pp_label_set {
    size_t at, n;         /* its bytes in label_text */
    uint64_t first, last; /* eight of them each, as sp_pp_label_again has them */
    int64_t pid, tid, cpu;
    uint32_t comm, state, source, more;
};

/* path.c: frames by location ids, where the sample before may have had the same at the end. */
struct sp_pp_path {
    uint32_t *frames; /* PP_PATH_MAX, filled from their end, and a slack of zeros */
    uint32_t **tops;  /* where the frames of an id and those behind it begin, filled likewise */
    uint32_t *ids;    /* in work */
    const unsigned char *end;
    size_t n; /* bytes of ids that end there; 0: none */
};

/* A stack that waits to be looked up: of a sample in the usual shape, for one of its events. */
struct sp_pp_entry {
    const unsigned char *field; /* the sample, from its tag on */
    const unsigned char *ids;   /* packed; nids bytes */
    uint32_t nids;
    uint32_t context, event, values; /* values: in queued_values */
    uint32_t stack;                  /* known already; SP_NONE: look it up */
    uint32_t n;                      /* frames, from `first` on behind those of the profile */
    size_t first;
    uint64_t hash, seen_hash;
};

/* Bytes of ids and the stack that they gave in a context, where samples repeat: a place of a hash table. */
struct sp_pp_seen {
    uint32_t low;   /* lower half of the hash */
    uint32_t stack; /* number + 1; 0: empty */
    uint64_t where; /* in the input << 16 | how many */
};

enum { PP_NAME, PP_SYSTEM_NAME, PP_FILE, PP_TEXTS };

/* A function as the file says, and as its frames need it. */
struct sp_pp_function {
    int64_t start_line;
    uint32_t texts[PP_TEXTS]; /* strings of the file; SP_NONE: none of them */
    uint32_t name;            /* in the profile; of no use where it is not `named` */
    uint32_t dso, interned;   /* the function of the profile in this DSO; SP_NONE: none yet */
    uint32_t more;            /* of frames of which nothing else is to be said; SP_STR_FAIL: none yet */
    bool plain;               /* what the file says was read with the tables */
    bool read;                /* and the rest, and nothing about it must be reported each time */
    bool named;               /* else by the address */
    bool has_name;            /* else by the system name, if that */
    bool other_name;          /* the system name is another one */
};

struct sp_pp_line {
    uint32_t function; /* number */
    uint32_t text;     /* "file:line:column" in the profile; SP_STR_FAIL: not yet */
    int64_t line, column;
};

/* A location as the file says, and its frames. */
struct sp_pp_location {
    uint64_t address;
    uint32_t mapping; /* number; SP_NONE: none */
    uint32_t line;    /* the first of its nlines, in sp_pp.lines */
    uint32_t nlines;
    uint32_t first; /* of its frames, in loc_frames; SP_NONE: not read yet */
    uint16_t n;     /* frames */
    bool folded;
    bool plain; /* it was read with the tables */
    bool used;  /* a sample needed it; one that stands in `shorts` was, too */
};

/* A frame that will be interned: the place where it is looked up is fetched meanwhile. */
struct sp_pp_made {
    struct sp_frame frame;
    uint64_t hash;
};

struct sp_pp {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    const unsigned char *in;
    size_t n;

    /* scan.c */
    SP_VEC(struct sp_str) strings;
    uint32_t *numbers; /* of strings in the profile; 0: not yet */
    struct sp_pp_slices types, mappings, locations, functions, runs; /* runs: of samples, field after field */
    SP_VEC(uint64_t) comments;
    uint64_t single[PP_FIELDS];
    struct sp_pp_slice period_type;
    struct sp_buf unknown; /* JSON array items */
    uint64_t odd;          /* unknown fields inside of messages */
    size_t nsamples, sample_bytes;

    /* types.c */
    uint32_t ntypes, nevents, default_type;
    struct sp_pp_type type[PP_TYPES_MAX];
    struct sp_pp_event event[PP_TYPES_MAX];

    /* tables.c, frames.c */
    struct sp_pp_ids mapping_ids, location_ids, function_ids;
    struct sp_pp_mappings maps;
    struct sp_pp_location *locs; /* by number */
    struct sp_pp_function *fns;  /* by number */
    /*
     * The same for a hurry, by id: the last frame << PP_SHORT_BITS | the size of all, in bytes, where a
     * location has up to PP_SHORT_MAX frames whose numbers follow each other, as they mostly do. 0: ask for
     * it.
     */
    uint32_t *shorts, *ready; /* ready: of those that no sample has needed yet */
    size_t nshorts;
    struct sp_pp_shapes shapes;
    struct sp_pp_path path;
    SP_VEC(uint32_t) loc_frames;
    SP_VEC(struct sp_pp_made) made; /* frames in work */
    SP_VEC(struct sp_pp_line) lines;
    uint32_t unknown_dso;
    uint64_t dangling, used;

    /* samples.c */
    SP_VEC(uint32_t) stack;
    SP_VEC(int64_t) values;
    uint64_t broken;
    SP_VEC(uint32_t) hashes; /* of the stacks of the profile: their lower halves */
    size_t known;            /* samples whose stack was known */
    size_t weigh_at;         /* stacks at which sp_pp_weigh has something to do */
    bool joins;              /* stacks are appended, and joined later */

    /* quick.c */
    struct sp_pp_entry queue[PP_QUEUE];
    uint32_t nqueued;
    size_t queued_frames; /* behind those of the profile */
    SP_VEC(int64_t) queued_values;
    struct sp_pp_seen *seen;
    size_t seen_mask, nseen;
    bool use_seen;
    uint32_t window, repeats;

    /* labels.c */
    struct sp_pp_key keys[PP_KEYS];
    struct sp_str marked[PP_MARKED]; /* keys of labels; n 0: not marked */
    bool had_marked[PP_MARKED];
    SP_VEC(struct sp_pp_label_set) sets;
    SP_VEC(uint32_t) contexts; /* by set and event */
    struct sp_buf label_text;
    struct sp_map set_map;
    uint32_t recent[PP_RECENT]; /* sets by their first and last bytes */
    struct sp_pp_slices labels; /* of the sample in work */

    struct sp_buf text, text2;
    bool damaged_text;
};

/* The string of the profile for string `i` of the file; SP_STR_FAIL: out of memory. Reports dangling ones. */
uint32_t sp_pp_str(struct sp_pp *pp, uint64_t i);
struct sp_str sp_pp_text(struct sp_pp *pp, uint64_t i);
static inline struct sp_where sp_pp_at(const struct sp_pp *pp, const unsigned char *p)
{
    return SP_AT((uint64_t)(p - pp->in));
}
/* Appends a JSON string, or {"hex":"…"} for bytes that are no UTF-8. */
void sp_pp_json(struct sp_buf *b, struct sp_str s);

spaa_status sp_pp_scan(struct sp_pp *pp);
spaa_status sp_pp_types(struct sp_pp *pp);
spaa_status sp_pp_tables(struct sp_pp *pp);
spaa_status sp_pp_samples(struct sp_pp *pp);
/* One of any shape; `at` is its first byte. */
spaa_status sp_pp_sample(struct sp_pp *pp, const unsigned char *at, size_t n);
/* A length of one or two bytes, without a branch that depends on which: how many; 0: it is longer. */
static inline size_t sp_pp_length(const unsigned char *p, size_t *n)
{
    const uint32_t both = p[0] | (uint32_t)p[1] << 8, two = both >> 7 & 1;
    const uint32_t own = both & (0xff | (0u - two));
    *n = (own & 0x7f) | (own >> 1 & 0x3f80);
    return own < 0x8000 ? 1 + two : 0;
}
/*
 * cut.c: a group of samples of the usual shape from *at on, before `limit`, into the queue; *at is behind
 * them. False: the next one has another shape, or *st says why.
 */
bool sp_pp_cut(struct sp_pp *pp, const unsigned char **at, const unsigned char *limit, spaa_status *st);
/*
 * quick.c: samples of the usual shape from *at on, before `end`; *at is where the first one of another shape
 * begins, its tag, or `end`. None waits afterwards.
 */
spaa_status sp_pp_quick(struct sp_pp *pp, const unsigned char **at, const unsigned char *end);
/* The hash of a stack by the sum of its frames: what its profile finds it by while it is read. */
static inline uint64_t sp_pp_hash_stack(uint64_t sum, size_t n, uint32_t context)
{
    return sp_hash_mix(sum, (uint64_t)context << 32 | (uint32_t)n);
}
/* Has a sample with these values, one for each type, any of the event's? */
static inline bool sp_pp_has_value(const struct sp_pp_event *e, const int64_t *values)
{
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (values[e->types[i]])
            return true;
    return false;
}
/* The number of a stack, by its hash; SP_NONE: out of memory. */
static inline uint32_t sp_pp_stack(struct sp_pp *pp, uint64_t hash, const uint32_t *frames, size_t n,
                                   uint32_t context, bool *is_new)
{
    uint32_t s;
    *is_new = true;
    if (!sp_vec_reserve(&pp->hashes, pp->hashes.n + 1))
        return SP_NONE;
    if (pp->joins)
        s = sp_stack_append(pp->p, frames, n, context, SP_UNIFIED);
    else
        s = sp_stack_intern_hashed(pp->p, hash, frames, n, context, SP_UNIFIED, is_new);
    pp->hashes.v[pp->hashes.n] = (uint32_t)hash;
    pp->hashes.n += *is_new;
    return s;
}
/* samples.c: whether stacks are looked up or joined from now on. */
spaa_status sp_pp_weigh(struct sp_pp *pp);
void sp_pp_forget(struct sp_pp *pp); /* quick.c: no sample was seen before */
/* The most frames that all stacks may have. */
static inline size_t sp_pp_frames_max(const struct sp_pp *pp)
{
    return PP_FRAMES_MIN + 16 * pp->n;
}
spaa_status sp_pp_header(struct sp_pp *pp);

/* tables.c: what the file says of a location that is not plain; it is reported. False: out of memory. */
bool sp_pp_location_again(struct sp_pp *pp, uint32_t number);
/* A function that is not plain; false: something about it was reported. */
bool sp_pp_function_again(struct sp_pp *pp, uint32_t function);
/* texts.c: what is usual about names and lines, ahead; false: out of memory. */
bool sp_pp_texts(struct sp_pp *pp);
/* frames.c: appends "file:line:column"; true: it reads back for sure. */
bool sp_pp_put_srcline(struct sp_buf *b, struct sp_str file, const struct sp_pp_line *line);
/* Of a function what its frames need; false: out of memory. */
bool sp_pp_function_name(struct sp_pp *pp, uint32_t function);
/* ahead.c: frames of all plain locations; a sample needs this one; those that none needed go. False: out of
 * memory. */
bool sp_pp_frames_ahead(struct sp_pp *pp);
bool sp_pp_location_use(struct sp_pp *pp, uint32_t number);
bool sp_pp_drop_unused(struct sp_pp *pp);
/* The same of an id below nshorts, in a hurry; 0: not this way. */
static inline uint32_t sp_pp_first_use(struct sp_pp *pp, uint32_t id)
{
    const uint32_t known = pp->ready[id];
    pp->ready[id] = 0;
    pp->shorts[id] = known;
    pp->used += known != 0;
    return known;
}
/* frames.c: locations by number, each once; their frames are loc_frames[first..+n) afterwards. */
bool sp_pp_locations_frames(struct sp_pp *pp, const uint32_t *numbers, size_t n);

bool sp_pp_path_begin(struct sp_pp_path *x);
void sp_pp_path_free(struct sp_pp_path *x);
/*
 * Puts the frames of the entries i to n of the queue, those without a stack, behind those of the profile.
 * Returns n, or which one must be read in the slow way, if not *nomem.
 */
uint32_t sp_pp_paths(struct sp_pp *pp, uint32_t i, uint32_t n, bool *nomem);
/* The number of an id; SP_NONE: there is none. */
uint32_t sp_pp_ids_find(const struct sp_pp_ids *ids, uint64_t id);
void sp_pp_ids_free(struct sp_pp_ids *ids);
/* The context of the sample's labels in an event (of sp_pp.events); SP_NONE: out of memory. */
uint32_t sp_pp_context_new(struct sp_pp *pp, uint32_t set, uint32_t event);
static inline uint32_t sp_pp_context(struct sp_pp *pp, uint32_t set, uint32_t event)
{
    uint32_t known = pp->contexts.v[(size_t)set * pp->nevents + event];
    return known != SP_NONE ? known : sp_pp_context_new(pp, set, event);
}
void sp_pp_find_mark(struct sp_pp *pp);     /* of the comments, of which it is none then */
uint32_t sp_pp_label_set(struct sp_pp *pp); /* of pp->labels; SP_NONE: out of memory */
/* The same for labels as they stand in the file, tags and all; SP_NONE: they were not read yet. */
uint32_t sp_pp_label_find(struct sp_pp *pp, const unsigned char *p, size_t n);
/* The same in a hurry; SP_NONE: find it, if these are labels. Eight bytes are loaded. */
static inline uint32_t sp_pp_label_again(const struct sp_pp *pp, const unsigned char *p, size_t n)
{
    struct sp_pp_ends e = sp_pp_ends(p, n);
    uint32_t i = pp->recent[e.place];
    const struct sp_pp_label_set *s = &pp->sets.v[i];
    bool same = s->n == n && s->first == e.first && s->last == e.last;
    return same && (n <= 16 || memcmp(pp->label_text.data + s->at, p, n) == 0) ? i : SP_NONE;
}

/* mappings.c: shared by reader and writer. */
bool sp_pp_mappings_index(struct sp_pp_mappings *m, size_t ndsos);
/* The mapping that a frame of this DSO and ip has when nothing else is said; SP_NONE: none. */
uint32_t sp_pp_mapping_guess(const struct sp_pp_mappings *m, uint32_t dso, bool has_ip, uint64_t ip);
bool sp_pp_is_build_id(struct sp_str s);
/* Its addresses are those of the file as linked: pprof looks up what is mapped from 0 to nowhere as it is. */
static inline bool sp_pp_is_linked(const struct sp_pp_mapping *m)
{
    return !m->start && !m->offset && (!m->limit || m->limit == UINT64_MAX);
}
/* "src/a.c:12:3" to its parts; line and column 0 where they are absent. Returns the file's length. */
size_t sp_pp_srcline(struct sp_str s, int64_t *line, int64_t *column);
/* Units of SPAA for those of pprof, and back. */
struct sp_str sp_pp_unit_in(struct sp_str unit);
struct sp_str sp_pp_unit_out(struct sp_str unit);
static inline struct sp_str sp_pp_literal(const char *s)
{
    return (struct sp_str){s, (uint32_t)strlen(s)};
}
static inline bool sp_pp_same(struct sp_str a, struct sp_str b)
{
    return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

int sp_pp_probe(const unsigned char *p, size_t n, bool whole, const char **reason);
spaa_status sp_pp_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out);

#endif
