/* Divides samples into transforms along time. */
#include "config.h"
#include "core/fft/cut.h"
#include "core/backend/backend.h"

#include <string.h>

struct AstroFftCut {
  AstroStream in;
  guint64 length;
  guint64 outer;        /* samples are [outer][time][inner] */
  gsize inner_bytes;    /* size of everything after the time axis */
  AstroWindows windows; /* transforms do not overlap */
  AstroLosses *losses;
  const AstroLoss *lost; /* losses in the block */
  guint n_lost;

  gboolean started;
  guint64 begin, next; /* start and end of the stretch */
  guint8 *held;        /* [outer][length][inner] */
  guint64 held_from, held_steps;

  guint64 first, steps; /* the block */
  AstroSpectra transforms;
};

/* Allocates space for samples that do not fill a transform. */
static gboolean make_room(AstroFftCut *self, GError **error)
{
  gsize bytes;
  if (g_size_checked_mul(&bytes, self->outer * self->inner_bytes, self->length))
    self->held = g_try_malloc(bytes);
  return self->held ||
         astro_backend_no_memory(error,
                                 "no memory to hold the samples of transforms of "
                                 "%" G_GUINT64_FORMAT " steps of %" G_GUINT64_FORMAT " bytes",
                                 self->length, self->outer * self->inner_bytes);
}

AstroFftCut *astro_fft_cut_new(const AstroStream *in, guint64 length, GError **error)
{
  AstroFftCut *self = g_new0(AstroFftCut, 1);
  gint time = astro_layout_find(&in->layout, ASTRO_AXIS_TIME);

  self->in = *in;
  self->length = length;
  self->outer = 1;
  self->inner_bytes = astro_stream_sample_bytes(in);
  for (gint i = 0; i < (gint)in->layout.n_axes; i++)
    if (i < time)
      self->outer *= in->layout.extents[i];
    else if (i > time)
      self->inner_bytes *= in->layout.extents[i];
  self->windows = (AstroWindows){ .step = length, .span = length };
  self->losses = astro_losses_new(in);
  if (make_room(self, error))
    return self;
  astro_fft_cut_free(self);
  return NULL;
}

void astro_fft_cut_free(AstroFftCut *self)
{
  astro_losses_free(self->losses);
  g_free(self->held);
  g_free(self);
}

void astro_fft_cut_clear(AstroFftCut *self)
{
  astro_losses_clear(self->losses);
  self->started = FALSE;
  self->held_steps = 0;
}

gboolean astro_fft_cut_open(AstroFftCut *self, GstBuffer *in, guint64 first, guint64 steps,
                            AstroSpectra *transforms, gboolean *direct, GError **error)
{
  if (!self->started || first != self->next) {
    astro_fft_cut_clear(self);
    self->started = TRUE;
    self->begin = first;
    self->held_from = (first + self->length - 1) / self->length * self->length;
  }
  if (!astro_windows_of_block(&self->windows, self->begin, first, steps, transforms, error))
    return FALSE;
  astro_losses_read(self->losses, in, first, steps, &self->lost, &self->n_lost);
  self->next = first + steps;
  self->first = first;
  self->steps = steps;
  self->transforms = *transforms;
  *direct = first == transforms->first * self->length &&
            steps == transforms->count * self->length && self->n_lost == 0;
  return TRUE;
}

gsize astro_fft_cut_bytes(const AstroFftCut *self)
{
  return self->transforms.count * self->length * self->outer * self->inner_bytes;
}

/* Copies samples begin to end from a piece of the stream to another; each piece has a first sample
 * and a number of steps. Returns how many bytes were copied. */
static gsize copy_part(const AstroFftCut *self, guint8 *to, guint64 to_from, guint64 to_steps,
                       const guint8 *from, guint64 from_from, guint64 from_steps, guint64 begin,
                       guint64 end)
{
  gsize inner = self->inner_bytes;
  for (guint64 o = 0; begin < end && o < self->outer; o++) {
    guint8 *there = to + (o * to_steps + begin - to_from) * inner;
    if (from)
      memcpy(there, from + (o * from_steps + begin - from_from) * inner, (end - begin) * inner);
    else
      memset(there, 0, (end - begin) * inner);
  }
  return begin < end ? self->outer * (end - begin) * inner : 0;
}

/* Sets a station's samples begin to end to zero. */
static void clear_samples(const AstroFftCut *self, guint8 *to, guint64 to_from, guint64 to_steps,
                          guint station, guint64 begin, guint64 end)
{
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES], others = 1;
  gsize bytes = astro_stream_sample_bytes(&self->in);

  astro_stream_shape(&self->in, to_steps, &shape);
  astro_layout_strides(&shape, strides);
  gint time = astro_layout_find(&shape, ASTRO_AXIS_TIME);
  gint stations = astro_layout_find(&shape, ASTRO_AXIS_STATION);
  for (gint a = 0; a < (gint)shape.n_axes; a++)
    others *= a == time || a == stations ? 1 : shape.extents[a];
  for (guint64 i = 0; i < others; i++) {
    guint64 rest = i, at = stations < 0 ? 0 : station * strides[stations];
    for (gint a = 0; a < (gint)shape.n_axes; a++)
      if (a != time && a != stations) {
        at += rest % shape.extents[a] * strides[a];
        rest /= shape.extents[a];
      }
    for (guint64 sample = begin; sample < end; sample++)
      memset(to + (at + (sample - to_from) * strides[time]) * bytes, 0, bytes);
  }
}

static void clear_lost(const AstroFftCut *self, guint8 *to, guint64 to_from, guint64 to_steps)
{
  for (guint i = 0; i < self->n_lost; i++)
    clear_samples(self, to, to_from, to_steps, self->lost[i].station,
                  MAX(self->lost[i].from, to_from), MIN(self->lost[i].to, to_from + to_steps));
}

void astro_fft_cut_fill(const AstroFftCut *self, const guint8 *block, guint8 *out)
{
  guint64 from = self->transforms.first * self->length;
  guint64 steps = self->transforms.count * self->length;
  guint64 held_to = self->held_from + self->held_steps;

  copy_part(self, out, from, steps, self->held, self->held_from, self->length, from,
            MIN(held_to, from + steps));
  copy_part(self, out, from, steps, block, self->first, self->steps, MAX(from, self->first),
            from + steps);
  clear_lost(self, out, from, steps);
}

/* Samples are held in place until a transform is complete: blocks may be much shorter. */
gsize astro_fft_cut_close(AstroFftCut *self, const guint8 *block)
{
  guint64 from = (self->transforms.first + self->transforms.count) * self->length;
  guint64 end = self->first + self->steps;

  self->held_steps = 0;
  self->held_from = from;
  if (from >= end) /* all are used, or come before the first whole transform */
    return 0;
  self->held_steps = end - from;
  gsize moved = copy_part(self, self->held, from, self->length, block, self->first, self->steps,
                          MAX(from, self->first), end);
  clear_lost(self, self->held, from, self->length);
  return moved;
}

gboolean astro_fft_cut_mark(AstroFftCut *self, GstBuffer *out, const AstroLayout *layout)
{
  g_autoptr(GstBuffer) counted = gst_buffer_new();

  if (astro_losses_mark(self->losses, counted, &self->in.layout, &self->windows,
                        self->transforms.first, self->transforms.count))
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  return astro_validity_follow(out, counted, layout);
}
