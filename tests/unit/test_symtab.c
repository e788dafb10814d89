/*
 * The table of symbols and the demangler, without files: which symbol an address gets, and that
 * hostile names neither hang nor crash.
 */
#include "base/buf.h"
#include "dwarf/symtab.h"
#include "symbols/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct choice {
    uint64_t size;
    enum sp_bind bind;
    const char *name;
};

static void check_choice(const struct choice *all, size_t n, const char *want)
{
    struct sp_symtab t;
    sp_symtab_init(&t);
    for (size_t i = 0; i < n; i++)
        assert_true(sp_symtab_add(&t, 0x100, all[i].size, all[i].bind, all[i].name));
    assert_true(sp_symtab_add(&t, 0x200, 16, SP_BIND_GLOBAL, "next"));
    assert_true(sp_symtab_finish(&t, SP_RULES_ELF));
    assert_string_equal(sp_symtab_find(&t, 0x101)->name, want);
    sp_symtab_free(&t);
}

static void test_one_of_several_symbols_at_an_address_is_chosen_as_perf_does(void **state)
{
    (void)state;
#define CHOOSE(want, ...) check_choice((const struct choice[]){__VA_ARGS__}, 2, want)
    CHOOSE("sized", {0, SP_BIND_GLOBAL, "unsized_first"}, {8, SP_BIND_WEAK, "sized"});
    CHOOSE("strong", {8, SP_BIND_WEAK, "weak_longer"}, {8, SP_BIND_LOCAL, "strong"});
    CHOOSE("strong", {8, SP_BIND_LOCAL, "strong"}, {8, SP_BIND_WEAK, "weak_longer"});
    CHOOSE("global", {8, SP_BIND_LOCAL, "local_longer"}, {8, SP_BIND_GLOBAL, "global"});
    CHOOSE("open", {8, SP_BIND_GLOBAL, "__open_longer"}, {8, SP_BIND_GLOBAL, "open"});
    CHOOSE("_open", {8, SP_BIND_GLOBAL, "_open"}, {8, SP_BIND_GLOBAL, "__open"});
    CHOOSE("open64", {8, SP_BIND_GLOBAL, "open"}, {8, SP_BIND_GLOBAL, "open64"});
    CHOOSE("first", {8, SP_BIND_GLOBAL, "first"}, {8, SP_BIND_GLOBAL, "other"});
    CHOOSE("sys_read", {8, SP_BIND_GLOBAL, "SyS_read"}, {8, SP_BIND_GLOBAL, "sys_read"});
    /* Without sizes the last is the only one that is extended, whatever its binding. */
    CHOOSE("__weak_last", {0, SP_BIND_GLOBAL, "strong_first"}, {0, SP_BIND_WEAK, "__weak_last"});
#undef CHOOSE
}

static void test_symbols_of_unknown_size_end_with_their_section(void **state)
{
    (void)state;
    struct sp_symtab t;
    sp_symtab_init(&t);
    assert_true(sp_symtab_add(&t, 0x1000, 0, SP_BIND_GLOBAL, "first"));
    assert_true(sp_symtab_add(&t, 0x1100, 0x1000, SP_BIND_GLOBAL, "sized"));
    assert_true(sp_symtab_add(&t, 0x2800, 0, SP_BIND_GLOBAL, "last"));
    static const uint64_t ends[] = {0x3000, 0x1020, 0x2000};
    for (size_t i = 0; i < 3; i++)
        assert_true(sp_vec_push(&t.stops, ends[i]));
    assert_true(sp_symtab_finish(&t, SP_RULES_ELF));
    assert_string_equal(sp_symtab_find(&t, 0x101f)->name, "first");
    assert_null(sp_symtab_find(&t, 0x1020));
    assert_string_equal(sp_symtab_find(&t, 0x20ff)->name, "sized"); /* what it says itself counts */
    assert_string_equal(sp_symtab_find(&t, 0x2fff)->name, "last");
    assert_null(sp_symtab_find(&t, 0x3000));
    sp_symtab_free(&t);
}

static void test_symbols_of_unknown_size_reach_to_the_next(void **state)
{
    (void)state;
    struct sp_symtab t;
    sp_symtab_init(&t);
    assert_true(sp_symtab_add(&t, 0x3000, 0, SP_BIND_GLOBAL, "last"));
    assert_true(sp_symtab_add(&t, 0x1000, 0, SP_BIND_GLOBAL, "first"));
    assert_true(sp_symtab_add(&t, 0x2000, 0x10, SP_BIND_GLOBAL, "sized"));
    assert_true(sp_symtab_finish(&t, SP_RULES_ELF));
    assert_null(sp_symtab_find(&t, 0xfff));
    assert_string_equal(sp_symtab_find(&t, 0x1fff)->name, "first");
    assert_string_equal(sp_symtab_find(&t, 0x200f)->name, "sized");
    assert_null(sp_symtab_find(&t, 0x2010));
    assert_string_equal(sp_symtab_find(&t, 0x3fff)->name, "last");
    assert_null(sp_symtab_find(&t, 0x4000));
    sp_symtab_free(&t);
}

/* Every address of a small space, against the plain definition. */
static void test_nested_symbols_resolve_to_the_innermost(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 200; round++) {
        struct sp_symtab t;
        sp_symtab_init(&t);
        char names[12][4];
        uint64_t at[12], size[12];
        for (size_t i = 0; i < 12; i++) {
            snprintf(names[i], sizeof names[i], "s%zu", i);
            seed = seed * 1103515245 + 12345;
            at[i] = (i * 8 + (seed >> 16) % 8) * 0x10001;
            size[i] = (1 + (seed >> 20) % 60) * 0x10001;
            assert_true(sp_symtab_add(&t, at[i], size[i], SP_BIND_LOCAL, names[i]));
        }
        assert_true(sp_symtab_finish(&t, SP_RULES_ELF));
        for (uint64_t a = 0; a < 160; a++) {
            const char *want = NULL;
            for (size_t i = 0; i < 12; i++)
                if (a * 0x10001 >= at[i] && a * 0x10001 - at[i] < size[i])
                    want = names[i];
            const struct sp_sym *got = sp_symtab_find(&t, a * 0x10001);
            if (want)
                assert_string_equal(got->name, want);
            else
                assert_null(got);
        }
        sp_symtab_free(&t);
    }
}

/* Code of a just-in-time compiler: the last added that covers an address, whatever starts where others do. */
static void test_of_code_over_other_code_the_rest_keeps_its_name(void **state)
{
    (void)state;
    enum { CODES = 16, PLACES = 24 };
    uint32_t seed = 7;
    for (int round = 0; round < 200; round++) {
        struct sp_symtab t;
        sp_symtab_init(&t);
        char names[CODES][4];
        const char *there[PLACES] = {NULL};
        for (int i = 0; i < CODES; i++) {
            snprintf(names[i], sizeof names[i], "c%d", i);
            seed = seed * 1103515245 + 12345;
            uint64_t at = (seed >> 16) % 16, size = 1 + (seed >> 20) % 8;
            assert_true(sp_symtab_add(&t, at, size, SP_BIND_GLOBAL, names[i]));
            for (uint64_t a = at; a < at + size; a++)
                there[a] = names[i];
        }
        assert_true(sp_symtab_finish(&t, SP_RULES_JIT));
        for (uint64_t a = 0; a < PLACES; a++) {
            const struct sp_sym *got = sp_symtab_find(&t, a);
            assert_true(got ? there[a] && strcmp(got->name, there[a]) == 0 : !there[a]);
        }
        sp_symtab_free(&t);
    }
}

static void test_sizes_beyond_the_address_space_are_capped(void **state)
{
    (void)state;
    struct sp_symtab t;
    sp_symtab_init(&t);
    assert_true(sp_symtab_add(&t, UINT64_MAX - 8, UINT64_MAX, SP_BIND_GLOBAL, "huge"));
    assert_true(sp_symtab_add(&t, UINT64_MAX - 4, 0, SP_BIND_GLOBAL, "top"));
    assert_true(sp_symtab_finish(&t, SP_RULES_ELF));
    assert_string_equal(sp_symtab_find(&t, UINT64_MAX - 5)->name, "huge");
    assert_string_equal(sp_symtab_find(&t, UINT64_MAX - 1)->name, "top");
    sp_symtab_free(&t);
    sp_symtab_init(&t);
    assert_true(sp_symtab_finish(&t, SP_RULES_ELF));
    assert_null(sp_symtab_find(&t, 0));
    sp_symtab_free(&t);
}

static bool demangles(const struct sp_buf *name)
{
    struct sp_buf out;
    sp_buf_init(&out, 0);
    bool ok = sp_demangle(name->data, &out);
    assert_true(ok || out.len == 0);
    sp_buf_free(&out);
    return ok;
}

static void test_hostile_names_are_left_alone(void **state)
{
    (void)state;
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct sp_buf b;
    sp_buf_init(&b, 0);
    /* Each argument is a pair of the one before: the text doubles some thirty times. */
    sp_buf_puts(&b, "_Z1f1A4pairIS_S_E");
    for (size_t i = 1; i < 33; i++)
        sp_buf_printf(&b, "S0_IS%c_S%c_E", digits[i], digits[i]);
    assert_false(demangles((sp_buf_cstr(&b), &b)));
    sp_buf_clear(&b);
    sp_buf_puts(&b, "_D1aFHiHi");
    for (int i = 0; i < 400; i++)
        sp_buf_puts(&b, "HQcQe");
    sp_buf_puts(&b, "Zv");
    assert_false(demangles((sp_buf_cstr(&b), &b)));
    /* D with as many back references as are let through. */
    sp_buf_clear(&b);
    sp_buf_puts(&b, "_D1aFHii");
    for (int i = 0; i < 20; i++)
        sp_buf_puts(&b, i ? "HQfQh" : "HQdQf");
    sp_buf_puts(&b, "Zv");
    demangles((sp_buf_cstr(&b), &b));
    static const char *const heads[] = {"_Z1f", "_R", "_D1aF", "_ZN", "_RNv", "_D1a"};
    static const char *const bodies[] = {"P", "A",  "S_",   "N", "I", "(", "T_",
                                         "C", "1a", "dlaa", "Q", "F", "G", "X"};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
        for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
            for (size_t len = 500; len <= 16000; len *= 4) {
                sp_buf_clear(&b);
                sp_buf_puts(&b, heads[h]);
                while (b.len < len)
                    sp_buf_puts(&b, bodies[i]);
                sp_buf_cstr(&b);
                demangles(&b);
            }
        }
    }
    sp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_several_symbols_at_an_address_is_chosen_as_perf_does),
        cmocka_unit_test(test_symbols_of_unknown_size_reach_to_the_next),
        cmocka_unit_test(test_symbols_of_unknown_size_end_with_their_section),
        cmocka_unit_test(test_nested_symbols_resolve_to_the_innermost),
        cmocka_unit_test(test_of_code_over_other_code_the_rest_keeps_its_name),
        cmocka_unit_test(test_sizes_beyond_the_address_space_are_capped),
        cmocka_unit_test(test_hostile_names_are_left_alone),
    };
    return cmocka_run_group_tests_name("symtab", tests, NULL, NULL);
}
