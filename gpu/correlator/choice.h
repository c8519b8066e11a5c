/* Which of two kernels multiplies a run of bytes, by what was measured.
 *
 * wgmma's multiplies twice as fast, but a multiprocessor multiplies one tile and then writes it; of
 * mma's it has several tiles, some of which are written while others are multiplied. So up to some
 * number of steps mma's is quicker: fewer for larger arrays, of whose tiles fewer lie on the
 * diagonal, and more where many of the 128 rows of wgmma's tiles are empty, as with 96 stations of
 * two polarisations.
 *
 * Measured on an H100 with CI8 by `correlator-short choose`, from 64 to 768 steps
 * (tests/bench/gpu-figures.md has the times); rows of 768 are as far as that went. Above 1152
 * inputs nothing was measured so: by a + b K for K steps, where b is the rate of 3072 steps and a
 * the rest of the time of 128, the kernels cross at 216 for 832 stations.
 *
 * CI4 of long integrations has a kernel of its own (three.cu), which makes three real products and
 * reads samples as they are. In cycles of a multiprocessor for 128 samples of a tile of 128 x 128
 * the tensor cores take 1536 in place of 2048, and shared memory, 128 bytes a cycle, 1664 in place
 * of 2304. The shortest, and those of few inputs, are multiplied as CI8. Measured by
 * `correlator-short three` from 16 to 512 steps. */
#pragma once

#include <glib.h>

typedef struct {
  guint inputs; /* at most */
  guint steps;  /* up to these, the kernel for short runs is quicker */
} CorrelatorCrossing;

static const CorrelatorCrossing correlator_crossings[] = {
  { 64, 768 },  { 128, 192 }, { 192, 768 },  { 256, 384 },
  { 384, 320 }, { 512, 128 }, { 1152, 192 }, { G_MAXUINT, 192 },
};

static inline guint correlator_steps_for(const CorrelatorCrossing *row, guint inputs)
{
  while (row->inputs < inputs)
    row++;
  return row->steps;
}

static inline guint correlator_brief_steps(guint inputs)
{
  return correlator_steps_for(correlator_crossings, inputs);
}

/* Up to these steps CI4 is quicker by four products. */
static const CorrelatorCrossing correlator_crossings_to_three[] = {
  { 32, 512 }, { 64, 192 }, { 128, 0 }, { 192, 16 }, { 256, 64 }, { 512, 0 }, { G_MAXUINT, 64 },
};

/* Whether CI4 is better multiplied by three. integration: its most steps; 0: unknown. */
static inline gboolean correlator_pays_three(guint inputs, guint64 integration)
{
  return integration == 0 ||
         integration > correlator_steps_for(correlator_crossings_to_three, inputs);
}
