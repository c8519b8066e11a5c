/* Reads frequencies: from the axis FREQ, and if a file has several setups or IFs, from the table
 * AIPS FQ. */
#include "core/fits/uvfits/reader.h"
#include "core/stream/uvw.h"
#include "core/kit/units.h"

#include <math.h>

#define SAME_WIDTH 1e-6 /* relative tolerance for widths that the table has as floats */

/* Reads the row of the groups' frequency setup; if there is only one row, that one. */
static gboolean read_setup_row(const AstroUvfitsReader *r, AstroFitsTable *table, GError **error)
{
  const AstroFitsColumn *number = astro_fits_table_find(table, "FRQSEL", FALSE, 1);
  if (table->n_rows == 1 || !number || r->first_setup <= 0)
    return astro_fits_table_read(table, 0, error);
  for (guint64 row = 0; row < table->n_rows; row++) {
    if (!astro_fits_table_read(table, row, error))
      return FALSE;
    if (astro_fits_table_number(table, number, 0) == r->first_setup)
      return TRUE;
  }
  return astro_fits_wrong(r->file, error, "groups have FREQSEL %g, which is not in table AIPS FQ",
                          r->first_setup);
}

/* All IFs have the channels of the first one, which the axis has by now. */
static gboolean check_width(const AstroUvfitsReader *r, double found, guint64 i, GError **error)
{
  const double expected = r->axes[FREQ].delta;
  if (!isfinite(found) || found == 0 || fabs(found - expected) <= SAME_WIDTH * fabs(expected))
    return TRUE;
  return astro_fits_wrong(r->file, error,
                          "IF %" G_GUINT64_FORMAT
                          " has channels of %g Hz, expected %g Hz as in those before it: band=N "
                          "or band=N-M takes some of them",
                          i + 1, found, expected);
}

/* Programs differ in whether a lower sideband makes a width negative; CASA and pyuvdata go by the
 * width alone. */
static void compare_sidebands(const AstroUvfitsReader *r, const AstroFitsTable *table,
                              const AstroFitsColumn *sidebands, AstroFitsContents *contents)
{
  const double width = r->axes[FREQ].delta;
  for (guint64 i = r->first_if; i < r->first_if + r->n_ifs; i++) {
    const double sideband = astro_fits_table_number(table, sidebands, i);
    if (sideband * width < 0) {
      astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                               "IF %" G_GUINT64_FORMAT
                               " has SIDEBAND %g and channels of %g Hz: frequencies are taken to "
                               "%s with the channel, as the width says",
                               i + 1, sideband, width, width > 0 ? "rise" : "fall");
      return;
    }
  }
}

/* Corrects the axis by the values of the setup. */
static gboolean read_setup(AstroUvfitsReader *r, AstroFitsTable *table, AstroFitsContents *contents,
                           GError **error)
{
  AstroUvfitsAxis *freq = &r->axes[FREQ];
  guint64 n = r->axes[IF].n;
  const AstroFitsColumn *begin = astro_fits_table_find(table, "IF FREQ", FALSE, n),
                        *width = astro_fits_table_find(table, "CH WIDTH", FALSE, n),
                        *sidebands = astro_fits_table_find(table, "SIDEBAND", FALSE, n);
  if ((!begin || table->n_rows < 1) && n > 1)
    return astro_fits_wrong(
        r->file, error,
        "%" G_GUINT64_FORMAT " IFs, but table AIPS FQ has fewer values of \"IF FREQ\"", n);
  if (!begin || table->n_rows < 1)
    return TRUE;
  if (!read_setup_row(r, table, error))
    return FALSE;
  double step = width ? astro_fits_table_number(table, width, r->first_if) : 0,
         first = astro_fits_table_number(table, begin, r->first_if);
  if (isfinite(step) && step != 0 && fabs(step - freq->delta) > SAME_WIDTH * fabs(step))
    freq->delta = step;
  if (sidebands)
    compare_sidebands(r, table, sidebands, contents);
  for (guint64 i = r->first_if + 1; i < r->first_if + r->n_ifs; i++) {
    double expected = first + (i - r->first_if) * (freq->n * freq->delta),
           found = astro_fits_table_number(table, begin, i);
    if (width && !check_width(r, astro_fits_table_number(table, width, i), i, error))
      return FALSE;
    if (!(fabs(found - expected) <= 1e-3 * fabs(freq->delta)))
      return astro_fits_wrong(r->file, error,
                              "IF %" G_GUINT64_FORMAT
                              " begins %.0f Hz from the reference, expected %.0f Hz, where "
                              "the IF before it ends: IFs with gaps cannot be one band, and "
                              "band=N or band=N-M takes some of them",
                              i + 1, found, expected);
  }
  freq->value += isfinite(first) ? first : 0;
  return TRUE;
}

/* Several IFs become consecutive channels if their frequencies are contiguous. */
static gboolean read_setups(AstroUvfitsReader *r, AstroFitsContents *contents, GError **error)
{
  const AstroFitsHeader *header = astro_fits_file_find_table(r->file, "AIPS FQ");
  AstroFitsTable table;
  if (!header && r->axes[IF].n > 1)
    return astro_fits_wrong(r->file, error, "%" G_GUINT64_FORMAT " IFs, but no table AIPS FQ",
                            r->axes[IF].n);
  if (!header)
    return TRUE;
  if (!astro_fits_table_open(&table, r->file, header, error))
    return FALSE;
  gboolean good = read_setup(r, &table, contents, error);
  astro_fits_table_clear(&table);
  return good;
}

gboolean astro_uvfits_choose_band(AstroUvfitsReader *r, const char *band, GError **error)
{
  const guint64 n = r->axes[IF].n;
  guint64 first = 1, last = n;
  r->first_if = 0;
  r->n_ifs = n;
  if (!band)
    return TRUE;
  g_auto(GStrv) ends = g_strsplit(band, "-", 2);
  const gboolean is_range = ends[0] && ends[1];
  if (!ends[0] || !g_ascii_string_to_unsigned(ends[0], 10, 1, n, &first, NULL) ||
      !g_ascii_string_to_unsigned(is_range ? ends[1] : ends[0], 10, first, n, &last, NULL))
    return astro_fits_wrong(r->file, error,
                            "band=%s, expected one of its %" G_GUINT64_FORMAT
                            " IFs, from 1 on, or a range of them such as 1-2",
                            band, n);
  r->first_if = first - 1;
  r->n_ifs = last - first + 1;
  return TRUE;
}

gboolean astro_uvfits_describe(AstroUvfitsReader *r, AstroFitsContents *contents, GError **error)
{
  const AstroUvfitsAxis *freq = &r->axes[FREQ];
  AstroStream *s = &contents->stream;
  r->reference_wavelength = ASTRO_LIGHT_SPEED / freq->value;
  if (!read_setups(r, contents, error))
    return FALSE;
  guint64 channels = freq->n * r->n_ifs, stations = r->antennas.n,
          baselines = stations * (stations + 1) / 2, bytes;
  double width = fabs(freq->delta), first = freq->value + (1 - freq->pixel) * freq->delta,
         middle = first + (channels - 1) * 0.5 * freq->delta;

  if (channels > G_MAXINT32 || baselines > G_MAXINT32 ||
      !g_uint64_checked_mul(&bytes, channels * baselines, 8 * r->pols * r->pols) ||
      bytes > G_MAXSSIZE)
    return astro_fits_wrong(r->file, error,
                            "%" G_GUINT64_FORMAT " stations and %" G_GUINT64_FORMAT
                            " channels are too many for one integration",
                            stations, channels);
  if (!(middle > 0))
    return astro_fits_wrong(r->file, error,
                            "the middle of the band is at %g Hz, expected a positive frequency",
                            middle);
  r->upside_down = freq->delta < 0;
  r->channels = channels;
  contents->stations = stations;
  s->quantity = ASTRO_QUANTITY_VISIBILITIES;
  s->format = ASTRO_FORMAT_CF32LE;
  s->has_counts = TRUE;
  s->layout =
      (AstroLayout){ 4,
                     { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                     { channels, baselines, r->pols, r->pols } };
  s->frequency = middle;
  s->bandwidth = width * channels;
  s->rate_d = 1;
  if (r->integration_ns)
    gst_util_double_to_fraction(ASTRO_NS_PER_SECOND / r->integration_ns, &s->rate_n, &s->rate_d);
  return TRUE;
}
