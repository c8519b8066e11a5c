/* Puts an integration of a file into one of a stream that has more stations. */
#include <string.h>

#include "core/lib/rows/join.h"

/* A baseline of the file, and where it is in the stream. */
typedef struct {
  guint64 from, to;
  gboolean is_swapped; /* the stream has its stations in the opposite order */
} Pair;

static Pair pair_of(const AstroRowFile *file, guint i, guint j)
{
  const guint64 one = file->station_of[i], two = file->station_of[j], high = MAX(one, two),
                low = MIN(one, two);
  return (Pair){ .from = (guint64)i * (i + 1) / 2 + j,
                 .to = high * (high + 1) / 2 + low,
                 .is_swapped = one < two };
}

/* V_ji is the conjugate of V_ij, with the polarisations of i and j exchanged. */
static void place_values(const Pair *pair, guint pols, guint64 from, guint64 to,
                         const AstroRowFrame *own, AstroRowFrame *frame)
{
  for (guint p = 0; p < pols; p++)
    for (guint q = 0; q < pols; q++) {
      const guint64 of = from + p * pols + q,
                    at = to + (pair->is_swapped ? q * pols + p : p * pols + q);
      frame->counts[at] = own->counts[of];
      frame->data[2 * at] = own->data[2 * of];
      frame->data[2 * at + 1] = pair->is_swapped ? -own->data[2 * of + 1] : own->data[2 * of + 1];
    }
}

void astro_row_place(const AstroRowFile *file, const AstroStream *stream, const AstroRowFrame *own,
                     AstroRowFrame *frame)
{
  const AstroStream *s = &file->contents->stream;
  const guint64 channels = astro_stream_extent(s, ASTRO_AXIS_CHANNEL),
                few = astro_stream_extent(s, ASTRO_AXIS_BASELINE),
                many = astro_stream_extent(stream, ASTRO_AXIS_BASELINE),
                values = astro_layout_samples(&stream->layout);
  const guint pols = (guint)astro_stream_extent(s, ASTRO_AXIS_POL);
  memset(frame->data, 0, 2 * values * sizeof *frame->data);
  memset(frame->counts, 0, values * sizeof *frame->counts);
  if (frame->uvw)
    memset(frame->uvw, 0, 3 * many * sizeof *frame->uvw);
  if (frame->absent)
    memset(frame->absent, TRUE, many);
  for (guint i = 0; i < file->contents->stations; i++)
    for (guint j = 0; j <= i; j++) {
      const Pair pair = pair_of(file, i, j);
      for (guint64 c = 0; c < channels; c++)
        place_values(&pair, pols, (c * few + pair.from) * pols * pols,
                     (c * many + pair.to) * pols * pols, own, frame);
      if (frame->absent)
        frame->absent[pair.to] = own->absent[pair.from];
      for (guint k = 0; frame->uvw && k < 3; k++)
        frame->uvw[3 * pair.to + k] =
            pair.is_swapped ? -own->uvw[3 * pair.from + k] : own->uvw[3 * pair.from + k];
    }
  frame->full = own->full;
  frame->not_finite = own->not_finite;
  frame->start_ns = own->start_ns;
  frame->duration_ns = own->duration_ns;
}
