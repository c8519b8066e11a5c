/* Power: detects spectra and takes means over time, over neighbouring channels and, if asked, over
 * stations.
 *
 * A product (core/stream/power.h) is a number for each sample: |X|^2, a Stokes parameter, part of X
 * conj(Y), or the square of one of these. Its mean is the sum over the good samples divided by
 * their number: a sample that is not valid counts in neither. With sum_stations, each station has
 * the weight of its good samples, so that the sum of stations alike has the noise of one divided by
 * the root of their number, whoever is missing. Without any good sample the mean is 0.
 *
 * Sums are in double precision; those of integers are exact, up to 2^53. A NaN makes the means that
 * it goes into NaN, and no others.
 *
 * Spectra may have time, channel, station (or beam) and pol in any order. Integrations come out as
 * time:station:pol:channel. An integration spans any number of blocks. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/power.h"

G_BEGIN_DECLS

typedef struct {
  guint stations, pols, channels; /* of the spectra; beams count as stations */
  AstroLayout layout; /* of the spectra; time has extent 0; axes of length 1 may be missing */
  AstroFormat from;   /* CI4, CI8, CI16LE, CF16LE, CF32LE */
  AstroPowerProducts products;
  guint channel_step; /* number of channels averaged into one; divides channels */
  gboolean sum_stations;
} AstroPowerConfig;

typedef struct {
  guint64 steps;        /* time steps in the block; without a block, so many lost steps */
  guint64 integration;  /* time steps of an integration */
  guint64 phase;        /* how many of them have passed before the block, fewer than integration */
  gboolean begin;       /* forget what was added before */
  gboolean end;         /* end the integration that is open after these steps, if one is */
  gboolean is_circular; /* the pols are R and L, not X and Y; matters for Q, U and V */

  /* Whether a sample is good: valid[time * valid_time + channel * valid_channel + station *
   * valid_station] is not 0; a stride of 0 means that values along that axis share a flag. NULL:
   * all are. */
  const guint8 *valid;
  gsize valid_time, valid_channel, valid_station;
} AstroPowerArguments;

/* How many integrations end in a call. */
guint64 astro_power_ended(const AstroPowerArguments *arguments);

/* Stations of the output, and bytes and counts of an integration. */
guint astro_power_stations(const AstroPowerConfig *config);
gsize astro_power_output_bytes(const AstroPowerConfig *config);
gsize astro_power_counts(const AstroPowerConfig *config);

/* submit takes an input block of spectra (or n_in 0), an output block with the integrations that
 * end (n_out 0 if none does), and an AstroPowerArguments *. result->counts has room for the good
 * samples behind each [integration][station][channel] of the output, and must not be NULL where an
 * integration ends. */
extern const AstroBackend astro_power_reference;
extern const AstroBackend astro_power_cpu;
extern const AstroBackend *const astro_power_backends[]; /* ends with NULL */

/* An AstroTellWork. */
gboolean astro_power_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
