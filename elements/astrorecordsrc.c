/**
 * SECTION:element-astrorecordsrc
 *
 * Reads what recorders of telescopes have on disk: VDIF, DADA, GUPPI raw, Mark 5B, and unsigned
 * bytes without a header (cu8) as voltages or spectra, and SIGPROC's filterbank as power. The
 * format is found by the content of the files.
 *
 * location names a file, a shell pattern, or several of these separated by commas. All files are
 * one stream, in the order of their times. What headers tell goes to caps and to the observation;
 * what they leave out is set by properties, and a property that contradicts a header is refused,
 * unless force says that the header is wrong. VDIF needs rate if a recording is within one second,
 * and threads if it has more than two; Mark 5B needs channels and bits, and start-time, any time
 * within 500 days, for the date; SIGPROC needs products if it has several IFs; cu8 needs rate. DADA
 * of heaps, whose ORDER has T twice, needs heap-steps if RESOLUTION is not the bytes of all heaps
 * of one time, and DADA of fewer than 8 bits needs numbers, which says how they are written. Files
 * of several beams of SIGPROC become an axis of beams.
 *
 * Samples of up to 8 bits become I8 or CI8, of up to 16 bits I16LE or CI16LE, floats F32LE or
 * CF32LE. One bit becomes -1 and 1, two bits -10, -3, 3 and 10, and more bits the integers that
 * they are; numbers without a sign have half their range taken off. The overlap of GUPPI's blocks
 * is left out. Bands whose frequencies fall are turned, so that they rise: channels come in
 * reverse, and complex samples are conjugated.
 *
 * The stream has counts: samples that are missing, or that their frames call invalid, are zeros
 * with count 0. Gaps that are longer than a block are jumps of OFFSET. A warning at the end and the
 * property stats say how much that was. Seeks go to the exact sample.
 *
 * |[
 * gst-launch-1.0 astrorecordsrc location=recorded.vdif threads=station rate=32e6 ! \
 *   astrochannelizer channels=64 ! astrotranspose ! astrocorrelator integration=1000 ! \
 *   astrofitssink location=recorded.uvfits
 * ]|
 */
#include "config.h"
#include "elements/astrorecordsrc.h"

#include "core/backend/backend.h"
#include "core/kit/enum.h"
#include "core/lib/sky/array.h"
#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "core/recorders/recorders.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"

#include <glob.h>
#include <string.h>

/* Large enough that what is done once a block costs little, and small enough for caches. The same
 * as astroopen has for files without a header: sums of floats depend on where blocks are cut. */
#define BLOCK_BYTES ((gsize)4 << 20)

typedef struct {
  char *location, *array;
  AstroRecorderSettings recorder;
} Settings;

struct _AstroRecordSrc {
  AstroFileSrc parent;
  Settings settings;
  Settings now; /* copies of the properties, from start to stop */

  GPtrArray *files;          /* names; from start to stop */
  AstroRecording *recording; /* under the object's lock, like end: queries ask for both */
  AstroObservation *observation;
  guint64 next, block; /* steps */
  guint64 end;         /* of the recording, in ns */
  GstClockTime sought; /* where to go on; GST_CLOCK_TIME_NONE: at next */
  gboolean is_discont;
  AstroRecordingStats stats; /* as of the last block; under the object's lock */
  GstBufferPool *pool;
  gsize pool_bytes;
  AstroDevice *reader;
};

G_DEFINE_TYPE(AstroRecordSrc, astro_record_src, ASTRO_TYPE_FILE_SRC)
GST_ELEMENT_REGISTER_DEFINE(astrorecordsrc, "astrorecordsrc", GST_RANK_NONE, ASTRO_TYPE_RECORD_SRC)

ASTRO_STATIC_ENUM_TYPE(threads_get_type, "AstroRecordThreads",
                       { ASTRO_RECORDER_THREADS_AUTO,
                         "Polarisations, if there are no more than two", "auto" },
                       { ASTRO_RECORDER_THREADS_STATION, "Stations", "station" },
                       { ASTRO_RECORDER_THREADS_POL, "Polarisations of a station", "pol" },
                       { ASTRO_RECORDER_THREADS_BAND, "Neighbouring parts of the band", "band" })

ASTRO_STATIC_ENUM_TYPE(numbers_get_type, "AstroRecordNumbers",
                       { ASTRO_RECORDER_NUMBERS_AUTO,
                         "Two's complement of 8 bits or more; fewer are refused", "auto" },
                       { ASTRO_RECORDER_NUMBERS_OFFSET,
                         "Offset binary, the first in the lowest bits", "offset" },
                       { ASTRO_RECORDER_NUMBERS_OFFSET_HIGH,
                         "Offset binary, the first in the highest bits", "offset-high" },
                       { ASTRO_RECORDER_NUMBERS_SIGNED,
                         "Two's complement, the first in the lowest bits", "signed" },
                       { ASTRO_RECORDER_NUMBERS_SIGNED_HIGH,
                         "Two's complement, the first in the highest bits", "signed-high" })

static void get_stats(GObject *object, GValue *value);

static const AstroField fields[] = {
  ASTRO_TEXT(Settings, location, "location", "Location",
             "Paths of the files or shell patterns, separated by commas", NULL),
  ASTRO_TEXT(
      Settings, recorder.format, "format", "Format",
      "Format of the files: vdif, dada, guppi, mark5b, sigproc, cu8, or auto, by their content",
      "auto"),
  ASTRO_UINT(Settings, recorder.channels, "channels", "Channels",
             "Channels of Mark 5B, whose headers do not tell (0: as the header has it)", 0, 1 << 24,
             0),
  ASTRO_UINT(Settings, recorder.pols, "pols", "Polarisations",
             "How many neighbouring channels of VDIF and Mark 5B are the polarisations of one (0: "
             "one)",
             0, 2, 0),
  ASTRO_UINT(Settings, recorder.bits, "bits", "Bits",
             "Bits of a component, of Mark 5B, whose headers do not tell (0: as the header has it)",
             0, 32, 0),
  ASTRO_UINT(Settings, recorder.heap_steps, "heap-steps", "Steps of a heap",
             "Steps of time that lie together in DADA of heaps, whose ORDER has T twice, as TAFTP "
             "(0: as RESOLUTION has it)",
             0, G_MAXINT, 0),
  ASTRO_TEXT(Settings, recorder.rate, "rate", "Rate",
             "Time steps a second, as 1e6, 390625/2 or 195312.5 (unset: as the header has it)",
             NULL),
  ASTRO_DOUBLE(Settings, recorder.frequency, "frequency", "Frequency",
               "Centre of the band in Hz (0: as the header has it)", 0, 1e13, 0),
  ASTRO_DOUBLE(Settings, recorder.bandwidth, "bandwidth", "Bandwidth",
               "Width of the band in Hz (0: as the header has it, or what the rate carries)", 0,
               1e12, 0),
  ASTRO_TEXT(Settings, recorder.start_time, "start-time", "Start time",
             "UTC of the first sample, as 2026-11-20T12:00:00[.fraction] or in seconds since 1970; "
             "for Mark 5B any time within 500 days (unset: as the header has it)",
             NULL),
  ASTRO_ENUM(Settings, recorder.threads, "threads", "Threads", "What threads of VDIF are",
             threads_get_type, ASTRO_RECORDER_THREADS_AUTO),
  ASTRO_ENUM(Settings, recorder.numbers, "numbers", "Numbers",
             "How numbers of DADA are written, which its headers do not tell", numbers_get_type,
             ASTRO_RECORDER_NUMBERS_AUTO),
  ASTRO_TEXT(Settings, recorder.products, "products", "Products",
             "What the IFs of SIGPROC are, as XX:YY or I:Q:U:V (unset: I, of one)", NULL),
  ASTRO_TEXT(Settings, array, "array", "Array",
             "Where the stations are: a preset, or a file of lines x y z [name] in metres, in the "
             "order of the stream (unset: unknown)",
             NULL),
  ASTRO_BOOLEAN(Settings, recorder.force, "force", "Force",
                "Believe properties where headers contradict them", FALSE),
  { ASTRO_FIELD_SAYS(STRUCTURE, "stats", "Statistics",
                     "frames read, invalid, duplicate and late ones; odd-bytes that are no frames; "
                     "lost samples, and all samples"),
    .get = get_stats },
  { 0 },
};

/* ---- statistics ---- */

static void get_stats(GObject *object, GValue *value)
{
  AstroRecordSrc *self = ASTRO_RECORD_SRC(object);
  GST_OBJECT_LOCK(self);
  const AstroRecordingStats stats = self->stats;
  GST_OBJECT_UNLOCK(self);
  g_value_take_boxed(value, gst_structure_new("astro-recording", "frames", G_TYPE_UINT64,
                                              stats.frames, "invalid", G_TYPE_UINT64, stats.invalid,
                                              "duplicate", G_TYPE_UINT64, stats.duplicate, "late",
                                              G_TYPE_UINT64, stats.late, "odd-bytes", G_TYPE_UINT64,
                                              stats.odd_bytes, "lost", G_TYPE_UINT64, stats.lost,
                                              "samples", G_TYPE_UINT64, stats.samples, NULL));
}

static void take_stats(AstroRecordSrc *self)
{
  GST_OBJECT_LOCK(self);
  self->stats = *astro_recording_stats(self->recording);
  GST_OBJECT_UNLOCK(self);
}

static void warn_of_losses(AstroRecordSrc *self)
{
  const AstroRecordingStats *stats = astro_recording_stats(self->recording);
  if (stats->lost || stats->odd_bytes || stats->late || stats->duplicate)
    GST_ELEMENT_WARNING(
        self, STREAM, DECODE,
        ("%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
         " samples are lost, with %" G_GUINT64_FORMAT " invalid frames, %" G_GUINT64_FORMAT
         " that come too late, %" G_GUINT64_FORMAT
         " of times that others have already, and %" G_GUINT64_FORMAT " bytes that are no frames",
         self->now.location, stats->lost, stats->samples, stats->invalid, stats->late,
         stats->duplicate, stats->odd_bytes),
        (NULL));
}

/* ---- files ---- */

static gboolean fail(AstroRecordSrc *self, const GError *error)
{
  if (g_error_matches(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP))
    return FALSE;
  if (g_error_matches(error, ASTRO_RECORDER_ERROR, ASTRO_RECORDER_ERROR_OPEN))
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
  else if (g_error_matches(error, ASTRO_RECORDER_ERROR, ASTRO_RECORDER_ERROR_READ))
    GST_ELEMENT_ERROR(self, RESOURCE, READ, ("%s", error->message), (NULL));
  else if (g_error_matches(error, ASTRO_RECORDER_ERROR, ASTRO_RECORDER_ERROR_SETTINGS))
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return FALSE;
}

/* A name with pattern characters may also be that of an existing file. */
static gboolean add_files(AstroRecordSrc *self, const char *name)
{
  glob_t found;
  const guint before = self->files->len;
  if (!strpbrk(name, "*?[") || g_file_test(name, G_FILE_TEST_EXISTS)) {
    g_ptr_array_add(self->files, g_strdup(name));
    return TRUE;
  }
  if (glob(name, 0, NULL, &found) == 0) {
    for (gsize i = 0; i < found.gl_pathc; i++)
      g_ptr_array_add(self->files, g_strdup(found.gl_pathv[i]));
    globfree(&found);
  }
  if (self->files->len > before)
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file matches %s.", name), (NULL));
  return FALSE;
}

static gboolean find_files(AstroRecordSrc *self)
{
  const char *location = self->now.location;
  self->files = g_ptr_array_new_with_free_func(g_free);
  if (g_file_test(location, G_FILE_TEST_EXISTS))
    return add_files(self, location);
  g_auto(GStrv) names = g_strsplit(location, ",", -1);
  for (guint i = 0; names[i]; i++)
    if (*g_strstrip(names[i]) && !add_files(self, names[i]))
      return FALSE;
  for (guint i = 0; i < self->files->len; i++)
    if (!g_file_test(self->files->pdata[i], G_FILE_TEST_EXISTS)) {
      GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                        ("%s: there is no such file", (char *)self->files->pdata[i]), (NULL));
      return FALSE;
    }
  if (self->files->len > 0)
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("location=%s names no file", location), (NULL));
  return FALSE;
}

static void forget(AstroRecordSrc *self)
{
  GST_OBJECT_LOCK(self);
  AstroRecording *recording = g_steal_pointer(&self->recording);
  GST_OBJECT_UNLOCK(self);
  g_clear_pointer(&recording, astro_recording_close);
  g_clear_pointer(&self->observation, astro_observation_unref);
  g_clear_pointer(&self->files, g_ptr_array_unref);
  astro_buffer_pool_clear(&self->pool);
  g_clear_pointer(&self->reader, astro_device_unref);
}

static gboolean start(GstBaseSrc *src)
{
  AstroRecordSrc *self = ASTRO_RECORD_SRC(src);
  if (!GST_BASE_SRC_CLASS(astro_record_src_parent_class)->start(src))
    return FALSE;
  astro_fields_clear(fields, &self->now);
  astro_fields_copy(fields, self, &self->now, &self->settings, sizeof self->now);
  if (!astro_field_given(self->now.location)) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                      ("property \"location\" is not set"));
    return FALSE;
  }
  self->next = 0;
  self->sought = GST_CLOCK_TIME_NONE;
  self->is_discont = TRUE;
  if (find_files(self))
    return TRUE;
  forget(self);
  return FALSE;
}

static gboolean stop(GstBaseSrc *src)
{
  forget(ASTRO_RECORD_SRC(src));
  return TRUE;
}

/* ---- opening ---- */

/* Stations of an array in place of nameless ones. */
static gboolean add_array(AstroRecordSrc *self, GError **error)
{
  const guint64 stations = astro_stream_stations(astro_recording_stream(self->recording));
  const char *array = astro_field_given(self->now.array);
  if (!array)
    return TRUE;
  g_autoptr(AstroObservation) named = astro_array_new(array, (guint)stations, NULL, error);
  if (!named)
    return FALSE;
  if (named->n_stations != stations) {
    g_set_error(error, ASTRO_RECORDER_ERROR, ASTRO_RECORDER_ERROR_SETTINGS,
                "array=%s has %u stations, expected the %" G_GUINT64_FORMAT " of the recording",
                array, named->n_stations, stations);
    return FALSE;
  }
  astro_observation_swap_array(self->observation, named);
  return TRUE;
}

static gboolean take(AstroRecordSrc *self, AstroRecording *recording, GError **error)
{
  const AstroStream *stream = astro_recording_stream(recording);
  GST_OBJECT_LOCK(self);
  self->recording = recording;
  self->end = astro_stream_time(stream, astro_recording_steps(recording));
  GST_OBJECT_UNLOCK(self);
  self->observation = astro_recording_make_observation(recording);
  self->block = astro_recording_block(recording, BLOCK_BYTES);
  return add_array(self, error);
}

/* Not opened in start: to look for the change of a second takes longer in a large file than a user
 * waits for a change of state, which cannot be interrupted. */
static GstFlowReturn open_files(AstroRecordSrc *self)
{
  g_autoptr(GError) error = NULL;
  if (self->recording)
    return GST_FLOW_OK;
  AstroRecording *recording = astro_recording_open((char *const *)self->files->pdata,
                                                   self->files->len, &self->now.recorder, &error);
  if (!recording || !take(self, recording, &error)) {
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  const char *note = astro_recording_note(recording);
  ASTRO_INFO(self, "%u files of %s, %" G_GUINT64_FORMAT " steps", self->files->len,
             astro_recording_format(recording), astro_recording_steps(recording));
  if (note)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", note), (NULL));
  return gst_base_src_negotiate(GST_BASE_SRC(self)) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

static GstCaps *get_caps(GstBaseSrc *src, GstCaps *filter)
{
  AstroRecordSrc *self = ASTRO_RECORD_SRC(src);
  GST_OBJECT_LOCK(self);
  GstCaps *caps = self->recording ? astro_recording_make_caps(self->recording) : NULL;
  GST_OBJECT_UNLOCK(self);
  if (!caps)
    caps = gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(src));
  return astro_stage_filter_caps(caps, filter);
}

/* Caps come from the files, so nothing is negotiated until they are open. */
static gboolean negotiate(GstBaseSrc *src)
{
  AstroRecordSrc *self = ASTRO_RECORD_SRC(src);
  if (!self->recording)
    return TRUE;
  const AstroStream *stream = astro_recording_stream(self->recording);
  if (!GST_BASE_SRC_CLASS(astro_record_src_parent_class)->negotiate(src)) {
    g_autoptr(GstCaps) made = astro_recording_make_caps(self->recording);
    astro_refused_caps(GST_BASE_SRC_PAD(src), made, astro_quantity_name(stream->quantity));
    return FALSE;
  }
  gst_pad_push_event(GST_BASE_SRC_PAD(src), astro_observation_to_event(self->observation));
  return TRUE;
}

/* Notes who reads the blocks. */
static gboolean decide_allocation(GstBaseSrc *src, GstQuery *query)
{
  AstroRecordSrc *self = ASTRO_RECORD_SRC(src);
  astro_buffer_pool_clear(&self->pool);
  g_clear_pointer(&self->reader, astro_device_unref);
  self->reader = astro_reader_find(query);
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  while (gst_query_get_n_allocation_params(query) > 0)
    gst_query_remove_nth_allocation_param(query, 0);
  return TRUE;
}

/* ---- blocks ---- */

static GstBuffer *new_block(AstroRecordSrc *self, gsize bytes)
{
  const gsize whole =
      self->block * astro_stream_step_bytes(astro_recording_stream(self->recording));
  GstBuffer *buffer = NULL;
  if (!self->pool)
    self->pool = astro_buffer_pool_new_active(self->reader, NULL, whole, 1, 0);
  if (!self->pool)
    return NULL;
  const guint made = astro_buffer_pool_made(self->pool);
  gst_buffer_pool_acquire_buffer(self->pool, &buffer, NULL);
  astro_log_growth(self, self->pool, made);
  if (buffer)
    gst_buffer_set_size(buffer, (gssize)bytes);
  return buffer;
}

static guint64 step_at(AstroRecordSrc *self, GstClockTime time)
{
  const AstroStream *stream = astro_recording_stream(self->recording);
  return gst_util_uint64_scale_round(time, (guint64)stream->rate_n,
                                     GST_SECOND * (guint64)stream->rate_d);
}

/* The step before which the stream ends: that of the files, or of a seek. */
static guint64 find_end(AstroRecordSrc *self)
{
  const GstSegment *segment = &GST_BASE_SRC(self)->segment;
  const guint64 steps = astro_recording_steps(self->recording);
  return GST_CLOCK_TIME_IS_VALID(segment->stop) ? MIN(steps, step_at(self, segment->stop)) : steps;
}

static void stamp(AstroRecordSrc *self, GstBuffer *buffer, guint64 first, guint64 steps)
{
  const AstroStream *stream = astro_recording_stream(self->recording);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  GST_BUFFER_PTS(buffer) = astro_stream_time(stream, first);
  GST_BUFFER_DURATION(buffer) = astro_stream_time(stream, first + steps) - GST_BUFFER_PTS(buffer);
  if (self->is_discont)
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  self->is_discont = FALSE;
}

/* A block of which no sample is there is left out, with all that follow it up to the next frame. */
static gboolean skip_gap(AstroRecordSrc *self, guint64 end, GError **error)
{
  guint64 found = end;
  GError *why = NULL;
  if (!astro_recording_find(self->recording, self->next, &found, &why)) {
    if (why) {
      g_propagate_error(error, why);
      return FALSE;
    }
    found = end;
  }
  const guint64 to = MAX(MIN(found, end) / self->block * self->block, self->next);
  astro_recording_skip(self->recording, to - self->next);
  self->next = found >= end ? end : to;
  self->is_discont = TRUE;
  return TRUE;
}

/* *block stays NULL if the block was left out. */
static gboolean read_block(AstroRecordSrc *self, guint64 end, GstBuffer **block, GError **error)
{
  const AstroStream *stream = astro_recording_stream(self->recording);
  const guint64 first = self->next, steps = MIN(self->block - first % self->block, end - first);
  GstBuffer *buffer = new_block(self, steps * astro_stream_step_bytes(stream));
  GstMapInfo map;
  if (!buffer || !gst_buffer_map(buffer, &map, GST_MAP_WRITE)) {
    gst_clear_buffer(&buffer);
    g_set_error(error, ASTRO_RECORDER_ERROR, ASTRO_RECORDER_ERROR_READ,
                "no memory for a block of %" G_GSIZE_FORMAT " bytes",
                steps * astro_stream_step_bytes(stream));
    return FALSE;
  }
  gboolean is_lost;
  const gboolean is_read =
      astro_recording_read(self->recording, first, steps, map.data, buffer, &is_lost, error);
  gst_buffer_unmap(buffer, &map);
  self->next = first + steps;
  if (!is_read || is_lost) {
    gst_buffer_unref(buffer);
    return is_read && skip_gap(self, end, error);
  }
  stamp(self, buffer, first, steps);
  *block = buffer;
  return TRUE;
}

static void take_seek(AstroRecordSrc *self)
{
  GST_OBJECT_LOCK(self);
  const GstClockTime sought = self->sought;
  self->sought = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK(self);
  if (!GST_CLOCK_TIME_IS_VALID(sought))
    return;
  self->next = MIN(step_at(self, sought), astro_recording_steps(self->recording));
  self->is_discont = TRUE;
}

static GstFlowReturn make(AstroFileSrc *src, GstBuffer **block)
{
  AstroRecordSrc *self = ASTRO_RECORD_SRC(src);
  g_autoptr(GError) error = NULL;
  GstFlowReturn flow = open_files(self);
  if (flow != GST_FLOW_OK)
    return flow;
  take_seek(self);
  const guint64 end = find_end(self);
  for (*block = NULL; !*block;) {
    if (self->next >= end) {
      take_stats(self);
      warn_of_losses(self);
      return GST_FLOW_EOS;
    }
    if (!read_block(self, end, block, &error)) {
      fail(self, error);
      return GST_FLOW_ERROR;
    }
  }
  take_stats(self);
  astro_log_block(self, "out", *block);
  return GST_FLOW_OK;
}

/* ---- seeks and queries ---- */

static gboolean is_seekable(GstBaseSrc *src)
{
  return TRUE;
}

static gboolean do_seek(GstBaseSrc *src, GstSegment *segment)
{
  AstroRecordSrc *self = ASTRO_RECORD_SRC(src);
  if (segment->rate < 0 || segment->format != GST_FORMAT_TIME)
    return FALSE;
  GST_OBJECT_LOCK(self);
  self->sought = segment->position;
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean query(GstBaseSrc *src, GstQuery *query)
{
  AstroRecordSrc *self = ASTRO_RECORD_SRC(src);
  GstFormat format;
  if (GST_QUERY_TYPE(query) != GST_QUERY_DURATION)
    return GST_BASE_SRC_CLASS(astro_record_src_parent_class)->query(src, query);
  gst_query_parse_duration(query, &format, NULL);
  GST_OBJECT_LOCK(self);
  const guint64 end = self->recording ? self->end : 0;
  GST_OBJECT_UNLOCK(self);
  if (format != GST_FORMAT_TIME || end == 0)
    return FALSE;
  gst_query_set_duration(query, format, (gint64)end);
  return TRUE;
}

static void finalize(GObject *object)
{
  astro_fields_clear(fields, &ASTRO_RECORD_SRC(object)->now);
  G_OBJECT_CLASS(astro_record_src_parent_class)->finalize(object);
}

static void astro_record_src_init(AstroRecordSrc *self)
{
  astro_fields_set_defaults(self);
}

static void astro_record_src_class_init(AstroRecordSrcClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseSrcClass *src = GST_BASE_SRC_CLASS(klass);
  g_autoptr(GstCaps) caps =
      gst_caps_from_string("application/x-astro-voltages; application/x-astro-spectra; "
                           "application/x-astro-power");
  astro_fields_install(object, fields, G_STRUCT_OFFSET(AstroRecordSrc, settings));
  object->finalize = finalize;
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "Recording source", "Source/File",
      "Reads recordings of telescopes (VDIF, DADA, GUPPI raw, Mark 5B, SIGPROC) as voltages, "
      "spectra or power, with counts of valid samples",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      element, "gives",
      "voltages I8, I16LE, CI8, CI16LE, CF32LE; spectra of the complex ones; power F32LE");
  src->start = start;
  src->stop = stop;
  src->get_caps = get_caps;
  src->negotiate = negotiate;
  src->decide_allocation = decide_allocation;
  src->is_seekable = is_seekable;
  src->do_seek = do_seek;
  src->query = query;
  ASTRO_FILE_SRC_CLASS(klass)->make = make;
}
