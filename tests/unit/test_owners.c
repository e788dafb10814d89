/* What stands between a program and its memory, by names as profilers write them. */
#include "analysis/owner_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { OTHER = 0, GO = SP_SIGN_GO, RUST = SP_SIGN_RUST, JE = SP_SIGN_JEMALLOC, TC = SP_SIGN_TCMALLOC };

static const struct row {
    const char *name;
    unsigned signs;
    enum sp_owner_kind kind;
} rows[] = {
    /* C */
    {"malloc", OTHER, SP_ALLOCATOR},
    {"malloc@@GLIBC_2.2.5", OTHER, SP_ALLOCATOR},
    {"calloc@plt", OTHER, SP_ALLOCATOR},
    {"malloc.part.0", OTHER, SP_ALLOCATOR},
    {"_int_malloc", OTHER, SP_ALLOCATOR},
    {"__interceptor_malloc", OTHER, SP_ALLOCATOR},
    {"xrealloc", OTHER, SP_ALLOCATOR},
    {"g_malloc0", OTHER, SP_ALLOCATOR},
    {"CRYPTO_zalloc", OTHER, SP_ALLOCATOR},
    {"sqlite3MemMalloc", OTHER, SP_ALLOCATOR},
    {"strdup", OTHER, SP_CONTAINER},
    {"__GI___strdup", OTHER, SP_CONTAINER},
    {"_IO_file_doallocate", OTHER, SP_CONTAINER},
    {"start_thread", OTHER, SP_RUNTIME},
    {"__libc_start_call_main", OTHER, SP_RUNTIME},
    {"_dl_init", OTHER, SP_RUNTIME},
    {"main", OTHER, SP_MAY_OWN},
    {"malloc_stats_report", OTHER, SP_MAY_OWN},
    {"my_malloc", OTHER, SP_MAY_OWN},
    {"mallocator", OTHER, SP_MAY_OWN},
    {"xmlBufCreateSize", OTHER, SP_MAY_OWN},
    {"sqlite3PagerOpen", OTHER, SP_MAY_OWN},
    {"0x55aa", OTHER, SP_MAY_OWN},
    {"", OTHER, SP_MAY_OWN},
    /* allocators in programs: their inner names only where they are */
    {"je_malloc", OTHER, SP_ALLOCATOR},
    {"_rjem_je_prof_tctx_create", OTHER, SP_ALLOCATOR},
    {"prof_backtrace_impl", OTHER, SP_ALLOCATOR},
    {"imalloc_body", JE, SP_ALLOCATOR},
    {"imalloc_body", OTHER, SP_MAY_OWN},
    {"newImpl", JE, SP_ALLOCATOR},
    {"newImpl", OTHER, SP_MAY_OWN},
    {"void* fallback_impl<false>(unsigned long)", JE, SP_ALLOCATOR},
    {"je_parser", JE, SP_MAY_OWN},
    {"je_arena_malloc_hard", JE, SP_ALLOCATOR},
    {"tc_new", OTHER, SP_ALLOCATOR},
    {"tc_connect", TC, SP_MAY_OWN},
    {"tcmalloc::allocate_full_cpp_throw_oom(unsigned long)", OTHER, SP_ALLOCATOR},
    {"(anonymous namespace)::do_malloc_pages(tcmalloc::ThreadCache*, unsigned long)", OTHER, SP_ALLOCATOR},
    {"(anonymous namespace)::load(int)", TC, SP_MAY_OWN},
    {"do_malloc_pages", TC, SP_ALLOCATOR},
    {"do_malloc_pages", OTHER, SP_MAY_OWN},
    {"mi_heap_malloc_zero", OTHER, SP_ALLOCATOR},
    {"mi_window", OTHER, SP_MAY_OWN},
    /* C++ */
    {"operator new(unsigned long)", OTHER, SP_ALLOCATOR},
    {"operator new[](unsigned long, std::align_val_t)", OTHER, SP_ALLOCATOR},
    {"_Znwm", OTHER, SP_ALLOCATOR},
    {"_Znwm@plt", OTHER, SP_ALLOCATOR},
    {"shop::Item::operator new(unsigned long)", OTHER, SP_ALLOCATOR},
    {"operator newtype", OTHER, SP_MAY_OWN},
    {"std::__new_allocator<int>::allocate(unsigned long, void const*)", OTHER, SP_ALLOCATOR},
    {"void std::vector<shop::Item, std::allocator<shop::Item> >::_M_realloc_insert<shop::Item const&>(int)",
     OTHER, SP_CONTAINER},
    {"_ZNSt6vectorIiSaIiEE9push_backERKi", OTHER, SP_CONTAINER},
    {"_ZN4shop4fillERSt6vectorIiSaIiEE", OTHER, SP_MAY_OWN},
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned "
     "long&, unsigned long)",
     OTHER, SP_CONTAINER},
    {"std::__1::vector<int, std::__1::allocator<int>>::push_back[abi:v15007](int const&)", OTHER,
     SP_CONTAINER},
    {"std::_Rb_tree<int, std::pair<int const, shop::Item> >::_M_get_node()", OTHER, SP_CONTAINER},
    {"std::shared_ptr<shop::Item> std::make_shared<shop::Item>()", OTHER, SP_CONTAINER},
    {"__gnu_cxx::__stoa<long>(int)", OTHER, SP_CONTAINER},
    {"boost::container::vector<int>::priv_insert(int)", OTHER, SP_CONTAINER},
    {"absl::lts_20230125::container_internal::raw_hash_set<int>::resize(unsigned long)", OTHER, SP_CONTAINER},
    {"QString::append(QString const&)", OTHER, SP_CONTAINER},
    {"std::vector<shop::Item> shop::load(std::string const&)", OTHER, SP_MAY_OWN},
    {"shop::vector<int>::push_back(int)", OTHER, SP_MAY_OWN},
    {"stdlike::grow()", OTHER, SP_MAY_OWN},
    {"main::{lambda()#1}::operator()() const", OTHER, SP_MAY_OWN},
    {"std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke(std::_Any_data const&)", OTHER,
     SP_MAY_OWN},
    {"std::_Function_handler<void (), main::{lambda()#1}>::_M_manager(std::_Any_data&)", OTHER, SP_CONTAINER},
    {"execute_native_thread_routine", OTHER, SP_RUNTIME},
    {"alloc::Pool::take(unsigned long)", OTHER, SP_MAY_OWN},
    {"core::mem::Manager::grow()", OTHER, SP_MAY_OWN},
    {"bytes::Buffer::grow()", OTHER, SP_MAY_OWN},
    {"node::Tree::insert(int)", OTHER, SP_MAY_OWN},
    /* Rust */
    {"alloc::alloc::realloc", RUST, SP_ALLOCATOR},
    {"__rustc::__rust_alloc", RUST, SP_ALLOCATOR},
    {"<alloc::alloc::Global as core::alloc::Allocator>::grow", RUST, SP_ALLOCATOR},
    {"<tikv_jemallocator::Jemalloc as core::alloc::global::GlobalAlloc>::alloc", RUST, SP_ALLOCATOR},
    {"<shop::Counting as core::alloc::global::GlobalAlloc>::alloc", RUST, SP_ALLOCATOR},
    {"alloc::raw_vec::RawVec<T,A>::grow_one", RUST, SP_CONTAINER},
    {"<alloc::raw_vec::RawVecInner<_>>::reserve::do_reserve_and_handle::<alloc::alloc::Global>", RUST,
     SP_CONTAINER},
    {"<alloc::vec::Vec<shop::Item> as core::clone::Clone>::clone", RUST, SP_CONTAINER},
    {"<T as alloc::string::ToString>::to_string", RUST, SP_CONTAINER},
    {"<u64 as core::fmt::Display>::fmt", RUST, SP_CONTAINER},
    {"<shop::Item as core::clone::Clone>::clone", RUST, SP_MAY_OWN},
    {"<alloc::vec::Vec<u8> as shop::Store>::put", RUST, SP_MAY_OWN},
    {"hashbrown::raw::RawTable<T,A>::reserve_rehash", RUST, SP_CONTAINER},
    {"std::collections::hash::map::HashMap<K,V,S>::insert", RUST, SP_CONTAINER},
    {"_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE", RUST, SP_CONTAINER},
    {"_RNvMs_NtCslNYArtu3iFV_5alloc3vecINtB4_3VechE7reserveB6_", RUST, SP_CONTAINER},
    {"_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..clone..Clone$GT$::clone", RUST, SP_CONTAINER},
    {"shop::load::{{closure}}", RUST, SP_MAY_OWN},
    {"std::sys::backtrace::__rust_begin_short_backtrace", RUST, SP_MAY_OWN},
    {"std::rt::lang_start_internal", RUST, SP_RUNTIME},
    {"serde_json::de::from_str", RUST, SP_MAY_OWN},
    /* Go */
    {"runtime.mallocgc", GO, SP_ALLOCATOR},
    {"runtime.growslice", GO, SP_ALLOCATOR},
    {"runtime.malg", GO, SP_RUNTIME},
    {"runtime.main", GO, SP_RUNTIME},
    {"runtime/pprof.(*profileBuilder).flush", GO, SP_MAY_OWN},
    {"bytes.(*Buffer).grow", GO, SP_CONTAINER},
    {"bytes.(*Buffer).grow", OTHER, SP_MAY_OWN},
    {"strings.(*Builder).grow", GO, SP_CONTAINER},
    {"fmt.Sprintf", GO, SP_CONTAINER},
    {"slices.Grow[go.shape.[]int,go.shape.int]", GO, SP_CONTAINER},
    {"internal/runtime/maps.newTable", GO, SP_RUNTIME},
    {"internal/bytealg.MakeNoZero", GO, SP_CONTAINER},
    {"sync.(*Pool).Get", GO, SP_CONTAINER},
    {"io.ReadAll", GO, SP_CONTAINER},
    {"encoding/json.Unmarshal", GO, SP_MAY_OWN},
    {"net/http.(*conn).serve", GO, SP_MAY_OWN},
    {"main.main", GO, SP_MAY_OWN},
    {"main.(*Cache).put", GO, SP_MAY_OWN},
    {"main.init.func1", GO, SP_MAY_OWN},
    {"example.com/shop/bytes.Grow", GO, SP_MAY_OWN},
    {"github.com/a/runtime.New", GO, SP_MAY_OWN},
    /* others */
    {"PyObject_Malloc", OTHER, SP_ALLOCATOR},
    {"swift_allocObject", OTHER, SP_ALLOCATOR},
    {"java.util.ArrayList.grow", OTHER, SP_CONTAINER},
    {"com.shop.Cart.add", OTHER, SP_MAY_OWN},
    {"(program)", OTHER, SP_RUNTIME},
    {"v8::internal::Heap::AllocateRaw(int)", OTHER, SP_RUNTIME},
};

static void names(void **state)
{
    (void)state;
    struct sp_owner_names *t = sp_owner_names();
    bool ok = true;
    assert_non_null(t);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum sp_owner_kind kind;
        struct sp_str name = {rows[i].name, (uint32_t)strlen(rows[i].name)};
        sp_owner_by_name(t, name, rows[i].signs, &kind);
        if (kind == rows[i].kind)
            continue;
        ok = false;
        fprintf(stderr, "%s is %d, not %d\n", rows[i].name, (int)kind, (int)rows[i].kind);
    }
    assert_true(ok);
    assert_false(sp_owner_names_failed(t));
    sp_owner_names_free(t);
}

static void binaries(void **state)
{
    (void)state;
    static const struct {
        const char *base;
        enum sp_owner_kind kind;
    } of[] = {{"libjemalloc.so.2", SP_ALLOCATOR},
              {"libstdc++.so.6.0.30", SP_CONTAINER},
              {"libc.so.6", SP_CONTAINER},
              {"ld-linux-x86-64.so.2", SP_RUNTIME},
              {"python3.11", SP_RUNTIME},
              {"node", SP_RUNTIME},
              {"nodelist", SP_MAY_OWN},
              {"pythonic", SP_MAY_OWN},
              {"libxml2.so.2", SP_MAY_OWN},
              {"libcrypto.so.3", SP_MAY_OWN},
              {"vgpreload_massif-amd64-linux.so", SP_ALLOCATOR},
              {"", SP_MAY_OWN}};
    struct sp_owner_names *t = sp_owner_names();
    assert_non_null(t);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        assert_int_equal(sp_owner_by_binary(t, (struct sp_str){of[i].base, (uint32_t)strlen(of[i].base)}),
                         of[i].kind);
    sp_owner_names_free(t);
}

static void signs(void **state)
{
    (void)state;
    assert_int_equal(sp_owner_signs((struct sp_str){"runtime.goexit", 14}), GO);
    assert_int_equal(sp_owner_signs((struct sp_str){"imalloc_body", 12}), JE);
    assert_int_equal(sp_owner_signs((struct sp_str){"tcmalloc::x", 11}), TC);
    assert_int_equal(sp_owner_signs((struct sp_str){"alloc::raw_vec::x", 17}), RUST);
    assert_int_equal(sp_owner_signs((struct sp_str){"alloc::Pool::take", 17}), OTHER);
    assert_int_equal(sp_owner_signs((struct sp_str){"", 0}), OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(binaries),
                                       cmocka_unit_test(signs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
