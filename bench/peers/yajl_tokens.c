/* A peer: the bare tokens of an NDJSON file by yajl's callbacks, which only count; numbers stay text. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <yajl/yajl_parse.h>

struct counts {
    size_t numbers, strings, others;
};

static int on_null(void *c)
{
    ((struct counts *)c)->others++;
    return 1;
}

static int on_boolean(void *c, int value)
{
    (void)value;
    ((struct counts *)c)->others++;
    return 1;
}

static int on_number(void *c, const char *text, size_t n)
{
    (void)text;
    (void)n;
    ((struct counts *)c)->numbers++;
    return 1;
}

static int on_string(void *c, const unsigned char *text, size_t n)
{
    (void)text;
    (void)n;
    ((struct counts *)c)->strings++;
    return 1;
}

static int on_bracket(void *c)
{
    ((struct counts *)c)->others++;
    return 1;
}

int main(int argc, char **argv)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_bracket,
        .yajl_map_key = on_string,
        .yajl_end_map = on_bracket,
        .yajl_start_array = on_bracket,
        .yajl_end_array = on_bracket,
    };
    struct stat st;
    struct counts counts = {0};
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &st))
        return 2;
    const unsigned char *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    yajl_handle parser = yajl_alloc(&callbacks, NULL, &counts);
    if (p == MAP_FAILED || !parser)
        return 3;
    yajl_config(parser, yajl_allow_multiple_values, 1);
    if (yajl_parse(parser, p, (size_t)st.st_size) != yajl_status_ok ||
        yajl_complete_parse(parser) != yajl_status_ok) {
        fprintf(stderr, "not JSON\n");
        return 3;
    }
    yajl_free(parser);
    printf("%zu numbers, %zu strings, %zu others\n", counts.numbers, counts.strings, counts.others);
    return 0;
}
