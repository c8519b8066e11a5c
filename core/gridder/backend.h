/* The stage "gridder": dumps of visibilities in, planes of grids out. Every backend works alike and
 * is made of parts of its own (AstroGridderParts), on the host or on a device:
 *
 *   a collector      which dumps make a grid (astrogridder has one): calls submit
 *     |  AstroGridCall
 *   backend.c        the same for every backend: what a call does, in which order
 *     |  AstroGridderParts
 *   cpu.c            the host's: prepare.c, wstacking, wprojection, direct
 *   gpu/gridder      a device's: the same by kernels of its own
 */
#pragma once

#include "core/gridder/prepare.h"

G_BEGIN_DECLS

typedef struct {
  const AstroGridAlgorithm *algorithm; /* the host's; backends find theirs by its name */
  AstroGriddingConfig gridder;         /* longest is set once the observation is known */
  AstroGrid grid;                      /* as algorithm->choose left it; products are the caller's */
  AstroPrepareConfig prepare;
  AstroWeighting weighting;
  double robust;
  gboolean per_channel;
  gboolean cumulative; /* a grid holds the visibilities of earlier ones too */
  guint64 dumps;       /* in a grid, as far as is known before the first; 0: it is not */
  guint ranks;         /* processes that share a grid, each with all visibilities; 0 or 1: one */
} AstroGridderConfig;

extern const AstroBackend astro_gridder_reference, astro_gridder_cpu;
extern const AstroBackend *const astro_gridder_backends[];

/* The memory of the host, and those who take of it. */
typedef struct {
  guint64 budget;   /* bytes */
  guint64 others;   /* bytes of these that other stages need while planes are made */
  guint64 dumps;    /* in a grid, as far as is known; 0: it is not. More than these go to a file */
  gboolean repeats; /* grid follows grid, so that these are there while dumps come */
} AstroGridderMemory;

/* How visibilities are kept in it; most_rows 0: they are not kept. */
typedef struct {
  guint64 bytes;                /* that are in use at once, at most, with those of other stages */
  guint64 least;                /* without which no plan would fit */
  guint64 most_rows, part_rows; /* as for AstroPrepareFuncs.limit */
  guint64 most_sorted;          /* as AstroGriddingConfig has it */
} AstroGridderPlan;

/* The calls of submit, in the order in which a grid needs them. Answers are in the result. */
typedef enum {
  /* Before the first dump and whenever the observation changes; forgets all visibilities. Answers
   * adds_at_once, longest and reach. */
  ASTRO_GRID_OBSERVE,
  /* Adds a dump of the block in. The block out is the grid; it is needed only where OBSERVE
   * answered adds_at_once. */
  ASTRO_GRID_ADD,
  ASTRO_GRID_MISS, /* counts a dump that was lost */
  /* The grid has all its dumps. Answers how many planes it has. */
  ASTRO_GRID_BEGIN,
  /* Fills the block out with the next plane, or completes the grid that dumps were added to at
   * once, and answers its w. A second block out is filled with the map of touched tiles. */
  ASTRO_GRID_PLANE,
  ASTRO_GRID_COPY,  /* copies a grid that goes on: block in to block out */
  ASTRO_GRID_COUNT, /* answers grid_counts, and sums where there is room for them */
  /* Passes over the next plane, which another instance makes of the same visibilities. */
  ASTRO_GRID_SKIP,
  ASTRO_GRID_SUM, /* adds the grid in, of other visibilities, to the grid out */
  ASTRO_GRID_END, /* forgets the grid's visibilities, unless grids are cumulative */
} AstroGridCall;

typedef struct {
  AstroGridCall call;
  AstroObservation *observation; /* OBSERVE; NULL is an error */
  /* OBSERVE: the memory to plan with, and where to say what was planned: without rows where
   * visibilities are not in the memory of the host. memory NULL: the plan is made already. Both
   * NULL: all visibilities are kept in memory. */
  const AstroGridderMemory *memory;
  AstroGridderPlan *plan;
  /* ADD: the same as for AstroPrepareFuncs.add */
  const AstroValidityMeta *validity;
  const AstroLayout *shape;
  guint64 number;
  gint64 middle_ns;
  const double *uvw;
  gboolean is_new; /* ADD, PLANE: the grid that dumps are added to is to be filled with zeros */
  /* PLANE, of an algorithm without planes: this instance adds a part of the rows that are held, and
   * others the rest. shares 0: it adds all. */
  guint share, shares;
} AstroGridderArguments;

/* Whether the host adds dumps to the grid as they come. */
gboolean astro_gridder_adds_at_once(const AstroGridderConfig *config);
/* Bytes of a plane of a grid, and of its map of touched tiles (0: it has none). */
guint64 astro_gridder_grid_bytes(const AstroGridderConfig *config);
guint64 astro_gridder_map_bytes(const AstroGridderConfig *config);
/* Bytes that are needed at once beside the visibilities: grids, and tables of so many bytes. */
guint64 astro_gridder_needs(const AstroGridderConfig *config, guint64 tables);
/* Bytes without which the host's gridder has no plan, before the observation is known. */
guint64 astro_gridder_least(const AstroGridderConfig *config);
/* Whether who (a noun) has as much. An error says how much is needed and there. */
gboolean astro_gridder_fits(const AstroGridderConfig *config, guint64 tables, guint64 had,
                            const char *who, GError **error);
/* The same for a device, which has to hold the visibilities of config->dumps too: what it needs at
 * least, so that nothing is refused that might fit. */
gboolean astro_gridder_fits_device(const AstroGridderConfig *config, guint64 tables, guint64 had,
                                   const char *who, GError **error);

/* ---- for backends ---- */

typedef struct _AstroPerProduct AstroPerProduct;

/* The parts that a backend is made of. On a device grids and rows are device pointers. */
typedef struct {
  const AstroPrepareFuncs *prepare;
  const AstroGridAlgorithm *const *algorithms; /* up to a NULL */
  /* How products are made one after the other (per-product.h): grids are host pointers though rows
   * are not, and each is filled from all rows at once. NULL: they are made together. */
  const AstroPerProduct *per_product;
  /* Where dumps are added to the grid at once: not before that many values have come. */
  guint64 together;
  gboolean (*enter)(const AstroPlace *place, GError **error); /* before all others; or NULL */
  gboolean (*zero)(const AstroPlace *place, gpointer grid, gsize bytes, GError **error);
  gboolean (*copy)(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                   GError **error);
  gboolean (*sum)(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                  gboolean is_double, GError **error);
} AstroGridderParts;

/* The algorithm of that name, or NULL. */
const AstroGridAlgorithm *astro_grid_algorithm_find(const AstroGridAlgorithm *const *algorithms,
                                                    const char *name);

typedef struct _AstroGridderBackend AstroGridderBackend; /* an instance */

AstroGridderBackend *astro_gridder_backend_new(const AstroGridderConfig *config,
                                               const AstroPlace *place,
                                               const AstroGridderParts *parts);
const AstroPlace *astro_gridder_backend_place(const AstroGridderBackend *backend);

/* For tables of backends. */
gboolean astro_gridder_backend_submit(gpointer instance, const AstroBlock *in, guint n_in,
                                      const AstroBlock *out, guint n_out, gconstpointer arguments,
                                      AstroResult *result, GError **error);
gboolean astro_gridder_backend_host_out(gpointer instance);
void astro_gridder_backend_free(gpointer instance);

G_END_DECLS
