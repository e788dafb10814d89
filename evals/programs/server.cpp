// A pool of 40 workers that handle lines. Planted: a std::regex is built for each line (validate), a log line
// is written by a system call of its own each time, and numbers are parsed with exceptions for bad ones.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <queue>
#include <regex>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex lock;
static std::condition_variable more;
static std::queue<std::string> lines;
static std::atomic<bool> done{false};
static std::atomic<long> good{0};
static int log_fd;

__attribute__((noinline)) static bool validate(const std::string &s)
{
    std::regex form("([a-z]+)-([0-9]{1,6})-([A-Z]{2,4})");
    return std::regex_match(s, form);
}

__attribute__((noinline)) static void write_log(const std::string &s)
{
    if (write(log_fd, s.data(), s.size()) < 0)
        good--;
}

__attribute__((noinline)) static int amount(const std::string &s)
{
    size_t at = s.find('-');
    if (at == std::string::npos)
        throw std::invalid_argument(s);
    return std::stoi(s.substr(at + 1));
}

__attribute__((noinline)) static void handle(const std::string &s)
{
    if (validate(s))
        good++;
    try {
        good += amount(s) & 1;
    } catch (const std::exception &) {
        good--;
    }
    write_log(s);
}

static void worker(int n)
{
    char name[16];
    snprintf(name, sizeof name, "http-%d", n);
    pthread_setname_np(pthread_self(), name);
    for (;;) {
        std::unique_lock<std::mutex> hold(lock);
        more.wait(hold, [] { return !lines.empty() || done; });
        if (lines.empty())
            return;
        std::string s = std::move(lines.front());
        lines.pop();
        hold.unlock();
        handle(s);
    }
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 60000;
    log_fd = memfd_create("log", 0);
    std::vector<std::thread> pool;
    for (int i = 0; i < 40; i++)
        pool.emplace_back(worker, i);
    for (long i = 0; i < count; i++) {
        std::string s = i % 16 == 0 ? "broken" : "order-" + std::to_string(i % 100000) + "-EUR";
        {
            std::lock_guard<std::mutex> hold(lock);
            lines.push(std::move(s));
        }
        more.notify_one();
    }
    done = true;
    more.notify_all();
    for (auto &t : pool)
        t.join();
    printf("%ld\n", good.load());
}
