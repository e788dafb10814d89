/* What makes a function one function, and what it is shown as. */
#include "model/functions.h"
#include "model/identity.h"
#include "model/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
/* needs the headers above */
#include <cmocka.h>

static void names_are_shown_without_parts_and_tiers(void **state)
{
    static const char *const pairs[][2] = {
        {"hash", "hash"},
        {"hash.cold", "hash"},
        {"hash.isra.0.cold", "hash"},
        {"hash.part.0.constprop.1", "hash"},
        {"hash.lto_priv.3", "hash"},
        {"hash.llvm.1234567890abc", "hash"},
        {"hash.__uniq.123456.llvm.77", "hash"},
        {"shop::f(int) [clone .isra.0] [clone .cold]", "shop::f(int)"},
        {"shop::f(int) (.cold)", "shop::f(int)"},
        {"f(int) [with T = int]", "f(int) [with T = int]"},
        {"main.run.func1", "main.run.func1"},
        {"a.cool", "a.cool"},
        {".cold", ".cold"},
        {"", ""},
        {"LazyCompile:*run /srv/app.js:3:1", "run /srv/app.js:3:1"},
        {"JS:~run /srv/app.js:3:1", "run /srv/app.js:3:1"},
        {"JS:* /srv/app.js:3:1", "/srv/app.js:3:1"},
        {"JS:~ node:internal/main:1:1", "node:internal/main:1:1"},
        {"JS:* a b", "JS:* a b"},
        {"void [App] Shop::Run()[OptimizedTier1]", "void [App] Shop::Run()"},
        {"void [App] Shop::Run(int[])", "void [App] Shop::Run(int[])"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct sp_str s = sp_function_shown((struct sp_str){pairs[i][0], (uint32_t)strlen(pairs[i][0])});
        assert_int_equal(s.n, strlen(pairs[i][1]));
        assert_memory_equal(s.p, pairs[i][1], s.n);
    }
}

struct fixture {
    struct sp_diags d;
    struct sp_profile *p;
    uint32_t dso;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    sp_diags_init(&f.d);
    assert_int_equal(sp_profile_new(&f.d, &f.p), SPAA_OK);
    struct sp_dso dso = {.name = sp_profile_cstr(f.p, "/bin/app"), .build_id = sp_profile_cstr(f.p, "abcd")};
    f.dso = sp_dso_intern(f.p, &dso);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sp_profile_free(f->p);
    sp_diags_free(&f->d);
    return 0;
}

static uint32_t str(struct fixture *f, const char *s)
{
    return s ? sp_profile_cstr(f->p, s) : SP_STR_NONE;
}

static struct sp_func_info info_of(struct fixture *f, const char *linkage, const char *file, bool local)
{
    return (struct sp_func_info){
        .linkage = str(f, linkage), .file = str(f, file), .flags = local ? SP_FUNC_LOCAL : 0};
}

static struct sp_func_info at(struct sp_func_info x, uint64_t start)
{
    x.start = start;
    x.flags |= SP_FUNC_START;
    return x;
}

static uint32_t function(struct fixture *f, const char *name, struct sp_func_info x)
{
    return sp_function_known(f->p, str(f, name), f->dso, sp_func_info_intern(f->p, &x));
}

static const char *tells(struct fixture *f, uint32_t number)
{
    uint32_t s = f->p->functions.v[number].tells;
    return s ? sp_pstr(f->p, s).p : "";
}

static void what_tells_a_function_is_the_same_in_every_build(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name, *linkage, *file, *tells;
        bool local;
    } all[] = {
        {"hash", NULL, NULL, "", false},
        {"hash", "hash", NULL, "", false},      /* extern "C" */
        {"hash", "hash", "src/a.c", "", false}, /* there is one in the program */
        {"hash", "hash", "src/a.c", "@a.c", true},
        {"hash", "hash.isra.0", "/build/2/src/a.c", "@a.c", true},
        {"hash", NULL, "a.c", "@a.c", true},
        {"hash", "hash", NULL, "", true},
        {"hash", "_Z4hashi", "h.h", "_Z4hashi", true}, /* inlined, of one program one */
        {"hash(int)", "_Z4hashi", "h.h", "", true},
        {"hash(int)", "_ZL4hashi.cold", "a.cpp", "@a.cpp", true},
        {"(anonymous namespace)::f()", "_ZN12_GLOBAL__N_11fEv", "x/a.cpp", "@a.cpp", true},
        {"f::operator()", "_ZN1fclEv", NULL, "_ZN1fclEv", false},
        {"app::work", "_ZN3app4work17h0123456789abcdefE", NULL, "", false},
        {"app::work::<f64>", "_RINvCscAEuU5ehQ2G_3app4workdEB2_", NULL, "", false},
        {"hash", "hash.__uniq.12", NULL, "hash.__uniq.12", false},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_string_equal(
            tells(f, function(f, all[i].name, info_of(f, all[i].linkage, all[i].file, all[i].local))),
            all[i].tells);
}

static void functions_of_one_name_are_told_apart(void **state)
{
    struct fixture *f = *state;
    uint32_t a = function(f, "hash", info_of(f, "hash", "a.c", true)),
             b = function(f, "hash", info_of(f, "hash", "b.c", true)),
             bare = sp_function_intern(f->p, str(f, "hash"), f->dso);
    assert_true(a != b && a != bare && b != bare);
    assert_int_equal(function(f, "hash", info_of(f, "hash.cold", "/other/place/a.c", true)), a);
    assert_int_equal(function(f, "hash", info_of(f, "hash", NULL, false)), bare);
    assert_true(sp_function_hash(f->p, a) != sp_function_hash(f->p, b));
    assert_int_equal(sp_function_file(f->p, b).n, 3);
    assert_int_equal(sp_function_file(f->p, bare).n, 0);
    uint32_t calls[4];
    static const char *const operators[] = {"_ZZ4mainENKUlvE_clEv", "_ZZ4mainENKUlvE0_clEv", "_ZNK1AclEv",
                                            "_ZNK1BclEv"};
    for (size_t i = 0; i < 4; i++)
        calls[i] = function(f, "operator()", info_of(f, operators[i], "m.cpp", i < 2));
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(calls[i], calls[k]);
}

/* Of two files of one name; what is inlined or a part has no start of its own. */
static void the_start_tells_the_rest_apart_within_a_build(void **state)
{
    struct fixture *f = *state;
    struct sp_func_info base = info_of(f, "hash", "util.c", true),
                        cold = info_of(f, "hash.cold", "util.c", true);
    uint32_t inlined = function(f, "hash", base), late = function(f, "hash", at(base, 0x2000));
    assert_int_equal(inlined, late);
    struct sp_frame frame = {
        .function = inlined, .info = sp_func_info_intern(f->p, &base), .inline_depth = 1};
    uint32_t number = sp_frame_intern(f->p, &frame);
    uint32_t early = function(f, "hash", at(base, 0x1000));
    assert_int_not_equal(early, late);
    assert_int_equal(function(f, "hash", at(base, 0x2000)), late);
    assert_int_equal(function(f, "hash", at(cold, 0x3000)), late);
    assert_true(sp_functions_settle(f->p));
    assert_int_equal(f->p->frames.v[number].function, early);
    assert_true(sp_function_hash(f->p, early) == sp_function_hash(f->p, late));
    uint64_t start;
    assert_true(sp_function_start(f->p, late, &start));
    assert_int_equal(start, 0x2000);
    f->p->dsos.v[f->dso].build_id = SP_STR_NONE; /* of another binary perhaps */
    assert_int_equal(function(f, "other", at(base, 1)), function(f, "other", at(base, 2)));
}

/* All that is left of two functions of two files of one name: their code begins somewhere. */
static void forms_have_starts_and_parts_have_those_of_their_functions(void **state)
{
    struct fixture *f = *state;
    struct sp_func_info form = info_of(f, "hash.constprop.0", "util.c", true),
                        cold = at(info_of(f, "hash.constprop.0.cold", "util.c", true), 0x2000);
    uint32_t early = function(f, "hash", at(form, 0x1000));
    struct sp_frame frame = {.function = function(f, "hash", cold), .info = sp_func_info_intern(f->p, &cold)};
    uint32_t number = sp_frame_intern(f->p, &frame);
    assert_int_equal(frame.function, early);
    uint32_t late = function(f, "hash", at(form, 0x2000));
    assert_int_not_equal(early, late);
    assert_true(sp_functions_settle(f->p));
    assert_int_equal(f->p->frames.v[number].function, late);
    assert_int_equal(function(f, "hash", at(info_of(f, "hash", "util.c", true), 0x1000)), early);
    frame = (struct sp_frame){0};
    form = at(form, 0x2000);
    assert_true(sp_frame_set_function(f->p, &frame, str(f, "hash"), f->dso, &form, SP_FRAMES_FUNCTION));
    assert_int_equal(frame.function, late);
}

static void what_says_most_of_a_function_is_its_own(void **state)
{
    struct fixture *f = *state;
    struct sp_func_info whole = info_of(f, "hash", "src/a.c", true),
                        part = info_of(f, "hash.cold", "a.c", true);
    whole.line = 7;
    for (int order = 0; order < 2; order++) {
        const char *name = order ? "g" : "h";
        uint32_t first = function(f, name, order ? at(part, 3) : at(whole, 1));
        assert_int_equal(function(f, name, order ? at(whole, 1) : at(part, 3)), first);
        assert_int_equal(sp_function_info(f->p, first)->line, 7);
        assert_int_equal(sp_function_info(f->p, first)->start, 1);
    }
}

static void coarser_frames_know_of_no_parts(void **state)
{
    struct fixture *f = *state;
    struct sp_func_info part = at(info_of(f, "hash.cold", "a.c", true), 3);
    struct sp_frame frame = {0};
    assert_true(sp_frame_set_function(f->p, &frame, str(f, "hash"), f->dso, &part, SP_FRAMES_ADDRESS));
    uint32_t number = sp_frame_intern(f->p, &frame);
    assert_string_equal(sp_frame_symbol(f->p, number).p, "hash.cold");
    assert_true(sp_frame_set_function(f->p, &frame, str(f, "hash"), f->dso, &part, SP_FRAMES_LINE));
    assert_int_equal(f->p->func_infos.v[frame.info - 1].flags, SP_FUNC_LOCAL);
    assert_true(sp_frame_set_function(f->p, &frame, str(f, "hash"), f->dso, &part, SP_FRAMES_FUNCTION));
    assert_int_equal(frame.info, 0);
}

static void symbols_are_printed_with_their_parts(void **state)
{
    struct fixture *f = *state;
    static const char *const all[][3] = {
        {"hash", "hash.isra.0.cold", "hash.isra.0.cold"},
        {"hash(int)", "_Z4hashi.isra.0.cold", "hash(int) [clone .isra.0] [clone .cold]"},
        {"hash(int)", "_Z4hashi", "hash(int)"},
        {"run a.js:1", "JS:*run a.js:1", "JS:*run a.js:1"},
        {"hash", NULL, "hash"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sp_func_info x = info_of(f, all[i][1], NULL, false);
        struct sp_frame frame = {0};
        struct sp_buf b;
        sp_buf_init(&b, 0);
        assert_true(sp_frame_set_function(f->p, &frame, str(f, all[i][0]), f->dso, &x, SP_FRAMES_ADDRESS));
        sp_put_symbol_shown(&b, f->p, sp_frame_intern(f->p, &frame));
        assert_string_equal(sp_buf_cstr(&b), all[i][2]);
        sp_buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_shown_without_parts_and_tiers),
        cmocka_unit_test_setup_teardown(what_tells_a_function_is_the_same_in_every_build, set_up, tear_down),
        cmocka_unit_test_setup_teardown(functions_of_one_name_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_start_tells_the_rest_apart_within_a_build, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forms_have_starts_and_parts_have_those_of_their_functions, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_says_most_of_a_function_is_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(coarser_frames_know_of_no_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(symbols_are_printed_with_their_parts, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
