/* Names as people read them, whatever compiler made them. */
#include "symbols/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_names_are_demangled(void **state)
{
    struct sp_diags d;
    struct sp_symbols *s = NULL;
    (void)state;
    static const char *const table[][2] = {
        {"_ZN3foo3barEiPKc", "foo::bar(int, char const*)"},
        {"_ZN3foo3barEv.part.0", "foo::bar() [clone .part.0]"},
        {"_ZNSt6vectorIiSaIiEE9push_backERKi",
         "std::vector<int, std::allocator<int> >::push_back(int const&)"},
        {"_ZN3foo3barEv@plt", "foo::bar()@plt"},
        {"_ZN3foo3barEv@@LIB_1.0", "foo::bar()@@LIB_1.0"},
        {"__ZN3foo3barEv", "foo::bar()"},
        {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
        {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
         "3bar17h930b740aa94f1d3aE",
         "<Test + 'static as foo::Bar<Test>>::bar"},
        {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
        {"_RNvNtCs1234_7mycrate3foo3bar.llvm.123", "mycrate::foo::bar"},
        {"_D8demangle4testFZv", "demangle.test()"},
        {"_Dmain", "D main"},
        {"main", NULL},
        {"", NULL},
        {"_", NULL},
        {"_Z", NULL},
        {"_R", NULL},
        {"_ZN3foo", NULL},
        {"_DYNAMIC", NULL},
        {"_Dynamic_thing", NULL},
        {"@plt", NULL},
        {"clock_nanosleep@GLIBC_2.2.5", NULL},
        {"_IO_file_write@@GLIBC_2.2.5", NULL},
    };
    sp_diags_init(&d);
    assert_int_equal(sp_symbols_new(&(struct sp_symbol_opts){0}, &d, &s), SPAA_OK);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *got = sp_symbols_demangle(s, table[i][0]);
        if (table[i][1])
            assert_string_equal(got, table[i][1]);
        else
            assert_null(got);
        assert_ptr_equal(got, sp_symbols_demangle(s, table[i][0]));
    }
    sp_symbols_free(s);
    sp_diags_free(&d);
}

static void put(char *to, const char *text)
{
    strcat(to, text);
}

/* f<int>(pack of pair<pair<pair<…, X>, X>, X>): each is twice the one before, and none is the pack. */
static void doubled(char *name, unsigned levels, const char *begin)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char piece[16];
    strcpy(name, begin);
    put(name, "St4pairI");
    for (unsigned i = 1; i < levels; i++)
        put(name, "S0_I");
    put(name, "iiE");
    for (unsigned i = 1; i < levels; i++) {
        if (i < 36)
            snprintf(piece, sizeof piece, "S%c_E", digits[i]);
        else
            snprintf(piece, sizeof piece, "S%c%c_E", digits[i / 36], digits[i % 36]);
        put(name, piece);
    }
}

/* They stay as they are; those beside them do not. */
static void test_names_without_an_end(void **state)
{
    (void)state;
    static char name[4096];
    struct sp_diags d;
    struct sp_symbols *s = NULL;
    sp_diags_init(&d);
    assert_int_equal(sp_symbols_new(&(struct sp_symbol_opts){0}, &d, &s), SPAA_OK);
    doubled(name, 5, "_Z1fIiEvDp");
    const char *text = sp_symbols_demangle(s, name);
    assert_non_null(text);
    assert_non_null(strstr(text, "std::pair<std::pair<std::pair<"));
    static const char *const begins[] = {"_Z1fIiEvDp", "_Z1fIiEvPDp"};
    for (unsigned levels = 30; levels < 100; levels += 10)
        for (unsigned i = 0; i < 2; i++) {
            doubled(name, levels, begins[i]);
            assert_null(sp_symbols_demangle(s, name));
        }
    text = sp_symbols_demangle(s, "_ZN3fooIJicEE7emplaceIJRS0_fEEEvDpOT_");
    assert_string_equal(text,
                        "void foo<int, char>::emplace<foo<int, char>&, float>(foo<int, char>&, float&&)");
    sp_symbols_free(s);
    sp_diags_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_demangled),
        cmocka_unit_test(test_names_without_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
