/* From dumps of visibilities to grids: preparation, weights and an algorithm put together. The
 * backends of the stage "gridder". */
#pragma once

#include "core/gridder/prepare.h"

G_BEGIN_DECLS

/* The configuration of the stage's backends. */
typedef struct {
  const AstroGridAlgorithm *algorithm; /* the host's; backends find their own by its name */
  AstroGridderConfig gridder;          /* longest comes with the observation */
  AstroGrid grid;                      /* as algorithm->choose left it; products are the caller's */
  AstroPrepareConfig prepare;
  AstroWeighting weighting;
  double robust;
  gboolean per_channel;
  gboolean cumulative; /* a grid holds what those before it held too */
} AstroCollectConfig;

extern const AstroBackend astro_gridder_reference, astro_gridder_cpu;
extern const AstroBackend *const astro_gridder_backends[];

/* What submit is asked for; the result says what there is to say. */
typedef enum {
  /* Before the first dump and whenever the observation changes; forgets all that came. Says
   * adds_at_once, longest and reach. */
  ASTRO_GRID_OBSERVE,
  /* Adds the dump of that number in the block in. The block out is the grid, which needs to be
   * there where the result of OBSERVE said that dumps go straight into it. */
  ASTRO_GRID_ADD,
  ASTRO_GRID_MISS, /* counts a dump of which nothing came */
  /* Ends what a grid is made of, and says how many planes it has: 1 where dumps went into it. */
  ASTRO_GRID_BEGIN,
  /* Fills the block out with the next plane, or completes what dumps went into, and says its w. A
   * second block out is filled with the map of the plane's touched tiles. */
  ASTRO_GRID_PLANE,
  ASTRO_GRID_COPY,  /* the block in, a grid that dumps went into, to the block out */
  ASTRO_GRID_COUNT, /* says grid_counts, and sums where there is room for them */
  ASTRO_GRID_END,   /* what the grid was made of is forgotten, unless grids are cumulative */
} AstroGridCall;

typedef struct {
  AstroGridCall call;
  AstroObservation *observation; /* OBSERVE; NULL is an error */
  /* ADD */
  const AstroValidityMeta *validity;
  const AstroLayout *shape;
  guint64 number;
  gint64 middle_ns;
  const double *uvw; /* of the dump, where buffers bring them: see AstroPrepareFuncs.add */
  gboolean is_new;   /* ADD, PLANE: what dumps go into begins with zeros */
} AstroCollectArguments;

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

/* The parts of a backend "gridder" of a device: where it all happens, on the host, or on a device,
 * whose grids and rows are device pointers. */
typedef struct {
  const AstroPrepareFuncs *prepare;
  /* Those that there are here, up to a NULL: the one of the configured algorithm's name does it. */
  const AstroGridAlgorithm *const *algorithms;
  /* Grids are host pointers though rows are not, and are filled whole, from all rows at once. */
  gboolean host_grids;
  /* Values of rows that are added together where dumps go straight into the grid. */
  guint64 together;
  gboolean (*enter)(const AstroPlace *place, GError **error); /* before the others; may be NULL */
  gboolean (*zero)(const AstroPlace *place, gpointer grid, gsize bytes, GError **error);
  gboolean (*copy)(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                   GError **error);
} AstroGridPlace;

/* The algorithm of that name; NULL: there is none. */
const AstroGridAlgorithm *astro_grid_algorithm_find(const AstroGridAlgorithm *const *algorithms,
                                                    const char *name);

typedef struct _AstroCollect AstroCollect; /* an instance of these backends */

AstroCollect *astro_collect_new(const AstroCollectConfig *config, const AstroPlace *place,
                                const AstroGridPlace *where);
const AstroPlace *astro_collect_place(const AstroCollect *collect);

/* Of the backends' tables. */
gboolean astro_collect_submit(gpointer collect, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out, gconstpointer arguments,
                              AstroResult *result, GError **error);
gboolean astro_collect_host_out(gpointer collect);
void astro_collect_free(gpointer collect);

G_END_DECLS
