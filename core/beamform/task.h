/* The work of one task of the CPU backend: a piece of a channel's rows, for a batch of beams. */
#pragma once

#include "core/backend/scratch.h"
#include "core/beamform/kernels.h"
#include "core/beamform/losses.h"
#include "core/lib/formats/samples.h"
#include "core/lib/predict/kernels.h"

G_BEGIN_DECLS

#define ASTRO_BEAMFORM_BATCH                                                                       \
  192 /* beams of a task, at most, so that their weights fit the caches */

/* An instance, as far as tasks need to know it. */
typedef struct {
  AstroBeamformConfig config;
  AstroBeamformSize size;
  const AstroBeamformKernels *kernels;
  const AstroPredictKernels *phasors;
  AstroBeamformSpread spread;
  gboolean is_widened; /* samples become CF32LE before they are spread */
  AstroSamples widen, narrow;
  AstroScratch *scratch;
} AstroBeamformWorker;

/* The configuration is set; all else follows from it. */
void astro_beamform_worker_init(AstroBeamformWorker *worker);
void astro_beamform_worker_clear(AstroBeamformWorker *worker);

/* A run of samples with the same phases, in each row of a channel. */
typedef struct {
  guint64 first, length;
  guint64 interval; /* of the block */
} AstroBeamformPiece;

/* A block in the order channel:station:pol:time, and what becomes of it. */
typedef struct {
  const AstroBeamformWorker *worker;
  const AstroBeamformArguments *arguments;
  AstroBeamformGood good;
  const AstroBeamformPiece *pieces;
  guint n_pieces, n_batches;
  guint64 row; /* samples of a row: pol and time */
  const guint8 *in;
  guint8 *out;
  guint64 clipped; /* atomic */
} AstroBeamformWork;

/* Tasks are counted by channel, then by piece, then by batch, the last fastest. */
void astro_beamform_task(gpointer work, guint64 task);

G_END_DECLS
