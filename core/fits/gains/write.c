/* Writes tables of gains. */
#include "config.h"
#include "core/fits/gains/gains.h"

#include <string.h>

#include "core/fits/cards.h"
#include "core/fits/cfitsio.h"

typedef struct {
  const char *name;
  char type;
  guint64 repeat;
  const char *unit; /* NULL: none */
} Field;

static guint64 bytes_of(char type)
{
  return type == 'A' ? 1 : type == 'E' ? 4 : 8;
}

static guint64 longest_name(const AstroGains *gains)
{
  gsize longest = 1;
  for (guint i = 0; i < gains->stations; i++) {
    g_autofree char *name = astro_fits_ascii(gains->names[i]);
    longest = MAX(longest, strlen(name));
  }
  return longest;
}

static void put_fields(GString *header, const Field *fields, guint n)
{
  for (guint f = 0; f < n; f++) {
    g_autofree char *form =
        g_strdup_printf("%" G_GUINT64_FORMAT "%c", fields[f].repeat, fields[f].type);
    astro_fits_put_string_n(header, "TTYPE", f + 1, fields[f].name, "name of the field");
    astro_fits_put_string_n(header, "TFORM", f + 1, form, "its numbers");
    if (fields[f].unit)
      astro_fits_put_string_n(header, "TUNIT", f + 1, fields[f].unit, "their unit");
  }
}

static char *date_of(const AstroGains *gains)
{
  g_autoptr(AstroObservation) observation = astro_observation_new(0);
  observation->has_start = TRUE;
  observation->start_mjd = gains->start_mjd;
  observation->start_ns = gains->start_ns;
  return astro_observation_tell_time(observation, 0);
}

static void put_keys(GString *header, const AstroGains *gains)
{
  g_autofree char *date = date_of(gains);
  astro_fits_put_string(header, "GAINTYPE", astro_gains_type_name(gains->type), "what was solved");
  astro_fits_put_integer(header, "NSTATION", gains->stations, "rows of an interval");
  astro_fits_put_integer(header, "NPOL", gains->pols, "polarisations of a station");
  astro_fits_put_integer(header, "NGROUP", gains->groups, "groups of channels");
  astro_fits_put_string(header, "BASIS", gains->basis ? gains->basis : "", "linear or circular");
  astro_fits_put_double(header, "FREQLOW", gains->low, "[Hz] lower edge of the first group");
  astro_fits_put_double(header, "FREQHIGH", gains->high, "[Hz] upper edge of the last group");
  astro_fits_put_double(header, "FREQSTEP", gains->step, "[Hz] width of a group");
  astro_fits_put_integer(header, "CONSTANT", gains->is_constant ? 1 : 0,
                         "1: one solution for all times");
  astro_fits_put_integer(header, "JANSKY", gains->to_jansky ? 1 : 0,
                         "1: corrected visibilities are in Jy");
  astro_fits_put_string(header, "DATE-OBS", date ? date : "", "UTC of time 0");
  astro_fits_put_integer(header, "MJDSTART", gains->start_mjd, "UTC day of time 0");
  astro_fits_put_integer(header, "NSSTART", (gint64)gains->start_ns, "[ns] since its 0h");
  astro_fits_put_string(header, "SIGN", "V = J M J^H", "M: sky, V: measured");
}

static gboolean write_headers(AstroPartFile *file, const AstroGains *gains, guint64 name_bytes,
                              GError **error)
{
  const guint64 values = (guint64)gains->groups * gains->values;
  const Field fields[] = { { "STATION", 'A', name_bytes, NULL },
                           { "TIME", 'D', 2, "s" },
                           { "GAIN", 'D', 2 * values, NULL },
                           { "SNR", 'E', values, NULL },
                           { "DELAY", 'D', values, "s" } };
  g_autoptr(GString) primary = g_string_new(NULL), header = g_string_new(NULL);
  guint64 bytes = 0;
  for (guint f = 0; f < G_N_ELEMENTS(fields); f++)
    bytes += fields[f].repeat * bytes_of(fields[f].type);
  astro_fits_put_logical(primary, "SIMPLE", TRUE, "conforms to FITS");
  astro_fits_put_integer(primary, "BITPIX", 8, "bits of a value");
  astro_fits_put_integer(primary, "NAXIS", 0, "no data here");
  astro_fits_put_logical(primary, "EXTEND", TRUE, "a table follows");
  astro_fits_put_string(header, "XTENSION", "BINTABLE", "binary table");
  astro_fits_put_integer(header, "BITPIX", 8, "bits of a value");
  astro_fits_put_integer(header, "NAXIS", 2, "rows of bytes");
  astro_fits_put_integer(header, "NAXIS1", (gint64)bytes, "bytes of a row");
  astro_fits_put_integer(header, "NAXIS2", (gint64)gains->intervals->len * gains->stations, "rows");
  astro_fits_put_integer(header, "PCOUNT", 0, "nothing after the rows");
  astro_fits_put_integer(header, "GCOUNT", 1, "one table");
  astro_fits_put_integer(header, "TFIELDS", G_N_ELEMENTS(fields), "fields of a row");
  put_fields(header, fields, G_N_ELEMENTS(fields));
  astro_fits_put_string(header, "EXTNAME", "GAINS", "what this is");
  put_keys(header, gains);
  return astro_fits_write_cards(file, primary, error) &&
         astro_fits_write_cards(file, header, error);
}

static void append_double(GByteArray *row, double value)
{
  guint64 bits;
  memcpy(&bits, &value, sizeof bits);
  bits = GUINT64_TO_BE(bits);
  g_byte_array_append(row, (const guint8 *)&bits, sizeof bits);
}

static void append_float(GByteArray *row, float value)
{
  guint32 bits;
  memcpy(&bits, &value, sizeof bits);
  bits = GUINT32_TO_BE(bits);
  g_byte_array_append(row, (const guint8 *)&bits, sizeof bits);
}

static void append_name(GByteArray *row, const char *name, guint64 bytes)
{
  g_autofree char *padded = g_malloc0(bytes + 1);
  g_strlcpy(padded, name, bytes + 1);
  g_byte_array_append(row, (const guint8 *)padded, (guint)bytes);
}

static void fill_row(GByteArray *row, const AstroGains *gains, guint interval, guint station,
                     guint64 name_bytes)
{
  const guint values = gains->groups * gains->values;
  const gsize at = interval * astro_gains_row(gains) + (gsize)station * values;
  const AstroGainsInterval *time = &g_array_index(gains->intervals, AstroGainsInterval, interval);
  g_byte_array_set_size(row, 0);
  g_autofree char *name = astro_fits_ascii(gains->names[station]);
  append_name(row, name, name_bytes);
  append_double(row, time->begin);
  append_double(row, time->end);
  for (guint k = 0; k < values; k++) {
    const complex double gain = g_array_index(gains->gains, complex double, at + k);
    append_double(row, creal(gain));
    append_double(row, cimag(gain));
  }
  for (guint k = 0; k < values; k++)
    append_float(row, g_array_index(gains->snr, float, at + k));
  for (guint k = 0; k < values; k++)
    append_double(row, g_array_index(gains->delays, double, at + k));
}

gboolean astro_fits_gains_write(AstroPartFile *file, const AstroGains *gains, GError **error)
{
  const guint64 name_bytes = longest_name(gains);
  g_autoptr(GByteArray) row = g_byte_array_new();
  if (!write_headers(file, gains, name_bytes, error))
    return FALSE;
  for (guint interval = 0; interval < gains->intervals->len; interval++)
    for (guint station = 0; station < gains->stations; station++) {
      fill_row(row, gains, interval, station, name_bytes);
      if (!astro_part_file_write(file, row->data, row->len, error))
        return FALSE;
    }
  return astro_fits_write_padding(file, error);
}
