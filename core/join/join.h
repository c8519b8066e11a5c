/* Join: streams that hold parts of an axis, side by side in one. A block is put together of pieces:
 * some steps of a buffer of one of the streams, or of what is lost. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct {
  AstroStream out;
  AstroAxis axis;
} AstroJoinConfig;

/* Steps first to first + n of a buffer of so many, which are steps at on of the block; and along
 * the axis that is joined, what it holds of it. Pieces do not overlap, and leave nothing out. */
typedef struct {
  guint64 place, extent;
  guint64 steps, first, n;
  guint64 at;
} AstroJoinPiece;

typedef struct {
  guint64 steps; /* of the block */
  const AstroJoinPiece *pieces;
} AstroJoinArguments;

/* submit takes a block of each piece, one out, and an AstroJoinArguments *. A block without data is
 * lost: zeros take its place. */
extern const AstroBackend astro_join_reference;
extern const AstroBackend astro_join_cpu;
extern const AstroBackend *const astro_join_backends[]; /* up to a NULL */

/* What is known of a piece's samples. */
typedef struct {
  const AstroValidityMeta *meta; /* NULL: all are good, or none */
  gboolean is_lost;
} AstroJoinCounts;

/* The counts of a block, added to out where something is missing or counted. */
void astro_join_validity(const AstroJoinConfig *config, const AstroJoinArguments *arguments,
                         const AstroJoinCounts *counts, guint n_pieces, GstBuffer *out);

/* One band of those that adjoin, in the order in which they are joined. names: of the streams, for
 * the error. */
typedef struct {
  const char *name;
  double frequency, bandwidth;
  guint64 channels;
} AstroJoinBand;

gboolean astro_join_bands(const AstroJoinBand *bands, guint n, double *frequency, double *bandwidth,
                          GError **error);

G_END_DECLS
