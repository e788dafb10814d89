/*
 * What a thread is called: by the last name that it had while it ran one program. Threads begin with the name
 * of who made them and take their own later, and where records of names were lost, samples have old ones. The
 * profile keeps names as they were recorded; rows, filters and pools go by this.
 *
 * A reader that knows the last names says so in the record of the thread (`renamed_from`). A program that a
 * thread runs before it executes another one keeps its names: threads other than the first of a process
 * cannot do that.
 */
#ifndef SP_THREAD_NAMES_H
#define SP_THREAD_NAMES_H

#include "model/profile.h"

/* The name of the thread of a context, a text of the profile; where nothing better is known, its comm. */
uint32_t sp_context_name(const struct sp_profile *p, const struct sp_context *c);
/* Of a record of a thread: it had this name, and has another now. */
void sp_thread_rename(struct sp_thread *t, uint32_t before, uint32_t now);
/* The record of a thread; NULL: there is none, or one of another process. */
struct sp_thread *sp_thread_find(const struct sp_profile *p, int64_t pid, int64_t tid);

#endif
