/*
 * The container: a file of blocks, streams made of them, and a directory that is a stream itself.
 *
 * The first block says how large blocks are, how many there are, and where the list of the directory's blocks
 * is. That list may take several blocks: Microsoft's reader has their numbers one behind the other in the
 * first block, LLVM's takes those behind the first one; where the second number is 0 it is LLVM's way.
 *
 * A block belongs to one stream. So all streams together are not larger than the file, which is checked: it
 * bounds what a file can cost.
 */
#include "pdb/private.h"

#include "io/file.h"

#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_MIN = 512, BLOCK_MAX = 65536, HEADER_BYTES = 52 };

static const char magic[] = "Microsoft C/C++ MSF 7.00\r\n\032DS\0\0";
static const char magic_2[] = "Microsoft C/C++ program database 2.00\r\n\032JG";

/* The file as it was when it was opened, or not at all. */
static bool msf_reopen(struct sp_msf *m)
{
    struct stat st;
    uint64_t size;
    if (m->fd >= 0)
        return true;
    m->fd = sp_file_open(m->path, &size);
    if (m->fd >= 0 && size == m->size && !fstat(m->fd, &st) && st.st_dev == m->dev && st.st_ino == m->ino)
        return true;
    sp_emit(m->d, SP_E014, SP_AT_NOTHING, "%s", m->path);
    m->failed = SPAA_ERR_IO;
    return false;
}

static bool msf_read_file(struct sp_msf *m, uint64_t at, void *out, size_t n)
{
    if (m->failed || at > m->size || n > m->size - at || !msf_reopen(m))
        return false;
    m->failed = sp_file_read(m->fd, m->size, at, out, n, m->path, m->d);
    m->bytes_read += n;
    return !m->failed;
}

void sp_msf_rest(struct sp_msf *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}

/* Bytes behind one another in a list of blocks; neighbours in the file are read at once. */
static bool msf_read_blocks(struct sp_msf *m, const uint32_t *blocks, uint32_t at, void *out, size_t n)
{
    unsigned char *to = out;
    for (size_t done = 0; done < n;) {
        uint64_t here = at + (uint64_t)done;
        size_t i = (size_t)(here / m->block), in = (size_t)(here % m->block), run = m->block - in;
        for (size_t k = i; run < n - done && blocks[k + 1] == blocks[k] + 1; k++)
            run += m->block;
        run = run < n - done ? run : n - done;
        if (blocks[i] >= m->nblocks || !msf_read_file(m, (uint64_t)blocks[i] * m->block + in, to + done, run))
            return false;
        done += run;
    }
    return true;
}

uint32_t sp_msf_size(const struct sp_msf *m, uint32_t stream)
{
    return stream < m->nstreams ? m->streams[stream].size : 0;
}

bool sp_msf_read(struct sp_msf *m, uint32_t stream, uint32_t at, void *out, size_t n)
{
    uint32_t size = sp_msf_size(m, stream);
    return at <= size && n <= size - at &&
           (!n || msf_read_blocks(m, m->blocks + m->streams[stream].first, at, out, n));
}

unsigned char *sp_msf_load(struct sp_msf *m, uint32_t stream, uint32_t at, uint32_t n)
{
    uint32_t size = sp_msf_size(m, stream);
    if (at > size || n > size - at)
        return NULL;
    unsigned char *p = calloc(1, (size_t)n + 4);
    if (!p)
        m->failed = SPAA_ERR_NOMEM;
    if (p && !sp_msf_read(m, stream, at, p, n)) {
        free(p);
        return NULL;
    }
    return p;
}

static size_t blocks_for(const struct sp_msf *m, uint32_t bytes)
{
    return (size_t)(((uint64_t)bytes + m->block - 1) / m->block);
}

/* The numbers of the directory's blocks; NULL: damaged, or failed. */
static uint32_t *msf_directory_blocks(struct sp_msf *m, uint32_t map_at, size_t n)
{
    size_t each = m->block / 4;
    uint32_t *list = malloc((n + 1) * sizeof *list), map = map_at;
    unsigned char *raw = malloc(m->block), next[4];
    bool ok = list && raw;
    if (!ok)
        m->failed = SPAA_ERR_NOMEM;
    for (size_t i = 0; ok && i < n; i += each) {
        size_t k = n - i < each ? n - i : each, number = i / each;
        if (number) {
            ok = (HEADER_BYTES + 4 * (number + 1) > m->block) ||
                 msf_read_file(m, HEADER_BYTES + 4 * number, next, 4);
            uint32_t said = HEADER_BYTES + 4 * (number + 1) > m->block || !ok ? 0 : sp_pdb_u32(next);
            map = said ? said : map_at + (uint32_t)number;
        }
        ok = ok && map < m->nblocks && msf_read_file(m, (uint64_t)map * m->block, raw, k * 4);
        for (size_t j = 0; ok && j < k; j++)
            list[i + j] = sp_pdb_u32(raw + 4 * j);
    }
    free(raw);
    if (!ok) {
        free(list);
        return NULL;
    }
    list[n] = 0;
    return list;
}

/* Sizes, then the blocks of each stream. False: damaged, or failed. */
static bool msf_take_directory(struct sp_msf *m, const unsigned char *dir, uint32_t n)
{
    uint32_t count = n >= 4 ? sp_pdb_u32(dir) : 0;
    uint64_t at = 4 + (uint64_t)4 * count, total = 0;
    if (!count || at > n)
        return false;
    m->streams = calloc(count, sizeof *m->streams);
    m->blocks = malloc(((n - at) / 4 + 1) * sizeof *m->blocks);
    if (!m->streams || !m->blocks) {
        m->failed = SPAA_ERR_NOMEM;
        return false;
    }
    m->nstreams = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = sp_pdb_u32(dir + 4 + (size_t)4 * i);
        m->streams[i].size = size == SP_MSF_NIL ? 0 : size;
        m->streams[i].first = (uint32_t)total;
        total += blocks_for(m, m->streams[i].size);
        if (total > (n - at) / 4 || total > m->nblocks)
            return false;
    }
    for (size_t i = 0; i < total; i++)
        m->blocks[i] = sp_pdb_u32(dir + at + 4 * i);
    m->blocks[total] = 0;
    return true;
}

static bool msf_read_directory(struct sp_msf *m, uint32_t bytes, uint32_t map_at)
{
    size_t n = blocks_for(m, bytes);
    uint32_t *list = n && n <= m->nblocks ? msf_directory_blocks(m, map_at, n) : NULL;
    unsigned char *dir = list ? malloc(bytes) : NULL;
    if (list && !dir)
        m->failed = SPAA_ERR_NOMEM;
    bool ok = dir && msf_read_blocks(m, list, 0, dir, bytes) && msf_take_directory(m, dir, bytes);
    free(list);
    free(dir);
    return ok;
}

const char sp_pdb_cut_off[] = "a PDB that was cut off: it is shorter than it says";

/* What a file that is no PDB of this format is. */
static const char *msf_what(const unsigned char *head, size_t n)
{
    if (n >= 4 && !memcmp(head, "BSJB", 4))
        return "a portable PDB (of .NET): it tells of methods, not of addresses";
    if (n >= sizeof magic_2 - 1 && !memcmp(head, magic_2, sizeof magic_2 - 1))
        return "a PDB of the format before 7.00 (Visual C++ 6 and older), which is not read";
    return n ? "no PDB" : "empty";
}

spaa_status sp_msf_open(struct sp_msf *m, const char *path, struct sp_diags *d, const char **why)
{
    unsigned char head[HEADER_BYTES + 4] = {0};
    struct stat st;
    *m = (struct sp_msf){.path = path, .d = d};
    m->fd = sp_file_open(path, &m->size);
    if (m->fd < 0)
        return SPAA_ERR_NOT_FOUND;
    size_t n = m->size < sizeof head ? (size_t)m->size : sizeof head;
    if (fstat(m->fd, &st) || !msf_read_file(m, 0, head, n))
        return m->failed ? m->failed : SPAA_ERR_INPUT;
    m->dev = st.st_dev;
    m->ino = st.st_ino;
    *why = msf_what(head, n);
    if (n < sizeof head || memcmp(head, magic, sizeof magic) != 0)
        return SPAA_ERR_INPUT;
    m->block = sp_pdb_u32(head + 32);
    *why = "a damaged PDB: blocks of a size that there is not";
    if (m->block < BLOCK_MIN || m->block > BLOCK_MAX || m->block & (m->block - 1))
        return SPAA_ERR_INPUT;
    uint64_t said = sp_pdb_u32(head + 40), there = m->size / m->block + (m->size % m->block != 0);
    *why = sp_pdb_cut_off;
    if (said > there)
        return SPAA_ERR_INPUT;
    m->nblocks = (uint32_t)said;
    *why = "a damaged PDB: its directory of streams cannot be read";
    if (!msf_read_directory(m, sp_pdb_u32(head + 44), sp_pdb_u32(head + 52)))
        return m->failed ? m->failed : SPAA_ERR_INPUT;
    return SPAA_OK;
}

void sp_msf_close(struct sp_msf *m)
{
    sp_msf_rest(m);
    free(m->blocks);
    free(m->streams);
    m->blocks = NULL;
    m->streams = NULL;
    m->nstreams = 0;
}
