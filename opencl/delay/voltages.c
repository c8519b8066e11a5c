/* Delays voltages. They go to a window, which keeps as much of the past as later tiles need, and
 * leave it stretch by stretch. */
#include "config.h"
#include "opencl/delay/instance.h"

/* As in delay.cl. */
typedef struct {
  cl_long from;
  cl_ulong phase, rate;
  cl_uint step;
  cl_float left, right;
  cl_uint unused;
} Piece;

typedef struct {
  cl_ulong row;
  cl_ulong time, station, pol;
  cl_ulong first;
  cl_ulong out_first, out_end;
  cl_uint inputs, pols, stretch, from, to;
} Voltages;

/* ---- the window ---- */

/* Makes room for so many samples more, and moves those from keep on to the spare window. */
static gboolean make_room(Delay *self, gint64 keep, gsize n, GError **error)
{
  AstroDelayWindow *window = &self->core.window;
  const gsize dropped = (gsize)CLAMP(keep - window->start, 0, (gint64)window->length),
              kept = window->length - dropped, length = kept + n,
              sample = self->core.in_format->bytes;
  gsize capacity = length + length / 4, bytes;
  if (dropped == 0 && length <= window->capacity)
    return TRUE;
  if (!g_size_checked_mul(&bytes, capacity, sample * self->inputs))
    return astro_backend_no_memory(error, "delay: more bytes than can be addressed");
  if (self->spare.bytes < length * sample * self->inputs &&
      !astro_opencl_make_room(&self->place, "delay", &self->spare, bytes, error))
    return FALSE;
  capacity = self->spare.bytes / (sample * self->inputs);
  AstroOpenclGather gather = astro_opencl_gather_of(&self->core.config.in, kept);
  gather.time = 1;
  gather.pol = window->capacity;
  gather.station = self->core.pols * window->capacity;
  gather.row = capacity;
  if (kept &&
      !astro_opencl_gather(&self->place, self->gather, gather,
                           (guint8 *)self->window.face + dropped * sample, self->spare.face, error))
    return FALSE;
  const AstroOpenclRoom room = self->window;
  self->window = self->spare;
  self->spare = room;
  window->capacity = capacity;
  window->start += (gint64)dropped;
  window->length = kept;
  return TRUE;
}

gboolean astro_opencl_delay_append(AstroDelayInstance *core, const guint8 *in, gsize n, gint64 keep,
                                   GError **error)
{
  Delay *self = (Delay *)core;
  if (!make_room(self, keep, n, error))
    return FALSE;
  AstroOpenclGather gather = astro_opencl_gather_of(&core->config.in, n);
  gather.row = core->window.capacity;
  guint8 *to = (guint8 *)self->window.face + core->window.length * core->in_format->bytes;
  core->window.length += n;
  return n == 0 || astro_opencl_gather(&self->place, self->gather, gather, in, to, error);
}

/* ---- the output ---- */

static Piece piece_of(const AstroDelayInstance *core, const AstroDelayStretch *stretch)
{
  const double place = stretch->fraction * TAP_STEPS;
  const guint step = (guint)MIN(place, TAP_STEPS - 1);
  const double right = stretch->gain * (place - step);
  return (Piece){ .from = stretch->first -
                          ASTRO_FRACTION_CENTRE((gint)astro_delay_taps(&core->config.in)) -
                          core->window.start,
                  .phase = astro_opencl_delay_phase(stretch->phase),
                  .rate = astro_opencl_delay_phase(stretch->rate),
                  .step = step,
                  .left = (float)(stretch->gain - right),
                  .right = (float)right };
}

static gboolean send_pieces(Delay *self, const AstroDelayStretches *stretches,
                            const AstroDelayModel *model, GError **error)
{
  const gsize n = stretches->count * self->inputs;
  g_autofree Piece *pieces = g_new(Piece, n);
  for (gsize i = 0; i < n; i++) {
    const AstroDelayStretch stretch = astro_delay_stretch(
        stretches, &self->core, model, i / self->inputs, (guint)(i % self->inputs));
    pieces[i] = piece_of(&self->core, &stretch);
  }
  return astro_opencl_send(&self->place, "delay", &self->pieces, pieces, n * sizeof *pieces, error);
}

static gboolean interpolate(Delay *self, const AstroDelayStretches *stretches, guint8 *out,
                            const AstroDelayArguments *arguments, GError **error)
{
  const AstroDelayInstance *core = &self->core;
  AstroDelayStrides strides;
  astro_delay_strides(&core->config.out, arguments->out_steps, &strides);
  const Voltages work = { .row = core->window.capacity,
                          .time = strides.time,
                          .station = strides.station,
                          .pol = strides.pol,
                          .first = stretches->first,
                          .out_first = arguments->out_first,
                          .out_end = arguments->out_first + arguments->out_steps,
                          .inputs = self->inputs,
                          .pols = core->pols,
                          .stretch = stretches->samples,
                          .from = (cl_uint)core->config.in.format,
                          .to = (cl_uint)core->config.out.format };
  const AstroOpenclArgument given[] = { OPENCL_FACE(self->window.face), OPENCL_FACE(self->taps),
                                        OPENCL_FACE(self->pieces.face), OPENCL_FACE(out),
                                        OPENCL_VALUE(work) };
  return astro_opencl_launch_items(&self->place, self->work, given, G_N_ELEMENTS(given),
                                   stretches->count * self->inputs * GROUP, GROUP, error);
}

gboolean astro_opencl_delay_voltages(AstroDelayInstance *core, guint8 *out,
                                     const AstroDelayArguments *arguments, GError **error)
{
  Delay *self = (Delay *)core;
  AstroDelayStretches stretches;
  if (!astro_delay_stretches_init(&stretches, core, arguments, error))
    return FALSE;
  const gboolean ok =
      stretches.count == 0 || (send_pieces(self, &stretches, arguments->model, error) &&
                               interpolate(self, &stretches, out, arguments, error));
  astro_delay_stretches_clear(&stretches);
  return ok;
}
