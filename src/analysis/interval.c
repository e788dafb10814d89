#include "analysis/interval.h"

#include <math.h>

void sp_share_interval(double percent, int64_t n, double *lo, double *hi)
{
    const double z = 1.959963984540054, count = n > 0 ? (double)n : 1, p = percent / 100;
    double middle = (p + z * z / (2 * count)) / (1 + z * z / count);
    double half = z / (1 + z * z / count) * sqrt(p * (1 - p) / count + z * z / (4 * count * count));
    *lo = 100 * fmax(0, middle - half);
    *hi = 100 * fmin(1, middle + half);
}
