/* The times of frames that are numbered anew in each second, as those of VDIF and Mark 5B: how many
 * there are in a second no header says. */
#include "config.h"
#include "core/recorders/recording.h"

#define NUMBER_BITS 24
#define CHANGES 2 /* of the second that are looked at, as frames may be lost at one */
#define MOST_BEGIN ((gint64)1 << 60)

gint64 astro_recording_begin_of(const AstroRecording *recording, gint64 second, guint64 number)
{
  if (recording->frames_a_second == 0)
    return second << NUMBER_BITS | (gint64)number;
  return (second * (gint64)recording->frames_a_second + (gint64)number) *
         (gint64)recording->frame_steps;
}

static gint64 second_of(const AstroRecorderFrame *frame)
{
  return frame->begin >> NUMBER_BITS;
}

static guint64 number_of(const AstroRecorderFrame *frame)
{
  return (guint64)frame->begin & (((guint64)1 << NUMBER_BITS) - 1);
}

/* The next frame of one file. FALSE without an error: there is none. */
static gboolean next_of(AstroRecording *recording, AstroRecorderPlace *place,
                        AstroRecorderFrame *frame, GError **error)
{
  const guint file = place->file;
  guint64 odd = 0;
  return astro_recording_next(recording, place, frame, &odd, error) && frame->file == file;
}

/* The place, in frames, from which on a file's seconds are later than this one. FALSE without an
 * error: there is none. */
static gboolean find_change(AstroRecording *recording, guint file, gint64 second, guint64 *place,
                            GError **error)
{
  guint64 from = 0, to = astro_recording_file(recording, file)->size / recording->frame_bytes;
  gboolean is_found = FALSE;
  while (to > from) {
    const guint64 middle = from + (to - from) / 2;
    AstroRecorderPlace at = { file, middle * recording->frame_bytes };
    AstroRecorderFrame frame;
    GError *why = NULL;
    const gboolean is_frame = next_of(recording, &at, &frame, &why);
    if (why) {
      g_propagate_error(error, why);
      return FALSE;
    }
    if (is_frame && second_of(&frame) <= second) {
      from = middle + 1;
    } else {
      is_found = is_found || is_frame;
      to = middle;
    }
  }
  *place = to;
  return is_found;
}

/* The highest number among the frames around a place that are of this second. */
static gboolean highest(AstroRecording *recording, guint file, guint64 place, gint64 second,
                        guint64 *number, GError **error)
{
  const guint around = astro_recording_disorder(recording);
  AstroRecorderPlace at = { file, (place > around ? place - around : 0) * recording->frame_bytes };
  AstroRecorderFrame frame;
  GError *why = NULL;
  for (guint i = 0; i < 2 * around && next_of(recording, &at, &frame, &why); i++)
    if (second_of(&frame) == second)
      *number = MAX(*number, number_of(&frame));
  if (!why)
    return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

/* *frames stays 0 if no file goes over a change of the second. */
static gboolean count_frames(AstroRecording *recording, guint64 *frames, GError **error)
{
  for (guint file = 0; file < recording->files->len && *frames == 0; file++) {
    AstroRecorderPlace at = { file, 0 };
    AstroRecorderFrame frame;
    GError *why = NULL;
    if (!next_of(recording, &at, &frame, &why)) {
      if (!why)
        continue;
      g_propagate_error(error, why);
      return FALSE;
    }
    for (guint i = 0; i < CHANGES; i++) {
      const gint64 second = second_of(&frame) + i;
      guint64 place, number = 0;
      if (!find_change(recording, file, second, &place, &why)) {
        if (!why)
          break;
        g_propagate_error(error, why);
        return FALSE;
      }
      if (!highest(recording, file, place, second, &number, error))
        return FALSE;
      if (number > 0)
        *frames = MAX(*frames, number + 1);
    }
  }
  return TRUE;
}

/* The first frames tell a rate that is too low. */
static gboolean check_numbers(AstroRecording *recording, GError **error)
{
  const guint most = astro_recording_disorder(recording);
  AstroRecorderPlace at = { 0, 0 };
  AstroRecorderFrame frame;
  guint64 odd = 0, highest_number = 0;
  gint64 first = G_MAXINT64;
  GError *why = NULL;
  for (guint i = 0; i < most && astro_recording_next(recording, &at, &frame, &odd, &why); i++) {
    highest_number = MAX(highest_number, number_of(&frame));
    first = MIN(first, frame.begin);
  }
  if (why) {
    g_propagate_error(error, why);
    return FALSE;
  }
  const double frames = recording->rate / (double)recording->frame_steps;
  const char *name = astro_recording_file(recording, 0)->name;
  if (first == G_MAXINT64)
    return astro_recorder_fail(error, FORMAT, "%s: no frame begins in it", name);
  if ((double)highest_number >= frames)
    return astro_recorder_fail(error, SETTINGS,
                               "%s: found frame %" G_GUINT64_FORMAT
                               " of a second, which has only %g frames at a rate of %g: expected a "
                               "higher rate",
                               name, highest_number, frames, recording->rate);
  recording->first = first;
  return TRUE;
}

/* A rate that headers only claim counts if nothing else tells one, and the user hears of it, as of
 * one that is wrong. counted: what the change of the second tells, or 0. */
static void weigh_claim(AstroRecording *recording, double counted)
{
  const double claim = recording->claimed_rate, set = recording->given_n;
  const double known = recording->rate > 0 ? recording->rate
                       : counted > 0       ? counted
                                           : set / recording->given_d;
  const char *name = astro_recording_file(recording, 0)->name;
  if (claim == 0 || ABS(known - claim) < 1e-6 * claim)
    return;
  if (known > 0) {
    astro_recording_add_note(recording,
                             "%s: headers claim %g steps a second, but there are %g, which count",
                             name, claim, known);
    return;
  }
  recording->rate = claim;
  astro_recording_add_note(recording,
                           "%s: headers claim %g steps a second, which nothing confirms, as the "
                           "recording is within a second, and programs understand such a claim "
                           "differently: set rate if it is another",
                           name, claim);
}

static gboolean settle_rate(AstroRecording *recording, GError **error)
{
  const char *name = astro_recording_file(recording, 0)->name;
  const gboolean is_told = recording->rate > 0;
  guint64 counted = 0;
  if (!count_frames(recording, &counted, error))
    return FALSE;
  const double found = (double)(counted * recording->frame_steps);
  weigh_claim(recording, found);
  g_autofree char *where =
      g_strdup_printf("%s: %s", name,
                      is_told   ? "the header"
                      : counted ? "the number of frames before the second changes"
                                : "it is within a second, so that it");
  if (recording->rate == 0)
    recording->rate = found;
  if (!astro_recording_settle_rate(recording, where, error))
    return FALSE;
  return !is_told || counted == 0 || recording->settings->force ||
         ABS(found - recording->rate) < 1e-6 * recording->rate ||
         astro_recorder_fail(error, FORMAT,
                             "%s: the header tells of %g steps a second, but the second changes "
                             "after %" G_GUINT64_FORMAT " frames, which are %g: set force and rate "
                             "if that is not because frames are lost",
                             name, recording->rate, counted, found);
}

gboolean astro_recording_settle_frames(AstroRecording *recording, GError **error)
{
  const char *name = astro_recording_file(recording, 0)->name;
  gint64 end;
  if (!settle_rate(recording, error) || !check_numbers(recording, error))
    return FALSE;
  const guint64 of_frame = recording->frame_steps * (guint64)recording->rate_d;
  if ((guint64)recording->rate_n % of_frame)
    return astro_recorder_fail(error, SETTINGS,
                               "%s: a rate of %d/%d is no whole number of frames of "
                               "%" G_GUINT64_FORMAT " steps a second",
                               name, recording->rate_n, recording->rate_d, recording->frame_steps);
  const gint64 second = recording->first >> NUMBER_BITS;
  const guint64 number = (guint64)recording->first & (((guint64)1 << NUMBER_BITS) - 1);
  recording->frames_a_second = (guint64)recording->rate_n / of_frame;
  recording->first = astro_recording_begin_of(recording, second, number);
  recording->grid = recording->frame_steps;
  if (!astro_recording_last(recording, &end, error))
    return FALSE;
  if (end <= recording->first || end - recording->first > MOST_BEGIN)
    return astro_recorder_fail(error, FORMAT,
                               "%s: the last frame is not later than the first one: expected files "
                               "in the order of time",
                               name);
  recording->steps = (guint64)(end - recording->first);
  return TRUE;
}
