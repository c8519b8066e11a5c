/* A source of a sky: its Stokes parameters at any frequency, and how users write them.
 *
 * A source has a continuum with a spectral index, which may be polarised and may have been rotated
 * by a magneto-ionic medium on its way, and spectral lines. Lines in emission are unpolarised and
 * add to it; a line in absorption takes the same fraction of all its Stokes parameters. */
#pragma once

#include "core/lib/sky/pulse.h"

G_BEGIN_DECLS

typedef struct {
  double frequency; /* of the centre, Hz */
  double width;     /* full width at half maximum of the Gaussian profile, Hz */
  double flux;      /* Jy at the centre; below zero: absorption, of a continuum with the flux of the
                       source */
} AstroSpectralLine;

typedef struct {
  double ra, dec;        /* radians, ICRS; if the sky was given in them */
  double lmn[3];         /* direction cosines relative to the phase centre */
  double flux;           /* Jy, at the reference frequency of the user of the sky */
  double spectral_index; /* flux is proportional to frequency to this power */
  /* Stokes Q, U and V, Jy, at that frequency; Q and U as they were before the rotation, which is
   * what is observed at wavelength zero. */
  double quv[3];
  double rotation_measure; /* rad/m^2: the angle of polarisation grows by this times wavelength^2 */
  AstroSpectralLine *lines; /* NULL: there are none */
  guint n_lines;
  AstroPulse *pulse; /* NULL: it is steady */
  /* Where a user finds it: "sky", "pulsar" or "burst", and its number there from 1. */
  const char *list;
  guint number;
} AstroSource;

void astro_source_clear(AstroSource *source); /* frees lines and pulse */

/* Reads the words "q=0.1", "u=", "v=", "rm=" and "line=CENTRE:WIDTH:FLUX" (any number of lines)
 * behind the position and flux of a source, and those of a pulse. NULL, or what is wrong with them,
 * to be freed. */
char *astro_source_read(AstroSource *source, AstroSourceKind kind, char *const *words);

#define ASTRO_SOURCE_WORDS "q=, u=, v= (Jy), rm= (rad/m^2) or line=CENTRE:WIDTH:FLUX (Hz, Hz, Jy)"

gboolean astro_source_is_polarised(const AstroSource *source);
/* Neither polarised nor with lines or pulses: a power law. */
gboolean astro_source_is_plain(const AstroSource *source);

/* I, Q, U and V in Jy at a frequency. Lines are averaged over a width around it (0: they are not),
 * so that the flux of a narrow line is right in channels of any width. */
void astro_source_stokes(const AstroSource *source, double reference, double frequency,
                         double width, double stokes[4]);

/* The Stokes parameters of the square root of a coherency matrix, which is the matrix that makes
 * such voltages out of independent noise. */
void astro_stokes_root(const double stokes[4], double root[4]);

/* The coherency matrix of both bases is I + d, c; conj(c), I - d, with d and the real and imaginary
 * part of c among Q, U and V. Sets the indices (1 to 3) of those three. */
void astro_stokes_order(const char *basis, guint order[3]);

G_END_DECLS
