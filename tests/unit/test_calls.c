/* The decoder of calls and jumps: what objdump says of the same bytes (tests/formats/test_call_lengths.py)
 * and AArch64's, for which the words stand here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/calls.h"

static enum sp_call before(const char *bytes, size_t n, uint64_t *target)
{
    struct sp_insn x;
    enum sp_call call = sp_call_before(SP_MACHINE_X86_64, (const unsigned char *)bytes, n, 0x1000, &x);
    *target = x.target;
    return call;
}

static void calls_end_at_their_return_address(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        enum sp_call call;
        uint64_t target;
    } cases[] = {
        {"\x90\x90\xe8\x10\x00\x00\x00", 7, SP_CALL_DIRECT, 0x1010},
        {"\x66\x66\x48\xe8\xf0\xff\xff\xff", 8, SP_CALL_DIRECT, 0xff0}, /* as of thread-local storage */
        {"\xf2\xe8\x10\x00\x00\x00", 6, SP_CALL_DIRECT, 0x1010},
        {"\x90\xff\xd0", 3, SP_CALL_INDIRECT, 0},
        {"\x41\xff\xd7", 3, SP_CALL_INDIRECT, 0},
        {"\x3e\xff\xd0", 3, SP_CALL_INDIRECT, 0},
        {"\xff\x50\x08", 3, SP_CALL_INDIRECT, 0},
        {"\xff\x15\x10\x00\x00\x00", 6, SP_CALL_INDIRECT, 0},
        {"\x43\xff\x94\xe8\x10\x00\x00\x00", 8, SP_CALL_EITHER, 0x1010},
        {"\x90\x90\x90\x90\x90\x90\x90", 7, SP_CALL_NONE, 0},
        {"\xff\xe0", 2, SP_CALL_NONE, 0},
        {"", 0, SP_CALL_NONE, 0},
        {"\x00\x00\x00", 3, SP_CALL_NONE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t target;
        assert_int_equal(before(cases[i].bytes, cases[i].n, &target), cases[i].call);
        assert_true(target == cases[i].target);
    }
}

static void arm64(uint32_t word, enum sp_insn_kind kind, uint64_t target)
{
    unsigned char p[4] = {word & 255, word >> 8 & 255, word >> 16 & 255, (unsigned char)(word >> 24)};
    struct sp_insn x;
    assert_true(sp_insn_read(SP_MACHINE_AARCH64, p, 4, 0x10000, &x));
    assert_int_equal(x.len, 4);
    assert_int_equal(x.kind, kind);
    assert_true(x.target == target);
}

static void words_of_aarch64(void **state)
{
    (void)state;
    arm64(0x94000001, SP_INSN_CALL, 0x10004);    /* bl +4 */
    arm64(0x97ffffff, SP_INSN_CALL, 0xfffc);     /* bl -4 */
    arm64(0x14000002, SP_INSN_JUMP, 0x10008);    /* b */
    arm64(0x17fffffe, SP_INSN_JUMP, 0xfff8);     /* b */
    arm64(0x54000040, SP_INSN_BRANCH, 0x10008);  /* b.eq */
    arm64(0xb4ffffe0, SP_INSN_BRANCH, 0xfffc);   /* cbz x0 */
    arm64(0x35000041, SP_INSN_BRANCH, 0x10008);  /* cbnz w1 */
    arm64(0x37080040, SP_INSN_BRANCH, 0x10008);  /* tbnz w0, #1 */
    arm64(0xd63f0200, SP_INSN_CALL_INDIRECT, 0); /* blr x16 */
    arm64(0xd73f0841, SP_INSN_CALL_INDIRECT, 0); /* blraa x2, x1 */
    arm64(0xd61f0220, SP_INSN_JUMP_INDIRECT, 0); /* br x17 */
    arm64(0xd65f03c0, SP_INSN_STOP, 0);          /* ret */
    arm64(0xd65f0bff, SP_INSN_STOP, 0);          /* retaa */
    arm64(0xd4200020, SP_INSN_STOP, 0);          /* brk #1 */
    arm64(0x00000000, SP_INSN_STOP, 0);          /* udf */
    arm64(0xd503201f, SP_INSN_OTHER, 0);         /* nop */
    arm64(0xf9400211, SP_INSN_OTHER, 0);         /* ldr x17, [x16] */
}

/* Cut short, or no instruction: refused, and nothing behind the end is read. */
static void what_is_not_known_is_refused(void **state)
{
    (void)state;
    static const unsigned char call[] = {0xe8, 1, 0, 0, 0}, cut[] = {0x48, 0x8b},
                               twice[] = {0x48, 0x66, 0x90}, old[] = {0x06},
                               xop[] = {0x8f, 0xe9, 0x78, 0x01, 0xc0};
    static const unsigned char endless[] = {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
                                            0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90};
    struct sp_insn x;
    for (size_t n = 0; n < sizeof call; n++)
        assert_false(sp_insn_read(SP_MACHINE_X86_64, call, n, 0, &x));
    assert_true(sp_insn_read(SP_MACHINE_X86_64, call, sizeof call, 0, &x));
    assert_false(sp_insn_read(SP_MACHINE_X86_64, cut, sizeof cut, 0, &x));
    assert_false(sp_insn_read(SP_MACHINE_X86_64, twice, sizeof twice, 0, &x));
    assert_false(sp_insn_read(SP_MACHINE_X86_64, old, sizeof old, 0, &x));
    assert_false(sp_insn_read(SP_MACHINE_X86_64, xop, sizeof xop, 0, &x));
    assert_false(sp_insn_read(SP_MACHINE_X86_64, endless, sizeof endless, 0, &x));
    assert_false(sp_insn_read(SP_MACHINE_AARCH64, call, 3, 0, &x));
    assert_false(sp_insn_read(40, call, sizeof call, 0, &x)); /* 32-bit Arm */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_end_at_their_return_address),
        cmocka_unit_test(words_of_aarch64),
        cmocka_unit_test(what_is_not_known_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
