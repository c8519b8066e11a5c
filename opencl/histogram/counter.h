/* The instance of the OpenCL histogram: histogram.c is the backend, walk.c goes through the trees
 * on the host, and pairs of cells are counted on the device by whole.c, which knows how many pairs
 * there are in all, or by near.c, which looks at each of them. */
#pragma once

#include "core/histogram/count.h"
#include "opencl/runtime/opencl.h"

#define OPENCL_SEEDS 16384 /* of a slice */
#define OPENCL_GROUP 64    /* as GROUP in seeds.cl */

/* As Seed in seeds.cl. */
typedef struct {
  cl_uint a, n_a, b, n_b;
  cl_uint first, last;
  cl_uint region;
  cl_uint is_self;
} OpenclSeed;

/* A catalogue on the device; what its points do not have is NULL. */
typedef struct {
  gpointer positions, carried, bits; /* carried: weights, or FieldLeaf where there are fields */
} OpenclCatalogue;

typedef struct {
  Counter *counter;
  AstroPlace place;
  gsize values, n_sums;
  cl_kernel whole, near; /* NULL: not of use with this configuration */
  gpointer rows, columns, of_bits, counts, sums, seeds; /* on the device */
  OpenclSeed *slice;
  guint n_seeds;
  guint64 pairs; /* of the slice, and of cells that were counted or left out as a whole */
} OpenclCounter;

typedef struct {
  OpenclCounter *self;
  Count count;
  gboolean is_alone;
  CellRule rule;
  OpenclCatalogue a, b;
  gpointer squares, weights; /* of the table, on the device */
  GError **error;
} OpenclWalk;

/* Puts values on the device, which the host must not change until the queue is drained. NULL: none,
 * and *face stays NULL. */
gboolean astro_opencl_histogram_put(OpenclCounter *self, gpointer *face, gconstpointer values,
                                    gsize n, gsize bytes, GError **error);

gboolean astro_opencl_whole_open(OpenclCounter *self, GError **error);
/* Queue the seeds of the slice, which are on the device. */
gboolean astro_opencl_whole_count(OpenclWalk *walk);

/* Whether the pairs of such a histogram are looked at one by one, or may be. */
gboolean astro_opencl_near_is_wanted(const AstroHistogramConfig *config);
gboolean astro_opencl_near_open(OpenclCounter *self, GError **error);
gboolean astro_opencl_near_count(OpenclWalk *walk);

/* Goes through all pairs of cells, and waits until they are counted. FALSE: it failed, or the count
 * was cancelled. */
gboolean astro_opencl_walk(OpenclWalk *walk);
