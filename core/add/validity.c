/* Counts of the good samples behind sums and means: those of all streams together. */
#include "config.h"
#include "core/add/check.h"

/* Whether any piece has separate counts along an axis. */
static gboolean is_counted(const AstroAddConfig *config, const AstroAddArguments *arguments,
                           guint n_pieces, guint axis, guint n_axes)
{
  for (guint i = 0; i < n_pieces; i++) {
    const AstroAddPiece *piece = &arguments->pieces[i];
    AstroValidityAxis axes[ASTRO_MAX_AXES];
    AstroLayout shape;
    if (!piece->meta)
      continue;
    astro_add_piece_shape(config, piece, &shape);
    astro_validity_axes(piece->meta, &shape, axes);
    /* A single step of a layout without time has one axis less than several steps have. */
    const gint own = (gint)axis + (gint)shape.n_axes - (gint)n_axes;
    if (own >= 0 && axes[own].stride)
      return TRUE;
  }
  return FALSE;
}

static guint32 count_of(const AstroAddConfig *config, const AstroAddPiece *piece, guint64 step,
                        const guint64 *index, const AstroLayout *block, gint time)
{
  guint64 own[ASTRO_MAX_AXES] = { 0 };
  AstroLayout shape;
  if (!piece->meta)
    return piece->full;
  astro_add_piece_shape(config, piece, &shape);
  const guint64 from = step - piece->at + piece->first;
  const gint own_time = astro_layout_find(&shape, ASTRO_AXIS_TIME);
  for (guint i = 0, k = 0; i < block->n_axes; i++)
    if ((gint)i != time)
      own[k++ + (own_time >= 0)] = index[i];
  if (own_time >= 0)
    own[own_time] = from;
  return astro_validity_at(piece->meta, &shape, own);
}

void astro_add_validity(const AstroAddConfig *config, const AstroAddArguments *arguments,
                        guint n_pieces, guint32 full, GstBuffer *out)
{
  AstroLayout block, shape = { 0 };
  guint which[ASTRO_MAX_AXES];
  astro_stream_shape(&config->stream, arguments->steps, &block);
  const gint time = astro_layout_find(&block, ASTRO_AXIS_TIME);
  for (guint i = 0; i < block.n_axes; i++) {
    if ((gint)i != time && !is_counted(config, arguments, n_pieces, i, block.n_axes))
      continue;
    which[shape.n_axes] = i;
    shape.axes[shape.n_axes] = block.axes[i];
    shape.extents[shape.n_axes++] = block.extents[i];
  }
  AstroValidityMeta *meta = astro_buffer_add_validity(out, &shape, full);
  meta->slowest_first = shape.n_axes && which[0] == 0;
  for (guint64 k = 0, n = astro_validity_n_counts(meta); k < n; k++) {
    guint64 index[ASTRO_MAX_AXES] = { 0 }, rest = k, sum = 0;
    for (guint i = shape.n_axes; i-- > 0; rest /= shape.extents[i])
      index[which[i]] = rest % shape.extents[i];
    const guint64 step = time >= 0 ? index[time] : 0;
    for (guint i = 0; i < n_pieces; i++) {
      const AstroAddPiece *piece = &arguments->pieces[i];
      if (step >= piece->at && step < piece->at + piece->n)
        sum += count_of(config, piece, step, index, &block, time);
    }
    meta->counts[k] = (guint32)MIN(sum, G_MAXUINT32);
  }
}
