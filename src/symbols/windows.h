/* Windows' binaries: images (PE) and their program databases (PDB), found by GUID and age. */
#ifndef SP_SYMBOLS_WINDOWS_H
#define SP_SYMBOLS_WINDOWS_H

#include "symbols/internal.h"

/* Whether a recorded id is a GUID and an age. One of 40 digits is where the path is of Windows; else it is a
 * SHA-1. */
bool sp_is_guid_and_age(const char *id, const char *path);
/* "C:\dir\app.exe", "app.dll": not a path of this system. */
bool sp_is_windows_path(const char *p);
/* What the symbolizer keeps of an ELF file, of a PE image. As sp_pe_read. */
spaa_status sp_pe_as_elf(struct sp_module *m, const char *path, struct sp_elf *out);
/* Tries the places where the image of a module with a path of Windows may be, until `try` says it is found.
 */
typedef spaa_status sp_try_image(struct sp_module *m, const char *candidate, bool *found);
spaa_status sp_find_image(struct sp_module *m, sp_try_image *try, bool *found);
/* Looks for the PDB of what was recorded, or of the image that was found. SPAA_ERR_NOMEM, SPAA_ERR_IO. */
spaa_status sp_find_pdb(struct sp_module *m);
/* The symbols of a module that is a PE image or has a PDB. */
spaa_status sp_load_windows(struct sp_module *m);
/* As sp_module_lines, of a module with a PDB. */
bool sp_module_pdb_lines(struct sp_module *m, uint64_t rva, struct sp_resolved *out, size_t max, size_t *n);

#endif
