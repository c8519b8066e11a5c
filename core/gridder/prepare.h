/* Visibilities as they come, made ready for gridding and held. */
#pragma once

#include "core/gridder/dumps.h"
#include "core/gridder/weighting.h"

G_BEGIN_DECLS

typedef struct _AstroPrepare AstroPrepare;

/* The grid's geometry and products; an error where the observation does not say what is needed:
 * positions, phase centre, start, basis. Keeps a reference to the observation. */
AstroPrepare *astro_prepare_new(const AstroPrepareConfig *config, const AstroGrid *grid,
                                AstroObservation *observation, GError **error);
void astro_prepare_free(AstroPrepare *prepare);

/* Adds a dump, the one of that number in a buffer of shape, whose middle is that many nanoseconds
 * after the observation's start. A correlation's weight is its share of good samples; a product's
 * is the harmonic mean of those that it is made of, and all products of a visibility have one
 * weight, that of the worst: they are left out together. validity NULL: all is valid. */
gboolean astro_prepare_add(AstroPrepare *prepare, gconstpointer dump,
                           const AstroValidityMeta *validity, const AstroLayout *shape,
                           guint64 number, gint64 middle_ns, GError **error);
/* Counts a dump of which nothing came. */
void astro_prepare_add_missing(AstroPrepare *prepare);

void astro_prepare_rows(AstroPrepare *prepare, AstroGridRows *rows);
/* Gives all that is held other weights than its own. */
gboolean astro_prepare_weigh(AstroPrepare *prepare, AstroWeighting weighting, double robust,
                             gboolean per_channel, GError **error);
const AstroGridCounts *astro_prepare_counts(AstroPrepare *prepare);
/* Of weights, of each channel. */
const double *astro_prepare_sums(AstroPrepare *prepare);
/* What rows keep for weighing: they have been weighed for the last time. */
void astro_prepare_drop_weights(AstroPrepare *prepare);
/* Without rows; counts and sums stay. Dropping frees their memory, forgetting keeps it. */
void astro_prepare_forget_rows(AstroPrepare *prepare);
void astro_prepare_drop_rows(AstroPrepare *prepare);
void astro_prepare_reset_counts(AstroPrepare *prepare);

/* What collecting (core/gridder/collect.h) calls of whoever prepares: the functions above, or those
 * of a device, whose rows hold device pointers. */
typedef struct {
  AstroPrepare *(*create)(const AstroPrepareConfig *config, const AstroGrid *grid,
                          AstroObservation *observation, const AstroPlace *place, GError **error);
  void (*destroy)(AstroPrepare *prepare);
  gboolean (*add)(AstroPrepare *prepare, gconstpointer dump, const AstroValidityMeta *validity,
                  const AstroLayout *shape, guint64 number, gint64 middle_ns, GError **error);
  void (*add_missing)(AstroPrepare *prepare);
  void (*rows)(AstroPrepare *prepare, AstroGridRows *rows);
  gboolean (*weigh)(AstroPrepare *prepare, AstroWeighting weighting, double robust,
                    gboolean per_channel, GError **error);
  gboolean (*totals)(AstroPrepare *prepare, const AstroGridCounts **counts, const double **sums,
                     GError **error);
  void (*drop_weights)(AstroPrepare *prepare); /* may be NULL */
  void (*forget_rows)(AstroPrepare *prepare);
  void (*drop_rows)(AstroPrepare *prepare);
  gboolean (*reset_counts)(AstroPrepare *prepare, GError **error);
} AstroPrepareFuncs;

extern const AstroPrepareFuncs astro_prepare_funcs;

G_END_DECLS
