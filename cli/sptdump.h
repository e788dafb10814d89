/* sptdump: the second name of this program, which shows an SPT file as Windows' SPTDump does. */
#ifndef SP_SPTDUMP_H
#define SP_SPTDUMP_H

#include <stdbool.h>

/* Whether the program was called by that name, in any case of letters, with or without .exe. */
bool is_sptdump(const char *argv0);
/* A command of the program (inside.h) whose arguments are run->files, as they stand. */
struct sp_run;
int sptdump(void *cli, struct sp_run *run);

#endif
