/* What the program does with the inside of the library, because the library does not do it: its own commands.
 */
#ifndef SP_CLI_INSIDE_H
#define SP_CLI_INSIDE_H

#include "cli.h"

/* One of the commands that are `of_program`, or sptdump: as spaa_run_fd. */
spaa_status cli_run_program(struct cli *c, const struct spaa_run_options *o, struct spaa_run_result *result);

/* The server for agents: it has standard input and output for itself. */
int cmd_mcp(struct cli *c);
/* What there is of settings. */
int cmd_config(struct cli *c);
/* Writes a profile for another program's viewer, and opens it there. */
int cmd_view(struct cli *c);

struct sp_run;
int cmd_upload(void *cli, struct sp_run *run);
int cmd_spt(void *cli, struct sp_run *run);

#endif
