/**
 * SECTION:element-astrojoin
 *
 * Joins streams that hold parts of an axis: stations of several receivers, channels of several
 * bands, polarisations or beams. The parts are put side by side in the order of the pads' numbers.
 * Streams are aligned by absolute time (the start of their observations plus the steps since),
 * whatever the size of their buffers; where one has no data, its part has validity 0. With live
 * sources, a pad that lags by more than latency (ns) is left out until it catches up; files wait
 * for each other.
 *
 * Along stations the observations are joined, and no station may occur twice; so are the beams
 * along beams. Along channels the bands have to adjoin, in rising order, and become one band. Along
 * polarisations the products of power, grids and images are joined, each once. All else has to be
 * the same on all pads: every other field of the caps, basis, phase centre and processing history.
 * Visibilities are joined along channels only, because pairs of stations from two streams were
 * never correlated.
 *
 * With backend=auto, blocks that a device alone has are joined there.
 *
 * Grids and images have no time: the n-th buffers of all pads are joined, with their sums of
 * weights. Grids have to have the same w-planes, as for astroadd. Images of several bands have
 * different beams; the joined image has that in the middle, and a warning says so.
 *
 * |[
 * gst-launch-1.0 astrojoin name=j axis=channel ! filesink location=both.cf32 \
 *   astroskysrc num-buffers=10 ! astrochannelizer channels=64 ! tee name=t \
 *   t. ! queue ! astroselect channels=0-31 ! j.sink_0 \
 *   t. ! queue ! astroselect channels=32- ! j.sink_1
 * ]|
 */
#include "config.h"
#include "elements/astrojoin.h"

#include "core/kit/enum.h"
#include "core/join/join.h"
#include "elements/astrojoin-caps.h"
#include "elements/base/astroboxes.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrostage.h"
#include "elements/base/astrosteps.h"

typedef enum { ALONG_STATION, ALONG_CHANNEL, ALONG_POL, ALONG_BEAM } Along;

static const AstroAxis axes[] = {
  [ALONG_STATION] = ASTRO_AXIS_STATION,
  [ALONG_CHANNEL] = ASTRO_AXIS_CHANNEL,
  [ALONG_POL] = ASTRO_AXIS_POL,
  [ALONG_BEAM] = ASTRO_AXIS_BEAM,
};

struct _AstroJoin {
  AstroMerge parent;
  Along along; /* property */

  /* as negotiated */
  AstroJoinConfig config;
  char **pads;               /* names of the inputs */
  guint64 *places, *extents; /* where each input's part begins along the axis, and its length */
  gboolean has_warned;
};

G_DEFINE_TYPE(AstroJoin, astro_join, ASTRO_TYPE_MERGE)
GST_ELEMENT_REGISTER_DEFINE(astrojoin, "astrojoin", GST_RANK_NONE, ASTRO_TYPE_JOIN)

ASTRO_STATIC_ENUM_TYPE(along_get_type, "AstroJoinAxis",
                       { ALONG_STATION, "Stations, for instance of several receivers", "station" },
                       { ALONG_CHANNEL, "Channels, for instance of several bands", "channel" },
                       { ALONG_POL, "Polarisations", "pol" }, { ALONG_BEAM, "Beams", "beam" })

/* ---- what is agreed on ---- */

static gboolean find_places(AstroJoin *self, const AstroMergeInput *inputs, guint n,
                            guint64 *extent, GError **error)
{
  const AstroAxis axis = axes[self->along];
  self->places = g_renew(guint64, self->places, n);
  self->extents = g_renew(guint64, self->extents, n);
  g_strfreev(self->pads);
  self->pads = g_new0(char *, (gsize)n + 1);
  *extent = 0;
  for (guint i = 0; i < n; i++) {
    self->pads[i] = g_strdup(inputs[i].pad);
    self->places[i] = *extent;
    self->extents[i] = astro_stream_extent(inputs[i].stream, axis);
    *extent += self->extents[i];
  }
  return *extent <= G_MAXINT ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%" G_GUINT64_FORMAT " %s together are more than caps can hold",
                             *extent, astro_axis_field(axis));
}

static gboolean agree(AstroMerge *merge, const AstroMergeInput *inputs, guint n, GstCaps *caps,
                      AstroObservation *observation, gpointer config, GError **error)
{
  AstroJoin *self = ASTRO_JOIN(merge);
  const AstroAxis axis = axes[self->along];
  guint64 extent;

  if (!astro_join_check_inputs(inputs, n, axis, error) ||
      !find_places(self, inputs, n, &extent, error))
    return FALSE;
  gst_caps_set_simple(caps, astro_axis_field(axis), G_TYPE_INT, (gint)extent, NULL);
  if (!astro_join_caps(inputs, n, axis, caps, error) ||
      !astro_join_observe(inputs, n, axis, observation, error))
    return FALSE;
  self->has_warned = FALSE;
  self->config = (AstroJoinConfig){ .axis = axis };
  if (!astro_stream_from_caps(&self->config.out, caps, error))
    return FALSE;
  *(AstroJoinConfig *)config = self->config;
  return TRUE;
}

/* ---- blocks ---- */

/* NULL: the pieces are joined on the host. */
static AstroBox *find_boxes(AstroJoin *self, const AstroMergeBlock *block,
                            const AstroJoinArguments *arguments)
{
  gboolean is_simple = TRUE;
  if (!astro_merge_finds_boxes(ASTRO_MERGE(self), block))
    return NULL;
  g_autofree AstroBox *boxes = g_new(AstroBox, block->n_pieces);
  for (guint i = 0; i < block->n_pieces; i++) {
    astro_join_find_box(&self->config, arguments->steps, &arguments->pieces[i], &boxes[i]);
    is_simple &= astro_box_is_simple(&boxes[i]);
  }
  return is_simple ? g_steal_pointer(&boxes) : NULL;
}

static gboolean submit(AstroJoin *self, const AstroMergeBlock *block, AstroJoinPiece *pieces,
                       guint64 steps, GstBuffer *out, GError **error)
{
  const AstroJoinArguments arguments = { steps, pieces };
  g_autofree AstroJoinCounts *counts = g_new0(AstroJoinCounts, block->n_pieces);
  for (guint i = 0; i < block->n_pieces; i++) {
    GstBuffer *buffer = block->pieces[i].buffer;
    pieces[i].place = self->places[block->pieces[i].input];
    pieces[i].extent = self->extents[block->pieces[i].input];
    counts[i].is_lost = !buffer;
    counts[i].meta = buffer ? astro_buffer_get_validity(buffer) : NULL;
  }
  g_autofree AstroBox *boxes = find_boxes(self, block, &arguments);
  if (!(boxes ? astro_merge_copy_boxes(ASTRO_MERGE(self), block, boxes, out, error)
              : astro_merge_submit(ASTRO_MERGE(self), block, out, &arguments, error)))
    return FALSE;
  astro_join_validity(&self->config, &arguments, counts, block->n_pieces, out);
  return TRUE;
}

static gboolean join_steps(AstroJoin *self, const AstroMergeBlock *block, GstBuffer *out,
                           GError **error)
{
  g_autofree AstroJoinPiece *pieces = g_new0(AstroJoinPiece, block->n_pieces);
  for (guint i = 0; i < block->n_pieces; i++) {
    const AstroMergePiece *piece = &block->pieces[i];
    pieces[i] = (AstroJoinPiece){
      .steps = piece->steps, .first = piece->first, .n = piece->n, .at = piece->at
    };
  }
  return submit(self, block, pieces, block->steps, out, error);
}

/* ---- grids and images, whose n-th buffers belong together ---- */

static AstroJoinPart *list_parts(AstroJoin *self, const AstroMergeBlock *block, guint64 frames,
                                 GError **error)
{
  const guint64 extent = astro_stream_extent(&self->config.out, self->config.axis);
  const gsize bytes = frames * (astro_stream_step_bytes(&self->config.out) / extent);
  g_autofree AstroJoinPart *parts = g_new0(AstroJoinPart, block->n_pieces);
  for (guint i = 0; i < block->n_pieces; i++) {
    const AstroMergePiece *piece = &block->pieces[i];
    parts[i] = (AstroJoinPart){ self->pads[piece->input], piece->buffer, self->places[piece->input],
                                self->extents[piece->input] };
    const gsize expected = bytes * parts[i].extent;
    if (piece->buffer && gst_buffer_get_size(piece->buffer) != expected) {
      astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                          "pad %s: a buffer of %" G_GSIZE_FORMAT " bytes, expected %" G_GSIZE_FORMAT
                          ", for as many frames as on the first pad",
                          parts[i].pad, gst_buffer_get_size(piece->buffer), expected);
      return NULL;
    }
  }
  return g_steal_pointer(&parts);
}

/* Tells what nothing in the stream says. */
static void warn(AstroJoin *self, const AstroJoinPart *parts, guint n, const AstroJoinBeam *beam)
{
  const char *lost = NULL;
  for (guint i = 0; i < n; i++)
    lost = parts[i].buffer ? lost : parts[i].pad;
  if (self->has_warned || (!lost && !beam->differs))
    return;
  self->has_warned = TRUE;
  if (lost)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("pad %s: there is no buffer to join to those of the other pads: its part "
                         "is zeros with weights of 0",
                         lost),
                        (NULL));
  if (beam->differs)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("the images have different beams, and what is joined can have one: that "
                         "of pad %s is taken",
                         beam->pad),
                        (NULL));
}

static gboolean join_frames(AstroJoin *self, const AstroMergeBlock *block, GstBuffer *out,
                            GError **error)
{
  const guint64 frames = gst_buffer_get_size(out) / astro_stream_step_bytes(&self->config.out);
  g_autofree AstroJoinPart *parts = list_parts(self, block, frames, error);
  g_autofree AstroJoinPiece *pieces = g_new0(AstroJoinPiece, block->n_pieces);
  AstroJoinBeam beam = { 0 };
  for (guint i = 0; i < block->n_pieces; i++)
    pieces[i] = (AstroJoinPiece){ .steps = frames, .n = frames };
  if (!parts || !submit(self, block, pieces, frames, out, error))
    return FALSE;
  const gboolean ok =
      self->config.out.quantity == ASTRO_QUANTITY_UVGRID
          ? astro_join_grids(&self->config, parts, block->n_pieces, out, error)
          : astro_join_images(&self->config, parts, block->n_pieces, out, &beam, error);
  if (ok)
    warn(self, parts, block->n_pieces, &beam);
  return ok;
}

static gboolean combine(AstroMerge *merge, const AstroMergeBlock *block, GstBuffer *out,
                        GError **error)
{
  AstroJoin *self = ASTRO_JOIN(merge);
  const gboolean has_steps = astro_steps_count_once(&self->config.out);
  return (has_steps ? join_steps : join_frames)(self, block, out, error);
}

static gboolean propose_allocation(GstAggregator *aggregator, GstAggregatorPad *pad,
                                   GstQuery *decide, GstQuery *query)
{
  astro_merge_propose_boxes(ASTRO_MERGE(aggregator), query);
  return TRUE;
}

/* ---- properties ---- */

static const AstroField fields[] = {
  ASTRO_ENUM(AstroJoin, along, "axis", "Axis", "Axis that the pads hold parts of", along_get_type,
             ALONG_STATION),
  { 0 },
};

static void finalize(GObject *object)
{
  g_strfreev(ASTRO_JOIN(object)->pads);
  g_free(ASTRO_JOIN(object)->places);
  g_free(ASTRO_JOIN(object)->extents);
  G_OBJECT_CLASS(astro_join_parent_class)->finalize(object);
}

static void astro_join_class_init(AstroJoinClass *klass)
{
  static const AstroQuantity quantities[] = {
    ASTRO_QUANTITY_VOLTAGES, ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_VISIBILITIES,
    ASTRO_QUANTITY_POWER,    ASTRO_QUANTITY_UVGRID,  ASTRO_QUANTITY_IMAGE,
    ASTRO_QUANTITY_UNKNOWN,
  };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  AstroMergeClass *merge = ASTRO_MERGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  merge->stage = "join";
  merge->tell_work = astro_work_none;
  merge->backends = astro_join_backends;
  merge->agree = agree;
  merge->combine = combine;
  GST_AGGREGATOR_CLASS(klass)->propose_allocation = propose_allocation;
  astro_merge_class_add_pads(merge, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Join", "Filter/Muxer",
      "Joins streams along stations, channels, polarisations or beams", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "voltages, spectra, visibilities, power, uvgrids and "
                                        "images of any format and layout, the same on "
                                        "all pads");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives", "the same");
}

static void astro_join_init(AstroJoin *self)
{
  astro_fields_set_defaults(self);
}
