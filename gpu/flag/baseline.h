/* Baselines, and deviations from them: the arithmetic of core/flag/plane.c, step by step. */
#pragma once

#include "gpu/flag/plane.h"

/* The taps of a direction; see AstroFlagThresholds. */
template <int TAPS> struct FlagTaps {
  float of[3][TAPS];
};

struct FlagAllTaps {
  FlagTaps<ASTRO_FLAG_TIME_TAPS> time;
  FlagTaps<ASTRO_FLAG_CHANNEL_TAPS> channel;
};

__device__ inline float flag_deviation(const FlagPlane &plane, float amplitude, bool is_usable,
                                       float baseline)
{
  float deviation = __fsub_rn(is_usable ? amplitude : 0, baseline);
  if (plane.is_power)
    deviation = baseline > 0 ? __fdiv_rn(deviation, baseline) : 0;
  return is_usable && fabsf(deviation) <= G_MAXFLOAT ? deviation : 0;
}

/* ---- the first ---- */

/* The median over time of the usable amplitudes of a channel; NaN if there are none. */
__device__ inline float flag_channel_median(const FlagPlane &plane, guint32 c)
{
  FlagDigits digits;
  guint32 n = 0;
  for (guint32 t = 0; t < plane.rows; t++)
    n += flag_is_usable(plane.amplitudes[(gsize)t * plane.channels + c]);
  guint32 k = n / 2;
  for (int shift = 30; shift >= 0 && n; shift -= 2) {
    digits.begin();
#pragma unroll 8
    for (guint32 t = 0; t < plane.rows; t++) {
      const float amplitude = plane.amplitudes[(gsize)t * plane.channels + c];
      digits.count(flag_is_usable(amplitude) ? flag_key(amplitude) : FLAG_NO_KEY, shift);
    }
    digits.go(&k);
  }
  return n ? flag_key_value(digits.prefix) : NAN;
}

/* The median of the medians around a channel: the one that has as many below it as it should. */
__device__ inline float flag_median_around(const float *medians, guint32 channels, guint32 c)
{
  const guint32 half = ASTRO_FLAG_CHANNEL_TAPS / 2, from = c > half ? c - half : 0,
                to = min(c + half + 1, channels);
  guint32 n = 0;
  for (guint32 k = from; k < to; k++)
    n += !isnan(medians[k]);
  for (guint32 i = from; i < to; i++) {
    guint32 less = 0, equal = 0;
    for (guint32 k = from; k < to; k++) {
      less += medians[k] < medians[i];
      equal += medians[k] == medians[i];
    }
    if (less <= n / 2 && n / 2 < less + equal)
      return medians[i];
  }
  return 0;
}

__device__ inline void flag_begin_baseline(const FlagPlane &plane)
{
  float *medians = plane.weighted, *baseline = plane.weights;
  for (guint32 c = threadIdx.x; c < plane.channels; c += FLAG_THREADS)
    medians[c] = flag_channel_median(plane, c);
  __syncthreads();
  for (guint32 c = threadIdx.x; c < plane.channels; c += FLAG_THREADS)
    baseline[c] = flag_median_around(medians, plane.channels, c);
  __syncthreads();
  for (guint32 i = threadIdx.x; i < plane.values; i += FLAG_THREADS)
    plane.deviations[i] = flag_deviation(plane, plane.amplitudes[i], plane.cells[i] & CELL_USABLE,
                                         baseline[i % plane.channels]);
  __syncthreads();
}

/* ---- straight lines under Gaussians ---- */

struct FlagMoments {
  float weight[3] = {}, value[2] = {};

  __device__ float line() const
  {
    const float least_spread = 0.1f, spread = __fsub_rn(__fmul_rn(weight[0], weight[2]),
                                                        __fmul_rn(weight[1], weight[1]));
    if (spread > __fmul_rn(__fmul_rn(least_spread, weight[0]), weight[2]))
      return __fdiv_rn(__fsub_rn(__fmul_rn(weight[2], value[0]), __fmul_rn(weight[1], value[1])),
                       spread);
    return weight[0] > 0 ? __fdiv_rn(value[0], weight[0]) : 0;
  }
};

/* Along time, of amplitudes that count; what does not adds zeros, which change no sum. */
__device__ inline void flag_smooth_rows(const FlagPlane &plane,
                                        const FlagTaps<ASTRO_FLAG_TIME_TAPS> &taps)
{
  const gint32 half = ASTRO_FLAG_TIME_TAPS / 2, rows = (gint32)plane.rows;
  for (guint32 i = threadIdx.x; i < plane.values; i += FLAG_THREADS) {
    const gint32 t = (gint32)(i / plane.channels);
    FlagMoments moments;
    for (gint32 k = max(half - t, 0); k < min(ASTRO_FLAG_TIME_TAPS, rows - t + half); k++) {
      const gsize at = (gsize)(t + k - half) * plane.channels + i % plane.channels;
      if (!flag_counts(plane.cells[at]))
        continue;
      for (int power = 0; power < 3; power++)
        moments.weight[power] = __fadd_rn(moments.weight[power], taps.of[power][k]);
      for (int power = 0; power < 2; power++)
        moments.value[power] =
            __fadd_rn(moments.value[power], __fmul_rn(taps.of[power][k], plane.amplitudes[at]));
    }
    plane.weights[i] = moments.weight[0];
    plane.weighted[i] = __fmul_rn(moments.line(), moments.weight[0]);
  }
  __syncthreads();
}

/* Along channels, of what rows gave. Returns whether values have nothing within reach: those have
 * a weight of 0 in the spare array. */
__device__ inline bool flag_smooth_channels(const FlagPlane &plane,
                                            const FlagTaps<ASTRO_FLAG_CHANNEL_TAPS> &taps)
{
  const gint32 half = ASTRO_FLAG_CHANNEL_TAPS / 2, channels = (gint32)plane.channels;
  float *weights = (float *)plane.spare;
  bool has_holes = false;
  for (guint32 i = threadIdx.x; i < plane.values; i += FLAG_THREADS) {
    const gint32 c = (gint32)(i % plane.channels);
    FlagMoments moments;
    for (gint32 k = max(half - c, 0); k < min(ASTRO_FLAG_CHANNEL_TAPS, channels - c + half); k++) {
      const gsize at = (gsize)i + k - half;
      for (int power = 0; power < 3; power++)
        moments.weight[power] =
            __fadd_rn(moments.weight[power], __fmul_rn(taps.of[power][k], plane.weights[at]));
      for (int power = 0; power < 2; power++)
        moments.value[power] =
            __fadd_rn(moments.value[power], __fmul_rn(taps.of[power][k], plane.weighted[at]));
    }
    weights[i] = moments.weight[0];
    plane.deviations[i] = moments.line();
    has_holes |= !(moments.weight[0] > 0) && (plane.cells[i] & CELL_USABLE);
  }
  return __syncthreads_or(has_holes);
}

/* Makes the deviations from a smooth baseline of what counts. */
__device__ inline void flag_smooth(const FlagPlane &plane, const FlagAllTaps &taps)
{
  const float *weights = (const float *)plane.spare, *amplitudes = plane.amplitudes;
  float middle = 0;
  flag_smooth_rows(plane, taps.time);
  if (flag_smooth_channels(plane, taps.channel)) {
    guint32 *keys = (guint32 *)plane.weights;
    const guint32 n = flag_make_keys(plane, keys, [=](guint32 i) { return amplitudes[i]; });
    middle = flag_median(keys, plane.values, n);
  }
  for (guint32 i = threadIdx.x; i < plane.values; i += FLAG_THREADS) {
    const bool is_usable = plane.cells[i] & CELL_USABLE;
    const float baseline = weights[i] > 0 || !is_usable ? plane.deviations[i] : middle;
    plane.deviations[i] = flag_deviation(plane, plane.amplitudes[i], is_usable, baseline);
  }
  __syncthreads();
}

/* The standard deviation of the values that count; 0: they are too few. */
__device__ inline float flag_find_deviation(const FlagPlane &plane)
{
  const guint32 fewest = 32;
  const float gaussian = 1.4826f, *deviations = plane.deviations;
  guint32 *keys = (guint32 *)plane.weights;
  const guint32 n = flag_make_keys(plane, keys, [=](guint32 i) { return deviations[i]; });
  if (n < fewest)
    return 0;
  const float middle = flag_median(keys, plane.values, n);
  flag_make_keys(plane, keys, [=](guint32 i) { return fabsf(__fsub_rn(deviations[i], middle)); });
  return __fmul_rn(gaussian, flag_median(keys, plane.values, n));
}
