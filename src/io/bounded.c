#include "io/bounded.h"

#include "io/temporary.h"

#include <errno.h>
#include <unistd.h>

static spaa_status bounded_copy(int fd, struct sp_diags *d, struct sp_output *out)
{
    enum { PART = 64 << 10 };
    off_t at = 0;
    ssize_t n;
    do {
        n = pread(fd, sp_output_room(out, PART), PART, at);
        if (n > 0) {
            sp_output_took(out, (size_t)n);
            at += n;
        }
    } while (!out->status && (n > 0 || (n < 0 && errno == EINTR)));
    return n < 0 ? sp_temporary_failed(d, "the output") : out->status;
}

static spaa_status bounded_write(struct sp_output *out, struct sp_bounds *bounds,
                                 spaa_status (*write)(void *arg, struct sp_output *out), void *arg)
{
    sp_output_at_most(out, bounds->most);
    spaa_status st = write(arg, out);
    bounds->beyond = !sp_output_within(out);
    sp_output_at_most(out, UINT64_MAX);
    return bounds->beyond ? SPAA_ERR_LIMIT : st;
}

spaa_status sp_write_bounded(struct sp_output *out, struct sp_bounds *bounds, struct sp_diags *d,
                             spaa_status (*write)(void *arg, struct sp_output *out), void *arg)
{
    struct sp_output *aside = NULL;
    if (!bounds->aside || sp_output_temporary(out))
        return bounded_write(out, bounds, write, arg);
    int fd = sp_temporary_file();
    if (fd < 0)
        return sp_temporary_failed(d, "the output");
    spaa_status st = sp_output_fd(fd, "temporary file", d, &aside);
    if (!st)
        st = bounded_write(aside, bounds, write, arg);
    if (!st)
        st = sp_output_commit(aside);
    if (!st)
        st = bounded_copy(fd, d, out);
    sp_output_close(aside);
    close(fd);
    return st;
}
