/* One file given twice on a side is no repeat of the recording: what runs differ by would be told too small.
 */
#include "ask/diff.h"

#include <sys/stat.h>

#include <stdlib.h>

struct file {
    struct stat st;
    bool known;
};

static bool files_same(const struct sp_ask *q, const struct file *v, size_t i, size_t k)
{
    if (!q->open && q->profiles && q->profiles[i] == q->profiles[k])
        return true;
    return v[i].known && v[k].known && v[i].st.st_dev == v[k].st.st_dev && v[i].st.st_ino == v[k].st.st_ino;
}

spaa_status sp_diff_check_files(const struct sp_ask *q)
{
    struct file *v = calloc(q->nnames + 1, sizeof *v);
    spaa_status st = v ? SPAA_OK : sp_nomem(q->diags);
    for (size_t i = 0; !st && i < q->nnames; i++) {
        v[i].known = stat(q->names[i], &v[i].st) == 0 && S_ISREG(v[i].st.st_mode);
        for (size_t k = i < q->split ? 0 : q->split; !st && k < i; k++)
            if (files_same(q, v, k, i))
                st = sp_usage(
                    q->diags, "each run of a side is a recording of its own: record the program again",
                    "%s is given twice as a run of the %s", q->names[i], i < q->split ? "base" : "new side");
    }
    free(v);
    return st;
}
