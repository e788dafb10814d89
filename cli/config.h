/*
 * Settings: options that are as if they had been given, for the commands that have them.
 *
 * Of two files, $XDG_CONFIG_HOME/spaa/config (~/.config/spaa/config), and the project's: .spaa in the working
 * directory, or the nearest above it, up to the home directory. Lines are `key = value`; # begins a comment;
 * of two lines for one key the first counts. A path is from the folder of its file, ~/ from the home
 * directory. The command line comes before the project's file, that before the user's. Files that others may
 * write to are not read. Nothing in them is executed. With SPAA_NO_CONFIG in the environment none is read.
 */
#ifndef SP_CLI_CONFIG_H
#define SP_CLI_CONFIG_H

#include "cli.h"

enum config_kind {
    CONFIG_TEXT,
    CONFIG_PATH,
    CONFIG_PLACE /* a path, or none */,
    CONFIG_YES /* yes: the flag is given */,
    CONFIG_NO /* no: it is */
};

struct config_key {
    const char *name;
    enum config_kind kind;
    const char *option;
    const char *what;
};
extern const struct config_key config_keys[]; /* name NULL ends */

struct config_setting {
    const struct config_key *key;
    char *value; /* a path as it is used; of flags "yes" or "no" */
    char *file;
    unsigned line;
};

struct config {
    struct config_setting *v; /* the project's first */
    size_t n;
    char *user, *project;       /* the files that are looked at; NULL: there is no place for one */
    bool has_user, has_project; /* they were read */
};

/* EXIT_FINE; EXIT_USAGE: a line cannot be understood; EXIT_IO: out of memory, or a file cannot be read. */
int config_read(struct cli *c, struct config *out);
/* Adds to the options what the command has and nobody gave. They last as long as the settings. */
void config_apply(struct cli *c, const struct config *x);
/* The setting that counts for a key: the first of it; NULL: none. */
const struct config_setting *config_of(const struct config *x, const struct config_key *key);
/*
 * The command failed for what one of the applied settings says: the error names file and line of it, which
 * nobody sees on the command line.
 */
void config_blame(struct cli *c, const struct config *x);
/* config_check.c: warns of files and folders that options or settings name, and that are not there. */
void config_check_places(struct cli *c, const struct config *x);
/* The same of the settings in effect; EXIT_USAGE: one is an expression that is none, which is told. */
int config_check(struct cli *c, const struct config *x);
void config_free(struct config *x);

#endif
