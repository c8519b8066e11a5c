/* Add: what several streams say of the same, as one. Sums (of visibilities in CI32LE, grids, pair
 * counts) are added up; means of visibilities by the good samples behind each:
 *
 *   V = sum over streams of c V / sum over streams of c,   c' = sum of c
 *
 * What is lost has no weight. A block is put together of pieces, steps of a buffer of one stream.
 */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Time is the slowest axis, or there is none. */
typedef struct {
  AstroStream stream;
} AstroAddConfig;

/* Steps first to first + n of a buffer of so many, which are steps at on of the block. */
typedef struct {
  guint64 steps, first, n, at;
  const AstroValidityMeta *meta; /* NULL: each value has all its samples, which are full many */
  guint32 full;
} AstroAddPiece;

typedef struct {
  guint64 steps; /* of the block */
  const AstroAddPiece *pieces;
} AstroAddArguments;

/* submit takes a block of each piece, one out, and an AstroAddArguments *. Those without data are
 * lost. An integer that the sum does not fit is an error. */
extern const AstroBackend astro_add_reference;
extern const AstroBackend astro_add_cpu;
extern const AstroBackend *const astro_add_backends[]; /* up to a NULL */

/* Whether values are weighted means. */
gboolean astro_add_is_mean(const AstroStream *stream);

/* The counts of a block, added to out; full: of all streams together. A piece that is lost has no
 * meta, and full is 0. */
void astro_add_validity(const AstroAddConfig *config, const AstroAddArguments *arguments,
                        guint n_pieces, guint32 full, GstBuffer *out);

G_END_DECLS
