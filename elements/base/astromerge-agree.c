/* Checks that streams belong together, and makes caps and observation of the output from theirs. */
#include "config.h"
#include "elements/base/astromerge-parts.h"

#include <math.h>
#include <string.h>

#define PRIV(merge) astro_merge_parts(merge)

/* Directions closer than a ten-thousandth of an arc second are the same. */
#define SAME_DIRECTION 5e-10
#define SAME_EARTH 1e-6 /* arcsec */

static char *value_text(const GValue *value)
{
  char *text = value ? gst_value_serialize(value) : NULL;
  return text ? text : g_strdup("missing");
}

gboolean astro_merge_check_caps(const AstroMergeInput *inputs, guint n, const char *field,
                                GError **error)
{
  const GValue *first = gst_structure_get_value(gst_caps_get_structure(inputs[0].caps, 0), field);
  for (guint i = 1; i < n; i++) {
    const GValue *value = gst_structure_get_value(gst_caps_get_structure(inputs[i].caps, 0), field);
    if (!first && !value)
      continue;
    if (first && value && gst_value_compare(first, value) == GST_VALUE_EQUAL)
      continue;
    g_autofree char *found = value_text(value), *expected = value_text(first);
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: caps field \"%s\" is %s, expected %s, as on pad %s",
                               inputs[i].pad, field, found, expected, inputs[0].pad);
  }
  return TRUE;
}

/* A GstStructureForeachFunc: FALSE ends the walk. */
static gboolean note_field(GQuark field, const GValue *value, gpointer fields)
{
  g_hash_table_add(fields, (gpointer)g_quark_to_string(field));
  return TRUE;
}

gboolean astro_merge_check_all_caps(const AstroMergeInput *inputs, guint n, GError **error)
{
  g_autoptr(GHashTable) fields = g_hash_table_new(g_str_hash, g_str_equal);
  gpointer field;
  GHashTableIter iter;
  for (guint i = 0; i < n; i++)
    gst_structure_foreach(gst_caps_get_structure(inputs[i].caps, 0), note_field, fields);
  g_hash_table_iter_init(&iter, fields);
  while (g_hash_table_iter_next(&iter, &field, NULL))
    if (!astro_merge_check_caps(inputs, n, field, error))
      return FALSE;
  return TRUE;
}

static gboolean is_same_array(const AstroObservation *a, const AstroObservation *b)
{
  return a->n_stations == b->n_stations &&
         g_strv_equal((const char *const *)a->names, (const char *const *)b->names) &&
         memcmp(a->positions, b->positions, 3 * a->n_stations * sizeof *a->positions) == 0;
}

gboolean astro_merge_check_stations(const AstroMergeInput *inputs, guint n, GError **error)
{
  for (guint i = 1; i < n && inputs[0].observation; i++)
    if (!is_same_array(inputs[0].observation, inputs[i].observation))
      return astro_stream_refuse(
          error, ASTRO_STREAM_ERROR_CAPS,
          "pad %s: the observation's stations differ from those of pad %s, expected the same",
          inputs[i].pad, inputs[0].pad);
  return TRUE;
}

gboolean astro_merge_check_beams(const AstroMergeInput *inputs, guint n, GError **error)
{
  const AstroObservation *a = inputs[0].observation;
  for (guint i = 1; i < n && a; i++) {
    const AstroObservation *b = inputs[i].observation;
    if (a->n_beams != b->n_beams)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "pad %s: the observation names %u beams, expected %u, as on "
                                 "pad %s",
                                 inputs[i].pad, b->n_beams, a->n_beams, inputs[0].pad);
    for (guint k = 0; k < a->n_beams; k++) {
      if (g_str_equal(a->beams[k].name, b->beams[k].name) &&
          astro_beam_is_alike(&a->beams[k], &b->beams[k]))
        continue;
      g_autofree char *found = astro_beam_describe(&b->beams[k]),
                      *expected = astro_beam_describe(&a->beams[k]);
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "pad %s: beam %u is %s, expected %s, as on pad %s", inputs[i].pad,
                                 k, found, expected, inputs[0].pad);
    }
  }
  return TRUE;
}

static gboolean refuse(const AstroMergeInput *a, const AstroMergeInput *b, const char *what,
                       GError **error)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: %s not that of pad %s, expected the same", b->pad, what,
                             a->pad);
}

static gboolean check_quantity(const AstroMergeInput *a, const AstroMergeInput *b, GError **error)
{
  if (a->stream->quantity != b->stream->quantity)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS, "pad %s: %s, expected %s, as on pad %s", b->pad,
        astro_quantity_name(b->stream->quantity), astro_quantity_name(a->stream->quantity), a->pad);
  return (gint64)a->stream->rate_n * b->stream->rate_d ==
             (gint64)b->stream->rate_n * a->stream->rate_d ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: caps field \"rate\" is %d/%d, expected %d/%d, as on pad %s",
                             b->pad, b->stream->rate_n, b->stream->rate_d, a->stream->rate_n,
                             a->stream->rate_d, a->pad);
}

static gboolean is_same_direction(double a, double b)
{
  return fabs(a - b) <= SAME_DIRECTION;
}

/* Compares the Earth orientations that delays and (u,v,w) were, or will be, computed with, on the
 * day of the second observation. */
static gboolean check_earth(const AstroMergeInput *a, const AstroMergeInput *b, GError **error)
{
  const AstroEarth *x = a->observation->earth, *y = b->observation->earth;
  if (!x && !y)
    return TRUE;
  if (x && y && astro_earth_difference(x, y, b->observation->start_mjd) <= SAME_EARTH)
    return TRUE;
  g_autofree char *found = y ? astro_earth_describe(y) : g_strdup("not known"),
                  *expected = x ? astro_earth_describe(x) : g_strdup("not known");
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: the observation's Earth orientation is %s, expected that of "
                             "pad %s, %s",
                             b->pad, found, a->pad, expected);
}

/* Each grid carries the observation of its own visibilities. */
static gboolean check_places(const AstroMergeInput *a, const AstroMergeInput *b, GError **error)
{
  if (!astro_steps_count_once(a->stream))
    return TRUE;
  if (a->observation->uvw_metres > 0 || b->observation->uvw_metres > 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: the visibilities have (u,v,w) of their own (astrofitssrc "
                               "uvw=file), and one stream cannot hold several sets: expected "
                               "(u,v,w) of the stations (astrofitssrc uvw=table)",
                               a->observation->uvw_metres > 0 ? a->pad : b->pad);
  return check_earth(a, b, error);
}

static gboolean check_dms(const AstroMergeInput *a, const AstroMergeInput *b, GError **error)
{
  const AstroObservation *x = a->observation, *y = b->observation;
  if (x->n_dms != y->n_dms)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: %u dispersion measures were taken out, expected %u, as on "
                               "pad %s",
                               b->pad, y->n_dms, x->n_dms, a->pad);
  for (guint i = 0; i < x->n_dms; i++)
    if (x->dms[i] != y->dms[i])
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "pad %s: dispersion measure %u is %.10g pc/cm^3, expected %.10g, "
                                 "as on pad %s",
                                 b->pad, i, y->dms[i], x->dms[i], a->pad);
  return x->dm_frequency == y->dm_frequency ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: dispersion was taken out relative to %.10g Hz, expected "
                             "%.10g Hz, as on pad %s",
                             b->pad, y->dm_frequency, x->dm_frequency, a->pad);
}

static gboolean check_observation(const AstroMergeInput *a, const AstroMergeInput *b,
                                  GError **error)
{
  const AstroObservation *x = a->observation, *y = b->observation;
  if (!x && !y)
    return TRUE;
  if (!x || !y)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: the stream has no observation, and that of pad %s has one: "
                               "expected all to have one (astroobserve), or none",
                               x ? b->pad : a->pad, x ? a->pad : b->pad);
  if (!g_str_equal(x->basis, y->basis))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: the observation's basis is %s, expected %s, as on pad %s",
                               b->pad, y->basis, x->basis, a->pad);
  if (!x->has_phase_centre != !y->has_phase_centre ||
      (x->has_phase_centre && (!is_same_direction(x->phase_ra, y->phase_ra) ||
                               !is_same_direction(x->phase_dec, y->phase_dec))))
    return refuse(a, b, "the observation's phase centre is", error);
  if (!check_places(a, b, error) || !check_dms(a, b, error))
    return FALSE;
  const char *done = astro_history_find_difference(&x->done, &y->done, a->stream->quantity);
  if (done && g_str_equal(done, ASTRO_HISTORY_DELAYS_CENTRE))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "pad %s: delays were removed for a centre at %s m, and on pad %s at %s m, each the mean of "
        "the stream's stations: expected one astrodelay, behind the element that joins the "
        "stations or before they were divided",
        b->pad, y->done.delays_centre ? y->done.delays_centre : "an unknown place", a->pad,
        x->done.delays_centre ? x->done.delays_centre : "an unknown place");
  return !done || astro_stream_refuse(
                      error, ASTRO_STREAM_ERROR_CAPS,
                      "pad %s: what was done to the stream is not what was done on pad %s (the "
                      "observation's field \"%s\"), expected the same stages before both",
                      b->pad, a->pad, done);
}

static gboolean check(const AstroMergeInput *inputs, guint n, GError **error)
{
  for (guint i = 1; i < n; i++)
    if (!check_quantity(&inputs[0], &inputs[i], error) ||
        !check_observation(&inputs[0], &inputs[i], error))
      return FALSE;
  return TRUE;
}

/* ---- what goes out ---- */

static AstroMergeInput *list_inputs(const GPtrArray *pads)
{
  AstroMergeInput *inputs = g_new(AstroMergeInput, pads->len);
  for (guint i = 0; i < pads->len; i++) {
    AstroMergePad *pad = g_ptr_array_index(pads, i);
    inputs[i] = (AstroMergeInput){ GST_PAD_NAME(pad), &pad->agreed->stream, pad->agreed->caps,
                                   pad->agreed->observation };
  }
  return inputs;
}

/* Steps are counted from the beginning of the axis. */
static void set_start(const AstroMergeAxis *axis, AstroObservation *observation)
{
  if (!axis->has_start)
    return;
  observation->start_mjd = axis->start_mjd;
  observation->start_ns = axis->start_ns;
}

static void set_counts(const AstroMergeInput *inputs, guint n, GstCaps *caps)
{
  for (guint i = 0; i < n; i++)
    if (inputs[i].stream->has_counts)
      gst_caps_set_simple(caps, "counts", G_TYPE_BOOLEAN, TRUE, NULL);
}

static gboolean is_said_already(GstPad *src, GstEvent *event)
{
  g_autoptr(GstEvent) said = gst_pad_get_sticky_event(src, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  return said &&
         gst_structure_is_equal(gst_event_get_structure(said), gst_event_get_structure(event));
}

static void tell(AstroMerge *merge, GstCaps *caps)
{
  GstPad *src = GST_AGGREGATOR_SRC_PAD(merge);
  g_autoptr(GstCaps) before = gst_pad_get_current_caps(src);
  if (!before || !gst_caps_is_equal(before, caps))
    gst_aggregator_set_src_caps(GST_AGGREGATOR(merge), caps);
  if (!PRIV(merge)->observation)
    return;
  GstEvent *event = astro_observation_to_event(PRIV(merge)->observation);
  if (is_said_already(src, event))
    gst_event_unref(event);
  else
    gst_pad_push_event(src, event);
}

/* The segment of a live stream says when its samples were taken. Steps of the output may be counted
 * from an earlier time than those of the pad whose segment it is. */
static void set_segment(AstroMerge *merge, const AstroMergePad *pad, GstClockTimeDiff later)
{
  const GstSegment *in = &pad->segment;
  GstSegment out;
  if (in->format != GST_FORMAT_TIME)
    return;
  const gboolean is_live =
      GST_CLOCK_TIME_IS_VALID(gst_aggregator_get_latency(GST_AGGREGATOR(merge)));
  if (later == 0 && !is_live) {
    gst_aggregator_update_segment(GST_AGGREGATOR(merge), in);
    return;
  }
  gst_segment_init(&out, GST_FORMAT_TIME);
  const GstClockTimeDiff shift =
      (GstClockTimeDiff)in->base - (GstClockTimeDiff)in->start - (is_live ? later : 0);
  if (is_live && shift >= 0)
    out.base = (guint64)shift;
  else if (is_live)
    out.start = out.time = out.position = (guint64)-shift;
  gst_aggregator_update_segment(GST_AGGREGATOR(merge), &out);
}

static void follow_segment(AstroMerge *merge, const GPtrArray *pads)
{
  const AstroMergeAxis *axis = &PRIV(merge)->axis;
  const AstroMergePad *first = g_ptr_array_index(pads, 0);
  const AstroObservation *o = first->agreed->observation;
  GstClockTimeDiff later = 0;
  if (axis->has_start && o)
    later = ((gint64)o->start_mjd - axis->start_mjd) * (gint64)(86400 * GST_SECOND) +
            (gint64)(o->start_ns - axis->start_ns);
  set_segment(merge, first, later);
}

gboolean astro_merge_agree(AstroMerge *merge, GPtrArray *pads, GError **error)
{
  AstroMergePrivate *priv = PRIV(merge);
  AstroMergeClass *klass = ASTRO_MERGE_GET_CLASS(merge);
  g_autofree AstroMergeInput *inputs = list_inputs(pads);
  g_autoptr(GstCaps) caps = gst_caps_copy(inputs[0].caps);

  astro_merge_close(merge);
  g_clear_pointer(&priv->pads, g_ptr_array_unref);
  g_clear_pointer(&priv->observation, astro_observation_unref);
  memset(priv->config, 0, sizeof priv->config);
  if (!check(inputs, pads->len, error))
    return FALSE;
  if (inputs[0].observation) {
    priv->observation = astro_observation_copy(inputs[0].observation);
    set_start(&priv->axis, priv->observation);
  }
  set_counts(inputs, pads->len, caps);
  if (!klass->agree(merge, inputs, pads->len, caps, priv->observation, priv->config, error) ||
      !astro_stream_from_caps(&priv->out, caps, error) || !astro_merge_open(merge, error))
    return FALSE;
  priv->pads = g_ptr_array_ref(pads);
  for (guint i = 0; i < pads->len; i++)
    astro_log_caps(g_ptr_array_index(pads, i), inputs[i].caps, NULL);
  astro_log_caps(merge, NULL, caps);
  tell(merge, caps);
  follow_segment(merge, pads);
  if (priv->tells_work)
    astro_merge_tell_work(merge, inputs, pads->len);
  astro_merge_ask_reader(merge);
  return TRUE;
}
