#!/usr/bin/env python3
"""C++ sources whose code is mostly templates and what is inlined into them: gen_cpp.py --dir DIR --units N"""
import argparse
import os

UNIT = r'''#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace unit@N@ {
template <int K> struct Item {
    double v[K];
    std::string name;
    double dot(const Item &o) const { return std::inner_product(v, v + K, o.v, 0.0); }
    bool operator<(const Item &o) const { return name < o.name || dot(o) < o.dot(o); }
};
template <int K> struct Table {
    std::map<std::string, std::vector<Item<K>>> rows;
    std::unordered_map<int, std::shared_ptr<Item<K>>> index;
    std::set<Item<K>> sorted;
    void add(int n, const std::string &key) {
        Item<K> i{};
        std::iota(i.v, i.v + K, (double)n);
        i.name = key + std::to_string(n);
        rows[key].push_back(i);
        index[n] = std::make_shared<Item<K>>(i);
        sorted.insert(i);
    }
    double sum() const {
        double s = 0;
        for (auto &r : rows)
            for (auto &i : r.second)
                s += std::accumulate(i.v, i.v + K, 0.0, [](double a, double b) { return a + b * K; });
        return s;
    }
    std::string text() const {
        std::ostringstream o;
        for (auto &i : sorted)
            o << i.name << ' ' << i.dot(i) << '\n';
        return o.str();
    }
};
template <int K> double work(int n) {
    Table<K> t;
    std::function<void(int)> f = [&](int i) { t.add(i, i % 3 ? "odd" : "even"); };
    for (int i = 0; i < n; i++)
        f(i);
    std::vector<Item<K>> v;
    for (auto &r : t.rows)
        v.insert(v.end(), r.second.begin(), r.second.end());
    std::sort(v.begin(), v.end());
    std::stable_sort(v.begin(), v.end(), [](const Item<K> &a, const Item<K> &b) { return a.dot(a) < b.dot(b); });
    return t.sum() + (double)t.text().size();
}
double all(int n) { return @CALLS@; }
bool match(const std::string &s) { return std::regex_search(s, std::regex("a(b|c)*@N@[0-9]+")); }
}
'''


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--dir", required=True)
    ap.add_argument("--units", type=int, default=8)
    a = ap.parse_args()
    os.makedirs(a.dir, exist_ok=True)
    for n in range(a.units):
        calls = " + ".join(f"work<{n * 8 + k + 1}>(n)" for k in range(8))
        with open(os.path.join(a.dir, f"unit{n}.cpp"), "w", encoding="ascii") as f:
            f.write(UNIT.replace("@N@", str(n)).replace("@CALLS@", calls))
    with open(os.path.join(a.dir, "main.cpp"), "w", encoding="ascii") as f:
        f.write("#include <string>\n")
        for n in range(a.units):
            f.write(f"namespace unit{n} {{ double all(int); bool match(const std::string &); }}\n")
        f.write("int main(int argc, char **argv) { double s = 0;\n")
        for n in range(a.units):
            f.write(f"    s += unit{n}::all(argc) + unit{n}::match(argv[0]);\n")
        f.write("    return s > 1; }\n")


if __name__ == "__main__":
    main()
