/* What a stage gives beside its blocks. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

struct _AstroCleanResult; /* core/clean/clean.h */

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

  /* gridder: planes of the grid that begins; of a plane w, and what lies between planes,
   * wavelengths (0: nothing to correct in w). spread: visibilities that were spread so far, where
   * those of one place are added up before. */
  guint planes;
  double w, w_step;
  guint64 *spread;

  /* image, with its last plane: pixels of its middle, as arguments ask for them. */
  gpointer middle;

  /* clean: [channel][product] */
  struct _AstroCleanResult *cleaned;
} AstroResult;

G_END_DECLS
