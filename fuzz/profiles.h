/* What fuzzers of profiles share: reading bytes as a format, writing what was read, comparing. */
#ifndef FUZZ_PROFILES_H
#define FUZZ_PROFILES_H

#include "formats/format.h"

struct result {
    struct sp_diags d;
    struct sp_profile *profile;
    spaa_status status;
};

extern const struct spaa_format spaa_format_spaa;

void die(const char *who, const char *what);
/* In pieces of `chunk` bytes (0: at once); lossless: its bytes are kept. */
void read_as(struct result *r, const struct spaa_format *format, const void *p, size_t n, size_t chunk,
             bool lossless);
void release(struct result *r);
/* NULL when the format cannot hold the profile. */
struct sp_output *written(struct result *r, const struct spaa_format *format);
bool same(struct sp_output *a, struct sp_output *b);
/* Reads `out`, which the format wrote, and expects that it is written the same way again. */
void comes_back(const struct spaa_format *format, struct sp_output *out, const char *what);
/* The first writing may lose what the format has no place for; from the second on nothing changes. */
void settles(const struct spaa_format *format, struct result *r);
/* Whether inputs are unpacked before a format sees them. */
bool looks_compressed(const unsigned char *p, size_t n);
/* Texts in which a name may look like anything: no writing of it would be read as one. */
bool is_for_people(const struct spaa_format *format);

#endif
