/* Reads a file through a mapping after its pages were dropped: each page is a major fault, which waits for
   the disk. A second thread reads the same file with O_DIRECT. */
#include "known.h"

enum { PAGES = 2048, PAGE = 4096 };
static int64_t until;
static const char *path = "known-pages.tmp";

__attribute__((noinline)) static void touch(const volatile char *at)
{
    known_wait(FAULT);
    known_sink += (unsigned long)*at;
    known_waited(FAULT);
}

static void *faulter(void *arg)
{
    (void)arg;
    known_thread("faulter");
    while (known_now() < until) {
        int file = open(path, O_RDONLY);
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        char *m = mmap(0, (size_t)PAGES * PAGE, PROT_READ, MAP_SHARED, file, 0);
        if (m == MAP_FAILED)
            exit(3);
        madvise(m, (size_t)PAGES * PAGE, MADV_RANDOM);
        for (int i = 0; i < PAGES && known_now() < until; i += 7)
            touch(m + (size_t)i * PAGE);
        munmap(m, (size_t)PAGES * PAGE);
        close(file);
    }
    known_done();
    return 0;
}

__attribute__((noinline)) static void read_block(int file, char *to, int i)
{
    known_wait(DISK);
    if (pread(file, to, PAGE, (off_t)i * PAGE) < 0)
        exit(3);
    known_waited(DISK);
}

static void *reader(void *arg)
{
    (void)arg;
    known_thread("reader");
    int file = open(path, O_RDONLY | O_DIRECT);
    char *to = aligned_alloc(PAGE, PAGE);
    if (file >= 0)
        for (int i = 0; known_now() < until; i = (i + 11) % PAGES)
            read_block(file, to, i);
    free(to);
    known_done();
    return 0;
}

int main(int argc, char **argv)
{
    known_begin("faults");
    known_thread("faults");
    static char page[PAGE];
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (int i = 0; i < PAGES; i++)
        if (write(file, page, PAGE) != PAGE)
            exit(3);
    known_wait(DISK);
    fsync(file);
    known_waited(DISK);
    close(file);
    until = known_now() + known_duration(argc, argv, 150);
    pthread_t t[2];
    pthread_create(&t[0], 0, faulter, 0);
    pthread_create(&t[1], 0, reader, 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    unlink(path);
    known_done();
    known_print();
    return 0;
}
