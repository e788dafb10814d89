// Threads that hand strings over by a queue.
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>
static std::mutex lock;
static std::condition_variable ready;
static std::queue<std::string> queue;
static bool done;
static size_t total;
static void consume()
{
    for (;;) {
        std::unique_lock<std::mutex> l(lock);
        ready.wait(l, [] { return done || !queue.empty(); });
        if (queue.empty())
            return;
        std::string s = std::move(queue.front());
        queue.pop();
        l.unlock();
        size_t h = std::hash<std::string>()(s);
        l.lock();
        total += h & 1;
    }
}
int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(consume);
    for (int i = 0; i < 400000; i++) {
        std::lock_guard<std::mutex> l(lock);
        queue.push("a line of some length, number " + std::to_string(i));
        ready.notify_one();
    }
    {
        std::lock_guard<std::mutex> l(lock);
        done = true;
    }
    ready.notify_all();
    for (auto &t : threads)
        t.join();
    printf("%zu\n", total);
}
