/* Everything about dumps of visibilities that does not depend on who prepares them, host or device:
 * products, wavenumbers, (u,v,w), and where the count of good samples of a value is. */
#pragma once

#include "core/gridder/gridder.h"
#include "core/gridder/products.h"
#include "core/stream/observation.h"
#include "core/stream/track.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct {
  guint channels, baselines, pols; /* of a dump: channel:baseline:pol:pol */
  AstroFormat format;              /* CF32LE or CF64LE */
  double frequency, bandwidth;     /* Hz */
  gboolean is_double;              /* the prepared values */
  gboolean keep_weights;           /* for AstroPrepareFuncs.weigh */
  double smearing;                 /* see AstroDumps.group; 0: no channels are added up */
} AstroPrepareConfig;

/* The totals of a grid's dumps, where a device has them, channel by channel. */
typedef struct {
  gboolean are_known; /* these are what the device has */
  AstroGridCounts counts;
  double *sums;    /* of weights, of each channel */
  guint64 missing; /* visibilities of lost dumps, which count as flagged */
} AstroDumpTotals;

typedef struct {
  AstroPrepareConfig config;
  AstroGrid grid; /* without its products */
  guint n_products, stations;
  guint pairs;     /* baselines between two stations: rows of a dump */
  guint n_counted; /* products other than the PSF */
  AstroProduct products[ASTRO_MAX_PRODUCTS];
  AstroObservation *observation;
  AstroTrack *track;   /* directions of u, v and w at */
  double *wavenumbers; /* of the channels */
  /* So many neighbouring channels become one of a row: as many as make a source in the corner of
   * the image fainter, by no more than the fraction `smearing` on the longest baseline. */
  guint group, groups;
  double *group_wavenumbers;
  double centre_n_minus_1;
  AstroDumpTotals totals;
} AstroDumps;

/* Fails where the observation lacks what is needed: positions, phase centre, start, basis. Keeps a
 * reference to it. Call clear even if this failed. */
gboolean astro_dumps_init(AstroDumps *dumps, const AstroPrepareConfig *config,
                          const AstroGrid *grid, AstroObservation *observation, GError **error);
void astro_dumps_clear(AstroDumps *dumps);

/* Counts a dump that was lost; forgets those of a grid. */
void astro_dumps_miss(AstroDumps *dumps);
void astro_dumps_forget_missing(AstroDumps *dumps);
/* Begins with what is known of lost dumps, and adds what the device has of a channel: visibilities,
 * each of which counts for every product. */
void astro_dumps_begin_totals(AstroDumps *dumps);
void astro_dumps_add_totals(AstroDumps *dumps, guint channel, double weights,
                            const AstroGridCounts *visibilities);

/* AstroValidityAxis in 32 bits, which devices divide faster. */
typedef struct {
  guint32 group, stride;
} AstroCountedAxis;

/* The count of a value is counts[channel part + baseline part + pol part]. */
typedef struct {
  const guint32 *counts; /* NULL: all are valid */
  guint64 n;             /* counts that belong to the dump */
  double full;
  AstroCountedAxis channel, baseline;
  guint32 pol[4];
} AstroDumpCounts;

/* Forgets counts where no sample was lost: a device need not have them. */
void astro_dumps_forget_whole(AstroDumpCounts *counts);

/* For one dump of a buffer of that shape. */
void astro_dumps_count(AstroDumpCounts *counts, const AstroValidityMeta *meta,
                       const AstroLayout *shape, guint64 number);

/* The longest baseline in wavelengths at the highest frequency. */
double astro_prepare_longest(const AstroPrepareConfig *config, const AstroObservation *observation);

G_END_DECLS
