/* Dedispersion: takes the dispersion out of power, with many trial dispersion measures at once, or
 * coherently out of voltages and spectra, with one (coherent.h).
 *
 * Dispersion delays a channel of frequency f by K DM (1/f^2 - 1/f0^2) against the highest channel,
 * f0 (core/lib/sky/dispersion.h; a channel stands for its middle). A value for step t and a trial
 * is the mean over the channels of what each has at t plus its delay, rounded to the nearest step:
 * no delay is off by more than half a step, in any backend. So a pulse is found at the time when it
 * was in the highest channel, where other programs have it too.
 *
 * The mean is weighted with the good samples behind the values that go into it, and the count is
 * their sum. A value without a good sample counts in neither; without any good one the mean is 0
 * and so is the count. A NaN makes the means that it goes into NaN, and no others.
 *
 * Blocks of power follow each other in an unbroken stretch, of which steps may be lost. Each step
 * of it gives one of the output, as soon as the step `reach` after it is there, or at the end of
 * the stretch: then samples that would have come after it count as lost. Steps that are lost at the
 * end, at most `reach`, give none. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_DEDISPERSE_MAX_DMS 65536
#define ASTRO_DEDISPERSE_PIECE 4096 /* steps that are taken in at once */

typedef struct {
  gboolean coherent;              /* the input is voltages or spectra; n_dms is 1 */
  AstroFormat from;               /* of those: CI4, CI8, CI16LE, CF16LE, CF32LE */
  guint stations, pols, channels; /* beams count as stations */
  AstroLayout layout; /* of the input; time has extent 0; axes of length 1 may be missing */
  double frequency, bandwidth, rate; /* Hz; steps a second */
  guint n_dms;
  const double *dms; /* pc / cm^3, rising; they stay there as long as the instance does */
} AstroDedisperseConfig;

typedef struct {
  guint64 before; /* steps of the stretch that came before; 0: a new one begins */
  guint64 steps;  /* in the block; without a block, so many lost ones */
  gboolean end;   /* the stretch ends with them */
  guint64 trail;  /* at the end: the steps that are lost there */

  /* The good samples behind the value at weights[time * weight_time + channel * weight_channel +
   * station * weight_station]; a stride of 0 means that values along that axis share them. NULL:
   * full, behind each. full stays the same through a stretch. */
  const guint32 *weights;
  gsize weight_time, weight_channel, weight_station;
  guint32 full; /* times channels at most 2^32 - 1 */
} AstroDedisperseArguments;

/* The longest delay, in steps. */
guint64 astro_dedisperse_reach(const AstroDedisperseConfig *config);
/* How many steps come out in a call. */
guint64 astro_dedisperse_ready(guint64 reach, const AstroDedisperseArguments *arguments);
/* The frequency that is not delayed, that of the highest channel. */
double astro_dedisperse_top(const AstroDedisperseConfig *config);
/* Rounded delays in steps, [dm][channel], to be freed; NULL: no memory. */
guint32 *astro_dedisperse_delays(const AstroDedisperseConfig *config);
/* Bytes that an instance keeps for that reach, beside what blocks take. */
double astro_dedisperse_bytes(const AstroDedisperseConfig *config);

/* submit takes a block of power (or n_in 0), a block for what comes out, [step][station][dm][pol]
 * in F32LE (n_out 0 if nothing does), and an AstroDedisperseArguments *. result->counts has room
 * for the good samples behind each [step][station][dm]; result->complete tells that none was lost,
 * and they are not written. */
extern const AstroBackend astro_dedisperse_reference;
extern const AstroBackend astro_dedisperse_cpu;
extern const AstroBackend *const astro_dedisperse_backends[]; /* ends with NULL */

/* An AstroTellWork. */
gboolean astro_dedisperse_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
