/**
 * SECTION:element-astroselect
 *
 * Keeps some stations, channels, polarisations or beams of a stream, in any order; with several
 * lists, what all of them keep. A list has numbers from 0, ranges FIRST-LAST and FIRST- (to the
 * end), optionally followed by :STEP, and names, separated by commas: stations=0-3,CS302,8-. An
 * item RANK/RANKS is the share of one of so many processes: neighbours, as evenly as can be.
 * Stations and beams have the observation's names; polarisations are X and Y or R and L by its
 * basis, and in power, grids and images have the names of products.
 *
 * In visibilities, stations keep the baselines among them. Where the list reverses the order of a
 * pair, it is conjugated and its cross-hands are swapped. Counts of good samples, sums of weights,
 * the observation, frequency and bandwidth follow. Caps describe a band by its centre and width
 * alone, so channels have to be consecutive where caps have a band.
 *
 * Nothing is copied where all that is kept lies together in a block: a range along the slowest
 * axis. With backend=auto, ranges of a block that only a device has are copied there.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=8 num-buffers=10 ! \
 *   astrochannelizer channels=64 ! tee name=t \
 *   t. ! queue ! astroselect channels=0-31 ! filesink location=low.cf32 \
 *   t. ! queue ! astroselect channels=32- stations=0,2,4 ! filesink location=high.cf32
 * ]|
 */
#include "config.h"
#include "elements/astroselect.h"

#include "elements/base/astroboxes.h"
#include "elements/base/astrofields.h"
#include "elements/astroselect-lists.h"

/* Where what is kept of a block with that many steps lies: together, or in a box. */
typedef struct {
  guint64 steps; /* 0: not known */
  gboolean is_one, is_box;
  gsize offset, bytes;
  AstroBox box;
} Part;

struct _AstroSelect {
  AstroStage parent;
  AstroSelectTexts texts; /* properties */

  /* for the negotiated caps */
  AstroSelectConfig config;
  AstroSelectLists lists;
  gboolean is_known; /* the lists are final: all names were found */
  Part part;         /* for the number of steps that blocks usually have */
};

G_DEFINE_TYPE(AstroSelect, astro_select, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astroselect, "astroselect", GST_RANK_NONE, ASTRO_TYPE_SELECT)

static void copy_texts(AstroSelect *self, AstroSelectTexts *texts)
{
  for (guint k = 0; k < ASTRO_SELECT_N_LISTS; k++) {
    texts->text[k] = astro_fields_copy_text(self, &self->texts.text[k]);
    if (!astro_field_given(texts->text[k]))
      g_clear_pointer(&texts->text[k], g_free);
  }
}

/* ---- negotiation ---- */

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  g_auto(AstroSelectTexts) texts = { 0 };
  GstCaps *result = gst_caps_copy(caps);
  copy_texts(ASTRO_SELECT(trans), &texts);
  for (guint i = 0; i < gst_caps_get_size(result); i++)
    if (direction == GST_PAD_SINK)
      astro_select_forward(&texts, gst_caps_get_structure(result, i));
    else
      astro_select_backward(&texts, gst_caps_get_structure(result, i));
  return astro_stage_filter_caps(result, filter);
}

static gboolean read_lists(AstroSelect *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(self));
  g_auto(AstroSelectTexts) texts = { 0 };
  copy_texts(self, &texts);
  astro_select_lists_clear(&self->lists);
  return astro_select_lists_read(&self->lists, &texts, caps, astro_stage_in(stage),
                                 astro_stage_observation(stage), error);
}

/* Caps may come before the observation that has the names; until then counts stand in. */
static gboolean find_lists(AstroSelect *self, const AstroStream *in, GstCaps *caps, GError **error)
{
  g_auto(AstroSelectTexts) texts = { 0 };
  copy_texts(self, &texts);
  astro_select_lists_clear(&self->lists);
  const gboolean has_names = astro_select_texts_have_names(&texts);
  self->is_known =
      astro_select_lists_read(&self->lists, &texts, caps, in,
                              astro_stage_observation(ASTRO_STAGE(self)), has_names ? NULL : error);
  if (!self->is_known && has_names)
    astro_select_lists_count(&self->lists, &texts, in);
  return self->is_known || has_names;
}

static gboolean check_kept(const AstroSelectConfig *config, const AstroStream *out, GError **error)
{
  for (guint i = 0; i < config->in.layout.n_axes; i++) {
    const AstroSelectPick *pick = &config->pick[i];
    if (out->layout.n_axes != config->in.layout.n_axes ||
        out->layout.extents[i] != (pick->n ? pick->n : config->in.layout.extents[i]))
      return astro_stage_refuse_late(error);
  }
  return TRUE;
}

/* Caps and observation cannot express this, so nothing downstream can know it. */
static void warn_of_pols(AstroSelect *self, const AstroStream *in)
{
  const GArray *pols = self->lists.list[ASTRO_SELECT_POLS];
  if (!self->is_known || !pols || astro_select_has_products(in) ||
      g_array_index(pols, guint64, 0) == 0)
    return;
  GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                      ("pols: polarisation %" G_GUINT64_FORMAT
                       " is now the first, and neither caps nor observation can say so: elements "
                       "downstream will take it for X or R",
                       g_array_index(pols, guint64, 0)),
                      (NULL));
}

static gboolean check_band(AstroSelect *self, const AstroStream *in, GError **error)
{
  double frequency = in->frequency, bandwidth = in->bandwidth;
  const GArray *channels = self->lists.list[ASTRO_SELECT_CHANNELS];
  return !channels || astro_select_band(channels, astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
                                        &frequency, &bandwidth, error);
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *caps, GstCaps *out)
{
  AstroSelect *self = ASTRO_SELECT(trans);
  g_autoptr(GError) error = NULL;
  AstroStream in;
  if (astro_stream_from_caps(&in, caps, &error) && !find_lists(self, &in, caps, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message),
                      ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_select_parent_class)->set_caps(trans, caps, out);
}

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  AstroSelect *self = ASTRO_SELECT(stage);
  self->config = (AstroSelectConfig){ .in = *astro_stage_in(stage) };
  self->part = (Part){ 0 };
  const gboolean any = astro_select_lists_to_config(&self->lists, &self->config);
  if (!check_band(self, astro_stage_in(stage), error) ||
      !check_kept(&self->config, astro_stage_out(stage), error))
    return FALSE;
  warn_of_pols(self, astro_stage_in(stage));
  *(AstroSelectConfig *)config = self->config;
  *pass_through = !any && self->is_known;
  return TRUE;
}

static gboolean observed(AstroStage *stage, GError **error)
{
  g_auto(AstroSelectTexts) texts = { 0 };
  copy_texts(ASTRO_SELECT(stage), &texts);
  return !astro_select_texts_have_names(&texts) || astro_stage_configure_again(stage);
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroSelect *self = ASTRO_SELECT(stage);
  return (self->is_known || read_lists(self, error)) &&
         astro_select_observe(&self->lists, astro_stage_in(stage), observation, error);
}

/* ---- blocks ---- */

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  AstroSelectArguments arguments = { steps };
  return astro_stage_submit(stage, in, out, &arguments, error);
}

static const Part *find_part(AstroSelect *self, guint64 steps)
{
  Part *part = &self->part;
  if (part->steps != steps) {
    part->steps = steps;
    part->is_one = astro_select_find_part(&self->config, steps, &part->offset, &part->bytes);
    part->is_box = !part->is_one &&
                   astro_select_find_box(&self->config, steps, &part->box, &part->bytes) &&
                   astro_box_is_simple(&part->box);
  }
  return part;
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroSelect *self = ASTRO_SELECT(stage);
  if (!self->is_known)
    return read_lists(self, error) && astro_stage_refuse_late(error);
  const Part *part = find_part(self, steps);
  if (part->is_one)
    return astro_stage_emit_part(stage, in, part->offset, part->bytes, first, steps, error);
  if (part->is_box && !GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP) &&
      astro_stage_finds_boxes(stage, in))
    return astro_stage_emit_box(stage, in, &part->box, part->bytes, first, steps, error);
  return ASTRO_STAGE_CLASS(astro_select_parent_class)->feed(stage, in, first, steps, error);
}

/* Blocks that are cut where they lie need not come to the host; those of other lists do. */
static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  AstroSelect *self = ASTRO_SELECT(trans);
  const Part *part = decide && self->is_known ? find_part(self, 2) : NULL;
  AstroBackendKind kind;
  g_object_get(self, "backend", &kind, NULL);
  if (kind != ASTRO_BACKEND_AUTO || !part || !(part->is_one || part->is_box))
    return GST_BASE_TRANSFORM_CLASS(astro_select_parent_class)
        ->propose_allocation(trans, decide, query);
  astro_stage_propose_boxes(ASTRO_STAGE(trans), part->is_box, query);
  return TRUE;
}

static gboolean keep_validity(AstroStage *stage, GstBuffer *in, GstBuffer *out)
{
  const AstroSelectConfig *config = &ASTRO_SELECT(stage)->config;
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  guint64 steps;
  if (meta && !astro_stream_steps(&config->in, gst_buffer_get_size(in), &steps, NULL))
    return FALSE;
  if (meta)
    astro_select_validity(config, steps, meta, out);
  astro_select_metas(config, in, out);
  return TRUE;
}

/* ---- states and properties ---- */

static gboolean stop(GstBaseTransform *trans)
{
  const gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_select_parent_class)->stop(trans);
  astro_select_lists_clear(&ASTRO_SELECT(trans)->lists);
  return ok;
}

static void finalize(GObject *object)
{
  astro_select_lists_clear(&ASTRO_SELECT(object)->lists);
  G_OBJECT_CLASS(astro_select_parent_class)->finalize(object);
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroSelect, texts.text[ASTRO_SELECT_STATIONS], "stations", "Stations",
             "Stations to keep, in this order: numbers from 0, ranges and names, as "
             "0-3,CS302,8- (unset: all); in visibilities, the baselines among them",
             NULL),
  ASTRO_TEXT(AstroSelect, texts.text[ASTRO_SELECT_CHANNELS], "channels", "Channels",
             "Channels to keep: numbers from 0 and ranges, as 16-47 (unset: all); consecutive if "
             "the caps have a band",
             NULL),
  ASTRO_TEXT(AstroSelect, texts.text[ASTRO_SELECT_POLS], "pols", "Polarisations",
             "Polarisations to keep, in this order: numbers from 0, ranges, or X, Y, R, L, or "
             "the names of the products of power, grids and images (unset: all)",
             NULL),
  ASTRO_TEXT(AstroSelect, texts.text[ASTRO_SELECT_BEAMS], "beams", "Beams",
             "Beams to keep, in this order: numbers from 0, ranges and names (unset: all)", NULL),
  { 0 },
};

static void astro_select_class_init(AstroSelectClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  object->finalize = finalize;
  astro_fields_install(object, fields, 0);
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_same;
  trans->set_caps = set_caps;
  trans->propose_allocation = propose_allocation;
  trans->stop = stop;
  stage->stage = "select";
  stage->backends = astro_select_backends;
  stage->tell_work = astro_work_none;
  stage->configure = configure;
  stage->work = work;
  stage->feed = feed;
  stage->validity = keep_validity;
  stage->observed = observed;
  stage->amend = amend;
  astro_stage_class_add_pads(stage, astro_stage_any, astro_stage_any);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Select", "Filter/Converter",
      "Keeps some stations, channels, polarisations or beams of a stream", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "any stream, in any layout");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives", "the same");
}

static void astro_select_init(AstroSelect *self)
{
  astro_fields_set_defaults(self);
}
