/* From dumps of visibilities to grids: preparation, weights and an algorithm put together. The
 * backends of the stage "gridder". */
#pragma once

#include "core/gridder/prepare.h"

G_BEGIN_DECLS

/* The configuration of the stage's backends. */
typedef struct {
  const AstroGridAlgorithm *algorithm;
  AstroGridderConfig gridder; /* longest comes with the observation */
  AstroGrid grid;             /* as algorithm->choose left it; products are the caller's */
  AstroPrepareConfig prepare;
  AstroWeighting weighting;
  double robust;
  gboolean per_channel;
  gboolean cumulative; /* a grid holds what those before it held too */
} AstroCollectConfig;

extern const AstroBackend astro_gridder_reference, astro_gridder_cpu;
extern const AstroBackend *const astro_gridder_backends[];

/* submit: with a block in, adds the dump of that number in it; the block out is the grid, which
 * needs to be there where astro_collect_adds_at_once() only. Without, fills the block out with the
 * next plane, or completes what dumps went into. */
typedef struct {
  const AstroValidityMeta *validity;
  const AstroLayout *shape;
  guint64 number;
  gint64 middle_ns;
  double w, w_step; /* out, of a plane */
} AstroCollectArguments;

typedef struct _AstroCollect AstroCollect; /* an instance of these backends */

/* Before the first dump and whenever it changes; forgets all that came. NULL is an error. */
gboolean astro_collect_observe(AstroCollect *collect, AstroObservation *observation,
                               GError **error);
/* Whether dumps go straight into the grid and are not held. */
gboolean astro_collect_adds_at_once(const AstroCollectConfig *config);
void astro_collect_add_missing(AstroCollect *collect);

/* Ends what a grid is made of, and says how many planes it has: 1 where dumps went into it. */
gboolean astro_collect_begin(AstroCollect *collect, guint *planes, GError **error);
/* The grid is done: what it was made of is forgotten, unless grids are cumulative. */
void astro_collect_end(AstroCollect *collect);

const AstroGridCounts *astro_collect_counts(AstroCollect *collect);
/* Sums of weights, of each of the grid's channels. */
void astro_collect_sums(AstroCollect *collect, double *sums);
double astro_collect_longest(AstroCollect *collect);

/* Bytes of a grid's buffer, and of all that must be there at once beside the visibilities. */
guint64 astro_collect_grid_bytes(const AstroCollectConfig *config);
guint64 astro_collect_bytes(const AstroCollectConfig *config);

G_END_DECLS
