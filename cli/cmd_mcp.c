/* spaa mcp: the options of the server, and how it ends. */
#include "inside.h"
#include "signals.h"

#include "mcp/mcp.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_MIB = 1024 };

static bool read_memory(struct cli *c, struct sp_mcp_options *o)
{
    const char *asked = cli_option(c, "memory");
    char *end = NULL;
    errno = 0;
    unsigned long long mib = asked ? strtoull(asked, &end, 10) : MEMORY_MIB;
    if (asked && (errno || end == asked || *end || *asked == '-' || mib > 1 << 24)) {
        cli_usage(c, "a number of MiB", "--memory has no value \"%s\"", asked);
        return false;
    }
    o->memory = (uint64_t)mib << 20;
    return true;
}

/*
 * What profiles leave is given back: glibc raises these bounds by itself when large blocks come and go, and
 * keeps what is freed below them, several times of what --memory allows.
 */
static void give_memory_back(void)
{
    enum { BOUND = 128 << 10 };
    mallopt(M_MMAP_THRESHOLD, BOUND);
    mallopt(M_TRIM_THRESHOLD, BOUND);
}

int cmd_mcp(struct cli *c)
{
    char why[512] = "";
    struct sp_mcp_options o = {.out = cli_option(c, "out"),
                               .version = spaa_version(),
                               .in = 0,
                               .to = 1,
                               .temporary = cli_half_written};
    const char **roots = calloc(c->noptions + 1, sizeof *roots);
    if (!roots)
        return EXIT_IO;
    for (size_t i = 0; i < c->noptions; i++)
        if (strcmp(c->options[i].name, "root") == 0)
            roots[o.nroots++] = c->options[i].value;
    o.roots = roots;
    c->answered = true; /* standard output is the protocol's */
    give_memory_back();
    int rc = EXIT_FINE;
    if (c->nfiles)
        rc = cli_usage(c, "profiles are opened by the client's calls", "mcp takes no file");
    else if (!read_memory(c, &o))
        rc = EXIT_USAGE;
    else
        switch (sp_mcp_serve(&o, why, sizeof why)) {
        case SP_MCP_REFUSED:
            rc = cli_usage(c, NULL, "%s", why);
            break;
        case SP_MCP_LEFT: /* what is half-written goes by the handler */
            raise(SIGTERM);
            _Exit(EXIT_IO);
        case SP_MCP_ENDED:
            break;
        }
    free(roots);
    return rc;
}
