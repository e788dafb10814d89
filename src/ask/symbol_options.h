/* Where options say that symbols are. */
#ifndef SP_SYMBOL_OPTIONS_H
#define SP_SYMBOL_OPTIONS_H

#include "ask/options.h"
#include "symbols/symbols.h"

struct sp_symbol_opts sp_symbol_options(const struct sp_options *o); /* texts are lent */

#endif
