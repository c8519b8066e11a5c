/* Degridding on the device: declarations that its files share. core/gridder/degrid/degrid.h says
 * what it is.
 *
 *   model -> corrected (planes.cu) -> rotated to the w of planes and transformed (transform.cu)
 *         -> collected (collect.h) -> put back (values.cu)
 *
 * Visibilities are sorted as those of W-stacking are, so that neighbours read the same cells. Some
 * lanes of a warp collect a visibility together, each from one column of its footprint. No sum
 * depends on the order in which warps run. Transforms are forward, of conjugates: what is collected
 * is the conjugate until it is put back. */
#pragma once

#include "gpu/gridder/wstacking/wstacking.h"

extern "C" {
#include "core/gridder/degrid/degridder.h"
#include "core/lib/spread/series.h"
}

/* ---- planes ---- */

/* Images of a model, one after the other, in the order of images: x falls with l. */
typedef struct {
  guint size, image, products; /* cells of a plane and pixels of an image along a side */
  gboolean is_double;
  double pixel, centre_l, centre_m;
  const double *inverse; /* astro_image_inverse, on the device */
} DegridImages;

/* Divides pixels, in place, by the transform of the spreading function, and reverses x. series: for
 * the distance of the planes. */
gboolean astro_degrid_correct_on_device(const DegridImages *images, const AstroImageSeries *series,
                                        gpointer pixels, cudaStream_t stream, GError **error);

/* The plane's column of the first column of corrected images. Of an image as large as the grid the
 * last column wraps around to column 0. */
static __host__ __device__ inline guint astro_degrid_first_column(const DegridImages *images)
{
  return images->size / 2 - (images->image - 1 - images->image / 2);
}

/* Writes the conjugates of corrected images, rotated to w, into the middle of planes; the cells
 * around them are left as they are. products: of these images, first of pixels. */
gboolean astro_degrid_rotate(const DegridImages *images, gconstpointer pixels, guint products,
                             double w, gpointer planes, cudaStream_t stream, GError **error);

/* Where visibilities reach planes. */
typedef struct {
  guint tiles, support;        /* tiles along a side; cells */
  guint first_tile, last_tile; /* in which images have columns */
  guint8 *notes, *map;         /* [plane][row of tiles]; [row of tiles][tile], of one plane */
} DegridReach;

/* Notes it for so many planes, once visibilities are sorted; and makes the map of a plane. */
gboolean astro_degrid_reach_note(const DegridReach *reach, const WstackingSorted *sorted,
                                 guint planes, gboolean is_double, cudaStream_t stream,
                                 GError **error);
gboolean astro_degrid_reach_map(const DegridReach *reach, guint plane, cudaStream_t stream,
                                GError **error);

/* Makes the planes of some products together. */
typedef struct DegridPlanes DegridPlanes;

DegridPlanes *astro_degrid_planes_new(const DegridImages *images, guint together,
                                      const AstroPlace *place, GError **error);
void astro_degrid_planes_free(DegridPlanes *planes);
/* Bytes that it needs, beside rooms. */
guint64 astro_degrid_planes_bytes(const DegridImages *images, guint together);
/* Makes the conjugates of the planes at w, in the second room: rows of tiles that the map does not
 * touch are undefined. pixels: corrected, of these products. rooms: two of these planes each; the
 * first was all zeros before the first call and is then left to this. */
gboolean astro_degrid_planes_make(const DegridPlanes *planes, gconstpointer pixels, double w,
                                  gpointer map, gpointer const rooms[2], GError **error);

/* ---- collecting ---- */

#define DEGRID_MOST_TOGETHER 4 /* products whose sums a visibility's lanes have in registers */

/* A plane of some products, and the visibilities that collect from it. */
typedef struct {
  WstackingSorted sorted;
  AstroDivisor side; /* bins along u */
  guint plane, size, support;
  guint products, first, n_here; /* of a visibility; those in the plane: the first, their number */
  gboolean is_flat;              /* one plane: nothing is spread in w */
  double phase_factor[2];        /* of the plane, complex */
  double beta;
  guint degree;
  const double *powers; /* astro_wstacking_send_powers */
  gconstpointer cells;  /* [product here][v][u] */
} DegridPlane;

gboolean astro_degrid_collect_single(const DegridPlane *plane, cudaStream_t stream, GError **error);
gboolean astro_degrid_collect_double(const DegridPlane *plane, cudaStream_t stream, GError **error);

/* ---- values ---- */

/* Visibilities of a few dumps: predicted values are [dump][channel][pair][product]. */
typedef struct {
  guint64 pairs; /* of stations, in a dump */
  guint channels, products;
  gboolean is_double;
  const double *uvw;         /* [dump][pair][3] */
  const guint8 *folded;      /* [dump][pair] */
  const double *wavenumbers; /* [channel] */
  gpointer values;
} DegridValues;

/* Where sorted values of some channels go, and the phases that planes left out. */
typedef struct {
  WstackingSorted sorted;
  guint first_channel, channels; /* that were sorted */
  double n_middle, centre_l, centre_m;
} DegridPut;

gboolean astro_degrid_put(const DegridValues *values, const DegridPut *put, cudaStream_t stream,
                          GError **error);

/* Correlations of dumps, made of predicted values: [dump][channel][baseline][correlation]. */
typedef struct {
  guint64 first, dumps; /* of the values */
  guint baselines, n_correlations, model_channels;
  gboolean is_double, subtract;             /* is_double: the blocks */
  const guint32 *pair_of;                   /* [baseline]; G_MAXUINT32: a station with itself */
  const double *totals;                     /* [model channel][product]: what such a baseline has */
  double factors[4][ASTRO_MAX_PRODUCTS][2]; /* correlation k is the sum of factors[k][p] times p */
  gconstpointer in;
  gpointer out;
} DegridTaking;

gboolean astro_degrid_take(const DegridValues *values, const DegridTaking *taking,
                           cudaStream_t stream, GError **error);

/* ---- predicting ---- */

typedef struct DegridPredictor DegridPredictor;

/* NULL, with an error, if the device has no room for even one dump. */
DegridPredictor *astro_degrid_predictor_new(const AstroDegridderConfig *config,
                                            const AstroPlace *place, GError **error);
void astro_degrid_predictor_free(DegridPredictor *self);

/* Predicts the first dumps of rows (host pointers, with folded), as many as there is room for, and
 * says how many. values: what it made, valid until the next call. */
gboolean astro_degrid_predict(DegridPredictor *self, const AstroGridRows *rows,
                              const guint8 *folded, guint64 pairs, guint64 *dumps,
                              DegridValues *values, GError **error);
