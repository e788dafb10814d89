/* The C++ library: sort, map, string streams and regular expressions; partly instantiated here, partly in libstdc++. */
#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>
#define F __attribute__((noinline))
volatile unsigned long result;

F static std::vector<std::string> make_lines(unsigned seed) {
    std::vector<std::string> lines;
    for (int i = 0; i < 60; i++) {
        std::ostringstream out;
        seed = seed * 1664525u + 1013904223u;
        out << "order-" << seed % 100000 << " price " << (double)(seed % 1000) / 7 << " EUR";
        lines.push_back(out.str());
    }
    return lines;
}
F static void sort_lines(std::vector<std::string> &lines) { std::sort(lines.begin(), lines.end()); }
F static unsigned long count_words(const std::vector<std::string> &lines) {
    std::map<std::string, int> seen;
    for (const auto &line : lines) {
        std::istringstream in(line);
        std::string word;
        while (in >> word) seen[word]++;
    }
    return seen.size();
}
F static unsigned long match(const std::vector<std::string> &lines, const std::regex &what) {
    unsigned long n = 0;
    for (size_t i = 0; i < lines.size(); i += 6) n += std::regex_search(lines[i], what);
    return n;
}
F static unsigned long handle(unsigned seed, const std::regex &what) {
    auto lines = make_lines(seed);
    sort_lines(lines);
    return count_words(lines) + match(lines, what);
}
int main() {
    std::regex what("price ([0-9]+)\\.[0-9]*4");
    for (unsigned r = 0; r < 12000; r++) result += handle(r, what);
}
