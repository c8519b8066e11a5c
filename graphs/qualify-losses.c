/* Losses between a source and the stages behind it must be missing from the weights in a file:
 * exactly these and nothing else. */
#include "graphs/qualify-streams.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"
#include "graphs/qualify-play.h"

#include <glib/gstdio.h>
#include <gst/gst.h>

#define THINGS 1000 /* of which some are lost */
#define LOST 100
#define STATIONS 3
#define BASELINES (STATIONS * (STATIONS + 1) / 2)
#define MOST_WEIGHTS (THINGS * BASELINES)
#define SPECTRA 10      /* of a block */
#define INTEGRATION 100 /* spectra */
#define INTEGRATIONS (THINGS * SPECTRA / INTEGRATION)

typedef struct _Kind Kind;

typedef struct {
  const Kind *kind;
  gboolean lost[THINGS];
  guint next;                  /* thing that comes by */
  guint32 found[MOST_WEIGHTS]; /* of each step, and each value in it */
  char *trouble;
} Losses;

struct _Kind {
  const char *subject;
  const char *line;     /* its element named here gives out the things, one a buffer */
  const char *location; /* of the file */
  GstPadProbeCallback lose;
  guint steps, values; /* in the file */
  AstroAxis axis;      /* of the values; weights are the same along all others but time */
  guint per_step;      /* things in a step */
  /* The weight of a value if one of a step's things is lost: how many samples fewer it has. */
  guint (*missing)(guint thing, guint value);
  guint32 full;
};

/* The first and the last thing stay, so that the stream keeps its length. */
static void choose(Losses *losses, guint32 seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  for (guint n = 0; n < LOST;) {
    const guint at = (guint)g_rand_int_range(rand, 1, THINGS - 1);
    n += !losses->lost[at];
    losses->lost[at] = TRUE;
  }
}

/* ---- losing ---- */

static gboolean is_lost(Losses *losses)
{
  const guint at = losses->next++;
  return at < THINGS && losses->lost[at];
}

static GstPadProbeReturn drop(GstPad *pad, GstPadProbeInfo *info, gpointer losses)
{
  return is_lost(losses) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

/* One station after another is the one that is lost in a block. */
static guint station_of(guint thing)
{
  return thing % STATIONS;
}

static GstPadProbeReturn lose_station(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Losses *losses = data;
  static const AstroLayout shape = { 1, { ASTRO_AXIS_STATION }, { STATIONS } };
  const guint thing = losses->next;
  if (!is_lost(losses))
    return GST_PAD_PROBE_OK;
  info->data = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  AstroValidityMeta *meta = astro_buffer_add_validity(GST_PAD_PROBE_INFO_BUFFER(info), &shape, 1);
  meta->counts[station_of(thing)] = 0;
  return GST_PAD_PROBE_OK;
}

/* ---- what is missing ---- */

static guint block_missing(guint thing, guint value)
{
  return SPECTRA;
}

/* Baselines (i, j), j <= i, follow one another. */
static guint station_missing(guint thing, guint value)
{
  guint i = 0;
  while (value > i)
    value -= ++i;
  return i == station_of(thing) || value == station_of(thing) ? SPECTRA : 0;
}

static guint dump_missing(guint thing, guint value)
{
  return G_MAXUINT;
}

#define VOLTAGES(stations, pols)                                                                   \
  "astroskysrc stations=" stations " pols=" pols                                                   \
  " bandwidth=640000 block-steps=640 duration=1 ! application/x-astro-voltages,format=CI8 "
#define POWER "! astrochannelizer channels=64 taps=1 ! astropower products=I integration=100 "

static const Kind kinds[] = {
  { "blocks of voltages", VOLTAGES("2", "2") "! identity name=loses " POWER, "losses.fits", drop,
    INTEGRATIONS, 1, ASTRO_AXIS_STATION, INTEGRATION / SPECTRA, block_missing, INTEGRATION },
  { "packets",
    VOLTAGES("1", "1") "! astropay packet=vdif packet-steps=640 ! identity name=loses "
                       "! astrodepay packet=vdif rate=640000 " POWER,
    "losses.fits", drop, INTEGRATIONS, 1, ASTRO_AXIS_STATION, INTEGRATION / SPECTRA, block_missing,
    INTEGRATION },
  { "stations",
    VOLTAGES("3", "2") "! identity name=loses ! astrochannelizer channels=64 taps=1 "
                       "! astrotranspose ! astrocorrelator integration=100 ",
    "losses.uvfits", lose_station, INTEGRATIONS, BASELINES, ASTRO_AXIS_BASELINE,
    INTEGRATION / SPECTRA, station_missing, INTEGRATION },
  { "dumps of visibilities",
    "astrovissrc name=loses stations=3 channels=2 integration=1 duration=1000 ", "losses.uvfits",
    drop, THINGS, BASELINES, ASTRO_AXIS_BASELINE, 1, dump_missing, 0 },
};

/* ---- the file ---- */

/* Weights of a step; a buffer without counts has all samples. */
static void read_step(Losses *losses, const AstroValidityMeta *meta, const AstroLayout *shape,
                      guint64 in_buffer, guint64 step)
{
  const Kind *kind = losses->kind;
  const gint time = astro_layout_find(shape, ASTRO_AXIS_TIME),
             axis = astro_layout_find(shape, kind->axis);
  for (guint value = 0; value < kind->values; value++) {
    guint64 index[ASTRO_MAX_AXES] = { 0 };
    if (time >= 0)
      index[time] = in_buffer;
    if (axis >= 0)
      index[axis] = value;
    losses->found[step * kind->values + value] =
        meta && meta->counts ? astro_validity_at(meta, shape, index) : MAX(kind->full, 1);
  }
}

static GstPadProbeReturn collect(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Losses *losses = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  AstroStream stream;
  AstroLayout shape;
  guint64 steps;
  if (!caps || !astro_stream_from_caps(&stream, caps, NULL) ||
      !astro_stream_steps(&stream, gst_buffer_get_size(buffer), &steps, NULL))
    return GST_PAD_PROBE_OK;
  astro_stream_shape(&stream, steps, &shape);
  for (guint64 i = 0; i < steps && GST_BUFFER_OFFSET(buffer) + i < losses->kind->steps; i++)
    read_step(losses, astro_buffer_get_validity(buffer), &shape, i, GST_BUFFER_OFFSET(buffer) + i);
  return GST_PAD_PROBE_OK;
}

static void record_and_read(Losses *losses, const char *file)
{
  const AstroQualifyPlay record = {
    .element = "loses", .pad = "src", .probe = losses->kind->lose, .data = losses
  };
  const AstroQualifyPlay read = {
    .element = "end", .pad = "sink", .probe = collect, .data = losses
  };
  g_autofree char *to = g_strdup_printf("%s! astrofitssink location=%s", losses->kind->line, file);
  g_autofree char *from =
      g_strdup_printf("astrofitssrc location=%s ! fakesink name=end async=false sync=false", file);
  losses->trouble = astro_qualify_play(to, &record);
  if (!losses->trouble)
    losses->trouble = astro_qualify_play(from, &read);
  g_unlink(file);
}

/* The weight that a value should have. full: that of a value without losses. */
static guint32 expected_of(const Losses *losses, guint step, guint value, guint32 full)
{
  const Kind *kind = losses->kind;
  guint missing = 0;
  for (guint i = step * kind->per_step; i < (step + 1) * kind->per_step; i++)
    missing += losses->lost[i] ? MIN(kind->missing(i, value), full) : 0;
  return full - missing;
}

/* How many of the lost things are missing from the weights of the step that they belong to. */
static guint trace(Losses *losses)
{
  const Kind *kind = losses->kind;
  const guint32 full = kind->full ? kind->full : losses->found[0];
  guint traced = 0;
  for (guint step = 0; step < kind->steps; step++) {
    gboolean is_right = full > 0;
    for (guint value = 0; value < kind->values; value++) {
      const guint32 found = losses->found[step * kind->values + value],
                    expected = expected_of(losses, step, value, full);
      if (found != expected && !losses->trouble)
        losses->trouble = g_strdup_printf("step %u, value %u: its weight is %u, expected %u", step,
                                          value, found, expected);
      is_right &= found == expected;
    }
    for (guint i = step * kind->per_step; is_right && i < (step + 1) * kind->per_step; i++)
      traced += losses->lost[i];
  }
  return traced;
}

static AstroQualifyResult *look_at(const Kind *kind, const char *folder, guint32 seed)
{
  AstroQualifyResult *result = astro_qualify_result_new("losses", kind->subject);
  Losses *losses = g_new0(Losses, 1);
  g_autofree char *file = g_build_filename(folder, kind->location, NULL);
  losses->kind = kind;
  choose(losses, seed);
  record_and_read(losses, file);
  result->limit = LOST;
  if (!losses->trouble)
    result->value = trace(losses);
  result->state =
      result->value >= LOST && !losses->trouble ? ASTRO_QUALIFY_PASS : ASTRO_QUALIFY_SHORT;
  result->remark = losses->trouble ? losses->trouble
                                   : g_strdup_printf("of %d, traced to %u weights in a file",
                                                     THINGS, kind->steps * kind->values);
  g_free(losses);
  return result;
}

void astro_qualify_losses(const char *folder, guint32 seed, GPtrArray *results)
{
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
    g_ptr_array_add(results, look_at(&kinds[i], folder, seed));
}
