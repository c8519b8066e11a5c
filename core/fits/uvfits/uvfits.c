/* The parameters of groups. */
#include "core/fits/uvfits/parameters.h"

const AstroUvfitsParameterInfo astro_uvfits_parameters[N_KNOWN_PARAMETERS] = {
  [UU] = { "UU", "u, position 1 - position 2 (s)" },
  [VV] = { "VV", "v (s)" },
  [WW] = { "WW", "w (s)" },
  [DATE] = { "DATE", "Julian date, UTC, mid-integration" },
  [DATE_REST] = { "DATE", "the rest of it" },
  [BASELINE] = { "BASELINE", "256 antenna1 + antenna2" },
  [ANTENNA1] = { "ANTENNA1", "antenna 1" },
  [ANTENNA2] = { "ANTENNA2", "antenna 2" },
  [SUBARRAY] = { "SUBARRAY", "subarray" },
  [INTTIM] = { "INTTIM", "integration time (s)" },
  [SOURCE] = { "SOURCE", "source" },
  [FREQSEL] = { "FREQSEL", "frequency setup" },
};
