/* Blocks that are lost between a source and the stages behind it must be missing from the counts of
 * good samples in a file, exactly those and no others. */
#include "graphs/qualify-streams.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

#include <gst/gst.h>

#define BLOCKS 1000
#define LOST 100
#define SPECTRA 10      /* of a block */
#define INTEGRATION 100 /* spectra */
#define INTEGRATIONS (BLOCKS * SPECTRA / INTEGRATION)
#define PATIENCE (60 * GST_SECOND)

typedef struct {
  gboolean lost[BLOCKS];
  guint block;
  guint32 found[INTEGRATIONS]; /* good spectra */
  guint integrations;
  char *trouble;
} Losses;

/* The first and the last block stay, so that the stream keeps its length. */
static void choose(Losses *losses, guint32 seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  for (guint n = 0; n < LOST;) {
    const guint at = (guint)g_rand_int_range(rand, 1, BLOCKS - 1);
    n += !losses->lost[at];
    losses->lost[at] = TRUE;
  }
}

static GstPadProbeReturn drop(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Losses *losses = data;
  const guint at = losses->block++;
  return at < BLOCKS && losses->lost[at] ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

static guint32 count_at(const AstroValidityMeta *meta, const AstroLayout *shape, guint64 step)
{
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  const gint time = astro_layout_find(shape, ASTRO_AXIS_TIME);
  if (!meta || !meta->counts)
    return INTEGRATION;
  if (time >= 0)
    index[time] = step;
  return astro_validity_at(meta, shape, index);
}

static GstPadProbeReturn collect(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Losses *losses = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  AstroStream stream;
  AstroLayout shape;
  guint64 steps;
  if (!caps || !astro_stream_from_caps(&stream, caps, NULL) ||
      !astro_stream_steps(&stream, gst_buffer_get_size(buffer), &steps, NULL))
    return GST_PAD_PROBE_OK;
  astro_stream_shape(&stream, steps, &shape);
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  for (guint64 step = 0; step < steps && losses->integrations < INTEGRATIONS; step++)
    losses->found[losses->integrations++] = count_at(meta, &shape, step);
  return GST_PAD_PROBE_OK;
}

/* Plays a pipeline to its end, with a probe where its element `at` gives its blocks out. */
static gboolean play(Losses *losses, const char *line, const char *at, const char *pad_name,
                     GstPadProbeCallback probe)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline =
      gst_parse_launch_full(line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!pipeline) {
    losses->trouble = g_strdup(error->message);
    return FALSE;
  }
  gst_object_ref_sink(pipeline);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), at);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, pad_name);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, probe, losses, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, NULL);
    losses->trouble = g_strdup(error->message);
  } else if (!message) {
    losses->trouble = g_strdup("it did not end within a minute");
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return !losses->trouble;
}

static gboolean record(Losses *losses, const char *file)
{
  g_autofree char *line = g_strdup_printf(
      "astroskysrc name=sky stations=2 bandwidth=640000 block-steps=640 duration=1 ! "
      "application/x-astro-voltages,format=CI8 ! astrochannelizer channels=64 taps=1 ! "
      "astropower products=I integration=%d ! astrofitssink location=%s",
      INTEGRATION, file);
  return play(losses, line, "sky", "src", drop);
}

static gboolean read_back(Losses *losses, const char *file)
{
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s ! fakesink name=end async=false sync=false", file);
  return play(losses, line, "end", "sink", collect);
}

/* How many of the lost blocks are missing from the counts of the integration that they belong to.
 */
static guint trace(Losses *losses)
{
  guint traced = 0;
  if (losses->integrations != INTEGRATIONS) {
    losses->trouble = g_strdup_printf("the file has %u integrations, expected %d",
                                      losses->integrations, INTEGRATIONS);
    return 0;
  }
  for (guint i = 0; i < INTEGRATIONS; i++) {
    guint lost = 0;
    for (guint b = 0; b < INTEGRATION / SPECTRA; b++)
      lost += losses->lost[i * (INTEGRATION / SPECTRA) + b];
    if (losses->found[i] == INTEGRATION - lost * SPECTRA)
      traced += lost;
    else if (!losses->trouble)
      losses->trouble =
          g_strdup_printf("integration %u counts %u good spectra, and %u blocks of %d were lost", i,
                          losses->found[i], lost, SPECTRA);
  }
  return traced;
}

AstroQualifyResult *astro_qualify_losses(const char *folder, guint32 seed)
{
  AstroQualifyResult *result = astro_qualify_result_new("losses", "blocks of voltages");
  Losses losses = { 0 };
  g_autofree char *file = g_build_filename(folder, "losses.fits", NULL);
  choose(&losses, seed);
  result->limit = LOST;
  if (record(&losses, file) && read_back(&losses, file))
    result->value = trace(&losses);
  result->state =
      result->value >= LOST && !losses.trouble ? ASTRO_QUALIFY_PASS : ASTRO_QUALIFY_SHORT;
  result->remark = losses.trouble
                       ? losses.trouble
                       : g_strdup_printf("of %d blocks, traced to the counts of %d integrations in "
                                         "a file",
                                         BLOCKS, INTEGRATIONS);
  return result;
}
