/* Gridding: visibilities are prepared once (prepare.h), weighted (weighting.h) and spread over the
 * cells of a grid by one of three algorithms: wstacking, wprojection or direct. backend.h puts them
 * together as the backends of the stage "gridder".
 *
 *   visibilities -> prepare -> rows -> weigh -> algorithm -> planes of a grid
 *
 *   dump        the visibilities of all baselines at one time    v ^  . . . . . . . . .
 *   row         one baseline's part of a dump: all channels        |  . . +-------+ . .
 *   product     XX, I and so on, or PSF: one grid each             |  . . |       | . .
 *   footprint   the cells, support x support, that a visibility    |  . . |   x   | . .
 *               x is spread over                                   |  . . |       | . .
 *   taps        the factors that it has in those cells             |  . . +-------+ . .
 *   plane       the grid for one w (wstacking), or the set of      |  . . . . . . . . .
 *               taps for one w (wprojection)                       +-----------------> u
 *   tile        16 x 16 cells; a map says which ones of a plane hold anything
 *   band        16 rows of cells; group: the visibilities whose footprints begin in the same row
 * and the same few cells of it; bucket: groups that are sorted together record      the sum of a
 * row's neighbouring channels that need the same taps in the same cells
 */
#pragma once

#include "core/backend/backend.h"
#include "core/lib/spread/spread.h"
#include "core/stream/grid.h"

G_BEGIN_DECLS

/* Prepared visibilities, as every algorithm takes them. Products are formed (Stokes parameters, or
 * as measured, and the PSF's where it is asked for) and multiplied by their weights. Phases refer
 * to the image's centre in u and v, but not in w: n - 1 counts from the phase centre. Rows of
 * negative w are conjugated (and XY and YX exchanged), so that w >= 0. What must not be used is 0.
 * The channels of a row lie on a line through the origin of (u,v,w). */
typedef struct {
  guint64 rows;
  guint channels, products; /* ASTRO_MAX_PRODUCTS at most */
  gboolean is_double;
  const double *uvw;         /* rows x 3, metres */
  const double *wavenumbers; /* of each channel, 1/m: frequency over the speed of light */
  /* rows x channels x products, complex, single or double. NULL for degridding, which makes them:
   * every visibility in the grid is then wanted. */
  gconstpointer values;
  /* Nobody needs the values afterwards, and they are in the process's own memory, so that an
   * algorithm may return the pages that it has read to the system. */
  gboolean spent;
} AstroGridRows;

/* The configuration of an algorithm, which chooses where there is a 0. */
typedef struct {
  gboolean is_double; /* sums, and the values of rows */
  guint channels;     /* of the grid: 1, where all channels go into one, or as many as rows have */
  guint threads;
  gboolean is_reference; /* the formula, slow and obvious, in place of kernels */
  /* Sums are made in a fixed order, so that grids are the same to the last bit each time. CPUs
   * always do that; a device is slower with it. */
  gboolean deterministic;
  double padding;  /* size of the grid over that of the image */
  double accuracy; /* relative L2 error that is wanted */
  double longest;  /* baseline, wavelengths at the highest frequency: no u, v, w is larger */
  guint support;   /* cells */
  /* So many visibilities are sorted at once where rows are in a file; 0: all. */
  guint64 most_sorted;
  /* wprojection alone */
  guint oversampling, w_planes;
  gboolean interpolated;
  AstroSpreadKind taper;
} AstroGriddingConfig;

typedef struct _AstroGridding AstroGridding; /* an algorithm's own state */
typedef struct _AstroRowStore AstroRowStore; /* rows in a file (core/gridder/store.h) */

/* An algorithm on the host or on a device. On a device grids and rows are device pointers, and work
 * is queued on its place's queue, with the device current: rows and grid must be valid when the
 * queue comes to them, and may be freed in the order of the queue once a function has returned.
 *
 * A grid is channels x products x size x size complex numbers, aligned to 64 bytes. It belongs to
 * the caller, who fills it with zeros before rows are added (add), but not before plane. */
typedef struct {
  const char *name; /* "wstacking" */
  /* Spreads rows over several planes, one after the other: all rows come at once, to begin. An
   * algorithm without planes has rows added as they come, any number of times. */
  gboolean has_planes;
  /* Given a grid's image_size, pixel, centre and products, sets its size, cell and spread.
   * Allocates nothing; an error where the configuration is impossible. The host's algorithm answers
   * for the device's too, which has NULL here. */
  gboolean (*choose)(const AstroGriddingConfig *config, AstroGrid *grid, GError **error);
  /* Bytes of tables that create allocates, beside grids and rows. */
  guint64 (*bytes)(const AstroGriddingConfig *config, const AstroGrid *grid);
  /* variant: the kernel's name, a static string. grid: as choose left it. */
  AstroGridding *(*create)(const AstroGriddingConfig *config, const AstroGrid *grid,
                           const AstroPlace *place, const char **variant, GError **error);
  /* Takes what it needs of all rows, which may be freed afterwards, and says how many planes they
   * need. NULL without planes. */
  gboolean (*begin)(AstroGridding *gridder, const AstroGridRows *rows, guint *planes,
                    GError **error);
  /* The same for rows in a file, which stays until the last plane: config.most_sorted visibilities
   * are in memory at once. NULL: they have to be there all. */
  gboolean (*begin_stored)(AstroGridding *gridder, AstroRowStore *store, guint *planes,
                           GError **error);
  /* Fills grid with the next plane, whatever it held before; w (wavelengths) is the plane's, w_step
   * the distance between planes (0: there is nothing to correct in w). touched: NULL, or the map to
   * be filled of the tiles that visibilities reached ([channel][row of tiles][tile],
   * core/stream/grid.h); all other cells are then left as they were. NULL without planes. */
  gboolean (*plane)(AstroGridding *gridder, gpointer grid, guint8 *touched, double *w,
                    double *w_step, GError **error);
  /* Passes over the next plane, which another instance makes. NULL without planes. */
  void (*skip)(AstroGridding *gridder);
  /* Adds rows to grid. NULL with planes. */
  gboolean (*add)(AstroGridding *gridder, const AstroGridRows *rows, gpointer grid, GError **error);
  /* Called before a grid is read: adds the rows that add has kept back. NULL: it keeps none. */
  gboolean (*finish)(AstroGridding *gridder, gpointer grid, GError **error);
  void (*destroy)(AstroGridding *gridder);
  /* How many values were spread since create, once those with the same taps in the same cells were
   * added up. NULL: they are not added up. */
  gboolean (*count)(AstroGridding *gridder, guint64 *spread, GError **error);
} AstroGridAlgorithm;

extern const AstroGridAlgorithm astro_wstacking, astro_wprojection, astro_direct;

/* The smallest size of at least that many cells that suits the FFT and the kernels: a multiple of 8
 * with no prime factor above 7. */
guint astro_grid_good_size(guint at_least);

/* Whether support and padding, where they are set, are possible for an algorithm. */
gboolean astro_gridder_check_spread(const AstroGriddingConfig *config, guint least, guint most,
                                    GError **error);

/* Whether the whole footprint of a visibility at u, v (wavelengths) lies in the grid, with a cell
 * to spare on every side. Visibilities for which it does not are set to 0 and counted when they are
 * prepared. The reach is the largest such |u| or |v|. */
double astro_grid_reach(const AstroGrid *grid);
gboolean astro_grid_holds(const AstroGrid *grid, double u, double v);

/* The relative L2 error of W-projection's images, however wide its taps are. */
double astro_wprojection_reach(const AstroSpread *spread);

/* The least oversampling that reaches an accuracy; 0: none does. */
guint astro_wprojection_oversampling(gboolean interpolated, double accuracy);

G_END_DECLS
