/*
 * What a function of this library says about how it went. A function that returns a spaa_status
 * leaves its outputs untouched (or NULL) unless it returns SPAA_OK; the words for a person are in
 * the diagnostics.
 */
#ifndef SPAA_STATUS_H
#define SPAA_STATUS_H

#include <spaa/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum spaa_status {
    SPAA_OK = 0,
    SPAA_ERR_NOMEM,       /* an allocation failed */
    SPAA_ERR_IO,          /* the operating system refused to read or write */
    SPAA_ERR_INPUT,       /* the input is malformed beyond use */
    SPAA_ERR_LIMIT,       /* a cap of this library was reached */
    SPAA_ERR_USAGE,       /* the caller asked for something that does not exist or does not fit */
    SPAA_ERR_UNSUPPORTED, /* known, and not readable or writable here */
    SPAA_ERR_NOT_FOUND,   /* a name, function, event or thread that is not there */
    SPAA_ERR_CLOSED,      /* the reader of our output went away */
    SPAA_ERR_BUG,         /* an invariant of ours does not hold */
    SPAA_ERR_CANCELLED    /* the caller's watch said to leave (spaa/watch.h) */
} spaa_status;

/* "SPAA_OK", "SPAA_ERR_IO", ...; a static string, never NULL. */
SPAA_API const char *spaa_status_name(spaa_status status);

#ifdef __cplusplus
}
#endif
#endif
