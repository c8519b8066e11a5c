/* Blocks of any length, in any order, have the samples and counts of the whole recording. */
#include "core/recorders/recorders.h"
#include "tests/elements/recordings.h"

typedef struct {
  guint8 *samples;
  guint8 *is_good; /* as many as samples */
} Whole;

static void whole_clear(Whole *whole)
{
  test_free(whole->samples);
  g_free(whole->is_good);
}

/* Reads steps of a stream whose slowest axis is time. */
static Whole read_steps(AstroRecording *recording, guint64 first, guint64 steps)
{
  const AstroStream *stream = astro_recording_stream(recording);
  const gsize bytes = steps * astro_stream_step_bytes(stream);
  Whole read = { test_alloc(bytes), g_malloc(bytes) };
  GstBuffer *buffer = gst_buffer_new();
  AstroValidityRun run;
  AstroLayout shape;
  gboolean is_lost;
  g_autoptr(GError) error = NULL;
  g_assert_true(
      astro_recording_read(recording, first, steps, read.samples, buffer, &is_lost, &error));
  test_check_guard(read.samples, bytes);
  astro_stream_shape(stream, steps, &shape);
  g_assert_true(astro_validity_check(astro_buffer_get_validity(buffer), &shape, NULL));
  astro_validity_run_init(&run, astro_buffer_get_validity(buffer), &shape);
  while (astro_validity_next_run(&run))
    memset(read.is_good + run.first, run.count > 0, run.length);
  if (is_lost)
    memset(read.samples, 0, bytes); /* they are not set */
  gst_buffer_unref(buffer);
  return read;
}

/* Four lanes, out of order by some frames, with losses, copies, and bytes between frames. */
static char *save(void)
{
  GByteArray *bytes = g_byte_array_new();
  guint8 payload[8];
  for (guint i = 0; i < 240; i++) {
    const guint moved = i + (i % 11 == 3 ? 9 : i % 11 == 5 ? (guint)-7 : 0);
    const guint at = moved < 240 ? moved : i, lane = at % 4;
    const RecordingVdif frame = { .second = at / 4 / 20,
                                  .number = at / 4 % 20,
                                  .station = lane / 2,
                                  .thread = lane % 2,
                                  .bits = 8,
                                  .is_invalid = i % 29 == 0 };
    test_fill(payload, sizeof payload, at);
    if (i % 13 == 6)
      continue;
    recording_vdif(bytes, &frame, payload, sizeof payload);
    if (i % 17 == 9)
      g_byte_array_append(bytes, payload, 1 + i % 5);
  }
  return recording_save(bytes, "blocks.vdif");
}

static void test_blocks(void)
{
  g_autofree char *path = save();
  char *const paths[] = { path };
  const AstroRecorderSettings settings = { .rate = (char *)"160" };
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroRecording) recording = astro_recording_open(paths, 1, &settings, &error);
  g_assert_no_error(error);
  const guint64 all = astro_recording_steps(recording);
  const gsize step = astro_stream_step_bytes(astro_recording_stream(recording));
  g_assert_cmpuint(step, ==, 4);
  Whole whole = read_steps(recording, 0, all);
  guint lost = 0;
  for (gsize i = 0; i < all * step; i++)
    lost += !whole.is_good[i];
  g_assert_cmpuint(lost, >, all * step / 20);
  g_assert_cmpuint(lost, <, all * step / 2);
  for (guint64 block = 1; block <= all; block += 1 + block / 3) {
    g_test_message("blocks of %" G_GUINT64_FORMAT, block);
    for (guint64 first = 0; first < all; first += block) {
      const guint64 n = MIN(block, all - first);
      Whole part = read_steps(recording, first, n);
      g_assert_cmpmem(part.samples, n * step, whole.samples + first * step, n * step);
      g_assert_cmpmem(part.is_good, n * step, whole.is_good + first * step, n * step);
      whole_clear(&part);
    }
  }
  for (guint i = 0; i < 60; i++) { /* seeks */
    const guint64 first = i * 131 % all, n = 1 + i * 37 % (all - first);
    Whole part = read_steps(recording, first, n);
    g_assert_cmpmem(part.samples, n * step, whole.samples + first * step, n * step);
    whole_clear(&part);
  }
  whole_clear(&whole);
  g_unlink(path);
}

static void add_tests(void)
{
  g_test_add_func("/recorders/blocks", test_blocks);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
