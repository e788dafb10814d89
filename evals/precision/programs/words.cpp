// Counts the words of a file, sorts them by count, several times.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
using Count = std::pair<std::string, int>;
static std::unordered_map<std::string, int> count(const std::string &text)
{
    std::unordered_map<std::string, int> out;
    for (size_t i = 0; i < text.size();) {
        size_t end = text.find_first_of(" \n", i);
        end = end == std::string::npos ? text.size() : end;
        out[text.substr(i, end - i)]++;
        i = end + 1;
    }
    return out;
}
static std::vector<Count> sorted(const std::unordered_map<std::string, int> &counts)
{
    std::vector<Count> out(counts.begin(), counts.end());
    std::sort(out.begin(), out.end(), [](const Count &x, const Count &y) { return x.second != y.second ? x.second > y.second : x.first < y.first; });
    return out;
}
int main(int argc, char **argv)
{
    std::stringstream s;
    s << std::ifstream(argv[1]).rdbuf();
    std::string text = s.str();
    size_t sum = 0;
    for (int i = 0; i < (argc > 2 ? std::stoi(argv[2]) : 5); i++)
        sum += sorted(count(text))[0].first.size();
    std::cout << sum << "\n";
}
