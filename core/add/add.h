/* Add: combines several streams of the same quantity. Sums (visibilities in CI32LE, grids, pair
 * counts) are added; means (other visibilities, power) are weighted by the good samples behind
 * each:
 *
 *   V = sum over streams of c V / sum over streams of c,   c' = sum of c
 *
 * Lost samples have no weight. A block is combined from pieces; a piece is some steps of a buffer
 * of one stream.
 */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Time must be the slowest axis, if there is one. */
typedef struct {
  AstroStream stream;
} AstroAddConfig;

/* Steps first to first + n of a buffer with `steps` steps; they are the steps from `at` on in the
 * block. */
typedef struct {
  guint64 steps, first, n, at;
  const AstroValidityMeta *meta; /* NULL: no losses, and every value has `full` samples */
  guint32 full;
} AstroAddPiece;

typedef struct {
  guint64 steps; /* of the block */
  const AstroAddPiece *pieces;
} AstroAddArguments;

/* submit takes an input block for each piece, one output block, and an AstroAddArguments *. Pieces
 * without data are lost. An integer sum that does not fit the format is an error. */
extern const AstroBackend astro_add_reference;
extern const AstroBackend astro_add_cpu;
extern const AstroBackend *const astro_add_backends[]; /* ends with NULL */

/* An AstroTellWork, with the samples of all streams together. */
gboolean astro_add_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

/* Whether values are means, to be weighted by their counts. */
gboolean astro_add_is_mean(const AstroStream *stream);

/* Adds the counts of a block to out; full is that of all streams together. A piece that is lost has
 * no meta, and its full is 0. */
void astro_add_validity(const AstroAddConfig *config, const AstroAddArguments *arguments,
                        guint n_pieces, guint32 full, GstBuffer *out);

G_END_DECLS
