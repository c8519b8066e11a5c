/* What all dumps of visibilities have in common, whoever makes them ready: products, wavenumbers,
 * (u,v,w), and which count of good samples stands behind a value. */
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
  gboolean is_double;              /* what is prepared */
  gboolean keep_weights;           /* for AstroPrepareFuncs.weigh */
} AstroPrepareConfig;

typedef struct {
  AstroPrepareConfig config;
  AstroGrid grid; /* without its products */
  guint n_products, stations;
  guint n_counted; /* products without the PSF */
  AstroProduct products[ASTRO_MAX_PRODUCTS];
  AstroObservation *observation;
  AstroTrack *track;   /* axes of (u,v,w) at the middle of a dump */
  double *wavenumbers; /* of the channels */
  double centre_n_minus_1;
} AstroDumps;

/* An error where the observation does not say what is needed: positions, phase centre, start,
 * basis. Keeps a reference to it. To be cleared also where it failed. */
gboolean astro_dumps_init(AstroDumps *dumps, const AstroPrepareConfig *config,
                          const AstroGrid *grid, AstroObservation *observation, GError **error);
void astro_dumps_clear(AstroDumps *dumps);

/* AstroValidityAxis in what devices divide by quickly. */
typedef struct {
  guint32 group, stride;
} AstroCountedAxis;

/* Where the count of a value stands: the sum of that for each of its indices. */
typedef struct {
  const guint32 *counts; /* NULL: all are valid */
  guint64 n;             /* that values of the dump have */
  double full;
  AstroCountedAxis channel, baseline;
  guint32 pol[4];
} AstroDumpCounts;

/* Of the dump of that number in a buffer of shape. */
void astro_dumps_count(AstroDumpCounts *counts, const AstroValidityMeta *meta,
                       const AstroLayout *shape, guint64 number);

/* The longest baseline in wavelengths at the highest frequency. */
double astro_prepare_longest(const AstroPrepareConfig *config, const AstroObservation *observation);

G_END_DECLS
