/* How sure a share is that was counted in samples. */
#ifndef SP_INTERVAL_H
#define SP_INTERVAL_H

#include <stdint.h>

/*
 * Wilson's 95 % interval of a share that was seen to be `percent` of n samples, in percent: which true shares
 * make that likely, if samples are independent of each other and weigh alike.
 */
void sp_share_interval(double percent, int64_t n, double *lo, double *hi);

#endif
