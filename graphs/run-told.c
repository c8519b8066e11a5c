/* Lines about what the elements of a pipeline have said. */
#include "config.h"
#include "graphs/run-parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/serve/pictures.h"
#include "core/stream/stream.h"
#include "graphs/format.h"
#include "graphs/sources.h"

void astro_run_say(AstroRun *run, AstroLine kind, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *line = astro_format_line(text);
  astro_progress_clear(run->progress);
  fprintf(stderr, "%s%s%s%s\n", astro_service_prefix(kind),
          run->pass->label ? run->pass->label : "", run->pass->label ? ": " : "", line);
}

/* Counts that go on during a run: only the last is printed. */
static const char *const at_end[] = { "astro-clipped", "astro-packets", NULL };
/* Messages that appear in the table of --stats, or in the last lines of every run. */
static const char *const elsewhere[] = {
  "astro-stats", "astro-file", "astro-sources", "astro-server", "astro-image", "astro-input", NULL
};

/* Results, which are always printed unless --quiet. */
static const char *const results[] = { "astro-mock",    "astro-tpacf", "astro-integration",
                                       "astro-packets", "astro-start", "astro-ring",
                                       "astro-dump",    "candidate",   NULL };

/* Whether the file only goes from one pipeline to another. */
static gboolean is_passed_on(const AstroRun *run, const char *location)
{
  const gsize n = run->passing ? strlen(run->passing) : 0;
  return n && g_str_has_prefix(location, run->passing) && location[n] == G_DIR_SEPARATOR;
}

static void on_file(const AstroRun *run, GPtrArray *lines, const GstStructure *structure)
{
  g_autoptr(GstStructure) contents = gst_structure_copy(structure);
  const char *location = gst_structure_get_string(structure, "location");
  if (location && is_passed_on(run, location))
    return;
  gst_structure_remove_field(contents, "location");
  g_autofree char *fields = astro_format_fields(contents);
  g_autofree char *text = g_strdup_printf("%s: %s", location ? location : "?", fields);
  if (lines->len == ASTRO_RUN_MOST_LINES)
    g_ptr_array_remove_index(lines, 0);
  g_ptr_array_add(lines, astro_format_line(text));
}

void astro_run_hear_progress(AstroRun *run, GstMessage *message)
{
  GstProgressType type;
  g_autofree char *code = NULL, *text = NULL;
  gst_message_parse_progress(message, &type, &code, &text);
  gboolean goes_on = type == GST_PROGRESS_TYPE_START || type == GST_PROGRESS_TYPE_CONTINUE;
  void (*const tell_of)(AstroProgress *, const char *) =
      g_strcmp0(code, ASTRO_WAIT_CODE) == 0 ? astro_progress_wait : astro_progress_note;
  tell_of(run->progress, goes_on ? text : NULL);
  if (g_strcmp0(code, ASTRO_WAIT_CODE) == 0)
    astro_watchdog_rest(run->watchdog, goes_on);
}

/* Keeps the sources of the last image in a stream of several. */
static void on_sources(AstroRun *run, GstMessage *message, const GstStructure *structure)
{
  guint channel = 0;
  gst_structure_get_uint(structure, "channel", &channel);
  g_hash_table_insert(run->sources,
                      g_strdup_printf("%s %08u", GST_OBJECT_NAME(message->src), channel),
                      astro_sources_lines(structure));
}

static void on_server(AstroRun *run, const GstStructure *structure)
{
  if (!run->arguments->quiet)
    astro_run_tell(run, "open %s", gst_structure_get_string(structure, "location"));
}

static void on_image(AstroRun *run, GstMessage *message, const GstStructure *structure)
{
  g_autofree char *beam = astro_beam_text(structure);
  const char *name = GST_OBJECT_NAME(message->src);
  g_hash_table_insert(run->beams, g_strdup(name), g_strdup_printf("%s: beam %s", name, beam));
}

/* The fields of a message; if no power law fits, a sentence with the reason comes first. */
static char *words_of(const GstStructure *structure)
{
  g_autoptr(GstStructure) numbers = gst_structure_copy(structure);
  const char *why = gst_structure_get_string(structure, "no-fit");
  gst_structure_remove_field(numbers, "no-fit");
  g_autofree char *fields = astro_format_fields(numbers);
  return why ? g_strdup_printf("no power law fits: %s; %s", why, fields) : g_steal_pointer(&fields);
}

void astro_run_hear_element(AstroRun *run, GstMessage *message)
{
  const GstStructure *structure = gst_message_get_structure(message);
  const char *name = structure ? gst_structure_get_name(structure) : "";
  if (run->stats)
    astro_stats_hear(run->stats, message);
  if (g_str_equal(name, ASTRO_PLAN_MESSAGE))
    return; /* it is for the table */
  if (g_str_equal(name, "astro-file"))
    on_file(run, run->files, structure);
  if (g_str_equal(name, "astro-input"))
    on_file(run, run->inputs, structure);
  if (g_str_equal(name, "astro-sources"))
    on_sources(run, message, structure);
  if (g_str_equal(name, "astro-server"))
    on_server(run, structure);
  if (g_str_equal(name, "astro-image"))
    on_image(run, message, structure);
  const gboolean has_prefix = g_str_has_prefix(name, "astro-");
  if (!(has_prefix || g_strv_contains(results, name)) || g_strv_contains(elsewhere, name) ||
      !(run->arguments->stats || run->arguments->verbose ||
        (g_strv_contains(results, name) && !run->arguments->quiet)))
    return;
  char *what = g_strdup_printf("%s: %s", GST_OBJECT_NAME(message->src),
                               name + (has_prefix ? strlen("astro-") : 0));
  char *fields = words_of(structure);
  if (g_strv_contains(at_end, name)) {
    g_hash_table_insert(run->told_at_end, what, fields);
    return;
  }
  astro_run_tell(run, "%s: %s", what, fields);
  g_free(what);
  g_free(fields);
}

/* Beams are printed only without lists of sources, which contain them. */
static void tell_beams(AstroRun *run)
{
  if (g_hash_table_size(run->sources) > 0)
    return;
  g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(run->beams), (GCompareFunc)g_strcmp0);
  for (GList *name = names; name; name = name->next)
    printf("%s\n", (char *)g_hash_table_lookup(run->beams, name->data));
}

static gboolean has_results(const AstroRun *run)
{
  return g_hash_table_size(run->sources) || g_hash_table_size(run->beams) || run->files->len ||
         (run->inputs->len && run->status == EXIT_SUCCESS);
}

void astro_run_tell_results(AstroRun *run)
{
  g_autoptr(GList) keys =
      g_list_sort(g_hash_table_get_keys(run->told_at_end), (GCompareFunc)g_strcmp0);
  for (GList *key = keys; key; key = key->next)
    astro_run_tell(run, "%s: %s", (char *)key->data,
                   (char *)g_hash_table_lookup(run->told_at_end, key->data));
  if (run->pass->label && has_results(run))
    printf("%s:\n", run->pass->label);
  g_autoptr(GList) images =
      g_list_sort(g_hash_table_get_keys(run->sources), (GCompareFunc)g_strcmp0);
  for (GList *key = images; key; key = key->next) {
    const GPtrArray *lines = g_hash_table_lookup(run->sources, key->data);
    for (guint i = 0; i < lines->len; i++)
      printf("%s\n", (char *)lines->pdata[i]);
  }
  tell_beams(run);
  for (guint i = 0; i < run->inputs->len && run->status == EXIT_SUCCESS; i++)
    printf("%s\n", (char *)run->inputs->pdata[i]);
  for (guint i = 0; i < run->files->len; i++)
    printf("%s\n", (char *)run->files->pdata[i]);
  for (guint i = 0; run->pictures && i < run->pictures->len; i++)
    if (!is_passed_on(run, run->pictures->pdata[i]))
      printf("picture: %s\n", (char *)run->pictures->pdata[i]);
}
