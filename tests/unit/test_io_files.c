/* Reading files, pipes and standard input, and having them whole. */
#include "io/input.h"
#include "io/stage.h"
#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

struct fixture {
    char folder[32], path[64];
    struct sp_diags d;
    struct sp_input *in;
    const unsigned char *p;
    size_t n;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    memcpy(f->folder, "/tmp/spaa-test-XXXXXX", 22);
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/f", f->folder);
    sp_diags_init(&f->d);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sp_input_close(f->in);
    sp_diags_free(&f->d);
    unlink(f->path);
    int failed = rmdir(f->folder); /* fails if anything was left behind */
    free(f);
    return failed;
}

static void put_file(const struct fixture *f, const void *p, size_t n)
{
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(p, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* A pipe that already holds these (few) bytes and then ends; returns the end to read from. */
static int pipe_with(const void *p, size_t n)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], p, n), n);
    close(ends[1]);
    return ends[0];
}

/* Opens "-" on the descriptor, which it takes. */
static void open_standard(struct fixture *f, int fd)
{
    int saved = dup(STDIN_FILENO);
    dup2(fd, STDIN_FILENO);
    close(fd);
    assert_int_equal(sp_input_open("-", &f->d, &f->in), SPAA_OK);
    assert_int_equal(sp_input_peek(f->in, 1000, &f->p, &f->n), SPAA_OK); /* while it is there */
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

static void assert_rest(struct fixture *f, const char *expected)
{
    assert_int_equal(sp_input_peek(f->in, 1000, &f->p, &f->n), SPAA_OK);
    assert_int_equal(f->n, strlen(expected));
    assert_memory_equal(f->p, expected, f->n);
    assert_int_equal(f->d.list.n, 0);
    assert_int_equal(sp_input_failed(f->in), SPAA_OK);
}

static void a_file_is_lent_as_it_is_asked_for(void **state)
{
    struct fixture *f = *state;
    uint64_t done, size;
    char *text = calloc(1, 3 << 20);
    put_file(f, text, 3 << 20);
    free(text);
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_OK);
    assert_int_equal(sp_input_peek(f->in, 3 << 20, &f->p, &f->n), SPAA_OK);
    assert_int_equal(f->n, 3 << 20);
    sp_input_consume(f->in, 5);
    sp_input_progress(f->in, &done, &size);
    assert_int_equal(done, 5);
    assert_int_equal(size, 3 << 20);
    assert_string_equal(sp_input_name(f->in), f->path);
}

static void an_empty_file_is_no_error(void **state)
{
    struct fixture *f = *state;
    const char *line;
    put_file(f, "", 0);
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_OK);
    assert_rest(f, "");
    assert_int_equal(sp_input_line(f->in, &line, &f->n), SPAA_OK);
    assert_null(line);
    assert_int_equal(sp_input_whole(f->in, &f->p, &f->n), SPAA_OK);
    assert_int_equal(f->n, 0);
    assert_non_null(f->p);
}

static void a_file_of_unknown_size_is_read(void **state)
{
    struct fixture *f = *state;
    if (access("/proc/self/status", R_OK))
        skip();
    assert_int_equal(sp_input_open("/proc/self/status", &f->d, &f->in), SPAA_OK);
    assert_int_equal(sp_input_peek(f->in, 5, &f->p, &f->n), SPAA_OK);
    assert_true(f->n > 5);
    assert_memory_equal(f->p, "Name:", 5);
}

static void a_pipe_is_read(void **state)
{
    struct fixture *f = *state;
    open_standard(f, pipe_with("some text", 9));
    assert_string_equal(sp_input_name(f->in), "standard input");
    assert_rest(f, "some text");
}

static void standard_input_begins_where_the_file_stands(void **state)
{
    struct fixture *f = *state;
    put_file(f, "0123456789", 10);
    int fd = open(f->path, O_RDONLY);
    lseek(fd, 4, SEEK_SET);
    open_standard(f, fd);
    assert_rest(f, "456789");
    assert_int_equal(sp_input_offset(f->in), 0);
    assert_int_equal(sp_input_whole(f->in, &f->p, &f->n), SPAA_OK);
    assert_int_equal(f->n, 6);
}

static void a_fifo_is_read_as_it_comes(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkfifo(f->path, 0600), 0);
    int fd = open(f->path, O_RDWR | O_NONBLOCK);
    assert_int_equal(write(fd, "first", 5), 5);
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_OK);
    assert_int_equal(sp_input_peek(f->in, 1, &f->p, &f->n), SPAA_OK); /* does not wait for more */
    assert_int_equal(f->n, 5);
    sp_input_consume(f->in, 3);
    assert_int_equal(write(fd, "second", 6), 6);
    close(fd);
    assert_rest(f, "stsecond");
}

static void what_cannot_be_opened_is_said(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_ERR_IO);
    assert_null(f->in);
    assert_int_equal(f->d.list.v[0].code, SP_E001);
    assert_non_null(strstr(f->d.list.v[0].message, f->path));
    assert_non_null(strstr(f->d.list.v[0].message, "No such file"));
    assert_int_equal(sp_input_open(f->folder, &f->d, &f->in), SPAA_ERR_IO);
    assert_int_equal(f->d.list.v[1].code, SP_E003);
}

static void a_file_without_permission_is_said(void **state)
{
    struct fixture *f = *state;
    if (!geteuid())
        skip();
    put_file(f, "x", 1);
    chmod(f->path, 0);
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_ERR_IO);
    assert_int_equal(f->d.list.v[0].code, SP_E001);
}

static void a_failing_device_is_said_once(void **state)
{
    struct fixture *f = *state;
    if (access("/proc/self/mem", R_OK))
        skip();
    assert_int_equal(sp_input_open("/proc/self/mem", &f->d, &f->in), SPAA_OK); /* page 0 is not there */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sp_input_peek(f->in, 1, &f->p, &f->n), SPAA_OK);
        assert_int_equal(f->n, 0);
        assert_int_equal(sp_input_failed(f->in), SPAA_ERR_IO);
    }
    assert_int_equal(f->d.count[SP_E002], 1);
}

static void assert_whole(struct fixture *f, const char *expected)
{
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sp_input_whole(f->in, &f->p, &f->n), SPAA_OK);
        assert_int_equal(f->n, strlen(expected));
        assert_memory_equal(f->p, expected, f->n);
    }
}

static void a_file_is_whole_until_something_is_consumed(void **state)
{
    struct fixture *f = *state;
    put_file(f, "0123456789", 10);
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_OK);
    assert_rest(f, "0123456789");
    assert_whole(f, "0123456789");
    sp_input_consume(f->in, 6);
    assert_whole(f, "0123456789");
    assert_rest(f, "6789");
    sp_input_close(f->in);
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_OK);
    sp_input_consume(f->in, 0);
    assert_rest(f, "0123456789");
    sp_input_consume(f->in, 6);
    assert_int_equal(sp_input_whole(f->in, &f->p, &f->n), SPAA_ERR_USAGE);
}

enum { LONG = 5 << 20, SHORT = 3 << 20 };

static void put_long_file(struct fixture *f)
{
    char *text = calloc(1, LONG);
    assert_non_null(text);
    put_file(f, text, LONG);
    free(text);
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_OK);
    assert_int_equal(sp_input_peek(f->in, 1, &f->p, &f->n), SPAA_OK);
    assert_true(f->n < SHORT);
}

static void assert_shrank(struct fixture *f)
{
    assert_int_equal(f->d.count[SP_E014], 1);
    assert_int_equal(f->d.list.v[0].offset, SHORT);
    assert_non_null(strstr(f->d.list.v[0].message, f->path));
    assert_int_equal(sp_input_failed(f->in), SPAA_ERR_IO);
}

static void a_file_that_becomes_shorter_fails_where_it_ends(void **state)
{
    struct fixture *f = *state;
    size_t sum = 0;
    put_long_file(f);
    sp_input_consume(f->in, f->n);
    sum = f->n;
    assert_int_equal(truncate(f->path, SHORT), 0);
    while (sp_input_peek(f->in, 1, &f->p, &f->n) == SPAA_OK && f->n) {
        sp_input_consume(f->in, f->n);
        sum += f->n;
    }
    assert_int_equal(sum, SHORT);
    assert_shrank(f);
}

static void a_file_that_becomes_shorter_cannot_be_had_whole(void **state)
{
    struct fixture *f = *state;
    put_long_file(f);
    assert_int_equal(truncate(f->path, SHORT), 0);
    assert_int_equal(sp_input_whole(f->in, &f->p, &f->n), SPAA_ERR_IO);
    assert_shrank(f);
}

static void a_file_that_grows_is_read_as_it_was(void **state)
{
    struct fixture *f = *state;
    put_file(f, "0123456789", 10);
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_OK);
    put_file(f, "0123456789abc", 13);
    assert_rest(f, "0123456789");
    assert_whole(f, "0123456789");
}

static void a_pipe_is_whole_until_something_is_consumed(void **state)
{
    struct fixture *f = *state;
    open_standard(f, pipe_with("0123456789", 10));
    assert_whole(f, "0123456789");
    sp_input_consume(f->in, 6);
    assert_rest(f, "6789");
    assert_whole(f, "0123456789");
    sp_input_close(f->in);
    open_standard(f, pipe_with("0123456789", 10));
    sp_input_consume(f->in, 1);
    assert_int_equal(sp_input_whole(f->in, &f->p, &f->n), SPAA_ERR_USAGE);
}

static void compressed_input_is_whole_and_keeps_its_damage(void **state)
{
    struct fixture *f = *state;
    char packed[200];
    uint64_t done, size;
    size_t n = ZSTD_compress(packed, sizeof packed, "0123456789", 10, 3);
    n += ZSTD_compress(packed + n, sizeof packed - n, "abc", 3, 3);
    n -= 4; /* all of the second content */
    put_file(f, packed, n);
    assert_int_equal(sp_input_open(f->path, &f->d, &f->in), SPAA_OK);
    assert_whole(f, "0123456789");
    assert_int_equal(sp_input_failed(f->in), SPAA_ERR_INPUT);
    assert_int_equal(f->d.count[SP_E006], 1);
    sp_input_progress(f->in, &done, &size);
    assert_int_equal(done, n);
    assert_int_equal(size, n);
}

static void a_large_stream_is_spooled_to_disk(void **state)
{
    struct fixture *f = *state;
    enum { SIZE = 3000000 };
    unsigned char *text = malloc(SIZE);
    assert_non_null(text);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = (unsigned char)(i * 7 >> 3);
    put_file(f, text, SIZE);
    int fd = open(f->path, O_RDONLY);
    struct sp_stage *s = sp_stage_fd(fd, "file", &f->d);
    struct sp_spool spool = {0};
    setenv("TMPDIR", f->folder, 1); /* tear_down finds it if it has a name */
    assert_int_equal(sp_spool_fill(&spool, s, 1000000, SP_SPOOL_MAX), SPAA_OK);
    assert_non_null(spool.map);
    assert_int_equal(spool.len, SIZE);
    assert_memory_equal(sp_spool_data(&spool), text, SIZE);
    sp_spool_free(&spool);
    sp_stage_free(s);

    lseek(fd, 0, SEEK_SET);
    s = sp_stage_fd(fd, "file", &f->d);
    assert_int_equal(sp_spool_fill(&spool, s, 1000000, 2000000), SPAA_ERR_LIMIT);
    assert_int_equal(f->d.count[SP_E007], 1);
    assert_null(sp_spool_data(&spool));
    sp_stage_free(s);

    lseek(fd, 0, SEEK_SET);
    s = sp_stage_fd(fd, "file", &f->d);
    setenv("TMPDIR", "/nonexistent", 1);
    assert_int_equal(sp_spool_fill(&spool, s, 1000000, SP_SPOOL_MAX), SPAA_ERR_IO);
    assert_int_equal(f->d.count[SP_E020], 1);
    sp_stage_free(s);
    unsetenv("TMPDIR");
    close(fd);
    free(text);
}

/* Whoever uses the library may not ignore SIGXFSZ: it would end the process. */
static void test_a_limit_of_files_is_an_error(void **state)
{
    (void)state;
    struct rlimit was, few = {.rlim_cur = 100000};
    static const char bytes[64 << 10];
    int fd = sp_temporary_file();
    assert_true(fd >= 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    few.rlim_max = was.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    bool first = sp_temporary_write(fd, bytes, sizeof bytes),
         second = sp_temporary_write(fd, bytes, sizeof bytes);
    int why = errno;
    bool sized = sp_temporary_size(fd, 1 << 20);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_true(first && !second && !sized);
    assert_int_equal(why, EFBIG);
    assert_int_equal(lseek(fd, 0, SEEK_END), few.rlim_cur);
    close(fd);
}

#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(test_a_limit_of_files_is_an_error),
        FILE_TEST(a_file_is_lent_as_it_is_asked_for),
        FILE_TEST(an_empty_file_is_no_error),
        FILE_TEST(a_file_of_unknown_size_is_read),
        FILE_TEST(a_pipe_is_read),
        FILE_TEST(standard_input_begins_where_the_file_stands),
        FILE_TEST(a_fifo_is_read_as_it_comes),
        FILE_TEST(what_cannot_be_opened_is_said),
        FILE_TEST(a_file_without_permission_is_said),
        FILE_TEST(a_failing_device_is_said_once),
        FILE_TEST(a_file_is_whole_until_something_is_consumed),
        FILE_TEST(a_file_that_becomes_shorter_fails_where_it_ends),
        FILE_TEST(a_file_that_becomes_shorter_cannot_be_had_whole),
        FILE_TEST(a_file_that_grows_is_read_as_it_was),
        FILE_TEST(a_pipe_is_whole_until_something_is_consumed),
        FILE_TEST(compressed_input_is_whole_and_keeps_its_damage),
        FILE_TEST(a_large_stream_is_spooled_to_disk),
    };
    return cmocka_run_group_tests_name("io_files", tests, NULL, NULL);
}
