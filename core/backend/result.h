/* What a stage gives beside its blocks. */
#pragma once

#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

struct _AstroCleanResult; /* core/clean/clean.h */

/* In visibilities of one product each; the point-spread function is made of none. */
typedef struct {
  guint64 used, outside, flagged, not_finite;
} AstroGridCounts;

/* Who calls a backend hands this to submit, which fills in what it knows when it returns, and to
 * drain, which fills in what work that was queued has counted since. A stage writes its own members
 * and leaves the others alone. Pointers are room that the caller has made; NULL: it does not ask.
 */
typedef struct {
  /* convert, channelizer: components beyond the range of the output's format, added to what there
   * is. A device's are known when it is drained. */
  guint64 clipped;

  /* correlator, of an integration that ends: samples added in all, times channel_step, which is the
   * count of a baseline that lost nothing; complete: no baseline lost any, and counts are left
   * alone; else the good samples behind each channel:baseline of the output. */
  guint64 samples;
  gboolean complete;
  guint32 *counts;

  /* gridder, as it is called (core/gridder/backend.h): whether dumps go straight into the grid; in
   * wavelengths the longest baseline, and how far the grid holds visibilities; planes of the grid;
   * of a plane w, and what lies between planes (0: nothing to correct in w); counts, and sums of
   * weights of each of the grid's channels. */
  gboolean adds_at_once;
  double longest, reach;
  guint planes;
  double w, w_step;
  AstroGridCounts grid_counts;
  double *sums;
  guint64 *spread; /* visibilities spread so far, where those of one place are added up before */

  /* image, with its last plane: pixels of its middle, as arguments ask for them. */
  gpointer middle;

  /* clean: [channel][product] */
  struct _AstroCleanResult *cleaned;

  /* A stage outside the tree: a struct of its own, which the element points to before the first
   * block (astro_stage_result) and its backend fills in. NULL: nobody asks. */
  gpointer own;
} AstroResult;

ASTRO_END_DECLS
