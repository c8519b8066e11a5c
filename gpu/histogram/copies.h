/* Catalogues on the device. */
#pragma once

#include "gpu/histogram/histogram.h"

struct HistogramCopy {
  guint64 serial;  /* of the points; 0: none */
  guint64 turn;    /* the least was used the longest ago */
  float4 *offsets; /* in one block with what follows */
  LeafPositions *positions;
  Cell *cells;
  double *weights; /* NULL: no room for any */
  gsize room_cells, room_leaves;
  gboolean has_weights;
  cudaEvent_t ready; /* it is there */
  cudaEvent_t used;  /* no count reads it any more */
};

/* Data, and a random catalogue that is sent up while those before it are counted. */
#define HISTOGRAM_COPIES 4

/* Page-locked memory on the way up. */
struct HistogramStage {
  guint8 *host;
  cudaEvent_t sent;
};
#define HISTOGRAM_STAGES 2

struct HistogramCopies {
  AstroDevice *device;
  AstroQueue *up;
  guint threads;
  HistogramStage stages[HISTOGRAM_STAGES];
  guint next_stage;
  HistogramCopy copies[HISTOGRAM_COPIES];
  guint64 turn;
};

/* Zeroed before; to be cleared if it fails, too. */
gboolean histogram_copies_init(HistogramCopies *copies, const AstroPlace *place, GError **error);
void histogram_copies_clear(HistogramCopies *copies);

/* That of these points, sent up if it is not there, in place of another one than keep. The caller's
 * queue waits for ready and records used. */
HistogramCopy *histogram_copies_get(HistogramCopies *copies, const AstroPoints *points,
                                    const HistogramCopy *keep, GError **error);
HistogramTree histogram_copy_tree(const HistogramCopy *copy);
