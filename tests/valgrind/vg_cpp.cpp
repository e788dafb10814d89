#include <map>
#include <memory>
#include <string>
#include <vector>
namespace app {
template <typename K, typename V> struct Cache {
    std::map<K, V> entries;
    void put(const K &k, V v) { entries.emplace(k, std::move(v)); }
    auto size() const { return entries.size(); }
};
struct Job {
    std::vector<int> data;
    std::string name;
    Job(int n, std::string s) : data(n), name(std::move(s)) {}
};
static Cache<std::string, std::unique_ptr<Job>> *cache;
auto fill = [](int n) {
    for (int i = 0; i < n; i++)
        cache->put("a key that is long enough to be on the heap " + std::to_string(i),
                   std::make_unique<Job>(100 + i, "job number " + std::to_string(i) + " with a long name"));
};
struct Op { int operator()(int n) const { fill(n); return n; } };
}
int main()
{
    app::cache = new app::Cache<std::string, std::unique_ptr<app::Job>>;
    app::Op()(50);
    std::vector<std::string> v;
    for (int i = 0; i < 200; i++) v.push_back(std::string(40, 'x'));
    int n = (int)app::cache->size();
    app::cache = nullptr;
    return n == 50 ? 0 : 1;
}
