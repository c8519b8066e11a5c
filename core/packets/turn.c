/* Brings rows of packets into another order of axes. */
#include "config.h"
#include "core/packets/turn.h"

#include <string.h>
#include "core/lib/transpose/plan.h"

/* Larger units than this are copied well one by one, and rows of few packets gain nothing. */
#define MOST_UNIT 16
#define FEWEST_STREAMS 4
/* Rows beyond this would not stay in a core's caches. */
#define MOST_ROW_BYTES ((gsize)1 << 20)

struct _AstroTurnRow {
  AstroTurnRow *next; /* of the rows that are free */
  guint came;
  guint8 *has_come; /* by stream */
  guint8 *bytes;
};

struct _AstroTurn {
  guint streams;
  gsize packet_bytes;
  gsize step; /* bytes in the block from a packet to the next of its stream */
  AstroTransposePlan plan;
  AstroTurnRow *spare; /* the one that was used last, and is in the caches, first */
};

static guint64 samples_extent(const AstroPlaceConfig *config, AstroAxis axis)
{
  const gint at = astro_layout_find(&config->samples.layout, axis);
  return at < 0 ? 1 : config->samples.layout.extents[at];
}

static void add(AstroTransposeAxis *axes, guint *n, guint64 extent, gsize from, gsize to)
{
  if (extent > 1)
    axes[(*n)++] = (AstroTransposeAxis){ .extent = extent, .from = from, .to = to };
}

/* The axes of a row: of groups of stations, pols and channels, in the order of the streams, then
 * those of a packet. */
static guint find_axes(const AstroPlaceConfig *config, const AstroPacketGroups *g,
                       const AstroLayout *shape, gsize packet_bytes, AstroTransposeAxis *axes)
{
  const gsize bytes = astro_format_info(config->out.format)->bytes;
  const AstroLayout *in = &config->samples.layout;
  guint64 strides[ASTRO_MAX_AXES], from[ASTRO_MAX_AXES];
  guint n = 0;
  astro_layout_strides(shape, strides);
  astro_layout_strides(in, from);
  const struct {
    AstroAxis axis;
    guint64 groups, of_group;
    gsize from;
  } groups[] = {
    { ASTRO_AXIS_STATION, g->stations, g->of_station, packet_bytes * g->pols * g->channels },
    { ASTRO_AXIS_POL, g->pols, g->of_pol, packet_bytes * g->channels },
    { ASTRO_AXIS_CHANNEL, g->channels, g->of_channel, packet_bytes },
  };
  for (guint i = 0; i < G_N_ELEMENTS(groups); i++)
    add(axes, &n, groups[i].groups, groups[i].from,
        astro_layout_stride_of(shape, strides, groups[i].axis) * groups[i].of_group * bytes);
  for (guint i = 0; i < in->n_axes; i++)
    add(axes, &n, in->extents[i], from[i] * bytes,
        astro_layout_stride_of(shape, strides, in->axes[i]) * bytes);
  return n;
}

/* Makes the innermost axes part of the unit as long as they are contiguous on both sides. */
static gsize fold(AstroTransposeAxis *axes, guint *n, gsize unit)
{
  while (*n > 0 && axes[*n - 1].from == unit && axes[*n - 1].to == unit)
    unit *= axes[--*n].extent;
  return unit;
}

AstroTurn *astro_turn_new(const AstroPlaceConfig *config, const AstroPacketGroups *groups,
                          guint packets)
{
  const gsize bytes = astro_format_info(config->out.format)->bytes;
  const guint64 steps = samples_extent(config, ASTRO_AXIS_TIME);
  const gsize packet_bytes = astro_layout_samples(&config->samples.layout) * bytes;
  AstroTransposeAxis axes[ASTRO_MAX_AXES + 3];
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  astro_stream_shape(&config->out, steps * packets, &shape);
  astro_layout_strides(&shape, strides);
  guint n = find_axes(config, groups, &shape, packet_bytes, axes);
  const gsize unit = fold(axes, &n, bytes);
  if (unit > MOST_UNIT || n == 0 || n > ASTRO_MAX_AXES || config->n_streams < FEWEST_STREAMS ||
      packet_bytes > MOST_ROW_BYTES / config->n_streams)
    return NULL;
  AstroTurn *turn = g_new0(AstroTurn, 1);
  turn->streams = config->n_streams;
  turn->packet_bytes = packet_bytes;
  turn->step = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME) * steps * bytes;
  astro_transpose_plan_part(&turn->plan, NULL, unit, axes, n);
  return turn;
}

void astro_turn_free(AstroTurn *turn)
{
  while (turn->spare) {
    AstroTurnRow *row = turn->spare;
    turn->spare = row->next;
    g_free(row->has_come);
    g_aligned_free(row->bytes);
    g_free(row);
  }
  g_free(turn);
}

AstroTurnRow *astro_turn_begin(AstroTurn *turn)
{
  AstroTurnRow *row = turn->spare;
  if (row) {
    turn->spare = row->next;
  } else {
    row = g_new0(AstroTurnRow, 1);
    row->has_come = g_malloc(turn->streams);
    row->bytes = g_aligned_alloc(1, turn->streams * turn->packet_bytes + ASTRO_TRANSPOSE_SLACK, 64);
  }
  row->came = 0;
  memset(row->has_come, 0, turn->streams);
  return row;
}

guint8 *astro_turn_place(const AstroTurn *turn, AstroTurnRow *row, guint stream)
{
  row->has_come[stream] = 1;
  return row->bytes + stream * turn->packet_bytes;
}

gboolean astro_turn_is_whole(const AstroTurn *turn, AstroTurnRow *row)
{
  return ++row->came == turn->streams;
}

void astro_turn_end(AstroTurn *turn, AstroTurnRow *row, guint packet, gpointer block)
{
  for (guint i = 0; row->came < turn->streams && i < turn->streams; i++)
    if (!row->has_come[i])
      memset(row->bytes + i * turn->packet_bytes, 0, turn->packet_bytes);
  astro_transpose_run(&turn->plan, astro_transpose_kernels(), 1,
                      (guint8 *)block + packet * turn->step, row->bytes);
  astro_turn_drop(turn, row);
}

void astro_turn_drop(AstroTurn *turn, AstroTurnRow *row)
{
  row->next = turn->spare;
  turn->spare = row;
}
