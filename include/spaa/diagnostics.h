/*
 * Diagnostics: what a person or a script should know about an input, besides the result.
 *
 * Functions that can say something take a `struct spaa_diagnostics **diagnostics`:
 *
 *     struct spaa_diagnostics *said = NULL;
 *     spaa_status st = spaa_profile_open("perf.data", NULL, &profile, &said);
 *     for (size_t i = 0; i < spaa_diagnostics_count(said); i++) {
 *         struct spaa_diagnostic d = {.size = sizeof d};
 *         if (spaa_diagnostics_get(said, i, &d) == SPAA_OK)
 *             fprintf(stderr, "%s: %s\n", d.code, d.message);
 *     }
 *     spaa_diagnostics_free(said);
 *
 * NULL instead of a pointer: not wanted. *diagnostics is NULL or what an earlier call left there. The call
 * appends to it, creating it if there is something to say; this holds on success and on failure, and is
 * the one output that a failing function touches. The caller frees it.
 *
 * Not thread-safe: threads that work at the same time have one each.
 */
#ifndef SPAA_DIAGNOSTICS_H
#define SPAA_DIAGNOSTICS_H

#include <spaa/export.h>
#include <spaa/status.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spaa_diagnostics;

#define SPAA_NOWHERE UINT64_MAX /* an offset that is not known */

struct spaa_diagnostic {
    size_t size;          /* set by the caller: sizeof(struct spaa_diagnostic) */
    const char *code;     /* "SPAA-E010"; never changes its meaning: see docs/diagnostics.md */
    const char *severity; /* "info", "warning", "data-loss", "error" or "fatal" */
    const char *message;  /* what happened, in words for a person */
    const char *hint;     /* what to do about it; "" where there is nothing to say */
    const char *format;   /* name of the input's format; NULL: not known yet, or no input is concerned */
    const char *file;     /* NULL: no file is concerned */
    uint64_t offset;      /* in bytes from the start of the decompressed input; SPAA_NOWHERE */
    uint64_t line;        /* counted from 1; 0: not known, or the input has no lines */
    const char *field;    /* the member concerned, as a path; NULL */
};

/*
 * How many messages there are, in the order they were given; 0 for NULL. At most ten of one code are kept
 * per call: spaa_diagnostics_total counts those that were not kept, too.
 */
SPAA_API size_t spaa_diagnostics_count(const struct spaa_diagnostics *diagnostics);

/*
 * Message i. Strings belong to the diagnostics and live as long. SPAA_ERR_NOT_FOUND: there is no message
 * i. SPAA_ERR_USAGE: out->size is no size, or a pointer is NULL.
 */
SPAA_API spaa_status spaa_diagnostics_get(const struct spaa_diagnostics *diagnostics, size_t i,
                                          struct spaa_diagnostic *out);

/* How many messages of this severity ("error", ...) were given, kept or not; 0 for NULL, whichever it is. */
SPAA_API uint64_t spaa_diagnostics_total(const struct spaa_diagnostics *diagnostics, const char *severity);

/*
 * Message i as a line for people: "warning: FILE: message, line 3 [SPAA-W312]", and its hint in a line of its
 * own where there is one. Each line ends in a newline; what an input wrote into names can do a terminal no
 * harm. *text is the caller's, to be given to spaa_free. SPAA_ERR_NOT_FOUND: there is no message i.
 */
SPAA_API spaa_status spaa_diagnostics_text(const struct spaa_diagnostics *diagnostics, size_t i, int colour,
                                           char **text);

/*
 * Any text as a terminal may show it: what would do something there stands as escapes. columns: cut to fit
 * them; 0: whole. *safe is the caller's, to be given to spaa_free.
 */
SPAA_API spaa_status spaa_safe_text(const char *text, unsigned columns, char **safe);
/* Text as one word of a command of POSIX shells: quoted where it needs to be. *word: likewise. */
SPAA_API spaa_status spaa_shell_word(const char *text, char **word);

/* A code of which more messages were given than are kept. */
struct spaa_unkept {
    size_t size;
    const char *code, *severity, *title;
    uint64_t count; /* of those that are not kept */
};
/* Number k of those codes. SPAA_ERR_NOT_FOUND: there is none. */
SPAA_API spaa_status spaa_diagnostics_unkept(const struct spaa_diagnostics *diagnostics, size_t k,
                                             struct spaa_unkept *out);

/*
 * The last error as the object that the command line answers with where JSON was asked for ("spaa.error/1",
 * docs/json.md), with a newline. *json is the caller's, to be given to spaa_free. SPAA_ERR_NOT_FOUND: there
 * is no error.
 */
SPAA_API spaa_status spaa_diagnostics_error(const struct spaa_diagnostics *diagnostics, char **json);

/*
 * Adds a message of the caller's own, as if a call had said it. hint NULL: that of the code. *diagnostics is
 * made where it is NULL. SPAA_ERR_USAGE: there is no such code, or a pointer is NULL.
 */
SPAA_API spaa_status spaa_diagnostics_add(struct spaa_diagnostics **diagnostics, const char *code,
                                          const char *hint, const char *message);

SPAA_API void spaa_diagnostics_free(struct spaa_diagnostics *diagnostics); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
