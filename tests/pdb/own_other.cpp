static int (*volatile keep)(int);
static int hid(int x)
{
    return x * 11 - 4;
}
int viab(int x)
{
    keep = hid;
    return hid(x + 1);
}
