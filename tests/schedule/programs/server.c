/* A server: an acceptor in accept, pollers in epoll_wait that get a request every 5 ms (poller-0) or never
   (poller-1), and a client that waits for each answer in recv, 3 ms. */
#include "known.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

static int listener, ready, quit;
static int64_t until;
static struct sockaddr_in address;

__attribute__((noinline)) static void answer_request(int s)
{
    char c;
    if (recv(s, &c, 1, 0) == 1) {
        burn(3000000);
        send(s, &c, 1, MSG_NOSIGNAL);
    }
}

static void *poller(void *arg)
{
    int set = *(int *)arg, stop = 0;
    known_thread(arg == &ready ? "poller-0" : "poller-1");
    while (!stop) {
        struct epoll_event e;
        known_wait(POLL);
        int n = epoll_wait(set, &e, 1, -1);
        known_waited(POLL);
        if (n == 1 && e.data.fd == quit)
            stop = 1;
        else if (n == 1)
            answer_request(e.data.fd);
    }
    known_done();
    return 0;
}

static void *acceptor(void *arg)
{
    (void)arg;
    known_thread("acceptor");
    for (;;) {
        known_wait(NETWORK);
        int s = accept(listener, 0, 0);
        known_waited(NETWORK);
        if (s < 0)
            break;
        struct epoll_event e = {EPOLLIN, {.fd = s}};
        epoll_ctl(ready, EPOLL_CTL_ADD, s, &e);
    }
    known_done();
    return 0;
}

__attribute__((noinline)) static void ask(int s)
{
    char c = 'x';
    send(s, &c, 1, MSG_NOSIGNAL);
    known_wait(NETWORK);
    if (recv(s, &c, 1, 0) != 1)
        exit(3);
    known_waited(NETWORK);
}

static void *client(void *arg)
{
    (void)arg;
    known_thread("client");
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s, (struct sockaddr *)&address, sizeof address))
        exit(3);
    while (known_now() < until) {
        ask(s);
        nap(2000000);
    }
    close(s);
    known_done();
    return 0;
}

static int make_set(void)
{
    int set = epoll_create1(0);
    struct epoll_event e = {EPOLLIN, {.fd = quit}};
    epoll_ctl(set, EPOLL_CTL_ADD, quit, &e);
    return set;
}

int main(int argc, char **argv)
{
    known_begin("server");
    known_thread("server");
    until = known_now() + known_duration(argc, argv, 400);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 8) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        exit(3);
    quit = eventfd(0, EFD_SEMAPHORE);
    ready = make_set();
    static int silent;
    silent = make_set();
    pthread_t t[3], c;
    pthread_create(&t[0], 0, acceptor, 0);
    pthread_create(&t[1], 0, poller, &ready);
    pthread_create(&t[2], 0, poller, &silent);
    pthread_create(&c, 0, client, 0);
    pthread_join(c, 0);
    uint64_t one = 2;
    shutdown(listener, SHUT_RDWR);
    if (write(quit, &one, sizeof one) < 0)
        exit(3);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    known_done();
    known_print();
    return 0;
}
