/*
 * The files of an archive into the store. It may be a stranger's: each file is first written where nobody
 * sees it, and has to be what its name says. Names lead nowhere else, for what they become is made of the
 * build-id.
 */
#include "run/symbols.h"

#include "io/tar.h"
#include "io/temporary.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 100000u
#define BYTES_MAX   ((uint64_t)64 << 30)
#define FROM_MAX    PATH_MAX

/* Bytes of the input, to a descriptor or (-1) nowhere. */
static spaa_status unpack_bytes(struct sp_run *run, struct sp_input *in, uint64_t n, int fd)
{
    while (n) {
        const unsigned char *p;
        size_t got;
        spaa_status st = sp_input_peek(in, 1, &p, &got);
        if (st)
            return st;
        if (!got) {
            sp_emit(run->diags, SP_E002, SP_AT(sp_input_offset(in)),
                    "the archive ends in the middle of a file");
            return SPAA_ERR_INPUT;
        }
        got = n < got ? (size_t)n : got;
        if (fd >= 0 && !sp_temporary_write(fd, p, got))
            return sp_temporary_failed(run->diags, "a file of the archive");
        sp_input_consume(in, got);
        n -= got;
    }
    return SPAA_OK;
}

/* The path that a build had elsewhere: a line of text. */
static spaa_status unpack_from(struct sp_run *run, const char *store, int fd, const struct symbols_file *f)
{
    char text[FROM_MAX + 1];
    ssize_t n = f->bytes <= FROM_MAX ? pread(fd, text, FROM_MAX, 0) : 0;
    if (n <= 0)
        return SPAA_OK;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return *text ? sp_run_symbols_put_name(run, store, f->id, text) : SPAA_OK;
}

/* One file; *last is the build that was put there last. */
static spaa_status unpack_file(struct sp_run *run, const char *store, struct sp_input *in,
                               struct symbols_file *f, int64_t seconds, const char *last)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)seconds}};
    bool from = strcmp(f->part, SP_STORE_FROM) == 0;
    int fd = sp_temporary_file();
    if (fd < 0)
        return sp_temporary_failed(run->diags, "a file of the archive");
    spaa_status st = unpack_bytes(run, in, f->bytes, fd);
    if (!st && !from && !futimens(fd, times)) /* the copy takes it over */
        st = sp_run_symbols_put(run, store, fd, f);
    else if (!st && strcmp(last, f->id) == 0)
        st = unpack_from(run, store, fd, f);
    close(fd);
    return st;
}

/* What a name stands for; false: it is not kept, and why. */
static bool unpack_name(const struct sp_tar_entry *e, char id[static SP_STORE_ID_ROOM],
                        struct symbols_file *f)
{
    static const char folder[] = ".build-id/";
    const char *name = strncmp(e->name, "./", 2) == 0 ? e->name + 2 : e->name;
    f->why = !e->regular ? "it is no file" : "its name is not one of a store";
    return e->regular && strncmp(name, folder, sizeof folder - 1) == 0 &&
           sp_store_name(name + sizeof folder - 1, id, f->part);
}

static spaa_status unpack_entry(struct sp_run *run, const char *store, struct sp_input *in,
                                const struct sp_tar_entry *e, char last[static SP_STORE_ID_ROOM],
                                struct symbols_files *out)
{
    char id[SP_STORE_ID_ROOM];
    struct symbols_file f = {.name = e->name, .bytes = e->size, .status = SYMBOLS_REFUSED, .hint = ""};
    size_t n = strlen(e->name);
    bool takes = unpack_name(e, id, &f);
    spaa_status st = SPAA_OK;
    if (takes) {
        f.id = id;
        f.path = e->name;
        st = unpack_file(run, store, in, &f, e->seconds, last);
    } else {
        st = unpack_bytes(run, in, e->size, -1);
    }
    if (!st)
        st = unpack_bytes(run, in, -e->size % SP_TAR_BLOCK, -1);
    if (!st && takes && f.status <= SYMBOLS_THERE)
        memcpy(last, id, sizeof id);
    bool folder = !e->regular && n && e->name[n - 1] == '/', from = takes && !strcmp(f.part, SP_STORE_FROM);
    return st || folder || from ? st : sp_run_symbols_files_add(run, out, &f);
}

spaa_status sp_run_symbols_unpack(struct sp_run *run, const char *store, struct sp_input *in,
                                  struct symbols_files *out)
{
    struct sp_tar_entry e;
    char last[SP_STORE_ID_ROOM] = "";
    uint64_t bytes = 0;
    bool there = true;
    spaa_status st = SPAA_OK;
    for (unsigned i = 0; !st; i++) {
        st = sp_tar_next(in, &e, &there);
        if (st == SPAA_ERR_INPUT && !sp_input_failed(in))
            sp_emit(run->diags, SP_E002, SP_AT(sp_input_offset(in)),
                    "the archive is damaged or cut off here");
        if (st || !there)
            break;
        bytes += e.size;
        if (i >= ENTRIES_MAX || bytes > BYTES_MAX) {
            sp_emit(run->diags, SP_E007, SP_AT(sp_input_offset(in)),
                    "an archive of more than %u files or 64 GiB", ENTRIES_MAX);
            return SPAA_ERR_LIMIT;
        }
        st = unpack_entry(run, store, in, &e, last, out);
    }
    return st ? st : sp_input_failed(in);
}
