/* Which functions are a program's own: names with where they are declared and what binary they are in. */
#include "analysis/own.h"
#include "analysis/own_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define APP "/opt/shop/bin/shop"
#define GO  "/opt/shop/bin/shopgo"
#define RS  "/opt/shop/bin/shoprs"

struct row {
    const char *name, *dso, *line; /* line NULL: not known */
    bool own;
    enum sp_own_by by;
    bool inlined;
};

#define DECLARED SP_OWN_BY_DECLARATION
#define NAMED    SP_OWN_BY_NAMESPACE
#define PLACED   SP_OWN_BY_BINARY

static const struct row rows[] = {
    /* C++ by its name alone */
    {"main", APP, NULL, true, PLACED, false},
    {"shop::sort_items(std::vector<shop::Item, std::allocator<shop::Item> >&)", APP, NULL, true, PLACED,
     false},
    {"std::vector<my::T> my::f(std::string)", APP, NULL, true, PLACED, false},
    {"std::vector<my::T, std::allocator<my::T> > my::g<int>(std::string const&) const", APP, NULL, true,
     PLACED, false},
    {"unsigned long const& my::max<unsigned long>(std::pair<int, int>)", APP, NULL, true, PLACED, false},
    {"std::ostream& operator<<(std::ostream&, shop::Item const&)", APP, NULL, true, PLACED, false},
    {"shop::operator<<(std::ostream&, shop::Item const&)", APP, NULL, true, PLACED, false},
    {"shop::Item::operator std::string() const", APP, NULL, true, PLACED, false},
    {"shop::Item::operator->() const", APP, NULL, true, PLACED, false},
    {"shop::Item::operator()(std::string)", APP, NULL, true, PLACED, false},
    {"shop::operator< <std::string>(shop::A, shop::B)", APP, NULL, true, PLACED, false},
    {"(anonymous namespace)::helper(std::map<int, int>&)", APP, NULL, true, PLACED, false},
    {"std::string (anonymous namespace)::name(int)", APP, NULL, true, PLACED, false},
    {"main::{lambda(shop::Item const&)#1}::operator()(shop::Item const&) const", APP, NULL, true, PLACED,
     false},
    {"shop::run(std::string)::{lambda(int)#1}::operator()(int) const", APP, NULL, true, PLACED, false},
    {"void (*shop::handler(std::string))(int)", APP, NULL, true, PLACED, false},
    {"decltype (std::declval<int>()) shop::each<int>(int)", APP, NULL, true, PLACED, false},
    {"non-virtual thunk to shop::A::run()", APP, NULL, true, PLACED, false},
    {"shop::work(int) [clone .isra.0]", APP, NULL, true, PLACED, false},
    {"stdlike::f()", APP, NULL, true, PLACED, false},
    {"core::Engine::run()", APP, NULL, true, PLACED, false},
    {"alloc::Pool::take(unsigned long)", APP, NULL, true, PLACED, false},
    {"runtime::Loop::tick()", APP, NULL, true, PLACED, false},
    {"time::Clock::now()", APP, NULL, true, PLACED, false},
    {"boosted::f()", APP, NULL, true, PLACED, false},
    {"memcpy_fast", APP, NULL, true, PLACED, false},
    {"0x1234", APP, NULL, true, PLACED, false},
    {"std::vector<Foo, std::allocator<Foo> >::push_back(Foo const&)", APP, NULL, false, NAMED, false},
    {"std::_Function_handler<int (shop::Item const&), main::{lambda(shop::Item "
     "const&)#1}>::_M_invoke(std::_Any_data "
     "const&, shop::Item const&)",
     APP, NULL, false, NAMED, false},
    {"void std::__introsort_loop<shop::Item*, long, __gnu_cxx::__ops::_Iter_less_iter>(shop::Item*, "
     "shop::Item*, long)",
     APP, NULL, false, NAMED, false},
    {"void std::__introsort_loop<shop::Item*, long>(shop::Item*, shop::Item*, long) [clone .isra.0]", APP,
     NULL, false, NAMED, false},
    {"std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> >(char "
     "const*)",
     APP, NULL, false, NAMED, false},
    {"std::basic_string<char> std::operator+<char, std::char_traits<char> >(char const*)", APP, NULL, false,
     NAMED, false},
    {"bool std::operator==<char, std::char_traits<char> >(char const*)", APP, NULL, false, NAMED, false},
    {"bool __gnu_cxx::operator!=<int*, std::vector<int> >(int)", APP, NULL, false, NAMED, false},
    {"bool std::operator< <char, std::char_traits<char> >(std::string const&)", APP, NULL, false, NAMED,
     false},
    {"std::enable_if<std::is_move_constructible<shop::Item>::value, void>::type "
     "std::swap<shop::Item>(shop::Item&)",
     APP, NULL, false, NAMED, false},
    {"shop::Item* std::__relocate_a_1<shop::Item*, shop::Item*>(shop::Item*)", APP, NULL, false, NAMED,
     false},
    {"std::__1::vector<shop::Item>::__append(unsigned long)", APP, NULL, false, NAMED, false},
    {"__gnu_cxx::__normal_iterator<shop::Item*, std::vector<shop::Item> >::operator++()", APP, NULL, false,
     NAMED, false},
    {"__cxxabiv1::__vmi_class_type_info::__do_dyncast(long) const", APP, NULL, false, NAMED, false},
    {"boost::asio::detail::scheduler::run(boost::system::error_code&)", APP, NULL, false, NAMED, false},
    {"operator new(unsigned long)", APP, NULL, false, NAMED, false},
    {"operator delete(void*)", APP, NULL, false, NAMED, false},
    {"std::hash<shop::Key>::operator()(shop::Key const&) const", APP, NULL, false, NAMED, false},
    {"virtual thunk to std::basic_ostringstream<char>::~basic_ostringstream()", APP, NULL, false, NAMED,
     false},
    {"memcpy@plt", APP, NULL, false, NAMED, false},
    {"malloc", APP, NULL, false, NAMED, false},
    {"_int_malloc", APP, NULL, false, NAMED, false},
    {"__memmove_avx_unaligned_erms", APP, NULL, false, NAMED, false},
    {"__libc_start_main", APP, NULL, false, NAMED, false},
    {"_start", APP, NULL, false, NAMED, false},
    {"unlink_chunk.constprop.0", APP, NULL, false, NAMED, false},
    /* C and C++ by their declarations */
    {"hash", APP, "src/hash.c:12", true, DECLARED, false},
    {"shop::index(std::string)", APP, "/home/me/shop/index.cpp:4", true, DECLARED, false},
    {"std::hash<shop::Item>::operator()(shop::Item const&) const", APP, "shop.cpp:17", true, DECLARED, false},
    {"malloc.part.0", APP, "src/my_malloc.c:3", true, DECLARED, false},
    {"push_back", APP, "/usr/include/c++/12/bits/stl_vector.h:1280", false, DECLARED, true},
    {"operator=", APP, "/usr/include/c++/12/bits/basic_string.h:880", false, DECLARED, true},
    {"__invoke_impl<int>", APP, "/usr/include/c++/12/bits/invoke.h:61", false, DECLARED, true},
    {"atoi", APP, "/usr/include/stdlib.h:364", false, DECLARED, true},
    {"_mm_add_ps", APP, "/usr/lib/gcc/x86_64-linux-gnu/12/include/xmmintrin.h:180", false, DECLARED, true},
    {"fmt::v9::format(int)", APP, "/usr/include/fmt/core.h:99", false, DECLARED, false},
    {"Eigen::internal::gebp()", APP, "/usr/include/eigen3/Eigen/src/Core/x.h:9", false, DECLARED, false},
    {"ranges::view(int)", APP, "/opt/llvm/include/c++/v1/ranges:88", false, DECLARED, false},
    {"_List_buy", APP,
     "C:\\Program Files\\Microsoft Visual Studio\\2022\\VC\\Tools\\MSVC\\14.3\\include\\list:5", false,
     DECLARED, false},
    {"strtol_impl", APP, "/build/glibc-2.36/stdlib/strtol.c:7", false, DECLARED, false},
    {"redis::loop()", APP, "/build/redis-7.0/src/ae.c:360", true, DECLARED, false},
    /* binaries */
    {"malloc", "/usr/lib/x86_64-linux-gnu/libc.so.6", "malloc.c:3388", false, PLACED, false},
    {"shop_like", "/lib/x86_64-linux-gnu/libpthread-2.31.so", NULL, false, PLACED, false},
    {"_dl_relocate_object", "/lib64/ld-linux-x86-64.so.2", NULL, false, PLACED, false},
    {"std::terminate()", "/nix/store/abc/lib/libstdc++.so.6", NULL, false, PLACED, false},
    {"deflate", "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13", NULL, false, PLACED, false},
    {"0x4321", "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13", NULL, false, PLACED, false},
    {"__vdso_clock_gettime", "[vdso]", NULL, false, PLACED, false},
    {"do_syscall_64", "[kernel]", NULL, false, PLACED, false},
    {"ext4_read", "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko", NULL, false, PLACED, false},
    {"JavaCalls::call()", "/usr/lib/jvm/java-17/lib/server/libjvm.so", NULL, false, PLACED, false},
    {"scan_once", "/opt/python/lib/python3.12/lib-dynload/_json.so", NULL, false, PLACED, false},
    {"_PyEval_EvalFrameDefault", "/usr/bin/python3.11", NULL, false, PLACED, false},
    {"node::Start(int, char**)", "/usr/bin/node", NULL, false, PLACED, false},
    {"ExecInitNode", "/usr/lib/postgresql/15/bin/postgres", NULL, true, PLACED, false},
    {"serve", "/opt/shop/lib/libshop.so.1", NULL, true, PLACED, false},
    {"RtlUserThreadStart", "ntdll.dll", NULL, false, PLACED, false},
    {"BaseThreadInitThunk", "C:\\Windows\\System32\\KERNEL32.DLL", NULL, false, PLACED, false},
    {"Render", "C:\\Shop\\shop.exe", NULL, true, PLACED, false},
    {"start", "/usr/lib/dyld", NULL, false, PLACED, false},
    {"-[NSView draw]", "/System/Library/Frameworks/AppKit.framework/Versions/C/AppKit", NULL, false, PLACED,
     false},
    {"mach_msg", "/usr/lib/system/libsystem_kernel.dylib", NULL, false, PLACED, false},
    {"-[ShopView draw]", "/Applications/Shop.app/Contents/MacOS/Shop", NULL, true, PLACED, false},
    {"0x7f00", "[unknown]", NULL, false, PLACED, false},
    {"[unknown]", "[unknown]", NULL, false, PLACED, false},
    /* Go */
    {"main.main", GO, NULL, true, NAMED, false},
    {"main.(*Server).Handle", GO, NULL, true, NAMED, false},
    {"main.Map[go.shape.[]fmt.Stringer]", GO, NULL, true, NAMED, false},
    {"main.byPrice.Less", GO, "/home/me/shop/main.go:17", true, DECLARED, false},
    {"github.com/acme/shop/stock.Count", GO, NULL, true, NAMED, false},
    {"shop/stock.Count", GO, NULL, true, NAMED, false},
    {"github.com/acme/shop/cart.Add", GO, "/home/me/shop/cart/cart.go:3", true, DECLARED, false},
    {"time/clock.Tick", GO, "/home/me/time/clock/tick.go:3", true, DECLARED, false},
    {"runtime.mallocgc", GO, NULL, false, NAMED, false},
    {"runtime/debug.FreeOSMemory", GO, NULL, false, NAMED, false},
    {"fmt.Sprintf", GO, NULL, false, NAMED, false},
    {"encoding/json.(*decodeState).object", GO, NULL, false, NAMED, false},
    {"internal/abi.(*Type).Kind", GO, NULL, false, NAMED, false},
    {"slices.SortFunc[go.shape.[]main.Item]", GO, NULL, false, NAMED, false},
    {"golang.org/x/net/http2.(*Framer).ReadFrame", GO, NULL, false, NAMED, false},
    {"github.com/acme/shop/vendor/github.com/x/y.F", GO, NULL, false, NAMED, false},
    {"type:.eq.main.Item", GO, NULL, false, NAMED, false},
    {"aeshashbody", GO, NULL, false, NAMED, false},
    {"strings.Index", GO, "strings/strings.go:9", false, NAMED, false},
    {"net/http.(*conn).serve", GO, "/opt/go1.21/src/net/http/server.go:1900", false, NAMED, false},
    {"sort.Sort", GO, "/usr/local/go/src/sort/sort.go:240", false, DECLARED, false},
    {"bytes.Count", GO, "/usr/lib/go-1.19/src/bytes/bytes.go:40", false, DECLARED, false},
    {"github.com/pkg/errors.New", GO, "/root/go/pkg/mod/github.com/pkg/errors@v0.9.1/errors.go:10", false,
     DECLARED, false},
    {"github.com/pkg/errors.Wrap", GO, "github.com/pkg/errors@v0.9.1/errors.go:10", false, DECLARED, false},
    /* Rust */
    {"shoprs::main", RS, NULL, true, PLACED, false},
    {"shoprs::find::{{closure}}", RS, NULL, true, PLACED, false},
    {"<shoprs::Item as core::fmt::Display>::fmt", RS, NULL, true, PLACED, false},
    {"<alloc::vec::Vec<T> as shoprs::Total>::total", RS, NULL, true, PLACED, false},
    {"<&'a mut shoprs::Item as core::ops::drop::Drop>::drop", RS, NULL, true, PLACED, false},
    {"<impl core::fmt::Display for shoprs::Item>::fmt", RS, NULL, true, PLACED, false},
    {"shoprs::cart::<impl core::fmt::Display for shoprs::Cart>::fmt", RS, NULL, true, PLACED, false},
    {"shoprs::each::<alloc::string::String>", RS, "src/main.rs:8", true, DECLARED, false},
    {"core::ptr::drop_in_place<shoprs::Item>", RS, NULL, false, NAMED, false},
    {"alloc::vec::Vec<T,A>::push", RS, NULL, false, NAMED, false},
    {"std::rt::lang_start_internal", RS, NULL, false, NAMED, false},
    {"<alloc::vec::Vec<T> as core::iter::traits::collect::FromIterator<T>>::from_iter", RS, NULL, false,
     NAMED, false},
    {"<alloc::vec::Vec<shoprs::Item> as core::ops::drop::Drop>::drop", RS, NULL, false, NAMED, false},
    {"<A as core::slice::cmp::SliceOrd>::compare", RS, NULL, false, NAMED, false},
    {"<T as alloc::string::ToString>::to_string", RS, NULL, false, NAMED, false},
    {"core::cmp::impls::<impl core::cmp::Ord for &A>::cmp", RS, NULL, false, NAMED, false},
    {"_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$::drop::h0123456789abcdef", RS, NULL, false,
     NAMED, false},
    {"_$LT$shoprs..Item$u20$as$u20$core..fmt..Debug$GT$::fmt::h0123456789abcdef", RS, NULL, true, PLACED,
     false},
    {"__rust_alloc", RS, NULL, false, NAMED, false},
    {"hashbrown::raw::RawTable<T,A>::reserve_rehash", RS, "/rust/deps/hashbrown-0.16.1/src/raw/mod.rs:1013",
     false, DECLARED, false},
    {"map_fold", RS, "/rustc/59807616e1fa/library/core/src/iter/adapters/map.rs:88", false, DECLARED, true},
    {"<shoprs::Item as alloc::string::ToString>::to_string", RS,
     "/rustc/59807616e1fa/library/alloc/src/string.rs:2894", false, DECLARED, true},
    {"regex::Regex::is_match", RS,
     "/root/.cargo/registry/src/index.crates.io-1949/regex-1.13.2/src/regex/string.rs:254", false, DECLARED,
     false},
    /* the JVM, .NET */
    {"com.acme.Shop.run", "[jit]", NULL, true, NAMED, false},
    {"io.netty.channel.nio.NioEventLoop.run", "[jit]", NULL, true, NAMED, false},
    {"Lcom/acme/Shop;::run", "[jit]", "Shop.java:12", true, NAMED, false},
    {"java.util.HashMap.put", "[jit]", "HashMap.java:600", false, NAMED, false},
    {"Ljava/util/HashMap;::put", "[jit]", NULL, false, NAMED, false},
    {"java/lang/Thread.run", "[jit]", NULL, false, NAMED, false},
    {"javax.crypto.Cipher.doFinal", "[jit]", NULL, false, NAMED, false},
    {"jdk.internal.misc.Unsafe.park", "[jit]", NULL, false, NAMED, false},
    {"sun.nio.ch.EPoll.wait", "[jit]", NULL, false, NAMED, false},
    {"kotlin.collections.CollectionsKt.map", "[jit]", NULL, false, NAMED, false},
    {"scala.collection.immutable.List.map", "[jit]", NULL, false, NAMED, false},
    {"Interpreter", "[jit]", NULL, false, NAMED, false},
    {"Interpreter", APP, NULL, true, PLACED, false},
    {"Shop.Program.Main(System.String[])", "[jit]", NULL, true, NAMED, false},
    {"System.Collections.Generic.List`1.Add", "[jit]", NULL, false, NAMED, false},
    {"instance void [System.Private.CoreLib] System.Threading.Thread::Run(object)[OptimizedTier1]", "[jit]",
     NULL, false, NAMED, false},
    {"Microsoft.AspNetCore.Hosting.Run", "[jit]", NULL, false, NAMED, false},
    /* scripts */
    {"py::handle:/srv/app/views.py", "[jit]", NULL, true, DECLARED, false},
    {"py::loads:/usr/lib/python3.11/json/__init__.py", "[jit]", NULL, false, DECLARED, false},
    {"py::_find_and_load:<frozen importlib._bootstrap>", "[jit]", NULL, false, DECLARED, false},
    {"py::get:/srv/venv/lib/python3.11/site-packages/requests/api.py", "[jit]", NULL, false, DECLARED, false},
    {"handle (app/views.py:12)", "[unknown]", NULL, true, DECLARED, false},
    {"get (site-packages/requests/api.py:12)", "[unknown]", NULL, false, DECLARED, false},
    {"LazyCompile:*price /srv/app/shop.js:3:10", "[jit]", NULL, true, DECLARED, false},
    {"LazyCompile:~next /srv/app/node_modules/express/lib/router.js:3:10", "[jit]", NULL, false, DECLARED,
     false},
    {"processTicksAndRejections node:internal/process/task_queues:67", "[jit]", NULL, false, DECLARED, false},
    {"Builtin:ArrayMap", "[jit]", NULL, false, NAMED, false},
    {"<Sleep>", "[unknown]", NULL, false, NAMED, false},
    {"<module>", "[unknown]", NULL, true, NAMED, false},
};
enum { ROWS = sizeof rows / sizeof *rows };

struct made {
    struct sp_diags d;
    struct sp_profile *p;
    uint32_t event, metric;
};

static void begin(struct made *m)
{
    sp_diags_init(&m->d);
    assert_int_equal(sp_profile_new(&m->d, &m->p), SPAA_OK);
    m->metric = sp_metric_intern(m->p, "samples", 7);
    struct sp_event e = {.name = sp_profile_cstr(m->p, "e"), .primary = m->metric};
    m->event = sp_event_add(m->p, &e);
}

static uint32_t frame(struct made *m, const struct row *r)
{
    bool kernel = r->dso[0] == '[' && r->dso[1] == 'k';
    struct sp_dso so = {.name = sp_profile_cstr(m->p, r->dso), .is_kernel = kernel};
    uint32_t function = sp_function_intern(m->p, sp_profile_cstr(m->p, r->name), sp_dso_intern(m->p, &so));
    struct sp_frame f = {.function = function, .kind = kernel ? SP_KERNEL : SP_USER};
    f.srcline = r->line ? sp_profile_cstr(m->p, r->line) : SP_STR_NONE;
    f.flags = (uint8_t)((r->name[0] == '0' ? SP_FRAME_UNRESOLVED : 0) | (r->inlined ? SP_FRAME_INLINED : 0));
    return sp_frame_intern(m->p, &f);
}

static void add_stack(struct made *m, const uint32_t *frames, size_t n)
{
    struct sp_context c = {
        .pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = m->event, .comm = SP_STR_NONE};
    uint32_t s = sp_stack_append(m->p, frames, n, sp_context_intern(m->p, &c), SP_UNIFIED);
    sp_stack_set_layout(m->p, s, sp_layout_simple(m->p, m->metric, SP_STR_NONE, SP_NONE, SP_STR_NONE));
    assert_true(sp_weight_add(m->p, s, m->metric, 1));
}

static void finish(struct made *m)
{
    sp_profile_free(m->p);
    sp_diags_free(&m->d);
}

static void test_verdicts(void **state)
{
    struct made m;
    struct sp_selection s;
    struct sp_select_opts o = {0};
    struct sp_own own;
    uint32_t functions[ROWS];
    size_t wrong = 0;
    (void)state;
    begin(&m);
    for (size_t i = 0; i < ROWS; i++) {
        uint32_t f = frame(&m, &rows[i]);
        functions[i] = m.p->frames.v[f].function;
        add_stack(&m, &f, 1);
    }
    assert_int_equal(sp_select(m.p, &o, &m.d, &s), SPAA_OK);
    assert_int_equal(sp_own_of(&s, NULL, &m.d, &own), SPAA_OK);
    assert_false(own.all);
    for (size_t i = 0; i < ROWS; i++) {
        if (sp_is_own(&own, functions[i]) == rows[i].own && own.by[functions[i]] == rows[i].by)
            continue;
        print_error("%s in %s: %s by %s\n", rows[i].name, rows[i].dso,
                    own.own[functions[i]] ? "own" : "not own", sp_own_by_names[own.by[functions[i]]]);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    sp_own_free(&own);
    sp_selection_free(&s);
    finish(&m);
}

static void test_where_nothing_is_own_all_is(void **state)
{
    static const struct row kernel[] = {{"do_syscall_64", "[kernel]", NULL, true, SP_OWN_BY_NOTHING, false},
                                        {"vfs_read", "[kernel]", NULL, true, SP_OWN_BY_NOTHING, false}};
    struct made m;
    struct sp_selection s;
    struct sp_select_opts o = {0};
    struct sp_own own;
    (void)state;
    begin(&m);
    uint32_t frames[] = {frame(&m, &kernel[0]), frame(&m, &kernel[1])};
    add_stack(&m, frames, 2);
    assert_int_equal(sp_select(m.p, &o, &m.d, &s), SPAA_OK);
    assert_int_equal(sp_own_of(&s, NULL, &m.d, &own), SPAA_OK);
    assert_true(own.all && sp_is_own(&own, 0) && sp_is_own(&own, 1));
    sp_own_free(&own);
    assert_int_equal(sp_own_of(&s, "^vfs_", &m.d, &own), SPAA_OK);
    assert_true(!own.all && sp_is_own(&own, m.p->frames.v[frames[1]].function));
    assert_false(sp_is_own(&own, m.p->frames.v[frames[0]].function));
    assert_int_equal(own.by[0], SP_OWN_BY_OPTION);
    sp_own_free(&own);
    assert_int_equal(sp_own_of(&s, "nothing", &m.d, &own), SPAA_ERR_NOT_FOUND);
    assert_int_equal(sp_own_of(&s, "(", &m.d, &own), SPAA_ERR_USAGE);
    sp_selection_free(&s);
    finish(&m);
}

/* Without inlined frames, a line in a header may be that of what was inlined. */
static void test_headers_prove_nothing_where_inlining_was_not_resolved(void **state)
{
    static const struct row mixed[] = {
        {"shop::run()", APP, "shop.cpp:4", true, DECLARED, false},
        {"shop::run()", APP, "/usr/include/c++/12/bits/stl_vector.h:9", true, DECLARED, false},
        {"shop::leaf()", APP, "/usr/include/c++/12/bits/stl_vector.h:9", true, PLACED, false},
        {"std::sort()", APP, "/usr/include/c++/12/bits/stl_algo.h:9", false, NAMED, false}};
    struct made m;
    struct sp_selection s;
    struct sp_select_opts o = {0};
    struct sp_own own;
    uint32_t frames[4];
    (void)state;
    begin(&m);
    for (size_t i = 0; i < 4; i++)
        frames[i] = frame(&m, &mixed[i]);
    add_stack(&m, frames, 4);
    assert_int_equal(sp_select(m.p, &o, &m.d, &s), SPAA_OK);
    assert_int_equal(sp_own_of(&s, NULL, &m.d, &own), SPAA_OK);
    for (size_t i = 0; i < 4; i++) {
        uint32_t f = m.p->frames.v[frames[i]].function;
        assert_int_equal(own.own[f], mixed[i].own);
        assert_int_equal(own.by[f], mixed[i].by);
    }
    sp_own_free(&own);
    sp_selection_free(&s);
    finish(&m);
}

static void test_plain_names(void **state)
{
    static const char *const names[][2] = {
        {"std::vector<my::T> my::f<int>(std::string) const", "my::f"},
        {"void std::sort<my::T*>(my::T*, my::T*)", "std::sort"},
        {"std::map<std::string, int>::operator[](std::string&&)", "std::map::operator[]"},
        {"bool std::operator< <char>(std::string)", "std::operator<"},
        {"std::__cxx11::basic_string<char>::~basic_string()", "std::basic_string::~basic_string"},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda#1}::operator()"},
        {"shop::f[abi:cxx11](int)", "shop::f"},
        {"encoding/json.(*decodeState).value", "encoding/json.(*decodeState).value"},
        {"<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec as core::ops::Drop>::drop"},
        {"core::slice::cmp::<impl core::cmp::Ord for [T]>::cmp", "core::slice::cmp::cmp"},
        {"alloc::vec::Vec::<u8>::push", "alloc::vec::Vec::push"},
        {"malloc", "malloc"},
        {"f (a/b.py:3)", "f (a/b.py:3)"},
        {"operator new(unsigned long)", "operator new"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"", ""},
        {"<", "<"},
        {"(", "("},
        {"a<b", "a"},
        {"operator", "operator"},
        {"_$LT$", "<"}};
    struct sp_buf b;
    (void)state;
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sp_str s = {names[i][0], (uint32_t)strlen(names[i][0])};
        sp_buf_clear(&b);
        sp_own_plain_name(&b, s);
        assert_string_equal(sp_buf_cstr(&b), names[i][1]);
    }
    sp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_where_nothing_is_own_all_is),
        cmocka_unit_test(test_headers_prove_nothing_where_inlining_was_not_resolved),
        cmocka_unit_test(test_plain_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
