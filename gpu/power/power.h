/* Shared by the kernels of power.
 *
 * A block is cut into pieces, each a part of one integration, and the time of each piece into
 * splits, so that there is work for the whole device whatever the shape. One kernel adds up the
 * samples of each station, channel, piece and split (add.cu); another adds those sums in a fixed
 * order, so that results do not depend on chance, and makes integrations of them (finish.cu). */
#pragma once

#include "core/power/products.h"
#include "gpu/runtime/cuda.h"

enum { POWER_THREADS = 128, POWER_MOST_SPLIT = 32768 /* steps that integers can add up */ };

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

/* How a product is made of the sums that are kept; see AstroPowerRecipe. */
struct PowerRecipe {
  guint32 which[2];
  double factor[2];
};

struct PowerEnding {
  guint32 channels, channel_step, stations; /* of the output */
  guint32 station_step;                     /* stations of the input behind one of the output */
  guint32 products;
  PowerRecipe recipes[ASTRO_POWER_MAX_PRODUCTS];
  double *open;          /* sums of the open integration, [sum][station][channel] */
  guint64 ended;         /* pieces of the call that end integrations */
  guint64 all;           /* pieces of the call */
  const guint32 *counts; /* [ended][station][channel] */
  float *out;
};

/* The sums that are kept, in their order. */
guint32 astro_power_kept(AstroPowerKind kind, gboolean squares, AstroPowerSum *kept);

gboolean astro_power_add(const PowerJob *job, AstroFormat format, AstroPowerKind kind,
                         gboolean squares, cudaStream_t stream, GError **error);
/* Without splits, pieces have no sums of their own. */
gboolean astro_power_finish(const PowerJob *job, const PowerEnding *ending, cudaStream_t stream,
                            GError **error);
