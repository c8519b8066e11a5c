/* Reads blocks: places what frames have of them, and counts what none has. */
#include "config.h"
#include "core/recorders/recording.h"

#include "core/backend/backend.h"
#include "core/backend/threads.h"
#include "core/lib/transpose/plan.h"
#include "core/recorders/lanes.h"
#include "core/recorders/turn.h"

#include <string.h>

/* Pieces that are unpacked from the window, in components: a multiple of what words hold. */
#define PIECE ((guint64)1 << 17)
/* Pieces that are worth reading straight into place, in bytes. */
#define LONG ((gsize)64 << 10)
/* Two lanes are put among each other in pieces of so many bytes, while these are in the innermost
 * cache; the rows of a block with more of them are transposed when all are there. */
#define LANE_PIECE 8192

/* The block that is being read, with its rows one behind the other, or time:rows. */
typedef struct {
  gint64 begin, end; /* in the frames' numbers */
  guint64 steps;
  guint8 *rows;
  gboolean is_by_time;
  guint64 cell;    /* steps that share a mark */
  guint64 cells;   /* in a row */
  guint n_lanes;   /* rows that come in frames of their own */
  guint8 *is_good; /* lanes by cells */
} Block;

static gsize step_bytes(const AstroRecording *recording)
{
  return recording->inner_components * astro_recorder_component_bytes(&recording->packing);
}

/* ---- samples ---- */

static gboolean unpack(AstroRecording *recording, const AstroRecorderFrame *frame, guint64 first,
                       guint64 n, guint8 *out, GError **error)
{
  const AstroRecorderPacking *packing = &recording->packing;
  AstroRecorderFile *file = astro_recording_file(recording, frame->file);
  const gsize bytes = astro_recorder_component_bytes(packing);
  if (astro_recorder_is_plain(packing) && n * bytes >= LONG)
    return astro_recorder_file_read(file, frame->at + first * bytes, out, n * bytes, error);
  for (guint64 done = 0, piece; done < n; done += piece) {
    const guint64 component = first + done, from = astro_recorder_byte_of(packing, component);
    const guint64 before = astro_recorder_before(packing, component);
    piece = MIN(n - done, PIECE);
    const gsize needed = astro_recorder_bytes(packing, before + piece);
    gsize got;
    const guint8 *in = astro_recorder_file_bytes(file, frame->at + from, needed, &got, error);
    if (!in)
      return FALSE;
    if (got < needed)
      return astro_recorder_fail(error, READ, "%s: it became shorter while it was read",
                                 file->name);
    astro_recorder_unpack(packing, in, before, piece, out + done * bytes);
  }
  return TRUE;
}

/* Channels whose frequencies fall are put in reverse. */
static guint row_of(const AstroRecording *recording, guint row)
{
  const AstroLayout *rows = &recording->rows;
  const gint channel = astro_layout_find(rows, ASTRO_AXIS_CHANNEL);
  if (!recording->is_turned || channel < 0)
    return row;
  guint64 strides[ASTRO_MAX_AXES];
  astro_layout_strides(rows, strides);
  const guint64 stride = strides[channel], n = rows->extents[channel], at = row / stride % n;
  return (guint)(row + (n - 1 - at) * stride - at * stride);
}

/* Some steps of a row: their place in the block, and that of their samples in the frame. */
typedef struct {
  guint row;
  gint64 from;
  guint64 n;
  guint64 component;
} Piece;

static gboolean unpack_steps(AstroRecording *recording, const AstroRecorderFrame *frame,
                             const Piece *piece, guint8 *out, GError **error)
{
  if (!unpack(recording, frame, piece->component, piece->n * recording->inner_components, out,
              error))
    return FALSE;
  if (recording->is_turned)
    astro_recorder_turn(&recording->packing, &recording->inner, piece->from - recording->first,
                        piece->n, out);
  return TRUE;
}

static gboolean place_row(AstroRecording *recording, const Block *block,
                          const AstroRecorderFrame *frame, const Piece *whole, GError **error)
{
  const gsize bytes = step_bytes(recording);
  const guint64 at = (guint64)(whole->from - block->begin), some = LANE_PIECE / bytes;
  guint8 steps[LANE_PIECE];
  if (!block->is_by_time)
    return unpack_steps(recording, frame, whole,
                        block->rows + (whole->row * block->steps + at) * bytes, error);
  for (guint64 done = 0; done < whole->n; done += some) {
    const Piece piece = { whole->row, whole->from + (gint64)done, MIN(whole->n - done, some),
                          whole->component + done * recording->inner_components };
    if (!unpack_steps(recording, frame, &piece, steps, error))
      return FALSE;
    astro_recorder_place_lane(block->rows, piece.row, bytes, at + done, steps, piece.n);
  }
  return TRUE;
}

static guint64 heap_steps(const AstroRecording *recording, const AstroRecorderFrame *frame)
{
  return recording->heap ? recording->heap : frame->stored;
}

/* Steps of all rows of a frame, which lie in one of its heaps. */
static gboolean place_heap(AstroRecording *recording, const Block *block,
                           const AstroRecorderFrame *frame, gint64 from, gint64 to, GError **error)
{
  const guint64 n = (guint64)(to - from), inner = recording->inner_components;
  const guint64 heap = heap_steps(recording, frame);
  const guint64 step = frame->skip + (guint64)(from - frame->begin);
  for (guint i = 0; i < recording->frame_rows; i++) {
    const Piece piece = {
      .row = row_of(recording, frame->row + i),
      .from = from,
      .n = n,
      .component = ((step / heap * recording->frame_rows + i) * heap + step % heap) * inner,
    };
    if (astro_is_given_up()) {
      g_set_error_literal(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP,
                          "the block was given up");
      return FALSE;
    }
    if (!place_row(recording, block, frame, &piece, error))
      return FALSE;
  }
  return TRUE;
}

/* The steps that frame and block share. */
static gboolean place_rows(AstroRecording *recording, const Block *block,
                           const AstroRecorderFrame *frame, gint64 from, gint64 to, GError **error)
{
  const guint64 heap = heap_steps(recording, frame);
  for (gint64 end; from < to; from = end) {
    const guint64 into = (frame->skip + (guint64)(from - frame->begin)) % heap;
    end = from + (gint64)MIN((guint64)(to - from), heap - into);
    if (!place_heap(recording, block, frame, from, end, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- marks ---- */

static guint8 *marks_of(const Block *block, guint lane, gint64 step)
{
  return block->is_good + lane * block->cells + (guint64)(step - block->begin) / block->cell;
}

static gboolean place(AstroRecording *recording, const Block *block,
                      const AstroRecorderFrame *frame, gboolean is_new, GError **error)
{
  const gint64 from = MAX(frame->begin, block->begin),
               to = MIN(frame->begin + (gint64)frame->steps, block->end);
  if (from >= to || !frame->is_valid)
    return TRUE;
  guint8 *marks = marks_of(block, frame->row / recording->frame_rows, from);
  if (*marks) {
    recording->stats.duplicate += is_new;
    return TRUE;
  }
  if (!place_rows(recording, block, frame, from, to, error))
    return FALSE;
  memset(marks, 1, ((guint64)(to - from) + block->cell - 1) / block->cell);
  return TRUE;
}

static gboolean is_before(const AstroRecorderPlace *a, const AstroRecorderPlace *b)
{
  return a->file != b->file ? a->file < b->file : a->at < b->at;
}

static void count(AstroRecording *recording, const Block *block, const AstroRecorderFrame *frame,
                  guint64 odd)
{
  recording->stats.frames++;
  recording->stats.invalid += !frame->is_valid;
  recording->stats.late +=
      !recording->is_sought && frame->begin + (gint64)frame->steps <= block->begin;
  recording->stats.odd_bytes += odd;
}

/* Looks at all frames that may have part of the block: those that follow it may be in front of one
 * that does not, and are looked at again for the next block. */
static gboolean place_all(AstroRecording *recording, const Block *block, GError **error)
{
  const guint most = astro_recording_disorder(recording);
  AstroRecorderPlace at = recording->place, resume = at;
  gboolean has_resume = FALSE;
  for (guint ahead = 0; ahead <= most;) {
    const AstroRecorderPlace before = at;
    AstroRecorderFrame frame;
    guint64 odd = 0;
    GError *why = NULL;
    if (!astro_recording_next(recording, &at, &frame, &odd, &why)) {
      if (why) {
        g_propagate_error(error, why);
        return FALSE;
      }
      if (is_before(&recording->seen, &at))
        recording->stats.odd_bytes += odd;
      recording->seen = at;
      break;
    }
    const gboolean is_new = !is_before(&before, &recording->seen);
    const gboolean is_whole = frame.begin + (gint64)frame.steps <= block->end;
    if (!is_whole && !has_resume) {
      resume = before;
      has_resume = TRUE;
    }
    if (frame.begin >= block->end) {
      ahead++;
      continue;
    }
    if (is_new) {
      count(recording, block, &frame, odd);
      recording->seen = at;
    }
    if (!place(recording, block, &frame, is_new, error))
      return FALSE;
  }
  recording->place = has_resume ? resume : at;
  return TRUE;
}

static void clear_steps(const AstroRecording *recording, const Block *block, guint row,
                        guint64 from, guint64 to)
{
  static const guint8 zeros[LANE_PIECE];
  const gsize bytes = step_bytes(recording);
  if (!block->is_by_time) {
    memset(block->rows + (row * block->steps + from) * bytes, 0, (to - from) * bytes);
    return;
  }
  for (guint64 some = LANE_PIECE / bytes; from < to; from += some)
    astro_recorder_place_lane(block->rows, row, bytes, from, zeros, MIN(to - from, some));
}

/* Samples that no frame has are zeros. */
static guint64 clear_lost(const AstroRecording *recording, const Block *block)
{
  guint64 lost = 0;
  for (guint lane = 0; lane < block->n_lanes; lane++)
    for (guint64 cell = 0, end; cell < block->cells; cell = end) {
      const guint8 *marks = block->is_good + lane * block->cells;
      const guint8 *change = memchr(marks + cell, !marks[cell], block->cells - cell);
      end = change ? (guint64)(change - marks) : block->cells;
      if (marks[cell])
        continue;
      const guint64 from = cell * block->cell, to = MIN(end * block->cell, block->steps);
      for (guint i = 0; i < recording->frame_rows; i++)
        clear_steps(recording, block, lane * recording->frame_rows + i, from, to);
      lost += (to - from) * recording->frame_rows;
    }
  return lost;
}

/* Counts by time, and by rows if these come in frames of their own; a single one for a block
 * without losses. */
static void add_counts(const AstroRecording *recording, const Block *block, gboolean has_lost,
                       GstBuffer *buffer)
{
  AstroLayout shape = { 0 };
  const AstroLayout time = { 1, { ASTRO_AXIS_TIME }, { block->cells } };
  const gboolean has_lanes = block->n_lanes > 1;
  const AstroLayout *order[] = { recording->is_moved ? &time : &recording->rows,
                                 recording->is_moved ? &recording->rows : &time };
  for (guint i = 0; i < 2 && has_lost; i++)
    for (guint k = 0; k < order[i]->n_axes; k++)
      if (order[i] == &time || (has_lanes && order[i]->extents[k] > 1))
        astro_recorder_add_axis(&shape, order[i]->axes[k], order[i]->extents[k]);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  if (!has_lost)
    return;
  for (guint lane = 0; lane < block->n_lanes; lane++)
    for (guint64 cell = 0; cell < block->cells; cell++)
      meta->counts[recording->is_moved ? cell * block->n_lanes + lane
                                       : lane * block->cells + cell] =
          block->is_good[lane * block->cells + cell];
}

/* ---- blocks ---- */

/* From rows:time:inner to time:rows:inner. */
static void move(const AstroRecording *recording, const Block *block, gpointer out)
{
  const guint64 inner = astro_layout_samples(&recording->inner);
  AstroTransposeConfig config = {
    .n_axes = 3,
    .extents = { recording->n_rows, block->steps, inner },
    .order = { 1, 0, 2 },
    .sample_bytes = astro_stream_sample_bytes(&recording->stream),
  };
  AstroTransposePlan plan;
  astro_transpose_simplify(&config);
  astro_transpose_plan(&plan, NULL, &config);
  astro_transpose_run(&plan, astro_transpose_kernels(), 1, out, block->rows);
}

static gboolean make_room(AstroRecording *recording, gsize bytes, GError **error)
{
  if (bytes <= recording->scratch_bytes)
    return TRUE;
  g_free(recording->scratch);
  recording->scratch_bytes = 0;
  recording->scratch = g_try_malloc(bytes);
  if (!recording->scratch)
    return astro_recorder_fail(error, READ, "no memory for a block of %zu bytes", bytes);
  recording->scratch_bytes = bytes;
  return TRUE;
}

static gboolean seek(AstroRecording *recording, guint64 first, GError **error)
{
  if (!astro_recording_place(recording, recording->first + (gint64)first, &recording->place, error))
    return FALSE;
  recording->seen = recording->place;
  recording->is_sought = TRUE;
  return TRUE;
}

gboolean astro_recording_find(AstroRecording *recording, guint64 from, guint64 *step,
                              GError **error)
{
  AstroRecorderPlace at;
  AstroRecorderFrame frame;
  const gint64 wanted = recording->first + (gint64)from;
  gint64 found = 0;
  gboolean has_found = FALSE;
  guint64 odd = 0;
  if (!astro_recording_place(recording, wanted, &at, error))
    return FALSE;
  for (guint ahead = 0; ahead <= astro_recording_disorder(recording);) {
    GError *why = NULL;
    if (!astro_recording_next(recording, &at, &frame, &odd, &why)) {
      if (why) {
        g_propagate_error(error, why);
        return FALSE;
      }
      break;
    }
    if (frame.begin + (gint64)frame.steps <= wanted)
      continue;
    ahead++;
    found = has_found ? MIN(found, frame.begin) : frame.begin;
    has_found = TRUE;
  }
  *step = (guint64)(MAX(found, wanted) - recording->first);
  return has_found;
}

/* lost: steps of rows. */
static void count_samples(AstroRecording *recording, guint64 lost, guint64 steps)
{
  const guint64 inner = astro_layout_samples(&recording->inner);
  recording->stats.lost += lost * inner;
  recording->stats.samples += steps * recording->n_rows * inner;
}

gboolean astro_recording_read(AstroRecording *recording, guint64 first, guint64 steps,
                              gpointer data, GstBuffer *buffer, gboolean *is_lost, GError **error)
{
  const guint64 grid = recording->grid;
  const gboolean is_aligned = grid && first % grid == 0 && steps % grid == 0;
  const gint64 begin = recording->first + (gint64)first;
  Block block = {
    .begin = begin,
    .end = begin + (gint64)steps,
    .steps = steps,
    .rows = data,
    .is_by_time =
        recording->is_moved && astro_recorder_has_lanes(recording->n_rows, step_bytes(recording)),
    .cell = is_aligned ? grid : 1,
    .n_lanes = recording->n_rows / recording->frame_rows,
  };
  block.cells = steps / block.cell;
  const gboolean is_transposed = recording->is_moved && !block.is_by_time;
  if (is_transposed) {
    if (!make_room(recording, recording->n_rows * steps * step_bytes(recording), error))
      return FALSE;
    block.rows = recording->scratch;
  }
  if (first != recording->next && !seek(recording, first, error))
    return FALSE;
  recording->next = G_MAXUINT64;
  g_autofree guint8 *is_good = g_malloc0(block.n_lanes * block.cells);
  block.is_good = is_good;
  if (!place_all(recording, &block, error))
    return FALSE;
  recording->next = first + steps;
  recording->is_sought = FALSE;
  const guint64 lost = clear_lost(recording, &block);
  *is_lost = lost == steps * recording->n_rows;
  count_samples(recording, lost, steps);
  if (is_transposed && !*is_lost)
    move(recording, &block, data);
  add_counts(recording, &block, lost > 0, buffer);
  return TRUE;
}

void astro_recording_skip(AstroRecording *recording, guint64 steps)
{
  count_samples(recording, steps * recording->n_rows, steps);
}

guint64 astro_recording_block(const AstroRecording *recording, gsize bytes)
{
  const guint64 unit = MAX(recording->grid, 1);
  const guint64 wanted = bytes / MAX(recording->n_rows * step_bytes(recording), 1);
  return MAX(wanted / unit, 1) * unit;
}
