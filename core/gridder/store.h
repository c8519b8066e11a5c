/* Prepared visibilities that are kept in a temporary file, because they do not fit into memory. The
 * file lies in the folder of temporary files (TMPDIR), and is gone when the store is freed or the
 * process ends, however that happens. */
#pragma once

#include "core/gridder/gridder.h"

G_BEGIN_DECLS

typedef struct {
  guint channels, products; /* of a row */
  gboolean is_double;
  gboolean has_weights;
  const double *wavenumbers; /* of the channels; the caller's, and stay */
  guint64 part_rows;         /* rows that are in memory at once */
} AstroRowStoreShape;

/* Some of the rows, with what weighting needs to know of them. */
typedef struct {
  guint64 rows;
  const double *uvw;
  /* Natural weights, and the factors that values are multiplied by beside them. */
  const float *weights;
  float *factors;
  gpointer values; /* NULL: factors are all that is wanted */
  guint products;
  gboolean is_double;
  gsize row_step, channel_step; /* where those of the next row, of the next channel are */
} AstroWeightedRows;

/* Bytes in memory for so many rows at once. */
guint64 astro_row_store_bytes(const AstroRowStoreShape *shape, guint64 part_rows);

AstroRowStore *astro_row_store_new(const AstroRowStoreShape *shape, GError **error);
void astro_row_store_free(AstroRowStore *store);

/* Appends rows with their natural weights, [row][channel]; NULL: weights are not kept. */
gboolean astro_row_store_add(AstroRowStore *store, const AstroGridRows *rows, const float *weights,
                             GError **error);

const AstroRowStoreShape *astro_row_store_shape(const AstroRowStore *store);
guint64 astro_row_store_rows(const AstroRowStore *store);
guint astro_row_store_parts(const AstroRowStore *store);

/* Reads a part, in the order in which rows were added; values are multiplied by their factors. What
 * was read is valid until the next call. */
gboolean astro_row_store_read(AstroRowStore *store, guint part, AstroGridRows *rows,
                              GError **error);
/* Reads the weights of channels first to first + n of a part; weights[0] is the channel first.
 * Factors are 1, to be set and written. */
gboolean astro_row_store_read_weights(AstroRowStore *store, guint part, guint first, guint n,
                                      AstroWeightedRows *rows, GError **error);
gboolean astro_row_store_write_factors(AstroRowStore *store, guint part, guint first, guint n,
                                       GError **error);

G_END_DECLS
