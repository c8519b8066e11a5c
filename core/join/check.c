/* Checks configurations and blocks of the join stage, and bands that are joined. */
#include "config.h"
#include "core/join/check.h"

#include <math.h>

gboolean astro_join_shape(gconstpointer data, GError **error)
{
  const AstroJoinConfig *config = data;
  guint found = 0;
  for (guint i = 0; i < config->out.layout.n_axes; i++)
    found += config->out.layout.axes[i] == config->axis && config->out.layout.extents[i];
  return found == 1 ||
         astro_backend_refuse(error, "join: the layout has axis %s %u times, expected once",
                              astro_axis_name(config->axis), found);
}

static gboolean check_piece(const AstroJoinConfig *config, const AstroJoinArguments *arguments,
                            const AstroJoinPiece *p, const AstroBlock *in, GError **error)
{
  const guint64 extent = astro_stream_extent(&config->out, config->axis);
  const gsize bytes = astro_stream_step_bytes(&config->out) / extent * p->extent * p->steps;
  return (p->extent && p->n && p->place + p->extent <= extent && p->first + p->n <= p->steps &&
          p->at + p->n <= arguments->steps && (!in->data || in->bytes >= bytes)) ||
         astro_backend_refuse(
             error,
             "join: a piece of %" G_GUINT64_FORMAT " steps at %" G_GUINT64_FORMAT
             " and %s %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " in %" G_GSIZE_FORMAT
             " bytes does not fit a block of %" G_GUINT64_FORMAT " steps and %" G_GUINT64_FORMAT,
             p->n, p->at, astro_axis_name(config->axis), p->place, p->place + p->extent, in->bytes,
             arguments->steps, extent);
}

gboolean astro_join_check(const AstroJoinConfig *config, const AstroBlock *in, guint n_in,
                          const AstroBlock *out, guint n_out, const AstroJoinArguments *arguments,
                          GError **error)
{
  if (n_in == 0 || n_out != 1 || arguments->steps == 0 ||
      out->bytes < arguments->steps * astro_stream_step_bytes(&config->out))
    return astro_backend_refuse(error,
                                "join: %u blocks in, %u out of %" G_GSIZE_FORMAT
                                " bytes, expected at least one and one of %" G_GSIZE_FORMAT,
                                n_in, n_out, n_out ? out->bytes : 0,
                                arguments->steps * astro_stream_step_bytes(&config->out));
  for (guint i = 0; i < n_in; i++)
    if (!check_piece(config, arguments, &arguments->pieces[i], &in[i], error))
      return FALSE;
  return TRUE;
}

void astro_join_axes(const AstroJoinConfig *config, guint64 steps, AstroJoinAxes *axes)
{
  astro_stream_shape(&config->out, steps, &axes->shape);
  axes->time = astro_layout_find(&axes->shape, ASTRO_AXIS_TIME);
  axes->axis = astro_layout_find(&axes->shape, config->axis);
}

void astro_join_piece_shape(const AstroJoinAxes *axes, const AstroJoinPiece *piece,
                            AstroLayout *shape)
{
  *shape = axes->shape;
  shape->extents[axes->axis] = piece->extent;
  if (axes->time >= 0)
    shape->extents[axes->time] = piece->steps;
}

void astro_join_piece_range(const AstroJoinAxes *axes, const AstroJoinPiece *piece, guint axis,
                            guint64 *to, guint64 *from, guint64 *n)
{
  *to = *from = 0;
  *n = axes->shape.extents[axis];
  if ((gint)axis == axes->axis) {
    *to = piece->place;
    *n = piece->extent;
  } else if ((gint)axis == axes->time) {
    *to = piece->at;
    *from = piece->first;
    *n = piece->n;
  }
}

void astro_join_find_box(const AstroJoinConfig *config, guint64 steps, const AstroJoinPiece *piece,
                         AstroBox *box)
{
  AstroJoinAxes axes;
  AstroLayout shape;
  astro_join_axes(config, steps, &axes);
  astro_join_piece_shape(&axes, piece, &shape);
  *box = (AstroBox){ .n_axes = shape.n_axes, .bytes = astro_stream_sample_bytes(&config->out) };
  astro_layout_strides(&shape, box->from_step);
  astro_layout_strides(&axes.shape, box->to_step);
  for (guint i = 0; i < box->n_axes; i++) {
    guint64 to, from;
    astro_join_piece_range(&axes, piece, i, &to, &from, &box->n[i]);
    box->to_step[i] *= box->bytes;
    box->from_step[i] *= box->bytes;
    box->to += to * box->to_step[i];
    box->from += from * box->from_step[i];
  }
  astro_box_simplify(box);
}

/* ---- bands ---- */

#define MHZ 1e6

gboolean astro_join_bands(const AstroJoinBand *bands, guint n, double *frequency, double *bandwidth,
                          GError **error)
{
  const double width = bands[0].bandwidth / (double)bands[0].channels;
  for (guint i = 1; i < n; i++) {
    const AstroJoinBand *a = &bands[i - 1], *b = &bands[i];
    const double other = b->bandwidth / (double)b->channels;
    const double end = a->frequency + a->bandwidth / 2, begin = b->frequency - b->bandwidth / 2;
    if (!(fabs(other - width) <= 1e-9 * width))
      return astro_stream_refuse(
          error, ASTRO_STREAM_ERROR_CAPS,
          "%s: channels are %.9g MHz wide, but those of %s are %.9g MHz wide: "
          "expected the same width",
          b->name, other / MHZ, a->name, width / MHZ);
    if (!(fabs(end - begin) <= 1e-6 * width))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "%s: the band begins at %.9g MHz, but that of %s ends at %.9g "
                                 "MHz: expected contiguous bands, rising with the pads' numbers",
                                 b->name, begin / MHZ, a->name, end / MHZ);
  }
  const double low = bands[0].frequency - bands[0].bandwidth / 2,
               high = bands[n - 1].frequency + bands[n - 1].bandwidth / 2;
  *frequency = (low + high) / 2;
  *bandwidth = high - low;
  return TRUE;
}
