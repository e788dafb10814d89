// Scales pictures with a library that is stripped of its symbols (images_lib.cpp). Planted: nearly all of it is one
// function of that library, which has no name any more.
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" void scale_image(const unsigned char *from, unsigned char *to, int n);

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 200;
    std::vector<unsigned char> from(1 << 20, 7), to(1 << 20);
    unsigned long sum = 0;
    for (int i = 0; i < rounds; i++) {
        scale_image(from.data(), to.data(), 1 << 20);
        for (unsigned char c : to)
            sum += c;
    }
    printf("%lu\n", sum);
}
