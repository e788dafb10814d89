/* A peer: parses every line of an NDJSON file with jansson into its own values, and counts frames. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    struct stat st;
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &st))
        return 2;
    size_t n = (size_t)st.st_size, records = 0, frames = 0;
    const char *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return 3;
    for (const char *end = p + n; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        json_error_t error;
        json_t *record = json_loadb(p, (size_t)((nl ? nl : end) - p), JSON_ALLOW_NUL, &error);
        if (!record) {
            fprintf(stderr, "record %zu: %s\n", records + 1, error.text);
            return 3;
        }
        records++;
        frames += json_array_size(json_object_get(record, "frames"));
        json_decref(record);
        p = nl ? nl + 1 : end;
    }
    printf("%zu records, %zu frames\n", records, frames);
    return 0;
}
