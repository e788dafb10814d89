/* Parts of the writer of spindump reports. See writer.c. */
#ifndef SP_SPINDUMP_WRITE_H
#define SP_SPINDUMP_WRITE_H

#include "formats/hang_write.h"
#include "formats/spindump/spindump.h"

/* write_stacks.c: texts of frames (after a mark, '*' or ' ') and states, and the rows of a group */
uint32_t sp_sd_frame_text(struct sp_hang_writer *w, uint32_t frame);
uint32_t sp_sd_context_text(struct sp_hang_writer *w, uint32_t context);
bool sp_sd_put_rows(struct sp_hang_writer *w, struct sp_hang_group *g);

/* write_process.c */
bool sp_sd_put_processes(struct sp_hang_writer *w);

#endif
