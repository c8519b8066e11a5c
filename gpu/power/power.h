/* Shared by the kernels of power, which go by the pieces and splits of core/power/splits.h: one
 * adds up the samples of each station, channel, piece and split (add.cu), another makes
 * integrations of those sums (finish.cu). */
#pragma once

#include "core/power/splits.h"
#include "gpu/runtime/cuda.h"

enum { POWER_THREADS = 128 };

struct PowerStrides {
  guint64 time, channel, station, pol;
};

struct PowerJob {
  const guint8 *in; /* NULL: all is lost */
  PowerStrides strides;
  guint64 steps, integration, phase;
  guint32 stations, channels;

  const guint8 *valid; /* NULL: all is good */
  guint64 valid_time, valid_channel, valid_station;

  guint32 sums;   /* that are kept for each station and channel */
  guint32 splits; /* of each piece */
  guint64 first_piece;
  guint32 pieces; /* from that one on */
  double *parts;  /* [piece][split][sum][station][channel] */
};

/* Steps of a piece. */
__host__ __device__ static inline void power_piece(const PowerJob &job, guint64 piece,
                                                   guint64 *from, guint64 *to)
{
  const guint64 begin = piece * job.integration, end = begin + job.integration;
  *from = begin > job.phase ? begin - job.phase : 0;
  *to = end - job.phase < job.steps ? end - job.phase : job.steps;
}

struct PowerEnding {
  guint32 channels, channel_step, stations; /* of the output */
  guint32 station_step;                     /* stations of the input behind one of the output */
  guint32 products;
  AstroPowerPlaced recipes[ASTRO_POWER_MAX_PRODUCTS];
  double *open;          /* sums of the open integration, [sum][station][channel] */
  guint64 ended;         /* pieces of the call that end integrations */
  guint64 all;           /* pieces of the call */
  const guint32 *counts; /* [ended][station][channel] */
  float *out;
};

gboolean astro_power_add(const PowerJob *job, AstroFormat format, AstroPowerKind kind,
                         gboolean squares, cudaStream_t stream, GError **error);
/* Without splits, pieces have no sums of their own. */
gboolean astro_power_finish(const PowerJob *job, const PowerEnding *ending, cudaStream_t stream,
                            GError **error);
