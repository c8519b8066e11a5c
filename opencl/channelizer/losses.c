/* Brings blocks to the order in which the filter reads them, without what was lost. */
#include "config.h"
#include "opencl/channelizer/instance.h"

#define GROUP 64

/* As in channelizer.cl: from and to in the block. */
typedef struct {
  cl_ulong from, to;
  cl_uint station, channel, channel_end, unused;
} Lost;

static gboolean drop(Channelizer *self, const AstroChannelizerArguments *arguments,
                     const AstroOpenclGather *work, GError **error)
{
  g_autofree Lost *losses = g_new(Lost, arguments->n_losses);
  const guint64 first = arguments->first, end = first + arguments->steps;
  gsize n = 0;
  for (guint i = 0; i < arguments->n_losses; i++) {
    const AstroLoss *loss = &arguments->losses[i];
    if (MAX(loss->from, first) < MIN(loss->to, end))
      losses[n++] = (Lost){ MAX(loss->from, first) - first,
                            MIN(loss->to, end) - first,
                            loss->station,
                            loss->channel,
                            loss->channel_end,
                            0 };
  }
  if (n == 0)
    return TRUE;
  if (!astro_opencl_send(&self->place, "channelizer", &self->losses, losses, n * sizeof *losses,
                         error))
    return FALSE;
  const AstroOpenclArgument given[] = { OPENCL_FACE(self->gathered.face),
                                        OPENCL_FACE(self->losses.face), OPENCL_VALUE(*work) };
  return astro_opencl_launch_items(&self->place, self->drop, given, G_N_ELEMENTS(given), n * GROUP,
                                   GROUP, error);
}

gboolean astro_opencl_channelizer_gather(Channelizer *self, const AstroBlock *in,
                                         const AstroChannelizerArguments *arguments,
                                         gpointer *block, GError **error)
{
  const AstroOpenclGather work = astro_opencl_gather_of(&self->config.in, arguments->steps);
  *block = in->data;
  if (astro_opencl_gather_is_there(&work) && !arguments->n_losses)
    return TRUE;
  if (!astro_opencl_make_room(&self->place, "channelizer", &self->gathered,
                              arguments->steps * self->inputs * self->sample_bytes, error))
    return FALSE;
  *block = self->gathered.face;
  return astro_opencl_gather(&self->place, self->gather, work, in->data, *block, error) &&
         drop(self, arguments, &work, error);
}
