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
 * CI4 is multiplied as CI8, by four real products. Three, of a, b and a + b by c, d and c - d, are
 * no row here: they would take the tensor cores 12 cycles for a sample of a tile of 128 x 128
 * instead of 16, but what binds is shared memory, whose 18 cycles they make 13 at best, where the
 * gather writes four planes instead of two; and only in long integrations, since in short ones
 * visibilities take the time. */
#pragma once

#include <glib.h>

typedef struct {
  guint inputs; /* at most */
  guint steps;  /* up to these, mma's is quicker */
} CorrelatorCrossing;

static const CorrelatorCrossing correlator_crossings[] = {
  { 64, 768 },  { 128, 192 }, { 192, 768 },  { 256, 384 },
  { 384, 320 }, { 512, 128 }, { 1152, 192 }, { G_MAXUINT, 192 },
};

static inline guint correlator_brief_steps(guint inputs)
{
  const CorrelatorCrossing *row = correlator_crossings;
  while (row->inputs < inputs)
    row++;
  return row->steps;
}
