/* Writes the header of UVFITS, and the tables after the groups. */
#include "core/fits/uvfits/earth.h"
#include "core/fits/uvfits/writer.h"
#include "core/kit/units.h"
#include "core/lib/rows/field-name.h"
#include "core/lib/rows/observed.h"

#include <string.h>

#define JD_OF_MJD_ZERO 2400000.5
#define STATION_BYTES 128 /* per row of the station table, approximately */

static double channel_frequency(const AstroStream *stream, guint channel)
{
  const guint channels = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  return astro_channel_frequency(stream->frequency, stream->bandwidth, channels, channel);
}

/* The channel at the reference pixel. The first channel of samples that no mixer has moved is at 0
 * Hz, and programs that take the reference frequency for the whole file could not compute a
 * wavelength from it. */
static guint reference_channel(const AstroStream *stream)
{
  return channel_frequency(stream, 0) > 0 ? 0 : 1;
}

gboolean astro_uvfits_check_contents(const AstroFitsContents *c, GError **error)
{
  g_autoptr(GError) wrong = NULL;
  return astro_rows_check("UVFITS", ASTRO_UVFITS_MAX_STATIONS, &c->stream, c->stations,
                          c->observation, &wrong) ||
         astro_fits_refuse(error, "%s", wrong->message);
}

static void write_axis(fitsfile *file, int axis, const char *type, double pixel, double value,
                       double delta, int *status)
{
  double rotation = 0;
  char key[FLEN_KEYWORD];
  fits_make_keyn("CTYPE", axis, key, status);
  fits_write_key(file, TSTRING, key, (char *)type, NULL, status);
  fits_make_keyn("CRVAL", axis, key, status);
  fits_write_key(file, TDOUBLE, key, &value, NULL, status);
  fits_make_keyn("CDELT", axis, key, status);
  fits_write_key(file, TDOUBLE, key, &delta, NULL, status);
  fits_make_keyn("CRPIX", axis, key, status);
  fits_write_key(file, TDOUBLE, key, &pixel, NULL, status);
  fits_make_keyn("CROTA", axis, key, status);
  fits_write_key(file, TDOUBLE, key, &rotation, NULL, status);
}

static void write_parameters(const AstroUvfitsWriter *w, fitsfile *file, int *status)
{
  double one = 1, midnight = w->contents.observation->start_mjd + JD_OF_MJD_ZERO;
  for (guint i = 0; i < w->n_parameters; i++) {
    AstroUvfitsParameter p = w->parameters[i];
    double zero = p == DATE ? midnight : 0;
    char key[FLEN_KEYWORD];
    fits_make_keyn("PTYPE", i + 1, key, status);
    fits_write_key(file, TSTRING, key, (char *)astro_uvfits_parameters[p].name,
                   astro_uvfits_parameters[p].comment, status);
    fits_make_keyn("PSCAL", i + 1, key, status);
    fits_write_key(file, TDOUBLE, key, &one, NULL, status);
    fits_make_keyn("PZERO", i + 1, key, status);
    fits_write_key(file, TDOUBLE, key, &zero, NULL, status);
  }
}

static void write_text(fitsfile *file, const char *key, const char *value, int *status)
{
  fits_write_key(file, TSTRING, key, (char *)value, NULL, status);
}

static void write_keys(const AstroUvfitsWriter *w, fitsfile *file, int *status)
{
  const AstroObservation *o = w->contents.observation;
  const AstroStream *stream = &w->contents.stream;
  const AstroRowBasis *basis = astro_row_basis_of(o);
  long axes[7] = { 0, 3, w->products, w->channels, 1, 1, 1 };
  double one = 1, zero = 0, equinox = 2000, ra = o->phase_ra * ASTRO_DEGREES,
         dec = o->phase_dec * ASTRO_DEGREES;
  const guint reference = reference_channel(stream);
  g_autofree char *start = astro_observation_get_start(o), *field = astro_field_name(o),
                  *telescope = astro_fits_ascii(o->telescope);
  char *zone = start ? strchr(start, 'Z') : NULL;

  if (zone)
    *zone = 0; /* dates in FITS are UTC by default */
  ra = ra < 0 ? ra + 360 : ra;
  fits_write_grphdr(file, TRUE, FLOAT_IMG, 7, axes, w->n_parameters, 1, TRUE, status);
  write_text(file, "OBJECT", field, status);
  write_text(file, "TELESCOP", telescope, status);
  write_text(file, "INSTRUME", telescope, status);
  write_text(file, "DATE-OBS", start ? start : "", status);
  write_text(file, "BUNIT", o->done.scale > 0 ? "JY" : "UNCALIB", status);
  if (astro_history_delays(&o->done, stream->quantity) == ASTRO_DELAYS_IN)
    write_text(file, ASTRO_UVFITS_DELAYS, "IN", status);
  fits_write_key(file, TDOUBLE, "BSCALE", &one, NULL, status);
  fits_write_key(file, TDOUBLE, "BZERO", &zero, NULL, status);
  fits_write_key(file, TDOUBLE, "EQUINOX", &equinox, NULL, status);
  fits_write_key(file, TDOUBLE, "OBSRA", &ra, NULL, status);
  fits_write_key(file, TDOUBLE, "OBSDEC", &dec, NULL, status);
  write_axis(file, 2, "COMPLEX", 1, 1, 1, status);
  write_axis(file, 3, "STOKES", 1, basis->first, -1, status);
  write_axis(file, 4, "FREQ", reference + 1, channel_frequency(stream, reference),
             stream->bandwidth / w->channels, status);
  write_axis(file, 5, "IF", 1, 1, 1, status);
  write_axis(file, 6, "RA", 1, ra, 1, status);
  write_axis(file, 7, "DEC", 1, dec, 1, status);
  write_parameters(w, file, status);
  fits_write_history(file, "Written by gst-astro", status);
  /* AIPS looks for these lines. */
  fits_write_history(file, "AIPS SORT ORDER = 'TB'", status);
  fits_write_history(file, "AIPS WTSCAL = 1.0", status);
}

/* Header and tables are made in memory and then copied, so that the groups can be written straight
 * to the file and every failed write is noticed. */
gboolean astro_uvfits_write_header(AstroUvfitsWriter *w, GError **error)
{
  AstroFitsScratch scratch = { 0 };
  LONGLONG start = 0, data = 0, end = 0;
  int status = 0;
  gboolean done = FALSE;

  /* CFITSIO reserves space for one group after the header. */
  if (!astro_fits_scratch_open(&scratch,
                               STATION_BYTES * w->contents.observation->n_stations +
                                   w->group_floats * sizeof *w->gather,
                               error))
    goto out;
  write_keys(w, scratch.file, &status);
  if (!astro_fits_check(status, "writing the header", error) ||
      !astro_uvfits_write_antennas(
          scratch.file, w->contents.observation,
          channel_frequency(&w->contents.stream, reference_channel(&w->contents.stream)), error) ||
      !astro_uvfits_write_earth(scratch.file, w->contents.observation, error))
    goto out;
  fits_flush_file(scratch.file, &status);
  fits_get_hduaddrll(scratch.file, NULL, NULL, &end, &status);
  fits_movabs_hdu(scratch.file, 2, NULL, &status);
  fits_get_hduaddrll(scratch.file, &start, NULL, NULL, &status);
  fits_movabs_hdu(scratch.file, 1, NULL, &status);
  fits_get_hduaddrll(scratch.file, NULL, &data, NULL, &status);
  if (!astro_fits_check(status, "writing the header", error))
    goto out;

  w->tail_bytes = end - start;
  w->tail = g_memdup2((guint8 *)scratch.data + start, w->tail_bytes);
  for (LONGLONG at = 0; at < data; at += ASTRO_UVFITS_CARD)
    if (memcmp((guint8 *)scratch.data + at, "GCOUNT  =", 9) == 0)
      w->gcount_at = at;
  done = astro_part_file_write(w->file, scratch.data, data, error);
out:
  astro_fits_scratch_free(&scratch);
  return done;
}
