/* Ping-pong over pipes (or, with "sockets", a socketpair) between two processes: the child works 1 ms for
   each round, the parent waits for it. */
#include "known.h"

#include <sys/socket.h>

static enum known_reason why = PIPE;

__attribute__((noinline)) static int receive(int from)
{
    char c;
    known_wait(why);
    long n = read(from, &c, 1);
    known_waited(why);
    return n == 1;
}

__attribute__((noinline)) static void give(int to)
{
    if (write(to, "x", 1) != 1)
        exit(3);
}

int main(int argc, char **argv)
{
    known_begin("pipes");
    int64_t until = known_now() + known_duration(argc, argv, 300);
    int there[2], back[2];
    if (argc > 2 && !strcmp(argv[2], "sockets")) {
        int s[2];
        why = NETWORK;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
            exit(3);
        there[0] = back[1] = s[0];
        there[1] = back[0] = s[1];
    } else if (pipe(there) || pipe(back))
        exit(3);
    int child = fork();
    known_thread(child ? "parent" : "child");
    if (!child) {
        close(there[1]);
        while (receive(there[0])) {
            burn(1000000);
            give(back[1]);
        }
        known_done();
        _exit(0);
    }
    if (why == PIPE)
        close(there[0]);
    while (known_now() < until) {
        give(there[1]);
        if (!receive(back[0]))
            break;
    }
    shutdown(there[1], SHUT_WR);
    if (why == PIPE)
        close(there[1]);
    known_wait(CHILD);
    waitpid(child, 0, 0);
    known_waited(CHILD);
    known_done();
    known_print();
    return 0;
}
