/* Recordings of any bytes: what is opened can be described, sought and read, and every block has
 * counts that fit it. The first byte chooses what the user sets. */
#pragma once

#include "config.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/recorders/recorders.h"

#define MOST_BYTES (16 << 20) /* of a block: a header may ask for any size */
#define BLOCKS 3

static inline void fuzz_block(AstroRecording *recording, guint64 first, guint64 steps)
{
  const AstroStream *stream = astro_recording_stream(recording);
  const gsize bytes = steps * astro_stream_step_bytes(stream);
  g_autoptr(GError) error = NULL;
  gboolean is_lost;
  AstroLayout shape;
  GstBuffer *buffer = gst_buffer_new();
  guint8 *data = g_malloc(bytes);
  if (!astro_recording_read(recording, first, steps, data, buffer, &is_lost, &error) && !error)
    abort();
  astro_stream_shape(stream, steps, &shape);
  if (!error && !astro_validity_check(astro_buffer_get_validity(buffer), &shape, NULL))
    abort();
  g_free(data);
  gst_buffer_unref(buffer);
}

static inline void fuzz_read(AstroRecording *recording)
{
  const guint64 all = astro_recording_steps(recording),
                block = astro_recording_block(recording, 1 << 16);
  const AstroStream *stream = astro_recording_stream(recording);
  g_autoptr(GstCaps) caps = astro_recording_make_caps(recording);
  AstroStream again;
  if (all == 0 || !astro_stream_from_caps(&again, caps, NULL))
    abort();
  astro_observation_unref(astro_recording_make_observation(recording));
  if (block > MOST_BYTES / astro_stream_step_bytes(stream))
    return;
  for (guint64 i = 0, first = 0; i < BLOCKS && first < all; i++, first += block)
    fuzz_block(recording, first, MIN(block, all - first));
  const guint64 last = all - MIN(block, all);
  guint64 step;
  fuzz_block(recording, last, all - last);
  if (astro_recording_find(recording, all / 2, &step, NULL) && (step < all / 2 || step >= all))
    abort();
}

static inline int fuzz_recording(const char *format, const guint8 *data, gsize size)
{
  static int file = -1;
  if (file < 0) {
    gst_init(NULL, NULL);
    file = memfd_create("recording", 0);
  }
  if (size == 0 || ftruncate(file, 0) < 0 ||
      pwrite(file, data + 1, size - 1, 0) != (gssize)(size - 1))
    return 0;
  const guint8 set = data[0];
  AstroRecorderSettings settings = {
    .format = (char *)format,
    .rate = set & 1 ? (char *)"800" : NULL,
    .threads = set >> 1 & 3,
    .pols = set & 8 ? 2 : 0,
    .force = (set & 16) != 0,
    .bits = set & 32 ? 2 : 0,
    .channels = set & 32 ? 8 : 0,
    .products = set & 64 ? (char *)"XX:YY" : NULL,
    .start_time = set & 128 ? (char *)"2020-02-02T00:00:00" : NULL,
  };
  g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", file);
  char *const paths[] = { path };
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroRecording) recording = astro_recording_open(paths, 1, &settings, &error);
  if (!recording != !!error)
    abort();
  if (recording)
    fuzz_read(recording);
  astro_recorder_probe(data + 1, size - 1);
  return 0;
}
