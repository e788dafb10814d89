/* What the files of the pprof writer share. */
#ifndef SP_PPROF_WRITE_H
#define SP_PPROF_WRITE_H

#include "formats/pprof/pprof.h"
#include "model/returns.h"

/* A value of every sample: a metric of an event. */
struct sp_pw_type {
    uint32_t event, metric;
    uint32_t type, unit; /* strings of the output */
};

struct sp_pw_group {
    size_t at; /* its frames in group_frames */
    uint32_t n;
    bool returns; /* its ip is a return address */
};

/* Where the ips of a DSO's frames are. */
struct sp_pw_range {
    uint64_t low, high;    /* high 0: none */
    uint64_t offset, size; /* of the file's code that was mapped; size 0: not known */
    bool offsets;          /* they are offsets in the file, not addresses as linked */
};

/* "x_pprof" of a frame. */
struct sp_pw_extra {
    struct sp_str name, system_name, file; /* p NULL: not stated; in the writer's arena */
    int64_t start_line, line, column;
    bool has_line, has_address, has_mapping, folded;
    uint64_t address, mapping;
};

struct sp_pw_row {
    uint64_t first; /* in row_locations */
    uint32_t n, context;
};

struct sp_pw {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_write_opts *opts;
    struct sp_output *out;
    struct sp_strtab strings; /* the numbers are those of the string table: its 0 is "" */
    struct sp_arena arena;
    bool nomem;

    /* write_types.c */
    struct sp_buf own; /* the header's x_pprof object, or empty */
    SP_VEC(struct sp_pw_type) types;
    SP_VEC(uint32_t) comments;
    uint32_t default_type, drop_frames, keep_frames, doc_url, period_type[2];
    bool has_period_type;
    int64_t period, time, duration;
    struct {
        struct sp_str key, unit;
        bool text;
    } keys[PPROF_KEYS];
    struct sp_str marked[PPROF_MARKED]; /* keys of labels */
    struct sp_buf unknown;              /* fields as they go out */

    /* write_frames.c */
    struct sp_pprof_mappings maps;
    struct sp_pw_range *ranges; /* by DSO */
    uint32_t *location_of;      /* by frame that stands alone, and whether it returns: id; 0: none yet */
    SP_VEC(struct sp_pw_group) groups;
    SP_VEC(uint32_t) group_frames;
    struct sp_map group_map;
    struct sp_buf locations, functions, scratch, line;
    SP_VEC(uint64_t) function_keys; /* four strings and the start line each */
    struct sp_map function_map;
    uint32_t nlocations;

    /* write.c */
    SP_VEC(struct sp_pw_row) rows;
    SP_VEC(uint32_t) row_locations;
    SP_VEC(int64_t) values; /* by row and type */
    struct sp_map row_map;
    uint32_t *contexts;         /* by context: the first one that differs in the event only */
    struct sp_returns *returns; /* by event */
    SP_VEC(uint32_t) scratch_locations;
    uint64_t rounded;
};

/* The number of a string in the table; sets nomem. */
uint32_t sp_pw_str(struct sp_pw *w, struct sp_str s);
/* A copy in the arena. */
struct sp_str sp_pw_keep(struct sp_pw *w, struct sp_span s);
/* A string, or {"hex":"…"}: text_ahead says whether one is next; the copy is in the arena. */
bool sp_pw_text_ahead(struct sp_json *j);
struct sp_str sp_pw_text(struct sp_pw *w, struct sp_json *j);
/* Bytes of hex digits, as many as there are whole. */
struct sp_str sp_pw_unhex(struct sp_pw *w, struct sp_span digits);
/* The object under "x_pprof" of a `extra_json`, as raw JSON into out; empty where there is none. */
void sp_pw_member(struct sp_pw *w, uint32_t more, struct sp_buf *out);

/* write_types.c: what the whole profile says. */
void sp_pw_header(struct sp_pw *w);
/* write_frames.c */
bool sp_pw_frames_begin(struct sp_pw *w);
/* Appends the locations of a stack's frames to scratch_locations. */
bool sp_pw_locations(struct sp_pw *w, struct sp_returns returns, const uint32_t *frames, size_t n);
void sp_pw_put_mappings(struct sp_pw *w);
/* write_labels.c: the keys of what is no other tool's, and the comment that says so */
void sp_pw_mark(struct sp_pw *w);
/* write_labels.c: the labels of a context, as fields of a sample. */
void sp_pw_labels(struct sp_pw *w, struct sp_buf *b, uint32_t context);

#endif
