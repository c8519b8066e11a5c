/* Histogram: how many pairs of points lie at which separation on the sky, exactly.
 *
 * The bin rule. A point at (ra, dec) becomes the unit vector of astro_unit_vector, once. An edge of
 * theta becomes the square of its chord, astro_chord_square, once. The square of the chord of a
 * pair is (dx dx + dy dy) + dz dz in double precision, every operation rounded by itself (no fused
 * multiply and add). A pair is in bin k when edge[k] <= it < edge[k + 1]. So every backend,
 * variant, method and number of threads counts the same integers.
 *
 *   point    a unit vector, with its weight                    cell
 *   cell     a cap that holds all of its points, halved         /    \
 *            along its widest axis into two cells           cell      cell
 *   leaf     a cell of at most 32 points                   /    \    /    \
 *                                                       leaf  leaf leaf  leaf
 *   top      a cell where tasks begin
 *   edge     of a bin, as the square of a chord; pairs of cells that lie between two edges as a
 *            whole are counted at once, other ones are halved, leaf by leaf to their points
 *   kind     dd, dr, rd, rr: which catalogues' pairs they are (data, random points)
 *   region   a part of the sky that a jackknife leaves out; counts are [region][region][bin] */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/threads.h"

G_BEGIN_DECLS

#define ASTRO_HISTOGRAM_MAX_EDGES 1025

#define ASTRO_HISTOGRAM_ERROR astro_histogram_error_quark()
typedef enum {
  ASTRO_HISTOGRAM_ERROR_EDGES,
  ASTRO_HISTOGRAM_ERROR_POINTS,
  ASTRO_HISTOGRAM_ERROR_CANCELLED,
} AstroHistogramError;
GQuark astro_histogram_error_quark(void);

typedef enum {
  ASTRO_PRECISION_EXACT,  /* what the bin rule says */
  ASTRO_PRECISION_SINGLE, /* an edge may be off by 5e-6 of its angle, differently for each pair */
} AstroPrecision;

typedef enum {
  ASTRO_PAIR_METHOD_AUTO,
  ASTRO_PAIR_METHOD_TREE,  /* cells whose pairs all fall into one bin are counted whole */
  ASTRO_PAIR_METHOD_BRUTE, /* the separation of every pair is computed */
} AstroPairMethod;

#define ASTRO_TYPE_PRECISION astro_precision_get_type()
GType astro_precision_get_type(void);
#define ASTRO_TYPE_PAIR_METHOD astro_pair_method_get_type()
GType astro_pair_method_get_type(void);

/* n_edges - 1 bins; edges rise, in arcminutes. n_regions: 0 or 1 is none. */
typedef struct {
  guint n_edges;
  double edges[ASTRO_HISTOGRAM_MAX_EDGES];
  guint n_regions;
  gboolean weighted;
  AstroPrecision precision;
  AstroPairMethod method;
} AstroHistogramConfig;

/* Edges min 10^(k / bins_per_decade), the last one at max or the first at or above it. */
gboolean astro_histogram_edges_per_decade(AstroHistogramConfig *config, double min_arcmin,
                                          double max_arcmin, double bins_per_decade,
                                          GError **error);
gboolean astro_histogram_edges_linear(AstroHistogramConfig *config, double min_arcmin,
                                      double max_arcmin, guint n_bins, GError **error);
/* Whether they are two or more, finite, not negative, and rise. */
gboolean astro_histogram_edges_check(const AstroHistogramConfig *config, GError **error);

/* (cos dec cos ra, cos dec sin ra, sin dec) by the C library's sin and cos of degrees pi / 180. */
void astro_unit_vector(double ra_degrees, double dec_degrees, double *x, double *y, double *z);
/* 4 sin(theta / 2)^2; above 180 degrees infinity, since the computed chord of antipodes may pass 2
 * by a rounding. */
double astro_chord_square(double arcmin);

/* Points made ready for counting, once for all the counts that they take part in: unit vectors,
 * ordered by region and in each region by a tree. */
typedef struct _AstroPoints AstroPoints;

/* weight, region: NULL where there is none. region holds whole numbers below n_regions. stop: NULL,
 * or what ends it with the error that a cancelled count gives. */
AstroPoints *astro_points_new(const double *ra_degrees, const double *dec_degrees,
                              const double *weight, const double *region, guint64 n,
                              guint n_regions, guint threads, const AstroStop *stop,
                              GError **error);
void astro_points_free(AstroPoints *points);
guint64 astro_points_count(const AstroPoints *points);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroPoints, astro_points_free)

/* Done and all, in pairs; FALSE stops the count. Called by one thread at a time, whichever it is.
 */
typedef gboolean (*AstroHistogramProgress)(guint64 done, guint64 total, gpointer data);

typedef struct {
  AstroHistogramProgress progress; /* NULL: none */
  gpointer data;
  const AstroStop *stop; /* NULL, or what ends making points ready, before there is progress */
} AstroHistogramCall;

/* submit takes one or two blocks in, whose data is an AstroPoints (bytes are not looked at). One:
 * its pairs with itself, each once, regions (a, b) with a <= b. Two: every pair, regions (first,
 * second). Out: U64 counts [region][region][bin], and if weighted F64 sums of the products of
 * weights, alike; both are written, not added to. Arguments: an AstroHistogramCall or NULL.
 *
 * A device backend takes the same host pointers. When submit returns, catalogues may be freed;
 * outputs are written, and progress may be called, until it is drained. */
extern const AstroBackend astro_histogram_reference;
extern const AstroBackend astro_histogram_cpu;
extern const AstroBackend *const astro_histogram_backends[]; /* up to a NULL */

guint astro_histogram_regions(const AstroHistogramConfig *config); /* 1 where there are none */
gsize astro_histogram_values(const AstroHistogramConfig *config);  /* regions x regions x bins */

G_END_DECLS
