/*
 * Lines by several threads.
 *
 * A text is cut into chunks at line ends. Any thread reads a chunk, which only looks at what is known; what
 * it came to is settled one chunk after the other in the order of the text, while others are read. Where
 * settling has to change what reading looks at, it asks to be alone, and is called again when no chunk is
 * being read.
 */
#ifndef SP_SPAA_CHUNKS_H
#define SP_SPAA_CHUNKS_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * When threads are worth it: for more than `least` bytes, in chunks of so many, once that many usual records
 * have shown what they look like. Small numbers are for tests.
 */
struct sp_chunking {
    unsigned jobs;
    size_t least, chunk;
    uint64_t learned;
};
#define SP_CHUNKING(n)                                                                                       \
    ((struct sp_chunking){.jobs = (n), .least = 4 << 20, .chunk = 64 << 10, .learned = 256})

enum sp_settled { SP_SETTLED, SP_NOT_ALONE, SP_STOP };

struct sp_chunk {
    const char *text, *end;
    void *result; /* zeroed before its first use; chunks use it again and again */
};

struct sp_chunk_work {
    void *arg;
    size_t result_size;
    void (*read)(void *arg, struct sp_chunk *c);
    enum sp_settled (*settle)(void *arg, struct sp_chunk *c, bool alone);
    void (*drop)(void *result); /* frees what it holds */
};

/* Complete lines, each of which ends with a newline. Fails only for want of memory, before anything is read.
 */
bool sp_chunks_run(const struct sp_chunk_work *w, const struct sp_chunking *how, const char *text,
                   const char *end);

#endif
