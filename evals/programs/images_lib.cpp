namespace {
__attribute__((noinline)) int blend(int a, int b, int c)
{
    int x = a;
    for (int i = 0; i < 6; i++)
        x = (x * 31 + b) % (c + 251);
    return x;
}
}
extern "C" void scale_image(const unsigned char *from, unsigned char *to, int n)
{
    for (int i = 1; i + 1 < n; i++)
        to[i] = static_cast<unsigned char>(blend(from[i - 1], from[i], from[i + 1]));
}
