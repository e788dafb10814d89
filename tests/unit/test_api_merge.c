/* Profiles merged through the public interface. */
#include "spaa/spaa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct spaa_profile *opened(const char *text)
{
    struct spaa_profile *p = NULL;
    assert_int_equal(spaa_profile_open_memory(text, strlen(text), "m", NULL, &p, NULL), SPAA_OK);
    return p;
}

static int64_t weight_of(const struct spaa_profile *p, const char *leaf)
{
    for (size_t i = 0; i < spaa_profile_stack_count(p); i++) {
        struct spaa_frame f = {.size = sizeof f};
        struct spaa_weight w = {.size = sizeof w};
        if (spaa_stack_frame(p, i, 0, &f) == SPAA_OK && strcmp(f.name, leaf) == 0 &&
            spaa_stack_weight(p, i, 0, &w) == SPAA_OK)
            return w.value;
    }
    return -1;
}

static void profiles_add_up_and_stay(void **state)
{
    (void)state;
    struct spaa_profile *p[] = {opened("main;a 1\nmain;b 2\n"), opened("main;b 40\n")}, *m = NULL,
                        *again = NULL;
    assert_int_equal(spaa_merge(p, 2, NULL, &m, NULL), SPAA_OK);
    assert_true(weight_of(m, "a") == 1 && weight_of(m, "b") == 42);
    assert_string_equal(spaa_profile_format(m), "spaa");
    assert_true(spaa_profile_stack_count(p[0]) == 2 && weight_of(p[0], "b") == 2);
    struct spaa_profile *both[] = {m, p[0]};
    assert_int_equal(spaa_merge(both, 2, NULL, &again, NULL), SPAA_OK);
    assert_int_equal(weight_of(again, "b"), 44);
    for (int i = 0; i < 2; i++)
        spaa_profile_free(p[i]);
    spaa_profile_free(m);
    spaa_profile_free(again);
}

static void files_merge_as_profiles_do(void **state)
{
    (void)state;
    char path[] = "/tmp/spaa-merge-XXXXXX.folded";
    int fd = mkstemps(path, 7);
    assert_true(fd >= 0 && write(fd, "main;a 3\n", 9) == 9);
    close(fd);
    const char *paths[100];
    for (int i = 0; i < 100; i++)
        paths[i] = path;
    struct spaa_profile *m = NULL;
    struct spaa_diagnostics *said = NULL;
    for (unsigned jobs = 1; jobs < 5; jobs += 3) {
        struct spaa_open_options open = {.size = sizeof open, .jobs = jobs};
        assert_int_equal(spaa_merge_files(paths, 100, &open, NULL, &m, NULL), SPAA_OK);
        assert_int_equal(weight_of(m, "a"), 300);
        spaa_profile_free(m);
        m = NULL;
    }
    struct spaa_merge_options skip = {.size = sizeof skip, .skip_bad = 1};
    paths[50] = "/nonexistent";
    assert_int_equal(spaa_merge_files(paths, 100, NULL, NULL, &m, NULL), SPAA_ERR_IO);
    assert_null(m);
    assert_int_equal(spaa_merge_files(paths, 100, NULL, &skip, &m, &said), SPAA_OK);
    assert_int_equal(weight_of(m, "a"), 297);
    assert_true(spaa_diagnostics_total(said, "data-loss") == 1);
    spaa_diagnostics_free(said);
    spaa_profile_free(m);
    unlink(path);
}

static void slips_are_told(void **state)
{
    (void)state;
    struct spaa_profile *p = opened("main;x 1\n"), *m = NULL;
    struct spaa_merge_options frames = {.size = sizeof frames, .frames = "x"},
                              groups = {.size = sizeof groups, .group_by = "x"};
    struct spaa_open_options own = {.size = sizeof own, .own_count = 1};
    const char *path = "/nonexistent";
    struct spaa_diagnostics *said = NULL;
    assert_int_equal(spaa_merge(&p, 1, &frames, &m, &said), SPAA_ERR_USAGE);
    assert_int_equal(spaa_merge(&p, 1, &groups, &m, &said), SPAA_ERR_USAGE);
    assert_int_equal(spaa_merge_files(&path, 1, &own, NULL, &m, &said), SPAA_ERR_USAGE);
    assert_null(m);
    assert_int_equal(spaa_diagnostics_count(said), 3);
    spaa_diagnostics_free(said);
    spaa_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_add_up_and_stay),
        cmocka_unit_test(files_merge_as_profiles_do),
        cmocka_unit_test(slips_are_told),
    };
    return cmocka_run_group_tests_name("api_merge", tests, NULL, NULL);
}
