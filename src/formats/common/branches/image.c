/*
 * Addresses as linked and offsets in the file are one by the segments of the binary. The binary is --image,
 * or the file of the module's path where its build-id is that of the profile.
 */
#include "formats/common/branches/branches.h"

#include "dwarf/elf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

static spaa_status image_refuse(const struct sp_br_wants *w, const char *name, bool offsets,
                                struct sp_diags *d)
{
    static const char *const texts[] = {[SP_BR_LINKED] = "addresses as linked",
                                        [SP_BR_OFFSETS] = "offsets in the file",
                                        [SP_BR_TEXT] = "offsets from the first executable segment"};
    sp_emit_hint(d, SP_E860, SP_AT_NOTHING,
                 "`--image FILE` names the binary, whose segments say which these are",
                 "%s has %s, and the profile has %s of %s", w->format, texts[w->addresses],
                 texts[offsets ? SP_BR_OFFSETS : SP_BR_LINKED], name);
    return SPAA_ERR_UNSUPPORTED;
}

/* The binary that was named; it must be the one of the profile where both say which build they are. */
static spaa_status image_named(const char *path, const char *id, struct sp_diags *d, struct sp_elf *out)
{
    spaa_status st = sp_elf_read(path, d, out, NULL);
    if (st == SPAA_ERR_NOT_FOUND)
        sp_emit(d, SP_E001, SP_AT_NOTHING, "%s", path);
    else if (st == SPAA_ERR_INPUT)
        sp_emit_hint(d, SP_E010, SP_AT_NOTHING, "", "%s is no ELF file", path);
    else if (st == SPAA_ERR_NOMEM)
        return sp_nomem(d);
    else if (!st && *id && out->build_id[0] && !sp_same_build_id(id, out->build_id)) {
        sp_emit_hint(
            d, SP_E860, SP_AT_NOTHING, "an optimiser would take its addresses for those of other code",
            "%s is another build: its build-id is %s, that of the profile %s", path, out->build_id, id);
        st = SPAA_ERR_INPUT;
    }
    return st == SPAA_ERR_NOT_FOUND ? SPAA_ERR_INPUT : st;
}

/* The file where the module was, if it is still that; SPAA_ERR_NOT_FOUND: it is not. */
static spaa_status image_of_path(const char *path, const char *id, struct sp_diags *d, struct sp_elf *out)
{
    if (path[0] != '/' || !*id)
        return SPAA_ERR_NOT_FOUND;
    spaa_status st = sp_elf_read(path, d, out, NULL);
    if (st == SPAA_ERR_NOMEM)
        return sp_nomem(d);
    if (st || !sp_same_build_id(id, out->build_id))
        return SPAA_ERR_NOT_FOUND;
    return SPAA_OK;
}

/* From one way of counting to another. */
struct way {
    const struct sp_elf *image;
    bool from_offsets;
    enum sp_br_addresses to;
    uint64_t text; /* of SP_BR_TEXT */
};

/* Where the page of the first executable segment is linked; false: there is none. */
static bool image_text(const struct sp_elf *e, uint64_t *out)
{
    for (size_t i = 0; i < e->loads.n; i++)
        if (e->loads.v[i].exec) {
            *out = e->loads.v[i].vaddr & ~(uint64_t)(PAGE - 1);
            return true;
        }
    return false;
}

static bool image_offset(const struct sp_elf *e, uint64_t *address)
{
    for (size_t i = 0; i < e->loads.n; i++) {
        const struct sp_elf_load *l = &e->loads.v[i];
        if (*address >= l->vaddr && *address - l->vaddr < l->filesz) {
            *address = *address - l->vaddr + l->offset;
            return true;
        }
    }
    return false;
}

/* False: it is nowhere in the binary. */
static bool image_move(const struct way *w, uint64_t *address)
{
    if (*address == SP_BR_OUTSIDE)
        return true;
    if (w->from_offsets && w->to != SP_BR_OFFSETS && !sp_elf_vaddr(w->image, *address, address))
        return false;
    if (!w->from_offsets && w->to == SP_BR_OFFSETS)
        return image_offset(w->image, address);
    if (w->to != SP_BR_TEXT)
        return true;
    return !__builtin_sub_overflow(*address, w->text, address);
}

/* Moves both ends of all rows; those that lie nowhere go. Returns their counts. */
static uint64_t image_move_rows(const struct way *w, bool pairs, struct sp_br_rows *rows)
{
    uint64_t lost = 0;
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        struct sp_br_row row = rows->v[i];
        if (image_move(w, &row.a) && (!pairs || image_move(w, &row.b)))
            rows->v[n++] = row;
        else
            lost += row.count;
    }
    rows->n = n;
    return lost;
}

static void image_place(const struct way *w, struct sp_branches *b, struct sp_diags *d)
{
    uint64_t lost = image_move_rows(w, true, &b->branches);
    lost += image_move_rows(w, true, &b->ranges);
    lost += image_move_rows(w, false, &b->samples);
    if (lost)
        sp_emit(d, SP_L862, SP_AT_NOTHING, "%" PRIu64 " at addresses that no segment of the binary has",
                lost);
}

spaa_status sp_branches_place(const struct sp_profile *p, const struct sp_write_opts *opts,
                              const struct sp_br_wants *wants, struct sp_diags *d, struct sp_branches *b)
{
    const struct sp_dso *dso = &p->dsos.v[b->dso];
    const char *named = sp_own_opt(opts->own, opts->nown, "image"), *name = sp_pstr(p, dso->name).p,
               *id = sp_pstr(p, dso->build_id).p;
    bool offsets = dso->place.ips == SP_DSO_FILE_OFFSET,
         moves = offsets != (wants->addresses == SP_BR_OFFSETS) || wants->addresses == SP_BR_TEXT;
    struct sp_elf e = {0};
    struct way way = {.image = &e, .from_offsets = offsets, .to = wants->addresses};
    spaa_status st = SPAA_OK;
    if (dso->is_kernel) {
        sp_emit_hint(d, SP_E860, SP_AT_NOTHING, "`--binary NAME` picks another one", "%s: %s is the kernel's",
                     wants->format, name);
        return SPAA_ERR_UNSUPPORTED;
    }
    if (named)
        st = image_named(named, id, d, &e);
    else if (moves)
        st = image_of_path(name, id, d, &e);
    if (st == SPAA_ERR_NOT_FOUND || (!st && way.to == SP_BR_TEXT && !image_text(&e, &way.text)))
        st = image_refuse(wants, name, offsets, d);
    if (!st && moves)
        image_place(&way, b, d);
    sp_elf_free(&e);
    return st;
}
