/* The convolution functions of W-projection. For each w-plane there are oversampling x oversampling
 * sets of support x support taps: the transform of a taper times exp(-2 pi i w (n - 1)), sampled at
 * every cell, one set for each place of a visibility between two cells.
 *
 * The rows of a set are followed by at least ASTRO_TAPS_PADDING zeros, and sets are separated by
 * ASTRO_TAPS_ROWS rows of zeros, so that a window of whole vectors around the support can be read
 * from any cell on. */
#pragma once

#include "core/gridder/gridder.h"

G_BEGIN_DECLS

/* The CUDA module compiles the functions that place visibilities for its devices too. */
#ifdef __CUDACC__
#define ASTRO_TAPS_INLINE static inline __host__ __device__
#else
#define ASTRO_TAPS_INLINE static inline
#endif

#define ASTRO_TAPS_MIN_SUPPORT 4
#define ASTRO_TAPS_MAX_SUPPORT 256
#define ASTRO_TAPS_MAX_OVERSAMPLING 64
#define ASTRO_TAPS_MAX_SETS (1 << 22) /* of all planes together */
#define ASTRO_TAPS_MAX_PLANES 65536
#define ASTRO_TAPS_STEP 8    /* windows are multiples of this many cells */
#define ASTRO_TAPS_PADDING 8 /* zeros after a row, at least */
#define ASTRO_TAPS_ROWS 3    /* zero rows between sets */

typedef struct {
  guint support;
  guint stride; /* complex values from row to row */
  gsize set;    /* complex values from set to set */
  gpointer block;
  gpointer taps; /* first tap of the first set */
} AstroTapsPlane;

typedef struct {
  guint oversampling, n_planes;
  gboolean interpolated, is_double;
  double w_step; /* wavelengths between planes; the first is at 0 */
  /* For images off the phase centre, a unit of w: how far the middle of functions moves in u and v,
   * and the phase (n - 1 in the middle, in turns) that visibilities are given before they are
   * spread. */
  double u_per_w, v_per_w, turns_per_w;
  guint64 bytes;
  AstroTapsPlane *planes;
} AstroTaps;

/* Filled with zeros. NULL: the error says how many bytes are needed and there. */
AstroTaps *astro_taps_new(guint oversampling, guint n_planes, const guint *supports,
                          gboolean is_double, GError **error);
/* Bytes that it allocates. */
guint64 astro_taps_bytes_of(guint oversampling, guint n_planes, const guint *supports,
                            gboolean is_double);
void astro_taps_free(AstroTaps *taps);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroTaps, astro_taps_free)

/* Where a set begins, in complex values from the first tap of its plane. */
ASTRO_TAPS_INLINE gsize astro_taps_offset(const AstroTaps *taps, guint plane, guint v, guint u)
{
  return ((gsize)v * taps->oversampling + u) * taps->planes[plane].set;
}

/* Along one axis: the cell that a footprint begins in, and which of the plane's sets it has. */
typedef struct {
  gint64 cell;
  guint set;
} AstroTapsPlace;

/* fine: a coordinate in cells times oversampling, from the grid's cell 0; 2^30 at most. */
ASTRO_TAPS_INLINE AstroTapsPlace astro_taps_place(const AstroTaps *taps, guint plane, gint64 fine)
{
  gint n = (gint)taps->oversampling;
  gint left = (gint)fine - n * (gint)taps->planes[plane].support / 2;
  gint cell = left >= 0 ? (left + n - 1) / n : -(-left / n);
  AstroTapsPlace place = { cell, (guint)(cell * n - left) };
  return place;
}

/* Cells from the middle of the function to tap 0 of a set: negative. */
static inline double astro_taps_position(const AstroTaps *taps, guint plane, guint set)
{
  double n = taps->oversampling;
  guint half = (taps->oversampling * taps->planes[plane].support) / 2;
  return (set - (double)half) / n;
}

/* front: zeros before a plane's first set, and after its last. length: all of a plane. In complex
 * values. */
static inline gsize astro_taps_front(const AstroTapsPlane *plane)
{
  return (gsize)(ASTRO_TAPS_ROWS + 1) * plane->stride;
}

static inline gsize astro_taps_length(const AstroTapsPlane *plane, guint oversampling)
{
  return plane->set * oversampling * oversampling + 2 * astro_taps_front(plane);
}

/* The input of a table. grid: size, cell, centre and spread are needed. */
typedef struct {
  const AstroGrid *grid;
  double w_max;  /* wavelengths */
  guint planes;  /* 0: so many that rounding w costs no more than rounding u and v */
  guint support; /* 0: for each plane as small as the accuracy allows */
  double accuracy;
  gboolean is_double;
  guint threads;
} AstroTapsConfig;

guint astro_taps_planes(const AstroTapsConfig *config);
/* Supports of n planes from first on. FALSE: the last ones would need more than
 * ASTRO_TAPS_MAX_SUPPORT. */
gboolean astro_taps_supports(const AstroTapsConfig *config, guint first, guint n, guint *supports);
guint64 astro_taps_bytes(const AstroTapsConfig *config);
AstroTaps *astro_taps_build(const AstroTapsConfig *config, GError **error);

G_END_DECLS
