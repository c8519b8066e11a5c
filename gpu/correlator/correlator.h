/* Parts of the CUDA correlator. Samples are prepared first: rows of inputs (a polarisation of a
 * station) with time contiguous, and real and imaginary parts side by side. A kernel then sums
 * tiles of pairs of inputs over a run of time steps, and gives the sums to a sink. */
#pragma once

#include "gpu/runtime/cuda.h"
#include "gpu/runtime/gather.h"

extern "C" {
#include "core/correlator/sums.h"
#include "core/memory/memory.h"
}

#include <type_traits>

/* A block for every channel: on the device, or, if it has no room for all, on the host, with those
 * of one group of channels at a time on the device. */
struct CorrelatorHeld {
  gpointer face; /* on the device, of the current group */
  gsize channel_bytes;
  GstMemory *memory; /* NULL: one group has all channels, and nothing is copied */
  GstMapInfo host;
};

gboolean astro_correlator_held_alloc(CorrelatorHeld *held, const AstroPlace *place, guint channels,
                                     guint group, gsize channel_bytes, GError **error);
void astro_correlator_held_free(CorrelatorHeld *held, const AstroPlace *place);
/* Queue copies of n channels' blocks: bring from the host to the face, keep the other way. */
gboolean astro_correlator_held_bring(const CorrelatorHeld *held, guint first, guint n,
                                     cudaStream_t stream, GError **error);
gboolean astro_correlator_held_keep(const CorrelatorHeld *held, guint first, guint n,
                                    cudaStream_t stream, GError **error);

/* Prepared samples: [channel][input][step]. */
struct CorrelatorOperand {
  const guint8 *data;
  guint64 row, channel; /* bytes from input to input and from channel to channel */
  guint32 steps;
};

/* Where a run's sums go: complex numbers channel:baseline:pol:pol of the lower triangle. */
struct CorrelatorSink {
  gpointer sums;  /* of int, gint64 or double */
  gpointer out;   /* visibilities; NULL: the results stay in sums */
  gboolean add;   /* sums hold earlier results, to be added to */
  gboolean means; /* visibilities are floats: sums times factor; otherwise they are the sums */
  double factor;
  gboolean brief; /* sums are so small that `high` and `low`, which add up to factor, do */
  float high, low;
  guint64 products; /* in a channel */
  guint32 stations, pols;
  const double *scales; /* [channel][input] factors, or NULL */
};

struct CorrelatorRun {
  CorrelatorOperand in;
  guint32 inputs, channels;
  guint32 planes; /* 2: samples are split into low and high halves, plane bytes apart */
  guint64 plane;
  CorrelatorSink sink;
};

/* Components that tensor cores multiply. */
enum CorrelatorKind { CORRELATOR_S8, CORRELATOR_F16, CORRELATOR_SPLIT };

const void *astro_correlator_wgmma_kernel(CorrelatorKind kind);
gboolean astro_correlator_wgmma_init(CorrelatorKind kind, GError **error);
gboolean astro_correlator_wgmma(CorrelatorKind kind, const CorrelatorRun *run, gint multiprocessors,
                                cudaStream_t stream, GError **error);
/* CI4 as it is, by three products. */
const void *astro_correlator_three_kernel(CorrelatorKind kind);
gboolean astro_correlator_three_init(GError **error);
gboolean astro_correlator_three(const CorrelatorRun *run, gint multiprocessors, cudaStream_t stream,
                                GError **error);
const void *astro_correlator_mma_kernel(CorrelatorKind kind);
gboolean astro_correlator_mma_init(CorrelatorKind kind, GError **error);
gboolean astro_correlator_mma(CorrelatorKind kind, const CorrelatorRun *run, cudaStream_t stream,
                              GError **error);
/* from: CI8, CI16LE (sums of gint64) or CF16LE. */
gboolean astro_correlator_simt(AstroFormat from, const CorrelatorRun *run, cudaStream_t stream,
                               GError **error);
/* CF32LE in true single precision. */
gboolean astro_correlator_f32_init(GError **error);
gboolean astro_correlator_f32(const CorrelatorRun *run, cudaStream_t stream, GError **error);

/* Splits CF32LE into two planes of CF16LE, low and high. Their sum is the sample divided by a power
 * of two, one for each channel and input, which goes to scales. */
gboolean astro_correlator_split(const CorrelatorOperand *in, guint8 *planes, guint64 row,
                                guint64 plane, double *scales, guint32 inputs, guint32 channels,
                                cudaStream_t stream, GError **error);

/* ---- for kernels ---- */

#ifdef __CUDACC__

/* The tile of this number, row by row in the lower triangle. */
__device__ inline void correlator_tile(guint32 number, guint32 *row, guint32 *column)
{
  guint32 i = (guint32)((sqrtf(8.f * number + 1) - 1) / 2);
  while ((guint64)(i + 1) * (i + 2) / 2 <= number)
    i++;
  while ((guint64)i * (i + 1) / 2 > number)
    i--;
  *row = i;
  *column = (guint32)(number - (guint64)i * (i + 1) / 2);
}

/* (re, im) to (im, -re), or for bytes to (im, -re - 1), which is possible for -128 too. */
template <CorrelatorKind KIND> __device__ inline guint32 correlator_turn(guint32 word)
{
  return KIND == CORRELATOR_S8 ? __byte_perm(word, 0, 0x2301) ^ 0xff00ff00u
                               : __byte_perm(word, 0, 0x1032) ^ 0x80000000u;
}

template <typename Sum> struct alignas(2 * sizeof(Sum)) CorrelatorComplex {
  Sum re, im;
};

__device__ inline guint64 correlator_product(const CorrelatorSink &sink, guint32 channel,
                                             guint32 row, guint32 column)
{
  guint32 i = sink.pols == 2 ? row / 2 : row, j = sink.pols == 2 ? column / 2 : column;
  guint64 baseline = (guint64)i * (i + 1) / 2 + j;
  return channel * sink.products +
         (sink.pols == 2 ? baseline * 4 + (row & 1) * 2 + (column & 1) : baseline);
}

/* How results are given: as means; as means of small integers; as sums, to `sums` or, as integers,
 * to the output; or added to earlier sums, and then to either of them. */
enum CorrelatorGiving { GIVE_MEANS, GIVE_BRIEF_MEANS, GIVE_SUMS, GIVE_ADDED };

__device__ inline CorrelatorGiving correlator_giving(const CorrelatorSink &sink)
{
  return sink.add                   ? GIVE_ADDED
         : !sink.out || !sink.means ? GIVE_SUMS
         : sink.brief               ? GIVE_BRIEF_MEANS
                                    : GIVE_MEANS;
}

template <typename Sum>
__device__ inline float2 correlator_mean(const CorrelatorSink &sink, Sum re, Sum im)
{
  return make_float2((float)((double)re * sink.factor), (float)((double)im * sink.factor));
}

/* The same for a sum of at most 2^24 over fewer than 2^16 samples, without slow conversions to and
 * from double precision, and equal to it bit for bit: such a mean is at least 2^-41 of itself away
 * from the middle between two floats, and this is good to 2^-47 before it is rounded. */
__device__ inline float correlator_brief_mean(const CorrelatorSink &sink, int sum)
{
  const float exact = (float)sum;
  return fmaf(exact, sink.high, exact * sink.low);
}

/* The mean of a sum, or of several, as it is asked for. */
template <CorrelatorGiving GIVING, typename Sum>
__device__ inline float2 correlator_mean_as(const CorrelatorSink &sink, Sum re, Sum im)
{
  if constexpr (GIVING == GIVE_BRIEF_MEANS)
    return make_float2(correlator_brief_mean(sink, re), correlator_brief_mean(sink, im));
  else
    return correlator_mean<Sum>(sink, re, im);
}

/* Gives one product. */
template <CorrelatorGiving GIVING, typename Sum>
__device__ inline void correlator_give(const CorrelatorSink &sink, guint64 at, Sum re, Sum im)
{
  CorrelatorComplex<Sum> *sum = (CorrelatorComplex<Sum> *)sink.sums + at;
  if (GIVING == GIVE_ADDED) {
    re += sum->re;
    im += sum->im;
  }
  if (GIVING == GIVE_MEANS || GIVING == GIVE_BRIEF_MEANS ||
      (GIVING == GIVE_ADDED && sink.out && sink.means))
    ((float2 *)sink.out)[at] = correlator_mean_as<GIVING, Sum>(sink, re, im);
  else if (sink.out)
    ((int2 *)sink.out)[at] = make_int2((int)re, (int)im);
  else
    *sum = { re, im };
}

/* Gives two products side by side, the first at an even place. */
template <CorrelatorGiving GIVING, typename Sum>
__device__ inline void correlator_give_pair(const CorrelatorSink &sink, guint64 at, Sum re0,
                                            Sum im0, Sum re1, Sum im1)
{
  if (GIVING == GIVE_MEANS || GIVING == GIVE_BRIEF_MEANS) {
    float2 first = correlator_mean_as<GIVING, Sum>(sink, re0, im0),
           second = correlator_mean_as<GIVING, Sum>(sink, re1, im1);
    ((float4 *)sink.out)[at / 2] = make_float4(first.x, first.y, second.x, second.y);
  } else if (GIVING == GIVE_SUMS && std::is_same_v<Sum, int>) {
    ((int4 *)(sink.out ? sink.out : sink.sums))[at / 2] =
        make_int4((int)re0, (int)im0, (int)re1, (int)im1);
  } else {
    correlator_give<GIVING, Sum>(sink, at, re0, im0);
    correlator_give<GIVING, Sum>(sink, at + 1, re1, im1);
  }
}

/* Pairs of columns in a row, beginning with an even column: values common to all of them. */
template <int POLS> struct CorrelatorRow {
  guint64 at;           /* the product of the first column */
  gint32 last;          /* last wanted column, counted from the first; below 0: none */
  double scale;         /* factor of the row */
  const double *scales; /* factors of the columns; NULL: 1 */

  __device__ CorrelatorRow(const CorrelatorSink &sink, guint32 inputs, guint32 channel, guint32 row,
                           guint32 column)
  {
    at = correlator_product(sink, channel, row, column);
    last = row < inputs ? (gint32)(POLS == 2 ? row | 1 : row) - (gint32)column : -1;
    scales = sink.scales ? sink.scales + (guint64)channel * inputs + column : NULL;
    scale = scales && row < inputs ? scales[(gint32)row - (gint32)column] : 1;
  }

  template <CorrelatorGiving GIVING, typename Sum>
  __device__ void give(const CorrelatorSink &sink, guint32 offset, Sum re0, Sum im0, Sum re1,
                       Sum im1) const
  {
    const guint64 there = at + offset * POLS;
    const bool two = POLS == 2 || (gint32)offset < last;
    if ((gint32)offset > last)
      return;
    if constexpr (std::is_same_v<Sum, double>)
      if (scales) {
        const double first = scale * scales[offset], second = two ? scale * scales[offset + 1] : 0;
        re0 *= first;
        im0 *= first;
        re1 *= second;
        im1 *= second;
      }
    if (POLS == 2)
      correlator_give_pair<GIVING, Sum>(sink, there, re0, im0, re1, im1);
    else {
      correlator_give<GIVING, Sum>(sink, there, re0, im0);
      if (two)
        correlator_give<GIVING, Sum>(sink, there + 1, re1, im1);
    }
  }
};

/* Calls give(giving, pols), both known at compile time, as the sink asks for. */
template <typename Sum, typename Give>
__device__ inline void correlator_give_all(const CorrelatorSink &sink, Give give)
{
  using std::integral_constant;
  auto with = [&](auto pols) {
    switch (correlator_giving(sink)) {
    case GIVE_MEANS:
      return give(integral_constant<CorrelatorGiving, GIVE_MEANS>(), pols);
    case GIVE_BRIEF_MEANS: /* of integers alone */
      if constexpr (std::is_same_v<Sum, int>)
        give(integral_constant<CorrelatorGiving, GIVE_BRIEF_MEANS>(), pols);
      return;
    case GIVE_SUMS:
      return give(integral_constant<CorrelatorGiving, GIVE_SUMS>(), pols);
    default:
      return give(integral_constant<CorrelatorGiving, GIVE_ADDED>(), pols);
    }
  };
  if (sink.pols == 2)
    with(integral_constant<int, 2>());
  else
    with(integral_constant<int, 1>());
}

#endif
