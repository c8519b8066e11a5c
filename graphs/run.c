/* Plays one pipeline of a graph and reports what its elements say. */
#include "config.h"
#include "graphs/run.h"
#include "core/ranks/world.h"
#include "core/serve/pictures.h"
#include "core/stream/stream.h"
#include "graphs/check.h"
#include "graphs/clock.h"
#include "graphs/control.h"
#include "graphs/format.h"
#include "graphs/interrupt.h"
#include "graphs/job.h"
#include "graphs/machine.h"
#include "graphs/names.h"
#include "graphs/pictures.h"
#include "graphs/progress.h"
#include "graphs/service.h"
#include "graphs/sinks.h"
#include "graphs/sources.h"
#include "graphs/stats.h"
#include "graphs/unlinked.h"
#include "graphs/values.h"
#include "graphs/watchdog.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines that are kept of files and of warnings: a run of months may write a file every minute. */
#define MOST_LINES 1000

typedef struct {
  const AstroArguments *arguments;
  const AstroPass *pass;
  const char *passing; /* folder of files that are removed at the end, which are not told; NULL */
  GstElement *pipeline;
  GMainLoop *loop;
  AstroProgress *progress;
  AstroStats *stats;
  AstroWatchdog *watchdog; /* NULL: none was asked for */
  AstroControl *control;   /* NULL: none was asked for */
  AstroRunState state;     /* other than ASTRO_RUN_PLAYS only by the control */
  gint64 started;          /* us: when it was started last */
  guint64 starts, warnings;
  GHashTable *warned;      /* warnings printed so far */
  GHashTable *told_at_end; /* name of the element and message -> fields, printed at the end */
  GHashTable *sources;     /* element and channel -> lines on the sources in its last image */
  GHashTable *beams;       /* element -> a line on the beam of its last image */
  GPtrArray *files;        /* a line for each file that was written */
  GPtrArray *inputs;       /* lines about what was opened */
  GPtrArray *pictures;     /* names of pictures; NULL: the stream did not end */
  gboolean ended;          /* at EOS, with complete results */
  int status;
} Run;

G_GNUC_PRINTF(3, 4)
static void say(Run *run, AstroLine kind, const char *format, ...)
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

#define tell(run, ...) say(run, ASTRO_LINE_NOTE, __VA_ARGS__)

static void stop(Run *run, int status)
{
  run->status = status;
  g_main_loop_quit(run->loop);
}

/* GStreamer's debug text begins with the place in its own source; only the text after the line
 * break is meant for users. */
static const char *debug_reason(const char *debug)
{
  const char *reason = debug ? strchr(debug, '\n') : NULL;
  return reason ? reason + 1 : debug && !strstr(debug, "():") ? debug : NULL;
}

static char *describe_trouble(GstMessage *message)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *debug = NULL;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  const char *reason = debug_reason(debug);
  const char *name = message->src ? GST_OBJECT_NAME(message->src) : "gst-astro";
  return reason && *reason ? g_strdup_printf("%s: %s (%s)", name, error->message, reason)
                           : g_strdup_printf("%s: %s", name, error->message);
}

/* Whether another rank of an MPI job fails, which says so itself. */
static gboolean is_told_elsewhere(GstMessage *message)
{
  const GstStructure *details = NULL;
  gboolean is_told = FALSE;
  gst_message_parse_error_details(message, &details);
  return details && gst_structure_get_boolean(details, "astro-elsewhere", &is_told) && is_told;
}

static void on_error(Run *run, GstMessage *message)
{
  if (is_told_elsewhere(message)) {
    stop(run, EXIT_FAILURE);
    return;
  }
  g_autofree char *text = describe_trouble(message);
  say(run, ASTRO_LINE_ERROR, "%s", text);
  stop(run, EXIT_FAILURE);
}

static void on_warning(Run *run, GstMessage *message)
{
  char *text = describe_trouble(message);
  run->warnings++;
  if (g_hash_table_size(run->warned) == MOST_LINES)
    g_hash_table_remove_all(run->warned);
  if (!g_hash_table_contains(run->warned, text))
    say(run, ASTRO_LINE_WARNING, "warning: %s", text);
  g_hash_table_add(run->warned, text);
}

static void end(Run *run)
{
  run->ended = TRUE;
  stop(run, EXIT_SUCCESS);
}

static void rest(Run *run);

/* After a stop by the control the run may be started again. */
static void on_eos(Run *run, GstMessage *message)
{
  if (run->state == ASTRO_RUN_STOPS)
    rest(run);
  else
    end(run);
}

static void on_latency(Run *run, GstMessage *message)
{
  gst_bin_recalculate_latency(GST_BIN(run->pipeline));
}

static void on_clock_lost(Run *run, GstMessage *message)
{
  gst_element_set_state(run->pipeline, GST_STATE_PAUSED);
  gst_element_set_state(run->pipeline, GST_STATE_PLAYING);
}

/* With several pipelines each has a file of its own: a.dot becomes a-1.dot, a-2.dot and so on. */
static char *dot_name(const Run *run)
{
  const char *name = run->arguments->dot, *dot = strrchr(name, '.');
  if (!run->pass->label)
    return g_strdup(name);
  const int stem = dot && !strchr(dot, '/') ? (int)(dot - name) : (int)strlen(name);
  return g_strdup_printf("%.*s-%u%s", stem, name, run->pass->pipeline, name + stem);
}

static gboolean write_dot(Run *run)
{
  g_autofree char *dot =
      gst_debug_bin_to_dot_data(GST_BIN(run->pipeline), GST_DEBUG_GRAPH_SHOW_ALL);
  g_autofree char *name = dot_name(run);
  FILE *file = fopen(name, "w");
  gboolean written = file && dot && fputs(dot, file) >= 0;
  written &= !file || !fclose(file);
  if (!written)
    say(run, ASTRO_LINE_ERROR, "%s: %s", name, g_strerror(errno));
  return written;
}

static void on_state(Run *run, GstMessage *message)
{
  GstState state;
  if (message->src != GST_OBJECT(run->pipeline))
    return;
  gst_message_parse_state_changed(message, NULL, &state, NULL);
  if (state == GST_STATE_PLAYING)
    astro_service_ready();
  if (run->arguments->dot && state >= GST_STATE_PAUSED && !write_dot(run))
    stop(run, EXIT_FAILURE);
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
static gboolean is_passed_on(const Run *run, const char *location)
{
  const gsize n = run->passing ? strlen(run->passing) : 0;
  return n && g_str_has_prefix(location, run->passing) && location[n] == G_DIR_SEPARATOR;
}

static void on_file(const Run *run, GPtrArray *lines, const GstStructure *structure)
{
  g_autoptr(GstStructure) contents = gst_structure_copy(structure);
  const char *location = gst_structure_get_string(structure, "location");
  if (location && is_passed_on(run, location))
    return;
  gst_structure_remove_field(contents, "location");
  g_autofree char *fields = astro_format_fields(contents);
  g_autofree char *text = g_strdup_printf("%s: %s", location ? location : "?", fields);
  if (lines->len == MOST_LINES)
    g_ptr_array_remove_index(lines, 0);
  g_ptr_array_add(lines, astro_format_line(text));
}

static void on_progress(Run *run, GstMessage *message)
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
static void on_sources(Run *run, GstMessage *message, const GstStructure *structure)
{
  guint channel = 0;
  gst_structure_get_uint(structure, "channel", &channel);
  g_hash_table_insert(run->sources,
                      g_strdup_printf("%s %08u", GST_OBJECT_NAME(message->src), channel),
                      astro_sources_lines(structure));
}

static void on_server(Run *run, const GstStructure *structure)
{
  if (!run->arguments->quiet)
    tell(run, "open %s", gst_structure_get_string(structure, "location"));
}

static void on_image(Run *run, GstMessage *message, const GstStructure *structure)
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

static void on_element(Run *run, GstMessage *message)
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
  tell(run, "%s: %s", what, fields);
  g_free(what);
  g_free(fields);
}

static const struct {
  GstMessageType type;
  void (*handle)(Run *run, GstMessage *message);
} handlers[] = {
  { GST_MESSAGE_ERROR, on_error },
  { GST_MESSAGE_WARNING, on_warning },
  { GST_MESSAGE_EOS, on_eos },
  { GST_MESSAGE_LATENCY, on_latency },
  { GST_MESSAGE_CLOCK_LOST, on_clock_lost },
  { GST_MESSAGE_STATE_CHANGED, on_state },
  { GST_MESSAGE_ELEMENT, on_element },
  { GST_MESSAGE_PROGRESS, on_progress },
};

static gboolean on_message(GstBus *bus, GstMessage *message, gpointer run)
{
  for (guint i = 0; i < G_N_ELEMENTS(handlers); i++)
    if (GST_MESSAGE_TYPE(message) == handlers[i].type)
      handlers[i].handle(run, message);
  return G_SOURCE_CONTINUE;
}

static void send_eos(GstElement *source, gpointer unused)
{
  gst_element_send_event(source, gst_event_new_eos());
}

/* A source takes EOS only after the block that it is pushing, for which the main loop, with a
 * second interrupt and the control, must not wait. */
static void end_source(const GValue *value, gpointer unused)
{
  gst_element_call_async(g_value_get_object(value), send_eos, NULL, NULL);
}

/* EOS is sent to the sources. If it were sent to the pipeline, it would lock its state while a
 * source is blocked in pushing its first block, which a sink keeps until the pipeline plays, which
 * needs that lock: a deadlock. */
static void end_sources(Run *run)
{
  GstIterator *sources = gst_bin_iterate_sources(GST_BIN(run->pipeline));
  while (gst_iterator_foreach(sources, end_source, NULL) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(sources);
  gst_iterator_free(sources);
}

static void end_stream(Run *run)
{
  /* Tells sinks that wait for a viewer, because they would hold up the end of the stream. */
  gst_element_send_event(run->pipeline,
                         gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM,
                                              gst_structure_new_empty(ASTRO_INTERRUPT_EVENT)));
  end_sources(run);
}

static void on_interrupt(guint presses, gpointer data)
{
  Run *run = data;
  /* One rank's stream would end, and those of the others go on. */
  if (presses > 1 || astro_world_find().ranks > 1) {
    stop(run, ASTRO_INTERRUPTED);
    return;
  }
  if (run->state == ASTRO_RUN_RESTS) {
    end(run);
    return;
  }
  if (!run->arguments->quiet)
    tell(run, "interrupted: ending the stream (interrupt again to stop at once)");
  const gboolean is_ending = run->state == ASTRO_RUN_STOPS;
  run->state = ASTRO_RUN_PLAYS; /* its end is that of the run */
  if (!is_ending)
    end_stream(run);
}

/* Name of a child that failed to change state; if there is none, the pipeline's. */
static char *failed_element(GstElement *pipeline)
{
  GValue value = G_VALUE_INIT;
  char *name = NULL;
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  while (!name && gst_iterator_next(elements, &value) == GST_ITERATOR_OK) {
    GstElement *element = g_value_get_object(&value);
    if (!GST_IS_BIN(element) && GST_STATE_RETURN(element) == GST_STATE_CHANGE_FAILURE)
      name = gst_object_get_name(GST_OBJECT(element));
    g_value_unset(&value);
  }
  gst_iterator_free(elements);
  return name ? name : gst_object_get_name(GST_OBJECT(pipeline));
}

/* A failed change of state should come with an error message, but some elements send none. Where
 * one was told just now, the loop is about to end. */
static gboolean on_watch(gpointer data)
{
  Run *run = data;
  g_autoptr(GstBus) bus = gst_element_get_bus(run->pipeline);
  if (!g_main_loop_is_running(run->loop) ||
      GST_STATE_RETURN(run->pipeline) != GST_STATE_CHANGE_FAILURE || gst_bus_have_pending(bus))
    return G_SOURCE_CONTINUE;
  g_autofree char *name = failed_element(run->pipeline);
  say(run, ASTRO_LINE_ERROR, "%s: failed to start, without an error message", name);
  stop(run, EXIT_FAILURE);
  return G_SOURCE_CONTINUE;
}

static void stop_sink(const GValue *value, gpointer unused)
{
  GstElement *sink = g_value_get_object(value);
  gst_element_set_locked_state(sink, TRUE);
  gst_element_set_state(sink, GST_STATE_NULL);
}

static void unlock_sink(const GValue *value, gpointer unused)
{
  gst_element_set_locked_state(g_value_get_object(value), FALSE);
}

static void for_each_sink(Run *run, GstIteratorForeachFunction call)
{
  GstIterator *sinks = gst_bin_iterate_sinks(GST_BIN(run->pipeline));
  while (gst_iterator_foreach(sinks, call, NULL) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(sinks);
  gst_iterator_free(sinks);
}

/* A source that was told to end keeps its state locked until the block that it is pushing is taken.
 * On its way down a pipeline is paused first, where sinks take no block and wait: it would wait for
 * the source, and that for them. So the sinks are stopped before it, and refuse what comes.
 *
 * A sink that is stopped in mid-stream finishes its file and posts a message about it, which the
 * bus would drop if it flushed itself. */
static void halt(Run *run, GstBus *bus)
{
  GstMessage *message;
  gst_pipeline_set_auto_flush_bus(GST_PIPELINE(run->pipeline), FALSE);
  for_each_sink(run, stop_sink);
  gst_element_set_state(run->pipeline, GST_STATE_NULL);
  for_each_sink(run, unlock_sink); /* it may be started again */
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING))) {
    on_message(bus, message, run);
    gst_message_unref(message);
  }
  gst_bus_set_flushing(bus, TRUE);
}

/* ---- the control ---- */

/* The pipeline gives everything back, so that it begins anew; files are complete. */
static void rest(Run *run)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(run->pipeline);
  run->state = ASTRO_RUN_RESTS;
  astro_watchdog_rest(run->watchdog, TRUE);
  halt(run, bus);
  astro_progress_wait(run->progress, "stopped: POST /start begins anew, Ctrl-C ends");
}

static AstroRunTold tell_control(gpointer data)
{
  const Run *run = data;
  const double seconds = (double)(g_get_monotonic_time() - run->started) / 1e6;
  return (AstroRunTold){ run->state, run->state == ASTRO_RUN_RESTS ? 0 : seconds, run->starts,
                         run->warnings };
}

static void start(gpointer data)
{
  Run *run = data;
  run->state = ASTRO_RUN_PLAYS;
  run->started = g_get_monotonic_time();
  run->starts++;
  astro_progress_wait(run->progress, NULL);
  astro_watchdog_rest(run->watchdog, FALSE);
  gst_element_set_state(run->pipeline, GST_STATE_PLAYING);
}

static void leave_sink(const GValue *value, gpointer unused)
{
  gst_element_set_state(g_value_get_object(value), GST_STATE_READY);
}

/* A source that waits to take EOS keeps its state locked until the block that it is pushing gets
 * somewhere. In a pipeline that goes to PAUSED first a sink would keep that block: sinks go first.
 */
static void leave_sinks(Run *run)
{
  GstIterator *sinks = gst_bin_iterate_sinks(GST_BIN(run->pipeline));
  while (gst_iterator_foreach(sinks, leave_sink, NULL) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(sinks);
  gst_iterator_free(sinks);
}

static void stop_stream(gpointer data)
{
  Run *run = data;
  if (run->state == ASTRO_RUN_STOPS) {
    leave_sinks(run);
    rest(run);
    return;
  }
  run->state = ASTRO_RUN_STOPS;
  end_stream(run);
}

/* FALSE: it cannot be reached, and the user was told why. */
static gboolean open_control(Run *run, const char *name)
{
  const AstroControlled controlled = { run->pipeline, name, run, tell_control, start, stop_stream };
  g_autoptr(GError) error = NULL;
  if (!run->arguments->control && run->arguments->control_token)
    say(run, ASTRO_LINE_ERROR,
        "--control-token without --control: expected --control ADDRESS:PORT too");
  if (!run->arguments->control)
    return !run->arguments->control_token;
  run->control = astro_control_new(run->arguments->control, run->arguments->control_token,
                                   &controlled, &error);
  if (!run->control)
    say(run, ASTRO_LINE_ERROR, "%s", error->message);
  else if (!run->arguments->quiet)
    tell(run, "control at %s", astro_control_page(run->control));
  return run->control != NULL;
}

static void on_stalled(const char *last, gpointer data)
{
  Run *run = data;
  say(run, ASTRO_LINE_ERROR,
      "no element has taken or made a buffer for %s s (--watchdog); the last that did was %s",
      run->arguments->watchdog, last ? last : "none");
  astro_watchdog_last_resort(ASTRO_STALLED);
  leave_sinks(run);
  stop(run, ASTRO_STALLED);
}

static void play(Run *run)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(run->pipeline);
  gst_bus_add_watch(bus, on_message, run);
  guint watch = g_timeout_add(100, on_watch, run);
  astro_interrupt_watch(on_interrupt, run);
  astro_release_sinks(run->pipeline);
  start(run);
  g_main_loop_run(run->loop);
  if (run->ended) {
    run->pictures = astro_pictures_written(run->pipeline);
    astro_progress_finish(run->progress);
    if (run->stats && run->pass->label)
      printf("%s:\n", run->pass->label);
    if (run->stats)
      astro_stats_print(run->stats, stdout);
  } else {
    astro_progress_clear(run->progress);
  }
  halt(run, bus);
  astro_interrupt_hold();
  g_source_remove(watch);
  gst_bus_remove_watch(bus);
}

/* Beams are printed only without lists of sources, which contain them. */
static void tell_beams(Run *run)
{
  if (g_hash_table_size(run->sources) > 0)
    return;
  g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(run->beams), (GCompareFunc)g_strcmp0);
  for (GList *name = names; name; name = name->next)
    printf("%s\n", (char *)g_hash_table_lookup(run->beams, name->data));
}

static gboolean has_results(const Run *run)
{
  return g_hash_table_size(run->sources) || g_hash_table_size(run->beams) || run->files->len ||
         (run->inputs->len && run->status == EXIT_SUCCESS);
}

static void tell_at_end(Run *run)
{
  g_autoptr(GList) keys =
      g_list_sort(g_hash_table_get_keys(run->told_at_end), (GCompareFunc)g_strcmp0);
  for (GList *key = keys; key; key = key->next)
    tell(run, "%s: %s", (char *)key->data,
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

static int play_pipeline(GstElement *pipeline, const AstroPass *pass, const char *passing,
                         const AstroMachine *machine, const AstroArguments *arguments)
{
  Run run = { .arguments = arguments,
              .pass = pass,
              .passing = passing,
              .pipeline = pipeline,
              .status = EXIT_FAILURE };
  g_autofree char *graph = astro_graph_name(pass->graph);
  g_autofree char *name = g_strjoin(pass->label ? ": " : NULL, graph, pass->label, NULL);
  run.loop = g_main_loop_new(NULL, FALSE);
  run.warned = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  run.told_at_end = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  run.files = g_ptr_array_new_with_free_func(g_free);
  run.inputs = g_ptr_array_new_with_free_func(g_free);
  run.beams = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  run.sources =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  run.stats = arguments->stats ? astro_stats_new(pipeline, machine) : NULL;
  run.progress = arguments->quiet ? NULL : astro_progress_new(pipeline, name);
  run.watchdog = arguments->watchdog
                     ? astro_watchdog_new(pipeline, arguments->watchdog, on_stalled, &run)
                     : NULL;
  if (open_control(&run, name) && (!arguments->dot || write_dot(&run)))
    play(&run);
  astro_control_free(run.control);
  astro_watchdog_free(run.watchdog);
  tell_at_end(&run);
  astro_progress_free(run.progress);
  astro_stats_free(run.stats);
  g_hash_table_unref(run.warned);
  g_hash_table_unref(run.told_at_end);
  g_hash_table_unref(run.sources);
  g_hash_table_unref(run.beams);
  g_ptr_array_unref(run.files);
  g_ptr_array_unref(run.inputs);
  g_clear_pointer(&run.pictures, g_ptr_array_unref);
  g_main_loop_unref(run.loop);
  return run.status;
}

/* An addition to GStreamer's message if the element was left out of this build. */
static const char *left_out(const char *message)
{
#ifndef HAVE_SOUP
  if (strstr(message, "\"astrohttpsink\""))
    return ": it needs libsoup-3.0 (3.2 or later), and gst-astro was built without";
#endif
  return "";
}

static char *with_place(const AstroGraph *graph, const char *message)
{
  guint line = astro_graph_locate(graph, message);
  return line ? g_strdup_printf("%s:%u: %s%s", graph->file, line, message, left_out(message))
              : g_strdup_printf("%s: %s", graph->file, message);
}

/* gst_parse_launch returns a single element without a pipeline, but only that has a bus and clock.
 */
static GstElement *as_pipeline(GstElement *element)
{
  if (GST_IS_PIPELINE(element))
    return element;
  GstElement *pipeline = gst_pipeline_new(NULL);
  gst_bin_add(GST_BIN(pipeline), element);
  return pipeline;
}

/* For the elements that compare it with what other ranks have. */
static void tell_job(const AstroGraph *graph, GstElement *pipeline)
{
  g_autoptr(GstContext) context = gst_context_new(ASTRO_JOB_CONTEXT, FALSE);
  g_autofree char *text = astro_graph_job_text(graph);
  gst_structure_set(gst_context_writable_structure(context), "text", G_TYPE_STRING, text, NULL);
  gst_element_set_context(pipeline, context);
}

static GstElement *make_pipeline(const AstroPass *pass, const char *line, char **trouble)
{
  g_autoptr(GError) error = NULL;
  GstElement *element = gst_parse_launch(line, &error);
  if (!element) {
    *trouble = with_place(pass->graph, error->message);
    return NULL;
  }
  g_autoptr(GstElement) pipeline = gst_object_ref_sink(as_pipeline(element));
  tell_job(pass->graph, pipeline);
  g_autofree char *message =
      error ? astro_explain_unlinked(pipeline, error) : astro_check_pipeline(pipeline);
  if (message)
    *trouble = with_place(pass->graph, message);
  return message ? NULL : g_steal_pointer(&pipeline);
}

static GstElement *pipeline_of(const AstroPass *pass, char **trouble)
{
  g_autoptr(GError) error = NULL;
  if (pass->label)
    astro_graph_name_elements(pass->graph);
  g_autofree char *line = astro_checked_line(pass->graph, &error);
  if (line)
    return make_pipeline(pass, line, trouble);
  *trouble = g_strdup(error->message);
  return NULL;
}

char *astro_pass_check(const AstroPass *pass)
{
  char *trouble = NULL;
  g_autoptr(GstElement) pipeline = pipeline_of(pass, &trouble);
  return trouble;
}

int astro_pass_run(const AstroPass *pass, const char *passing, const AstroArguments *arguments)
{
  g_autofree char *trouble = NULL;
  g_autoptr(GstElement) pipeline = pipeline_of(pass, &trouble);
  if (!trouble && arguments->clock)
    trouble = astro_clock_set(pipeline, arguments->clock, arguments->quiet);
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroMachine) machine = NULL;
  if (!trouble && arguments->machine && !arguments->stats)
    trouble = g_strdup("--machine is for the table of --stats, which was not asked for");
  if (!trouble && arguments->machine && !(machine = astro_machine_find(arguments->machine, &error)))
    trouble = g_strdup(error->message);
  return trouble ? astro_refuse(trouble)
                 : play_pipeline(pipeline, pass, passing, machine, arguments);
}
