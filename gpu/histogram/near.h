/* Pairs that are looked at one by one: in space, where points carry something, and where pairs have
 * weights of their own. */
#pragma once

#include "core/histogram/pair-weights.h"
#include "core/histogram/space.h"
#include "gpu/histogram/histogram.h"

/* Pairs add one to their bin, and this to its sums. */
enum HistogramAdds {
  ADDS_ONE,
  ADDS_WEIGHT,      /* of its points */
  ADDS_PAIR_WEIGHT, /* and its own */
  ADDS_KK,          /* from here on as AstroPairFields */
  ADDS_NK,
  ADDS_NG,
  ADDS_GG,
  ALL_ADDS
};

/* Edges as squares, of rows and of columns, on the device. By angle there is one column without a
 * limit. */
struct HistogramBins {
  const double *rows, *columns;
  guint32 n_edges, n_columns;
  double limit; /* of columns */
  double far;   /* squares of separations beyond it lie in no bin */
};

struct HistogramNear {
  AstroBinning kind;
  HistogramAdds adds;
  HistogramBins bins;
  PairWeigher weigher; /* with pointers to the device */
};

/* How the pairs of a count are to be looked at; rows and so on lie on the device. */
HistogramNear histogram_near_of(const Count *count, const HistogramCount &on_device,
                                const double *rows, const double *columns, const double *of_bits,
                                const PairTable &table);
/* Counts the list exact. */
void histogram_near(const HistogramCount &count, const HistogramNear &near, guint blocks,
                    cudaStream_t stream);
/* Loads the kernel of a configuration while there is still memory for it. */
gboolean histogram_near_prepare(const AstroHistogramConfig *config, GError **error);
