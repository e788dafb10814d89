#include "unwind/functions.h"

#include "base/hash.h"
#include "unwind/calls.h"

#include <string.h>

enum { FUNCTION_MAX = 512 << 10, EXITS_MAX = 4096 };

void sp_functions_free(struct sp_functions *f)
{
    for (size_t i = 0; i < f->modules.n; i++) {
        sp_mcode_free(f->modules.v[i].names);
        sp_cfi_free(f->modules.v[i].cfi);
    }
    sp_vec_free(&f->modules);
    sp_vec_free(&f->functions);
    sp_vec_free(&f->to);
    sp_vec_free(&f->bytes);
    sp_map_free(&f->module_map);
    sp_map_free(&f->function_map);
}

static uint32_t functions_fail(struct sp_functions *f, spaa_status st)
{
    if (st == SPAA_ERR_NOMEM && !f->failed)
        sp_nomem(f->d);
    f->failed = f->failed ? f->failed : st;
    return UINT32_MAX;
}

uint32_t sp_functions_module(struct sp_functions *f, struct sp_module *m)
{
    uint64_t hash = sp_hash_mix((uintptr_t)m, 1);
    struct sp_probe at = sp_map_probe(&f->module_map, hash);
    for (uint32_t i; (i = sp_map_next(&f->module_map, &at)) != SP_MAP_NONE;)
        if (f->modules.v[i].symbols == m)
            return i;
    struct sp_code_module x = {.symbols = m};
    const struct sp_module_key *key = sp_module_key(m);
    const char *file = key->kind == SP_MODULE_FILE ? sp_module_file(m) : NULL;
    spaa_status st = file ? sp_mcode_load(file, key->build_id, f->d, &x.names) : SPAA_OK;
    if (st)
        return functions_fail(f, st);
    x.code = key->build_id ? x.names : NULL;
    if (!sp_vec_reserve(&f->modules, f->modules.n + 1) ||
        !sp_map_add(&f->module_map, hash, (uint32_t)f->modules.n) || !sp_vec_push(&f->modules, x)) {
        sp_mcode_free(x.names);
        return functions_fail(f, SPAA_ERR_NOMEM);
    }
    return (uint32_t)f->modules.n - 1;
}

bool sp_functions_whole(struct sp_functions *f)
{
    for (size_t i = 0; i < f->modules.n; i++)
        if (f->modules.v[i].names && sp_mcode_failed(f->modules.v[i].names))
            functions_fail(f, sp_mcode_failed(f->modules.v[i].names));
    return !f->failed;
}

static const struct sp_cfi *cfi_of(struct sp_functions *f, struct sp_code_module *m)
{
    if (!m->cfi_tried) {
        m->cfi_tried = true;
        spaa_status st = sp_cfi_load(sp_module_file(m->symbols), NULL, f->d, &m->cfi);
        if (st) {
            functions_fail(f, st);
            return NULL;
        }
    }
    return m->cfi;
}

static bool fde_at(struct sp_functions *f, struct sp_code_module *m, uint64_t addr, uint64_t *start,
                   uint64_t *end)
{
    const struct sp_cfi *cfi = cfi_of(f, m);
    return cfi && sp_cfi_extent(cfi, addr, start, end);
}

uint32_t sp_functions_at(struct sp_functions *f, uint32_t module, uint64_t addr)
{
    struct sp_code_module *m = &f->modules.v[module];
    struct sp_function_code x = {.module = module};
    if (!m->code || !sp_mcode_at(m->code, addr) || f->failed)
        return UINT32_MAX;
    if (!sp_module_extent(m->symbols, addr, &x.start, &x.end, &x.name) &&
        !fde_at(f, m, addr, &x.start, &x.end))
        return UINT32_MAX;
    uint64_t hash = sp_hash_mix(x.start, module);
    struct sp_probe at = sp_map_probe(&f->function_map, hash);
    for (uint32_t i; (i = sp_map_next(&f->function_map, &at)) != SP_MAP_NONE;)
        if (f->functions.v[i].start == x.start && f->functions.v[i].module == module)
            return i;
    if (f->functions.n >= UINT32_MAX - 1 || !sp_vec_push(&f->functions, x) ||
        !sp_map_add(&f->function_map, hash, (uint32_t)f->functions.n - 1))
        return functions_fail(f, SPAA_ERR_NOMEM);
    return (uint32_t)f->functions.n - 1;
}

bool sp_functions_main(struct sp_functions *f, uint32_t module, uint64_t *main)
{
    struct sp_code_module *m = &f->modules.v[module];
    const char *path = sp_module_key(m->symbols)->path, *slash = path ? strrchr(path, '/') : NULL;
    if (!m->main_tried) {
        m->main_tried = true;
        bool program = m->code && path && !strstr(slash ? slash : path, ".so");
        m->has_main = program && sp_module_symbol(m->symbols, "main", &m->main);
    }
    *main = m->main;
    return m->has_main;
}

/* All of its code; false: it cannot be had. */
static bool fetch(struct sp_functions *f, const struct sp_function_code *x)
{
    struct sp_mcode *code = f->modules.v[x->module].code;
    uint64_t n = x->end - x->start;
    if (n > FUNCTION_MAX)
        return false;
    if (!sp_vec_reserve(&f->bytes, (size_t)n + 1)) {
        functions_fail(f, SPAA_ERR_NOMEM);
        return false;
    }
    f->bytes.n = sp_mcode_read(code, x->start, f->bytes.v, (size_t)n);
    if (sp_mcode_failed(code))
        functions_fail(f, sp_mcode_failed(code));
    return !f->failed && f->bytes.n == n;
}

/* What pads functions, which nobody is meant to get to. */
static bool is_padding(unsigned machine, const unsigned char *p, const struct sp_insn *x)
{
    if (machine == SP_MACHINE_AARCH64)
        return p[0] == 0x1f && p[1] == 0x20 && p[2] == 0x03 && p[3] == 0xd5;
    size_t i = 0;
    while (i < x->len && (p[i] == 0x66 || p[i] == 0x2e))
        i++;
    return i < x->len && (p[i] == 0x90 || (i + 1 < x->len && p[i] == 0x0f && p[i + 1] == 0x1f));
}

/* movslq (TABLE,I,4),%r; add %base,%r; jmp *%r: a table of distances within the function. */
static bool is_switch(const unsigned char *jump, size_t n, const unsigned char *add, size_t add_n,
                      const unsigned char *load, size_t load_n)
{
    if (add_n != 3 || load_n < 4 || (add[0] & 0xf8) != 0x48 || (load[0] & 0xf8) != 0x48 ||
        (add[1] != 0x01 && add[1] != 0x03) || add[2] < 0xc0 || load[1] != 0x63 || load[2] >= 0xc0)
        return false;
    unsigned high = n == 3 && jump[0] == 0x41 ? 8 : 0, modrm = jump[n - 1];
    if ((n != 2 && !(n == 3 && high)) || jump[n - 2] != 0xff || modrm < 0xe0 || modrm > 0xe7)
        return false;
    unsigned rm = (add[2] & 7u) | (add[0] & 1u) << 3, reg = (add[2] >> 3 & 7u) | (add[0] & 4u) << 1;
    unsigned to = add[1] == 0x01 ? rm : reg, loaded = (load[2] >> 3 & 7u) | (load[0] & 4u) << 1;
    return to == ((modrm & 7u) | high) && (loaded == rm || loaded == reg);
}

static bool add_to(struct sp_functions *f, uint32_t first, struct sp_code_exit e)
{
    for (size_t i = first; i < f->to.n; i++)
        if (f->to.v[i].name == e.name && f->to.v[i].to == e.to)
            return true;
    if (f->to.n - first >= EXITS_MAX)
        return false;
    if (f->to.n < UINT32_MAX && sp_vec_push(&f->to, e))
        return true;
    functions_fail(f, SPAA_ERR_NOMEM);
    return false;
}

/* Where a jump or a call goes; false: nobody can say. */
static bool destination(const struct sp_functions *f, const struct sp_function_code *x,
                        const struct sp_insn *i, struct sp_code_exit *out)
{
    *out = (struct sp_code_exit){i->target, NULL};
    if (i->kind == SP_INSN_CALL || i->kind == SP_INSN_JUMP || i->kind == SP_INSN_BRANCH)
        return true;
    uint64_t place = 0;
    if (!i->slotted)
        return false;
    enum sp_slot what = sp_mcode_slot(f->modules.v[x->module].code, i->slot, &out->name, &place);
    out->to = what == SP_SLOT_PLACE ? place : 0;
    return what != SP_SLOT_UNKNOWN;
}

/* One pass for the jumps out of the function, or for its calls. */
static void collect(struct sp_functions *f, struct sp_function_code *x, bool calls, bool *open)
{
    unsigned machine = sp_mcode_machine(f->modules.v[x->module].code);
    const unsigned char *p = f->bytes.v;
    size_t before = 0, second = 0, n = f->bytes.n; /* lengths of the two instructions before */
    uint32_t first = (uint32_t)f->to.n;
    bool falls = true; /* out at the end */
    for (size_t at = 0; at < n && !f->failed && !*open;) {
        struct sp_insn i;
        struct sp_code_exit e;
        if (!sp_insn_read(machine, p + at, n - at, x->start + at, &i)) {
            *open = true;
            break;
        }
        bool call = i.kind == SP_INSN_CALL || i.kind == SP_INSN_CALL_INDIRECT;
        bool jump = i.kind == SP_INSN_JUMP || i.kind == SP_INSN_BRANCH || i.kind == SP_INSN_JUMP_INDIRECT;
        bool within = i.kind == SP_INSN_JUMP_INDIRECT && machine == SP_MACHINE_X86_64 && !i.slotted &&
                      is_switch(p + at, i.len, p + at - before, before, p + at - before - second, second);
        if ((calls ? call : jump) && !within) {
            if (!destination(f, x, &i, &e))
                *open = true;
            else if (call || e.name || e.to < x->start || e.to >= x->end)
                *open = !add_to(f, first, e);
        }
        if (!is_padding(machine, p + at, &i))
            falls = !call && i.kind != SP_INSN_JUMP && i.kind != SP_INSN_JUMP_INDIRECT &&
                    i.kind != SP_INSN_JUMP_WITHIN && i.kind != SP_INSN_STOP;
        second = before;
        before = i.len;
        at += i.len;
    }
    if (!calls && falls && !*open)
        *open = !add_to(f, first, (struct sp_code_exit){x->end, NULL});
}

bool sp_functions_exits(struct sp_functions *f, uint32_t function)
{
    struct sp_function_code *x = &f->functions.v[function];
    if (x->read || f->failed)
        return !f->failed;
    x->read = true;
    x->first_exit = (uint32_t)f->to.n;
    x->open = !fetch(f, x);
    collect(f, x, false, &x->open);
    x->exits = (uint32_t)f->to.n - x->first_exit;
    return !f->failed;
}

bool sp_functions_calls(struct sp_functions *f, uint32_t function)
{
    struct sp_function_code *x = &f->functions.v[function];
    if (x->calls_read || f->failed)
        return !f->failed;
    x->calls_read = true;
    x->first_call = (uint32_t)f->to.n;
    x->open_calls = !fetch(f, x);
    collect(f, x, true, &x->open_calls);
    x->calls = (uint32_t)f->to.n - x->first_call;
    return !f->failed;
}

/* mov %rsp,%rbp; lea N(%rsp),%rbp; enter. */
static bool sets_frame_pointer(const unsigned char *p, size_t n)
{
    if (n == 3 && p[0] == 0x48)
        return (p[1] == 0x89 && p[2] == 0xe5) || (p[1] == 0x8b && p[2] == 0xec);
    if (n >= 4 && p[0] == 0x48 && p[1] == 0x8d)
        return (p[2] == 0x2c || p[2] == 0x6c || p[2] == 0xac) && p[3] == 0x24;
    return n == 4 && p[0] == 0xc8;
}

/* Bytes before the first instruction that sets the frame pointer, or is not known; -1: it cannot be read. */
static int32_t before_own_pointer(struct sp_functions *f, const struct sp_function_code *x)
{
    struct sp_insn i;
    size_t k = 0;
    if (!fetch(f, x))
        return -1;
    while (k < f->bytes.n &&
           sp_insn_read(SP_MACHINE_X86_64, f->bytes.v + k, f->bytes.n - k, x->start + k, &i) &&
           !sets_frame_pointer(f->bytes.v + k, i.len))
        k += i.len;
    return (int32_t)k;
}

bool sp_functions_frameless(struct sp_functions *f, uint32_t module, uint64_t at)
{
    enum { RSP = 7 };
    uint32_t function = sp_functions_at(f, module, at);
    const struct sp_cfi *cfi = function == UINT32_MAX ? NULL : cfi_of(f, &f->modules.v[module]);
    struct sp_cfi_row row;
    if (!cfi || sp_mcode_machine(f->modules.v[module].code) != SP_MACHINE_X86_64)
        return false;
    struct sp_function_code *x = &f->functions.v[function];
    if (at < x->start)
        return false;
    if (!x->pointer_read) {
        x->pointer_read = true;
        x->own_pointer = before_own_pointer(f, x);
    }
    return x->own_pointer >= (int64_t)(at - x->start) && sp_cfi_row(cfi, at, &row) && !row.signal &&
           row.cfa.how == SP_CFI_REG && row.cfa.reg == RSP;
}

unsigned sp_functions_kind_before(struct sp_functions *f, uint32_t function, uint64_t at)
{
    const struct sp_function_code *x = &f->functions.v[function];
    unsigned machine = sp_mcode_machine(f->modules.v[x->module].code);
    struct sp_insn i;
    if (at <= x->start || at > x->end || !fetch(f, x))
        return 0;
    for (size_t k = 0, end = (size_t)(at - x->start); k < end; k += i.len) {
        if (!sp_insn_read(machine, f->bytes.v + k, f->bytes.n - k, x->start + k, &i))
            return 0;
        if (k + i.len == end)
            return i.kind;
    }
    return 0;
}
