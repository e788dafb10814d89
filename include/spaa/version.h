/*
 * The version of the project. The interface has a version of its own, that of the soname: libspaa.so.1. What
 * would break a program that uses it changes that; everything else only adds to it.
 */
#ifndef SPAA_VERSION_H
#define SPAA_VERSION_H

#include <spaa/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the headers. 0.1.0 is 100 as a number: major * 10000 + minor * 100 + patch. */
#define SPAA_VERSION_MAJOR  0
#define SPAA_VERSION_MINOR  1
#define SPAA_VERSION_PATCH  0
#define SPAA_VERSION_NUMBER (SPAA_VERSION_MAJOR * 10000 + SPAA_VERSION_MINOR * 100 + SPAA_VERSION_PATCH)

/* Of the library that runs: "0.1.0", static; and as a number. Never fail; any thread. */
SPAA_API const char *spaa_version(void);
SPAA_API int spaa_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
