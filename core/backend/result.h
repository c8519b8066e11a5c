/* The results of a stage besides its blocks. */
#pragma once

#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

struct _AstroCleanResult; /* core/clean/clean.h */

/* Counted in visibilities of one product each; those of the point-spread function are not counted.
 */
typedef struct {
  guint64 used, outside, flagged, not_finite;
} AstroGridCounts;

/* The caller of a backend passes this to submit, which fills in what is known when it returns, and
 * to drain, which fills in what queued work has counted since. A stage writes its own members and
 * leaves the others alone. Pointers are memory of the caller; NULL if it does not want that member.
 */
typedef struct {
  /* convert, channelizer: components beyond the range of the output format, added to the value that
   * is there. A device knows them only when it is drained. */
  guint64 clipped;

  /* correlator, at the end of an integration: samples added in total, times channel_step, which is
   * the count of a baseline without losses. complete: no baseline had losses, and counts are not
   * written; else counts are the good samples behind each channel:baseline of the output. */
  guint64 samples;
  gboolean complete;
  guint32 *counts;

  /* gridder, by call (core/gridder/backend.h): whether dumps are added to the grid at once; the
   * longest baseline, and the reach of the grid, in wavelengths; how many channels are added up to
   * one; the planes of the grid; w of a plane, and the distance between planes (0: no correction in
   * w is needed); counts, and the sums of weights of each of the grid's channels. */
  gboolean adds_at_once;
  double longest, reach;
  guint channels_together;
  guint planes;
  double w, w_step;
  AstroGridCounts grid_counts;
  double *sums;
  guint64 *spread; /* visibilities spread so far, where those at one position are added up first */

  /* image, with its last plane: pixels of the image's middle that arguments ask for. */
  gpointer middle;

  /* clean: [channel][product] */
  struct _AstroCleanResult *cleaned;

  /* A stage outside the tree: a struct of its own, which the element points to before the first
   * block (astro_stage_result) and its backend fills in. NULL: nobody asks. */
  gpointer own;
} AstroResult;

ASTRO_END_DECLS
