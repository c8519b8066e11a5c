/* Puts the samples of a packet where they belong in the stream's layout. */
#include "config.h"
#include "core/packets/place.h"

#include <string.h>
#include "core/kit/copy-rows.h"

#define refuse(error, ...) astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, __VA_ARGS__)

/* A packet's extent along an axis; 1 if its samples do not have the axis. */
static guint64 extent_in(const AstroPlaceConfig *config, AstroAxis axis)
{
  const gint at = astro_layout_find(&config->samples.layout, axis);
  return at < 0 ? 1 : config->samples.layout.extents[at];
}

static guint64 first_of(const AstroPlaceStream *stream, AstroAxis axis)
{
  return axis == ASTRO_AXIS_STATION   ? stream->station
         : axis == ASTRO_AXIS_POL     ? stream->pol
         : axis == ASTRO_AXIS_CHANNEL ? stream->channel
                                      : 0;
}

static gboolean check_axes(const AstroPlaceConfig *config, GError **error)
{
  const AstroLayout *in = &config->samples.layout, *out = &config->out.layout;
  const AstroFormat format = astro_packet_format(&config->samples);
  if (config->out.format != format)
    return refuse(error, "the packets' samples of %u bits become %s, and the stream has %s",
                  config->samples.bits, astro_format_name(format),
                  astro_format_name(config->out.format));
  if (astro_packet_payload_bytes(&config->samples) == 0)
    return refuse(error, "the packets do not tell how their samples lie");
  if (astro_layout_find(out, ASTRO_AXIS_TIME) < 0)
    return refuse(error, "the stream has no axis time, in which packets follow each other");
  for (guint i = 0; i < in->n_axes; i++) {
    const gint at = astro_layout_find(out, in->axes[i]);
    if (at < 0 && in->extents[i] == 1)
      continue; /* such as the single channel of voltages */
    if (at < 0)
      return refuse(error, "the packets have an axis %s, and the stream has none",
                    astro_axis_name(in->axes[i]));
    if (in->axes[i] != ASTRO_AXIS_TIME && out->extents[at] % in->extents[i])
      return refuse(error,
                    "packets with %" G_GUINT64_FORMAT " along the axis %s do not make up the "
                    "stream's %" G_GUINT64_FORMAT,
                    in->extents[i], astro_axis_name(in->axes[i]), out->extents[at]);
  }
  return TRUE;
}

/* The block's shape in parts of the size of a packet, one for each stream of packets and packet. */
static void shape_of_parts(const AstroPlaceConfig *config, guint64 packets, AstroLayout *shape)
{
  *shape = config->out.layout;
  for (guint i = 0; i < shape->n_axes; i++)
    shape->extents[i] = shape->axes[i] == ASTRO_AXIS_TIME
                            ? packets
                            : shape->extents[i] / extent_in(config, shape->axes[i]);
}

/* FALSE: the stream does not begin where a part does. */
static gboolean find_part(const AstroPlaceConfig *config, const AstroLayout *shape, guint stream,
                          guint64 packet, guint64 *part)
{
  guint64 strides[ASTRO_MAX_AXES];
  astro_layout_strides(shape, strides);
  *part = 0;
  for (guint i = 0; i < shape->n_axes; i++) {
    const guint64 extent = extent_in(config, shape->axes[i]);
    const guint64 first = first_of(&config->streams[stream], shape->axes[i]);
    const gboolean is_time = shape->axes[i] == ASTRO_AXIS_TIME;
    if (!is_time && (first % extent || first / extent >= shape->extents[i]))
      return FALSE;
    *part += (is_time ? packet : first / extent) * strides[i];
  }
  return TRUE;
}

gboolean astro_place_check(const AstroPlaceConfig *config, GError **error)
{
  AstroLayout shape;
  if (!check_axes(config, error))
    return FALSE;
  shape_of_parts(config, 1, &shape);
  const guint64 parts = astro_layout_samples(&shape);
  if (parts != config->n_streams)
    return refuse(error,
                  "there are %u streams of packets, and the stream has %" G_GUINT64_FORMAT
                  " parts of the size of a packet",
                  config->n_streams, parts);
  g_autofree guint *holders = g_new0(guint, parts);
  for (guint i = 0; i < config->n_streams; i++) {
    const AstroPlaceStream *stream = &config->streams[i];
    guint64 part;
    if (!find_part(config, &shape, i, 0, &part))
      return refuse(error,
                    "stream %u of packets begins at station %" G_GUINT64_FORMAT
                    ", pol %" G_GUINT64_FORMAT " and channel %" G_GUINT64_FORMAT
                    ", which no part of the stream does",
                    i, stream->station, stream->pol, stream->channel);
    if (holders[part])
      return refuse(error, "streams %u and %u of packets have the same place", holders[part] - 1,
                    i);
    holders[part] = i + 1;
  }
  return TRUE;
}

typedef enum { FILL, CLEAR, GATHER } Walk;

/* A packet's axes, slowest first, with the distance in the block between samples along each. Axes
 * of extent 1 are left out, and axes that are contiguous in both block and packet are merged. */
typedef struct {
  guint n;
  guint64 extents[ASTRO_MAX_AXES], strides[ASTRO_MAX_AXES];
  guint64 first; /* first sample in the block */
  guint64 unit;  /* samples that are contiguous in both, copied together */
} Way;

/* Most bytes that one copy of a known size moves (core/kit/copy-rows.h). */
#define MOST_UNIT 64

static void find_way(const AstroPlaceConfig *config, guint stream, guint packet, guint packets,
                     Way *way)
{
  const AstroLayout *in = &config->samples.layout;
  const guint64 steps = extent_in(config, ASTRO_AXIS_TIME);
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  *way = (Way){ 0 };
  astro_stream_shape(&config->out, steps * packets, &shape);
  astro_layout_strides(&shape, strides);
  for (guint i = 0; i < shape.n_axes; i++)
    way->first += strides[i] * (shape.axes[i] == ASTRO_AXIS_TIME
                                    ? packet * steps
                                    : first_of(&config->streams[stream], shape.axes[i]));
  for (guint i = 0; i < in->n_axes; i++) {
    const guint64 stride = astro_layout_stride_of(&shape, strides, in->axes[i]);
    if (in->extents[i] == 1)
      continue;
    if (way->n > 0 && way->strides[way->n - 1] == stride * in->extents[i]) {
      way->extents[way->n - 1] *= in->extents[i];
      way->strides[way->n - 1] = stride;
      continue;
    }
    way->extents[way->n] = in->extents[i];
    way->strides[way->n++] = stride;
  }
  if (way->n == 0) {
    way->n = 1;
    way->extents[0] = way->strides[0] = 1;
  }
  const guint row = way->n - 1;
  way->unit = 1;
  if (row > 0 && way->strides[row] == 1 &&
      way->extents[row] * astro_format_info(config->out.format)->bytes <= MOST_UNIT)
    way->unit = way->extents[way->n = row];
}

static void clear_row(guint8 *to, gsize step, guint64 n, gsize bytes)
{
  if (step == bytes)
    memset(to, 0, n * bytes);
  else
    for (; n > 0; n--, to += step)
      memset(to, 0, bytes);
}

static void copy_row(guint8 *to, gsize to_step, const guint8 *from, gsize from_step, guint64 n,
                     gsize bytes)
{
  const AstroLines row = { to, from, to_step, from_step, n };
  if (to_step == bytes && from_step == bytes)
    memcpy(to, from, n * bytes);
  else
    astro_lines_copy(&row, bytes);
}

/* Walks through a packet's samples in its own order, a row of its fastest axis at a time. */
static void walk(const AstroPlaceConfig *config, Walk what, guint stream, guint packet,
                 guint8 *samples, guint8 *block, guint packets)
{
  const gsize sample = astro_format_info(config->out.format)->bytes;
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  Way way;
  find_way(config, stream, packet, packets, &way);
  const guint row = way.n - 1;
  const gsize step = way.strides[row] * sample, bytes = way.unit * sample;
  const guint64 n = way.extents[row];
  for (;; samples += what == CLEAR ? 0 : n * bytes) {
    guint64 to = way.first;
    for (guint i = 0; i < row; i++)
      to += index[i] * way.strides[i];
    if (what == CLEAR)
      clear_row(block + to * sample, step, n, bytes);
    else if (what == FILL)
      copy_row(block + to * sample, step, samples, bytes, n, bytes);
    else
      copy_row(samples, bytes, block + to * sample, step, n, bytes);
    guint axis = row;
    while (axis > 0 && ++index[axis - 1] == way.extents[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return;
  }
}

void astro_place_samples(const AstroPlaceConfig *config, guint stream, guint packet,
                         gconstpointer samples, gpointer block, guint packets)
{
  walk(config, FILL, stream, packet, (gpointer)samples, block, packets);
}

void astro_place_zeros(const AstroPlaceConfig *config, guint stream, guint packet, gpointer block,
                       guint packets)
{
  static guint8 none;
  walk(config, CLEAR, stream, packet, &none, block, packets);
}

void astro_place_gather(const AstroPlaceConfig *config, guint stream, guint packet,
                        gconstpointer block, gpointer samples, guint packets)
{
  walk(config, GATHER, stream, packet, samples, (gpointer)block, packets);
}

AstroValidityMeta *astro_place_validity(const AstroPlaceConfig *config, const guint8 *came,
                                        guint packets, GstBuffer *block)
{
  AstroLayout shape;
  guint64 part;
  shape_of_parts(config, packets, &shape);
  AstroValidityMeta *meta = astro_buffer_add_validity(block, &shape, 1);
  for (guint stream = 0; stream < config->n_streams; stream++)
    for (guint packet = 0; packet < packets; packet++)
      if (find_part(config, &shape, stream, packet, &part))
        meta->counts[part] = came[(gsize)stream * packets + packet];
  meta->slowest_first = TRUE; /* all axes are counted */
  return meta;
}
