/* How the tile registers of AMX are configured, for the kernels and for what times them. */
#pragma once

#include <glib.h>

/* Eight tile registers of 16 rows by 64 bytes. Constant, so that the whole of it is in memory: the
 * compiler thinks that only its start is read. */
static const struct {
  guint8 palette, start, reserved[14];
  guint16 row_bytes[16];
  guint8 rows[16];
} tile_shape = {
  .palette = 1,
  .row_bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
  .rows = { 16, 16, 16, 16, 16, 16, 16, 16 },
};
