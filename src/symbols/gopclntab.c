/*
 * The functions of a Go program without a symbol table, by the table that its runtime walks stacks with
 * (.gopclntab, of Go 1.18 and later), which `-ldflags=-s` leaves.
 *
 * Places in it count from where the text begins. Later versions do not say where that is; it is .text where
 * Go's own linker made the file: then the program begins at `_rt0_…`. Where that does not fit, as with C's
 * start before it, nothing is taken.
 */
#include "io/file.h"
#include "symbols/internal.h"

#include <string.h>

#define TABLE_MAX ((size_t)512 << 20)
#define GO_1_18   0xfffffff0u
#define GO_1_20   0xfffffff1u

struct pclntab {
    const unsigned char *p;
    size_t n;
    bool big;
    unsigned word;
    uint64_t count, text, names, functions; /* the latter two: offsets in it */
};

/* A number of so many bytes; what lies outside is 0. */
static uint64_t pclntab_number(const struct pclntab *t, uint64_t at, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; at <= t->n && bytes <= t->n - at && i < bytes; i++)
        v |= (uint64_t)t->p[at + i] << 8 * (t->big ? bytes - 1 - i : i);
    return v;
}

static bool pclntab_head(struct pclntab *t)
{
    uint64_t magic = pclntab_number(t, 0, 4);
    if (t->n < 8 || (magic != GO_1_18 && magic != GO_1_20))
        return false;
    t->word = t->p[7];
    if (t->word != 4 && t->word != 8)
        return false;
    t->count = pclntab_number(t, 8, t->word);
    t->text = pclntab_number(t, 8 + 2u * t->word, t->word);
    t->names = pclntab_number(t, 8 + 3u * t->word, t->word);
    t->functions = pclntab_number(t, 8 + 7u * t->word, t->word);
    return t->names < t->n && t->functions < t->n && t->count < (t->n - t->functions) / 8;
}

static uint64_t pclntab_place(const struct pclntab *t, uint64_t i)
{
    return pclntab_number(t, t->functions + 8 * i, 4);
}

/* NULL: none that ends within the table. */
static const char *pclntab_name(const struct pclntab *t, uint64_t i)
{
    uint64_t at = t->functions + pclntab_number(t, t->functions + 8 * i + 4, 4) + 4;
    uint64_t name = t->names + pclntab_number(t, at, 4);
    bool there = name < t->n && memchr(t->p + name, '\0', t->n - name);
    return there && t->p[name] ? (const char *)t->p + name : NULL;
}

/* Where places count from; false: it is not known. */
static bool pclntab_base(const struct pclntab *t, const struct sp_elf *e, uint64_t *out)
{
    *out = t->text;
    if (t->text)
        return true;
    for (uint64_t i = 0; i < t->count; i++) {
        const char *name = pclntab_name(t, i);
        if (!name || strncmp(name, "_rt0_", 5) != 0 || e->entry != e->text + pclntab_place(t, i))
            continue;
        *out = e->text;
        return e->text != 0;
    }
    return false;
}

spaa_status sp_gopclntab_add(struct sp_module *m)
{
    unsigned char *bytes;
    struct pclntab t = {.big = m->elf.big};
    uint64_t base;
    spaa_status st = sp_elf_section(m->file, ".gopclntab", TABLE_MAX, m->owner->d, &bytes, &t.n, NULL);
    if (st == SPAA_ERR_NOT_FOUND)
        st = sp_elf_section(m->file, ".data.rel.ro.gopclntab", TABLE_MAX, m->owner->d, &bytes, &t.n, NULL);
    if (st)
        return sp_file_fatal(st);
    t.p = bytes;
    bool usable = pclntab_head(&t) && pclntab_base(&t, &m->elf, &base);
    if (!sp_symtab_keep(&m->tab, bytes))
        return SPAA_ERR_NOMEM;
    for (uint64_t i = 0; usable && i < t.count; i++) {
        uint64_t from = pclntab_place(&t, i), to = pclntab_place(&t, i + 1);
        const char *name = pclntab_name(&t, i);
        if (name && to > from && !sp_symtab_add(&m->tab, base + from, to - from, SP_BIND_GLOBAL, name))
            return SPAA_ERR_NOMEM;
    }
    if (usable && t.count)
        m->why = SP_WHY_NONE;
    return SPAA_OK;
}
