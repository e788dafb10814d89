#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/memcheck.h>
static void lose(int n) { char *p = malloc(n); p[0] = 0; }
int main(int argc, char **argv)
{
    int *p = malloc(40), x;
    if (p[3] == 7) puts("seven");
    p[10] = 1;
    free(p);
    x = p[0];
    lose(100);
    if (argc > 1 && argv[1][0] == 'f') {
        if (!fork()) { lose(77); return 0; }
        wait(NULL);
    }
    if (argc > 1 && argv[1][0] == 'l') {
        VALGRIND_DO_LEAK_CHECK;
        lose(33);
        VALGRIND_DO_ADDED_LEAK_CHECK;
    }
    return x == 12345;
}
