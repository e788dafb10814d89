#include "analysis/broken_chains.h"

#include <stdlib.h>

void sp_chains_free(struct sp_chains *c)
{
    if (!c)
        return;
    free(c->rows);
    sp_dso_weights_free(&c->dsos);
    sp_dso_weights_free(&c->unchecked_dsos);
    free(c);
}
