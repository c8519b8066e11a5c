/* Gathers spectra of any order to channel:time:station:pol, the order that kernels read. */
#pragma once

#include "core/correlator/sums.h"

G_BEGIN_DECLS

typedef struct {
  guint8 *to; /* station:pol innermost */
  gsize to_channel, to_time;
  const guint8 *from;
  AstroCorrelatorStrides strides;
  guint channels, stations, pols;
  guint64 count; /* time steps */
  gsize sample_bytes;
} AstroCorrelatorGather;

void astro_correlator_gather(const AstroCorrelatorGather *gather, guint threads);

/* Sets samples that are not valid to zero, from the arguments' first step + skip on. */
void astro_correlator_blank(const AstroCorrelatorGather *gather,
                            const AstroCorrelatorArguments *arguments, guint64 skip, guint threads);

G_END_DECLS
