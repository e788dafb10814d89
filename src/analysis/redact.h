/*
 * A profile without what its owner does not want to show: names are replaced by hashes of them, equal names
 * by equal hashes, in every profile, so that what was redacted can still be compared and merged.
 *
 * - paths: folders of binaries and source files, but those that every system has: /p-1f2e…/NAME,
 * /usr/lib/NAME
 * - files: their names, too, but of those in these folders
 * - host: the name of the machine
 * - command: what was run, with its arguments
 * - threads: names of threads and processes; digits at the end stay, so that pools do
 * - functions: of binaries outside the system's folders, and their symbols; not of the kernel, nor of Go's
 *   library
 * - labels: their texts; numbers stay
 * - all: all of these
 * - /RE/: functions, binaries, source files, threads, events whose name matches
 *
 * Words of our tables by which own functions, owners of memory and entries are known stay (redact_keep.h), or
 * marks tell what the name did (redacted_name.h): answers stay as they were.
 *
 * A hash is HMAC-SHA-256 with the key, 48 bits of it. Without a key who guesses a name can check the guess.
 * Numbers, times, addresses, build-ids stay. What the tables have no field for (extra_json) goes, since
 * nobody knows what it holds; so do raw samples, originals, and ids of stacks, which are made of names.
 */
#ifndef SP_REDACT_H
#define SP_REDACT_H

#include "model/profile.h"

/*
 * Each of the n lists is names by commas; all count. A rule that is none, an empty one too: SPAA_ERR_USAGE,
 * reported. key: NULL or empty: none. In place.
 */
spaa_status sp_redact_profile(struct sp_profile *p, const char *const *lists, size_t n, const char *key,
                              struct sp_diags *d);

#endif
