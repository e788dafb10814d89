#include "ask/symbol_options.h"

struct sp_symbol_opts sp_symbol_options(const struct sp_options *o)
{
    return (struct sp_symbol_opts){.symfs = o->symfs,
                                   .debug_dir = o->debug_dir,
                                   .dsym = o->dsym,
                                   .kallsyms = o->kallsyms,
                                   .store = o->symbol_store,
                                   .no_symbols = o->no_symbols != NULL,
                                   .trust_maps = o->trust_maps != NULL,
                                   .debuginfod = o->debuginfod != NULL,
                                   .no_inline = o->no_inline != NULL,
                                   .no_debug = o->no_inline && o->no_lines,
                                   .no_lines = o->no_lines != NULL};
}
