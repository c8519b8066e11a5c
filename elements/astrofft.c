/**
 * SECTION:element-astrofft
 *
 * A Fourier transform along any axes of a stream, by FFTW on the CPU and by cuFFT on a GPU
 * (libcufft.so.12 has to be there for backend=cuda). The forward transform has a minus in the
 * exponent and no factor; the inverse one divides by the number of samples, so that the two undo
 * each other. Samples are CF32LE or CF64LE. Real ones (F32LE, F64LE) are transformed forward to
 * length / 2 + 1 bins, and inverse from them if downstream asks for them.
 *
 * Unless axes is set, a uvgrid is transformed along u and v and becomes one of x and y (and back),
 * and voltages along time: they become spectra of length channels, as from a filter bank of one
 * tap; direction=inverse makes voltages from spectra. Spectrum n is made of the samples from n x
 * length on, counted from the sample with OFFSET 0. Samples at the end of a buffer that do not
 * fill a spectrum wait for the next buffer, and are dropped at the end of the stream and where
 * samples are missing. All other axes keep their names.
 *
 * A grid with image-size in its caps that becomes x and y may have a reader that needs only the
 * image in its middle, as astroimage does, and says so in the answer to an ALLOCATION query. Then
 * nothing else is made, which takes about half the time, and the cells around the image are
 * undefined. Any other reader gets the whole transform, as do all branches of a tee unless each of
 * them says so.
 *
 * A plane (layout plane:[channel:]pol:v:u) may come with a map (AstroGridMeta.touched) of those
 * tiles of 16 x 16 cells that hold anything: the rest counts as zeros and is not read. astrofft
 * offers to use such maps in its answer to an ALLOCATION query of the element before it, such as
 * astrogridder; touched-only=false in the input's caps declines that. If one stage alone reads the
 * output and takes rows, as astroimage does, only the rows of such planes are transformed, to
 * layout v:x with touched-only=true: rows without a touched tile are undefined, and astroimage
 * transforms the columns while it adds them to the image, which saves writing and reading them. A
 * capsfilter of layout plane:pol:y:x between the two asks for the whole transform.
 *
 * The caps of x and y that were made with direction=inverse or centred=false say so; astroimage
 * refuses them.
 *
 * With centred=auto, index zero of u, v, x, y and channels lies in the middle (length / 2), so
 * that images have their centre there and channels ascend in frequency; all other axes count from
 * the first index.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=4 duration=1 ! astroconvert ! \
 *   application/x-astro-voltages,format=CF32LE ! astrofft length=512 ! filesink location=s.cf32
 * ]|
 *
 * Grids that are already on a GPU stay there, and so does what is made of them:
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrogridder size=4096 cell=2 backend=cuda ! \
 *   astrofft backend=cuda ! astroimage backend=cuda ! astrofitssink location=a.fits
 * ]|
 *
 * With devices=0,1 or all, GPUs share the blocks: one that lies on a GPU, as the planes of
 * astrogridder with the same devices do, is transformed there, others in turn. The output is the
 * same, and in the same order.
 */
#include "config.h"
#include "elements/astrofft.h"

#include <math.h>

#include "core/kit/enum.h"
#include "core/fft/cut.h"
#include "core/fft/validity.h"
#include "core/stream/grid.h"
#include "elements/astrofft-caps.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolanes.h"
#include "elements/base/astroreader.h"

typedef enum { DIRECTION_FORWARD, DIRECTION_INVERSE } AstroFftDirection;

typedef struct {
  AstroFftDirection direction;
  AstroCentred centred;
  guint length;
} Numbers;

struct _AstroFft {
  AstroStage parent;
  /* properties */
  char *axes;
  Numbers set;

  guint64 cut_length;    /* samples of a transform where time is split into channels */
  GstCaps *taken, *made; /* caps of input and output */
  AstroFftKind kind;
  gboolean has_maps;                 /* buffers may have maps of touched tiles */
  gboolean reader_takes_image;       /* only the image in the middle of a grid */
  gboolean may_be_image_only;        /* the caps say where it is */
  gboolean within_grid;              /* more of its planes will follow */
  guint64 samples;                   /* of a transform where time is joined */
  AstroAxis counted[ASTRO_MAX_AXES]; /* transformed axes: they lose their counts */
  guint n_counted;
  AstroFftCut *cut; /* where time is split */
  guint64 turn;     /* blocks so far, for several devices */
};

#define MAX_LENGTH (1 << 28)

G_DEFINE_TYPE(AstroFft, astro_fft, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrofft, "astrofft", GST_RANK_NONE, ASTRO_TYPE_FFT)

ASTRO_STATIC_ENUM_TYPE(astro_fft_direction_get_type, "AstroFftDirection",
                       { DIRECTION_FORWARD, "exp(-2 pi i ...), no factor", "forward" },
                       { DIRECTION_INVERSE, "exp(+2 pi i ...), divided by the number of samples",
                         "inverse" })
ASTRO_STATIC_ENUM_TYPE(astro_centred_get_type, "AstroCentred",
                       { ASTRO_CENTRED_AUTO, "u, v, x, y and channels", "auto" },
                       { ASTRO_CENTRED_FALSE, "No axis: index zero comes first, as FFTW has it",
                         "false" },
                       { ASTRO_CENTRED_TRUE, "All transformed axes", "true" })

/* The settings at this moment, since properties may be set at any time. Wrong axes count as none:
 * caps may be queried before the start, which reports the error. */
static gboolean read_settings(AstroFft *self, AstroFftSettings *settings, GError **error)
{
  g_autofree char *axes = astro_fields_copy_text(self, &self->axes);

  Numbers set;

  astro_fields_copy_numbers(self, &set, &self->set, sizeof set);
  *settings = (AstroFftSettings){ .inverse = set.direction == DIRECTION_INVERSE,
                                  .centred = set.centred,
                                  .length = set.length };
  if (astro_fft_parse_axes(settings, axes, error))
    return TRUE;
  settings->n_axes = 0;
  return FALSE;
}

/* ---- negotiation ---- */

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  AstroFftSettings settings;
  const gboolean rows = astro_reader_takes(GST_BASE_TRANSFORM_SRC_PAD(trans), ASTRO_TAKES_ROWS);
  read_settings(ASTRO_FFT(trans), &settings, NULL);
  return astro_stage_filter_caps(
      astro_fft_map_caps(&settings, rows, caps, direction == GST_PAD_SINK), filter);
}

static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS(astro_fft_parent_class)->propose_allocation(trans, decide, query))
    return FALSE;
  if (ASTRO_FFT(trans)->has_maps)
    astro_reader_take_maps(query);
  return TRUE;
}

/* All planes of a grid have the same caps, since astroimage adds them up. */
static GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                            GstCaps *othercaps)
{
  return (ASTRO_FFT(trans)->within_grid ? astro_stage_fixate_agreed : astro_stage_fixate_preferred)(
      trans, direction, caps, othercaps);
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  gst_caps_replace(&ASTRO_FFT(trans)->taken, in);
  gst_caps_replace(&ASTRO_FFT(trans)->made, out);
  return GST_BASE_TRANSFORM_CLASS(astro_fft_parent_class)->set_caps(trans, in, out);
}

/* The transform has to be made with the caps, and the reader is known only after them: until it has
 * answered it is taken for one like astroimage; for any other the transform is made again. */
static gboolean decide_allocation(GstBaseTransform *trans, GstQuery *query)
{
  AstroFft *self = ASTRO_FFT(trans);
  const gboolean had = self->reader_takes_image;
  self->reader_takes_image = astro_reader_takes_image_only(query);
  if (self->may_be_image_only && self->reader_takes_image != had &&
      !set_caps(trans, self->taken, self->made))
    return FALSE;
  return GST_BASE_TRANSFORM_CLASS(astro_fft_parent_class)->decide_allocation(trans, query);
}

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  AstroFft *self = ASTRO_FFT(stage);
  AstroFftConfig *transform = config;
  const AstroStream *in = astro_stage_in(stage);
  AstroFftSettings settings;

  g_clear_pointer(&self->cut, astro_fft_cut_free);
  self->n_counted = 0;
  read_settings(self, &settings, NULL);
  if (!astro_fft_configure(&settings, in, astro_stage_out(stage), transform, &self->kind, error) ||
      !astro_fft_use_maps(&settings, in, self->taken, transform, error))
    return FALSE;
  self->has_maps = transform->share_map > 0;
  AstroFftConfig image_only = *transform;
  self->may_be_image_only = self->kind == ASTRO_FFT_SAME_STEPS &&
                            astro_fft_want_image(astro_stage_out(stage), self->made, &image_only);
  if (self->may_be_image_only && self->reader_takes_image)
    *transform = image_only;
  if (self->kind == ASTRO_FFT_SPLITS_TIME) {
    self->cut_length = settings.length;
    self->cut = astro_fft_cut_new(in, settings.length, error);
    return self->cut != NULL;
  }
  for (guint i = 0; i < in->layout.n_axes; i++)
    if (transform->axes[i].transformed)
      self->counted[self->n_counted++] = in->layout.axes[i];
  if (self->kind == ASTRO_FFT_JOINS_TIME)
    self->samples = transform->extents[astro_layout_find(&in->layout, ASTRO_AXIS_CHANNEL)];
  return TRUE;
}

/* The forward transform has no factor, so that noise grows by the root of the number of samples,
 * and shrinks by it on the way back. Transforms along other axes of samples have no flux. */
static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  const AstroFft *self = ASTRO_FFT(stage);
  const AstroQuantity quantity = astro_stage_in(stage)->quantity;
  AstroHistory *done = &observation->done;
  if (self->kind == ASTRO_FFT_SPLITS_TIME)
    done->scale *= sqrt((double)self->cut_length);
  else if (self->kind == ASTRO_FFT_JOINS_TIME)
    done->scale /= sqrt((double)self->samples);
  else if (quantity != ASTRO_QUANTITY_UVGRID && quantity != ASTRO_QUANTITY_IMAGE)
    done->scale = 0;
  if (self->kind != ASTRO_FFT_SAME_STEPS)
    done->filter_bank = self->kind == ASTRO_FFT_SPLITS_TIME;
  return TRUE;
}

/* ---- work ---- */

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  AstroFft *self = ASTRO_FFT(stage);
  const AstroGridMeta *grid = astro_buffer_get_grid(in);
  const AstroStageBlocks blocks = { { in, grid && self->has_maps ? grid->touched : NULL },
                                    { out } };
  const guint64 planes = steps * astro_stream_extent(astro_stage_in(stage), ASTRO_AXIS_PLANE);
  self->within_grid = grid && (grid->plane + planes) % MAX(grid->planes, 1) != 0;
  return astro_stage_submit_blocks(stage, &blocks, &steps, TRUE, TRUE, error);
}

static gboolean validity(AstroStage *stage, GstBuffer *in, GstBuffer *out)
{
  AstroFft *self = ASTRO_FFT(stage);
  astro_fft_validity(out, in, self->counted, self->n_counted);
  return TRUE;
}

static gboolean map_samples(GstBuffer *buffer, GstMapInfo *map, GstMapFlags flags, GError **error)
{
  if (gst_buffer_map(buffer, map, flags))
    return TRUE;
  return astro_backend_no_memory(error, "a buffer cannot be mapped");
}

/* The samples of the transforms that are complete: the block itself, or parts of several blocks put
 * together in our own memory (GStreamer's ends the program if there is none). */
static GstBuffer *samples_of(AstroFft *self, GstBuffer *in, const guint8 *block, gboolean direct,
                             GError **error)
{
  GstMapInfo map;

  if (direct)
    return gst_buffer_ref(in);
  GstBuffer *samples =
      astro_stage_new_aside(ASTRO_STAGE(self), astro_fft_cut_bytes(self->cut), error);
  if (!samples)
    return NULL;
  if (!map_samples(samples, &map, GST_MAP_WRITE, error)) {
    gst_buffer_unref(samples);
    return NULL;
  }
  astro_fft_cut_fill(self->cut, block, map.data);
  gst_buffer_unmap(samples, &map);
  return samples;
}

static gboolean split_time(AstroFft *self, GstBuffer *in, guint64 first, guint64 steps,
                           GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroStream *to = astro_stage_out(stage);
  AstroSpectra spectra;
  gboolean direct, ok = TRUE;
  GstMapInfo map = GST_MAP_INFO_INIT;

  if (GST_BUFFER_IS_DISCONT(in))
    astro_fft_cut_clear(self->cut);
  if (!astro_fft_cut_open(self->cut, in, first, steps, &spectra, &direct, error))
    return FALSE;
  /* The host reads only blocks that are put together; any other may be on a device. */
  const gboolean mapped = !direct && !GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  if (mapped && !map_samples(in, &map, GST_MAP_READ, error))
    return FALSE;
  const guint8 *block = mapped ? map.data : NULL;
  if (spectra.count) {
    GstBuffer *out =
        astro_stage_new_buffer(stage, spectra.count * astro_stream_step_bytes(to), error);
    g_autoptr(GstBuffer) samples = out ? samples_of(self, in, block, direct, error) : NULL;
    ok = samples && astro_stage_submit(stage, samples, out, &spectra.count, error) &&
         astro_fft_cut_mark(self->cut, out, &to->layout);
    if (ok)
      astro_stage_emit(stage, out, spectra.first, spectra.count);
    else
      gst_clear_buffer(&out);
  }
  astro_fft_cut_close(self->cut, block);
  if (mapped)
    gst_buffer_unmap(in, &map);
  return ok;
}

static gboolean join_time(AstroFft *self, GstBuffer *in, guint64 first, guint64 steps,
                          GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  guint64 samples = steps * self->samples;
  GstBuffer *out = astro_stage_new_buffer(
      stage, samples * astro_stream_step_bytes(astro_stage_out(stage)), error);

  if (!out)
    return FALSE;
  if (GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP)) {
    gst_buffer_memset(out, 0, 0, gst_buffer_get_size(out));
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  } else if (!astro_stage_submit(stage, in, out, &steps, error)) {
    gst_buffer_unref(out);
    return FALSE;
  }
  validity(stage, in, out);
  astro_stage_emit(stage, out, first * self->samples, samples);
  return TRUE;
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroFft *self = ASTRO_FFT(stage);
  astro_stage_take_nearest_lane(stage, in, self->turn++);
  switch (self->kind) {
  case ASTRO_FFT_SPLITS_TIME:
    return split_time(self, in, first, steps, error);
  case ASTRO_FFT_JOINS_TIME:
    return join_time(self, in, first, steps, error);
  default:
    return ASTRO_STAGE_CLASS(astro_fft_parent_class)->feed(stage, in, first, steps, error);
  }
}

static void reset(AstroStage *stage)
{
  ASTRO_FFT(stage)->within_grid = FALSE;
  if (ASTRO_FFT(stage)->cut)
    astro_fft_cut_clear(ASTRO_FFT(stage)->cut);
}

/* The samples that are kept are less than a transform. */
static gboolean finish(AstroStage *stage, GError **error)
{
  reset(stage);
  return TRUE;
}

static guint64 latency_steps(AstroStage *stage)
{
  return ASTRO_FFT(stage)->cut ? ASTRO_FFT(stage)->cut_length - 1 : 0;
}

/* A property's setter cannot fail: the start reports errors. */
static gboolean start(AstroStage *stage)
{
  AstroFftSettings settings;
  g_autoptr(GError) error = NULL;

  if (!read_settings(ASTRO_FFT(stage), &settings, &error)) {
    GST_ELEMENT_ERROR(stage, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  return ASTRO_STAGE_CLASS(astro_fft_parent_class)->start(stage);
}

static gboolean stop(GstBaseTransform *trans)
{
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_fft_parent_class)->stop(trans);
  g_clear_pointer(&ASTRO_FFT(trans)->cut, astro_fft_cut_free);
  gst_clear_caps(&ASTRO_FFT(trans)->taken);
  gst_clear_caps(&ASTRO_FFT(trans)->made);
  ASTRO_FFT(trans)->may_be_image_only = FALSE;
  return ok;
}

/* ---- properties ---- */

static const AstroField fields[] = {
  ASTRO_TEXT(AstroFft, axes, "axes", "Axes",
             "Axes to transform along, joined by ',' (unset: u,v or x,y of a uvgrid or an "
             "image; time of voltages; channel of spectra)",
             NULL),
  ASTRO_ENUM(AstroFft, set.direction, "direction", "Direction", "The sign of the exponent",
             astro_fft_direction_get_type, DIRECTION_FORWARD),
  ASTRO_ENUM(AstroFft, set.centred, "centred", "Centred",
             "Axes whose index zero lies in the middle, at length / 2", astro_centred_get_type,
             ASTRO_CENTRED_AUTO),
  ASTRO_UINT(AstroFft, set.length, "length", "Length",
             "Samples of a transform along time; also of an inverse one to real samples, if not "
             "twice the bins less two",
             1, MAX_LENGTH, 1024),
  { 0 },
};

static void astro_fft_class_init(AstroFftClass *klass)
{
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);
  static const char *const takes[] = { ASTRO_TAKES_WIDE_PSF, NULL };
  static const AstroQuantity any[] = { ASTRO_QUANTITY_UVGRID,  ASTRO_QUANTITY_VOLTAGES,
                                       ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_VISIBILITIES,
                                       ASTRO_QUANTITY_IMAGE,   ASTRO_QUANTITY_UNKNOWN };

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  trans->transform_caps = transform_caps;
  trans->fixate_caps = fixate_caps;
  trans->propose_allocation = propose_allocation;
  trans->set_caps = set_caps;
  trans->decide_allocation = decide_allocation;
  stage->start = start;
  trans->stop = stop;
  stage->stage = "fft";
  stage->takes = takes;
  stage->backends = astro_fft_backends;
  stage->tell_work = astro_fft_work;
  stage->configure = configure;
  stage->work = work;
  stage->validity = validity;
  stage->amend = amend;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->latency_steps = latency_steps;
  astro_stage_class_add_pads(stage, any, any);
  astro_stage_class_add_devices(stage);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Fourier transform", "Filter/Converter",
      "Transforms a stream along any of its axes: grids to images, voltages to spectra",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "any stream CF32LE CF64LE, real ones F32LE F64LE, with the axes to be transformed");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "the same, complex or, of an inverse transform, real");
}

static void astro_fft_init(AstroFft *self)
{
  self->reader_takes_image = TRUE;
  astro_fields_set_defaults(self);
}
