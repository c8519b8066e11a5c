/* VDIF: frames of one length, each with a thread of one station (core/lib/vdif has the headers).
 *
 * A place in a file begins a frame if its length and its samples are those of the first one and its
 * thread is one that the first frames have; bytes between frames are passed over. */
#include "config.h"
#include "core/recorders/recording.h"

#include "core/lib/vdif/vdif.h"

#define FIRST_FRAMES 1024 /* that tell which threads there are */
#define MOST_LANES 4096
#define MOST_BYTES_BEFORE ((guint64)1 << 20) /* the first frame */
#define CLOCKS_APART 3600                    /* seconds that are no loss among the first frames */
#define MOST_SECONDS 4102444800              /* the year 2100 */

typedef struct {
  AstroVdif like;             /* the first frame */
  GArray *stations, *threads; /* that come, in the order of their numbers: guint */
  gint64 *behind; /* by rows: seconds that a thread's clock is behind that of the first one */
} Room;

static gint compare(gconstpointer a, gconstpointer b)
{
  const guint one = *(const guint *)a, other = *(const guint *)b;
  return one < other ? -1 : one > other;
}

/* ---- frames ---- */

static gboolean is_like(const AstroVdif *a, const AstroVdif *b)
{
  return a->bytes == b->bytes && a->header == b->header && a->bits == b->bits &&
         a->is_complex == b->is_complex && a->log_channels == b->log_channels;
}

/* FALSE without an error: no frame is there. */
static gboolean read_at(AstroRecorderFile *file, guint64 at, AstroVdif *vdif, GError **error)
{
  gsize got;
  const guint8 *bytes = astro_recorder_file_bytes(file, at, ASTRO_VDIF_HEADER, &got, error);
  return bytes && got >= ASTRO_VDIF_LEGACY_HEADER &&
         astro_vdif_parse(bytes, MIN(file->size - at, G_MAXINT), vdif, NULL) &&
         vdif->header <= got && vdif->second < MOST_SECONDS;
}

static gint find_in(GArray *sorted, guint value)
{
  guint at;
  return g_array_binary_search(sorted, &value, compare, &at) ? (gint)at : -1;
}

/* -1: no row has the station and thread. */
static gint row_of(const Room *room, const AstroVdif *vdif)
{
  if (!room->stations) /* which there are is not known yet */
    return 0;
  const gint station = find_in(room->stations, vdif->station),
             thread = find_in(room->threads, vdif->thread);
  return station < 0 || thread < 0 ? -1 : station * (gint)room->threads->len + thread;
}

/* Seconds count on from the first frame: a recorder that keeps its epoch counts a leap second too.
 */
static gint64 second_of(const Room *room, const AstroVdif *vdif)
{
  const AstroVdif *like = &room->like;
  return vdif->epoch == like->epoch ? like->second + (gint64)vdif->since - (gint64)like->since
                                    : vdif->second;
}

static gboolean parse(AstroRecording *recording, guint file, guint64 at, AstroRecorderFrame *frame,
                      GError **error)
{
  const Room *room = recording->room;
  AstroVdif vdif;
  if (!read_at(astro_recording_file(recording, file), at, &vdif, error) ||
      !is_like(&vdif, &room->like))
    return FALSE;
  const gint row = row_of(room, &vdif);
  if (row < 0)
    return FALSE;
  if (recording->frames_a_second && vdif.frame >= recording->frames_a_second)
    return FALSE;
  *frame = (AstroRecorderFrame){
    .file = file,
    .at = at + vdif.header,
    .end = at + vdif.bytes,
    .begin = astro_recording_begin_of(
        recording, second_of(room, &vdif) + (room->behind ? room->behind[row] : 0), vdif.frame),
    .steps = recording->frame_steps,
    .stored = recording->frame_steps,
    .row = (guint)row,
    .is_valid = vdif.is_valid,
  };
  return TRUE;
}

/* Two frames in a row, of which the second may be missing at the end of the file. */
static gboolean is_frame(AstroRecorderFile *file, guint64 at, AstroVdif *vdif, GError **error)
{
  AstroVdif next;
  GError *why = NULL;
  if (!read_at(file, at, vdif, error) || astro_vdif_steps(vdif) == 0)
    return FALSE;
  if (at + vdif->bytes == file->size)
    return TRUE;
  const gboolean is_next = read_at(file, at + vdif->bytes, &next, &why);
  if (why)
    g_propagate_error(error, why);
  return is_next && is_like(vdif, &next) && ABS(next.second - vdif->second) <= 1;
}

static gboolean probe(const guint8 *bytes, gsize n)
{
  AstroVdif a, b;
  if (n < ASTRO_VDIF_HEADER || !astro_vdif_parse(bytes, G_MAXINT, &a, NULL) || a.second <= 0 ||
      astro_vdif_steps(&a) == 0 || bytes[7] >> 6)
    return FALSE;
  if (a.bytes > n || n - a.bytes < ASTRO_VDIF_HEADER)
    return FALSE;
  return astro_vdif_parse(bytes + a.bytes, G_MAXINT, &b, NULL) && is_like(&a, &b) &&
         ABS(b.second - a.second) <= 1;
}

/* ---- opening ---- */

static gboolean find_first(AstroRecording *recording, Room *room, GError **error)
{
  AstroRecorderFile *file = astro_recording_file(recording, 0);
  for (guint64 at = 0; at < MIN(file->size, MOST_BYTES_BEFORE); at++) {
    GError *why = NULL;
    if (is_frame(file, at, &room->like, &why))
      return TRUE;
    if (why) {
      g_propagate_error(error, why);
      return FALSE;
    }
  }
  return astro_recorder_fail(error, FORMAT, "%s: no frame of VDIF begins in it", file->name);
}

static void add_id(GArray *ids, guint id)
{
  for (guint i = 0; i < ids->len; i++)
    if (g_array_index(ids, guint, i) == id)
      return;
  g_array_append_val(ids, id);
}

/* Which stations and threads the first frames of each file have. */
static gboolean find_lanes(AstroRecording *recording, Room *room, GError **error)
{
  GArray *stations = g_array_new(FALSE, FALSE, sizeof(guint));
  GArray *threads = g_array_new(FALSE, FALSE, sizeof(guint));
  GError *why = NULL;
  for (guint i = 0; i < recording->files->len && !why; i++) {
    AstroRecorderPlace at = { i, 0 };
    AstroRecorderFrame frame;
    AstroVdif vdif;
    guint64 odd = 0;
    for (guint k = 0; k < FIRST_FRAMES && at.file == i && !why; k++) {
      if (!astro_recording_next(recording, &at, &frame, &odd, &why) || frame.file != i)
        break;
      if (!read_at(astro_recording_file(recording, i), frame.at - room->like.header, &vdif, &why))
        break;
      add_id(stations, vdif.station);
      add_id(threads, vdif.thread);
    }
  }
  g_array_sort(stations, compare);
  g_array_sort(threads, compare);
  room->stations = stations;
  room->threads = threads;
  if (why) {
    g_propagate_error(error, why);
    return FALSE;
  }
  return stations->len * threads->len <= MOST_LANES ||
         astro_recorder_fail(
             error, FORMAT, "%s: found %u stations and %u threads, expected %d together at most",
             astro_recording_file(recording, 0)->name, stations->len, threads->len, MOST_LANES);
}

/* Recorders of the VLBA may give some threads another second, with the same numbers of frames in
 * it: that is a clock that was set wrong, not a thread from another day. */
static gboolean find_clocks(AstroRecording *recording, Room *room, GError **error)
{
  const guint rows = room->stations->len * room->threads->len;
  AstroRecorderFile *file = astro_recording_file(recording, 0);
  g_autofree guint8 *is_known = g_malloc0(rows);
  AstroRecorderPlace at = { 0, 0 };
  AstroRecorderFrame frame;
  AstroVdif vdif;
  guint64 odd = 0;
  GError *why = NULL;
  gint64 first = 0;
  gint64 *behind = g_new0(gint64, rows);
  for (guint k = 0; k < FIRST_FRAMES && at.file == 0 && !why; k++) {
    if (!astro_recording_next(recording, &at, &frame, &odd, &why) || frame.file != 0 ||
        !read_at(file, frame.at - room->like.header, &vdif, &why))
      break;
    const gint64 second = second_of(room, &vdif);
    if (k == 0)
      first = second;
    if (is_known[frame.row])
      continue;
    is_known[frame.row] = TRUE;
    if (ABS(first - second) <= CLOCKS_APART)
      continue;
    behind[frame.row] = first - second;
    astro_recording_add_note(recording,
                             "%s: the seconds of thread %u are %" G_GINT64_FORMAT
                             " behind those of the first frame, and are taken as the same",
                             file->name, vdif.thread, behind[frame.row]);
  }
  room->behind = behind;
  if (!why)
    return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean read_packing(AstroRecording *recording, const Room *room, GError **error)
{
  const AstroVdif *like = &room->like;
  const gboolean is_mark5b = like->extension == ASTRO_VDIF_MARK5B;
  const guint64 of_sample = (guint64)(like->is_complex ? 2 : 1) << like->log_channels;
  const char *name = astro_recording_file(recording, 0)->name;
  guint bits, channels;
  if (!astro_recording_need(recording, "bits", name, like->bits, recording->settings->bits, &bits,
                            error) ||
      !astro_recording_need(recording, "channels", name, (guint64)1 << like->log_channels,
                            recording->settings->channels, &channels, error))
    return FALSE;
  if (bits != like->bits || channels != 1u << like->log_channels)
    return astro_recorder_fail(error, SETTINGS,
                               "%s: frames have %u bits and %u channels, which force cannot change",
                               name, like->bits, 1u << like->log_channels);
  recording->packing = (AstroRecorderPacking){
    .bits = bits,
    .is_complex = like->is_complex,
    .code = bits > 2    ? ASTRO_RECORDER_OFFSET
            : is_mark5b ? ASTRO_RECORDER_MARK5B
                        : ASTRO_RECORDER_LEVELS,
    .word_components = astro_vdif_word_components(of_sample, bits),
  };
  return TRUE;
}

/* How many neighbouring channels of a frame are polarisations. Two polarisations of frames with one
 * channel can only be two threads. */
static guint pols_of_frame(const AstroRecording *recording, const Room *room)
{
  const AstroRecorderThreads are = recording->settings->threads;
  const gboolean are_threads =
      room->like.log_channels == 0 && room->threads->len == 2 &&
      (are == ASTRO_RECORDER_THREADS_AUTO || are == ASTRO_RECORDER_THREADS_POL);
  return are_threads ? 1 : MAX(recording->settings->pols, 1);
}

static gboolean read_inner(AstroRecording *recording, const Room *room, GError **error)
{
  const guint channels = 1u << room->like.log_channels;
  const guint pols = pols_of_frame(recording, room);
  if (channels % pols)
    return astro_recorder_fail(error, SETTINGS,
                               "%s: frames have %u channels, which are not pols=%u each",
                               astro_recording_file(recording, 0)->name, channels, pols);
  if (channels > pols)
    astro_recorder_add_axis(&recording->inner, ASTRO_AXIS_CHANNEL, channels / pols);
  if (pols > 1)
    astro_recorder_add_axis(&recording->inner, ASTRO_AXIS_POL, pols);
  return TRUE;
}

static gboolean read_rows(AstroRecording *recording, const Room *room, GError **error)
{
  const guint stations = room->stations->len, threads = room->threads->len;
  AstroRecorderThreads are = recording->settings->threads;
  const char *name = astro_recording_file(recording, 0)->name;
  const gboolean has_pols = pols_of_frame(recording, room) > 1;
  recording->frame_rows = 1;
  if (are == ASTRO_RECORDER_THREADS_AUTO && (threads > 2 || (threads == 2 && has_pols)))
    return astro_recorder_fail(error, SETTINGS,
                               "%s: frames have %u threads: set threads to station, pol or band to "
                               "say what they are",
                               name, threads);
  if (are == ASTRO_RECORDER_THREADS_AUTO)
    are = ASTRO_RECORDER_THREADS_POL;
  if (are == ASTRO_RECORDER_THREADS_POL && threads > 1 && (threads > 2 || has_pols))
    return astro_recorder_fail(error, SETTINGS,
                               "%s: found %u threads%s, expected two at most with threads=pol",
                               name, threads, has_pols ? " and pols=2" : "");
  if (are == ASTRO_RECORDER_THREADS_STATION) {
    astro_recorder_add_axis(&recording->rows, ASTRO_AXIS_STATION, (guint64)stations * threads);
    return TRUE;
  }
  if (stations > 1)
    astro_recorder_add_axis(&recording->rows, ASTRO_AXIS_STATION, stations);
  if (threads > 1)
    astro_recorder_add_axis(
        &recording->rows, are == ASTRO_RECORDER_THREADS_BAND ? ASTRO_AXIS_CHANNEL : ASTRO_AXIS_POL,
        threads);
  return TRUE;
}

static gboolean open_all(AstroRecording *recording, GError **error)
{
  Room *room = g_new0(Room, 1);
  recording->room = room;
  if (!find_first(recording, room, error))
    return FALSE;
  recording->frame_bytes = room->like.bytes;
  recording->frame_steps = astro_vdif_steps(&room->like);
  recording->rate = (double)room->like.rate;
  recording->claimed_rate = (double)room->like.claimed;
  if (!find_lanes(recording, room, error) || !find_clocks(recording, room, error) ||
      !read_packing(recording, room, error) || !read_inner(recording, room, error) ||
      !read_rows(recording, room, error))
    return FALSE;
  recording->n_rows = (guint)astro_layout_samples(&recording->rows);
  if (!astro_recording_settle_frames(recording, error))
    return FALSE;
  recording->has_start = TRUE;
  recording->start_ns = astro_recording_ns(recording, recording->first);
  return TRUE;
}

static void close_room(gpointer data)
{
  Room *room = data;
  if (room->stations)
    g_array_unref(room->stations);
  if (room->threads)
    g_array_unref(room->threads);
  g_free(room->behind);
  g_free(room);
}

const AstroRecorderFormat astro_recorder_vdif = {
  .name = { "vdif", "VLBI data interchange format, 1 to 16 bits, threads, legacy headers" },
  .probe = probe,
  .open = open_all,
  .parse = parse,
  .close = close_room,
};
