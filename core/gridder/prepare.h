/* Visibilities made ready for gridding, and kept until they are gridded. */
#pragma once

#include "core/gridder/dumps.h"
#include "core/gridder/weighting.h"

G_BEGIN_DECLS

typedef struct _AstroPrepare AstroPrepare;

/* The host's way to prepare, or a device's, whose rows have device pointers. */
typedef struct {
  /* grid: its geometry and products. Fails where the observation lacks what is needed: positions,
   * phase centre, start, basis. Keeps a reference to the observation. */
  AstroPrepare *(*create)(const AstroPrepareConfig *config, const AstroGrid *grid,
                          AstroObservation *observation, const AstroPlace *place, GError **error);
  void (*destroy)(AstroPrepare *prepare);
  /* Adds one dump (number) of a buffer of that shape; middle_ns: the time of its middle,
   * nanoseconds after the observation's start. The weight of a correlation is its fraction of good
   * samples, that of a product the harmonic mean of the correlations it is made of. All products of
   * a visibility have one weight, the least of them, so that they are used or left out together.
   * validity NULL: all samples are good. uvw: metres, 3 a baseline, in place of those that the
   * positions of the stations give; NULL: there are none. */
  gboolean (*add)(AstroPrepare *prepare, gconstpointer dump, const AstroValidityMeta *validity,
                  const AstroLayout *shape, guint64 number, gint64 middle_ns, const double *uvw,
                  GError **error);
  /* Counts a dump that was lost. */
  void (*add_missing)(AstroPrepare *prepare);
  void (*rows)(AstroPrepare *prepare, AstroGridRows *rows);
  /* Before the first dump: most rows are kept in memory; where more come, all are kept in a file,
   * of which `part` are in memory at once. A dump's rows are there whatever these say. NULL: all
   * are always kept where they are. */
  void (*limit)(AstroPrepare *prepare, guint64 most, guint64 part);
  /* Sets *store to the file that has all rows, or to NULL: all are in memory. NULL: there is
   * no limit. */
  gboolean (*stored)(AstroPrepare *prepare, AstroRowStore **store, GError **error);
  /* Replaces the natural weights of all visibilities kept. */
  gboolean (*weigh)(AstroPrepare *prepare, AstroWeighting weighting, double robust,
                    gboolean per_channel, GError **error);
  /* sums: of the weights, one a channel. */
  gboolean (*totals)(AstroPrepare *prepare, const AstroGridCounts **counts, const double **sums,
                     GError **error);
  /* Frees the memory that weigh needs: it will not be called again. May be NULL. */
  void (*drop_weights)(AstroPrepare *prepare);
  /* Leaves no rows, but counts and sums as they are. drop frees the memory, forget keeps it. */
  void (*forget_rows)(AstroPrepare *prepare);
  void (*drop_rows)(AstroPrepare *prepare);
  gboolean (*reset_counts)(AstroPrepare *prepare, GError **error);
} AstroPrepareFuncs;

/* The host's. */
extern const AstroPrepareFuncs astro_prepare_funcs;

G_END_DECLS
