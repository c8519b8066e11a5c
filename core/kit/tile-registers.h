/* The configuration of AMX tile registers, for the kernels and for the measured peaks. */
#pragma once

#include <glib.h>

/* Eight tile registers of 16 rows by 64 bytes. It is constant so that all of it is in memory: the
 * compiler assumes that only its first bytes are read. */
static const struct {
  guint8 palette, start, reserved[14];
  guint16 row_bytes[16];
  guint8 rows[16];
} tile_shape = {
  .palette = 1,
  .row_bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
  .rows = { 16, 16, 16, 16, 16, 16, 16, 16 },
};
