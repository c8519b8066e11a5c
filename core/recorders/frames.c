/* Frames in the order in which they come: from an index, or found in the files one after another.
 */
#include "config.h"
#include "core/recorders/recording.h"

#include "core/backend/backend.h"
#include "core/backend/threads.h"

/* Frames of threads, and of recorders on several lines, may be in another order than in time. */
#define DISORDER 16
#define DISORDER_OF_THREADS 4
#define ASK_EVERY ((guint64)1 << 20) /* bytes */

guint astro_recording_disorder(const AstroRecording *recording)
{
  return recording->index ? 0 : DISORDER + DISORDER_OF_THREADS * MAX(recording->n_rows, 1);
}

/* ---- with an index ---- */

static AstroRecorderFrame *indexed(const AstroRecording *recording, guint i)
{
  return &g_array_index(recording->index, AstroRecorderFrame, i);
}

static gint by_time(gconstpointer a, gconstpointer b)
{
  const AstroRecorderFrame *one = a, *other = b;
  if (one->begin != other->begin)
    return one->begin < other->begin ? -1 : 1;
  return one->file < other->file ? -1 : one->file > other->file;
}

/* Rows that come in frames of their own. */
static guint n_lanes(const AstroRecording *recording)
{
  return MAX((guint)astro_layout_samples(&recording->rows) / recording->frame_rows, 1);
}

gboolean astro_recording_sort(AstroRecording *recording, GError **error)
{
  const guint n = recording->index->len;
  if (n == 0)
    return astro_recorder_fail(error, FORMAT, "%s: the recording has no samples",
                               astro_recording_file(recording, 0)->name);
  g_array_sort(recording->index, by_time);
  recording->first = indexed(recording, 0)->begin;
  const guint lanes = n_lanes(recording);
  g_autofree gint64 *ends = g_new(gint64, lanes);
  gint64 last = recording->first;
  guint64 twice = 0;
  for (guint i = 0; i < lanes; i++)
    ends[i] = recording->first;
  for (guint i = 0; i < n; i++) {
    AstroRecorderFrame *frame = indexed(recording, i);
    gint64 *end = ends + frame->row / recording->frame_rows;
    const guint64 both = MIN((guint64)MAX(*end - frame->begin, 0), frame->steps);
    if (both > 0 && both == frame->steps)
      astro_recording_add_note(recording, "%s has samples of the same time as another file",
                               astro_recording_file(recording, frame->file)->name);
    else if (both > recording->overlap)
      twice += both - recording->overlap;
    frame->skip += both;
    frame->begin += (gint64)both;
    frame->steps -= both;
    last = MAX(last, frame->begin + (gint64)frame->steps);
    if (frame->is_valid)
      *end = MAX(*end, frame->begin + (gint64)frame->steps);
  }
  recording->steps = (guint64)(last - recording->first);
  if (twice > 0)
    astro_recording_add_note(recording,
                             "%s: headers say that files or blocks begin before those in front of "
                             "them end, so that %" G_GUINT64_FORMAT
                             " steps come twice, and are taken from the earlier ones",
                             astro_recording_file(recording, 0)->name, twice);
  return TRUE;
}

static gboolean next_indexed(AstroRecording *recording, AstroRecorderPlace *place,
                             AstroRecorderFrame *frame)
{
  if (place->file >= recording->index->len)
    return FALSE;
  *frame = *indexed(recording, place->file++);
  return TRUE;
}

/* The last frame that begins no later than a step, if it is the only one that can have it. */
static guint search_index(const AstroRecording *recording, gint64 step)
{
  guint from = 0, to = recording->index->len;
  while (to - from > 1) {
    const guint middle = from + (to - from) / 2;
    if (indexed(recording, middle)->begin <= step)
      from = middle;
    else
      to = middle;
  }
  return from;
}

/* With several lanes, the first frame that ends behind a step: there are as many as files. */
static guint scan_index(const AstroRecording *recording, gint64 step)
{
  guint at = 0;
  while (at + 1 < recording->index->len &&
         indexed(recording, at)->begin + (gint64)indexed(recording, at)->steps <= step)
    at++;
  return at;
}

static void place_indexed(AstroRecording *recording, gint64 step, AstroRecorderPlace *place)
{
  *place = (AstroRecorderPlace){ .file = n_lanes(recording) > 1 ? scan_index(recording, step)
                                                                : search_index(recording, step) };
}

/* ---- without one ---- */

static gboolean give_up(GError **error)
{
  if (!astro_is_given_up())
    return FALSE;
  g_set_error_literal(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP,
                      "the search was given up");
  return TRUE;
}

static gboolean next_parsed(AstroRecording *recording, AstroRecorderPlace *place,
                            AstroRecorderFrame *frame, guint64 *odd, GError **error)
{
  for (; place->file < recording->files->len; place->file++, place->at = 0) {
    const guint64 size = astro_recording_file(recording, place->file)->size;
    for (; place->at < size; place->at++, ++*odd) {
      GError *why = NULL;
      if (recording->format->parse(recording, place->file, place->at, frame, &why)) {
        place->at = frame->end;
        return TRUE;
      }
      if (why) {
        g_propagate_error(error, why);
        return FALSE;
      }
      if (place->at % ASK_EVERY == 0 && give_up(error))
        return FALSE;
    }
  }
  return FALSE;
}

/* The first file whose frames all begin after the step, or the number of files. */
static gboolean find_file(AstroRecording *recording, gint64 step, guint *file, GError **error)
{
  guint64 odd = 0;
  for (*file = 1; *file < recording->files->len; ++*file) {
    AstroRecorderPlace place = { *file, 0 };
    AstroRecorderFrame frame;
    GError *why = NULL;
    const gboolean is_found = next_parsed(recording, &place, &frame, &odd, &why);
    if (why) {
      g_propagate_error(error, why);
      return FALSE;
    }
    if (!is_found || frame.begin > step)
      break;
  }
  return TRUE;
}

static guint64 slack(const AstroRecording *recording)
{
  return (guint64)astro_recording_disorder(recording) * recording->frame_bytes;
}

static gboolean place_parsed(AstroRecording *recording, gint64 step, AstroRecorderPlace *place,
                             GError **error)
{
  guint file;
  if (!find_file(recording, step, &file, error))
    return FALSE;
  file--;
  guint64 from = 0, to = astro_recording_file(recording, file)->size / recording->frame_bytes;
  while (to - from > 1) {
    const guint64 middle = from + (to - from) / 2;
    AstroRecorderPlace try = { file, middle * recording->frame_bytes };
    AstroRecorderFrame frame;
    guint64 odd = 0;
    GError *why = NULL;
    const gboolean is_found = next_parsed(recording, &try, &frame, &odd, &why);
    if (why) {
      g_propagate_error(error, why);
      return FALSE;
    }
    if (is_found && frame.file == file && frame.begin <= step)
      from = middle;
    else
      to = middle;
  }
  const guint64 at = from * recording->frame_bytes;
  place->file = file;
  place->at = at > slack(recording)
                  ? (at - slack(recording)) / recording->frame_bytes * recording->frame_bytes
                  : 0;
  /* The frames of the file before may end here too. */
  if (place->at == 0 && file > 0) {
    const guint64 before = astro_recording_file(recording, file - 1)->size;
    place->file = file - 1;
    place->at = before > slack(recording)
                    ? (before - slack(recording)) / recording->frame_bytes * recording->frame_bytes
                    : 0;
  }
  return TRUE;
}

gboolean astro_recording_last(AstroRecording *recording, gint64 *end, GError **error)
{
  gboolean is_found = FALSE;
  for (guint file = recording->files->len; file-- > 0 && !is_found;) {
    const guint64 size = astro_recording_file(recording, file)->size;
    for (guint64 back = MAX(slack(recording), 1); !is_found; back *= 4) {
      const guint64 at =
          size > back ? (size - back) / recording->frame_bytes * recording->frame_bytes : 0;
      AstroRecorderPlace place = { file, at };
      AstroRecorderFrame frame;
      guint64 odd = 0;
      GError *why = NULL;
      while (next_parsed(recording, &place, &frame, &odd, &why) && frame.file == file) {
        const gint64 its_end = frame.begin + (gint64)frame.steps;
        *end = is_found ? MAX(*end, its_end) : its_end;
        is_found = TRUE;
      }
      if (why) {
        g_propagate_error(error, why);
        return FALSE;
      }
      if (at == 0)
        break;
    }
  }
  return is_found || astro_recorder_fail(error, FORMAT, "%s: the recording has no whole frame",
                                         astro_recording_file(recording, 0)->name);
}

/* ---- both ---- */

gboolean astro_recording_next(AstroRecording *recording, AstroRecorderPlace *place,
                              AstroRecorderFrame *frame, guint64 *odd, GError **error)
{
  return recording->index ? next_indexed(recording, place, frame)
                          : next_parsed(recording, place, frame, odd, error);
}

gboolean astro_recording_place(AstroRecording *recording, gint64 step, AstroRecorderPlace *place,
                               GError **error)
{
  if (!recording->index)
    return place_parsed(recording, step, place, error);
  place_indexed(recording, step, place);
  return TRUE;
}
