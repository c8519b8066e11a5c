/* Mark 5B: frames of four little-endian words and 10000 bytes of samples.
 *
 * Word 0 is a mark; word 1 has the number of the frame within the second; word 2 three digits of
 * the day (MJD) and five of the second; word 3 a fraction of the second and a checksum. Headers
 * tell neither the channels nor the bits, and of the day not the thousands: start-time, any time
 * within 500 days, completes it. */
#include "config.h"
#include "core/recorders/recording.h"

#include <string.h>

#define HEADER 16
#define SAMPLES 10000
#define FRAME (HEADER + SAMPLES)
#define MARK 0xabaddeedu
#define DAYS 1000
#define DAY 86400
#define MJD_1970 40587
#define MOST_BYTES_BEFORE ((guint64)1 << 20) /* the first frame */

typedef struct {
  gint64 first_day; /* of the first frame, with thousands if they are known */
} Room;

typedef struct {
  guint number, day, second;
  gboolean is_test; /* a pattern in place of samples */
} Header;

static guint32 read_word(const guint8 *bytes)
{
  guint32 word;
  memcpy(&word, bytes, sizeof word);
  return GUINT32_FROM_LE(word);
}

/* Digits of four bits each. FALSE: one is above 9. */
static gboolean read_digits(guint32 word, guint n, guint *value)
{
  *value = 0;
  for (guint i = n; i-- > 0;) {
    const guint digit = word >> 4 * i & 15;
    if (digit > 9)
      return FALSE;
    *value = *value * 10 + digit;
  }
  return TRUE;
}

static gboolean read_header(const guint8 *bytes, Header *header)
{
  const guint32 numbers = read_word(bytes + 4), time = read_word(bytes + 8);
  header->number = numbers & 0x7fff;
  header->is_test = numbers >> 15 & 1;
  return read_word(bytes) == MARK && read_digits(time >> 20, 3, &header->day) &&
         read_digits(time & 0xfffff, 5, &header->second) && header->second < DAY + 1;
}

static gboolean probe(const guint8 *bytes, gsize n)
{
  Header header;
  return n >= HEADER && read_header(bytes, &header) &&
         (n < FRAME + HEADER || read_header(bytes + FRAME, &header));
}

/* The day nearest to another that has these last three digits. */
static gint64 nearest(guint day, gint64 to)
{
  const gint64 found = to - to % DAYS + day;
  return found > to + DAYS / 2 ? found - DAYS : found < to - DAYS / 2 ? found + DAYS : found;
}

static gboolean parse(AstroRecording *recording, guint number, guint64 at,
                      AstroRecorderFrame *frame, GError **error)
{
  const Room *room = recording->room;
  AstroRecorderFile *file = astro_recording_file(recording, number);
  gsize got;
  Header header;
  const guint8 *bytes = astro_recorder_file_bytes(file, at, HEADER, &got, error);
  if (!bytes || got < HEADER || file->size - at < FRAME || !read_header(bytes, &header) ||
      (recording->frames_a_second && header.number >= recording->frames_a_second))
    return FALSE;
  const gint64 second = (nearest(header.day, room->first_day) - MJD_1970) * DAY + header.second;
  *frame = (AstroRecorderFrame){
    .file = number,
    .at = at + HEADER,
    .end = at + FRAME,
    .begin = astro_recording_begin_of(recording, second, header.number),
    .steps = recording->frame_steps,
    .stored = recording->frame_steps,
    .is_valid = !header.is_test,
  };
  return TRUE;
}

/* ---- opening ---- */

static gboolean find_first(AstroRecording *recording, Room *room, GError **error)
{
  AstroRecorderFile *file = astro_recording_file(recording, 0);
  for (guint64 at = 0; at < MIN(file->size, MOST_BYTES_BEFORE); at++) {
    gsize got;
    Header header;
    const guint8 *bytes = astro_recorder_file_bytes(file, at, HEADER, &got, error);
    if (!bytes)
      return FALSE;
    if (got < HEADER || file->size - at < FRAME || !read_header(bytes, &header))
      continue;
    const gint64 given = recording->given_start / (gint64)GST_SECOND / DAY + MJD_1970;
    recording->has_start = recording->has_given_start;
    room->first_day =
        recording->has_given_start ? nearest(header.day, given) : header.day + DAYS * 60;
    if (!recording->has_start)
      astro_recording_add_note(recording,
                               "%s tells only the last three digits of the day, %03u (MJD): set "
                               "start-time to any time within 500 days, or the stream has no start",
                               file->name, header.day);
    recording->has_given_start = FALSE; /* it has served */
    return TRUE;
  }
  return astro_recorder_fail(error, FORMAT, "%s: no whole frame of Mark 5B begins in it",
                             file->name);
}

static gboolean read_shape(AstroRecording *recording, GError **error)
{
  const AstroRecorderSettings *settings = recording->settings;
  const char *name = astro_recording_file(recording, 0)->name;
  const guint pols = MAX(settings->pols, 1);
  guint bits, channels;
  if (!astro_recording_need(recording, "bits", name, 0, settings->bits, &bits, error) ||
      !astro_recording_need(recording, "channels", name, 0, settings->channels, &channels, error))
    return FALSE;
  if ((bits != 1 && bits != 2) || channels * bits > 32 || 32 % (channels * bits))
    return astro_recorder_fail(error, SETTINGS,
                               "%s: bits=%u and channels=%u, expected 1 or 2 bits, and 1, 2, 4, 8, "
                               "16 or 32 of all channels together",
                               name, bits, channels);
  if (channels % pols)
    return astro_recorder_fail(error, SETTINGS, "%s: channels=%u are not pols=%u each", name,
                               channels, pols);
  recording->packing = (AstroRecorderPacking){ .bits = bits, .code = ASTRO_RECORDER_MARK5B };
  if (channels > pols)
    astro_recorder_add_axis(&recording->inner, ASTRO_AXIS_CHANNEL, channels / pols);
  if (pols > 1)
    astro_recorder_add_axis(&recording->inner, ASTRO_AXIS_POL, pols);
  recording->frame_rows = recording->n_rows = 1;
  recording->frame_bytes = FRAME;
  recording->frame_steps = (guint64)SAMPLES * 8 / (channels * bits);
  return TRUE;
}

static gboolean open_all(AstroRecording *recording, GError **error)
{
  Room *room = g_new0(Room, 1);
  recording->room = room;
  if (!find_first(recording, room, error) || !read_shape(recording, error) ||
      !astro_recording_settle_frames(recording, error))
    return FALSE;
  recording->start_ns = astro_recording_ns(recording, recording->first);
  return TRUE;
}

const AstroRecorderFormat astro_recorder_mark5b = {
  .name = { "mark5b", "Mark 5B: 1 or 2 bits, channels and bits have to be set" },
  .probe = probe,
  .open = open_all,
  .parse = parse,
  .close = g_free,
};
