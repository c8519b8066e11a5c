/* Takes a new length of integrations in mid-stream. */
#include "config.h"
#include "elements/base/astrolength.h"

void astro_length_changed(AstroLength *length)
{
  if (length->runs)
    g_atomic_int_set(&length->is_new, TRUE);
}

static void use_what_is_set(AstroStage *stage, AstroLength *length, gboolean runs)
{
  GST_OBJECT_LOCK(stage);
  g_atomic_int_set(&length->is_new, FALSE);
  length->used = length->set;
  length->runs = runs;
  GST_OBJECT_UNLOCK(stage);
}

void astro_length_start(AstroStage *stage, AstroLength *length)
{
  use_what_is_set(stage, length, TRUE);
}

void astro_length_stop(AstroStage *stage, AstroLength *length)
{
  use_what_is_set(stage, length, FALSE);
}

void astro_length_see(AstroStage *stage, AstroLength *length, GstEvent *event)
{
  GstCaps *caps;
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
    return;
  gst_event_parse_caps(event, &caps);
  g_autoptr(GstCaps) before = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(stage));
  if (!before || !gst_caps_is_equal(before, caps))
    use_what_is_set(stage, length, TRUE);
}

static void begin_at(AstroStage *stage, AstroLength *length, guint64 origin)
{
  length->origin = origin;
  astro_stage_begin_output(stage, origin);
}

void astro_length_restart(AstroStage *stage, AstroLength *length)
{
  begin_at(stage, length, 0);
}

gboolean astro_length_find(AstroStage *stage, AstroLength *length, gint rate_n, gint rate_d,
                           guint *spectra, GError **error)
{
  GST_OBJECT_LOCK(stage);
  const AstroLengthValue value = length->runs ? length->used : length->set;
  GST_OBJECT_UNLOCK(stage);
  return astro_integration_find(value.spectra, value.seconds, rate_n, rate_d, spectra, error);
}

void astro_length_tell(AstroStage *stage, const AstroLength *length, guint spectra)
{
  if (length->used.seconds > 0 || length->is_renewed)
    astro_integration_tell(GST_ELEMENT(stage), spectra, astro_stage_in(stage));
}

/* ---- in mid-stream ---- */

static AstroLengthValue exchange(AstroStage *stage, AstroLength *length)
{
  GST_OBJECT_LOCK(stage);
  g_atomic_int_set(&length->is_new, FALSE);
  const AstroLengthValue before = length->used;
  length->used = length->set;
  GST_OBJECT_UNLOCK(stage);
  return before;
}

/* The properties then say what the stream has, unless another thread has set them since. */
static void put_back(AstroStage *stage, AstroLength *length, const AstroLengthValue *before)
{
  GST_OBJECT_LOCK(stage);
  if (!g_atomic_int_get(&length->is_new))
    length->set = *before;
  length->used = *before;
  GST_OBJECT_UNLOCK(stage);
}

/* Waits until all blocks that came before have arrived downstream, behind queues too. */
static void deliver(AstroStage *stage)
{
  GstQuery *drain = gst_query_new_drain();
  astro_stage_push(stage);
  gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(stage), drain);
  gst_query_unref(drain);
}

/* Elements downstream that hold something which a new rate would spoil, such as a file, offer the
 * caps that they have, and no others. They may have begun with the last block. */
static gboolean is_taken(AstroStage *stage, GError **error)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(stage);
  g_autoptr(GstCaps) in = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans));
  g_autoptr(GstCaps) made =
      GST_BASE_TRANSFORM_GET_CLASS(stage)->transform_caps(trans, GST_PAD_SINK, in, NULL);
  deliver(stage);
  g_autoptr(GstCaps) taken = gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(trans), made);
  if (!gst_caps_is_empty(taken))
    return TRUE;
  g_autoptr(GstCaps) any = gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(trans), NULL);
  g_autofree char *found = gst_caps_to_string(made), *expected = gst_caps_to_string(any);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "downstream does not take integrations of another length now: found "
                             "%s, expected %s",
                             found, expected);
}

static gboolean check_value(AstroStage *stage, guint spectra, guint times, AstroLengthCheck check,
                            GError **error)
{
  const AstroStream *in = astro_stage_in(stage);
  AstroStream out = *astro_stage_out(stage);
  GstStructure *from, *to;
  if (in->rate_n == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "caps have no rate, which would tell how long integrations are: "
                               "expected a new length in state NULL or READY");
  if (!astro_integration_check(spectra, error) || !check(stage, spectra, error))
    return FALSE;
  from = gst_structure_new("in", "rate", GST_TYPE_FRACTION, in->rate_n, in->rate_d, NULL);
  to = gst_structure_new_empty("out");
  astro_integration_convert_rate(to, from, 1, (guint64)spectra * times);
  out.rate_n = 0;
  gst_structure_get_fraction(to, "rate", &out.rate_n, &out.rate_d);
  gst_structure_free(from);
  gst_structure_free(to);
  return astro_integration_check_rate((guint64)spectra * times, in, &out, error);
}

static gboolean can_have(AstroStage *stage, AstroLength *length, const AstroLengthValue *before,
                         guint times, AstroLengthCheck check, guint *spectra, gboolean *differs,
                         GError **error)
{
  const AstroStream *in = astro_stage_in(stage);
  guint old;
  if (!astro_length_find(stage, length, in->rate_n, in->rate_d, spectra, error))
    return FALSE;
  *differs = !astro_integration_find(before->spectra, before->seconds, in->rate_n, in->rate_d, &old,
                                     NULL) ||
             old != *spectra;
  return !*differs || (check_value(stage, *spectra, times, check, error) && is_taken(stage, error));
}

gboolean astro_length_renew(AstroStage *stage, AstroLength *length, guint64 step, guint times,
                            AstroLengthCheck check, GError **error)
{
  g_autoptr(GError) refused = NULL;
  gboolean differs;
  guint spectra;
  if (!astro_length_is_new(length))
    return TRUE;
  const AstroLengthValue before = exchange(stage, length);
  if (!can_have(stage, length, &before, times, check, &spectra, &differs, &refused)) {
    put_back(stage, length, &before);
    GST_ELEMENT_WARNING(stage, LIBRARY, SETTINGS,
                        ("%s. The stream goes on with the value before", refused->message), (NULL));
    return TRUE;
  }
  if (!differs)
    return TRUE;
  length->is_renewed = TRUE;
  const gboolean ok = astro_stage_renegotiate(stage, error);
  length->is_renewed = FALSE;
  if (!ok)
    return FALSE;
  begin_at(stage, length, step % ((guint64)spectra * times));
  /* Blocks had best end elsewhere now. */
  gst_base_transform_reconfigure_sink(GST_BASE_TRANSFORM(stage));
  return TRUE;
}
