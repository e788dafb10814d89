/*
 * A profile: its tables (model/tables.h), and how a reader fills them.
 *
 * A reader interns what stacks are made of (equal content gets one number), then stacks (model/stacks.h), and
 * adds weights (model/weights.h); nothing is sorted or identified until a writer or a view asks
 * (model/order.h, model/identity.h).
 *
 * Owner: whoever called sp_profile_new; sp_profile_free frees all of it. Not thread-safe while it is
 * being filled; after that any number of readers may share it.
 */
#ifndef SP_PROFILE_H
#define SP_PROFILE_H

#include "model/functions.h"
#include "model/stacks.h"
#include "model/tables.h"
#include "model/weights.h"

spaa_status sp_profile_new(struct sp_diags *d, struct sp_profile **out);
void sp_profile_free(struct sp_profile *p); /* NULL is fine */

/*
 * Interning. All return the number, or SP_NONE when memory (or a cap) is exhausted: return
 * sp_nomem(diags) then. Structures are taken by value semantics; strings in them are numbers of
 * p->strs, from sp_profile_str.
 */
uint32_t sp_profile_str(struct sp_profile *p, const void *s, size_t n); /* SP_STR_FAIL on failure */
uint32_t sp_profile_cstr(struct sp_profile *p, const char *s);
/* For names that a file has as text only (no x_raw_hex): bytes that are no UTF-8 become U+FFFD. */
uint32_t sp_profile_text(struct sp_profile *p, const char *s, size_t n);
uint32_t sp_event_add(struct sp_profile *p, const struct sp_event *e); /* no merging */
/* The same under a name that is text and free: "cycles", then "cycles#2", since records name their event. */
uint32_t sp_event_add_named(struct sp_profile *p, const struct sp_event *e);
uint32_t sp_event_find(const struct sp_profile *p, const char *name, size_t n);
uint32_t sp_event_of_name(const struct sp_profile *p, uint32_t name);
/* Both keep sp_event_find right. False: out of memory. */
bool sp_event_rename(struct sp_profile *p, uint32_t event, uint32_t name);
bool sp_events_reorder(struct sp_profile *p, const uint32_t *order); /* by their numbers until now */
uint32_t sp_metric_intern(struct sp_profile *p, const char *name, size_t n);
/* Before it has weights: how they combine; false: the vocabulary says otherwise. */
bool sp_metric_combine(struct sp_profile *p, uint32_t metric, enum sp_metric_op op);
uint32_t sp_metric_find(const struct sp_profile *p, const char *name, size_t n);
/* One of a kernel's name (model/kernel_names.h) is the kernel's, and user frames in it are kernel frames. */
uint32_t sp_dso_intern(struct sp_profile *p, const struct sp_dso *d);
uint32_t sp_frame_intern(struct sp_profile *p, const struct sp_frame *f);
uint32_t sp_context_intern(struct sp_profile *p, const struct sp_context *c);
/* One record per tid; a comm that comes later replaces an absent one only. */
uint32_t sp_thread_intern(struct sp_profile *p, int64_t pid, int64_t tid, uint32_t comm);
/* Of a thread whose process nothing says: its tid stands for it, and `x_pid_unknown` says so. */
uint32_t sp_thread_intern_tid(struct sp_profile *p, int64_t tid, uint32_t comm);

/* Of several notes of one DSO and lack, that of most addresses stays; false: out of memory. */
bool sp_profile_note(struct sp_profile *p, uint32_t dso, enum sp_note_of of, uint64_t addresses,
                     const char *why, const char *remedy);
const struct sp_dso_note *sp_profile_note_of(const struct sp_profile *p, uint32_t dso,
                                             enum sp_note_of of); /* or NULL */

#endif
