/* Lines of words that fit a terminal: broken at blanks, what follows hangs under what it belongs to. */
#ifndef SP_WRAP_H
#define SP_WRAP_H

#include "base/buf.h"

enum sp_wrap_kind {
    SP_WRAP_WORDS,
    SP_WRAP_COMMAND, /* as a shell takes it: broken between its words, each line but the last ends in " \" */
};

/*
 * Appends safe text (answer/text.h) in lines of at most `columns`, without the end of the last; 0: in one
 * line. `before`: columns of the first line that are taken. A word that is longer is cut in its middle; one
 * of a command stands alone in its line. False: the buffer failed.
 */
bool sp_text_wrap(struct sp_buf *out, enum sp_wrap_kind kind, const char *p, size_t n, size_t before,
                  size_t columns);

#endif
