#include "inside.h"
#include "sptdump.h"

#include "api/run.h"

#include <string.h>

spaa_status cli_run_program(struct cli *c, const struct spaa_run_options *o, struct spaa_run_result *result)
{
    const struct sp_api_program program = {strcmp(c->program, "sptdump") == 0 ? sptdump
                                           : strcmp(o->command, "spt") == 0   ? cmd_spt
                                                                              : cmd_upload,
                                           c};
    return sp_api_run_fd(o, &program, 1, result, &c->diags);
}
