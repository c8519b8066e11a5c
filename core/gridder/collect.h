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
 * next plane, or completes what dumps went into. A second block out is filled with the map of the
 * plane's touched tiles. */
typedef struct {
  const AstroValidityMeta *validity;
  const AstroLayout *shape;
  guint64 number;
  gint64 middle_ns;
  const double *uvw; /* of the dump, where buffers bring them: see AstroPrepareFuncs.add */
  gboolean is_new;   /* what dumps go into: it begins with zeros */
  gboolean is_copy;  /* the block in is a grid that dumps went into, copied to the block out */
} AstroCollectArguments;

typedef struct _AstroCollect AstroCollect; /* an instance of these backends */

/* Before the first dump and whenever it changes; forgets all that came. NULL is an error. */
gboolean astro_collect_observe(AstroCollect *collect, AstroObservation *observation,
                               GError **error);
/* Whether dumps go straight into the grid and are not held. */
gboolean astro_collect_adds_at_once(const AstroCollect *collect);
void astro_collect_add_missing(AstroCollect *collect);

/* Ends what a grid is made of, and says how many planes it has: 1 where dumps went into it. */
gboolean astro_collect_begin(AstroCollect *collect, guint *planes, GError **error);
/* The grid is done: what it was made of is forgotten, unless grids are cumulative. */
gboolean astro_collect_end(AstroCollect *collect, GError **error);

/* Counts, and sums of weights of each of the grid's channels (NULL: not asked for). NULL is an
 * error of a device. */
const AstroGridCounts *astro_collect_counts(AstroCollect *collect, double *sums, GError **error);
/* Wavelengths: of a baseline, and how far the grid holds visibilities. */
double astro_collect_longest(AstroCollect *collect);
double astro_collect_reach(AstroCollect *collect);

/* Bytes of a grid's buffer. */
guint64 astro_collect_grid_bytes(const AstroCollectConfig *config);
/* Bytes of a plane's map of touched tiles; 0: grids have none. */
guint64 astro_collect_map_bytes(const AstroCollectConfig *config);
/* Bytes of all that must be there at once beside the visibilities: grids and that many of tables.
 */
guint64 astro_collect_needs(const AstroCollectConfig *config, guint64 tables);
/* Whether there is room for it. An error says what is needed and had; who has it is a noun. */
gboolean astro_collect_fits(const AstroCollectConfig *config, guint64 tables, guint64 had,
                            const char *who, GError **error);

/* ---- for backends ---- */

/* Where it all happens: on the host, or on a device, whose grids and rows are device pointers. The
 * functions take the algorithm that the configuration names. */
typedef struct {
  const AstroPrepareFuncs *prepare;
  /* Grids are host pointers though rows are not, and are filled whole, from all rows at once. */
  gboolean host_grids;
  /* Values of rows that are added together where dumps go straight into the grid. */
  guint64 together;
  gboolean (*enter)(const AstroPlace *place, GError **error); /* before the others; may be NULL */
  AstroGridding *(*create)(const AstroCollectConfig *config, const AstroPlace *place,
                           GError **error);
  gboolean (*begin)(const AstroGridAlgorithm *algorithm, AstroGridding *gridder,
                    const AstroGridRows *rows, guint *planes, GError **error);
  gboolean (*plane)(const AstroGridAlgorithm *algorithm, AstroGridding *gridder, gpointer grid,
                    guint8 *touched, double *w, double *w_step, GError **error);
  gboolean (*add)(const AstroGridAlgorithm *algorithm, AstroGridding *gridder,
                  const AstroGridRows *rows, gpointer grid, GError **error);
  gboolean (*finish)(const AstroGridAlgorithm *algorithm, AstroGridding *gridder, gpointer grid,
                     GError **error);
  void (*destroy)(const AstroGridAlgorithm *algorithm, AstroGridding *gridder);
  gboolean (*zero)(const AstroPlace *place, gpointer grid, gsize bytes, GError **error);
  gboolean (*copy)(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                   GError **error);
} AstroCollectFuncs;

AstroCollect *astro_collect_new(const AstroCollectConfig *config, const AstroPlace *place,
                                const AstroCollectFuncs *funcs);
void astro_collect_free(AstroCollect *collect);
const AstroPlace *astro_collect_place(const AstroCollect *collect);
gboolean astro_collect_host_grids(const AstroCollect *collect);
gboolean astro_collect_submit(AstroCollect *collect, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out,
                              const AstroCollectArguments *arguments, AstroResult *result,
                              GError **error);

G_END_DECLS
