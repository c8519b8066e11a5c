/* channelpower: the power of each channel. Converts spectra in CF32LE to powers in F32LE: |x|^2 of
 * each sample times scale, in the same layout. doc/first-stage.md builds it step by step. */
#include <gst-astro.h>

/* GST_DEBUG=astro*:5 shows the stage by this name: "astro-" and the name of the element. */
GST_DEBUG_CATEGORY_STATIC(channelpower_debug);
#define GST_CAT_DEFAULT channelpower_debug

typedef struct {
  AstroStream in;
  double scale;
} PowerConfig;

static gboolean shape(gconstpointer config, GError **error)
{
  const AstroStream *in = &((const PowerConfig *)config)->in;
  if (in->format == ASTRO_FORMAT_CF32LE)
    return TRUE;
  return astro_backend_refuse(error, "format=%s, expected CF32LE: use astroconvert upstream",
                              astro_format_name(in->format));
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "c"; /* the property active-backend shows cpu/c */
  return g_memdup2(config, sizeof(PowerConfig));
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  const PowerConfig *power = instance;
  const float scale = (float)power->scale, *from = in->data;
  float *to = out->data;
  for (gsize i = 0; i < out->bytes / sizeof *to; i++)
    to[i] = scale * (from[2 * i] * from[2 * i] + from[2 * i + 1] * from[2 * i + 1]);
  return TRUE;
}

static const AstroBackend cpu = {
  .stage = "channelpower",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(PowerConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
static const AstroBackend *const backends[] = { &cpu, NULL };

#define CHANNEL_TYPE_POWER channel_power_get_type()
G_DECLARE_FINAL_TYPE(ChannelPower, channel_power, CHANNEL, POWER, AstroStage)
struct _ChannelPower {
  AstroStage parent;
  double scale; /* property */
};
G_DEFINE_TYPE(ChannelPower, channel_power, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(channelpower, "channelpower", GST_RANK_NONE, CHANNEL_TYPE_POWER)

static const AstroField fields[] = {
  ASTRO_DOUBLE(ChannelPower, scale, "scale", "Scale", "Factor on all powers", 0, 1e30, 1),
  { 0 },
};

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  return astro_stage_transform_format(direction, caps, filter, ASTRO_FORMAT_CF32LE,
                                      ASTRO_FORMAT_F32LE);
}

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  PowerConfig *power = config;
  power->in = *astro_stage_in(stage);
  power->scale = CHANNEL_POWER(stage)->scale;
  GST_INFO_OBJECT(stage, "powers are multiplied by %g", power->scale);
  return TRUE;
}

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  return astro_stage_submit(stage, in, out, NULL, error);
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  observation->done.scale = 0; /* not known */
  return TRUE;
}

static void channel_power_class_init(ChannelPowerClass *klass)
{
  static const AstroQuantity spectra[] = { ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_UNKNOWN };
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  GST_DEBUG_CATEGORY_INIT(channelpower_debug, "astro-channelpower", 0, "Channel power");
  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  GST_BASE_TRANSFORM_CLASS(klass)->transform_caps = transform_caps;
  stage->stage = "channelpower";
  stage->backends = backends;
  stage->configure = configure;
  stage->work = work;
  stage->amend = amend;
  astro_stage_class_add_pads(stage, spectra, spectra);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Channel power", "Filter",
                                        "The power of each channel", "You <you@example.org>");
}

static void channel_power_init(ChannelPower *self)
{
  astro_fields_set_defaults(self); /* sets the properties */
}

static gboolean plugin_init(GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER(channelpower, plugin);
}

#define PACKAGE "channelpower"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, channelpower, "The power of each channel",
                  plugin_init, "1.0.0", "LGPL", PACKAGE, "https://example.org")
