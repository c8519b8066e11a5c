/* Catalogues on the device. */
#pragma once

#include "gpu/histogram/histogram.h"

struct HistogramCopy {
  guint64 serial;  /* of the points; 0 if there are none */
  guint64 turn;    /* the lowest is the least recently used */
  float4 *offsets; /* in one allocation with the arrays below */
  LeafPositions *positions;
  Cell *cells;
  double *weights;   /* NULL if there is no room for any */
  FieldLeaf *fields; /* the same */
  guint64 *bits;
  guint n_bit_words;
  gsize room_cells, room_leaves;
  gboolean has_weights, has_fields, has_bits;
  Cell *own_cells;   /* on the host, of points that were ordered on the device */
  cudaEvent_t ready; /* it has arrived */
  cudaEvent_t used;  /* no count reads it any longer */
};

/* For data, and for a random catalogue that is sent up while the ones before it are counted. */
#define HISTOGRAM_COPIES 4

/* Page-locked memory that catalogues pass through on their way up. */
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
  gpointer scratch; /* on the device, for ordering points */
  gsize scratch_bytes;
};

/* copies must be zeroed before, and cleared even if this fails. */
gboolean histogram_copies_init(HistogramCopies *copies, const AstroPlace *place, GError **error);
void histogram_copies_clear(HistogramCopies *copies);

/* The copy of these points. If there is none, they are sent up in place of a copy other than keep.
 * The caller's queue must wait for ready and record used. */
HistogramCopy *histogram_copies_get(HistogramCopies *copies, const AstroPoints *points,
                                    const HistogramCopy *keep, GError **error);
HistogramTree histogram_copy_tree(const HistogramCopy *copy);
/* The same cells on the host. */
const Cell *histogram_copy_cells(const HistogramCopy *copy, const AstroPoints *points);

/* For ordering points. Bytes are sent up, or brought down, through page-locked memory that several
 * threads fill or empty; those that are sent may be freed when this returns. */
gboolean histogram_copies_send(HistogramCopies *copies, gpointer to, gconstpointer from,
                               gsize bytes, GError **error);
gboolean histogram_copies_receive(HistogramCopies *copies, gpointer to, gconstpointer from,
                                  gsize bytes, GError **error);
void histogram_copies_free_scratch(HistogramCopies *copies);
guint32 histogram_cells_of(const AstroPoints *points); /* with a few that are not used */
