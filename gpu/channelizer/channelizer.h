/* Parts of the CUDA channelizer. Samples are CI8 or CF32LE, or CI4 for the kernel that takes them
 * as they are, with time contiguous in each input. A transform has n points; real samples are taken
 * as complex ones with imaginary part 0. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/channelizer/channelizer.h"
}

/* The samples that spectra are made from, numbered from the first one of the first spectrum: those
 * before `split` are held from earlier blocks, the others are in the block. */
struct ChannelizerSamples {
  const guint8 *held;  /* sample 0 */
  const guint8 *block; /* sample split; NULL: zeros */
  gint64 split;
  guint64 held_row, block_row; /* samples from input to input */
};

struct ChannelizerRun {
  ChannelizerSamples in;
  const float *weights;   /* [tap][point] */
  const float2 *twiddles; /* exp(-2 pi i k / n) */
  const float2 *powers;   /* twiddles between passes, from a kernel's own function */
  const float *gains;     /* for each channel, or NULL */
  guint32 taps, n, channels,
      turn;      /* turn: sample of point 0; those before it wrap around to the last points */
  guint32 below; /* channels below the band's centre */
  guint32 inputs;
  guint64 count; /* spectra */
  guint8 *out;
  AstroFormat to;
  guint64 *clipped;
};

/* All in one kernel, for n = 1024 and 4 or 8 taps. Its powers are the twiddles of fft_turns<32> for
 * w of lane 1024ths of a cycle: [twiddle / 2][lane][twiddle % 2]. */
gboolean astro_channelizer_is_square(guint32 n, guint taps);
guint astro_channelizer_square_powers(float2 *powers);
gboolean astro_channelizer_square_init(gboolean bytes, guint taps, GError **error);
gboolean astro_channelizer_square(gboolean bytes, const ChannelizerRun *run, guint multiprocessors,
                                  cudaStream_t stream, GError **error);

/* All in one kernel, for n a power of two from 16 to 4096. */
gboolean astro_channelizer_fuses(guint32 n);
/* Twiddles for the second and third pass: exp(-2 pi i k / m) to the powers 1, 2, 4 and 8, with k
 * below the number of points made by the passes before, and m the number made by this one. Returns
 * how many there are; powers may be NULL. */
guint astro_channelizer_powers(guint32 n, float2 *powers);
gboolean astro_channelizer_fused(gboolean bytes, const ChannelizerRun *run, cudaStream_t stream,
                                 GError **error);

/* RADIX(r) for each number of points that one thread transforms. */
#define CHANNELIZER_RADIXES                                                                        \
  RADIX(2)                                                                                         \
  RADIX(3)                                                                                         \
  RADIX(4)                                                                                         \
  RADIX(5)                                                                                         \
  RADIX(6)                                                                                         \
  RADIX(7)                                                                                         \
  RADIX(8)                                                                                         \
  RADIX(9)                                                                                         \
  RADIX(10)                                                                                        \
  RADIX(11)                                                                                        \
  RADIX(12)                                                                                        \
  RADIX(13)                                                                                        \
  RADIX(14)                                                                                        \
  RADIX(15)                                                                                        \
  RADIX(16)

/* All in one kernel, for any n up to 4096. */
gboolean astro_channelizer_mixes(guint32 n);
gboolean astro_channelizer_mixed_init(gboolean bytes, GError **error);
gboolean astro_channelizer_mixed(gboolean bytes, const ChannelizerRun *run, cudaStream_t stream,
                                 GError **error);

/* All in one kernel, from CI4 or CI8 to CI4 or CI8, for n from 8 on that is a product of two or
 * three numbers up to 16. Its powers are the twiddles of the passes after the first. */
gboolean astro_channelizer_takes_bytes(guint32 n);
guint astro_channelizer_bytes_powers(guint32 n, float2 *powers);
gboolean astro_channelizer_bytes_init(guint32 n, GError **error);
gboolean astro_channelizer_bytes(AstroFormat from, const ChannelizerRun *run, cudaStream_t stream,
                                 GError **error);

/* Any n: filtered samples go to room, of 2 x rows x n float2, and are transformed there, one factor
 * of n at a time. */
gboolean astro_channelizer_passes(gboolean bytes, const ChannelizerRun *run, float2 *room,
                                  guint32 rows, cudaStream_t stream, GError **error);

#ifdef __CUDACC__
#include "gpu/runtime/samples.h"

struct ChannelizerNibbles {
  guint8 both;
};

__device__ inline float2 channelizer_value(ChannelizerNibbles sample)
{
  return make_float2(nibble_of(sample.both, 0), nibble_of(sample.both, 1));
}
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

/* Writes one bin of a transform to its channel, if it has one. row: input x count + spectrum. */
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
