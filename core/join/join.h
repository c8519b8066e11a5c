/* Join: combines streams that have parts of an axis to one stream. A block is combined from pieces;
 * a piece is some steps of a buffer of one of the streams, or a loss. */
#pragma once

#include "core/backend/backend.h"
#include "core/memory/box.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct {
  AstroStream out;
  AstroAxis axis;
} AstroJoinConfig;

/* Steps first to first + n of a buffer with `steps` steps; they are the steps from `at` on in the
 * block. Along the joined axis the buffer has `extent` elements, from `place` on. Pieces do not
 * overlap, and cover the whole block. */
typedef struct {
  guint64 place, extent;
  guint64 steps, first, n;
  guint64 at;
} AstroJoinPiece;

typedef struct {
  guint64 steps; /* of the block */
  const AstroJoinPiece *pieces;
} AstroJoinArguments;

/* submit takes an input block for each piece, one output block, and an AstroJoinArguments *. An
 * input block without data is a loss: zeros are written for it. */
extern const AstroBackend astro_join_reference;
extern const AstroBackend astro_join_cpu;
extern const AstroBackend *const astro_join_backends[]; /* ends with NULL */

/* A piece as a box, for copies on a device (core/memory/box.h). */
void astro_join_find_box(const AstroJoinConfig *config, guint64 steps, const AstroJoinPiece *piece,
                         AstroBox *box);

/* The counts of a piece. */
typedef struct {
  const AstroValidityMeta *meta; /* NULL: all samples are good, or with is_lost none */
  gboolean is_lost;
} AstroJoinCounts;

/* Adds the counts of a block to out, if there are losses or counts. */
void astro_join_validity(const AstroJoinConfig *config, const AstroJoinArguments *arguments,
                         const AstroJoinCounts *counts, guint n_pieces, GstBuffer *out);

/* The part of one stream in a block of grids or images: a buffer, and where its part is along the
 * joined axis. */
typedef struct {
  const char *pad;   /* for errors */
  GstBuffer *buffer; /* NULL: lost */
  guint64 place, extent;
} AstroJoinPart;

/* The fitted beam of joined images, of which a meta can have one. */
typedef struct {
  gboolean differs; /* the images' beams are not all the same */
  const char *pad;  /* whose beam was taken; NULL: none has one */
} AstroJoinBeam;

/* Adds the joined meta of grids or of images to out: sums of weights are put side by side, numbers
 * of visibilities are added. What does not belong together is refused. */
gboolean astro_join_grids(const AstroJoinConfig *config, const AstroJoinPart *parts, guint n,
                          GstBuffer *out, GError **error);
gboolean astro_join_images(const AstroJoinConfig *config, const AstroJoinPart *parts, guint n,
                           GstBuffer *out, AstroJoinBeam *beam, GError **error);

/* One of several contiguous bands, in the order in which they are joined. name: of its stream, for
 * errors. */
typedef struct {
  const char *name;
  double frequency, bandwidth;
  guint64 channels;
} AstroJoinBand;

gboolean astro_join_bands(const AstroJoinBand *bands, guint n, double *frequency, double *bandwidth,
                          GError **error);

G_END_DECLS
