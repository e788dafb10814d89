/* Output files of the commands: a half-written one is removed when INT, TERM, HUP or QUIT end the program. */
#ifndef SP_CLI_OUTPUT_H
#define SP_CLI_OUTPUT_H

#include "cli.h"

/* Once, first of all. The program still dies of the signal; signals that are ignored stay ignored. */
void cli_output_signals(void);
/* sp_output_open and sp_output_close of a file that was named; one at a time. */
spaa_status cli_output_open(struct cli *c, const char *path, struct sp_output **out);
void cli_output_close(struct sp_output *out);

#endif
