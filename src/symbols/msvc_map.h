/*
 * MSVC linker maps (link /MAP): functions at their RVAs.
 *
 *      app
 *
 *      Preferred load address is 0000000140000000
 *
 *      Start         Length     Name                   Class
 *      0001:00000000 00012345H .text$mn                CODE
 *
 *       Address         Publics by Value              Rva+Base               Lib:Object
 *
 *      0001:00000000       ?main@@YAHXZ               0000000140001000 f   main.obj
 *
 * and the same rows again under "Static symbols". A symbol of a CODE section reaches to the next one or to
 * the end of its section; of several at one address (identical functions that the linker folded) the first
 * counts.
 */
#ifndef SP_SYMBOLS_MSVC_MAP_H
#define SP_SYMBOLS_MSVC_MAP_H

#include "base/strtab.h"
#include "dwarf/symtab.h"

#define SP_MSVC_MAP_MAX ((size_t)1 << 30)

/*
 * Parses text[0..n) with a NUL behind it in place, as sp_perf_map_parse does, and finishes the table; *module
 * is the name in the first line, lent from the text. *found: it is a linker map. False: out of memory.
 */
bool sp_msvc_map_parse(char *text, size_t n, struct sp_symtab *out, struct sp_str *module, bool *found);

#endif
