/*
 * Mach-O images: their UUIDs, load segments and symbols.
 *
 * A file holds one image, or several of different architectures (fat, with 32- or 64-bit offsets), each with
 * a UUID of its own. A .dSYM bundle's file is an image without code. Addresses that come from here count from
 * where __TEXT begins, as offsets of images in reports do.
 */
#ifndef SP_DWARF_MACHO_H
#define SP_DWARF_MACHO_H

#include "base/diag.h"
#include "dwarf/elf.h"
#include "dwarf/symtab.h"

enum { SP_UUID_ROOM = 33, SP_MACHO_IMAGES_MAX = 32 };

/* One image of a file. */
struct sp_macho_image {
    uint64_t at, size;       /* its part of the file */
    char uuid[SP_UUID_ROOM]; /* lower-case hex without dashes, as a build-id; "": it has none */
    uint32_t type;
    bool debug; /* of a .dSYM bundle */
};

/*
 * The images of a file that are linked and can be read. SPAA_ERR_NOT_FOUND when it cannot be opened,
 * SPAA_ERR_INPUT when it is no Mach-O file or none of its images is fit (*n is 0), SPAA_ERR_IO when it
 * changed meanwhile (reported), SPAA_ERR_NOMEM.
 */
spaa_status sp_macho_images(const char *path, struct sp_diags *d,
                            struct sp_macho_image out[SP_MACHO_IMAGES_MAX], size_t *n);
/*
 * Reads what is said of the image with a UUID (the build-id of `out`), or of the first one where the file has
 * no such; of the former also the functions, with syms. Fails as sp_macho_images.
 */
spaa_status sp_macho_read(const char *path, const char *uuid, struct sp_diags *d, struct sp_elf *out,
                          struct sp_symtab *syms);

#endif
