/* sptdump: the second name of this program, which shows an SPT file as Windows' SPTDump does. */
#ifndef SP_SPTDUMP_H
#define SP_SPTDUMP_H

#include "cli.h"

/* Whether the program was called by that name, in any case of letters, with or without .exe. */
bool is_sptdump(const char *argv0);
/* An exit code; what is to be said is in c->diags. */
int sptdump(struct cli *c, int argc, char **argv);

#endif
