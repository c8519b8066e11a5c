/* Plays one pipeline of a graph and reports what its elements say. */
#include "config.h"
#include "graphs/run-parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ranks/world.h"
#include "graphs/clock.h"
#include "graphs/format.h"
#include "graphs/interrupt.h"
#include "graphs/machine.h"
#include "graphs/pictures.h"
#include "graphs/sinks.h"

static void stop(AstroRun *run, int status)
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

static void on_error(AstroRun *run, GstMessage *message)
{
  if (is_told_elsewhere(message)) {
    stop(run, EXIT_FAILURE);
    return;
  }
  g_autofree char *text = describe_trouble(message);
  astro_run_say(run, ASTRO_LINE_ERROR, "%s", text);
  stop(run, EXIT_FAILURE);
}

static void on_warning(AstroRun *run, GstMessage *message)
{
  char *text = describe_trouble(message);
  run->warnings++;
  if (g_hash_table_size(run->warned) == ASTRO_RUN_MOST_LINES)
    g_hash_table_remove_all(run->warned);
  if (!g_hash_table_contains(run->warned, text))
    astro_run_say(run, ASTRO_LINE_WARNING, "warning: %s", text);
  g_hash_table_add(run->warned, text);
}

static void end(AstroRun *run)
{
  run->ended = TRUE;
  stop(run, EXIT_SUCCESS);
}

static void rest(AstroRun *run);

/* After a stop by the control the run may be started again. */
static void on_eos(AstroRun *run, GstMessage *message)
{
  if (run->state == ASTRO_RUN_STOPS)
    rest(run);
  else
    end(run);
}

static void on_latency(AstroRun *run, GstMessage *message)
{
  gst_bin_recalculate_latency(GST_BIN(run->pipeline));
}

static void on_clock_lost(AstroRun *run, GstMessage *message)
{
  gst_element_set_state(run->pipeline, GST_STATE_PAUSED);
  gst_element_set_state(run->pipeline, GST_STATE_PLAYING);
}

/* With several pipelines each has a file of its own: a.dot becomes a-1.dot, a-2.dot and so on. */
static char *dot_name(const AstroRun *run)
{
  const char *name = run->arguments->dot, *dot = strrchr(name, '.');
  if (!run->pass->label)
    return g_strdup(name);
  const int stem = dot && !strchr(dot, '/') ? (int)(dot - name) : (int)strlen(name);
  return g_strdup_printf("%.*s-%u%s", stem, name, run->pass->pipeline, name + stem);
}

static gboolean write_dot(AstroRun *run)
{
  g_autofree char *dot =
      gst_debug_bin_to_dot_data(GST_BIN(run->pipeline), GST_DEBUG_GRAPH_SHOW_ALL);
  g_autofree char *name = dot_name(run);
  FILE *file = fopen(name, "w");
  gboolean written = file && dot && fputs(dot, file) >= 0;
  written &= !file || !fclose(file);
  if (!written)
    astro_run_say(run, ASTRO_LINE_ERROR, "%s: %s", name, g_strerror(errno));
  return written;
}

static void on_state(AstroRun *run, GstMessage *message)
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

static const struct {
  GstMessageType type;
  void (*handle)(AstroRun *run, GstMessage *message);
} handlers[] = {
  { GST_MESSAGE_ERROR, on_error },
  { GST_MESSAGE_WARNING, on_warning },
  { GST_MESSAGE_EOS, on_eos },
  { GST_MESSAGE_LATENCY, on_latency },
  { GST_MESSAGE_CLOCK_LOST, on_clock_lost },
  { GST_MESSAGE_STATE_CHANGED, on_state },
  { GST_MESSAGE_ELEMENT, astro_run_hear_element },
  { GST_MESSAGE_PROGRESS, astro_run_hear_progress },
};

static gboolean on_message(GstBus *bus, GstMessage *message, gpointer run)
{
  for (guint i = 0; i < G_N_ELEMENTS(handlers); i++)
    if (GST_MESSAGE_TYPE(message) == handlers[i].type)
      handlers[i].handle(run, message);
  return G_SOURCE_CONTINUE;
}

static void on_interrupt(guint presses, gpointer data)
{
  AstroRun *run = data;
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
    astro_run_tell(run, "interrupted: ending the stream (interrupt again to stop at once)");
  const gboolean is_ending = run->state == ASTRO_RUN_STOPS;
  run->state = ASTRO_RUN_PLAYS; /* its end is that of the run */
  if (!is_ending)
    astro_run_end_stream(run);
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
  AstroRun *run = data;
  g_autoptr(GstBus) bus = gst_element_get_bus(run->pipeline);
  if (!g_main_loop_is_running(run->loop) ||
      GST_STATE_RETURN(run->pipeline) != GST_STATE_CHANGE_FAILURE || gst_bus_have_pending(bus))
    return G_SOURCE_CONTINUE;
  g_autofree char *name = failed_element(run->pipeline);
  astro_run_say(run, ASTRO_LINE_ERROR, "%s: failed to start, without an error message", name);
  stop(run, EXIT_FAILURE);
  return G_SOURCE_CONTINUE;
}

/* A source that was told to end keeps its state locked until the block that it is pushing is taken.
 * On its way down a pipeline is paused first, where sinks take no block and wait: it would wait for
 * the source, and that for them. So the sinks are stopped before it, and refuse what comes.
 *
 * A sink that is stopped in mid-stream finishes its file and posts a message about it, which the
 * bus would drop if it flushed itself. */
static void halt(AstroRun *run, GstBus *bus)
{
  GstMessage *message;
  gst_pipeline_set_auto_flush_bus(GST_PIPELINE(run->pipeline), FALSE);
  astro_run_stop_sinks(run);
  gst_element_set_state(run->pipeline, GST_STATE_NULL);
  astro_run_unlock_sinks(run); /* it may be started again */
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING))) {
    on_message(bus, message, run);
    gst_message_unref(message);
  }
  gst_bus_set_flushing(bus, TRUE);
}

/* ---- the control ---- */

/* The pipeline gives everything back, so that it begins anew; files are complete. */
static void rest(AstroRun *run)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(run->pipeline);
  run->state = ASTRO_RUN_RESTS;
  astro_watchdog_rest(run->watchdog, TRUE);
  halt(run, bus);
  astro_progress_wait(run->progress, "stopped: POST /start begins anew, Ctrl-C ends");
}

static AstroRunTold tell_control(gpointer data)
{
  const AstroRun *run = data;
  const double seconds = (double)(g_get_monotonic_time() - run->started) / 1e6;
  return (AstroRunTold){ run->state, run->state == ASTRO_RUN_RESTS ? 0 : seconds, run->starts,
                         run->warnings };
}

static void start(gpointer data)
{
  AstroRun *run = data;
  run->state = ASTRO_RUN_PLAYS;
  run->started = g_get_monotonic_time();
  run->starts++;
  astro_progress_wait(run->progress, NULL);
  astro_watchdog_rest(run->watchdog, FALSE);
  gst_element_set_state(run->pipeline, GST_STATE_PLAYING);
}

static void stop_stream(gpointer data)
{
  AstroRun *run = data;
  if (run->state == ASTRO_RUN_STOPS) {
    astro_run_leave_sinks(run);
    rest(run);
    return;
  }
  run->state = ASTRO_RUN_STOPS;
  astro_run_end_stream(run);
}

/* FALSE: it cannot be reached, and the user was told why. */
static gboolean open_control(AstroRun *run, const char *name)
{
  const AstroControlled controlled = { run->pipeline, name, run, tell_control, start, stop_stream };
  g_autoptr(GError) error = NULL;
  if (!run->arguments->control && run->arguments->control_token)
    astro_run_say(run, ASTRO_LINE_ERROR,
                  "--control-token without --control: expected --control ADDRESS:PORT too");
  if (!run->arguments->control)
    return !run->arguments->control_token;
  run->control = astro_control_new(run->arguments->control, run->arguments->control_token,
                                   &controlled, &error);
  if (!run->control)
    astro_run_say(run, ASTRO_LINE_ERROR, "%s", error->message);
  else if (!run->arguments->quiet)
    astro_run_tell(run, "control at %s", astro_control_page(run->control));
  return run->control != NULL;
}

static void on_stalled(const char *last, gpointer data)
{
  AstroRun *run = data;
  astro_run_say(
      run, ASTRO_LINE_ERROR,
      "no element has taken or made a buffer for %s s (--watchdog); the last that did was %s",
      run->arguments->watchdog, last ? last : "none");
  astro_watchdog_last_resort(ASTRO_STALLED);
  astro_run_leave_sinks(run);
  stop(run, ASTRO_STALLED);
}

static void play(AstroRun *run)
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

static int play_pipeline(GstElement *pipeline, const AstroPass *pass, const char *passing,
                         const AstroMachine *machine, const AstroArguments *arguments)
{
  AstroRun run = { .arguments = arguments,
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
  astro_run_tell_results(&run);
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

char *astro_pass_check(const AstroPass *pass)
{
  char *trouble = NULL;
  g_autoptr(GstElement) pipeline = astro_pass_pipeline(pass, &trouble);
  return trouble;
}

int astro_pass_run(const AstroPass *pass, const char *passing, const AstroArguments *arguments)
{
  g_autofree char *trouble = NULL;
  g_autoptr(GstElement) pipeline = astro_pass_pipeline(pass, &trouble);
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
