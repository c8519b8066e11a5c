/* The arithmetic peaks of a processor: loops of a single instruction with all operands in
 * registers. */
#pragma once

#include "core/backend/cpu.h"
#include "core/backend/threads.h"
#include "core/backend/work.h"

G_BEGIN_DECLS

enum {
  ASTRO_PEAK_AMX,
  ASTRO_PEAK_VNNI,
  ASTRO_PEAK_MADD_512,
  ASTRO_PEAK_MADD_256,
  ASTRO_PEAK_FMA_512,
  ASTRO_PEAK_FMA_256,
  ASTRO_PEAK_DOUBLE_512,
  ASTRO_PEAK_DOUBLE_256,
  ASTRO_PEAK_FLOAT_C, /* what the compiler makes of plain C */
  ASTRO_PEAK_DOUBLE_C,
  ASTRO_N_PEAKS
};

#define ASTRO_PEAK_TASKS 64

typedef struct {
  const char *name;
  AstroTask task;
  double operations; /* in a task: multiplications and additions */
  AstroCpuLevel level;
  AstroArithmetic arithmetic;
} AstroPeak;

/* Peaks that this build has no instructions for have no task. */
extern const AstroPeak astro_peaks[ASTRO_N_PEAKS];

/* Runs ASTRO_PEAK_TASKS tasks on all cores. data: an AstroPeak that the level allows. */
void astro_peak_run(gpointer data);

G_END_DECLS
