/* Looks at all weights of a file, to convert them to counts. The largest weight, and whether all
 * are integers, is known only after reading all of them: taking a sample had missed fractions,
 * which were then rounded to 1. So all are read when the file is opened, which is some five times
 * faster than reading the data. */
#include "core/fits/uvfits/reader.h"

#include <string.h>

/* Bytes read at once; more than the file's cache holds, so that it is bypassed. */
#define CHUNK_BYTES (2u << 20)

/* Nearly all files have single precision without scaling, with real part, imaginary part and weight
 * next to each other. */
static gboolean is_plain(const AstroUvfitsReader *r)
{
  return r->header->bitpix == -32 && r->value_scale == 1 && r->value_zero == 0 &&
         r->axes[COMPLEX].stride == 1;
}

/* Most weights equal the one before, which costs only a comparison. */
static void look_at_plain(const AstroUvfitsReader *r, const guint8 *group, AstroWeightRange *w)
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
    astro_weight_range_add(w, weight);
  }
}

static gboolean look_at_chunks(const AstroUvfitsReader *r, AstroWeightRange *w, GError **error)
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

static gboolean look_at_groups(AstroUvfitsReader *r, AstroWeightRange *w, GError **error)
{
  const guint64 stride = r->axes[COMPLEX].stride;
  for (guint64 group = 0; group < r->n_groups; group++) {
    if (!astro_uvfits_read_values(r, group, error))
      return FALSE;
    for (guint64 i = 0; i < r->group_values / 3; i++)
      astro_weight_range_add(w, r->values[i / stride * 3 * stride + i % stride + 2 * stride]);
  }
  return TRUE;
}

gboolean astro_uvfits_scale_weights(AstroUvfitsReader *r, AstroFitsContents *contents,
                                    GError **error)
{
  guint64 *order = g_steal_pointer(&r->order); /* reads in the order of the file */
  r->weights = (AstroWeightRange)ASTRO_WEIGHT_RANGE_EMPTY;
  if (r->axes[COMPLEX].n != 3) /* no weights: each value counts once */
    astro_weight_range_add(&r->weights, 1);
  const gboolean done =
      r->axes[COMPLEX].n != 3 ||
      (is_plain(r) ? look_at_chunks(r, &r->weights, error) : look_at_groups(r, &r->weights, error));
  r->order = order;
  if (!done)
    return FALSE;
  g_autofree char *note = astro_weight_range_scale(&r->weights, &r->weight_scale, &r->full);
  if (note)
    astro_fits_contents_note(contents, astro_fits_file_name(r->file), "%s", note);
  return TRUE;
}
