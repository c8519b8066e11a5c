/* Measures and prints how far a pipeline has come. */
#include "graphs/progress.h"
#include "core/stream/stream.h"
#include "graphs/flow.h"
#include "graphs/format.h"
#include "graphs/service.h"
#include <stdio.h>
#include <unistd.h>

#define TERMINAL_MS 200
#define LINES_MS 3000
#define JOURNAL_MS 600000 /* a journal keeps lines for months */

typedef struct {
  GstElement *element;
  AstroFlow *flow;
} Source;

struct _AstroProgress {
  char *name;
  char *note;    /* NULL: none */
  char *waiting; /* the reason why the stream waits; NULL: it does not */
  gint64 since;  /* the wait began */
  GArray *sources;
  gint64 start;
  gboolean terminal;
  guint timer;
};

typedef struct {
  double fraction; /* done by the slowest source; negative: not known */
  double stream;   /* seconds of stream made; 0 if it has no time */
  double seconds;
  guint64 buffers, bytes;
} State;

static gint64 source_duration(GstElement *element, GstFormat format)
{
  gint64 duration = 0;
  return gst_element_query_duration(element, format, &duration) && duration > 0 ? duration : 0;
}

static gint64 source_buffers(GstElement *element)
{
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "num-buffers");
  int n = 0;
  if (spec && spec->value_type == G_TYPE_INT)
    g_object_get(element, "num-buffers", &n, NULL);
  return MAX(n, 0);
}

/* By time if the source knows its length and stamps its buffers; else by bytes, else by buffers. */
static double source_fraction(GstElement *element, const AstroFlowCount *count)
{
  const struct {
    guint64 done, all;
  } ways[] = {
    { count->end, source_duration(element, GST_FORMAT_TIME) },
    { count->bytes, source_duration(element, GST_FORMAT_BYTES) },
    { count->buffers, source_buffers(element) },
  };
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++)
    if (ways[i].all && (ways[i].done || !count->buffers))
      return MIN((double)ways[i].done / ways[i].all, 1);
  return -1;
}

/* Catalogues count as a second each, which does not mean that they took that time. */
static gboolean takes_time(GstElement *element)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "src");
  g_autoptr(GstCaps) caps = pad ? gst_pad_get_current_caps(pad) : NULL;
  return !caps ||
         astro_quantity_from_media_type(gst_structure_get_name(gst_caps_get_structure(caps, 0))) !=
             ASTRO_QUANTITY_CATALOGUE;
}

static State measure(AstroProgress *progress)
{
  State state = { .fraction = 2 };
  state.seconds = (g_get_monotonic_time() - progress->start) / 1e6;
  for (guint i = 0; i < progress->sources->len; i++) {
    Source *source = &g_array_index(progress->sources, Source, i);
    AstroFlowCount count = astro_flow_count(source->flow);
    state.fraction = MIN(state.fraction, source_fraction(source->element, &count));
    if (takes_time(source->element))
      state.stream = MAX(state.stream, count.end / 1e9);
    state.buffers += count.buffers;
    state.bytes += count.bytes;
  }
  if (state.fraction > 1)
    state.fraction = -1;
  return state;
}

static char *describe_rate(const State *state)
{
  g_autofree char *rate = astro_format_rate(state->bytes, state->seconds);
  if (state->stream <= 0 || state->seconds <= 0)
    return g_steal_pointer(&rate);
  return g_strdup_printf("%.3g x real time, %s", state->stream / state->seconds, rate);
}

static char *describe(AstroProgress *progress)
{
  State state = measure(progress);
  g_autofree char *rate = describe_rate(&state);
  if (state.fraction < 0) {
    g_autofree char *done = astro_format_bytes(state.bytes);
    return g_strdup_printf("%s: %s, %s", progress->name, done, rate);
  }
  if (state.fraction >= 1) /* nobody knows how long elements downstream still take */
    return g_strdup_printf("%s: 100.0 %%, %s, finishing", progress->name, rate);
  double left = state.fraction > 0 ? state.seconds * (1 / state.fraction - 1) : -1;
  g_autofree char *clock = left >= 0 ? astro_format_clock(left) : g_strdup("?");
  return g_strdup_printf("%s: %.1f %%, %s, %s left", progress->name, 100 * state.fraction, rate,
                         clock);
}

static gboolean on_tick(gpointer data)
{
  AstroProgress *progress = data;
  if (progress->waiting)
    return G_SOURCE_CONTINUE;
  g_autofree char *line = describe(progress);
  g_autofree char *note = progress->note ? g_strconcat("; ", progress->note, NULL) : g_strdup("");
  fprintf(stderr, progress->terminal ? "\r%s%s\033[K" : "%s%s\n", line, note);
  fflush(stderr);
  return G_SOURCE_CONTINUE;
}

static void add_source(const GValue *value, gpointer data)
{
  AstroProgress *progress = data;
  GstElement *element = g_value_get_object(value);
  if (!GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SOURCE) || GST_IS_BIN(element))
    return;
  Source source = { gst_object_ref(element), astro_flow_new(element, GST_PAD_SRC) };
  g_array_append_val(progress->sources, source);
}

AstroProgress *astro_progress_new(GstElement *pipeline, const char *name)
{
  AstroProgress *progress = g_new0(AstroProgress, 1);
  progress->name = g_strdup(name);
  progress->sources = g_array_new(FALSE, FALSE, sizeof(Source));
  progress->start = g_get_monotonic_time();
  progress->terminal = isatty(STDERR_FILENO);
  const guint lines_ms = astro_service_has_journal() ? JOURNAL_MS : LINES_MS;
  progress->timer = g_timeout_add(progress->terminal ? TERMINAL_MS : lines_ms, on_tick, progress);
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  gst_iterator_foreach(elements, add_source, progress);
  gst_iterator_free(elements);
  return progress;
}

void astro_progress_note(AstroProgress *progress, const char *note)
{
  if (!progress)
    return;
  g_free(progress->note);
  progress->note = g_strdup(note);
}

void astro_progress_wait(AstroProgress *progress, const char *text)
{
  if (!progress || !text == !progress->waiting)
    return;
  const gint64 now = g_get_monotonic_time();
  if (progress->waiting)
    progress->start += now - progress->since;
  progress->since = now;
  g_free(progress->waiting);
  progress->waiting = g_strdup(text);
  if (!text)
    return;
  fprintf(stderr, progress->terminal ? "\r%s: %s\033[K" : "%s: %s\n", progress->name, text);
  fflush(stderr);
}

void astro_progress_clear(AstroProgress *progress)
{
  if (progress && progress->terminal)
    fputs("\r\033[K", stderr);
}

void astro_progress_finish(AstroProgress *progress)
{
  if (!progress)
    return;
  State state = measure(progress);
  g_autofree char *rate = describe_rate(&state);
  g_autofree char *bytes = astro_format_bytes(state.bytes);
  g_autofree char *seconds = astro_format_seconds(state.seconds);
  g_autofree char *percent =
      state.fraction < 0 ? g_strdup("") : g_strdup_printf("%.1f %%, ", 100 * state.fraction);
  astro_progress_clear(progress);
  fprintf(stderr, "%s: %s%" G_GUINT64_FORMAT " buffers, %s in %s, %s\n", progress->name, percent,
          state.buffers, bytes, seconds, rate);
}

void astro_progress_free(AstroProgress *progress)
{
  if (!progress)
    return;
  g_source_remove(progress->timer);
  for (guint i = 0; i < progress->sources->len; i++) {
    Source *source = &g_array_index(progress->sources, Source, i);
    astro_flow_free(source->flow);
    gst_object_unref(source->element);
  }
  g_array_unref(progress->sources);
  g_free(progress->name);
  g_free(progress->note);
  g_free(progress->waiting);
  g_free(progress);
}
