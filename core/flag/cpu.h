/* Inside the cpu backend: kurtosis of spectra and of power, and SumThreshold. */
#pragma once

#include "core/backend/scratch.h"
#include "core/flag/check.h"
#include "core/flag/kernels.h"
#include "core/flag/theory.h"
#include "core/lib/formats/samples.h"

G_BEGIN_DECLS

typedef struct {
  AstroFlagConfig config;
  AstroFlagPlaces shape; /* of one step */
  guint threads;
  const AstroFlagKernels *kernels;
  AstroSamples samples; /* from the format of complex values to CF32LE */

  AstroFlagLimitTable *limits;
  /* kurtosis of spectra: for each part of a step, in the order of memory */
  gsize n_parts;
  double *sums, *squares;
  guint32 *good;

  AstroFlagThresholds thresholds;
  float *amplitudes; /* threshold: [unit][part][row][channel]; NaN: missing */
  AstroScratch *planes;
} AstroFlagCpu;

/* One call of submit. */
typedef struct {
  AstroFlagCpu *self;
  const AstroFlagArguments *arguments;
  const guint8 *in;
  guint8 *flags;
  AstroFlagPlaces places;
  AstroFlagCounts counts;
} AstroFlagWork;

void astro_flag_add_spectra(AstroFlagWork *work);
void astro_flag_judge_spectra(AstroFlagWork *work);
void astro_flag_judge_power(AstroFlagWork *work);

void astro_flag_take_amplitudes(AstroFlagWork *work);
void astro_flag_judge_planes(AstroFlagWork *work, guint64 rows);

G_END_DECLS
