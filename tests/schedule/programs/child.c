/* A parent in waitpid, for a child that works half of its time and sleeps the other half; the child's image
   is replaced twice (exec of itself), and its name with it. */
#include "known.h"

int main(int argc, char **argv)
{
    int64_t length = known_duration(argc, argv, 200);
    if (argc > 2) {
        int left = atoi(argv[2]);
        known_begin("child");
        known_thread(left == 2 ? "stage-one" : left == 1 ? "stage-two" : "stage-three");
        burn(length / 6);
        nap(length / 6);
        if (left) {
            char next[2] = {(char)('0' + left - 1), 0};
            execl("/proc/self/exe", argv[0], argv[1], next, (char *)0);
        }
        _exit(0);
    }
    known_begin("child");
    known_thread("parent");
    int child = fork();
    if (!child) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)(length / 1000000));
        execl("/proc/self/exe", argv[0], text, "2", (char *)0);
        _exit(3);
    }
    known_wait(CHILD);
    waitpid(child, 0, 0);
    known_waited(CHILD);
    known_done();
    known_print();
    return 0;
}
