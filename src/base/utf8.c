#include "base/utf8.h"

static const struct sp_utf8_range hidden[] = {
    {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},         {0x61c, 0x61c},     {0x115f, 0x115f},
    {0x180e, 0x180e},   {0x200b, 0x200b},   {0x200e, 0x200f},     {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},     {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
    {0xfffe, 0xffff},   {0x1d173, 0x1d17a}, {0x1fffe, 0x1ffff},   {0x2fffe, 0x2ffff}, {0x3fffe, 0xe00ff},
    {0xe01f0, 0xeffff}, {0xffffe, 0xfffff}, {0x10fffe, 0x10ffff},
};

bool sp_utf8_in(const struct sp_utf8_range *r, size_t n, uint32_t c)
{
    size_t low = 0;
    while (n) {
        size_t half = n / 2;
        if (c > r[low + half].last) {
            low += half + 1;
            n -= half + 1;
        } else {
            if (c >= r[low + half].first)
                return true;
            n = half;
        }
    }
    return false;
}

bool sp_utf8_hidden(uint32_t c)
{
    return sp_utf8_in(hidden, sizeof hidden / sizeof hidden[0], c);
}

size_t sp_utf8_decode(const char *p, size_t n, uint32_t *out)
{
    const unsigned char *s = (const unsigned char *)p;
    size_t len = sp_utf8_bytes(s[0]);
    if (len < 2 || n < len) {
        *out = s[0];
        return len == 1;
    }
    uint32_t c = s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *out = c;
    return len;
}
