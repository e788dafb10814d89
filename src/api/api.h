/*
 * What the files behind the public interface (include/spaa/) share. Nothing else includes this.
 *
 * The public functions are thin: they check what comes from outside, call the layers, and hand over the
 * diagnostics. Whatever a call says is collected apart and delivered at its end, so that a caller's
 * diagnostics are touched by one function only (sp_api_deliver).
 */
#ifndef SP_API_H
#define SP_API_H

#include "ask/options.h"
#include "base/arena.h"
#include "base/watch.h"
#include "formats/format.h"
#include "model/merge.h"
#include "spaa/spaa.h"

struct spaa_diagnostics {
    struct sp_diags d;
};

struct spaa_profile {
    struct sp_profile *p;
    const struct spaa_format *format;
    char *name;                  /* as it was opened */
    struct sp_arena words;       /* of the next */
    struct sp_options opened;    /* how, for commands that an answer names: reading options, or NULL */
    bool sorted;                 /* samples are in the order of time */
    SP_VEC(uint32_t) window_ids; /* as text, of all windows: sp_api_list_windows */
    bool regrouped; /* told apart anew from its samples, which know of fewer metrics: not to be written */
    bool spoiled;   /* memory ran out while that was done */
    /* The profile and its samples report here as long as they live; emptied at the end of each call. */
    struct sp_diags diags;
};

/* Appends what d holds to *to (which may have to be made), and empties d. Returns st. */
spaa_status sp_api_deliver(struct sp_diags *d, struct spaa_diagnostics **to, spaa_status st);
/* Reports a slip of the caller; returns SPAA_ERR_USAGE. */
spaa_status sp_api_usage(struct sp_diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same for a pointer without which there is nothing to do, before anything else is begun. */
spaa_status sp_api_missing(const char *what, struct spaa_diagnostics **to);

/*
 * The caller's option structure into one of ours, zeroed first. `from` NULL: the defaults. Members we do
 * not know are refused unless zero.
 */
spaa_status sp_api_options(void *to, size_t size, const void *from, struct sp_diags *d);
/*
 * Who watches this call (options.watch, or NULL), from here to sp_api_unwatch, which must be called though
 * this failed: it returns st, or that the call was left. sp_api_watch_profile has a profile's reports
 * watched, too, until they are delivered.
 */
spaa_status sp_api_watch(struct sp_watch *w, const struct spaa_watch *asked, struct sp_diags *d);
void sp_api_watch_profile(struct sp_watch *w, struct spaa_profile *s);
spaa_status sp_api_unwatch(struct sp_watch *w, struct sp_diags *d, spaa_status st);
/* Our result into the caller's structure, as much as its size says; SPAA_ERR_USAGE when that is none. */
spaa_status sp_api_result(void *to, const void *from, size_t size);

/* The position of a value among names (NULL: `otherwise`); false: reported. */
bool sp_api_choice(struct sp_diags *d, const char *option, const char *value, const char *const *names,
                   int otherwise, int *out);
/* Options of a format, checked: *out is the caller's to free. */
spaa_status sp_api_own(struct sp_diags *d, const struct spaa_format *f, unsigned when,
                       const struct spaa_format_option *own, size_t n, struct sp_own_opt **out);
/* What readers are told. Lent of the caller's options. */
spaa_status sp_api_read_options(const struct spaa_open_options *o, struct sp_diags *d,
                                struct sp_read_opts *out);
/* Profiles as commands take them: *out is the caller's to free. */
struct sp_run_given;
spaa_status sp_api_give(struct spaa_profile *const *profiles, size_t n, struct sp_diags *d,
                        struct sp_run_given **out);
/* Before a profile is handed out, and when its windows are others: makes their ids texts. */
spaa_status sp_api_list_windows(struct spaa_profile *s);
char *sp_api_copy(const char *s); /* malloced; NULL: out of memory */
/* A string of the profile; NULL where absent. */
const char *sp_api_str(const struct sp_profile *p, uint32_t s);

#endif
