/* Options as one text: "--by dso --sort total", with words in quotes where they have blanks. */
#ifndef SP_OPTION_WORDS_H
#define SP_OPTION_WORDS_H

#include "ask/options.h"
#include "base/arena.h"
#include "base/diag.h"

/*
 * Sets what the text says, of the options of these groups; texts are copied into the arena. A word that is no
 * option is *argument, several are one with blanks between (argument NULL: none is taken). Bad usage is
 * reported.
 */
spaa_status sp_options_parse(struct sp_options *o, const char *text, uint64_t groups, struct sp_arena *arena,
                             const char **argument, struct sp_diags *d);

#endif
