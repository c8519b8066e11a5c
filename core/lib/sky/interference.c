/* Reads lists of interference. */
#include "config.h"
#include "core/lib/sky/interference.h"

#include "core/kit/fail.h"
#include "core/kit/values.h"
#include "core/lib/sky/streams.h"

#include <math.h>
#include <string.h>

#define RANDOM "random"

/* One item of the list as a user wrote it. */
typedef struct {
  AstroEmitter emitter;
  double count;
  gboolean is_random, has_start;
} Item;

/* A list that is being read. */
typedef struct {
  GArray *emitters;
  const AstroInterferencePlace *place;
} Reading;

static void clear_emitter(AstroEmitter *emitter)
{
  g_clear_pointer(&emitter->stations, g_free);
}

static GArray *emitters_new(void)
{
  GArray *emitters = g_array_new(FALSE, TRUE, sizeof(AstroEmitter));
  g_array_set_clear_func(emitters, (GDestroyNotify)clear_emitter);
  return emitters;
}

static AstroInterference *interference_new(GArray *emitters)
{
  AstroInterference *interference = g_new(AstroInterference, 1);
  interference->n = emitters->len;
  interference->emitters = g_array_steal(emitters, NULL);
  return interference;
}

void astro_interference_free(AstroInterference *interference)
{
  for (guint i = 0; i < interference->n; i++)
    clear_emitter(&interference->emitters[i]);
  g_free(interference->emitters);
  g_free(interference);
}

/* ---- stations ---- */

/* A number or a range of numbers. */
static gboolean read_range(const char *text, guint64 *first, guint64 *last)
{
  char *end;
  if (!g_ascii_isdigit(*text))
    return FALSE;
  *first = *last = g_ascii_strtoull(text, &end, 10);
  if (*end == '-' && g_ascii_isdigit(end[1]))
    *last = g_ascii_strtoull(end + 1, &end, 10);
  return *end == '\0';
}

/* A name may look like a range, so names are tried first. */
static char *mark_stations(const char *text, const AstroObservation *observation, guint8 *marks)
{
  guint64 first, last;
  for (guint i = 0; i < observation->n_stations; i++)
    if (g_str_equal(observation->names[i], text)) {
      marks[i] = 1;
      return NULL;
    }
  if (!read_range(text, &first, &last) || last >= observation->n_stations || first > last)
    return g_strdup_printf("there is no station \"%s\", expected numbers from 0 to %u, ranges such "
                           "as 0-3 or names, joined by '+'",
                           text, observation->n_stations - 1);
  memset(marks + first, 1, last - first + 1);
  return NULL;
}

static char *read_stations(Item *item, const char *text, const AstroObservation *observation)
{
  g_auto(GStrv) parts = g_strsplit(text, "+", -1);
  char *wrong = *text ? NULL : g_strdup("stations=: expected numbers, ranges or names");
  if (item->emitter.stations)
    return g_strdup_printf("\"stations=%s\" comes a second time, expected it once", text);
  item->emitter.stations = g_malloc0(observation->n_stations);
  for (guint i = 0; parts[i] && !wrong; i++)
    wrong = mark_stations(parts[i], observation, item->emitter.stations);
  return wrong;
}

/* ---- words ---- */

static char *read_word(Item *item, const char *word, const AstroInterferencePlace *place)
{
  AstroEmitter *emitter = &item->emitter;
  const struct {
    const char *name;
    double *into;
  } numbers[] = { { "width", &emitter->width },
                  { "period", &emitter->period },
                  { "on", &emitter->on },
                  { "start", &emitter->start },
                  { "count", &item->count } };
  const char *equals = strchr(word, '=');
  g_autofree char *name = equals ? g_strndup(word, (gsize)(equals - word)) : g_strdup("");
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    if (g_str_equal(name, numbers[i].name)) {
      item->has_start |= g_str_equal(name, "start");
      return astro_number_parse(equals + 1, numbers[i].into)
                 ? NULL
                 : g_strdup_printf("\"%s\": expected a number after '='", word);
    }
  if (g_str_equal(name, "stations"))
    return read_stations(item, equals + 1, place->observation);
  return g_strdup_printf("\"%s\" is not known, expected " ASTRO_INTERFERENCE_WORDS, word);
}

static const char *check_times(const AstroEmitter *emitter)
{
  if (emitter->on < 0 || emitter->period < 0)
    return "on and period must not be below 0 s";
  if (emitter->period > 0 && emitter->on == 0)
    return "there is a period: expected on=, for how long it is on in each";
  if (emitter->period > 0 && emitter->on > emitter->period)
    return "it is on for longer than its period: expected at most that";
  return NULL;
}

static const char *check(const Item *item, const AstroInterferencePlace *place)
{
  const AstroEmitter *emitter = &item->emitter;
  if (!item->is_random && !(emitter->frequency > 0))
    return "expected a frequency above 0 Hz";
  if (emitter->power < 0)
    return "expected a power of at least 0 Jy";
  if (emitter->width < 0 || emitter->width > place->bandwidth)
    return "expected a width of at least 0 Hz and at most that of the observed band";
  if (!(item->count >= 1 && item->count <= ASTRO_INTERFERENCE_MAX) ||
      item->count != floor(item->count))
    return "expected count to be a whole number from 1 to " G_STRINGIFY(ASTRO_INTERFERENCE_MAX);
  if (item->count > 1 && !item->is_random)
    return "a count needs the frequency " RANDOM;
  return check_times(emitter);
}

/* ---- chance ---- */

/* The draw-th number from 0 to 1 for an emitter. */
static double draw(const AstroInterferencePlace *place, guint emitter, guint draw_number)
{
  const guint64 key =
      astro_noise_key(place->seed, ASTRO_NOISE_OF_INTERFERENCE, emitter, -1 - (gint64)draw_number);
  return ((double)(key >> 11) + 0.5) * 0x1p-53;
}

/* All of its width is in the band, and its period is under way at the start. */
static void settle(AstroEmitter *emitter, const Item *item, const Reading *reading)
{
  const AstroInterferencePlace *place = reading->place;
  const guint number = reading->emitters->len;
  if (!item->is_random)
    return;
  emitter->frequency =
      place->frequency + (draw(place, number, 0) - 0.5) * (place->bandwidth - emitter->width);
  if (!item->has_start && emitter->period > 0)
    emitter->start = -draw(place, number, 1) * emitter->period;
}

static char *add(Reading *reading, const Item *item)
{
  const guint n_stations = reading->place->observation->n_stations;
  for (guint i = 0; i < (guint)item->count; i++) {
    AstroEmitter emitter = item->emitter;
    if (reading->emitters->len == ASTRO_INTERFERENCE_MAX)
      return g_strdup_printf("expected at most %d tones and bands", ASTRO_INTERFERENCE_MAX);
    emitter.stations = g_memdup2(item->emitter.stations, n_stations);
    settle(&emitter, item, reading);
    g_array_append_val(reading->emitters, emitter);
  }
  return NULL;
}

/* ---- lists ---- */

/* NULL, or what is wrong with an item, to be freed. */
static char *read_item(Reading *reading, char **fields)
{
  Item item = { .count = 1 };
  const char *wrong_value;
  char *wrong = NULL;
  if (g_strv_length(fields) < 2 || strchr(fields[1], '='))
    return g_strdup("expected frequency (Hz or " RANDOM
                    ") and power (Jy), then only " ASTRO_INTERFERENCE_WORDS);
  item.is_random = g_str_equal(fields[0], RANDOM);
  if ((!item.is_random && !astro_number_parse(fields[0], &item.emitter.frequency)) ||
      !astro_number_parse(fields[1], &item.emitter.power))
    return g_strdup("expected numbers: frequency (Hz or " RANDOM ") and power (Jy)");
  for (guint i = 2; fields[i] && !wrong; i++)
    wrong = read_word(&item, fields[i], reading->place);
  if (!wrong && (wrong_value = check(&item, reading->place)))
    wrong = g_strdup(wrong_value);
  if (!wrong)
    wrong = add(reading, &item);
  clear_emitter(&item.emitter);
  return wrong;
}

AstroInterference *astro_interference_from_inline(const char *text,
                                                  const AstroInterferencePlace *place,
                                                  GError **error)
{
  g_autoptr(GArray) emitters = emitters_new();
  Reading reading = { emitters, place };
  g_auto(GStrv) items = g_strsplit(text, ";", -1);
  for (guint i = 0; items[i]; i++) {
    if (!*g_strstrip(items[i]))
      continue;
    g_auto(GStrv) fields = g_strsplit(items[i], ",", -1);
    for (guint k = 0; fields[k]; k++)
      g_strstrip(fields[k]);
    g_autofree char *wrong = read_item(&reading, fields);
    if (wrong) {
      g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_SYNTAX, "rfi: item %u is \"%s\": %s",
                  i + 1, items[i], wrong);
      return NULL;
    }
  }
  return interference_new(emitters);
}

AstroInterference *astro_interference_from_lines(AstroLines *lines,
                                                 const AstroInterferencePlace *place,
                                                 GError **error)
{
  g_autoptr(GArray) emitters = emitters_new();
  Reading reading = { emitters, place };
  char **read;
  while ((read = astro_lines_next(lines))) {
    g_auto(GStrv) fields = read;
    g_autofree char *wrong = read_item(&reading, fields);
    if (wrong) {
      g_autofree char *found = g_strjoinv(" ", fields);
      astro_lines_error(lines, error, "found \"%s\", %s", found, wrong);
      return NULL;
    }
  }
  return interference_new(emitters);
}

AstroInterference *astro_interference_new(const char *text, const AstroInterferencePlace *place,
                                          GError **error)
{
  AstroLines lines;
  if (*text && !strchr(text, ',') && !g_file_test(text, G_FILE_TEST_IS_REGULAR)) {
    astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE,
               "rfi \"%s\" is neither a file nor a list frequency,power;frequency,power", text);
    return NULL;
  }
  if (!*text || !g_file_test(text, G_FILE_TEST_IS_REGULAR))
    return astro_interference_from_inline(text, place, error);
  if (!astro_lines_open(&lines, text, error))
    return NULL;
  AstroInterference *interference = astro_interference_from_lines(&lines, place, error);
  astro_lines_clear(&lines);
  return interference;
}

/* ---- telling ---- */

static void tell_number(GString *text, const char *name, double value)
{
  if (value == 0)
    return;
  g_string_append(text, name);
  astro_values_append(text, value);
}

static void tell_stations(GString *text, const guint8 *stations, guint n)
{
  const char *before = ",stations=";
  for (guint i = 0, end; i < n; i = end + 1) {
    for (end = i; end < n && stations[end];)
      end++;
    if (end == i)
      continue;
    g_string_append_printf(text, "%s%u", before, i);
    if (end > i + 1)
      g_string_append_printf(text, "-%u", end - 1);
    before = "+";
  }
}

char *astro_interference_tell(const AstroInterference *interference, guint n_stations)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < interference->n; i++) {
    const AstroEmitter *emitter = &interference->emitters[i];
    g_string_append(text, i ? ";" : "");
    astro_values_append(text, emitter->frequency);
    g_string_append_c(text, ',');
    astro_values_append(text, emitter->power);
    tell_number(text, ",width=", emitter->width);
    tell_number(text, ",period=", emitter->period);
    tell_number(text, ",on=", emitter->on);
    tell_number(text, ",start=", emitter->start);
    if (emitter->stations)
      tell_stations(text, emitter->stations, n_stations);
  }
  return g_string_free(text, FALSE);
}

gboolean astro_emitter_is_in_band(const AstroEmitter *emitter, double frequency, double bandwidth)
{
  return fabs(emitter->frequency - frequency) < (bandwidth + emitter->width) / 2;
}

char *astro_interference_tell_outside(const AstroInterference *interference, double frequency,
                                      double bandwidth)
{
  guint outside = 0, first = 0;
  for (guint i = 0; i < interference->n; i++)
    if (!astro_emitter_is_in_band(&interference->emitters[i], frequency, bandwidth) && !outside++)
      first = i;
  if (!outside)
    return NULL;
  g_autofree char *others =
      outside > 1 ? g_strdup_printf(" (and %u more)", outside - 1) : g_strdup("");
  return g_strdup_printf("rfi: the interference at %.15g Hz%s is outside of the band from %.15g to "
                         "%.15g Hz and is left out",
                         interference->emitters[first].frequency, others, frequency - bandwidth / 2,
                         frequency + bandwidth / 2);
}
