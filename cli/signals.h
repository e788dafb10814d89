/* A half-written output file is removed when INT, TERM, HUP or QUIT end the program. */
#ifndef SP_CLI_SIGNALS_H
#define SP_CLI_SIGNALS_H

/* Once, first of all. The program still dies of the signal; signals that are ignored stay ignored. */
void cli_signals(void);
/* Which file is half-written; NULL: none any more. As spaa_run_options.temporary. */
void cli_half_written(void *arg, const char *path);

#endif
