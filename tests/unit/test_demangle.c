/* Names as people read them, whatever compiler made them. */
#include "symbols/symbols.h"

#include <setjmp.h>
#include <stdarg.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_demangled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
