/* What the shared library exports: the functions marked SPAA_API, and nothing else. */
#ifndef SPAA_EXPORT_H
#define SPAA_EXPORT_H

#if defined(__GNUC__)
#define SPAA_API __attribute__((visibility("default")))
#else
#define SPAA_API
#endif

#endif
