/* Shared by the kernels of the beamformer.
 *
 * A beam is a product of matrices: weights times phases, [beam][station], and samples,
 * [station][step]. Tensor cores multiply them (multiply.cu); the phases are computed before, once
 * for each set of them, in the order in which tensor cores want them (weigh.cu).
 *
 * Tensor cores multiply numbers of 16 bits and add in single precision. Weights are therefore cut
 * into parts, each of which has the next bits of what the parts before leave: two halves, which are
 * 22 bits of the channel's largest weight, or three numbers of the type bfloat16, which are the 24
 * bits of single precision. Samples of 4 and 8 bits and halves are one half, samples of 16 bits two
 * halves, and floats three bfloat16. */
#pragma once

#include "core/stream/stream.h"
#include "gpu/runtime/cuda.h"

enum {
  BEAMFORM_TILE = 8, /* beams and stations of a tile of weights */
  BEAMFORM_LANES = 32,
};

struct BeamformStrides {
  guint64 time, channel, row, pol; /* row: station or beam */
};

/* Weights and phases of some intervals and channels. For each of them, each 8 beams, and each 8
 * stations, the parts follow each other; a part has a word pair for each lane: of beam lane / 4,
 * stations lane % 4 and lane % 4 + 4, the real part and the negative imaginary part. Stations and
 * beams that are not there have 0. */
struct BeamformWeights {
  uint2 *words;
  float *norms; /* by which the words of an interval and channel have to be multiplied */
  guint32 parts, beam_tiles, station_tiles;
  guint32 first_interval, intervals;
  guint32 first_channel, channels;
};

struct BeamformJob {
  const guint8 *in;
  guint8 *out;
  AstroFormat from, to;
  BeamformStrides in_strides, out_strides;
  guint64 first, steps, interval;
  guint32 channels, pols, beams, stations;
  guint32 tiles; /* of each interval, at most */
  double first_frequency, channel_width;
  const double *seconds; /* [station][x, y, z] */
  const double *offsets; /* [interval][beam][x, y, z] */
  const float2 *weights; /* [channel][station]; NULL: 1 */
  const guint32 *index;  /* of stations in the input */
  const guint8 *good;    /* by station and step; NULL: nothing is lost */
  guint64 good_channel, good_station;
  float scale;
  guint64 *clipped;
  BeamformWeights made;
};

/* Parts of a weight, for samples of this format. */
guint32 astro_beamform_parts(AstroFormat format);
gboolean astro_beamform_weigh(const BeamformJob *job, cudaStream_t stream, GError **error);
/* For job->made's intervals and channels. */
gboolean astro_beamform_multiply(const BeamformJob *job, cudaStream_t stream, GError **error);

#ifdef __CUDACC__
__device__ inline float2 beamform_weight(const BeamformJob &job, guint32 channel, guint32 station)
{
  return job.weights ? job.weights[(guint64)channel * job.stations + station] : make_float2(1, 0);
}
#endif
