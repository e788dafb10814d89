/* printf, strtod and the mathematics: deep paths inside libraries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define F __attribute__((noinline))
static char line[256];
volatile double result;

F static int print_row(int i) { return snprintf(line, sizeof line, "%d;%s;%.3f;%08x", i, "name", i * 0.37, (unsigned)i * 77u); }
F static double parse_row(void) {
    char *at = line;
    double v = (double)strtol(at, &at, 10);
    return v + strtod("12345.678e3", NULL);
}
F static double curve(double x) { return sin(x) * exp(-x / 100) + pow(x, 0.3); }
F static double report(int i) {
    int n = print_row(i);
    return parse_row() + n;
}
F static double model(int i) {
    double sum = 0;
    for (int k = 0; k < 12; k++) sum += curve(i % 100 + k);
    return sum;
}
int main(void) {
    for (int i = 0; i < 2200000; i++) result += report(i) + model(i);
    return 0;
}
