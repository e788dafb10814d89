/*
 * A selection: which stacks a question is about, and their weights.
 *
 * One implementation of the filters for every view. A selection picks one event and one metric; weights
 * are int64 at a common decimal `scale` (a weight of 3.14 at scale 2 is 314), so that sums are exact.
 * `event_whole` is the weight of the event and metric before any filter; `whole` is that after time, thread,
 * pid, comm and state: percentages of rows are of that; `kept` is what dso, focus, ignore and root_at leave,
 * as a share of `event_whole`.
 *
 * Linked user and kernel records of one observation are one row: the kernel frames at the leaf end. A row's
 * leaf has all of its weight: records that say otherwise were divided (model/callees.h).
 */
#ifndef SP_SELECT_H
#define SP_SELECT_H

#include "analysis/pool.h"
#include "analysis/state_shares.h"
#include "base/buf.h"
#include "base/watch.h"
#include "model/by_event.h"
#include "model/events.h"
#include "model/profile.h"

struct sp_filters;

struct sp_select_opts {
    const char *event, *metric;   /* NULL: the default ones */
    const uint32_t *event_number; /* the event by its number, instead */
    /* Of the profile, where many events are asked about in turn by their numbers: then only what is the
     * event's own is gone through. NULL: all. Lent. */
    const struct sp_by_event *by_event;
    /* What sp_filters_of found for the filters below, so that it is not looked for again. NULL: it is. Lent.
     */
    const struct sp_filters *filters;
    bool no_thread_names; /* struct sp_selection.pools stays empty: it is made of all threads there are */
    const char *thread;   /* a tid, or threads as analysis/who.h reads names */
    const char *pid;      /* decimal */
    const char *comm;     /* a name likewise */
    const char *state;    /* comma-separated x_state values */
    const char *view; /* cpu, latency, all; NULL: where there are states, the first of them that has some */
    const char *dso, *focus, *ignore; /* regular expressions (PCRE2): stacks with such a frame */
    const char *hide;                 /* regular expression: frames to leave out of the stacks */
    /* A function as analysis/function_lookup.h names it: stacks are cut to start there, others are dropped.
     */
    const char *root_at;
    const char *const *labels; /* KEY=VALUE and KEY~REGEX: analysis/label_filters.h; all must fit */
    size_t nlabels;
    const char *time; /* a range as analysis/sample_times.h reads it: weights are those of its samples */
    bool user_only, kernel_only; /* frames of the other kind are left out */
    /* Per stack: what is left out beside what filters leave, and summed up; NULL: nothing. */
    const unsigned char *leave_out;
    const char *at;     /* a moment, of memory: analysis/at.h; no `time` beside it */
    bool any_state;     /* where neither state nor view is given: all states */
    bool may_be_empty;  /* filters that leave nothing are no error */
    bool pools;         /* threads of a pool are one, where views ask: see pool.h */
    bool merge_inlined; /* inlined frames are left out: their weight is the physical frame's */
    bool by_owner; /* of memory: stacks end at who asked for it (analysis/owners.h); filters see them whole */
    /* With by_owner, a regular expression: functions that hand out memory as well. It outlives the selection.
     */
    const char *allocators;
    /* They may be in another of the profiles that are asked about: who has the selection looks at
     * lacks_allocators. */
    bool allocators_elsewhere;
};

struct sp_selected {
    uint32_t stack;
    uint32_t kernel; /* the linked kernel record, or SP_NONE */
    int64_t weight;
    int64_t samples; /* SP_ABSENT where the source has none */
};

struct sp_chains;

struct sp_selection {
    const struct sp_profile *profile;
    uint32_t event, metric;
    const struct sp_by_event *by_event; /* sp_select_opts.by_event */
    struct sp_str unit;                 /* may be empty */
    unsigned scale;                     /* decimal digits after the point */
    bool inexact;                       /* weights were rounded at this scale; said by a note */
    bool capped; /* the sums left 64 bits: rows were cut so that they fit; said as data loss */
    /*
     * Values of this metric must not be summed: the vocabulary says so, and they are not each stack's part of
     * one total either (sp_peaks_add).
     */
    bool cannot_add;
    bool kernel_only; /* as it was asked for */
    const char *view; /* "cpu", "latency", "all", "custom"; NULL where the profile has no states */
    SP_VEC(struct sp_selected) rows;
    int64_t left_out;         /* scaled: what leave_out took of what all filters but those of frames leave */
    int64_t event_whole;      /* of the event and metric, before any filter: what is kept is a share of it */
    bool timed;               /* with time */
    int64_t time_lo, time_hi; /* with time: [lo, hi) in ns of the profile's clock */
    int64_t seen_lo, seen_hi; /* with time: all observations of the profile are in [lo, hi) */
    int64_t whole, kept;      /* scaled */
    int64_t whole_samples, samples; /* SP_ABSENT where the source has none */
    const char *at;                 /* lent: sp_select_opts.at */
    struct sp_buf filters;          /* the filters in words, empty when there are none */
    struct sp_pools pools;   /* of the threads that thread and comm leave, whatever else is selected; none
                                unless asked for */
    unsigned char *hidden;   /* per frame: left out of the stacks; NULL: none */
    unsigned char *roots;    /* per function: stacks are cut here; NULL: they are not */
    uint32_t root;           /* one of these functions, to name */
    unsigned char *owners;   /* per function: enum sp_owner_kind; NULL: stacks have their leaves */
    const char *allocators;  /* sp_select_opts.allocators, where there are owners; lent */
    bool lacks_allocators;   /* no function is one of these */
    uint32_t samples_metric; /* SP_NONE: there is none */
    bool no_inlined;
    /* Each row is one record as it stands, and has frames. */
    bool plain;
    SP_VEC(uint32_t) scratch;
    struct sp_state_shares
        states;               /* of hang reports: of what all filters but those of states and frames leave */
    struct sp_chains *chains; /* what analysis/chains.h found of it; NULL: not asked */
};

/*
 * Fails, reported, with SPAA_ERR_NOT_FOUND when a thread, function or filter matches nothing, with
 * SPAA_ERR_USAGE for an unknown event or metric or a bad regular expression. Free the selection on success
 * only.
 */
spaa_status sp_select(const struct sp_profile *p, const struct sp_select_opts *opts, struct sp_diags *d,
                      struct sp_selection *out);
void sp_selection_free(struct sp_selection *s);
/* Which contexts, functions and binaries the filters mean, whatever the event. Fails as sp_select does. */
spaa_status sp_filters_of(const struct sp_profile *p, const struct sp_select_opts *opts, struct sp_diags *d,
                          struct sp_filters **out);
void sp_filters_free(struct sp_filters *f); /* NULL is fine */
/* None of the profiles has what --allocators names: says what there is in this one, SPAA_ERR_NOT_FOUND. */
spaa_status sp_select_no_allocators(const struct sp_profile *p, const char *allocators, struct sp_diags *d);
/* All rows are of one input: peaks of several were not at one time, and are no parts of one total. */
bool sp_of_one_source(const struct sp_selection *s);
/* Something narrower than a view was asked for: an event without weight in a view is an answer, not a slip.
 */
bool sp_narrows(const struct sp_select_opts *o);

/* Of rows whose frames are not those of one record as it stands: see sp_selected_frames. */
const uint32_t *sp_selected_made_frames(struct sp_selection *s, size_t row, size_t *n);

/*
 * The visible frames of a selected row, leaf first: lent, until the next call on this selection.
 * Filters that drop frames are applied; an empty stack gives *n = 0. NULL: out of memory, or the call is to
 * be left (base/watch.h): all that takes long goes through here. Frames that are proven to be missing stand
 * in their places, and SP_BROKEN_CHAIN where a call cannot have been made (model/edges.h): both have
 * SP_FRAME_INFERRED.
 */
static inline const uint32_t *sp_selected_frames(struct sp_selection *s, size_t row, size_t *n)
{
    static const uint32_t none;
    const struct sp_selected *r = &s->rows.v[row];
    const struct sp_stack *stack = &s->profile->stacks.v[r->stack];
    if (sp_leaving(s->profile->diags, row))
        return NULL;
    if (r->kernel != SP_NONE || stack->edges || s->hidden || s->roots || s->no_inlined || s->owners)
        return sp_selected_made_frames(s, row, n);
    *n = stack->n;
    return stack->n ? s->profile->stack_frames.v + stack->first : &none;
}

/* Whether the frames that were lent are made for the row: the next call then overwrites them. */
static inline bool sp_selected_is_made(const struct sp_selection *s, const uint32_t *frames)
{
    return frames >= s->scratch.v && frames < s->scratch.v + s->scratch.n;
}

/* Whether a caller of the row, shown or not, cannot have called what the recording says it did. */
bool sp_selected_broken(const struct sp_selection *s, size_t row);

/* How many frames stood at the leaf of a row before its owner, and are left out (by_owner). */
size_t sp_selected_skipped(struct sp_selection *s, size_t row);

/*
 * As sp_selected_frames, with the frames at the leaf that by_owner leaves out: *skipped of them, where that
 * is asked for.
 */
const uint32_t *sp_selected_whole_frames(struct sp_selection *s, size_t row, size_t *n, size_t *skipped);

/* How many of the visible frames of a row are those of its kernel record, before --root-at cuts. */
size_t sp_selected_kernel_frames(const struct sp_selection *s, size_t row);

#endif
