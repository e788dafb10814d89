/* Running a command by the options of include/spaa/run.h: what src/api/run.c and the program `spaa` share. */
#ifndef SP_API_RUN_H
#define SP_API_RUN_H

#include "api/api.h"
#include "run/run.h"
#include "spaa/run.h"

/* A command that is not the library's: an exit code. */
struct sp_api_program {
    int (*run)(void *arg, struct sp_run *run);
    void *arg;
};

/* As spaa_run_fd; program NULL: the library's own. */
spaa_status sp_api_run_fd(const struct spaa_run_options *options, const struct sp_api_program *program,
                          int fd, struct spaa_run_result *result, struct spaa_diagnostics **diagnostics);

#endif
