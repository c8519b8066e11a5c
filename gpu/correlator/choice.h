/* Which of two kernels multiplies a run of bytes, by what was measured.
 *
 * wgmma's multiplies twice as fast, but a multiprocessor multiplies one tile and then writes it; of
 * mma's it has several tiles, some of which are written while others are multiplied. So up to some
 * number of steps mma's is quicker: fewer for larger arrays, of whose tiles fewer lie on the
 * diagonal, and for the smallest, whose memory takes longer than either.
 *
 * From an H100 (tests/bench/gpu-figures.md): with a + b K for K steps, where b is the rate of 3072
 * steps and a the rest of the time of 128, the two cross at 130 (64 stations), 330 (128), 280 (576)
 * and 216 (832 stations of two polarisations), and later if writing hides more of longer products.
 * `correlator-short choose` measures both and prints these rows. */
#pragma once

#include <glib.h>

typedef struct {
  guint inputs; /* at most */
  guint steps;  /* up to these, mma's is quicker */
} CorrelatorCrossing;

static const CorrelatorCrossing correlator_crossings[] = {
  { 128, 128 },
  { 256, 320 },
  { 1152, 256 },
  { G_MAXUINT, 192 },
};

static inline guint correlator_brief_steps(guint inputs)
{
  const CorrelatorCrossing *row = correlator_crossings;
  while (row->inputs < inputs)
    row++;
  return row->steps;
}
