/* Converts weights to counts. Weights in our files are counts already. Others may be any numbers:
 * they are multiplied by a power of two that makes the largest a count of 32 bits, so that digits
 * and ratios are preserved. The largest weight, and whether all are integers, is known only after
 * reading all of them: taking a sample had missed fractions, which were then rounded to 1. So all
 * are read when the file is opened, which is some five times faster than reading the data. */
#include "core/fits/uvfits/reader.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Bytes read at once; more than the file's cache holds, so that it is bypassed. */
#define CHUNK_BYTES (2u << 20)
#define WHOLE_FROM 8388608.0f /* from here on single precision has no fractions */
#define COUNT_BITS 32
/* A weight of fewer counts is rounded by more than a thousandth. */
#define FEW_COUNTS 512

typedef struct {
  float least, largest;
  gboolean whole;
} Weights;

static inline void look_at(float weight, Weights *w)
{
  const gboolean good = weight > 0 && weight <= FLT_MAX;
  const float clipped = good && weight < WHOLE_FROM ? weight : 0;
  w->whole &= !good || (float)(gint32)clipped == clipped;
  w->largest = good && weight > w->largest ? weight : w->largest;
  w->least = good && weight < w->least ? weight : w->least;
}

/* Nearly all files have single precision without scaling, with real part, imaginary part and weight
 * next to each other. */
static gboolean is_plain(const AstroUvfitsReader *r)
{
  return r->header->bitpix == -32 && r->value_scale == 1 && r->value_zero == 0 &&
         r->axes[COMPLEX].stride == 1;
}

/* Most weights equal the one before, which costs only a comparison. */
static void look_at_plain(const AstroUvfitsReader *r, const guint8 *group, Weights *w)
{
  const guint8 *at = group + 4 * (r->n_parameters + 2), *end = at + 4 * r->group_values;
  guint32 before = 0; /* as in the file; 0 is not a weight */
  for (; at < end; at += 12) {
    guint32 bits;
    float weight;
    memcpy(&bits, at, sizeof bits);
    if (bits == before)
      continue;
    before = bits;
    bits = GUINT32_FROM_BE(bits);
    memcpy(&weight, &bits, sizeof weight);
    look_at(weight, w);
  }
}

static gboolean look_at_chunks(const AstroUvfitsReader *r, Weights *w, GError **error)
{
  const gsize group = 4 * (r->n_parameters + r->group_values);
  const guint64 together = MAX(CHUNK_BYTES / group, 1);
  g_autofree guint8 *chunk = g_malloc(MIN(together, r->n_groups) * group);
  for (guint64 first = 0; first < r->n_groups; first += together) {
    const guint64 n = MIN(together, r->n_groups - first);
    if (!astro_fits_file_read(r->file, r->header->data + first * group, chunk, n * group, error))
      return FALSE;
    for (guint64 i = 0; i < n; i++)
      look_at_plain(r, chunk + i * group, w);
  }
  return TRUE;
}

static gboolean look_at_groups(AstroUvfitsReader *r, Weights *w, GError **error)
{
  const guint64 stride = r->axes[COMPLEX].stride;
  for (guint64 group = 0; group < r->n_groups; group++) {
    if (!astro_uvfits_read_values(r, group, error))
      return FALSE;
    for (guint64 i = 0; i < r->group_values / 3; i++)
      look_at(r->values[i / stride * 3 * stride + i % stride + 2 * stride], w);
  }
  return TRUE;
}

static void choose_scale(AstroUvfitsReader *r, const Weights *w, AstroFitsContents *contents)
{
  int exponent;
  if (w->whole && w->largest < 0x1p32f) {
    r->weight_scale = 1;
    r->full = (guint32)MAX(w->largest, 1);
    return;
  }
  frexp(w->largest, &exponent);
  r->weight_scale = ldexp(1, COUNT_BITS - exponent);
  r->full = (guint32)(w->largest * r->weight_scale);
  if (w->least * r->weight_scale < FEW_COUNTS)
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "weights are between %g and %g, a range too large for counts: "
                             "they are rounded to steps of %g",
                             w->least, w->largest, 1 / r->weight_scale);
}

gboolean astro_uvfits_scale_weights(AstroUvfitsReader *r, AstroFitsContents *contents,
                                    GError **error)
{
  Weights weights = { .least = FLT_MAX, .whole = TRUE };
  guint64 *order = g_steal_pointer(&r->order); /* reads in the order of the file */
  const gboolean done =
      r->axes[COMPLEX].n != 3 ||
      (is_plain(r) ? look_at_chunks(r, &weights, error) : look_at_groups(r, &weights, error));
  r->order = order;
  if (done)
    choose_scale(r, &weights, contents);
  return done;
}
