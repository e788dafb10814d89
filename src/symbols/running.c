/*
 * Whether the kernel that runs here is the one that was recorded.
 *
 * Its build-id says so. Recordings through a pipe, compressed ones and those of `perf record -B` have none:
 * then the machine's name, the kernel's release and the address of _text (another one after each boot with
 * KASLR) must all be recorded and be those of here. What is not told is not taken for equal: wrong names are
 * worse than none.
 */
#include "io/file.h"
#include "symbols/internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* The build-id of the running kernel; "" when it cannot be had. */
static spaa_status running_id(struct sp_diags *d, char id[static 2 * SP_BUILD_ID_MAX + 1])
{
    static const char digits[] = "0123456789abcdef";
    char *notes;
    size_t n, at = 0;
    id[0] = '\0';
    spaa_status st = sp_file_slurp("/sys/kernel/notes", (size_t)1 << 20, d, &notes, &n);
    if (st != SPAA_OK)
        return sp_file_fatal(st);
    while (n - at >= 12 && !id[0]) {
        uint32_t h[3]; /* sizes of name and content, type; both are padded to 4 bytes */
        memcpy(h, notes + at, sizeof h);
        size_t name = ((size_t)h[0] + 3) & ~(size_t)3, desc = ((size_t)h[1] + 3) & ~(size_t)3;
        at += sizeof h;
        if (name > n - at || desc > n - at - name)
            break;
        if (h[2] == NT_GNU_BUILD_ID && h[0] == 4 && !memcmp(notes + at, "GNU", 4) &&
            h[1] <= SP_BUILD_ID_MAX) {
            for (size_t i = 0; i < h[1]; i++) {
                id[2 * i] = digits[(unsigned char)notes[at + name + i] >> 4];
                id[2 * i + 1] = digits[notes[at + name + i] & 15];
            }
            id[2 * h[1]] = '\0';
        }
        at += name + desc;
    }
    free(notes);
    return SPAA_OK;
}

spaa_status sp_running_build(const char *id, struct sp_diags *d, bool *same)
{
    char running[2 * SP_BUILD_ID_MAX + 1];
    spaa_status st = running_id(d, running);
    *same = st == SPAA_OK && running[0] && sp_same_build_id(id, running);
    return st;
}

/* The reason in words, kept. */
static spaa_status doubt(struct sp_module *m, enum sp_why why, struct sp_buf *text)
{
    m->why = why;
    const char *words = sp_buf_cstr(text);
    m->other = text->failed ? NULL : sp_module_keep(m, words);
    return m->other ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* Whether host and release are those of here; if not, why not. */
static bool same_machine(const struct sp_module *m, struct sp_buf *why)
{
    const char *host = m->owner->host, *release = m->owner->release;
    struct utsname here;
    if (!host || !release || uname(&here) != 0)
        sp_buf_printf(why, "does not say which %s", host ? "release it is" : "host it was made on");
    else if (strcmp(host, here.nodename) != 0)
        sp_buf_printf(why, "was made on host %s, this is %s", host, here.nodename);
    else if (strcmp(release, here.release) != 0)
        sp_buf_printf(why, "is of release %s, here runs %s", release, here.release);
    return !why->len && !why->failed;
}

/* The same machine and release: whether it is the same boot, too. */
static spaa_status same_boot(struct sp_module *m, struct sp_buf *why, bool *same)
{
    struct sp_ksyms *k;
    spaa_status st = sp_ksyms_of(m->owner, SP_RUNNING_KALLSYMS, &k);
    if (st != SPAA_OK)
        return st;
    uint64_t here = sp_ksyms_at(k, m->key.kernel_ref), then = m->key.kernel_text;
    *same = here && here == then;
    if (k->restricted) {
        m->why = SP_WHY_RESTRICTED;
        m->other = k->path;
    } else if (here && here != then) {
        sp_buf_printf(why, "had %s at 0x%llx, here it is at 0x%llx", m->key.kernel_ref,
                      (unsigned long long)then, (unsigned long long)here);
        st = doubt(m, SP_WHY_BOOTED, why);
    }
    return st;
}

spaa_status sp_running_boot(struct sp_module *m, bool *same)
{
    const struct sp_symbols *s = m->owner;
    struct sp_buf why;
    spaa_status st;
    *same = false;
    if (!s->host && !s->release && !m->key.kernel_ref)
        return SPAA_OK; /* no recording of a whole machine: nothing to compare */
    sp_buf_init(&why, 0);
    bool machine = same_machine(m, &why);
    if (machine && !m->key.kernel_ref)
        sp_buf_puts(&why, "does not say where its _text was");
    st = why.len || why.failed ? doubt(m, SP_WHY_UNPROVEN, &why) : same_boot(m, &why, same);
    sp_buf_free(&why);
    return st;
}
