/* What `spaa info` shows of hang reports. */
#ifndef SP_CLI_INFO_H
#define SP_CLI_INFO_H

#include "answer.h"

/* info_io.c: `--io` */
int info_io(struct cli *c);
/* info_report.c: the machine, pressure, what was lost, which application was in front; nothing for other
 * profiles */
void info_report_text(struct cli *c);
void info_report_json(struct cli *c, struct sp_jw *w);

#endif
