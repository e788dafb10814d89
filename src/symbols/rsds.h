/*
 * What ties a Windows binary to its PDB and to an SPT or SPD: the GUID and age of its RSDS record.
 *
 * People compare it in three forms, all made here: {XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX} with the age beside
 * it, the key of symbol servers and breakpad (32 digits, then the age in hex), and the same in lower case as
 * a `build_id`.
 */
#ifndef SP_RSDS_H
#define SP_RSDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_rsds {
    unsigned char guid[16]; /* as it stands in files: the first three fields little-endian */
    uint32_t age;
};

enum { SP_GUID_ROOM = 39, SP_RSDS_KEY_ROOM = 41 }; /* with the NUL */

/* "{8-4-4-4-12}" in upper case. */
void sp_guid_text(const unsigned char guid[static 16], char out[static SP_GUID_ROOM]);
/* The key; returns its length. */
size_t sp_rsds_key(const struct sp_rsds *r, bool upper, char out[static SP_RSDS_KEY_ROOM]);
/* 32 hex digits and an age of 1 to 8, in any case, as a whole. */
bool sp_rsds_from_key(const char *p, size_t n, struct sp_rsds *out);
bool sp_rsds_same_guid(const struct sp_rsds *a, const struct sp_rsds *b);

#endif
