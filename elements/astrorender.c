/**
 * SECTION:element-astrorender
 *
 * Draws streams as pictures, one video frame a buffer.
 *
 * Images are shown with a panel for each product, with right ascension in hours and declination in
 * degrees (or offsets from the phase centre if the field is below 20 arcsec), the beam and its axes
 * in the lower left corner, and numbered circles around the sources that an astromeasure upstream
 * looked for (dashed: not found). Spectra are a waterfall, whose newest row at the top is the mean
 * power of the newest buffer; with view=samples they are shown as voltages are: the bandpass, the
 * distribution of levels and the power over time, of all buffers so far and all stations, with a
 * curve for each polarisation. Visibilities of one station are its spectrum in dB; of two, the
 * phase of their baseline and its lags over time (a positive lag is one whose phases rise with
 * frequency); of more, two matrices of stations, amplitude and phase; view chooses among them.
 * Profiles of a pulsar are the mean pulse of each station or beam, and below it phase against
 * frequency, both over all sub-integrations so far, and the sub-integrations one by one.
 * Power is the spectrum of each station or beam above a waterfall of all; at several dispersion
 * measures (astrodedisperse) these stand in the place of channels, and pulses that an astrosearch
 * upstream finds are numbered circles; those that it tells at the end of the stream give one more
 * frame.
 * Gains (a table of astrocalibrate, read by astrofitssrc) are amplitude and phase against time, or
 * delay and phase, and along the band in the newest interval where there are several channels, for
 * each polarisation: a curve a station, or for more than 12 a row of colours.
 * Correlation functions by angle are points with error bars over decades, and the power law that
 * fits best. Those in space are a map of xi (statistic=xi or wedges), a panel of points of s^2 xi
 * for each multipole, or points of wp over decades.
 * A frame has any size that downstream asks for, else that of the properties. Small frames show
 * only the pixels. Lost samples are not shown: means are those of good samples, and where there are
 * none the background shows. With show=validity spectra, power and visibilities are a waterfall of
 * the percentage of good samples in each channel, so that what was lost or flagged is seen; with
 * show=flags power is shown twice, all values and those that are good.
 *
 * A frame has the time of its buffer. Images that begin together and grow (from a gridder with
 * cumulative=true) follow each other: each frame begins where the one before ends.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=image.fits ! astrorender ! pngenc ! filesink \
 * location=image.png
 * ]|
 */
#include "config.h"
#include "elements/astrorender.h"

#include "core/render/render.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"

#include <gst/video/video.h>
#include <math.h>

#define SOURCES "astro-sources" /* an event of astromeasure, equal to its message */
#define PULSE "candidate"       /* the same of astrosearch */
#define MOST_PULSES 1000        /* that are marked */
#define LEAST_SIZE 16
#define MOST_SIZE 16384
#define SIZES "(int) [ " G_STRINGIFY(LEAST_SIZE) ", " G_STRINGIFY(MOST_SIZE) " ]"
#define VIDEO                                                                                      \
  "video/x-raw, format = (string) { BGRx, BGRA, RGBx, RGBA }, width = " SIZES ", height = " SIZES  \
  ", framerate = (fraction) [ 0/1, MAX ]"

typedef struct {
  AstroRenderStyle style; /* low >= high: the range of the values */
  char *title, *product;
  guint width, height; /* used where downstream leaves them open */
} Settings;

struct _AstroRender {
  GstBaseTransform parent;
  Settings settings;

  GstCaps *caps; /* of the sink pad */
  AstroStream stream;
  GstVideoInfo info;
  AstroObservation *observation;
  AstroRenderer *render; /* NULL: has to be made anew */
  GArray *marks;         /* AstroRenderMark, for the next image */
  GArray *pulses;        /* AstroRenderPulse */
  guint n_pulses;        /* that came */
  gboolean is_behind;    /* pulses came after the last frame */
  gint64 middle_ns;      /* of the last frame */
  GstClockTime end;      /* of the last frame; NONE: none yet */
};

static const AstroField fields[] = {
  ASTRO_ENUM(Settings, style.colormap, "colormap", "Colormap",
             "Colours for values; phases always have a cyclic colormap", astro_colormap_get_type,
             ASTRO_COLORMAP_VIRIDIS),
  ASTRO_ENUM(Settings, style.stretch, "stretch", "Stretch", "How values map to colours",
             astro_stretch_get_type, ASTRO_STRETCH_AUTO),
  ASTRO_DOUBLE(Settings, style.percent, "percent", "Percent",
               "Percentage of the values that the colours span, leaving out equally many of the "
               "smallest and of the largest",
               1, 100, 100),
  ASTRO_DOUBLE(Settings, style.low, "min", "Minimum",
               "Value of the first colour; unless max is above it, each frame's values set both",
               -G_MAXDOUBLE, G_MAXDOUBLE, 0),
  ASTRO_DOUBLE(Settings, style.high, "max", "Maximum", "Value of the last colour", -G_MAXDOUBLE,
               G_MAXDOUBLE, 0),
  ASTRO_ENUM(Settings, style.theme, "theme", "Theme", "Colours of the page", astro_theme_get_type,
             ASTRO_THEME_DARK),
  ASTRO_ENUM(Settings, style.scaling, "scaling", "Scaling",
             "How values of an image become pixels of a frame", astro_scaling_get_type,
             ASTRO_SCALING_SMOOTH),
  ASTRO_ENUM(Settings, style.view, "view", "View", "How visibilities, power and spectra are shown",
             astro_view_get_type, ASTRO_VIEW_AUTO),
  ASTRO_ENUM(Settings, style.show, "show", "Show",
             "What is shown: values; of spectra, power and visibilities the validity, which is the "
             "part of samples that is good; of power flags, the values before and after them",
             astro_show_get_type, ASTRO_SHOW_VALUES),
  ASTRO_BOOLEAN(Settings, style.axes, "axes", "Axes", "Numbers along the edges", TRUE),
  ASTRO_BOOLEAN(Settings, style.grid, "grid", "Grid", "Lines of coordinates", TRUE),
  ASTRO_BOOLEAN(Settings, style.colour_bar, "colour-bar", "Colour bar", "The scale of the colours",
                TRUE),
  ASTRO_BOOLEAN(Settings, style.marks, "marks", "Marks",
                "Circles around the sources that astromeasure looked for, and the pulses of "
                "astrosearch",
                TRUE),
  ASTRO_BOOLEAN(Settings, style.decibels, "decibels", "Decibels",
                "Whether power is shown in dB (products that have a sign never are)", TRUE),
  ASTRO_BOOLEAN(Settings, style.flatten, "flatten", "Flatten",
                "Whether each channel of power is divided by its mean over the rows of the "
                "waterfall, so that the shape of the band is gone, and each profile by its mean "
                "over phase",
                FALSE),
  ASTRO_TEXT(Settings, title, "title", "Title", "NULL: telescope, frequency and time; empty: none",
             NULL),
  ASTRO_TEXT(Settings, product, "product", "Product",
             "Product shown of images (I, XX, I-RESIDUAL; NULL: all), of visibilities (XX, LR; "
             "NULL: the first), of power and profiles (I, XX-SQUARE; NULL: the first) and of gains "
             "(X, YY; NULL: all)",
             NULL),
  ASTRO_INT(
      Settings, style.channel, "channel", "Channel",
      "Channel shown of images, visibilities and, against time, gains, from 0; -1: the mean of "
      "all",
      -1, G_MAXINT, -1),
  ASTRO_UINT(
      Settings, style.rows, "rows", "Rows",
      "How many of the last buffers a waterfall of spectra shows, of the last integrations one "
      "of power or of profiles, and a fringe plot, and of the last intervals a picture of gains",
      1, 16384, 256),
  ASTRO_UINT(Settings, width, "width", "Width",
             "Width of a picture in pixels, if caps downstream leave it open", LEAST_SIZE,
             MOST_SIZE, 1280),
  ASTRO_UINT(Settings, height, "height", "Height",
             "Height of a picture in pixels, if caps downstream leave it open", LEAST_SIZE,
             MOST_SIZE, 720),
  { 0 },
};

G_DEFINE_TYPE(AstroRender, astro_render, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(astrorender, "astrorender", GST_RANK_NONE, ASTRO_TYPE_RENDER)

static gboolean fail(AstroRender *self, GError *error)
{
  GST_ELEMENT_ERROR(self, STREAM, FAILED, ("%s", error->message), (NULL));
  g_error_free(error);
  return FALSE;
}

/* ---- caps ---- */

/* Frames come as buffers do, at no fixed rate, unless downstream asks for one. */
static GstCaps *fixate_caps(GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                            GstCaps *othercaps)
{
  const Settings *settings = &ASTRO_RENDER(base)->settings;
  if (direction != GST_PAD_SINK || astro_stage_is_unlinked(base, othercaps))
    return gst_caps_fixate(othercaps);
  othercaps = gst_caps_make_writable(gst_caps_truncate(othercaps));
  GstStructure *s = gst_caps_get_structure(othercaps, 0);
  gst_structure_fixate_field_nearest_int(s, "width", (gint)settings->width);
  gst_structure_fixate_field_nearest_int(s, "height", (gint)settings->height);
  gst_structure_fixate_field_nearest_fraction(s, "framerate", 0, 1);
  if (gst_structure_has_field(s, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction(s, "pixel-aspect-ratio", 1, 1);
  return gst_caps_fixate(othercaps);
}

static gboolean make_render(AstroRender *self)
{
  GError *error = NULL;
  Settings settings;
  AstroRenderStyle *style = &settings.style;
  g_clear_pointer(&self->render, astro_renderer_free);
  astro_fields_copy(fields, self, &settings, &self->settings, sizeof settings);
  style->title = settings.title;
  style->product = astro_field_given(settings.product);
  if (!(style->low < style->high))
    style->low = style->high = NAN;
  if (astro_stream_from_caps(&self->stream, self->caps, &error) &&
      astro_stream_check_sums(&self->stream, &error))
    self->render = astro_renderer_new(self->caps, style, self->observation, &error);
  astro_fields_clear(fields, &settings);
  return self->render || fail(self, error);
}

static void forget_marks(AstroRender *self)
{
  g_array_set_size(self->marks, 0);
  g_array_set_size(self->pulses, 0);
  self->n_pulses = 0;
  self->is_behind = FALSE;
}

static gboolean set_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  AstroRender *self = ASTRO_RENDER(base);
  gboolean is_new = !self->caps || !gst_caps_is_equal(self->caps, in);
  astro_log_caps(self, in, out);
  gst_base_transform_set_passthrough(base, astro_stage_is_unlinked(base, out));
  if (gst_base_transform_is_passthrough(base))
    return TRUE;
  gst_caps_replace(&self->caps, in);
  if (is_new) /* the marks belong to other images */
    forget_marks(self);
  if (!gst_video_info_from_caps(&self->info, out))
    return FALSE;
  return (!is_new && self->render) || make_render(self);
}

/* One buffer gives one frame, whatever the sizes. */
static gboolean transform_size(GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                               gsize size, GstCaps *othercaps, gsize *othersize)
{
  GstVideoInfo info;
  if (direction != GST_PAD_SINK || !gst_video_info_from_caps(&info, othercaps))
    return FALSE;
  *othersize = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

static gboolean propose_allocation(GstBaseTransform *base, GstQuery *decide, GstQuery *query)
{
  astro_reader_add(query, NULL); /* the host reads */
  return TRUE;
}

/* The base class accepts an offered pool as it is, even with buffers that are too small. */
static gboolean decide_allocation(GstBaseTransform *base, GstQuery *query)
{
  const guint frame = (guint)GST_VIDEO_INFO_SIZE(&ASTRO_RENDER(base)->info);
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query); i++) {
    g_autoptr(GstBufferPool) pool = NULL;
    guint size, min, max;
    gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &min, &max);
    gst_query_set_nth_allocation_pool(query, i, pool, MAX(size, frame), min, max);
  }
  return GST_BASE_TRANSFORM_CLASS(astro_render_parent_class)->decide_allocation(base, query);
}

/* Metadata of samples does not apply to pictures of them. */
static gboolean transform_meta(GstBaseTransform *base, GstBuffer *out, GstMeta *meta, GstBuffer *in)
{
  return FALSE;
}

/* ---- events ---- */

/* astromeasure sends the sources of each channel before the image. Those of the channel that is
 * shown are marked; for a mean of channels, those of the first. */
static void take_marks(AstroRender *self, const GstStructure *told)
{
  const GValue *sources = gst_structure_get_value(told, "sources");
  const gint shown = self->settings.style.channel;
  guint channel = 0;
  gst_structure_get_uint(told, "channel", &channel);
  if (!sources || !GST_VALUE_HOLDS_ARRAY(sources) || channel != (guint)MAX(shown, 0))
    return;
  g_array_set_size(self->marks, 0);
  for (guint i = 0; i < gst_value_array_get_size(sources); i++) {
    const GValue *value = gst_value_array_get_value(sources, i);
    const GstStructure *source =
        GST_VALUE_HOLDS_STRUCTURE(value) ? gst_value_get_structure(value) : NULL;
    AstroRenderMark mark = { .number = i + 1, .found = TRUE };
    if (!source)
      continue;
    if (!gst_structure_get(source, "l", G_TYPE_DOUBLE, &mark.l, "m", G_TYPE_DOUBLE, &mark.m, NULL))
      mark.found = FALSE;
    if (mark.found || gst_structure_get(source, "true-l", G_TYPE_DOUBLE, &mark.l, "true-m",
                                        G_TYPE_DOUBLE, &mark.m, NULL))
      g_array_append_val(self->marks, mark);
  }
}

/* astrosearch tells pulses a while after their power has passed. */
static void take_pulse(AstroRender *self, const GstStructure *told)
{
  AstroRenderPulse pulse = { 0 };
  guint64 middle;
  if (!gst_structure_get(told, "timestamp", G_TYPE_UINT64, &middle, "dm", G_TYPE_DOUBLE, &pulse.dm,
                         NULL) ||
      middle > G_MAXINT64)
    return;
  pulse.time_ns = (gint64)middle;
  pulse.number = ++self->n_pulses;
  if (self->pulses->len == MOST_PULSES)
    g_array_remove_index(self->pulses, 0);
  g_array_append_val(self->pulses, pulse);
  self->is_behind = TRUE;
}

static AstroRenderTarget target_of(const AstroRender *self, GstVideoFrame *frame)
{
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&self->info);
  return (AstroRenderTarget){
    .data = GST_VIDEO_FRAME_PLANE_DATA(frame, 0),
    .stride = (gsize)GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0),
    .width = (guint)GST_VIDEO_FRAME_WIDTH(frame),
    .height = (guint)GST_VIDEO_FRAME_HEIGHT(frame),
    .red_first = format == GST_VIDEO_FORMAT_RGBx || format == GST_VIDEO_FORMAT_RGBA,
  };
}

/* Pulses of the last seconds are known only when the stream ends: the last frame comes once more,
 * with them. */
static void draw_again(AstroRender *self)
{
  const AstroRenderMoment moment = {
    .middle_ns = self->middle_ns,
    .pulses = (const AstroRenderPulse *)(gpointer)self->pulses->data,
    .n_pulses = self->pulses->len,
  };
  GstVideoFrame frame;
  if (!self->render || !GST_CLOCK_TIME_IS_VALID(self->end))
    return;
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&self->info), NULL);
  if (!buffer || !gst_video_frame_map(&frame, &self->info, buffer, GST_MAP_WRITE)) {
    gst_clear_buffer(&buffer);
    return;
  }
  const AstroRenderTarget target = target_of(self, &frame);
  astro_renderer_again(self->render, &moment, &target);
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer) = self->end;
  GST_BUFFER_DURATION(buffer) = 0;
  self->is_behind = FALSE;
  gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(self), buffer);
}

static gboolean sink_event(GstBaseTransform *base, GstEvent *event)
{
  AstroRender *self = ASTRO_RENDER(base);
  GError *error = NULL;
  if (astro_event_is_observation(event) &&
      !(self->observation && astro_event_is_known(GST_BASE_TRANSFORM_SINK_PAD(base), event))) {
    AstroObservation *observation = astro_observation_from_event(event, &error);
    if (!observation) {
      gst_event_unref(event);
      return fail(self, error);
    }
    g_clear_pointer(&self->observation, astro_observation_unref);
    self->observation = observation;
    g_clear_pointer(&self->render, astro_renderer_free);
  }
  if (gst_event_has_name(event, SOURCES))
    take_marks(self, gst_event_get_structure(event));
  if (gst_event_has_name(event, PULSE))
    take_pulse(self, gst_event_get_structure(event));
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS && self->is_behind)
    draw_again(self);
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT || GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    self->end = GST_CLOCK_TIME_NONE;
    forget_marks(self);
  }
  return GST_BASE_TRANSFORM_CLASS(astro_render_parent_class)->sink_event(base, event);
}

/* ---- the work ---- */

static void stamp(AstroRender *self, const GstBuffer *in, GstBuffer *out)
{
  GstClockTime begin = GST_BUFFER_PTS(in), duration = GST_BUFFER_DURATION(in);
  GST_BUFFER_PTS(out) = begin;
  GST_BUFFER_DTS(out) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(out) = duration;
  GST_BUFFER_OFFSET(out) = GST_BUFFER_OFFSET_END(out) = GST_BUFFER_OFFSET_NONE;
  if (!GST_CLOCK_TIME_IS_VALID(begin) || !GST_CLOCK_TIME_IS_VALID(duration))
    return;
  if (GST_CLOCK_TIME_IS_VALID(self->end) && begin < self->end && begin + duration > self->end) {
    GST_BUFFER_PTS(out) = self->end;
    GST_BUFFER_DURATION(out) = begin + duration - self->end;
  }
  self->end = begin + duration;
}

static gboolean draw(AstroRender *self, const GstMapInfo *in, const GstBuffer *buffer,
                     GstVideoFrame *frame, GError **error)
{
  const AstroRenderTarget target = target_of(self, frame);
  guint64 duration = GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer) : 0;
  gint64 begin = GST_BUFFER_PTS_IS_VALID(buffer) ? (gint64)GST_BUFFER_PTS(buffer) : 0;
  if (!astro_check_times((guint64)begin, duration, error) ||
      !astro_stream_check_counts(&self->stream, (GstBuffer *)buffer, error))
    return FALSE;
  const AstroRenderMoment moment = {
    .middle_ns = begin + (gint64)(duration / 2),
    .duration_ns = duration,
    .image = astro_buffer_get_image((GstBuffer *)buffer),
    .validity = astro_buffer_get_validity((GstBuffer *)buffer),
    .is_gap = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP),
    .marks = (const AstroRenderMark *)(gpointer)self->marks->data,
    .n_marks = self->marks->len,
    .pulses = (const AstroRenderPulse *)(gpointer)self->pulses->data,
    .n_pulses = self->pulses->len,
  };
  self->is_behind = FALSE;
  self->middle_ns = moment.middle_ns;
  return astro_renderer_frame(self->render, in->data, in->size, &moment, &target, error);
}

static GstFlowReturn transform(GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  AstroRender *self = ASTRO_RENDER(base);
  GError *error = NULL;
  GstVideoFrame frame;
  GstMapInfo map;
  if (gst_buffer_get_size(in) == 0) /* nothing to see */
    return GST_BASE_TRANSFORM_FLOW_DROPPED;
  if (!self->render && !make_render(self))
    return GST_FLOW_ERROR;
  if (!gst_buffer_map(in, &map, GST_MAP_READ))
    return GST_FLOW_ERROR;
  if (!gst_video_frame_map(&frame, &self->info, out, GST_MAP_WRITE)) {
    gst_buffer_unmap(in, &map);
    return GST_FLOW_ERROR;
  }
  gboolean done = draw(self, &map, in, &frame, &error);
  gst_video_frame_unmap(&frame);
  gst_buffer_unmap(in, &map);
  if (!done) {
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  stamp(self, in, out);
  return GST_FLOW_OK;
}

static gboolean stop(GstBaseTransform *base)
{
  AstroRender *self = ASTRO_RENDER(base);
  g_clear_pointer(&self->render, astro_renderer_free);
  g_clear_pointer(&self->observation, astro_observation_unref);
  gst_clear_caps(&self->caps);
  forget_marks(self);
  self->end = GST_CLOCK_TIME_NONE;
  return TRUE;
}

/* ---- properties ---- */

static void finalize(GObject *object)
{
  g_array_unref(ASTRO_RENDER(object)->marks);
  g_array_unref(ASTRO_RENDER(object)->pulses);
  G_OBJECT_CLASS(astro_render_parent_class)->finalize(object);
}

static void astro_render_init(AstroRender *self)
{
  astro_fields_set_defaults(self);
  self->marks = g_array_new(FALSE, FALSE, sizeof(AstroRenderMark));
  self->pulses = g_array_new(FALSE, FALSE, sizeof(AstroRenderPulse));
  self->end = GST_CLOCK_TIME_NONE;
}

static void astro_render_class_init(AstroRenderClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(klass);
  astro_fields_install(object, fields, G_STRUCT_OFFSET(AstroRender, settings));
  object->finalize = finalize;
  base->transform_caps = astro_stage_transform_any;
  base->fixate_caps = fixate_caps;
  base->set_caps = set_caps;
  base->transform_size = transform_size;
  base->propose_allocation = propose_allocation;
  base->decide_allocation = decide_allocation;
  base->transform_meta = transform_meta;
  base->sink_event = sink_event;
  base->query = astro_transform_query;
  base->submit_input_buffer = astro_transform_submit;
  base->transform = transform;
  base->stop = stop;
  g_autoptr(GstCaps) sink = astro_render_get_caps(), src = gst_caps_from_string(VIDEO);
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink));
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "Pictures of streams", "Filter/Converter/Video",
      "Shows images of the sky, spectra, power, visibilities and correlation functions as video",
      ASTRO_AUTHOR);
}
