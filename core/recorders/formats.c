/* The table of formats, and the opening of a recording. */
#include "config.h"
#include "core/recorders/recording.h"

#include "core/stream/typed.h"

#include <string.h>

G_DEFINE_QUARK(astro_recorder_error, astro_recorder_error)

/* In the order in which content is tried: VDIF, which has no mark, comes last. */
static const AstroRecorderFormat *const formats[] = {
  &astro_recorder_dada,   &astro_recorder_guppi, &astro_recorder_sigproc,
  &astro_recorder_mark5b, &astro_recorder_vdif,  &astro_recorder_cu8,
};

const AstroRecorderName *astro_recorder_names(void)
{
  static AstroRecorderName names[G_N_ELEMENTS(formats) + 1];
  static gsize once = 0;
  if (g_once_init_enter(&once)) {
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
      names[i] = formats[i]->name;
    g_once_init_leave(&once, 1);
  }
  return names;
}

static const AstroRecorderFormat *recognise(const guint8 *bytes, gsize n)
{
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
    if (formats[i]->probe && formats[i]->probe(bytes, n))
      return formats[i];
  return NULL;
}

const char *astro_recorder_probe(const guint8 *bytes, gsize n)
{
  const AstroRecorderFormat *format = recognise(bytes, n);
  return format ? format->name.name : NULL;
}

static char *list_names(void)
{
  GString *list = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
    g_string_append_printf(list, "%s%s", i ? ", " : "", formats[i]->name.name);
  return g_string_free(list, FALSE);
}

static const AstroRecorderFormat *find_named(const char *name, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
    if (strcmp(formats[i]->name.name, name) == 0)
      return formats[i];
  g_autofree char *list = list_names();
  astro_recorder_fail(error, SETTINGS, "format=%s is not known, expected auto, or one of %s", name,
                      list);
  return NULL;
}

/* All files of a recording have one format. */
static const AstroRecorderFormat *find_by_content(const AstroRecording *recording, GError **error)
{
  const AstroRecorderFormat *found = NULL;
  for (guint i = 0; i < recording->files->len; i++) {
    AstroRecorderFile *file = astro_recording_file(recording, i);
    gsize got;
    const guint8 *bytes =
        astro_recorder_file_bytes(file, 0, MIN(ASTRO_RECORDER_PROBE, file->size), &got, error);
    if (!bytes)
      return NULL;
    const AstroRecorderFormat *format = recognise(bytes, got);
    if (!format) {
      astro_recorder_fail(error, FORMAT,
                          "%s: found %s, expected a recording of dada, guppi, mark5b, sigproc "
                          "or vdif: set format if you know it is one",
                          file->name, got ? "something else" : "an empty file");
      return NULL;
    }
    if (found && format != found) {
      astro_recorder_fail(error, FORMAT,
                          "%s: found a recording of %s among those of %s: expected files of one "
                          "recording",
                          file->name, format->name.name, found->name.name);
      return NULL;
    }
    found = format;
  }
  return found;
}

static gboolean read_settings(AstroRecording *recording, const AstroRecorderSettings *settings,
                              GError **error)
{
  recording->given_d = 1;
  if (settings->rate && *settings->rate &&
      !astro_rate_parse(settings->rate, &recording->given_n, &recording->given_d))
    return astro_recorder_fail(error, SETTINGS,
                               "rate=%s: expected steps of time a second, as 1000000, 1e6, "
                               "390625/2 or 195312.5, a fraction of numbers up to 2147483647",
                               settings->rate);
  recording->has_given_start = settings->start_time && *settings->start_time;
  if (recording->has_given_start &&
      !astro_time_parse(settings->start_time, &recording->given_start))
    return astro_recorder_fail(error, SETTINGS,
                               "start-time=%s: expected UTC as 2026-11-20T12:00:00[.fraction], or "
                               "seconds since 1970, as 1795176000.5",
                               settings->start_time);
  return TRUE;
}

/* A setting of another format would do nothing. */
static gboolean check_settings(const AstroRecording *recording, const char *file, GError **error)
{
  const AstroRecorderSettings *settings = recording->settings;
  const struct {
    gboolean is_set;
    const AstroRecorderFormat *format;
    const char *name, *why;
  } own[] = {
    { settings->numbers != ASTRO_RECORDER_NUMBERS_AUTO, &astro_recorder_dada, "numbers",
      "tells how its samples are written" },
    { settings->heap_steps > 0, &astro_recorder_dada, "heap-steps", "has no heaps" },
    { settings->products && *settings->products, &astro_recorder_sigproc, "products",
      "has no IFs" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(own); i++)
    if (own[i].is_set && recording->format != own[i].format)
      return astro_recorder_fail(error, SETTINGS,
                                 "%s: %s is set, but a recording of %s %s: leave it out", file,
                                 own[i].name, recording->format->name.name, own[i].why);
  return TRUE;
}

static void close_file(gpointer file)
{
  astro_recorder_file_close(file);
}

static gboolean open_all(AstroRecording *recording, char *const *files, guint n_files,
                         GError **error)
{
  const char *format = recording->settings->format;
  for (guint i = 0; i < n_files; i++) {
    AstroRecorderFile *file = astro_recorder_file_open(files[i], error);
    if (!file)
      return FALSE;
    g_ptr_array_add(recording->files, file);
  }
  recording->format = format && *format && strcmp(format, "auto") != 0
                          ? find_named(format, error)
                          : find_by_content(recording, error);
  return recording->format && check_settings(recording, files[0], error) &&
         recording->format->open(recording, error) && astro_recording_describe(recording, error);
}

AstroRecording *astro_recording_open(char *const *files, guint n_files,
                                     const AstroRecorderSettings *settings, GError **error)
{
  AstroRecording *recording = g_new0(AstroRecording, 1);
  recording->files = g_ptr_array_new_with_free_func(close_file);
  recording->notes = g_string_new(NULL);
  recording->settings = settings;
  const gboolean is_open =
      read_settings(recording, settings, error) && open_all(recording, files, n_files, error);
  recording->settings = NULL;
  if (is_open)
    return recording;
  astro_recording_close(recording);
  return NULL;
}

void astro_recording_close(AstroRecording *recording)
{
  if (recording->format && recording->format->close && recording->room)
    recording->format->close(recording->room);
  g_clear_pointer(&recording->index, g_array_unref);
  g_clear_pointer(&recording->beams, g_array_unref);
  g_ptr_array_unref(recording->files);
  g_string_free(recording->notes, TRUE);
  g_free(recording->telescope);
  g_free(recording->basis);
  g_free(recording->scratch);
  g_free(recording);
}

AstroRecorderFile *astro_recording_file(const AstroRecording *recording, guint file)
{
  return recording->files->pdata[file];
}

const char *astro_recording_format(const AstroRecording *recording)
{
  return recording->format->name.name;
}

const AstroStream *astro_recording_stream(const AstroRecording *recording)
{
  return &recording->stream;
}

GstCaps *astro_recording_make_caps(const AstroRecording *recording)
{
  return recording->packing.is_power ? astro_power_to_caps(&recording->stream, &recording->products)
                                     : astro_stream_to_caps(&recording->stream);
}

guint64 astro_recording_steps(const AstroRecording *recording)
{
  return recording->steps;
}

const char *astro_recording_note(const AstroRecording *recording)
{
  return recording->notes->len ? recording->notes->str : NULL;
}

const AstroRecordingStats *astro_recording_stats(const AstroRecording *recording)
{
  return &recording->stats;
}

void astro_recording_add_note(AstroRecording *recording, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  if (recording->notes->len)
    g_string_append(recording->notes, "; ");
  g_string_append_vprintf(recording->notes, format, arguments);
  va_end(arguments);
}
