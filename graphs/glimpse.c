/* Pictures of what passes a pad, drawn aside. */
#include "graphs/glimpse.h"

#define MOST_SECONDS 5 /* to render one */
/* A picture that is older than this is not shown: the stream may stand still. */
#define FRESH_SECONDS 30

typedef struct {
  GPtrArray *events; /* the pad's sticky ones, in order */
  GstBuffer *buffer;
} Taken;

/* Counted, since a probe that was removed may still be called. */
struct _AstroGlimpse {
  GThread *thread; /* draws */
  gulong probe;

  GMutex lock;
  GstPad *pad;       /* asked for */
  gboolean awaits;   /* the probe waits for a buffer there */
  Taken *taken;      /* the buffer that came */
  gboolean is_drawn; /* the thread is done */
  GBytes *picture;   /* of the pad */
  gint64 made;       /* us: when */
  char *trouble;     /* why it could not be drawn */
};

static void taken_free(Taken *taken)
{
  g_ptr_array_unref(taken->events);
  gst_buffer_unref(taken->buffer);
  g_free(taken);
}

/* ---- drawing ---- */

static void on_handoff(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer picture)
{
  gst_buffer_replace(picture, buffer);
}

static char *read_trouble(GstElement *pipeline)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(bus, MOST_SECONDS * GST_SECOND,
                                                             GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_autoptr(GError) error = NULL;
  if (!message)
    return g_strdup("drawing takes too long");
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR)
    return NULL;
  gst_message_parse_error(message, &error, NULL);
  return g_strdup(error->message);
}

static void push(GstPad *src, const Taken *taken)
{
  for (guint i = 0; i < taken->events->len; i++)
    gst_pad_push_event(src, gst_event_ref(taken->events->pdata[i]));
  gst_pad_push(src, gst_buffer_ref(taken->buffer));
  gst_pad_push_event(src, gst_event_new_eos());
}

static GBytes *bytes_of(GstBuffer *buffer)
{
  gpointer data = NULL;
  gsize n = 0;
  gst_buffer_extract_dup(buffer, 0, (gsize)-1, &data, &n);
  return g_bytes_new_take(data, n);
}

static GBytes *draw(const Taken *taken, char **trouble)
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline =
      gst_parse_launch("astrorender name=render ! pngenc ! fakesink name=sink sync=false "
                       "async=false signal-handoffs=true",
                       &error);
  GstBuffer *last = NULL;
  GBytes *picture = NULL;
  if (error) {
    *trouble = g_strdup(error->message);
    g_clear_pointer(&pipeline, gst_object_unref);
    return NULL;
  }
  g_autoptr(GstElement) render = gst_bin_get_by_name(GST_BIN(pipeline), "render"),
                        sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) to = gst_element_get_static_pad(render, "sink");
  g_autoptr(GstPad) src = gst_object_ref_sink(gst_pad_new("aside", GST_PAD_SRC));
  g_signal_connect(sink, "handoff", G_CALLBACK(on_handoff), &last);
  gst_pad_link_full(src, to, GST_PAD_LINK_CHECK_NOTHING);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  gst_pad_set_active(src, TRUE);
  push(src, taken);
  *trouble = read_trouble(pipeline);
  gst_pad_set_active(src, FALSE);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_pad_unlink(src, to);
  if (last && !*trouble)
    picture = bytes_of(last);
  else if (!*trouble)
    *trouble = g_strdup("there is nothing to draw in it");
  gst_clear_buffer(&last);
  gst_object_unref(pipeline);
  return picture;
}

static gpointer run(gpointer data)
{
  AstroGlimpse *glimpse = data;
  char *trouble = NULL;
  GBytes *picture = draw(glimpse->taken, &trouble);
  g_mutex_lock(&glimpse->lock);
  g_clear_pointer(&glimpse->picture, g_bytes_unref);
  g_free(glimpse->trouble);
  glimpse->picture = picture;
  glimpse->trouble = trouble;
  glimpse->made = g_get_monotonic_time();
  g_clear_pointer(&glimpse->taken, taken_free);
  glimpse->is_drawn = TRUE;
  g_mutex_unlock(&glimpse->lock);
  return NULL;
}

/* ---- taking ---- */

static gboolean add_event(GstPad *pad, GstEvent **event, gpointer events)
{
  if (GST_EVENT_TYPE(*event) != GST_EVENT_EOS)
    g_ptr_array_add(events, gst_event_ref(*event));
  return TRUE;
}

/* In the streaming thread, which only takes a reference. */
static GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  AstroGlimpse *glimpse = data;
  GstBuffer *buffer = info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST
                          ? gst_buffer_list_get(GST_PAD_PROBE_INFO_BUFFER_LIST(info), 0)
                          : GST_PAD_PROBE_INFO_BUFFER(info);
  if (!buffer) /* in pull mode the probe is called once before there is a buffer */
    return GST_PAD_PROBE_OK;
  Taken *taken = g_new(Taken, 1);
  taken->events = g_ptr_array_new_with_free_func((GDestroyNotify)gst_event_unref);
  taken->buffer = gst_buffer_ref(buffer);
  gst_pad_sticky_events_foreach(pad, add_event, taken->events);
  g_mutex_lock(&glimpse->lock);
  if (glimpse->pad == pad && glimpse->awaits)
    glimpse->taken = g_steal_pointer(&taken);
  glimpse->awaits = FALSE;
  g_mutex_unlock(&glimpse->lock);
  g_clear_pointer(&taken, taken_free);
  return GST_PAD_PROBE_REMOVE;
}

static void clear(gpointer data)
{
  g_mutex_clear(&((AstroGlimpse *)data)->lock);
}

/* Forgets what is known of a pad, for another one or NULL. No thread draws. */
static void turn_to(AstroGlimpse *glimpse, GstPad *pad)
{
  g_mutex_lock(&glimpse->lock);
  g_autoptr(GstPad) before = g_steal_pointer(&glimpse->pad);
  const gboolean awaits = glimpse->awaits;
  glimpse->pad = pad ? gst_object_ref(pad) : NULL;
  glimpse->awaits = FALSE;
  g_clear_pointer(&glimpse->taken, taken_free);
  g_clear_pointer(&glimpse->picture, g_bytes_unref);
  g_clear_pointer(&glimpse->trouble, g_free);
  g_mutex_unlock(&glimpse->lock);
  if (awaits)
    gst_pad_remove_probe(before, glimpse->probe);
}

static void unref(gpointer glimpse)
{
  g_atomic_rc_box_release_full(glimpse, clear);
}

/* Begins with whatever is next: to await a buffer, or to draw the one that came. */
static void go_on(AstroGlimpse *glimpse)
{
  g_mutex_lock(&glimpse->lock);
  const gboolean draws = glimpse->taken && !glimpse->thread,
                 begins = !glimpse->taken && !glimpse->thread && !glimpse->awaits;
  glimpse->awaits |= begins;
  g_mutex_unlock(&glimpse->lock);
  if (draws)
    glimpse->thread = g_thread_new("glimpse", run, glimpse);
  if (begins)
    glimpse->probe =
        gst_pad_add_probe(glimpse->pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
                          on_buffer, g_atomic_rc_box_acquire(glimpse), unref);
}

AstroGlimpse *astro_glimpse_new(void)
{
  AstroGlimpse *glimpse = g_atomic_rc_box_new0(AstroGlimpse);
  g_mutex_init(&glimpse->lock);
  return glimpse;
}

static gboolean join_drawn(AstroGlimpse *glimpse)
{
  g_mutex_lock(&glimpse->lock);
  const gboolean is_drawn = glimpse->is_drawn;
  glimpse->is_drawn = FALSE;
  g_mutex_unlock(&glimpse->lock);
  if (is_drawn)
    g_thread_join(g_steal_pointer(&glimpse->thread));
  return !glimpse->thread;
}

GBytes *astro_glimpse_ask(AstroGlimpse *glimpse, GstPad *pad, char **why, gboolean *is_wrong)
{
  GBytes *picture = NULL;
  const gboolean is_idle = join_drawn(glimpse);
  *is_wrong = FALSE;
  if (glimpse->pad != pad && !is_idle) {
    *why = g_strdup("a picture of another pad is in work: ask again");
    return NULL;
  }
  if (glimpse->pad != pad)
    turn_to(glimpse, pad);
  g_mutex_lock(&glimpse->lock);
  const gboolean is_fresh =
      g_get_monotonic_time() - glimpse->made < FRESH_SECONDS * (gint64)G_USEC_PER_SEC;
  if (glimpse->picture && is_fresh)
    picture = g_bytes_ref(glimpse->picture);
  else if (glimpse->trouble)
    *why = g_strdup_printf("it cannot be drawn: %s", glimpse->trouble);
  else
    *why = g_strdup("no buffer has come yet: ask again");
  *is_wrong = !picture && glimpse->trouble;
  g_mutex_unlock(&glimpse->lock);
  go_on(glimpse);
  return picture;
}

void astro_glimpse_free(AstroGlimpse *glimpse)
{
  if (!glimpse)
    return;
  if (glimpse->thread)
    g_thread_join(glimpse->thread);
  turn_to(glimpse, NULL);
  unref(glimpse);
}
