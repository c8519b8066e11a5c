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
 * Along stations the observations are joined, and no station may occur twice. Along channels the
 * bands have to adjoin, in rising order, and become one band. All else has to be the same on all
 * pads: rate, format, layout, basis, phase centre and processing history. Visibilities are joined
 * along channels only, because pairs of stations from two streams were never correlated.
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

#include <string.h>

#include "core/kit/enum.h"
#include "core/join/join.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrostage.h"

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
  guint n;
  guint64 *places, *extents; /* where each input's part begins along the axis, and its length */
};

G_DEFINE_TYPE(AstroJoin, astro_join, ASTRO_TYPE_MERGE)
GST_ELEMENT_REGISTER_DEFINE(astrojoin, "astrojoin", GST_RANK_NONE, ASTRO_TYPE_JOIN)

ASTRO_STATIC_ENUM_TYPE(along_get_type, "AstroJoinAxis",
                       { ALONG_STATION, "Stations, for instance of several receivers", "station" },
                       { ALONG_CHANNEL, "Channels, for instance of several bands", "channel" },
                       { ALONG_POL, "Polarisations", "pol" }, { ALONG_BEAM, "Beams", "beam" })

/* ---- which streams can be joined ---- */

static gboolean check_axis(const AstroMergeInput *input, AstroAxis axis, GError **error)
{
  const AstroStream *stream = input->stream;
  g_autofree char *layout = astro_layout_to_string(&stream->layout);
  if (stream->quantity == ASTRO_QUANTITY_VISIBILITIES && axis != ASTRO_AXIS_CHANNEL)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "axis=%s: visibilities are joined along channels only, because pairs "
        "of stations from two pads were never correlated: expected spectra, "
        "joined upstream of one astrocorrelator",
        astro_axis_name(axis));
  return astro_layout_find(&stream->layout, axis) >= 0 ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: %s in layout %s have no axis \"%s\" to join along",
                             input->pad, astro_quantity_name(stream->quantity), layout,
                             astro_axis_name(axis));
}

/* Checks that all other axes have the same length and all other fields are equal. Bands may differ
 * where channels are joined. */
static gboolean check_fields(const AstroMergeInput *inputs, guint n, AstroAxis axis, GError **error)
{
  static const char *const fields[] = { "format", "layout", "triangle" };
  static const char *const band[] = { "frequency", "bandwidth" };
  const AstroLayout *layout = &inputs[0].stream->layout;
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    if (!astro_merge_check_caps(inputs, n, fields[i], error))
      return FALSE;
  for (guint i = 0; i < layout->n_axes; i++) {
    const char *field = astro_axis_field(layout->axes[i]);
    if (field && layout->axes[i] != axis && !astro_merge_check_caps(inputs, n, field, error))
      return FALSE;
  }
  for (guint i = 0; axis != ASTRO_AXIS_CHANNEL && i < G_N_ELEMENTS(band); i++)
    if (!astro_merge_check_caps(inputs, n, band[i], error))
      return FALSE;
  return TRUE;
}

static gboolean find_places(AstroJoin *self, const AstroMergeInput *inputs, guint n,
                            guint64 *extent, GError **error)
{
  const AstroAxis axis = axes[self->along];
  self->n = n;
  self->places = g_renew(guint64, self->places, n);
  self->extents = g_renew(guint64, self->extents, n);
  *extent = 0;
  for (guint i = 0; i < n; i++) {
    self->places[i] = *extent;
    self->extents[i] = astro_stream_extent(inputs[i].stream, axis);
    *extent += self->extents[i];
  }
  return *extent <= G_MAXINT ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%" G_GUINT64_FORMAT " %s together are more than caps can hold",
                             *extent, astro_axis_field(axis));
}

/* ---- bands ---- */

static gboolean join_bands(const AstroMergeInput *inputs, guint n, GstCaps *caps, GError **error)
{
  g_autofree AstroJoinBand *bands = g_new(AstroJoinBand, n);
  double frequency, bandwidth;
  guint known = 0;
  for (guint i = 0; i < n; i++) {
    const AstroStream *s = inputs[i].stream;
    bands[i] = (AstroJoinBand){ inputs[i].pad, s->frequency, s->bandwidth,
                                astro_stream_extent(s, ASTRO_AXIS_CHANNEL) };
    known += s->bandwidth > 0;
  }
  for (guint i = 0; known && i < n; i++)
    if (!(bands[i].bandwidth > 0))
      return astro_stream_refuse(
          error, ASTRO_STREAM_ERROR_CAPS,
          "pad %s: caps field \"bandwidth\" is missing or 0, while other pads "
          "have one: expected all to have a bandwidth, or none",
          bands[i].name);
  if (!known)
    return TRUE;
  if (!astro_join_bands(bands, n, &frequency, &bandwidth, error)) {
    g_prefix_error(error, "pad ");
    return FALSE;
  }
  gst_caps_set_simple(caps, "frequency", G_TYPE_DOUBLE, frequency, "bandwidth", G_TYPE_DOUBLE,
                      bandwidth, NULL);
  return TRUE;
}

/* ---- observations ---- */

static gboolean add_station(GHashTable *known, const AstroMergeInput *input, guint station,
                            GError **error)
{
  const char *name = input->observation->names[station];
  const char *pad = g_hash_table_lookup(known, name);
  if (pad)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: station %s is also on pad %s: expected each "
                               "station once",
                               input->pad, name, pad);
  g_hash_table_insert(known, (gpointer)name, (gpointer)input->pad);
  return TRUE;
}

static gboolean join_arrays(const AstroMergeInput *inputs, guint n, guint64 extent,
                            AstroObservation *observation, GError **error)
{
  g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(AstroObservation) all = astro_observation_new((guint)extent);
  guint at = 0;
  g_free(all->telescope);
  all->telescope = g_strdup(observation->telescope);
  for (guint i = 0; i < n; i++) {
    const AstroObservation *o = inputs[i].observation;
    const guint64 stations = astro_stream_stations(inputs[i].stream);
    if (o->n_stations != stations)
      return astro_stream_refuse(
          error, ASTRO_STREAM_ERROR_CAPS,
          "pad %s: the observation has %u stations and the caps have %" G_GUINT64_FORMAT
          ", expected equal numbers",
          inputs[i].pad, o->n_stations, stations);
    for (guint k = 0; k < o->n_stations; k++, at++) {
      if (!add_station(known, &inputs[i], k, error))
        return FALSE;
      g_free(all->names[at]);
      all->names[at] = g_strdup(o->names[k]);
      memcpy(&all->positions[3 * at], &o->positions[3 * k], 3 * sizeof(double));
    }
  }
  astro_observation_swap_array(observation, all);
  return TRUE;
}

/* ---- blocks ---- */

static gboolean agree(AstroMerge *merge, const AstroMergeInput *inputs, guint n, GstCaps *caps,
                      AstroObservation *observation, gpointer config, GError **error)
{
  AstroJoin *self = ASTRO_JOIN(merge);
  const AstroAxis axis = axes[self->along];
  guint64 extent;

  for (guint i = 0; i < n; i++)
    if (!check_axis(&inputs[i], axis, error))
      return FALSE;
  if (!check_fields(inputs, n, axis, error) || !find_places(self, inputs, n, &extent, error))
    return FALSE;
  gst_caps_set_simple(caps, astro_axis_field(axis), G_TYPE_INT, (gint)extent, NULL);
  if (axis == ASTRO_AXIS_CHANNEL && !join_bands(inputs, n, caps, error))
    return FALSE;
  if (axis != ASTRO_AXIS_STATION && !astro_merge_check_stations(inputs, n, error))
    return FALSE;
  if (axis == ASTRO_AXIS_STATION && observation &&
      !join_arrays(inputs, n, extent, observation, error))
    return FALSE;
  self->config = (AstroJoinConfig){ .axis = axis };
  if (!astro_stream_from_caps(&self->config.out, caps, error))
    return FALSE;
  *(AstroJoinConfig *)config = self->config;
  return TRUE;
}

static gboolean combine(AstroMerge *merge, const AstroMergeBlock *block, GstBuffer *out,
                        GError **error)
{
  AstroJoin *self = ASTRO_JOIN(merge);
  g_autofree AstroJoinPiece *pieces = g_new(AstroJoinPiece, block->n_pieces);
  g_autofree AstroJoinCounts *counts = g_new0(AstroJoinCounts, block->n_pieces);
  AstroJoinArguments arguments = { block->steps, pieces };
  for (guint i = 0; i < block->n_pieces; i++) {
    const AstroMergePiece *piece = &block->pieces[i];
    pieces[i] = (AstroJoinPiece){ self->places[piece->input],
                                  self->extents[piece->input],
                                  piece->steps,
                                  piece->first,
                                  piece->n,
                                  piece->at };
    counts[i].is_lost = !piece->buffer;
    counts[i].meta = piece->buffer ? astro_buffer_get_validity(piece->buffer) : NULL;
  }
  if (!astro_merge_submit(merge, block, out, &arguments, error))
    return FALSE;
  astro_join_validity(&self->config, &arguments, counts, block->n_pieces, out);
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
  g_free(ASTRO_JOIN(object)->places);
  g_free(ASTRO_JOIN(object)->extents);
  G_OBJECT_CLASS(astro_join_parent_class)->finalize(object);
}

static void astro_join_class_init(AstroJoinClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_VOLTAGES, ASTRO_QUANTITY_SPECTRA,
                                              ASTRO_QUANTITY_VISIBILITIES, ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  AstroMergeClass *merge = ASTRO_MERGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  merge->stage = "join";
  merge->backends = astro_join_backends;
  merge->agree = agree;
  merge->combine = combine;
  astro_merge_class_add_pads(merge, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Join", "Filter/Muxer",
      "Joins streams along stations, channels, polarisations or beams", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "voltages, spectra and visibilities of any format and layout, the same on all pads");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives", "the same");
}

static void astro_join_init(AstroJoin *self)
{
  astro_fields_set_defaults(self);
}
