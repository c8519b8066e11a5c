/* Reads the file of gains, delays and bandpasses, and looks up a bandpass. */
#include "config.h"
#include "core/delay/calibration.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

typedef struct {
  const AstroLines *lines;
  const AstroObservation *observation;
  guint pols;
  AstroCalibration *calibration;
  GByteArray **points; /* the bandpass of each input: pairs of frequency and amplitude */
} Reader;

/* Marks the inputs that a line applies to. */
static gboolean find_inputs(const Reader *reader, char **fields, gboolean *chosen, GError **error)
{
  guint stations = reader->observation->n_stations, pols = reader->pols, found = 0;
  for (guint station = 0; station < stations; station++)
    for (guint pol = 0; pol < pols; pol++) {
      char digit[2] = { (char)('0' + pol), 0 };
      gboolean is = (strcmp(fields[1], "*") == 0 ||
                     strcmp(fields[1], reader->observation->names[station]) == 0) &&
                    (strcmp(fields[2], "*") == 0 || strcmp(fields[2], digit) == 0);
      chosen[station * pols + pol] = is;
      found += is;
    }
  if (found == 0)
    astro_lines_error(
        reader->lines, error,
        "no input is station \"%s\", polarisation \"%s\": there are %u stations, %s to "
        "%s, and polarisations 0 to %u",
        fields[1], fields[2], stations, reader->observation->names[0],
        reader->observation->names[stations - 1], pols - 1);
  return found > 0;
}

/* Limit of a gain and of a bandpass: samples in single precision are divided by their product. */
#define LARGEST_AMPLITUDE 1e15

static gboolean is_amplitude(double number)
{
  return number >= 1 / LARGEST_AMPLITUDE && number <= LARGEST_AMPLITUDE;
}

static gboolean read_gain(Reader *reader, char **fields, const double *numbers, GError **error)
{
  guint inputs = reader->observation->n_stations * reader->pols;
  g_autofree gboolean *chosen = g_new(gboolean, inputs);
  if (!is_amplitude(numbers[0])) {
    astro_lines_error(reader->lines, error, "amplitude %g, expected %g to %g", numbers[0],
                      1 / LARGEST_AMPLITUDE, LARGEST_AMPLITUDE);
    return FALSE;
  }
  if (!find_inputs(reader, fields, chosen, error))
    return FALSE;
  for (guint i = 0; i < inputs; i++)
    if (chosen[i]) {
      reader->calibration->inputs[i].amplitude = numbers[0];
      reader->calibration->inputs[i].phase = numbers[1] * ASTRO_DEGREE;
    }
  return TRUE;
}

static gboolean read_delay(Reader *reader, char **fields, const double *numbers, GError **error)
{
  guint inputs = reader->observation->n_stations * reader->pols;
  g_autofree gboolean *chosen = g_new(gboolean, inputs);
  if (fabs(numbers[0]) > 1e9) {
    astro_lines_error(reader->lines, error, "%g ns, expected a delay within a second", numbers[0]);
    return FALSE;
  }
  if (!find_inputs(reader, fields, chosen, error))
    return FALSE;
  for (guint i = 0; i < inputs; i++)
    if (chosen[i])
      reader->calibration->inputs[i].delay = numbers[0] * 1e-9;
  return TRUE;
}

static gboolean add_point(Reader *reader, guint input, const double *numbers)
{
  GByteArray *points = reader->points[input];
  double last;
  if (points->len) {
    memcpy(&last, points->data + points->len - sizeof(double[2]), sizeof last);
    if (numbers[0] <= last)
      return FALSE;
  }
  g_byte_array_append(points, (const guint8 *)numbers, sizeof(double[2]));
  return TRUE;
}

static gboolean read_bandpass(Reader *reader, char **fields, const double *numbers, GError **error)
{
  const guint inputs = reader->calibration->n_inputs;
  g_autofree gboolean *chosen = g_new(gboolean, inputs);
  gboolean good = is_amplitude(numbers[1]);
  if (!find_inputs(reader, fields, chosen, error))
    return FALSE;
  for (guint i = 0; good && i < inputs; i++)
    good = !chosen[i] || add_point(reader, i, numbers);
  if (!good)
    astro_lines_error(reader->lines, error,
                      "bandpass %g %g: expected frequencies that rise and amplitudes of %g to %g",
                      numbers[0], numbers[1], 1 / LARGEST_AMPLITUDE, LARGEST_AMPLITUDE);
  return good;
}

static gboolean read_common_bandpass(Reader *reader, char **fields, const double *numbers,
                                     GError **error)
{
  char any[] = "*";
  char *all[] = { fields[0], any, any, NULL };
  return read_bandpass(reader, all, numbers, error);
}

static const struct {
  const char *word, *form;
  guint names, min_numbers, max_numbers;
  gboolean (*read)(Reader *reader, char **fields, const double *numbers, GError **error);
} kinds[] = {
  { "gain", "gain STATION POL AMPLITUDE [DEGREES]", 2, 1, 2, read_gain },
  { "delay", "delay STATION POL NANOSECONDS", 2, 1, 1, read_delay },
  { "bandpass", "bandpass [STATION POL] HZ AMPLITUDE", 0, 2, 2, read_common_bandpass },
  { "bandpass", "bandpass [STATION POL] HZ AMPLITUDE", 2, 2, 2, read_bandpass },
};

static gboolean has_fields(guint n, guint kind)
{
  return n > kinds[kind].names + kinds[kind].min_numbers &&
         n <= 1 + kinds[kind].names + kinds[kind].max_numbers;
}

/* A word may have two forms, with different numbers of fields. */
static gboolean read_line(Reader *reader, char **fields, GError **error)
{
  const guint n = g_strv_length(fields);
  const char *form = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    double numbers[2] = { 0, 0 };
    if (strcmp(fields[0], kinds[i].word) != 0)
      continue;
    form = kinds[i].form;
    gboolean ok = has_fields(n, i);
    for (guint k = 1 + kinds[i].names; ok && k < n; k++)
      ok = astro_number_parse(fields[k], &numbers[k - 1 - kinds[i].names]);
    if (ok)
      return kinds[i].read(reader, fields, numbers, error);
  }
  if (form)
    astro_lines_error(reader->lines, error, "expected %s", form);
  else
    astro_lines_error(reader->lines, error, "found \"%s\", expected gain, delay or bandpass",
                      fields[0]);
  return FALSE;
}

/* ---- bandpasses ---- */

static AstroBandpass new_bandpass(const GByteArray *points)
{
  const double *numbers = (const double *)(gconstpointer)points->data;
  const guint n = (guint)(points->len / sizeof(double[2]));
  AstroBandpass bandpass = { n, g_new(double, n), g_new(double, n) };
  for (guint i = 0; i < n; i++) {
    bandpass.frequencies[i] = numbers[2 * i];
    bandpass.amplitudes[i] = numbers[2 * i + 1];
  }
  return bandpass;
}

/* Inputs with equal points share one bandpass; number 0 is that of inputs without points. */
static void take_bandpasses(Reader *reader)
{
  AstroCalibration *calibration = reader->calibration;
  g_autoptr(GHashTable) known =
      g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  g_autoptr(GArray) bandpasses = g_array_new(FALSE, TRUE, sizeof(AstroBandpass));
  g_array_set_size(bandpasses, 1);
  g_hash_table_insert(known, g_bytes_new(NULL, 0), GUINT_TO_POINTER(0));
  for (guint i = 0; i < calibration->n_inputs; i++) {
    GBytes *points = g_bytes_new(reader->points[i]->data, reader->points[i]->len);
    gpointer index;
    if (g_hash_table_lookup_extended(known, points, NULL, &index)) {
      g_bytes_unref(points);
    } else {
      const AstroBandpass bandpass = new_bandpass(reader->points[i]);
      index = GUINT_TO_POINTER(bandpasses->len);
      g_array_append_val(bandpasses, bandpass);
      g_hash_table_insert(known, points, index);
    }
    calibration->inputs[i].bandpass = GPOINTER_TO_UINT(index);
  }
  calibration->n_bandpasses = bandpasses->len;
  calibration->bandpasses = (AstroBandpass *)(gpointer)g_array_steal(bandpasses, NULL);
}

static gboolean read_lines(Reader *reader, AstroLines *lines, GError **error)
{
  char **read;
  while ((read = astro_lines_next(lines))) {
    g_auto(GStrv) fields = read;
    if (!read_line(reader, fields, error))
      return FALSE;
  }
  return TRUE;
}

AstroCalibration *astro_calibration_read(AstroLines *lines, const AstroObservation *observation,
                                         guint pols, GError **error)
{
  g_autoptr(AstroCalibration) calibration = g_new0(AstroCalibration, 1);
  const guint n = observation->n_stations * pols;
  g_autofree GByteArray **points = g_new(GByteArray *, n);
  Reader reader = { lines, observation, pols, calibration, points };
  calibration->n_inputs = n;
  calibration->inputs = g_new0(AstroInputCalibration, n);
  for (guint i = 0; i < n; i++) {
    calibration->inputs[i].amplitude = 1;
    points[i] = g_byte_array_new();
  }
  const gboolean good = read_lines(&reader, lines, error);
  if (good)
    take_bandpasses(&reader);
  for (guint i = 0; i < n; i++)
    g_byte_array_unref(points[i]);
  return good ? g_steal_pointer(&calibration) : NULL;
}

void astro_calibration_free(AstroCalibration *calibration)
{
  for (guint i = 0; i < calibration->n_bandpasses; i++) {
    g_free(calibration->bandpasses[i].frequencies);
    g_free(calibration->bandpasses[i].amplitudes);
  }
  g_free(calibration->bandpasses);
  g_free(calibration->inputs);
  g_free(calibration->table);
  g_free(calibration);
}

/* The index of the first point whose frequency is not below this one; n if there is none. A binary
 * search, as it runs for each channel of each block. */
static guint find_frequency(const AstroBandpass *bandpass, double frequency)
{
  guint first = 0, last = bandpass->n;
  while (first < last) {
    guint middle = first + (last - first) / 2;
    if (bandpass->frequencies[middle] < frequency)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

double astro_bandpass_at(const AstroBandpass *bandpass, double frequency)
{
  guint n = bandpass->n, i = find_frequency(bandpass, frequency);
  if (n == 0)
    return 1;
  if (i == 0 || i == n)
    return bandpass->amplitudes[i == 0 ? 0 : n - 1];
  double part = (frequency - bandpass->frequencies[i - 1]) /
                (bandpass->frequencies[i] - bandpass->frequencies[i - 1]);
  return (1 - part) * bandpass->amplitudes[i - 1] + part * bandpass->amplitudes[i];
}

double astro_calibration_bandpass(const AstroCalibration *calibration, guint input,
                                  double frequency)
{
  return astro_bandpass_at(&calibration->bandpasses[calibration->inputs[input].bandpass],
                           frequency);
}

/* ---- checksums, and dropping parts ---- */

static void add_doubles(GChecksum *sum, const double *numbers, guint n)
{
  g_checksum_update(sum, (const guchar *)numbers, (gssize)(n * sizeof *numbers));
}

/* A table has the name by which astrocalibrate knows it, so that both of them know it was applied.
 */
char *astro_calibration_sum_gains(const AstroCalibration *calibration)
{
  if (calibration->table)
    return g_strdup(calibration->table);
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  gboolean any = FALSE;
  for (guint i = 0; i < calibration->n_inputs; i++) {
    const AstroInputCalibration *input = &calibration->inputs[i];
    const double numbers[] = { input->amplitude, input->phase, input->delay };
    add_doubles(sum, numbers, G_N_ELEMENTS(numbers));
    any |= input->amplitude != 1 || input->phase != 0 || input->delay != 0;
  }
  return any ? g_strdup(g_checksum_get_string(sum)) : NULL;
}

char *astro_calibration_sum_bandpass(const AstroCalibration *calibration)
{
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  for (guint i = 0; i < calibration->n_inputs; i++) {
    const AstroBandpass *bandpass = &calibration->bandpasses[calibration->inputs[i].bandpass];
    const double n = bandpass->n;
    add_doubles(sum, &n, 1);
    add_doubles(sum, bandpass->frequencies, bandpass->n);
    add_doubles(sum, bandpass->amplitudes, bandpass->n);
  }
  return calibration->n_bandpasses > 1 ? g_strdup(g_checksum_get_string(sum)) : NULL;
}

void astro_calibration_drop_gains(AstroCalibration *calibration)
{
  g_clear_pointer(&calibration->table, g_free);
  for (guint i = 0; i < calibration->n_inputs; i++) {
    calibration->inputs[i].amplitude = 1;
    calibration->inputs[i].phase = calibration->inputs[i].delay = 0;
  }
}

void astro_calibration_drop_bandpass(AstroCalibration *calibration)
{
  for (guint i = 0; i < calibration->n_inputs; i++)
    calibration->inputs[i].bandpass = 0;
}
