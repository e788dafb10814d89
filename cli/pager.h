/* Answers on a terminal go through a pager, which shows those that fit the screen as they are. */
#ifndef SP_PAGER_H
#define SP_PAGER_H

#include <stdbool.h>

struct pager {
    bool wanted;
    long pid; /* 0: none was started */
    int out;  /* what standard output was */
};

/* The first word of a command is a program: as a path, or in PATH. */
bool cli_has_program(const char *command);
/* Whether there is to be one: standard output is a terminal, and a program is there for it. */
void pager_want(struct pager *p);
/* Begins it, where it is wanted: what is written to standard output from now on it shows. */
void pager_begin(struct pager *p);
/* Waits until it has been left; standard output is the terminal again. */
void pager_end(struct pager *p);

#endif
