/* Commands to ask next, in words that a shell takes. */
#ifndef SP_NEXT_H
#define SP_NEXT_H

#include "ask/question.h"

/*
 * "spaa COMMAND INPUTS [ARGUMENT] [options of these groups, as given] [TAIL]".
 */
void sp_command_text(struct sp_buf *out, const struct sp_next *next, const char *const *inputs,
                     size_t ninputs, const struct sp_options *o, uint64_t groups);
/* The groups of options that a command to ask next takes over. */
uint64_t sp_next_groups(const char *command);
/* Makes all commands of out->next. */
void sp_next_commands(const struct sp_ask *q, struct sp_answer *out);

#endif
