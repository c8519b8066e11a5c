#include "config.h"
#include "core/delay/calibration.h"
#include "core/units.h"

#include <math.h>
#include <string.h>

typedef struct {
  const AstroLines *lines;
  const AstroObservation *observation;
  guint pols;
  AstroCalibration *calibration;
  GArray *bandpass; /* of double[2] */
} Reader;

/* Which inputs a line is about: first, first + step ... below last. */
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

/* Of a gain and of a bandpass, whose product samples in single precision are divided by. */
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

static gboolean read_bandpass(Reader *reader, char **fields, const double *numbers, GError **error)
{
  const double *last = reader->bandpass->len
                           ? &g_array_index(reader->bandpass, double, 2 * reader->bandpass->len - 2)
                           : NULL;
  if ((last && numbers[0] <= last[0]) || !is_amplitude(numbers[1])) {
    astro_lines_error(reader->lines, error,
                      "bandpass %s %s: expected frequencies that rise and amplitudes of %g to %g",
                      fields[1], fields[2], 1 / LARGEST_AMPLITUDE, LARGEST_AMPLITUDE);
    return FALSE;
  }
  g_array_append_vals(reader->bandpass, numbers, 1);
  return TRUE;
}

static const struct {
  const char *word, *form;
  guint names, min_numbers, max_numbers;
  gboolean (*read)(Reader *reader, char **fields, const double *numbers, GError **error);
} kinds[] = {
  { "gain", "gain STATION POL AMPLITUDE [DEGREES]", 2, 1, 2, read_gain },
  { "delay", "delay STATION POL NANOSECONDS", 2, 1, 1, read_delay },
  { "bandpass", "bandpass HZ AMPLITUDE", 0, 2, 2, read_bandpass },
};

static gboolean read_line(Reader *reader, char **fields, GError **error)
{
  guint n = g_strv_length(fields);
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    double numbers[2] = { 0, 0 };
    if (strcmp(fields[0], kinds[i].word) != 0)
      continue;
    gboolean ok =
        n > kinds[i].names + kinds[i].min_numbers && n <= 1 + kinds[i].names + kinds[i].max_numbers;
    for (guint k = 1 + kinds[i].names; ok && k < n; k++)
      ok = astro_number_parse(fields[k], &numbers[k - 1 - kinds[i].names]);
    if (ok)
      return kinds[i].read(reader, fields, numbers, error);
    astro_lines_error(reader->lines, error, "expected %s", kinds[i].form);
    return FALSE;
  }
  astro_lines_error(reader->lines, error, "found \"%s\", expected gain, delay or bandpass",
                    fields[0]);
  return FALSE;
}

AstroCalibration *astro_calibration_read(AstroLines *lines, const AstroObservation *observation,
                                         guint pols, GError **error)
{
  g_autoptr(AstroCalibration) calibration = g_new0(AstroCalibration, 1);
  g_autoptr(GArray) bandpass = g_array_new(FALSE, FALSE, 2 * sizeof(double));
  Reader reader = { lines, observation, pols, calibration, bandpass };
  char **read;
  calibration->inputs = g_new0(AstroInputCalibration, observation->n_stations * (gsize)pols);
  for (guint i = 0; i < observation->n_stations * pols; i++)
    calibration->inputs[i].amplitude = 1;
  while ((read = astro_lines_next(lines))) {
    g_auto(GStrv) fields = read;
    if (!read_line(&reader, fields, error))
      return NULL;
  }
  calibration->n_bandpass = bandpass->len;
  calibration->frequencies = g_new(double, bandpass->len);
  calibration->amplitudes = g_new(double, bandpass->len);
  for (guint i = 0; i < bandpass->len; i++) {
    calibration->frequencies[i] = ((double *)bandpass->data)[2 * i];
    calibration->amplitudes[i] = ((double *)bandpass->data)[2 * i + 1];
  }
  return g_steal_pointer(&calibration);
}

void astro_calibration_free(AstroCalibration *calibration)
{
  g_free(calibration->inputs);
  g_free(calibration->frequencies);
  g_free(calibration->amplitudes);
  g_free(calibration);
}

/* The first of the bandpass's frequencies that is not below; n_bandpass where all are. They are
 * asked for each channel and each block. */
static guint find_frequency(const AstroCalibration *calibration, double frequency)
{
  guint first = 0, last = calibration->n_bandpass;
  while (first < last) {
    guint middle = first + (last - first) / 2;
    if (calibration->frequencies[middle] < frequency)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

double astro_calibration_bandpass(const AstroCalibration *calibration, double frequency)
{
  guint n = calibration->n_bandpass, i = find_frequency(calibration, frequency);
  if (n == 0)
    return 1;
  if (i == 0 || i == n)
    return calibration->amplitudes[i == 0 ? 0 : n - 1];
  double part = (frequency - calibration->frequencies[i - 1]) /
                (calibration->frequencies[i] - calibration->frequencies[i - 1]);
  return (1 - part) * calibration->amplitudes[i - 1] + part * calibration->amplitudes[i];
}
