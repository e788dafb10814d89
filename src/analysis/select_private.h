/* What makes up a selection: its filters (filters.c), and the weights they leave (select.c). Private. */
#ifndef SP_SELECT_PRIVATE_H
#define SP_SELECT_PRIVATE_H

#include "analysis/sample_times.h"
#include "analysis/select.h"

/* The filters on frames: per DSO, per function; NULL: no such filter. */
struct sp_frame_filters {
    unsigned char *dso, *focus, *ignore;
    bool user, kernel; /* only stacks that have such frames, shown or not */
    bool any;
};

struct sp_filters {
    unsigned char *who; /* as sp_who_of has it */
    struct sp_frame_filters frames;
    struct sp_select_opts of; /* what they were found for */
};
/* Whether the options look for frames as those do that filters were found for: some are asked without. */
bool sp_filters_frames_are(const struct sp_filters *f, const struct sp_select_opts *o);

/* The contexts that --thread and --comm mean: a byte for each, to be freed; NULL: there are no such filters.
 */
spaa_status sp_who_of(const struct sp_profile *p, const struct sp_select_opts *o, struct sp_diags *d,
                      unsigned char **out);
/* Of the event, and all filters but those of states. */
bool sp_context_fits_but_state(const struct sp_selection *s, const struct sp_select_opts *o,
                               const unsigned char *who, uint32_t context);
bool sp_context_fits(const struct sp_selection *s, const struct sp_select_opts *o, const unsigned char *who,
                     uint32_t context);
/* Stacks without a state are in every view; states that the views do not name are in `latency` and lists. */
bool sp_state_in_view(const struct sp_profile *p, const char *view, uint32_t event, uint32_t state);
/* Fills s->hidden, s->roots, s->no_inlined. */
spaa_status sp_shape_frames(struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d);
spaa_status sp_frame_filters_of(const struct sp_profile *p, const struct sp_select_opts *o,
                                struct sp_diags *d, struct sp_frame_filters *f);
void sp_frame_filters_free(struct sp_frame_filters *f);
/* Whether a row has frames of the side that was asked for. */
bool sp_side_fits(const struct sp_profile *p, const struct sp_frame_filters *f,
                  const struct sp_selected *row);
bool sp_frames_fit(const struct sp_profile *p, const struct sp_frame_filters *f, const uint32_t *frames,
                   size_t n);
/* s->filters: the filters in words. */
void sp_note_filters(struct sp_selection *s, const struct sp_select_opts *o);
/* --ignore and --hide that match no name are a slip, and change nothing: SP_W611. */
void sp_warn_idle_filters(const struct sp_profile *p, const struct sp_select_opts *o, struct sp_diags *d);
/* The filters left nothing: says what there is instead, and returns SPAA_ERR_NOT_FOUND. */
spaa_status sp_nothing_left(const struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d);

#endif
