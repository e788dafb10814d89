/* System calls through libc. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define F __attribute__((noinline))
static char page[16384];
volatile long result;
F static long look(const char *path) {
    struct stat s;
    return stat(path, &s) ? 0 : s.st_size & 7;
}
F static long read_all(const char *path) {
    long sum = 0, n;
    int f = open(path, O_RDONLY);
    while ((n = read(f, page, sizeof page)) > 0) sum += n;
    close(f);
    return sum;
}
F static long read_lines(const char *path) {
    char line[256];
    long n = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) n += (long)strlen(line) & 1;
    if (f) fclose(f);
    return n;
}
F static long visit(const char *path) { return look(path) + read_all(path) + read_lines(path); }
int main(int argc, char **argv) {
    (void)argc;
    for (int r = 0; r < 30000; r++) result += visit("/proc/self/maps") + read_all(argv[0]);
    return 0;
}
