#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *sp_temporary_folder(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

int sp_temporary_file(void)
{
    const char *dir = sp_temporary_folder();
#ifdef O_TMPFILE
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
#endif
    static const char pattern[] = "/spaa-XXXXXX";
    size_t n = strlen(dir);
    char *path = malloc(n + sizeof pattern);
    if (!path) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(path, dir, n);
    memcpy(path + n, pattern, sizeof pattern);
    int named = mkostemp(path, O_CLOEXEC);
    int saved = errno;
    if (named >= 0)
        unlink(path);
    free(path);
    errno = saved;
    return named;
}
