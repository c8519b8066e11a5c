/**
 * SECTION:element-astrotranspose
 *
 * Puts the axes of a stream in another order: the one that the caps downstream ask for, or that the
 * property layout names. If both sides agree, it passes buffers through.
 *
 * |[
 * gst-launch-1.0 filesrc location=v.ci8 blocksize=8388608 ! \
 *   application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=64,pols=2 ! \
 *   astrotranspose ! application/x-astro-voltages,layout=station:pol:time ! filesink location=t.ci8
 * ]|
 */
#include "config.h"
#include "elements/astrotranspose.h"

#include "core/transpose/transpose.h"
#include "elements/base/astrofields.h"

/* Layouts with more axes have too many orders to list in caps. */
#define MAX_FREE_AXES 5

struct _AstroTranspose {
  AstroStage parent;
  char *layout; /* property, under the object's lock: it may be set at any time */
};

G_DEFINE_TYPE(AstroTranspose, astro_transpose, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrotranspose, "astrotranspose", GST_RANK_NONE, ASTRO_TYPE_TRANSPOSE)

static gboolean has_string(const GValue *list, const char *text)
{
  for (guint i = 0; i < gst_value_list_get_size(list); i++)
    if (g_str_equal(g_value_get_string(gst_value_list_get_value(list, i)), text))
      return TRUE;
  return FALSE;
}

/* Lists the present order first, so that a stream that may keep its layout does. */
static void add_permutations(GValue *list, AstroLayout *layout, guint from)
{
  if (from == layout->n_axes) {
    g_autofree char *text = astro_layout_to_string(layout);
    if (!has_string(list, text)) /* an axis may occur twice */
      astro_name_append(list, text);
    return;
  }
  for (guint i = from; i < layout->n_axes; i++) {
    AstroAxis first = layout->axes[from];
    layout->axes[from] = layout->axes[i];
    layout->axes[i] = first;
    add_permutations(list, layout, from + 1);
    layout->axes[i] = layout->axes[from];
    layout->axes[from] = first;
  }
}

static void add_orders_of(GValue *list, const char *text, AstroQuantity quantity)
{
  AstroLayout layout;
  /* If one order is there, so are all others: the caps of another transpose name hundreds. */
  if (has_string(list, text))
    return;
  if (astro_layout_parse(&layout, text, quantity, NULL) && layout.n_axes <= MAX_FREE_AXES)
    add_permutations(list, &layout, 0);
  else
    astro_name_append(list, text); /* caps_event reports what is wrong with it */
}

/* Allows any order of the layouts in the field; unchanged if the field is missing. */
static void widen_layout(GstStructure *s)
{
  AstroQuantity quantity = astro_quantity_from_media_type(gst_structure_get_name(s));
  const GValue *value = gst_structure_get_value(s, "layout");
  GValue list = G_VALUE_INIT;

  if (!value)
    return;
  g_value_init(&list, GST_TYPE_LIST);
  if (G_VALUE_HOLDS_STRING(value)) {
    add_orders_of(&list, g_value_get_string(value), quantity);
  } else if (GST_VALUE_HOLDS_LIST(value)) {
    for (guint i = 0; i < gst_value_list_get_size(value); i++) {
      const GValue *one = gst_value_list_get_value(value, i);
      if (G_VALUE_HOLDS_STRING(one))
        add_orders_of(&list, g_value_get_string(one), quantity);
    }
  }
  gst_structure_take_value(s, "layout", &list);
}

/* Keeps only this layout in each structure. If none can have it, nothing changes, so that configure
 * can say why; empty caps would only say that elements do not link. */
static void force_layout(GstCaps **caps, const char *layout)
{
  GstCaps *forced = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(*caps); i++) {
    const char *name = gst_structure_get_name(gst_caps_get_structure(*caps, i));
    gst_caps_append_structure(forced,
                              gst_structure_new(name, "layout", G_TYPE_STRING, layout, NULL));
  }
  GstCaps *common = gst_caps_intersect_full(*caps, forced, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(forced);
  if (gst_caps_is_empty(common)) {
    gst_caps_unref(common);
    return;
  }
  gst_caps_unref(*caps);
  *caps = common;
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  g_autofree char *wanted = astro_fields_copy_text(trans, &ASTRO_TRANSPOSE(trans)->layout);
  GstCaps *result = gst_caps_copy(caps);

  for (guint i = 0; i < gst_caps_get_size(result); i++)
    widen_layout(gst_caps_get_structure(result, i));
  if (direction == GST_PAD_SINK && wanted)
    force_layout(&result, wanted);
  return astro_stage_filter_caps(result, filter);
}

/* Whether caps were negotiated before the property was set; then they are negotiated again. */
static gboolean agreed_before(AstroTranspose *self)
{
  GST_OBJECT_LOCK(self);
  gboolean before = gst_pad_needs_reconfigure(GST_BASE_TRANSFORM_SRC_PAD(self));
  GST_OBJECT_UNLOCK(self);
  return before;
}

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  const AstroStream *in = astro_stage_in(stage), *out = astro_stage_out(stage);
  g_autofree char *wanted = astro_fields_copy_text(stage, &ASTRO_TRANSPOSE(stage)->layout);
  g_autofree char *found = astro_layout_to_string(&out->layout);
  AstroLayout from, to;

  if (wanted && !g_str_equal(wanted, found) && !agreed_before(ASTRO_TRANSPOSE(stage))) {
    g_autofree char *given = astro_layout_to_string(&in->layout);
    if (!astro_layout_parse(&to, wanted, in->quantity, error)) {
      g_prefix_error(error, "property layout: ");
      return FALSE;
    }
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property layout: the input's axes %s cannot be put in the order %s",
                               given, wanted);
  }
  astro_stream_shape(in, 1, &from);
  astro_stream_shape(out, 1, &to);
  *pass_through = astro_layout_is_equal(&from, &to);
  return *pass_through ||
         astro_transpose_config(config, &from, &to, astro_stream_sample_bytes(in), error);
}

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  AstroTransposeConfig config;
  AstroLayout from, to;

  astro_stream_shape(astro_stage_in(stage), steps, &from);
  astro_stream_shape(astro_stage_out(stage), steps, &to);
  return astro_transpose_config(&config, &from, &to,
                                astro_stream_sample_bytes(astro_stage_in(stage)), error) &&
         astro_stage_submit(stage, in, out, &config, error);
}

/* Called under the object's lock. */
static void layout_changed(GObject *object)
{
  AstroTranspose *self = ASTRO_TRANSPOSE(object);
  if (!astro_field_given(self->layout))
    g_clear_pointer(&self->layout, g_free);
  astro_stage_agree_anew(ASTRO_STAGE(self)); /* under the lock, for agreed_before */
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroTranspose, layout, "layout", "Layout",
             "The output's order of axes, slowest first, for instance station:pol:time (unset: as "
             "downstream prefers)",
             NULL, .when = ASTRO_WHEN_PLAYING, .changed = layout_changed),
  { 0 },
};

static void astro_transpose_class_init(AstroTransposeClass *klass)
{
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_preferred;
  stage->stage = "transpose";
  stage->backends = astro_transpose_backends;
  stage->tell_work = astro_work_none;
  stage->configure = configure;
  stage->work = work;
  astro_stage_class_add_pads(stage, astro_stage_any, astro_stage_any);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Transpose", "Filter/Converter",
      "Puts the axes of a stream in the order that downstream wants", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "any stream in any format");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "the same, in another order of axes");
}

static void astro_transpose_init(AstroTranspose *self)
{
  astro_fields_set_defaults(self);
}
