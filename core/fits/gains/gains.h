/* Tables of gains (core/lib/gains) in FITS: a binary table GAINS, in which each row is a station in
 * an interval.
 *
 *   STATION  nA       its name
 *   TIME     2D       begin and end of the interval, seconds since DATE-OBS
 *   GAIN     ...D     real and imaginary part of each value of each group: [group][value][2]
 *   SNR      ...E     [group][value]; 0: flagged
 *   DELAY    ...D     [group][value], seconds
 *
 * Keywords: GAINTYPE (phase, gain, full, delay, bandpass), NSTATION, NPOL, NGROUP, BASIS, FREQLOW,
 * FREQHIGH and FREQSTEP (Hz), CONSTANT (1: one solution for all times), JANSKY (1: what is
 * corrected is in Jy), MJDSTART and NSSTART, which are DATE-OBS in numbers. */
#pragma once

#include "core/lib/gains/gains.h"
#include "core/fits/file.h"
#include "core/fits/fits.h"

G_BEGIN_DECLS

/* The caller keeps ownership of file, and commits or discards it. */
gboolean astro_fits_gains_write(AstroPartFile *file, const AstroGains *gains, GError **error);
/* NULL with error set if it is no such file. */
AstroGains *astro_fits_gains_read(const char *path, GError **error);
/* The same of a file that is open. */
AstroGains *astro_fits_gains_read_from(AstroFitsFile *file, GError **error);
/* Whether the file has such a table. */
gboolean astro_fits_gains_is_in(const AstroFitsFile *file);
/* Whether the file is FITS, and so not a text; FALSE if it cannot be read. */
gboolean astro_fits_gains_is_fits(const char *path);

G_END_DECLS
