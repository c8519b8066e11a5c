/* Sends blocks that cost nothing through stages, and reads what comes out on the host. */
#pragma once

#include "tests/bench/free-src.h"
#include "tests/bench/play.h"

/* By then every block that the graph cycles through is allocated and page-locked. */
#define WARM_UP 160

typedef struct {
  guint64 sent, read;
  gint64 warm;
  guint8 sum;
} Stream;

static inline GstPadProbeReturn count_block(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Stream *stream = data;
  if (++stream->sent == WARM_UP)
    stream->warm = g_get_monotonic_time();
  return GST_PAD_PROBE_OK;
}

static inline GstPadProbeReturn read_block(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Stream *stream = data;
  GstMapInfo map;
  if (gst_buffer_map(GST_PAD_PROBE_INFO_BUFFER(info), &map, GST_MAP_READ)) {
    stream->sum += map.data[map.size / 2];
    gst_buffer_unmap(GST_PAD_PROBE_INFO_BUFFER(info), &map);
  }
  stream->read++;
  return GST_PAD_PROBE_OK;
}

/* Bytes a second that the source sent, until the last of the results was read. */
static inline double run_stream(const char *caps, const char *stages, gsize block, guint64 blocks,
                                guint64 *read)
{
  Stream stream = { 0 };
  g_autofree char *line =
      g_strdup_printf("freesrc name=src blocksize=%zu ! %s ! %s ! fakesink name=sink sync=false "
                      "async=false enable-last-sample=false",
                      block, caps, stages);
  GstElement *pipeline = bench_parse(line);
  GstElement *src = gst_bin_get_by_name(GST_BIN(pipeline), "src");

  ((FreeSrc *)src)->blocks = WARM_UP + blocks;
  gst_object_unref(src);
  bench_probe(pipeline, "src", "src", GST_PAD_PROBE_TYPE_BUFFER, count_block, &stream);
  bench_probe(pipeline, "sink", "sink", GST_PAD_PROBE_TYPE_BUFFER, read_block, &stream);
  const gint64 end = bench_play(pipeline);
  bench_stop(pipeline);
  *read = stream.read;
  return (double)block * (double)blocks / ((double)(end - stream.warm) * 1e-6);
}
