/**
 * SECTION:element-astrohistogram
 *
 * Counts the pairs of points of catalogues by their separation on the sky: DD once, DR and RR with
 * every catalogue that comes on the pad random. It adds up all counts and sends them at the end.
 * Buffers on a data pad are parts of one catalogue. With data2 (and random2), pairs are those of
 * two catalogues: D1D2, D1R2, R1D2 and R1R2. Without random catalogues it counts DD alone. No point
 * pairs with itself, neither in counts nor in the totals that they are divided by (see astrotpacf).
 *
 * |[
 * gst-launch-1.0 astrohistogram name=h regions=10 ! filesink location=pairs.u64 \
 *   astrocatsrc location=galaxies.csv ! h.data \
 *   astrocatsrc points=100000 catalogues=10 footprint=cap:180,30,20 ! h.random
 * ]|
 *
 * With split=n every random catalogue is split at random into n of equal size (arXiv 1905.01133):
 * pairs within random catalogues, which take most of the time, then become fewer by n, and pairs of
 * data and random points stay all there. They count as n catalogues, in interval too.
 *
 * Points with distances are counted in space by kind=smu, in bins of the separation s and of mu,
 * the cosine of its angle to the line of sight, or by kind=rppi, in bins of the separations rp
 * across the line of sight and pi along it. The line of sight runs through the middle of the pair,
 * as in Corrfunc and pycorr. A row of bins has s or rp alike.
 *
 * |[
 * gst-launch-1.0 astrohistogram name=h kind=smu linear-bins=40 min-separation=0 mu-bins=50 ! \
 *   filesink location=pairs.u64 \
 *   astrofitssrc location=galaxies.fits redshift-column=Z omega-m=0.31 ! h.data \
 *   astrofitssrc location=random.fits redshift-column=Z omega-m=0.31 ! h.random
 * ]|
 *
 * A catalogue that takes more than its share of max-memory is kept in a temporary file (in TMPDIR),
 * ordered along the sky in slices that fit, and slices near enough for pairs in the bins are
 * counted with each other. Counts are the same to the last pair; sums of weights may differ in
 * their last digits. What max-memory is about is catalogues, their trees and counts in this
 * element, 48 bytes a point or less of pairs by angle: the buffers that sources send are their own,
 * so a large catalogue is best sent in several on the pad data. It is then bounded by the disk
 * alone, at 16 bytes a point and twice that while points are put in order.
 *
 * Pairs may have weights of their own, beside the product of those of their points, as in pycorr.
 * With columns of bits (bitweight-columns of a source), one bit for each realisation of the
 * selection, a pair of data has nrealizations / (noffset + common bits), where both have bits; a
 * point with bits and a random one have nrealizations / (noffset + bits of the one). Where this
 * divides by 0 the weight is default-value. The weight of all pairs, by which counts are divided,
 * is the mean over all places of the bits (arXiv 1912.08803, eq. 22). dd-twopoint-weights and
 * dr-twopoint-weights name texts of angles in degrees and weights, between which pairs are weighed,
 * by interpolation in the cosine; pairs outside have 1, and the weight of all pairs is as without.
 *
 * |[
 * gst-launch-1.0 astrohistogram name=h kind=smu linear-bins=30 min-separation=0 ! astrotpacf ! \
 *   astrofitssink location=xi.fits \
 *   astrofitssrc location=d.fits redshift-column=Z omega-m=0.31 bitweight-columns=BITS ! h.data \
 *   astrofitssrc location=r.fits redshift-column=Z omega-m=0.31 ! h.random
 * ]|
 *
 * Points may carry a scalar such as the convergence (fields=kk, nk) or a shear (fields=ng, gg), in
 * columns k, or g1 and g2, of their catalogues. Sums of their products over the pairs in each bin
 * are then sent along: of points of data with each other, or with those of data2; with nk and ng
 * those of data2 carry the field, and random, if it is there, stands for data. Fields are averaged
 * by angle; astrotpacf makes xi, xi+ and xi-, or gamma_t of them.
 *
 * |[
 * gst-launch-1.0 astrohistogram name=h fields=gg regions=20 max-angle=200 ! astrotpacf ! \
 *   astrofitssink location=xi.fits \
 *   astrofitssrc location=shapes.fits g1-column=E1 g2-column=E2 weight-column=W ! h.data
 * ]|
 *
 * On a GPU (backend=cuda, or auto where there is one) the counts equal the CPU's to the last pair.
 * The CPU prepares a random catalogue while the GPU counts the one before it, so a histogram is
 * complete only when it is sent. Sums of weights are added in any order and may differ in their
 * last digits from run to run.
 *
 * With devices=0,1 or all, GPUs share each count: pairs of parts of the sky are dealt out to them,
 * a GPU that is done helps slower ones, and counts are added up once a catalogue. They are the same
 * as those of one GPU to the last pair.
 *
 * With share=RANK/RANKS this element counts a part of the pairs, and so many of them together, with
 * the same catalogues and settings, count each pair once; astroreduce (in the processes of an MPI
 * job) or astroadd adds up their histograms, which are the same as that of one element to the last
 * pair. Random catalogues are dealt out whole as far as each process gets equally many, if their
 * source knows how many there are; the rest, and the pairs of the data, are shared by parts of the
 * sky.
 *
 * |[
 * mpirun -n 2 sh -c 'gst-launch-1.0 astrohistogram name=h share=$OMPI_COMM_WORLD_RANK/2 ! \
 *   astroreduce ! astrotpacf ! astrofitssink location=w.fits astrocatsrc ! h.data \
 *   astrocatsrc catalogues=10 seed=2 ! h.random'
 * ]|
 *
 * An event astro-interrupt from downstream, which gst-astro sends at Ctrl-C, ends the count in
 * progress. The histogram is then that of the random catalogues counted before, and a warning says
 * so; if there is none yet, the stream ends with an error.
 */
#include "config.h"
#include "core/backend/budget.h"
#include "core/histogram/check.h"
#include "core/kit/share.h"
#include "core/memory/memory.h"
#include "elements/astrohistogram-parts.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroinputs.h"
#include "elements/base/astroonce.h"
#include "elements/base/astroplan.h"
#include "elements/base/astrostage.h"

G_DEFINE_TYPE(AstroHistogram, astro_histogram, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE(astrohistogram, "astrohistogram", GST_RANK_NONE, ASTRO_TYPE_HISTOGRAM)

GstFlowReturn astro_histogram_fail(AstroHistogram *self, GError *error)
{
  gboolean cancelled =
      g_error_matches(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
  if (!cancelled)
    GST_ELEMENT_ERROR(self, STREAM, FAILED, ("%s", error->message), (NULL));
  g_error_free(error);
  return cancelled ? ASTRO_HISTOGRAM_CANCELLED : GST_FLOW_ERROR;
}

static void forget(AstroHistogram *self)
{
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++) {
    g_autoptr(AstroCataloguePad) pad = astro_histogram_find_pad(self, side);
    g_mutex_lock(&self->lock);
    astro_held_clear(&self->data[side]);
    g_mutex_unlock(&self->lock);
    if (pad)
      g_atomic_int_set(&pad->flushed, FALSE);
  }
  g_clear_pointer(&self->collector, astro_collector_free);
  for (guint t = 0; t < G_N_ELEMENTS(self->tables); t++)
    g_clear_pointer(&self->tables[t], pair_table_free);
  astro_histogram_devices_clear(&self->devices);
  self->n_random = 0;
  self->limit = (AstroHeldLimit){ 0 };
  self->announced = FALSE;
  self->progress = (AstroCountProgress){ 0 };
}

/* Called when every pad holds a buffer or is at EOS. An interrupt may have brought a source to its
 * end in the middle of the data, which must then not be counted as if complete. */
static GstFlowReturn aggregate(AstroHistogram *self)
{
  if (g_atomic_int_exchange(&self->flushed, FALSE))
    forget(self);
  GstFlowReturn flow = g_atomic_int_get(&self->interrupted) ? ASTRO_HISTOGRAM_CANCELLED
                                                            : astro_histogram_count_next(self);
  if (flow != ASTRO_HISTOGRAM_CANCELLED)
    return flow;
  return astro_histogram_is_over(self) ? GST_FLOW_FLUSHING
                                       : astro_histogram_finish_interrupted(self);
}

static GstFlowReturn astro_histogram_aggregate(GstAggregator *aggregator, gboolean timeout)
{
  AstroHistogram *self = ASTRO_HISTOGRAM(aggregator);
  g_mutex_lock(&self->work);
  const GstFlowReturn flow = self->is_stopped ? GST_FLOW_FLUSHING : aggregate(self);
  g_mutex_unlock(&self->work);
  return flow;
}

/* ---- pads ---- */

/* The next catalogue on the pad need not follow the one before. */
static void begin_anew(AstroHistogram *self, AstroCataloguePad *pad)
{
  g_mutex_lock(&self->lock);
  pad->counts = FALSE;
  g_mutex_unlock(&self->lock);
}

static void forget_pad(GstAggregator *aggregator, AstroCataloguePad *pad)
{
  AstroHistogram *self = ASTRO_HISTOGRAM(aggregator);

  begin_anew(self, pad);
  g_mutex_lock(&self->lock);
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    if (g_str_equal(astro_side_name(side), GST_PAD_NAME(pad)))
      astro_held_clear(&self->data[side]);
  g_mutex_unlock(&self->lock);
}

/* Catalogues end before a plan knows how many points they have. */
static void tell_work(AstroHistogram *self)
{
  const AstroPlanStreams streams = { .stage = "histogram",
                                     .backend = astro_backend_kind_name(self->settings.backend) };
  const AstroWork work = { .besides = "separations of pairs, as many as the points of catalogues "
                                      "make" };
  astro_plan_post(GST_ELEMENT(self), &streams, FALSE, &work);
}

static gboolean astro_histogram_sink_event(GstAggregator *aggregator, GstAggregatorPad *pad,
                                           GstEvent *event)
{
  GError *error = NULL;
  GstCaps *caps;

  /* Catalogues have no times, so GAP events tell nothing; lost ones show in their numbers. */
  if (GST_EVENT_TYPE(event) == GST_EVENT_GAP) {
    gst_event_unref(event);
    return TRUE;
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT || GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START)
    begin_anew(ASTRO_HISTOGRAM(aggregator), ASTRO_CATALOGUE_PAD(pad));
  if (gst_event_has_name(event, ASTRO_PLAN_END))
    tell_work(ASTRO_HISTOGRAM(aggregator));
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    gst_event_parse_caps(event, &caps);
    if (!astro_catalogue_pad_read_caps(ASTRO_CATALOGUE_PAD(pad), caps, &error)) {
      astro_histogram_fail(ASTRO_HISTOGRAM(aggregator), error);
      gst_event_unref(event);
      return FALSE;
    }
  }
  return GST_AGGREGATOR_CLASS(astro_histogram_parent_class)->sink_event(aggregator, pad, event);
}

/* GstAggregator accepts a seek that no source follows, and then waits for a flush forever. */
static gboolean astro_histogram_src_event(GstAggregator *aggregator, GstEvent *event)
{
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEEK &&
      !astro_inputs_can_seek(GST_ELEMENT(aggregator), event)) {
    gst_event_unref(event);
    return FALSE;
  }
  if (gst_event_has_name(event, ASTRO_INTERRUPT_EVENT))
    g_atomic_int_set(&ASTRO_HISTOGRAM(aggregator)->interrupted, TRUE);
  return GST_AGGREGATOR_CLASS(astro_histogram_parent_class)->src_event(aggregator, event);
}

/* The parts of a split catalogue count as one each. */
static gboolean answer_duration(AstroHistogram *self, GstQuery *query)
{
  g_auto(AstroHistogramSettings) settings;
  gint64 duration;
  if (!astro_inputs_answer_duration(GST_ELEMENT(self), query))
    return FALSE;
  astro_histogram_settings_copy(self, &settings, &self->settings);
  gst_query_parse_duration(query, NULL, &duration);
  if (duration > 0 && duration <= G_MAXINT64 / settings.split)
    gst_query_set_duration(query, GST_FORMAT_TIME, duration * settings.split);
  return TRUE;
}

/* A random catalogue counts as a second. The default asks any pad, which may be a data pad. */
static gboolean astro_histogram_src_query(GstAggregator *aggregator, GstQuery *query)
{
  GstFormat format = GST_FORMAT_UNDEFINED;
  if (GST_QUERY_TYPE(query) == GST_QUERY_DURATION)
    gst_query_parse_duration(query, &format, NULL);
  return format == GST_FORMAT_TIME
             ? answer_duration(ASTRO_HISTOGRAM(aggregator), query)
             : GST_AGGREGATOR_CLASS(astro_histogram_parent_class)->src_query(aggregator, query);
}

static GstAggregatorPad *astro_histogram_create_new_pad(GstAggregator *aggregator,
                                                        GstPadTemplate *template, const char *name,
                                                        const GstCaps *caps)
{
  const char *wanted = GST_PAD_TEMPLATE_NAME_TEMPLATE(template);
  g_autoptr(GstPad) there = gst_element_get_static_pad(GST_ELEMENT(aggregator), wanted);
  if (there)
    return NULL; /* one of each */
  AstroCataloguePad *pad = g_object_new(ASTRO_TYPE_CATALOGUE_PAD, "name", wanted, "direction",
                                        GST_PAD_SINK, "template", template, NULL);
  pad->forget = forget_pad;
  return GST_AGGREGATOR_PAD(pad);
}

/* Caps are set with the first histogram, because they name its kinds of pairs. */
static gboolean astro_histogram_negotiate(GstAggregator *aggregator)
{
  return TRUE;
}

/* ---- states ---- */

static gboolean start(AstroHistogram *self)
{
  AstroHistogramConfig config;
  g_auto(AstroHistogramSettings) settings;
  GError *error = NULL;
  astro_histogram_settings_copy(self, &settings, &self->settings);
  g_atomic_int_set(&self->stopping, FALSE);
  g_atomic_int_set(&self->flushing, FALSE);
  g_atomic_int_set(&self->flushed, FALSE);
  g_atomic_int_set(&self->interrupted, FALSE);
  if (!astro_share_read(settings.share, &self->rank, &self->ranks, &error) ||
      !astro_histogram_settings_config(&settings, &config, &error) ||
      !astro_memory_budget(settings.max_memory, &self->budget, &error) ||
      !astro_histogram_shape(&config, &error)) {
    GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
    g_error_free(error);
    return FALSE;
  }
  /* If GPUs were asked for by name and there are none, fail now, not when the data is there. */
  if (astro_histogram_devices_check(&settings, &error))
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
  g_error_free(error);
  return FALSE;
}

static gboolean astro_histogram_start(GstAggregator *aggregator)
{
  AstroHistogram *self = ASTRO_HISTOGRAM(aggregator);
  g_mutex_lock(&self->work);
  const gboolean ok = start(self);
  self->is_stopped = !ok;
  g_mutex_unlock(&self->work);
  return ok;
}

/* If a flush ends after the source pad was stopped and before the others are, it starts the thread
 * that counts again; GstAggregator ends that after calling this. */
static gboolean astro_histogram_stop(GstAggregator *aggregator)
{
  AstroHistogram *self = ASTRO_HISTOGRAM(aggregator);
  g_mutex_lock(&self->work);
  self->is_stopped = TRUE;
  forget(self);
  g_mutex_unlock(&self->work);
  return TRUE;
}

/* Another thread may be counting while states change, and it alone may free the counts: so this
 * only sets a flag. */
static GstFlowReturn astro_histogram_flush(GstAggregator *aggregator)
{
  AstroHistogram *self = ASTRO_HISTOGRAM(aggregator);
  g_atomic_int_set(&self->flushed, TRUE);
  g_atomic_int_set(&self->interrupted, FALSE);
  return GST_FLOW_OK;
}

/* When all pads are flushed, GstAggregator sends FLUSH_START on, waits for the thread that counts,
 * and sends FLUSH_STOP before that thread begins again. */
static GstPadProbeReturn note_flush(GstPad *pad, GstPadProbeInfo *info, gpointer self)
{
  g_atomic_int_set(&ASTRO_HISTOGRAM(self)->flushing,
                   GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_FLUSH_START);
  return GST_PAD_PROBE_OK;
}

static GstStateChangeReturn astro_histogram_change_state(GstElement *element,
                                                         GstStateChange transition)
{
  /* ends the count before the base class waits for the thread that does it */
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    g_atomic_int_set(&ASTRO_HISTOGRAM(element)->stopping, TRUE);
  return GST_ELEMENT_CLASS(astro_histogram_parent_class)->change_state(element, transition);
}

/* ---- properties ---- */

static void get_stats(GObject *object, GValue *value)
{
  AstroHistogram *self = ASTRO_HISTOGRAM(object);
  GST_OBJECT_LOCK(self);
  g_value_take_boxed(
      value, gst_structure_new("astro-pairs", "counted-pairs", G_TYPE_UINT64, self->pairs, NULL));
  GST_OBJECT_UNLOCK(self);
}

static const AstroField fields[] = {
  { ASTRO_FIELD_SAYS(STRUCTURE, "stats", "Statistics",
                     "Pairs at any separation that this element has counted, without those of "
                     "other shares (counted-pairs), up to the last histogram"),
    .get = get_stats },
  ASTRO_TEXT(AstroHistogram, active_backend, "active-backend", "Active backend",
             "Backend that computes the counts now", NULL, .when = ASTRO_WHEN_NEVER),
  { 0 },
};

static void astro_histogram_finalize(GObject *object)
{
  AstroHistogram *self = ASTRO_HISTOGRAM(object);
  forget(self);
  g_mutex_clear(&self->lock);
  g_mutex_clear(&self->work);
  G_OBJECT_CLASS(astro_histogram_parent_class)->finalize(object);
}

static void astro_histogram_init(AstroHistogram *self)
{
  g_mutex_init(&self->lock);
  g_mutex_init(&self->work);
  gst_pad_add_probe(GST_AGGREGATOR_SRC_PAD(self), GST_PAD_PROBE_TYPE_EVENT_FLUSH, note_flush, self,
                    NULL);
  astro_fields_set_defaults(self);
}

static void astro_histogram_class_init(AstroHistogramClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstAggregatorClass *aggregator = GST_AGGREGATOR_CLASS(klass);
  astro_fields_install(object, astro_histogram_settings_fields,
                       G_STRUCT_OFFSET(AstroHistogram, settings));
  astro_fields_install(object, fields, 0);
  object->finalize = astro_histogram_finalize;
  element->change_state = astro_histogram_change_state;
  aggregator->start = astro_histogram_start;
  aggregator->stop = astro_histogram_stop;
  aggregator->flush = astro_histogram_flush;
  aggregator->negotiate = astro_histogram_negotiate;
  aggregator->create_new_pad = astro_histogram_create_new_pad;
  aggregator->sink_event = astro_histogram_sink_event;
  aggregator->src_event = astro_histogram_src_event;
  aggregator->src_query = astro_histogram_src_query;
  aggregator->aggregate = astro_histogram_aggregate;
  g_autoptr(GstCaps) sink =
      gst_caps_new_empty_simple(astro_quantity_media_type(ASTRO_QUANTITY_CATALOGUE));
  g_autoptr(GstCaps) src =
      gst_caps_new_empty_simple(astro_quantity_media_type(ASTRO_QUANTITY_HISTOGRAM));
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    gst_element_class_add_pad_template(
        element, gst_pad_template_new_with_gtype(astro_side_name(side), GST_PAD_SINK,
                                                 GST_PAD_REQUEST, sink, ASTRO_TYPE_CATALOGUE_PAD));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new_with_gtype("src", GST_PAD_SRC, GST_PAD_ALWAYS, src,
                                               GST_TYPE_AGGREGATOR_PAD));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(element, "Pair counter", "Filter/Catalogue",
                                        "Counts pairs of points on the sky by their separation",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      element, "takes",
      "catalogues F64LE: column:point with columns ra, dec and perhaps weight, region, distance, "
      "k, g1 and g2");
  gst_element_class_add_static_metadata(
      element, "gives",
      "histograms U64LE, with weights F64LE: pairs:bin, or pairs:region:region:bin with "
      "regions; in space also the axis mu or pi; with fields F64LE, and more kinds of pairs");
}
