/* The parts of the CUDA channelizer. Samples are CI8 or CF32LE, inputs with time contiguous; a
 * transform has n points, real samples are complex ones with no imaginary part. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/channelizer/channelizer.h"
}

/* The samples that spectra are made of, counted from the first of the first spectrum's: those
 * before `split` are held, the others lie in the block. */
struct ChannelizerSamples {
  const guint8 *held;  /* of sample 0 */
  const guint8 *block; /* of sample split; NULL: zeros */
  gint64 split;
  guint64 held_row, block_row; /* samples from input to input */
};

struct ChannelizerRun {
  ChannelizerSamples in;
  const float *weights;   /* [tap][point] */
  const float2 *twiddles; /* exp(-2 pi i k / n) */
  const float2
      *powers; /* for between a kernel's passes: astro_channelizer_powers, ..._square_powers */
  const float *gains; /* of channels, or NULL */
  guint32 taps, n, channels,
      turn;      /* turn: sample that point 0 begins with; points before it come last */
  guint32 below; /* channels below the band's centre */
  guint32 inputs;
  guint64 count; /* spectra */
  guint8 *out;
  AstroFormat to;
  guint64 *clipped;
};

/* All in one kernel: n is 1024, taps are 4 or 8. Its powers are twiddles of fft_turns<32>, for w of
 * lane 1024ths of a circle: [twiddle / 2][lane][twiddle % 2]. */
gboolean astro_channelizer_is_square(guint32 n, guint taps);
guint astro_channelizer_square_powers(float2 *powers);
gboolean astro_channelizer_square_init(gboolean bytes, guint taps, GError **error);
gboolean astro_channelizer_square(gboolean bytes, const ChannelizerRun *run, guint multiprocessors,
                                  cudaStream_t stream, GError **error);

/* All in one kernel: n is a power of two from 16 to 4096. */
gboolean astro_channelizer_fuses(guint32 n);
/* For the second and the third pass: exp(-2 pi i k / m) to the powers 1, 2, 4 and 8, k below the
 * points that the passes before made, m those that it makes. Returns how many; powers may be NULL.
 */
guint astro_channelizer_powers(guint32 n, float2 *powers);
gboolean astro_channelizer_fused(gboolean bytes, const ChannelizerRun *run, cudaStream_t stream,
                                 GError **error);

/* Any n: filtered samples go to room, of 2 x rows x n float2, and are transformed there factor by
 * factor. */
gboolean astro_channelizer_passes(gboolean bytes, const ChannelizerRun *run, float2 *room,
                                  guint32 rows, cudaStream_t stream, GError **error);

#ifdef __CUDACC__
#include "gpu/runtime/samples.h"

__device__ inline float2 channelizer_value(char2 sample)
{
  return make_float2(sample.x, sample.y);
}
__device__ inline float2 channelizer_value(float2 sample)
{
  return sample;
}

template <typename Sample>
__device__ inline float2 channelizer_sample(const ChannelizerSamples &in, guint32 input, gint64 at)
{
  if (at < in.split)
    return channelizer_value(((const Sample *)in.held)[input * in.held_row + at]);
  if (!in.block)
    return make_float2(0, 0);
  return channelizer_value(((const Sample *)in.block)[input * in.block_row + (at - in.split)]);
}

/* One bin of a transform to its channel, if it has one. row: input x count + spectrum. */
__device__ inline void channelizer_give(const ChannelizerRun &run, guint64 row, guint32 bin,
                                        float2 value, int *clipped)
{
  guint32 channel = bin + run.below;
  if (bin >= run.channels)
    return;
  if (channel >= run.channels)
    channel -= run.channels;
  if (run.gains) {
    value.x *= run.gains[channel];
    value.y *= run.gains[channel];
  }
  write_sample(run.out, row * run.channels + channel, run.to, value, clipped);
}

__device__ inline void channelizer_count(const ChannelizerRun &run, int clipped)
{
  clipped = __reduce_add_sync(0xffffffff, clipped);
  if (threadIdx.x % 32 == 0 && clipped)
    atomicAdd((unsigned long long *)run.clipped, (unsigned long long)clipped);
}
#endif
