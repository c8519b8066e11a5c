/* A gridding algorithm alone, on rows that are ready: how tests and benchmarks reach the
 * algorithms of a device. On the CPU they are called as they are (core/gridder/gridder.h). */
#pragma once

#include "core/gridder/gridder.h"

G_BEGIN_DECLS

typedef struct {
  const AstroGridAlgorithm *algorithm;
  AstroGridderConfig gridder;
  AstroGrid grid; /* as algorithm->choose left it; products are the caller's */
} AstroGriddingConfig;

/* submit: blocks in are uvw, wavenumbers and values of AstroGridRows, the block out is the grid.
 *
 * With planes: first begins with the rows and fills the first plane; submits after it have no
 * blocks in and fill the next ones, whatever the block held; a second block out is filled with the
 * map of the plane's touched tiles. The result says how many planes there are, and of each its w.
 * Without planes: every submit adds rows and finishes; first
 * begins with zeros. */
typedef struct {
  guint64 rows;
  guint channels;
  gboolean first;
} AstroGriddingArguments;

G_END_DECLS
