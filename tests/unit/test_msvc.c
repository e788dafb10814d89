/* Names and maps of Microsoft's tools. */
#include "symbols/msvc_map.h"
#include "symbols/msvc_name.h"
#include "symbols/rsds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_names(void **state)
{
    static const char *const pairs[][2] = {
        {"?run@engine@@YAHXZ", "engine::run"},
        {"?main@@YAHXZ", "main"},
        {"??0Queue@engine@@QEAA@XZ", "engine::Queue::Queue"},
        {"??1Queue@engine@@QEAA@XZ", "engine::Queue::~Queue"},
        {"??HA@@QEAAHH@Z", "A::operator+"},
        {"??_GA@@UEAAPEAXI@Z", "A::`scalar deleting destructor'"},
        {"?push@?$Queue@H@engine@@QEAAXH@Z", "engine::Queue<int>::push"},
        {"??0?$Queue@H@engine@@QEAA@XZ", "engine::Queue<int>::Queue"},
        {"?f@?$map@HV?$vec@PEBD@std@@@std@@QEAAXXZ", "std::map<int, std::vec<char const *>>::f"},
        {"??$max@N@std@@YANNN@Z", "std::max<double>"},
        {"?get@?$array@H$09@@QEAAHXZ", "array<int, 10>::get"},
        {"?get@?$array@H$0BA@@@QEAAHXZ", "array<int, 16>::get"},
        {"?g@?$pair@V?$basic_string@D@std@@V12@@std@@QEAAXXZ",
         "std::pair<std::basic_string<char>, std::basic_string<char>>::g"},
        {"?h@?$pair@VA@b@@V12@@std@@QEAAXXZ", "std::pair<b::A, b::A>::h"},
        {"?run@?A0x1234abcd@@YAHXZ", "`anonymous namespace'::run"},
        {"?f@0@YAXXZ", "f::f"},
        {"?x@?1??main@@YAHXZ@4HA", NULL},
        {"??_C@_03ABC@foo@", NULL},
        {"?", NULL},
        {"?f", NULL},
        {"?f@", NULL},
        {"?f@?$a@", NULL},
        {"main", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct sp_buf b;
        sp_buf_init(&b, 0);
        bool ok = sp_msvc_name(pairs[i][0], &b);
        if (ok != (pairs[i][1] != NULL) || (ok && strcmp(sp_buf_cstr(&b), pairs[i][1]) != 0))
            fail_msg("%s gives %s", pairs[i][0], ok ? sp_buf_cstr(&b) : "nothing");
        sp_buf_free(&b);
    }
}

/* Names that grow by what they name, and ones cut and changed everywhere. */
static void test_hostile_names(void **state)
{
    static const char seed[] = "?f@?$m@HV?$v@PEBD@s@@V12@@x@@QEAAXXZ";
    char deep[4096] = "?f@";
    struct sp_buf b;
    (void)state;
    for (unsigned i = 0; i < 400; i++)
        strcat(deep, "?$a@V");
    sp_buf_init(&b, 0);
    assert_false(sp_msvc_name(deep, &b));
    for (size_t cut = 0; cut < sizeof seed; cut++)
        for (unsigned c = 0; c < 256; c++) {
            char t[sizeof seed];
            memcpy(t, seed, sizeof seed);
            t[cut] = (char)c;
            sp_buf_clear(&b);
            sp_msvc_name(t, &b);
            assert_true(b.len < 64 << 10);
        }
    sp_buf_free(&b);
}

static void test_map(void **state)
{
    static const char text[] =
        " app\r\n\r\n Preferred load address is 00400000\r\n\r\n"
        " Start         Length     Name                   Class\r\n"
        " 0001:00000000 00000020H .text                   CODE\r\n"
        " 0002:00000000 00000210H .data                   DATA\r\n\r\n"
        "  Address         Publics by Value              Rva+Base       Lib:Object\r\n\r\n"
        " 0001:00000010       _b                         00401010 f   b.obj\r\n"
        " 0001:00000000       _a                         00401000 f   a.obj\r\n"
        " 0002:00000000       _d                         00402000     d.obj\r\n";
    struct sp_symtab t;
    struct sp_str module;
    bool found;
    (void)state;
    char *copy = strdup(text);
    sp_symtab_init(&t);
    assert_non_null(copy);
    assert_true(sp_msvc_map_parse(copy, strlen(copy), &t, &module, &found));
    assert_true(found);
    assert_true(sp_str_is(module, "app"));
    assert_string_equal(sp_symtab_find(&t, 0x1000)->name, "_a");
    assert_string_equal(sp_symtab_find(&t, 0x101f)->name, "_b");
    assert_null(sp_symtab_find(&t, 0x1020)); /* the section ends */
    assert_null(sp_symtab_find(&t, 0x2000)); /* data */
    assert_null(sp_symtab_find(&t, 0xfff));
    sp_symtab_free(&t);
    free(copy);
}

static void test_rsds(void **state)
{
    static const unsigned char guid[16] = {0x5b, 0xad, 0x8f, 0x0f, 0xcb, 0xd9, 0x9f, 0x46,
                                           0xa1, 0x65, 0x70, 0x86, 0x77, 0x28, 0x95, 0x0e};
    struct sp_rsds r = {.age = 0x1f}, back;
    char t[SP_RSDS_KEY_ROOM];
    (void)state;
    memcpy(r.guid, guid, 16);
    sp_guid_text(guid, t);
    assert_string_equal(t, "{0F8FAD5B-D9CB-469F-A165-70867728950E}");
    size_t n = sp_rsds_key(&r, true, t);
    assert_string_equal(t, "0F8FAD5BD9CB469FA16570867728950E1F");
    assert_true(sp_rsds_from_key(t, n, &back));
    assert_true(sp_rsds_same_guid(&r, &back) && back.age == 0x1f);
    assert_false(sp_rsds_from_key(t, 32, &back));
    t[3] = 'x';
    assert_false(sp_rsds_from_key(t, n, &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_hostile_names),
                                       cmocka_unit_test(test_map), cmocka_unit_test(test_rsds)};
    return cmocka_run_group_tests_name("msvc", tests, NULL, NULL);
}
