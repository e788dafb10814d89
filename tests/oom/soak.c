/*
 * A service that reads strangers' files for long: soak FILE-OR-FOLDER...
 *
 * One process opens so many inputs through the public interface (SOAK_INPUTS, 1500), files as they are and
 * with bytes changed by a fixed sequence, asks for the summary and writes SPAA. After each of them every
 * allocation and every descriptor is gone that came with it, the heap (with what libraries keep) does not
 * grow from the middle on, and what was answered, messages and all, is what a process says that has read
 * nothing else.
 */
#include "heap.h"
#include "sweep.h"

#include "base/hash.h"
#include "spaa/spaa.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 19, FILES_MAX = 2048, GROWTH_MAX = 1 << 18, WRONG_MAX = 10 };

static struct sweep_file files[FILES_MAX];
static size_t file_count;

static int keep(const struct sweep_file *f)
{
    struct sweep_file *to = &files[file_count];
    if (!f->n || file_count == FILES_MAX)
        return 0;
    *to = (struct sweep_file){strdup(f->path), malloc(f->n), f->n};
    if (!to->path || !to->bytes)
        return 1;
    memcpy(to->bytes, f->bytes, f->n);
    file_count++;
    return 0;
}

static void mix(uint64_t *hash, const void *p, size_t n)
{
    *hash = sp_hash_mix(*hash, sp_hash64(p ? p : "", p ? n : 0));
}

static void mix_messages(uint64_t *hash, const struct spaa_diagnostics *said)
{
    for (size_t i = 0; i < spaa_diagnostics_count(said); i++) {
        char *text = NULL;
        if (!spaa_diagnostics_text(said, i, 0, &text))
            mix(hash, text, strlen(text));
        spaa_free(text);
    }
}

static void ask(struct spaa_profile *p, const char *question, const char *argument, uint64_t *hash,
                struct spaa_diagnostics **said)
{
    const struct spaa_ask_options how = {.size = sizeof how, .question = question, .argument = argument};
    struct spaa_answer *answer = NULL;
    char *text = NULL;
    size_t n = 0;
    spaa_status st = spaa_ask(&p, 1, &how, &answer, said);
    mix(hash, &st, sizeof st);
    if (!st && !spaa_answer_render(answer, NULL, &text, &n, said))
        mix(hash, text, n);
    spaa_answer_free(answer);
    spaa_free(text);
}

static void write_as(struct spaa_profile *p, const char *format, uint64_t *hash,
                     struct spaa_diagnostics **said)
{
    const struct spaa_write_options how = {.size = sizeof how, .format = format};
    char *kept = NULL;
    size_t n = 0;
    spaa_status st = spaa_profile_write_memory(p, &kept, &n, &how, said);
    mix(hash, &st, sizeof st);
    if (!st)
        mix(hash, kept, n);
    spaa_free(kept);
}

/* SPAA and another format, the summary and another question. */
static void use(struct spaa_profile *p, size_t i, uint64_t *hash, struct spaa_diagnostics **said)
{
    static const char *const formats[] = {"pprof",      "folded",  "perf-script", "codeguru", "spindump",
                                          "speedscope", "firefox", "spt",         "dtrace"};
    struct spaa_question other = {.size = sizeof other};
    write_as(p, "spaa", hash, said);
    write_as(p, formats[i % (sizeof formats / sizeof *formats)], hash, said);
    ask(p, "summary", NULL, hash, said);
    if (!spaa_question_get(i % spaa_question_count(), &other))
        ask(p, other.name, other.takes_argument ? "main" : NULL, hash, said);
}

/* Input i, the caller's to free; NULL: out of memory. */
static unsigned char *input(size_t i, size_t *n)
{
    const struct sweep_file *f = &files[i % file_count];
    unsigned char *copy = malloc(f->n);
    uint64_t seed = i + 1;
    *n = f->n;
    if (copy)
        memcpy(copy, f->bytes, f->n);
    if (copy && i >= file_count)
        *n = sweep_damage(copy, f->n, &seed);
    return copy;
}

/* Input i, read and asked: a hash of all that was said. */
static uint64_t answer(size_t i)
{
    const struct spaa_open_options how = {.size = sizeof how, .samples = i % 3 == 0, .jobs = 1 + i % 2};
    struct spaa_diagnostics *said = NULL;
    struct spaa_profile *p = NULL;
    size_t n;
    unsigned char *bytes = input(i, &n);
    uint64_t hash = 0;
    if (!bytes)
        return 0;
    spaa_status st = spaa_profile_open_memory(bytes, n, files[i % file_count].path, &how, &p, &said);
    mix(&hash, &st, sizeof st);
    if (!st)
        use(p, i, &hash, &said);
    mix_messages(&hash, said);
    spaa_profile_free(p);
    spaa_diagnostics_free(said);
    free(bytes);
    return hash;
}

static size_t descriptors(void)
{
    size_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* All inputs, one after another; their hashes go to `to`. Returns how much was wrong. */
static int soak(size_t inputs, int to)
{
    int wrong = 0;
    size_t open = 0, middle = 0;
    for (size_t i = 0; i < inputs && wrong < WRONG_MAX; i++) {
        long before = heap.live;
        uint64_t hash = answer(i);
        size_t now = descriptors();
        if (i && (heap.live != before || now != open)) {
            printf("%s, input %zu: %ld allocations and %zu descriptors more\n", files[i % file_count].path, i,
                   heap.live - before, now - open);
            wrong++;
        }
        open = now;
        if (i == inputs / 2)
            middle = mallinfo2().uordblks;
        if (write(to, &hash, sizeof hash) != (ssize_t)sizeof hash)
            return wrong + 1;
    }
    size_t end = mallinfo2().uordblks;
    printf("%zu inputs of %zu files; the heap has %zu bytes in the middle, %zu at the end\n", inputs,
           file_count, middle, end);
    return wrong + (end > middle + GROWTH_MAX);
}

/* What a process answers that reads input i alone; false: it did not. */
static bool alone(size_t i, uint64_t *hash)
{
    int ends[2], status;
    if (pipe(ends))
        return false;
    pid_t child = fork();
    if (!child) {
        uint64_t own = answer(i);
        _exit(write(ends[1], &own, sizeof own) != (ssize_t)sizeof own);
    }
    close(ends[1]);
    bool ok = child > 0 && read(ends[0], hash, sizeof *hash) == (ssize_t)sizeof *hash;
    close(ends[0]);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status) &&
           ok;
}

/* This process reads nothing itself: those it makes have read nothing either. */
static int compare(size_t inputs, int from)
{
    int wrong = 0;
    for (size_t i = 0; i < inputs && wrong < WRONG_MAX; i++) {
        uint64_t together, own = 0;
        if (read(from, &together, sizeof together) != (ssize_t)sizeof together) {
            printf("%s, input %zu: the service is gone\n", files[i % file_count].path, i);
            return wrong + 1;
        }
        if (!alone(i, &own) || own != together) {
            printf("%s, input %zu: %s\n", files[i % file_count].path, i,
                   own ? "another answer than alone" : "no answer");
            wrong++;
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const char *asked = getenv("SOAK_INPUTS");
    size_t inputs = asked ? strtoul(asked, NULL, 10) : 1500;
    int ends[2], status = 1, wrong = sweep_files(argc, argv, FILE_MAX, keep);
    if (wrong || !file_count || pipe(ends))
        return 1;
    const char *save = getenv("SOAK_SAVE");
    if (save) {
        size_t n;
        unsigned char *bytes = input(strtoul(save, NULL, 10), &n);
        return !bytes || fwrite(bytes, 1, n, stdout) != n;
    }
    fflush(stdout);
    pid_t service = fork();
    if (!service) {
        close(ends[0]);
        wrong = soak(inputs, ends[1]);
        fflush(stdout);
        _exit(wrong != 0);
    }
    close(ends[1]);
    wrong = service < 0 ? 1 : compare(inputs, ends[0]);
    close(ends[0]);
    if (service > 0)
        waitpid(service, &status, 0);
    printf("%d wrong, the service ended with %d\n", wrong, status);
    return wrong || status;
}
