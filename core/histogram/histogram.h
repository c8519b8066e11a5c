/* Histogram: how many pairs of points lie at each separation on the sky, exactly.
 *
 * The bin rule. A point at (ra, dec) becomes a unit vector once, by astro_unit_vector. An edge at
 * angle theta becomes the square of its chord once, by astro_chord_square. The square of a pair's
 * chord is (dx dx + dy dy) + dz dz in double precision, with every operation rounded by itself (no
 * fused multiply-add). A pair is in bin k if edge[k] <= square < edge[k + 1]. So every backend,
 * variant, method and number of threads counts the same integers.
 *
 *   point    a unit vector, with its weight                    cell
 *   cell     a cap with all of its points in it, halved         /    \
 *            along its widest axis into two cells           cell      cell
 *   leaf     a cell of at most 32 points                   /    \    /    \
 *   top      a cell where tasks begin                   leaf  leaf leaf  leaf
 *   edge     the limit of a bin, as the square of a chord. Two cells whose pairs all fall between
 *            two edges are counted as a whole; others are split, down to their points if need be
 *   place    where a pair can fall: below the first edge, in a bin, or from the last edge on
 *   kind     dd, dr, rd, rr: which catalogues the pairs are from (data, random points)
 *   region   a part of the sky that a jackknife leaves out; counts are [region][region][bin]
 *
 * Points may carry a scalar or a shear: then products of these are added up too (fields.h), each in
 * a plane of sums of its own.
 *
 * Points with distances are counted in space instead (space.h): by separation and direction to the
 * line of sight, in rows of bins whose columns follow one another. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/threads.h"
#include "core/stream/pair-fields.h"

G_BEGIN_DECLS

#define ASTRO_HISTOGRAM_MAX_EDGES 1025
#define ASTRO_HISTOGRAM_MAX_COLUMNS 1024

#define ASTRO_HISTOGRAM_ERROR astro_histogram_error_quark()
typedef enum {
  ASTRO_HISTOGRAM_ERROR_EDGES,
  ASTRO_HISTOGRAM_ERROR_POINTS,
  ASTRO_HISTOGRAM_ERROR_CANCELLED,
} AstroHistogramError;
GQuark astro_histogram_error_quark(void);

typedef enum {
  ASTRO_PRECISION_EXACT,  /* by the bin rule */
  ASTRO_PRECISION_SINGLE, /* each pair may see an edge off by up to 5e-6 of its angle */
} AstroPrecision;

typedef enum {
  ASTRO_PAIR_METHOD_AUTO,
  ASTRO_PAIR_METHOD_TREE,  /* cells whose pairs all fall into one bin are counted whole */
  ASTRO_PAIR_METHOD_BRUTE, /* the separation of every pair is computed */
} AstroPairMethod;

typedef enum {
  ASTRO_BINNING_ANGULAR, /* by the angle between two points */
  ASTRO_BINNING_SMU,     /* by separation in space, and the cosine of its angle to the line of sight
                          */
  ASTRO_BINNING_RPPI,    /* by separation across the line of sight, and along it */
} AstroBinning;

#define ASTRO_TYPE_BINNING astro_binning_get_type()
GType astro_binning_get_type(void);
#define ASTRO_TYPE_PRECISION astro_precision_get_type()
GType astro_precision_get_type(void);
#define ASTRO_TYPE_PAIR_METHOD astro_pair_method_get_type()
GType astro_pair_method_get_type(void);

/* How bits of points weigh pairs (pair-weights.h). */
typedef struct {
  guint n_words; /* of 32 bits; 0: none */
  guint realizations, offset;
  double default_value;
} AstroPairBits;

/* n_edges - 1 bins, whose edges rise, in arcminutes, or in space in the unit of the distances.
 * n_regions: 0 or 1 for no regions. */
typedef struct {
  guint n_edges;
  double edges[ASTRO_HISTOGRAM_MAX_EDGES];
  guint n_regions;
  gboolean weighted;
  AstroPrecision precision;
  AstroPairMethod method;
  AstroBinning kind;
  AstroPairFields fields; /* of pairs by angle; other than none: weighted is set too */
  /* Pairs may have weights of their own: by these bits, or by a table that comes with the call.
   * Then weighted is set too. */
  gboolean weighs_pairs;
  AstroPairBits bits;
  /* In space each of those bins is a row of n_columns even ones, of mu or pi from 0 on. */
  guint n_columns;
  double most_across; /* the last one's upper edge */
} AstroHistogramConfig;

/* Edges at min 10^(k / bins_per_decade), up to the first that is not below max. */
gboolean astro_histogram_edges_per_decade(AstroHistogramConfig *config, double min, double max,
                                          double bins_per_decade, GError **error);
gboolean astro_histogram_edges_linear(AstroHistogramConfig *config, double min, double max,
                                      guint n_bins, GError **error);
/* Whether there are two edges or more, all finite, not negative and rising. */
gboolean astro_histogram_edges_check(const AstroHistogramConfig *config, GError **error);

/* (cos dec cos ra, cos dec sin ra, sin dec), by core/kit/degrees.h. */
void astro_unit_vector(double ra_degrees, double dec_degrees, double *x, double *y, double *z);
/* 4 sin(theta / 2)^2, and infinity above 180 degrees, as rounding may take the chord of antipodes
 * above 2. */
double astro_chord_square(double arcmin);

/* A catalogue prepared for counting, once for all its counts: unit vectors, ordered by region and
 * by a tree within each region. */
typedef struct _AstroPoints AstroPoints;

/* distance, weight and region may be NULL. With distances, above 0, points are counted in space.
 * region holds whole numbers below n_regions. stop may be NULL; if
 * it stops the work, the error is the one of a cancelled count. */
AstroPoints *astro_points_in_space(const double *ra_degrees, const double *dec_degrees,
                                   const double *distance, const double *weight,
                                   const double *region, guint64 n, guint n_regions, guint threads,
                                   const AstroStop *stop, GError **error);
/* The same without distances. */
AstroPoints *astro_points_new(const double *ra_degrees, const double *dec_degrees,
                              const double *weight, const double *region, guint64 n,
                              guint n_regions, guint threads, const AstroStop *stop,
                              GError **error);
/* Points that only a device can count, by angle, and that are ordered there. The columns have to
 * stay until the points are freed. */
AstroPoints *astro_points_held(const double *ra_degrees, const double *dec_degrees,
                               const double *weight, const double *region, guint64 n,
                               guint n_regions, guint threads, GError **error);
void astro_points_free(AstroPoints *points);
guint64 astro_points_count(const AstroPoints *points);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroPoints, astro_points_free)

/* Pairs done, and pairs in all; return FALSE to cancel the count. Any thread may call it, but one
 * at a time. */
typedef gboolean (*AstroHistogramProgress)(guint64 done, guint64 total, gpointer data);

typedef struct _AstroHistogramDeal AstroHistogramDeal;

typedef struct {
  AstroHistogramProgress progress; /* or NULL */
  gpointer data;
  const AstroStop *stop; /* or NULL; ends the preparation of points, before there is progress */
  /* Where several instances count one pair of catalogues together (core/histogram/shares.h): what
   * is dealt out to them, and which of them this one is. NULL: it counts all pairs. */
  AstroHistogramDeal *deal;
  guint lane;
  const struct _PairTable *table; /* of weights of pairs; NULL: none */
} AstroHistogramCall;

/* submit takes one or two input blocks, whose data is an AstroPoints (bytes are not looked at).
 * With one, each pair within the catalogue counts once, for regions (a, b) with a <= b. With two,
 * every pair of a point of the first and a point of the second counts, for regions (first, second).
 * Outputs: U64 counts [region][region][bin] and, if weighted, F64 sums of the products of weights,
 * in the same order, and with fields in [plane][region][region][bin]; both are overwritten.
 * Arguments: an AstroHistogramCall or NULL.
 *
 * A device backend takes the same host pointers. Catalogues may be freed when submit returns, but
 * until it is drained outputs are still being written, and progress may be called. */
typedef struct {
  gboolean orders_points; /* whether it takes points of astro_points_held() */
} AstroHistogramParts;    /* of a backend; NULL: it does not */
extern const AstroBackend astro_histogram_reference;
extern const AstroBackend astro_histogram_cpu;
extern const AstroBackend *const astro_histogram_backends[]; /* up to a NULL */

const char *astro_binning_name(AstroBinning kind);                 /* "smu" */
guint astro_histogram_bins(const AstroHistogramConfig *config);    /* those of all columns */
guint astro_histogram_regions(const AstroHistogramConfig *config); /* 1 if there are none */
gsize astro_histogram_values(const AstroHistogramConfig *config);  /* regions x regions x bins */
gsize astro_histogram_sums(const AstroHistogramConfig *config);    /* values of all planes */

G_END_DECLS
