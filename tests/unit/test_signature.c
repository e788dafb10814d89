/* Names of functions without parameters, template arguments and scopes. */
#include "analysis/signature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void forms(void **state)
{
    static const char *const rows[][4] = {
        {"f", "f", "f", "f"},
        {"shop::f(int)", "shop::f", "shop::f", "f"},
        {"float shop::price<float>(float, int)", "shop::price<float>", "shop::price", "price"},
        {"int shop::price<int>", "shop::price<int>", "shop::price", "price"},
        {"std::vector<int, std::allocator<int> >::push_back(int const&) const",
         "std::vector<int, std::allocator<int> >::push_back", "std::vector::push_back", "push_back"},
        {"operator new(unsigned long)", "operator new", "operator new", "operator new"},
        {"A::operator()(int) const", "A::operator()", "A::operator()", "operator()"},
        {"bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>", "operator<", "operator<"},
        {"std::operator<<(std::ostream&, char)", "std::operator<<", "std::operator<<", "operator<<"},
        {"(anonymous namespace)::work(int)", "(anonymous namespace)::work", "(anonymous namespace)::work",
         "work"},
        {"main::{lambda(int)}::operator()(int) const", "main::{lambda(int)}::operator()",
         "main::{lambda(int)}::operator()", "operator()"},
        {"<T as core::fmt::Display>::fmt", "<T as core::fmt::Display>::fmt", "<T as core::fmt::Display>::fmt",
         "fmt"},
        {"p::price::<u32>", "p::price::<u32>", "p::price", "price"},
        {"f(void (*)(int), int)", "f", "f", "f"},
        {"main.(*Server).Serve", "main.(*Server).Serve", "main.(*Server).Serve", "main.(*Server).Serve"},
        {"GC Concurrent Mark", "GC Concurrent Mark", "GC Concurrent Mark", "GC Concurrent Mark"},
        {"", "", "", ""},
        {"(", "(", "(", "("},
        {"a<b", "a<b", "a", "a"},
        {"f)", "f)", "f)", "f)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned form = 0; form < SP_NAME_FORMS; form++) {
            struct sp_buf b;
            sp_buf_init(&b, 0);
            sp_name_form(&b, (struct sp_str){rows[i][0], (uint32_t)strlen(rows[i][0])}, form);
            assert_string_equal(sp_buf_cstr(&b), rows[i][1 + form]);
            sp_buf_free(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
