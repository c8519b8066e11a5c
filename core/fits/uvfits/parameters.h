/* Random parameters that precede a group's values. A file has some of these, in any order. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  UU,
  VV,
  WW,
  DATE,
  DATE_REST,
  BASELINE,
  ANTENNA1,
  ANTENNA2,
  SUBARRAY,
  INTTIM,
  SOURCE,
  FREQSEL,
  N_KNOWN_PARAMETERS
} AstroUvfitsParameter;

typedef struct {
  const char *name, *comment;
} AstroUvfitsParameterInfo;
extern const AstroUvfitsParameterInfo astro_uvfits_parameters[N_KNOWN_PARAMETERS];

G_END_DECLS
