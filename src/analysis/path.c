#include "analysis/path.h"

size_t sp_heaviest_path(const struct sp_tree *t, double share, uint32_t *out, size_t max)
{
    size_t n = 0;
    uint32_t at = 0;
    int64_t least = (int64_t)((double)t->nodes.v[0].total * share);
    /* Children are sorted: the first one follows its parent. */
    while (n < max && at + 1 < t->nodes.v[at].end) {
        at++;
        if (t->nodes.v[at].total < least || t->nodes.v[at].total <= 0)
            break;
        out[n++] = at;
    }
    return n;
}
