/* The parts of the CUDA correlator. Samples are prepared first: inputs (a polarisation of a station) with
 * time contiguous, real and imaginary parts side by side. A kernel then sums tiles of pairs of inputs over
 * a run of time steps and gives them to a sink. */
#pragma once

#include "gpu/cuda.h"

extern "C" {
#include "core/correlator/sums.h"
}

/* Prepared samples: [channel][input][step]. */
struct CorrelatorOperand {
  const guint8 *data;
  guint64 row, channel; /* bytes from input to input and from channel to channel */
  guint32 steps;
};

/* Where the sums of a run go: complex numbers channel:baseline:pol:pol of the lower triangle. */
struct CorrelatorSink {
  gpointer sums;    /* of int, gint64 or double */
  gpointer out;     /* visibilities; NULL: sums take what comes */
  gboolean add;     /* sums hold something */
  gboolean means;   /* visibilities are floats, sums times factor; else sums */
  double factor;
  guint64 products; /* of a channel */
  guint32 stations, pols;
  const double *scales; /* [channel][input] to multiply with, or NULL */
};

struct CorrelatorRun {
  CorrelatorOperand in;
  guint32 inputs, channels;
  /* The terms of a product of split samples: planes of the operand, plane bytes apart. */
  guint32 terms;
  guint64 plane;
  CorrelatorSink sink;
};

enum CorrelatorKind { CORRELATOR_S8, CORRELATOR_F16 }; /* components that tensor cores multiply */

gboolean astro_correlator_wgmma_init(GError **error);
gboolean astro_correlator_wgmma(CorrelatorKind kind, const CorrelatorRun *run, gint multiprocessors,
                                cudaStream_t stream, GError **error);
gboolean astro_correlator_mma_init(GError **error);
gboolean astro_correlator_mma(CorrelatorKind kind, const CorrelatorRun *run, cudaStream_t stream, GError **error);
/* from: CI8, CI16LE (sums of gint64), CF16LE or CF32LE. */
gboolean astro_correlator_simt(AstroFormat from, const CorrelatorRun *run, cudaStream_t stream, GError **error);

/* Samples of any order, prepared. */
struct CorrelatorGather {
  const guint8 *from;
  AstroCorrelatorStrides strides;
  guint8 *to;
  guint64 to_row, to_channel;
  guint32 count, channels, stations, pols;
  AstroFormat format; /* CI4 becomes CI8 */
  const guint8 *valid; /* of the first of these steps; NULL: all are valid */
  guint64 valid_time, valid_channel, valid_station;
};
gboolean astro_correlator_gather_on_device(const CorrelatorGather *gather, cudaStream_t stream, GError **error);

/* CF32LE in two planes of CF16LE whose sum is the sample over a power of two, one for each channel and input,
 * that goes to scales. */
gboolean astro_correlator_split(const CorrelatorOperand *in, guint8 *planes, guint64 row, guint64 plane,
                                double *scales, guint32 inputs, guint32 channels, cudaStream_t stream,
                                GError **error);

/* ---- for kernels ---- */

#ifdef __CUDACC__

/* The tile of that number, row by row of the lower triangle. */
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

/* The planes of a term, the smallest products first: low x high, high x low, high x high. */
__device__ inline guint32 correlator_left_plane(guint32 terms, guint32 term)
{
  return terms == 3 && term == 0;
}
__device__ inline guint32 correlator_right_plane(guint32 terms, guint32 term)
{
  return terms == 3 && term == 1;
}

/* (re, im) to (im, -re), or with bytes to (im, -re - 1), which holds for -128 too. */
template <CorrelatorKind KIND> __device__ inline guint32 correlator_turn(guint32 word)
{
  return KIND == CORRELATOR_S8 ? __byte_perm(word, 0, 0x2301) ^ 0xff00ff00u
                               : __byte_perm(word, 0, 0x1032) ^ 0x80000000u;
}

template <typename Sum> struct alignas(2 * sizeof(Sum)) CorrelatorComplex {
  Sum re, im;
};

__device__ inline guint64 correlator_product(const CorrelatorSink &sink, guint32 channel, guint32 row, guint32 column)
{
  guint32 i = sink.pols == 2 ? row / 2 : row, j = sink.pols == 2 ? column / 2 : column;
  guint64 baseline = (guint64)i * (i + 1) / 2 + j;
  return channel * sink.products +
         (sink.pols == 2 ? baseline * 4 + (row & 1) * 2 + (column & 1) : baseline);
}

template <typename Sum>
__device__ inline void correlator_give(const CorrelatorSink &sink, guint64 at, Sum re, Sum im)
{
  CorrelatorComplex<Sum> *sum = (CorrelatorComplex<Sum> *)sink.sums + at;
  if (sink.add) {
    re += sum->re;
    im += sum->im;
  }
  if (!sink.out)
    *sum = { re, im };
  else if (sink.means)
    ((float2 *)sink.out)[at] = make_float2((float)((double)re * sink.factor), (float)((double)im * sink.factor));
  else
    ((int2 *)sink.out)[at] = make_int2((int)re, (int)im);
}

/* Columns column and column + 1 of a row; column is even. */
template <typename Sum>
__device__ inline void correlator_give_two(const CorrelatorSink &sink, guint32 inputs, guint32 channel, guint32 row,
                                           guint32 column, Sum re0, Sum im0, Sum re1, Sum im1)
{
  guint32 last = sink.pols == 2 ? row | 1 : row;
  if (row >= inputs || column > last)
    return;
  if (sink.scales) {
    const double *scales = sink.scales + (guint64)channel * inputs;
    double left = scales[row], first = left * scales[column];
    double second = column + 1 < inputs ? left * scales[column + 1] : 0;
    re0 *= first;
    im0 *= first;
    re1 *= second;
    im1 *= second;
  }
  guint64 at = correlator_product(sink, channel, row, column);
  if (sink.pols == 2 && sizeof(Sum) == 4 && !sink.add) {
    if (!sink.out)
      ((int4 *)sink.sums)[at / 2] = make_int4((int)re0, (int)im0, (int)re1, (int)im1);
    else if (sink.means)
      ((float4 *)sink.out)[at / 2] =
          make_float4((float)((double)re0 * sink.factor), (float)((double)im0 * sink.factor),
                      (float)((double)re1 * sink.factor), (float)((double)im1 * sink.factor));
    else
      ((int4 *)sink.out)[at / 2] = make_int4((int)re0, (int)im0, (int)re1, (int)im1);
    return;
  }
  correlator_give<Sum>(sink, at, re0, im0);
  if (column < last)
    correlator_give<Sum>(sink, at + 1, re1, im1);
}

#endif
