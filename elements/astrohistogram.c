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
#include "elements/astrohistogram.h"

#include "core/backend/budget.h"
#include "core/histogram/budget.h"
#include "core/histogram/check.h"
#include "core/histogram/from-catalogues.h"
#include "core/kit/share.h"
#include "core/lib/catalogue/split.h"
#include "core/memory/memory.h"
#include "core/stream/stream.h"
#include "elements/astrohistogram-devices.h"
#include "elements/astrohistogram-pad.h"
#include "elements/base/astrofields.h"
#include "elements/astrohistogram-progress.h"
#include "elements/astrohistogram-settings.h"
#include "elements/base/astroinputs.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astroplan.h"
#include "elements/base/astrostage.h"
#include "elements/base/astrowork.h"

#include <string.h>

struct _AstroHistogram {
  GstAggregator parent;
  AstroHistogramSettings settings;
  char *active_backend;

  GMutex work;                      /* held while it counts and sends; taken before lock */
  gboolean is_stopped;              /* under it, as all that counts */
  GMutex lock;                      /* of data: a pad may be flushed at any time */
  AstroHeld data[ASTRO_N_SIDES];    /* read from the data pads so far */
  guint64 budget;                   /* bytes, found at the start */
  AstroHeldLimit limit;             /* of a catalogue in memory */
  AstroCollector *collector;        /* made once the data is complete */
  PairTable *tables[2];             /* of weights of pairs, which the collector looks at */
  gboolean is_there[ASTRO_N_SIDES]; /* which pads existed when it was made */
  AstroHistogramDevices devices;
  guint64 n_random;
  guint64 pairs; /* counted here up to the last histogram; under the object's lock */
  /* the collector's settings: copies of the properties */
  AstroHistogramConfig config;
  guint interval, split;
  guint rank, ranks;  /* its share of the counts */
  guint64 n_whole;    /* random catalogues that are dealt out whole */
  gboolean announced; /* caps are set */
  gint stopping;      /* atomic: ends the count in progress, as do the next three */
  gint flushed;       /* atomic: all counts are dropped before the next catalogue */
  gint flushing;      /* atomic: from FLUSH_START on all pads to FLUSH_STOP */
  gint interrupted;   /* atomic: no further count begins */

  AstroCountProgress progress;
};

G_DEFINE_TYPE(AstroHistogram, astro_histogram, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE(astrohistogram, "astrohistogram", GST_RANK_NONE, ASTRO_TYPE_HISTOGRAM)

#define FLOW_CANCELLED GST_FLOW_CUSTOM_ERROR /* never returned to the base class */

static GstFlowReturn fail(AstroHistogram *self, GError *error)
{
  gboolean cancelled =
      g_error_matches(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
  if (!cancelled)
    GST_ELEMENT_ERROR(self, STREAM, FAILED, ("%s", error->message), (NULL));
  g_error_free(error);
  return cancelled ? FLOW_CANCELLED : GST_FLOW_ERROR;
}

/* ---- configuration ---- */

/* Returns a reference, since a pad may be released while this element aggregates. */
static AstroCataloguePad *find_pad(AstroHistogram *self, AstroSide side)
{
  GstPad *pad = gst_element_get_static_pad(GST_ELEMENT(self), astro_side_name(side));
  return (AstroCataloguePad *)pad;
}

static gboolean has_pad(AstroHistogram *self, AstroSide side)
{
  g_autoptr(AstroCataloguePad) pad = find_pad(self, side);
  return pad != NULL;
}

#define WEIGHT 2 /* the place of weights among columns */

static guint words_of(const AstroCataloguePad *pad)
{
  guint n = 0;
  for (guint w = 0; w < ASTRO_CATALOGUE_WORDS && pad && pad->places.n > 0; w++)
    n += pad->places.place[ASTRO_COLUMN_FIRST_WORD + w] >= 0;
  return n;
}

/* The bins, with the sides that there are, and weights if a catalogue has any. */
static gboolean make_config(AstroHistogram *self, const AstroHistogramSettings *settings,
                            AstroHistogramConfig *config, GError **error)
{
  guint n_words = 0;
  if (!astro_histogram_settings_config(settings, config, error))
    return FALSE;
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++) {
    g_autoptr(AstroCataloguePad) pad = find_pad(self, side);
    self->is_there[side] = pad != NULL;
    config->weighted |= pad && pad->places.n > 0 && pad->places.place[WEIGHT] >= 0;
    n_words = MAX(n_words, words_of(pad));
  }
  astro_histogram_settings_weigh(settings, n_words, config);
  return TRUE;
}

/* How much memory a catalogue may take, found before the first of them is read. */
static gboolean share_memory(AstroHistogram *self, GError **error)
{
  AstroHistogramConfig config;
  g_auto(AstroHistogramSettings) settings = { 0 };
  if (self->limit.bytes > 0)
    return TRUE;
  astro_histogram_settings_copy(self, &settings, &self->settings);
  return make_config(self, &settings, &config, error) &&
         astro_histogram_share(&config, self->is_there, astro_histogram_devices_count(&settings),
                               self->budget, &self->limit, error);
}

/* Random catalogues that can be dealt out evenly, by what their source says. */
static guint64 find_whole(AstroHistogram *self)
{
  g_autoptr(AstroCataloguePad) pad = find_pad(self, ASTRO_SIDE_RANDOM);
  gint64 duration = 0;
  if (!pad || self->ranks < 2 ||
      !gst_pad_peer_query_duration(GST_PAD(pad), GST_FORMAT_TIME, &duration) || duration <= 0)
    return 0;
  const guint64 all = (guint64)duration / GST_SECOND * self->split;
  return all - all % self->ranks;
}

static gboolean read_table(const char *path, PairTable **table, GError **error)
{
  g_clear_pointer(table, pair_table_free);
  return !astro_field_given(path) || (*table = pair_table_read(path, error));
}

static gboolean make_collector(AstroHistogram *self, GError **error)
{
  AstroHistogramConfig config;
  g_auto(AstroHistogramSettings) settings;
  g_autofree char *why = NULL;
  astro_histogram_settings_copy(self, &settings, &self->settings);
  if (!make_config(self, &settings, &config, error))
    return FALSE;
  if (!astro_histogram_devices_open(&self->devices, &settings, &config, &why, error))
    return FALSE;
  const AstroHistogramDevices *devices = &self->devices;
  self->config = config;
  if (!read_table(settings.dd_twopoint_weights, &self->tables[0], error) ||
      !read_table(settings.dr_twopoint_weights, &self->tables[1], error))
    return FALSE;
  self->interval = settings.interval;
  self->split = settings.split;
  if (!astro_share_read(settings.share, &self->rank, &self->ranks, error))
    return FALSE;
  self->n_whole = find_whole(self);
  self->collector =
      astro_collector_new(&config, self->is_there, devices->backend, &devices->places[0], error);
  if (!self->collector)
    return FALSE;
  astro_collector_share(self->collector, devices->places, devices->n);
  astro_collector_set_tables(self->collector, self->tables[0], self->tables[1]);
  astro_collector_set_limit(self->collector, &self->limit);
  astro_collector_deal(self->collector, self->rank, self->ranks);
  for (guint i = 0; i < devices->n; i++)
    astro_work_log(self, devices->backend, astro_collector_variant(self->collector),
                   devices->places[i].device, settings.threads, why);
  return TRUE;
}

static void set_active_backend(AstroHistogram *self)
{
  const char *variant = astro_collector_variant(self->collector);
  GST_OBJECT_LOCK(self);
  g_free(self->active_backend); /* from before a flush */
  self->active_backend =
      variant && !g_str_equal(variant, "reference")
          ? g_strconcat(astro_backend_kind_name(self->devices.backend->kind), "/", variant, NULL)
          : g_strdup(variant);
  GST_OBJECT_UNLOCK(self);
  g_object_notify(G_OBJECT(self), "active-backend");
}

/* ---- counts ---- */

/* Whether the stream was stopped or flushed, so that no result is wanted. */
static gboolean is_over(AstroHistogram *self)
{
  return g_atomic_int_get(&self->stopping) || g_atomic_int_get(&self->flushing);
}

static gboolean is_unwanted(gpointer self)
{
  return is_over(self) || g_atomic_int_get(&ASTRO_HISTOGRAM(self)->interrupted);
}

static gboolean watch_count(guint64 done, guint64 total, gpointer data)
{
  AstroHistogram *self = data;
  const char *kind = astro_collector_kind(self->collector);
  astro_count_progress_note(&self->progress, kind, g_str_equal(kind, "dd") ? 0 : self->n_random + 1,
                            done, total);
  return !is_unwanted(self);
}

/* ---- catalogues in, histograms out ---- */

/* Refuses catalogues that come too late to be counted: on a pad requested or flushed after counting
 * has begun. */
static gboolean check_time(const AstroHistogram *self, AstroSide side, gboolean was_flushed,
                           GError **error)
{
  const gboolean is_data = side == ASTRO_SIDE_DATA || side == ASTRO_SIDE_DATA2;
  if (!self->collector || (self->is_there[side] && !is_data && !(was_flushed && self->n_random)))
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "pad %s: a catalogue came after counting had begun, too late to be "
                             "counted: expected %s",
                             astro_side_name(side),
                             is_data       ? "all data earlier"
                             : was_flushed ? "all pads to be flushed together"
                                           : "the pad to be requested earlier");
}

/* A random catalogue that is split, and its part, share what one may take. */
static AstroHeldLimit limit_of(const AstroHistogram *self, AstroSide side)
{
  const gboolean is_split =
      self->split > 1 && (side == ASTRO_SIDE_RANDOM || side == ASTRO_SIDE_RANDOM2);
  return (AstroHeldLimit){ .bytes = self->limit.bytes / (is_split ? 2 : 1),
                           .of_a_point = self->limit.of_a_point };
}

/* Adds the pad's buffer to the catalogue. FALSE without an error: the pad has none. */
static gboolean take(AstroHistogram *self, AstroSide side, AstroHeld *held, GError **error)
{
  g_autoptr(AstroCataloguePad) pad = find_pad(self, side);
  const AstroHeldLimit limit = limit_of(self, side);
  if (!pad)
    return FALSE;
  g_mutex_lock(&self->lock);
  g_autoptr(GstBuffer) buffer = gst_aggregator_pad_pop_buffer(GST_AGGREGATOR_PAD(pad));
  gboolean taken = buffer &&
                   check_time(self, side, g_atomic_int_exchange(&pad->flushed, FALSE), error) &&
                   astro_catalogue_pad_check_place(pad, buffer, error) &&
                   astro_buffer_align(&buffer, NULL, ASTRO_SAMPLES_ALIGN, error) &&
                   astro_catalogue_pad_append(pad, buffer, &limit, held, error);
  g_mutex_unlock(&self->lock);
  return taken;
}

/* A buffer marked as GAP holds no catalogue. */
static gboolean drop_gaps(AstroHistogram *self)
{
  gboolean dropped = FALSE;
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++) {
    g_autoptr(AstroCataloguePad) pad = find_pad(self, side);
    g_autoptr(GstBuffer) buffer =
        pad ? gst_aggregator_pad_peek_buffer(GST_AGGREGATOR_PAD(pad)) : NULL;
    if (buffer && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP))
      dropped |= gst_aggregator_pad_drop_buffer(GST_AGGREGATOR_PAD(pad));
  }
  return dropped;
}

/* "pairs:region:region:bin:mu", with those axes that there are. */
static void set_layout(const AstroHistogramConfig *config, GstCaps *caps)
{
  static const char *const columns[] = { [ASTRO_BINNING_SMU] = "mu", [ASTRO_BINNING_RPPI] = "pi" };
  const gboolean in_space = config->kind != ASTRO_BINNING_ANGULAR;
  const char *column = in_space ? columns[config->kind] : "";
  g_autofree char *layout = g_strconcat("pairs:", config->n_regions > 1 ? "region:region:" : "",
                                        "bin", in_space ? ":" : "", column, NULL);
  gst_caps_set_simple(caps, "layout", G_TYPE_STRING, layout, "bins", G_TYPE_INT,
                      (gint)config->n_edges - 1, NULL);
  if (config->n_regions > 1)
    gst_caps_set_simple(caps, "regions", G_TYPE_INT, (gint)config->n_regions, NULL);
  if (in_space) {
    g_autofree char *field = g_strconcat(column, "-bins", NULL);
    gst_caps_set_simple(caps, field, G_TYPE_INT, (gint)config->n_columns, NULL);
  }
}

static gboolean set_caps(AstroHistogram *self)
{
  gboolean weighted = astro_collector_is_weighted(self->collector);
  g_autofree char *kinds = astro_collector_kinds(self->collector);
  g_autoptr(GstCaps) caps = gst_caps_new_simple(
      astro_quantity_media_type(ASTRO_QUANTITY_HISTOGRAM), "format", G_TYPE_STRING,
      weighted ? "F64LE" : "U64LE", "pairs", G_TYPE_STRING, kinds, NULL);
  set_layout(&self->config, caps);
  gst_aggregator_set_src_caps(GST_AGGREGATOR(self), caps);
  astro_log_caps(self, NULL, caps);
  return TRUE;
}

/* Waits until a device has finished counting. */
static GstFlowReturn settle(AstroHistogram *self)
{
  GError *error = NULL;
  return astro_collector_is_complete(self->collector, &error) &&
                 astro_collector_finish(self->collector, &error)
             ? GST_FLOW_OK
             : fail(self, error);
}

/* Random catalogues of the two sides have to come in pairs. */
static GstFlowReturn miss_random(AstroHistogram *self, gboolean has_one)
{
  AstroSide more = has_one ? ASTRO_SIDE_RANDOM : ASTRO_SIDE_RANDOM2,
            fewer = has_one ? ASTRO_SIDE_RANDOM2 : ASTRO_SIDE_RANDOM;
  return fail(self, g_error_new(ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                                "pad %s ended after %" G_GUINT64_FORMAT
                                " catalogues, and pad %s has more: expected equal numbers",
                                astro_side_name(fewer), self->n_random, astro_side_name(more)));
}

static GstFlowReturn push(AstroHistogram *self)
{
  AstroSummary summary;
  gsize bytes;
  if (!self->announced)
    self->announced = set_caps(self);
  GST_OBJECT_LOCK(self);
  self->pairs = astro_collector_n_pairs(self->collector);
  GST_OBJECT_UNLOCK(self);
  astro_collector_summary(self->collector, &summary);
  gst_pad_push_event(GST_AGGREGATOR_SRC_PAD(self), astro_summary_to_event(&summary));
  astro_summary_clear(&summary);
  gconstpointer values = astro_collector_values(self->collector, &bytes);
  GstBuffer *buffer = gst_buffer_new_memdup(values, bytes);
  GST_BUFFER_OFFSET(buffer) = self->n_random;
  GST_BUFFER_PTS(buffer) = self->n_random * GST_SECOND;
  GstFlowReturn flow = gst_aggregator_finish_buffer(GST_AGGREGATOR(self), buffer);
  if (flow == GST_FLOW_NOT_NEGOTIATED) {
    g_autoptr(GstCaps) made = gst_pad_get_current_caps(GST_AGGREGATOR_SRC_PAD(self));
    astro_refused_caps(GST_AGGREGATOR_SRC_PAD(self), made, "histograms");
  }
  return flow;
}

/* Negative weights are accepted, but few people mean them. */
static void warn_of_negative_weights(AstroHistogram *self)
{
  static const AstroSide sides[] = { ASTRO_SIDE_DATA, ASTRO_SIDE_DATA2 };
  for (guint i = 0; i < G_N_ELEMENTS(sides); i++) {
    const guint64 n = astro_collector_n_negative(self->collector, sides[i]);
    if (n > 0)
      GST_ELEMENT_WARNING(self, STREAM, FAILED,
                          ("the %s catalogue has weights below 0 at %" G_GUINT64_FORMAT
                           " points: their pairs are subtracted",
                           astro_side_name(sides[i]), n),
                          (NULL));
  }
}

/* A cross-correlation of a catalogue with itself is probably a mistake. */
static void warn_of_same(AstroHistogram *self, AstroSide side, const AstroHeld *first,
                         const AstroHeld *second)
{
  if (!astro_held_is_same(first, second))
    return;
  const char *name = astro_side_name(side);
  GST_ELEMENT_WARNING(
      self, STREAM, FAILED,
      ("pads %s and %s2 have the same catalogue of %" G_GUINT64_FORMAT
       " points: each point pairs with itself at angle 0, and all other pairs count twice. "
       "Expected different catalogues; for an auto-correlation use pads data and random alone",
       name, name, first->n),
      (NULL));
}

static void note_files(AstroHistogram *self, AstroSide side, const AstroHeld *held)
{
  if (held->spill)
    ASTRO_INFO(self,
               "the %s catalogue of %" G_GUINT64_FORMAT
               " points is counted in slices, from a temporary file of %.3g GB, as max-memory "
               "leaves it %" G_GUINT64_FORMAT " bytes",
               astro_side_name(side), held->n,
               (double)(held->n * astro_spill_n_columns(held->spill) * sizeof(double)) * 1e-9,
               self->limit.bytes);
}

static GstFlowReturn begin(AstroHistogram *self)
{
  GError *error = NULL;
  const AstroStop stop = { is_unwanted, self };
  AstroHistogramCall call = { watch_count, self, &stop };
  astro_count_progress_begin(&self->progress, GST_ELEMENT(self));
  g_mutex_lock(&self->lock);
  g_auto(AstroHeld) data = self->data[ASTRO_SIDE_DATA];
  g_auto(AstroHeld) data2 = self->data[ASTRO_SIDE_DATA2];
  memset(self->data, 0, sizeof self->data);
  g_mutex_unlock(&self->lock);
  warn_of_same(self, ASTRO_SIDE_DATA, &data, &data2);
  note_files(self, ASTRO_SIDE_DATA, &data);
  note_files(self, ASTRO_SIDE_DATA2, &data2);
  if (!make_collector(self, &error) ||
      !astro_collector_take_data(self->collector, &data, &data2, &call, &error))
    return fail(self, error);
  warn_of_negative_weights(self);
  set_active_backend(self);
  return GST_FLOW_OK;
}

static void deal_random(AstroHistogram *self)
{
  if (self->n_random >= self->n_whole)
    astro_collector_deal(self->collector, self->rank, self->ranks);
  else
    astro_collector_deal(self->collector, 0, self->n_random % self->ranks == self->rank);
}

static GstFlowReturn count_whole(AstroHistogram *self, AstroHeld *random, AstroHeld *random2)
{
  GError *error = NULL;
  const AstroStop stop = { is_unwanted, self };
  AstroHistogramCall call = { watch_count, self, &stop };
  astro_count_progress_next(&self->progress);
  deal_random(self);
  if (self->n_random == 0)
    warn_of_same(self, ASTRO_SIDE_RANDOM, random, random2);
  note_files(self, ASTRO_SIDE_RANDOM, random);
  note_files(self, ASTRO_SIDE_RANDOM2, random2);
  if (!astro_collector_take_random(self->collector, random, random2, &call, &error))
    return fail(self, error);
  self->n_random++;
  if (self->interval == 0 || self->n_random % self->interval != 0)
    return GST_FLOW_OK;
  GstFlowReturn flow = settle(self);
  return flow == GST_FLOW_OK ? push(self) : flow;
}

#define SPLIT_SEED 0x73706c69

/* A number of two bytes for every point says which part it is in (split.h). */
static gboolean has_room_to_split(const AstroHistogram *self, const AstroHeld *random,
                                  AstroSide side, GError **error)
{
  const guint64 needed = random->n * sizeof(guint16), room = limit_of(self, side).bytes;
  return !random->spill || needed <= room ||
         astro_backend_no_memory(error,
                                 "%" G_GUINT64_FORMAT " points take %" G_GUINT64_FORMAT
                                 " bytes to split, and max-memory has room for %" G_GUINT64_FORMAT
                                 ": expected more memory, or several smaller random catalogues",
                                 random->n, needed, room);
}

/* The parts of both sides have to be independent. A side without points has no parts, and its lack
 * is refused where the first part is counted. */
static AstroSplit *split_side(const AstroHistogram *self, const AstroHeld *random, AstroSide side,
                              GError **error)
{
  AstroSplit *split = NULL;
  if (random->n > 0 && has_room_to_split(self, random, side, error))
    split = astro_split_new(random->n, self->split, SPLIT_SEED + side, self->n_random, error);
  if (*error)
    g_prefix_error(error, "split=%u: the %s catalogue: ", self->split, astro_side_name(side));
  return split;
}

static gboolean take_part(const AstroHistogram *self, AstroSide side, const AstroSplit *split,
                          const AstroHeld *all, guint part, AstroHeld *held, GError **error)
{
  const AstroHeldLimit limit = limit_of(self, side);
  return !split || astro_split_held(split, all, &limit, part, held, error);
}

/* Each part of a random catalogue is counted as one. */
static GstFlowReturn count_random(AstroHistogram *self, AstroHeld *random, AstroHeld *random2)
{
  GError *error = NULL;
  if (self->split < 2)
    return count_whole(self, random, random2);
  g_autoptr(AstroSplit) split = split_side(self, random, ASTRO_SIDE_RANDOM, &error);
  g_autoptr(AstroSplit) split2 =
      error ? NULL : split_side(self, random2, ASTRO_SIDE_RANDOM2, &error);
  if (error)
    return fail(self, error);
  const AstroHeldLimit limit = limit_of(self, ASTRO_SIDE_RANDOM);
  astro_collector_set_limit(self->collector, &limit);
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint p = 0; p < self->split && flow == GST_FLOW_OK; p++) {
    g_auto(AstroHeld) part = { 0 };
    g_auto(AstroHeld) part2 = { 0 };
    if (take_part(self, ASTRO_SIDE_RANDOM, split, random, p, &part, &error) &&
        take_part(self, ASTRO_SIDE_RANDOM2, split2, random2, p, &part2, &error))
      flow = count_whole(self, &part, &part2);
    else
      flow = fail(self, error);
  }
  return flow;
}

static GstFlowReturn push_last(AstroHistogram *self)
{
  gboolean is_sent = self->interval && self->n_random > 0 && self->n_random % self->interval == 0;
  GstFlowReturn flow = is_sent ? GST_FLOW_OK : push(self);
  if (astro_flow_is_lost(flow)) /* sources have ended and would not notice */
    GST_ELEMENT_FLOW_ERROR(self, flow);
  return flow == GST_FLOW_OK ? GST_FLOW_EOS : flow;
}

static GstFlowReturn finish(AstroHistogram *self)
{
  GstFlowReturn flow = settle(self);
  if (flow != GST_FLOW_OK)
    return flow;
  astro_count_progress_end(&self->progress, GST_PROGRESS_TYPE_COMPLETE, "all pairs are counted");
  return push_last(self);
}

/* An unfinished count is no histogram, but counts with fewer random catalogues are one. */
static GstFlowReturn finish_interrupted(AstroHistogram *self)
{
  astro_count_progress_end(&self->progress, GST_PROGRESS_TYPE_CANCELED, "interrupted");
  self->n_random = self->collector ? astro_collector_n_random(self->collector) : 0;
  if (self->n_random == 0) {
    GST_ELEMENT_ERROR(self, STREAM, FAILED,
                      ("interrupted before all pairs were counted: no histogram was made"), (NULL));
    return GST_FLOW_ERROR;
  }
  GST_ELEMENT_WARNING(self, STREAM, FAILED,
                      ("interrupted: the histogram includes only the %" G_GUINT64_FORMAT
                       " random catalogues counted before",
                       self->n_random),
                      (NULL));
  return push_last(self);
}

static GstFlowReturn count_next(AstroHistogram *self)
{
  g_auto(AstroHeld) random = { 0 };
  g_auto(AstroHeld) random2 = { 0 };
  GError *error = NULL;
  if (drop_gaps(self))
    return GST_FLOW_OK;
  if (!share_memory(self, &error))
    return fail(self, error);
  gboolean more = take(self, ASTRO_SIDE_DATA, &self->data[ASTRO_SIDE_DATA], &error);
  more |= !error && take(self, ASTRO_SIDE_DATA2, &self->data[ASTRO_SIDE_DATA2], &error);
  if (error)
    return fail(self, error);
  if (more)
    return GST_FLOW_OK;
  GstFlowReturn flow = self->collector ? GST_FLOW_OK : begin(self);
  if (flow != GST_FLOW_OK)
    return flow;
  gboolean has_one = take(self, ASTRO_SIDE_RANDOM, &random, &error),
           has_two = !error && take(self, ASTRO_SIDE_RANDOM2, &random2, &error);
  gboolean wants_both = has_pad(self, ASTRO_SIDE_RANDOM) && has_pad(self, ASTRO_SIDE_RANDOM2);
  if (error)
    flow = fail(self, error);
  else if (!has_one && !has_two)
    flow = finish(self);
  else if (wants_both && has_one != has_two)
    flow = miss_random(self, has_one);
  else
    flow = count_random(self, &random, &random2);
  return flow;
}

static void forget(AstroHistogram *self)
{
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++) {
    g_autoptr(AstroCataloguePad) pad = find_pad(self, side);
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
  GstFlowReturn flow = g_atomic_int_get(&self->interrupted) ? FLOW_CANCELLED : count_next(self);
  if (flow != FLOW_CANCELLED)
    return flow;
  return is_over(self) ? GST_FLOW_FLUSHING : finish_interrupted(self);
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
      fail(ASTRO_HISTOGRAM(aggregator), error);
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
