/* Gridding: visibilities made ready once (core/gridder/prepare.h), then spread by an algorithm of
 * its own files: wprojection, wstacking, direct.
 *
 *   dump       what came of all baselines at one time          v ^  . . . . . . . . .
 *   row        one baseline's of a dump, all its channels        |  . . +-------+ . .
 *   footprint  the cells, support x support, that a value        |  . . |       | . .
 *              is spread over; its taps say with what factors    |  . . |   x   | . .
 *   plane      a grid for one w (wstacking), or a set of taps    |  . . |       | . .
 *              for one w (wprojection)                           |  . . +-------+ . .
 *   band       16 rows of cells; group: values of a band whose   |  . . . . . . . . .
 *              footprints begin alike; bucket: some groups       +-----------------> u
 *              together, as values are dealt out to be sorted
 *   record     wprojection's sum of neighbours of a row that have the same taps in the same cells
 */
#pragma once

#include "core/backend/backend.h"
#include "core/lib/spread/spread.h"
#include "core/stream/grid.h"

G_BEGIN_DECLS

/* Visibilities as every algorithm takes them: products formed (Stokes or as measured, the PSF's
 * ones where it is asked for), multiplied by their weights, phases turned to the image's centre in
 * u and v (not in w: n - 1 counts from the phase centre), and rows of negative w conjugated (with
 * XY and YX exchanged), so that w >= 0. What must not be used is 0. A row is one baseline at one
 * time; its channels stand on a line from the origin of (u,v,w). */
typedef struct {
  guint64 rows;
  guint channels, products; /* ASTRO_MAX_PRODUCTS at most */
  gboolean is_double;
  const double *uvw;         /* rows x 3, metres */
  const double *wavenumbers; /* of each channel, 1/m: frequency over the speed of light */
  gconstpointer values;      /* rows x channels x products, complex, single or double */
  /* Nobody needs values after this, and they are the process's own memory, so that an algorithm may
   * give back what it has read. */
  gboolean spent;
} AstroGridRows;

/* What is asked of an algorithm. Zeros where it may choose. */
typedef struct {
  gboolean is_double; /* sums and, in rows, values */
  guint channels;     /* of the grid: 1, all channels on one; or as many as rows have */
  guint threads;
  gboolean is_reference; /* the formula, slow and obvious, in place of kernels */
  /* Sums are made in one order, so that grids are the same to the last bit each time. What CPUs do
   * always; on a device it costs speed. */
  gboolean deterministic;
  double padding;  /* of the grid over the image */
  double accuracy; /* wanted, relative L2 */
  double longest;  /* baseline, wavelengths at the highest frequency: no u, v, w is beyond */
  guint support;   /* cells */
  /* wprojection alone */
  guint oversampling, w_planes;
  gboolean interpolated;
  AstroSpreadKind taper;
} AstroGridderConfig;

typedef struct _AstroGridding AstroGridding; /* an algorithm's own */

/* An algorithm where it runs: on the host, or on a device, whose grids and rows are device pointers
 * and whose work is queued on its place's queue, with its device current: rows and grid are there
 * when the queue comes to them and may be freed, in its order, once a function has returned.
 *
 * A grid is channels x products x size x size complex numbers, aligned to 64 bytes; whoever calls
 * owns it, and without planes fills it with zeros before rows are added. */
typedef struct {
  const char *name; /* "wstacking" */
  /* Spreads rows over several planes, one after the other: rows come all at once and begin is
   * called. Without planes rows are added as they come, any number of times. */
  gboolean has_planes;
  /* Of a grid whose image_size, pixel, centre and products are set, sets size, cell and spread.
   * Allocates nothing; an error where the configuration cannot be had. The host's says that for all
   * places: NULL of a device's. */
  gboolean (*choose)(const AstroGridderConfig *config, AstroGrid *grid, GError **error);
  /* Bytes that create will hold there (tables), beyond grids and rows. */
  guint64 (*bytes)(const AstroGridderConfig *config, const AstroGrid *grid);
  /* variant: the kernel's name, a static string. grid is what choose made of it. */
  AstroGridding *(*create)(const AstroGridderConfig *config, const AstroGrid *grid,
                           const AstroPlace *place, const char **variant, GError **error);
  /* Takes what it needs of all rows, which may be freed after, and says how many planes they make.
   * NULL without planes. */
  gboolean (*begin)(AstroGridding *gridder, const AstroGridRows *rows, guint *planes,
                    GError **error);
  /* Fills grid with the next plane's visibilities, whatever it held; gives w (wavelengths) of the
   * plane and between planes (0: nothing to correct in w). touched: NULL, or filled with a map of
   * the tiles that were ([channel][row of tiles][tile], core/stream/grid.h); others are left as
   * they were. NULL without planes. */
  gboolean (*plane)(AstroGridding *gridder, gpointer grid, guint8 *touched, double *w,
                    double *w_step, GError **error);
  /* Adds rows to grid. NULL with planes. */
  gboolean (*add)(AstroGridding *gridder, const AstroGridRows *rows, gpointer grid, GError **error);
  /* Before a grid is read: adds what waits of rows that were added. NULL: nothing ever waits. */
  gboolean (*finish)(AstroGridding *gridder, gpointer grid, GError **error);
  void (*destroy)(AstroGridding *gridder);
  /* Visibilities that were spread since create, after those of one place were added up. NULL:
   * nothing is added up. */
  gboolean (*count)(AstroGridding *gridder, guint64 *spread, GError **error);
} AstroGridAlgorithm;

extern const AstroGridAlgorithm astro_wstacking, astro_wprojection, astro_direct;

/* The smallest size of at least that many cells that suits the FFT and the kernels: a multiple of 8
 * with no prime factor above 7. */
guint astro_grid_good_size(guint at_least);

/* Whether support and padding, where they are set, are within what an algorithm has. */
gboolean astro_gridder_check_spread(const AstroGridderConfig *config, guint least, guint most,
                                    GError **error);

/* Whether all cells that a visibility at u, v (wavelengths) is spread over are in the grid, with
 * one to spare on every side. Preparation makes 0 of others and counts them. */
double astro_grid_reach(const AstroGrid *grid); /* how far from the middle that is, wavelengths */
gboolean astro_grid_holds(const AstroGrid *grid, double u, double v);

/* What W-projection's images err by (relative L2), however wide its taps. */
double astro_wprojection_reach(const AstroSpread *spread);

/* The least oversampling that reaches an accuracy; 0: none that there is. */
guint astro_wprojection_oversampling(gboolean interpolated, double accuracy);

G_END_DECLS
