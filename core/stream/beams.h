/* Beams of an observation: which direction each element of an axis `beam` looks to, and how it was
 * formed. */
#pragma once

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

typedef enum {
  ASTRO_BEAM_TIED,       /* "tied": the sum of the stations' voltages, with phases that follow the
                            direction as the sky turns */
  ASTRO_BEAM_INCOHERENT, /* "incoherent": the sum of the stations' powers, as wide as one station's
                            beam */
  ASTRO_BEAM_FIXED,      /* "fixed": does not follow the sky, as a feed of a dish that stands still,
                            or a sum with constant phases */
  ASTRO_N_BEAM_KINDS
} AstroBeamKind;

typedef enum {
  ASTRO_BEAM_UNTOLD, /* "untold": the direction is not known */
  ASTRO_BEAM_RADEC,  /* "radec": x and y are right ascension and declination, ICRS, in radians */
  ASTRO_BEAM_LM, /* "lm": x and y are direction cosines l (to the east) and m (to the north) from
                    the phase centre; those of a fixed beam are from the zenith */
  ASTRO_N_BEAM_FRAMES
} AstroBeamFrame;

typedef struct {
  char *name;
  AstroBeamKind kind;
  AstroBeamFrame frame; /* what x and y are */
  double x, y;
} AstroBeam;

const char *astro_beam_kind_name(AstroBeamKind kind);    /* "tied" */
const char *astro_beam_frame_name(AstroBeamFrame frame); /* "radec" */

/* "B001, tied, at ra 123.25 dec -45.5 degrees", to be freed. */
char *astro_beam_describe(const AstroBeam *beam);
/* Whether two beams look to the same direction in the same way, whatever their names are.
 * Directions may differ by rounding, 1e-12. */
gboolean astro_beam_is_alike(const AstroBeam *a, const AstroBeam *b);

ASTRO_END_DECLS
