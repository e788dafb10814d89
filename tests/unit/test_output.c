/* Writing: complete files or none, compression, standard output, and every way it can fail. */
#include "io/input.h"
#include "io/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char folder[32], path[40], other[64];
    struct sp_diags d;
    struct sp_output *o;
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
    snprintf(f->other, sizeof f->other, "%s/other", f->folder);
    sp_diags_init(&f->d);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sp_output_close(f->o);
    sp_diags_free(&f->d);
    unlink(f->path);
    unlink(f->other);
    int failed = rmdir(f->folder); /* fails if anything was left behind */
    free(f);
    return failed;
}

static size_t files_in(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t n = 0;
    for (struct dirent *e; (e = readdir(dir));)
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(dir);
    return n;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* What is in a file, unpacked. */
static void assert_content(struct fixture *f, const char *path, const void *expected, size_t size)
{
    struct sp_input *in;
    const unsigned char *p;
    size_t n;
    assert_int_equal(sp_input_open(path, &f->d, &in), SPAA_OK);
    assert_int_equal(sp_input_whole(in, &p, &n), SPAA_OK);
    assert_int_equal(sp_input_failed(in), SPAA_OK);
    assert_int_equal(n, size);
    assert_memory_equal(p, expected, n);
    sp_input_close(in);
}

static void a_file_appears_only_when_committed(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(sp_output_open(f->path, &f->d, &f->o), SPAA_OK);
    sp_puts(f->o, "hello ");
    sp_printf(f->o, "%d worlds", 3);
    assert_int_equal(access(f->path, F_OK), -1);
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    assert_content(f, f->path, "hello 3 worlds", 14);
    sp_puts(f->o, " more"); /* too late */
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    assert_content(f, f->path, "hello 3 worlds", 14);
    assert_int_equal(files_in(f->folder), 1);
}

static void what_is_longer_than_it_may_be_is_not_there(void **state)
{
    struct fixture *f = *state;
    char block[1000] = {0};
    for (int memory = 0; memory < 2; memory++)
        for (int blocks = 500; blocks <= 501; blocks++) {
            assert_int_equal(memory ? sp_output_memory(&f->d, &f->o) : sp_output_open(f->path, &f->d, &f->o),
                             SPAA_OK);
            sp_write(f->o, block, sizeof block);
            sp_output_at_most(f->o, 500 * sizeof block);
            for (int i = 0; i < blocks; i++)
                sp_write(f->o, block, sizeof block);
            assert_int_equal(sp_output_within(f->o), blocks == 500);
            assert_int_equal(sp_output_commit(f->o), blocks == 500 ? SPAA_OK : SPAA_ERR_LIMIT);
            sp_output_close(f->o);
            f->o = NULL;
            assert_int_equal(files_in(f->folder), memory ? 0 : blocks == 500);
            unlink(f->path);
        }
}

static void closing_without_commit_leaves_the_old_file(void **state)
{
    struct fixture *f = *state;
    char block[1000] = {0};
    write_file(f->path, "old");
    assert_int_equal(sp_output_open(f->path, &f->d, &f->o), SPAA_OK);
    for (int i = 0; i < 1000; i++)
        sp_write(f->o, block, sizeof block);
    sp_output_close(f->o);
    f->o = NULL;
    assert_content(f, f->path, "old", 3);
    assert_int_equal(files_in(f->folder), 1);
}

static void the_mode_is_the_umasks_or_the_old_files(void **state)
{
    struct fixture *f = *state;
    struct stat sb;
    mode_t old = umask(027);
    assert_int_equal(sp_output_open(f->path, &f->d, &f->o), SPAA_OK);
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    sp_output_close(f->o);
    stat(f->path, &sb);
    assert_int_equal(sb.st_mode & 0777, 0640);
    chmod(f->path, 0600);
    umask(old);
    assert_int_equal(sp_output_open(f->path, &f->d, &f->o), SPAA_OK);
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    stat(f->path, &sb);
    assert_int_equal(sb.st_mode & 0777, 0600);
}

static void links_are_written_through(void **state)
{
    struct fixture *f = *state;
    struct stat sb;
    assert_int_equal(symlink("other", f->path), 0);
    for (int exists = 0; exists < 2; exists++) { /* first it leads nowhere */
        assert_int_equal(sp_output_open(f->path, &f->d, &f->o), SPAA_OK);
        sp_printf(f->o, "%d", exists);
        assert_int_equal(sp_output_commit(f->o), SPAA_OK);
        sp_output_close(f->o);
        f->o = NULL;
        assert_content(f, f->other, exists ? "1" : "0", 1);
        lstat(f->path, &sb);
        assert_true(S_ISLNK(sb.st_mode));
    }
    unlink(f->other);
    assert_int_equal(symlink("f", f->other), 0);
    assert_int_equal(sp_output_open(f->path, &f->d, &f->o), SPAA_ERR_IO); /* in a circle */
    assert_null(f->o);
}

/* The same text written in other pieces; returns the packed bytes in `packed`. */
static size_t packed_file(struct fixture *f, const char *ext, const char *text, size_t n, size_t piece,
                          unsigned char *packed, size_t room)
{
    char path[80];
    snprintf(path, sizeof path, "%s.%s", f->path, ext);
    assert_int_equal(sp_output_open(path, &f->d, &f->o), SPAA_OK);
    for (size_t i = 0; i < n; i += piece)
        sp_write(f->o, text + i, n - i < piece ? n - i : piece);
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    sp_output_close(f->o);
    f->o = NULL;
    assert_content(f, path, text, n);
    FILE *file = fopen(path, "rb");
    size_t got = fread(packed, 1, room, file);
    assert_true(got > 0 && got < room);
    fclose(file);
    unlink(path);
    return got;
}

static void packed_files_read_back_and_do_not_depend_on_pieces(void **state)
{
    struct fixture *f = *state;
    enum { SIZE = 1500000 };
    char *text = malloc(SIZE);
    unsigned char *one = malloc(SIZE), *two = malloc(SIZE);
    assert_true(text && one && two);
    uint32_t seed = 1;
    for (size_t i = 0; i < SIZE; i++) {
        seed = seed * 1664525 + 1013904223;
        text[i] = (char)('a' + (seed >> 24) % 16);
    }
    for (int k = 0; k < 2; k++) {
        const char *ext = k ? "gz" : "zst";
        size_t n = packed_file(f, ext, text, SIZE, SIZE, one, SIZE);
        size_t m = packed_file(f, ext, text, SIZE, 777, two, SIZE);
        assert_int_equal(n, m);
        assert_memory_equal(one, two, n);
        assert_int_equal(packed_file(f, ext, text, 0, 1, one, SIZE), k ? 20 : 13);
        if (k)
            assert_memory_equal(two, "\x1f\x8b\x08\0\0\0\0\0", 8); /* no name, no time */
    }
    free(text);
    free(one);
    free(two);
}

static void a_full_disk_is_said_once(void **state)
{
    struct fixture *f = *state;
    char block[1000] = {0};
    if (access("/dev/full", W_OK))
        skip();
    assert_int_equal(sp_output_open("/dev/full", &f->d, &f->o), SPAA_OK);
    for (int i = 0; i < 2000; i++)
        sp_write(f->o, block, sizeof block);
    memset(sp_output_room(f->o, 64 << 10), 'x', 64 << 10);
    sp_output_took(f->o, 64 << 10);
    assert_int_equal(f->o->status, SPAA_ERR_IO);
    assert_int_equal(sp_output_commit(f->o), SPAA_ERR_IO);
    assert_int_equal(sp_output_commit(f->o), SPAA_ERR_IO);
    assert_int_equal(f->d.list.n, 1);
    assert_int_equal(f->d.list.v[0].code, SP_E020);
    assert_non_null(strstr(f->d.list.v[0].message, "/dev/full: No space left"));
    sp_output_close(f->o);
    assert_int_equal(sp_output_open("/dev/full", &f->d, &f->o), SPAA_OK);
    sp_puts(f->o, "little"); /* only the commit writes */
    assert_int_equal(sp_output_commit(f->o), SPAA_ERR_IO);
}

static void a_closed_pipe_ends_quietly(void **state)
{
    struct fixture *f = *state;
    int ends[2], saved = dup(STDOUT_FILENO);
    char block[1000] = {0};
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    spaa_status opened = sp_output_open("-", &f->d, &f->o);
    for (int i = 0; !opened && i < 1000; i++)
        sp_write(f->o, block, sizeof block);
    spaa_status st = opened ? opened : sp_output_commit(f->o);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_int_equal(st, SPAA_ERR_CLOSED);
    assert_int_equal(f->d.list.n, 0);
}

static void standard_output_has_several_names(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    int saved = dup(STDOUT_FILENO), fd = open(f->path, O_WRONLY | O_CREAT, 0600);
    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    spaa_status st = SPAA_OK;
    for (int i = 0; i < 4 && !st; i++) {
        st = sp_output_open(names[i], &f->d, &f->o);
        if (!st) {
            sp_printf(f->o, "%d", i);
            st = sp_output_commit(f->o);
        }
        sp_output_close(f->o);
        f->o = NULL;
    }
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_int_equal(st, SPAA_OK);
    assert_content(f, f->path, "0123", 4);
}

static void devices_and_pipes_are_written_directly(void **state)
{
    struct fixture *f = *state;
    char got[6] = "";
    struct stat sb;
    assert_int_equal(sp_output_open("/dev/null", &f->d, &f->o), SPAA_OK);
    sp_puts(f->o, "hello");
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    sp_output_close(f->o);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    int fd = open(f->path, O_RDWR);
    assert_int_equal(sp_output_open(f->path, &f->d, &f->o), SPAA_OK);
    sp_puts(f->o, "hello");
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    assert_int_equal(read(fd, got, 5), 5);
    assert_string_equal(got, "hello");
    close(fd);
    stat(f->path, &sb);
    assert_true(S_ISFIFO(sb.st_mode));
}

static void assert_refused(struct fixture *f, const char *path, int error)
{
    size_t before = f->d.list.n;
    assert_int_equal(sp_output_open(path, &f->d, &f->o), SPAA_ERR_IO);
    assert_null(f->o);
    assert_int_equal(f->d.list.n, before + 1);
    assert_int_equal(f->d.list.v[before].code, SP_E020);
    assert_non_null(strstr(f->d.list.v[before].message, path));
    assert_non_null(strstr(f->d.list.v[before].message, strerror(error)));
}

static void impossible_targets_are_refused(void **state)
{
    struct fixture *f = *state;
    assert_refused(f, f->folder, EISDIR);
    assert_refused(f, "/nonexistent/file", ENOENT);
    assert_refused(f, "", ENOENT);
    write_file(f->path, "x");
    snprintf(f->other, sizeof f->other, "%s/under", f->path);
    assert_refused(f, f->other, ENOTDIR);
    if (!geteuid())
        return;
    chmod(f->path, 0400);
    assert_refused(f, f->path, EACCES);
    unlink(f->path);
    chmod(f->folder, 0500);
    assert_refused(f, f->path, EACCES);
    chmod(f->folder, 0700);
}

static void memory_keeps_everything(void **state)
{
    struct fixture *f = *state;
    size_t n;
    char block[1000];
    memset(block, 'x', sizeof block);
    assert_int_equal(sp_output_memory(&f->d, &f->o), SPAA_OK);
    assert_string_equal(sp_output_data(f->o, &n), "");
    for (int i = 0; i < 2000; i++) {
        sp_write(f->o, block, sizeof block);
        memcpy(sp_output_room(f->o, 5), "12345", 5);
        sp_output_took(f->o, 5);
    }
    const char *p = sp_output_data(f->o, &n);
    assert_int_equal(n, 2000 * 1005);
    for (size_t i = 0; i < 2000; i++) {
        assert_memory_equal(p + i * 1005, block, 1000);
        assert_memory_equal(p + i * 1005 + 1000, "12345", 5);
    }
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    sp_output_data(f->o, &n);
    assert_int_equal(n, 2000 * 1005);
}

static void long_texts_are_printed(void **state)
{
    struct fixture *f = *state;
    size_t n;
    char *text = malloc(700001);
    assert_non_null(text);
    memset(text, 'y', 700000);
    text[700000] = '\0';
    assert_int_equal(sp_output_open(f->path, &f->d, &f->o), SPAA_OK);
    sp_printf(f->o, "%s", text);
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    sp_output_close(f->o);
    assert_content(f, f->path, text, 700000);
    assert_int_equal(sp_output_memory(&f->d, &f->o), SPAA_OK);
    sp_printf(f->o, "%s%s", text, text);
    assert_memory_equal(sp_output_data(f->o, &n) + 700000, text, 700000);
    assert_int_equal(n, 1400000);
    free(text);
}

#define OUTPUT_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OUTPUT_TEST(a_file_appears_only_when_committed),
        OUTPUT_TEST(what_is_longer_than_it_may_be_is_not_there),
        OUTPUT_TEST(closing_without_commit_leaves_the_old_file),
        OUTPUT_TEST(the_mode_is_the_umasks_or_the_old_files),
        OUTPUT_TEST(links_are_written_through),
        OUTPUT_TEST(packed_files_read_back_and_do_not_depend_on_pieces),
        OUTPUT_TEST(a_full_disk_is_said_once),
        OUTPUT_TEST(a_closed_pipe_ends_quietly),
        OUTPUT_TEST(standard_output_has_several_names),
        OUTPUT_TEST(devices_and_pipes_are_written_directly),
        OUTPUT_TEST(impossible_targets_are_refused),
        OUTPUT_TEST(memory_keeps_everything),
        OUTPUT_TEST(long_texts_are_printed),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
