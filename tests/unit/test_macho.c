/*
 * Mach-O files that the tests make: which image of a file is read, what its symbols cover, and that no byte
 * of a file can lead the reader astray.
 */
#include "dwarf/macho.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILE_SIZE = 0x600, TEXT = 0x400, SYMBOLS = 0x500, STRINGS = 0x560, STARTS = 0x5a0 };
static const char uuid[] = "000102030405060708090a0b0c0d0e0f";

struct world {
    struct sp_diags d;
    char path[64];
    unsigned char bytes[FILE_SIZE];
    unsigned char *at;
    unsigned commands;
};

static void put32(unsigned char *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

static void put64(unsigned char *p, uint64_t v)
{
    put32(p, (uint32_t)v);
    put32(p + 4, (uint32_t)(v >> 32));
}

static unsigned char *command(struct world *w, uint32_t cmd, uint32_t size)
{
    unsigned char *p = w->at;
    put32(p, cmd);
    put32(p + 4, size);
    w->at += size;
    w->commands++;
    return p;
}

static void put_symbol(struct world *w, unsigned number, uint32_t name, unsigned type, uint64_t addr)
{
    unsigned char *p = w->bytes + SYMBOLS + 16 * number;
    put32(p, name);
    p[4] = (unsigned char)type;
    p[5] = 1;
    put64(p + 8, addr);
}

/* __text at 0x1000000400, 0x80 bytes; functions at its offsets 0, 0x20, 0x40, of which the last has no name.
 */
static void make(struct world *w)
{
    unsigned char *p;
    memset(w->bytes, 0, sizeof w->bytes);
    w->at = w->bytes + 32;
    w->commands = 0;
    p = command(w, 0x19, 72 + 80);
    memcpy(p + 8, "__TEXT", 6);
    put64(p + 24, 0x1000000000);
    put64(p + 32, FILE_SIZE);
    put64(p + 48, FILE_SIZE);
    put32(p + 60, 5);
    put32(p + 64, 1);
    memcpy(p + 72, "__text", 6);
    memcpy(p + 88, "__TEXT", 6);
    put64(p + 104, 0x1000000000 + TEXT);
    put64(p + 112, 0x80);
    put32(p + 120, TEXT);
    put32(p + 136, 0x80000400);
    p = command(w, 2, 24);
    put32(p + 8, SYMBOLS);
    put32(p + 12, 3);
    put32(p + 16, STRINGS);
    put32(p + 20, 32);
    p = command(w, 0x1b, 24);
    for (unsigned char i = 0; i < 16; i++)
        p[8 + i] = i;
    p = command(w, 0x26, 16);
    put32(p + 8, STARTS);
    put32(p + 12, 8);
    put32(w->bytes, 0xfeedfacf);
    put32(w->bytes + 12, 2);
    put32(w->bytes + 16, w->commands);
    put32(w->bytes + 20, (uint32_t)(w->at - w->bytes - 32));
    put_symbol(w, 0, 1, 0x0f, 0x1000000000 + TEXT);
    put_symbol(w, 1, 8, 0x0e, 0x1000000000 + TEXT + 0x20);
    put_symbol(w, 2, 8, 0x24, 0x1000000000 + TEXT + 0x40); /* a stab */
    memcpy(w->bytes + STRINGS, "\0_alpha\0beta", 13);
    memcpy(w->bytes + STARTS, "\x80\x08\x20\x20", 4);
}

static void save(struct world *w, const void *p, size_t n)
{
    FILE *f = fopen(w->path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    if (!w)
        return -1;
    sp_diags_init(&w->d);
    snprintf(w->path, sizeof w->path, "/tmp/test-macho-XXXXXX");
    int fd = mkstemp(w->path);
    if (fd >= 0)
        close(fd);
    make(w);
    *state = w;
    return fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    unlink(w->path);
    sp_diags_free(&w->d);
    free(w);
    return 0;
}

static const char *name_at(const struct sp_symtab *t, uint64_t addr)
{
    const struct sp_sym *s = sp_symtab_find(t, addr);
    return s ? s->name : "";
}

static void symbols_end_where_functions_begin(void **state)
{
    struct world *w = *state;
    struct sp_elf e;
    struct sp_symtab t;
    save(w, w->bytes, FILE_SIZE);
    sp_symtab_init(&t);
    assert_int_equal(sp_macho_read(w->path, uuid, &w->d, &e, &t), SPAA_OK);
    assert_true(sp_symtab_finish(&t, SP_RULES_MACHO));
    assert_true(e.macho && !e.damaged);
    assert_string_equal(e.build_id, uuid);
    assert_string_equal(name_at(&t, TEXT - 1), "");
    assert_string_equal(name_at(&t, TEXT), "alpha");
    assert_string_equal(name_at(&t, TEXT + 0x1f), "alpha");
    assert_string_equal(name_at(&t, TEXT + 0x20), "beta");
    assert_string_equal(name_at(&t, TEXT + 0x3f), "beta");
    assert_string_equal(name_at(&t, TEXT + 0x40), "");
    sp_symtab_free(&t);
    sp_elf_free(&e);
}

static void only_the_image_with_the_uuid_gives_symbols(void **state)
{
    struct world *w = *state;
    struct sp_elf e;
    struct sp_symtab t;
    save(w, w->bytes, FILE_SIZE);
    sp_symtab_init(&t);
    assert_int_equal(sp_macho_read(w->path, "ff", &w->d, &e, &t), SPAA_OK);
    assert_string_equal(e.build_id, uuid);
    assert_int_equal(t.syms.n, 0);
    sp_elf_free(&e);
    assert_int_equal(sp_macho_read(w->path, NULL, &w->d, &e, &t), SPAA_OK);
    assert_int_equal(t.syms.n, 0);
    sp_elf_free(&e);
    sp_symtab_free(&t);
}

/* Cut anywhere, with any byte changed: what is found lies in the code. */
static void survive(struct world *w, const unsigned char *p, size_t n)
{
    struct sp_elf e;
    struct sp_symtab t;
    save(w, p, n);
    sp_symtab_init(&t);
    spaa_status st = sp_macho_read(w->path, uuid, &w->d, &e, &t);
    assert_true(st == SPAA_OK || st == SPAA_ERR_INPUT);
    assert_true(t.syms.n <= 3 && sp_symtab_finish(&t, SP_RULES_MACHO));
    for (size_t i = 0; i < t.syms.n; i++)
        assert_true(t.syms.v[i].end >= t.syms.v[i].start);
    sp_symtab_free(&t);
    if (!st)
        sp_elf_free(&e);
}

static void no_byte_leads_astray(void **state)
{
    struct world *w = *state;
    for (size_t n = 0; n < FILE_SIZE; n += 7)
        survive(w, w->bytes, n);
    size_t head = (size_t)(w->at - w->bytes);
    for (size_t i = 0; i < head; i++)
        for (unsigned k = 0; k < 2; k++) {
            static const unsigned char with[] = {0x00, 0xff};
            unsigned char was = w->bytes[i];
            w->bytes[i] = with[k];
            survive(w, w->bytes, FILE_SIZE);
            w->bytes[i] = was;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(symbols_end_where_functions_begin, setup, teardown),
        cmocka_unit_test_setup_teardown(only_the_image_with_the_uuid_gives_symbols, setup, teardown),
        cmocka_unit_test_setup_teardown(no_byte_leads_astray, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
