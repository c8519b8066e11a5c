/* Visibilities as they come, made ready for gridding and held. */
#pragma once

#include "core/gridder/dumps.h"
#include "core/gridder/weighting.h"

G_BEGIN_DECLS

typedef struct _AstroPrepare AstroPrepare;

/* Whoever prepares: the host, or a device, whose rows hold device pointers. */
typedef struct {
  /* The grid's geometry and products; an error where the observation does not say what is needed:
   * positions, phase centre, start, basis. Keeps a reference to the observation. */
  AstroPrepare *(*create)(const AstroPrepareConfig *config, const AstroGrid *grid,
                          AstroObservation *observation, const AstroPlace *place, GError **error);
  void (*destroy)(AstroPrepare *prepare);
  /* Adds a dump, the one of that number in a buffer of shape, whose middle is that many nanoseconds
   * after the observation's start. A correlation's weight is its share of good samples; a product's
   * is the harmonic mean of those that it is made of, and all products of a visibility have one
   * weight, that of the worst: they are left out together. validity NULL: all is valid. uvw:
   * metres, 3 a baseline, which take the place of the stations'; NULL: the stations' hold. */
  gboolean (*add)(AstroPrepare *prepare, gconstpointer dump, const AstroValidityMeta *validity,
                  const AstroLayout *shape, guint64 number, gint64 middle_ns, const double *uvw,
                  GError **error);
  /* Counts a dump of which nothing came. */
  void (*add_missing)(AstroPrepare *prepare);
  void (*rows)(AstroPrepare *prepare, AstroGridRows *rows);
  /* Gives all that is held other weights than its own. */
  gboolean (*weigh)(AstroPrepare *prepare, AstroWeighting weighting, double robust,
                    gboolean per_channel, GError **error);
  /* sums: of weights, of each channel. */
  gboolean (*totals)(AstroPrepare *prepare, const AstroGridCounts **counts, const double **sums,
                     GError **error);
  /* What rows keep for weighing: they have been weighed for the last time. May be NULL. */
  void (*drop_weights)(AstroPrepare *prepare);
  /* Without rows; counts and sums stay. Dropping frees their memory, forgetting keeps it. */
  void (*forget_rows)(AstroPrepare *prepare);
  void (*drop_rows)(AstroPrepare *prepare);
  gboolean (*reset_counts)(AstroPrepare *prepare, GError **error);
} AstroPrepareFuncs;

/* The host's. */
extern const AstroPrepareFuncs astro_prepare_funcs;

G_END_DECLS
