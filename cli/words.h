/* Words of other tools, for who knows those: words.def. */
#ifndef SP_CLI_WORDS_H
#define SP_CLI_WORDS_H

#include "cli.h"

/* A command of another tool: sets the command and returns true, or false with *rc said (EXIT_FINE: no word).
 */
bool cli_words_command(struct cli *c, const char *word, int *rc);
/* An option that names another command than the brief, as pprof's -top: that is taken from then on. */
void cli_words_switch(struct cli *c, int argc, char **argv);
/* It is an option of others, some of whom have no commands: it may stand first. */
bool cli_words_first(const char *arg);
/* A letter that the tool has which was named first, and means something else there than here. */
bool cli_words_letter(const struct cli *c, const char *arg);
/* An option that this command has not: true with *rc where it is a word of others. *i: past its value. */
bool cli_words_option(struct cli *c, int argc, char **argv, int *i, int *rc);
/* A value that another tool gives to an option of the same name: as ours has it, or as it is. An exit code.
 */
int cli_words_value(struct cli *c, const char **name, const char **value);
/* After the last: what the tool does anyway and ours does not. An exit code. */
int cli_words_end(struct cli *c);
/* What pprof's expressions match and ours do not, where one of them fitted nothing: said. */
void cli_words_unmatched(const struct cli *c);

#endif
