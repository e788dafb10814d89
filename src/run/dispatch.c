/* Which function does a command. */
#include "run/run.h"

static const struct {
    const char *name;
    int (*run)(struct sp_run *run);
} dispatch_table[] = {
#define SPAA_COMMAND(name, args, groups, title, examples) {#name, sp_cmd_##name},
#define SPAA_PROGRAM(name, args, groups, title, examples)
#include "run/commands.def"
#undef SPAA_COMMAND
#undef SPAA_PROGRAM
};

int sp_run_command(struct sp_run *run)
{
    if (run->command.question)
        return sp_run_ask(run);
    for (size_t i = 0; i < sizeof dispatch_table / sizeof *dispatch_table; i++)
        if (strcmp(dispatch_table[i].name, run->command.name) == 0)
            return dispatch_table[i].run(run);
    return sp_run_usage(run, NULL, "only the program spaa has the command %s", run->command.name);
}
