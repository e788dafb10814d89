/*
 * The lines of an input, one after the other, for readers of text: a line ends at its newline, or at the end
 * of the input; one that is longer than SP_LINE_MAX is taken in pieces.
 */
#ifndef SP_LINES_H
#define SP_LINES_H

#include "io/input.h"

struct sp_lines {
    void *reader; /* the caller's, for the functions below */
    /* A line without its newline. What it returns other than SPAA_OK ends the reading. */
    spaa_status (*take)(void *reader, const char *p, size_t n);
    uint64_t line, offset; /* of the line in work: from 1, and in bytes */
    bool cut;              /* the line in work, or the last one, has no newline: the input ends in it */
};

spaa_status sp_lines_read(struct sp_lines *l, struct sp_input *in);
/* Of a last line that could be used but has no newline, where what writes such text ends every line. */
void sp_lines_say_cut(struct sp_diags *d, uint64_t line, uint64_t offset);

#endif
