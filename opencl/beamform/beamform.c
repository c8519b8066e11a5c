/* The opencl backend of the beamformer: one kernel makes the factors of stations, weights times
 * phases, another multiplies them by samples. */
#include "config.h"
#include "core/beamform/losses.h"
#include "opencl/lib/formats/any.h"
#include "opencl/runtime/clipped.h"

static const char form_text[] =
#include "opencl/runtime/samples.cl.h"
#include "opencl/runtime/clipped.cl.h"
#include "opencl/lib/formats/any.cl.h"
#include "opencl/beamform/form.cl.h"
    ;
static const char weigh_text[] =
#include "opencl/beamform/weigh.cl.h"
    ;

#define SIDE 8                         /* as in form.cl */
#define TILE (SIDE * 4)                /* as in form.cl */
#define MOST_FACTORS ((gsize)64 << 20) /* bytes, unless one interval and channel need more */

/* As in weigh.cl. */
typedef struct {
  cl_double first_frequency, channel_width;
  cl_ulong n;
  cl_uint beams, stations;
  cl_uint first_interval, first_channel, channels;
  cl_uint has_weights;
} Weigh;

/* As in form.cl. */
typedef struct {
  cl_ulong in_time, in_channel, in_row, in_pol;
  cl_ulong out_time, out_channel, out_row, out_pol;
  cl_ulong good_channel, good_station;
  cl_ulong first, steps, interval;
  cl_ulong tiles;
  cl_uint pols, beams, stations;
  cl_uint first_interval, intervals, first_channel, channels;
  cl_uint has_good, from, to;
  cl_float scale;
} Form;
G_STATIC_ASSERT(ASTRO_FORMAT_CI4 == 1 && ASTRO_FORMAT_CF32LE == 5);

typedef struct {
  AstroBeamformConfig config;
  AstroBeamformSize size;
  AstroPlace place;
  cl_kernel weigh, form;
  AstroOpenclClipped clipped;
  AstroOpenclRoom seconds, offsets, weights, index, good; /* copies of what submit is told */
  AstroOpenclRoom sizes;   /* of weights, [interval][channel][station] */
  AstroOpenclRoom factors; /* [interval][channel][station][beam], of some of them */
} Beamform;

/* ---- what kernels are told ---- */

static gboolean send(Beamform *self, AstroOpenclRoom *room, gconstpointer from, gsize bytes,
                     GError **error)
{
  return astro_opencl_send(&self->place, "beamform", room, from, bytes, error);
}

static gboolean send_all(Beamform *self, const AstroBeamformArguments *arguments,
                         const AstroBeamformGood *good, guint64 intervals, GError **error)
{
  const AstroBeamformStations *stations = arguments->stations;
  const gsize n = stations->n, rows = good->channel ? self->size.channels * n : n;
  return send(self, &self->seconds, stations->seconds, 3 * n * sizeof(double), error) &&
         send(self, &self->offsets, arguments->offsets,
              3 * intervals * self->size.beams * sizeof(double), error) &&
         send(self, &self->weights, stations->weights,
              stations->weights ? 2 * n * self->size.channels * sizeof(float) : 0, error) &&
         send(self, &self->index, stations->index, n * sizeof(guint32), error) &&
         send(self, &self->good, good->map, good->map ? rows * arguments->steps : 0, error);
}

static void strides_of(const AstroStream *stream, guint64 steps, AstroAxis row, cl_ulong *time,
                       cl_ulong *channel, cl_ulong *rows, cl_ulong *pol)
{
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  astro_stream_shape(stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  *time = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME);
  *channel = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_CHANNEL);
  *rows = astro_layout_stride_of(&shape, strides, row);
  *pol = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_POL);
}

static void describe(const Beamform *self, const AstroBeamformArguments *arguments,
                     const AstroBeamformGood *good, Weigh *weigh, Form *form)
{
  const AstroStream *in = &self->config.in;
  const AstroBeamformStations *stations = arguments->stations;
  *weigh = (Weigh){
    .first_frequency =
        astro_channel_frequency(in->frequency, in->bandwidth, self->size.channels, 0),
    .channel_width = in->bandwidth / self->size.channels,
    .beams = self->size.beams,
    .stations = stations->n,
    .has_weights = stations->weights != NULL,
  };
  *form = (Form){
    .good_channel = good->channel,
    .good_station = good->station,
    .first = arguments->first,
    .steps = arguments->steps,
    .interval = arguments->interval,
    .tiles = (MIN(arguments->interval, arguments->steps) + TILE - 1) / TILE,
    .pols = self->size.pols,
    .beams = self->size.beams,
    .stations = stations->n,
    .has_good = good->map != NULL,
    .from = in->format,
    .to = self->config.out.format,
    .scale = (float)stations->scale,
  };
  strides_of(in, arguments->steps, ASTRO_AXIS_STATION, &form->in_time, &form->in_channel,
             &form->in_row, &form->in_pol);
  strides_of(&self->config.out, arguments->steps, ASTRO_AXIS_BEAM, &form->out_time,
             &form->out_channel, &form->out_row, &form->out_pol);
}

/* ---- a block ---- */

static gboolean run_weigh(Beamform *self, const Weigh *weigh, GError **error)
{
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(self->seconds.face),
                                            OPENCL_FACE(self->offsets.face),
                                            OPENCL_FACE(weigh->has_weights ? self->weights.face
                                                                           : NULL),
                                            OPENCL_FACE(self->factors.face),
                                            OPENCL_FACE(self->sizes.face),
                                            OPENCL_VALUE(*weigh) };
  return astro_opencl_launch_items(&self->place, self->weigh, arguments, G_N_ELEMENTS(arguments),
                                   weigh->n, SIDE * SIDE, error);
}

static gboolean run_form(Beamform *self, gpointer in, gpointer out, const Form *form,
                         GError **error)
{
  const guint64 beam_tiles = (form->beams + TILE - 1) / TILE,
                groups = form->tiles * form->pols * form->intervals * beam_tiles * form->channels;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(in),
                                            OPENCL_FACE(out),
                                            OPENCL_FACE(self->index.face),
                                            OPENCL_FACE(self->factors.face),
                                            OPENCL_FACE(self->sizes.face),
                                            OPENCL_FACE(form->has_good ? self->good.face : NULL),
                                            OPENCL_FACE(self->clipped.counter),
                                            OPENCL_VALUE(*form) };
  return astro_opencl_launch_items(&self->place, self->form, arguments, G_N_ELEMENTS(arguments),
                                   groups * SIDE * SIDE, SIDE * SIDE, error);
}

/* Makes factors and beams of all channels of a few intervals at a time, or of a few channels of one
 * interval, so that memory for factors is bounded. */
static gboolean run(Beamform *self, gpointer in, gpointer out, guint64 intervals, Weigh *weigh,
                    Form *form, GError **error)
{
  const guint channels = self->size.channels;
  const gsize bytes = (gsize)weigh->beams * weigh->stations * sizeof(cl_float2);
  const guint64 most = MAX(MOST_FACTORS / bytes, 1), step = MIN(MAX(most / channels, 1), intervals),
                wide = MIN(most, channels);
  if (!astro_opencl_make_room(&self->place, "beamform", &self->factors, step * wide * bytes,
                              error) ||
      !astro_opencl_make_room(&self->place, "beamform", &self->sizes,
                              step * wide * weigh->stations * sizeof(float), error))
    return FALSE;
  for (guint64 i = 0; i < intervals; i += step)
    for (guint64 c = 0; c < channels; c += wide) {
      weigh->first_interval = form->first_interval = (cl_uint)i;
      weigh->first_channel = form->first_channel = (cl_uint)c;
      weigh->channels = form->channels = (cl_uint)MIN(wide, channels - c);
      form->intervals = (cl_uint)MIN(step, intervals - i);
      weigh->n = (guint64)form->intervals * form->channels * weigh->stations * weigh->beams;
      if (!run_weigh(self, weigh, error) || !run_form(self, in, out, form, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Beamform *self = instance;
  const AstroBeamformArguments *arguments = data;
  AstroBeamformGood good;
  Weigh weigh;
  Form form;
  if (!astro_beamform_check(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (arguments->steps == 0)
    return TRUE;
  if (!astro_beamform_good_init(&good, &self->config, arguments, 0, error))
    return FALSE;
  const guint64 intervals =
      astro_beamform_intervals(arguments->first, arguments->steps, arguments->interval);
  describe(self, arguments, &good, &weigh, &form);
  const gboolean ok = send_all(self, arguments, &good, intervals, error) &&
                      run(self, in->data, out->data, intervals, &weigh, &form, error);
  astro_beamform_good_clear(&good);
  return ok;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  Beamform *self = instance;
  return astro_opencl_clipped_drain(&self->clipped, &self->place, result, error);
}

/* ---- instances ---- */

static void destroy(gpointer instance)
{
  Beamform *self = instance;
  AstroOpenclRoom *const rooms[] = { &self->seconds, &self->offsets, &self->weights, &self->index,
                                     &self->good,    &self->sizes,   &self->factors };
  for (guint i = 0; i < G_N_ELEMENTS(rooms); i++)
    astro_opencl_free(&self->place, &rooms[i]->face);
  astro_opencl_clipped_clear(&self->clipped, &self->place);
  if (self->weigh)
    clReleaseKernel(self->weigh);
  if (self->form)
    clReleaseKernel(self->form);
  g_free(self);
}

static gboolean open_kernels(Beamform *self, GError **error)
{
  const AstroOpenclProgram weighs = { "beamform", weigh_text, TRUE },
                           forms = { "beamform", form_text, FALSE };
  AstroDevice *device = self->place.device;
  g_autofree char *formats = astro_opencl_any_options();
  return (self->weigh = astro_opencl_kernel(device, &weighs, "", "weigh", error)) &&
         (self->form = astro_opencl_kernel(device, &forms, formats, "form", error));
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_beamform_shape(config, error))
    return NULL;
  Beamform *self = g_new0(Beamform, 1);
  self->config = *(const AstroBeamformConfig *)config;
  self->size = astro_beamform_size(&self->config);
  self->place = *place;
  *variant = "tiles";
  if (open_kernels(self, error) && astro_opencl_clipped_init(&self->clipped, place, error))
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_beamform = {
  .stage = "beamform",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroBeamformConfig),
  .shape = astro_beamform_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
