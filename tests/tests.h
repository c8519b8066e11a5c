/* Shared by all tests: reproducible random data, and buffers that begin as garbage. */
#pragma once

#include <gst/gst.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* How long to wait for something that has to come: only a hang takes that long on any machine. */
#define TEST_PATIENCE (100 * GST_SECOND)

/* Fills with bytes that depend only on the seed. */
static inline void test_fill(gpointer data, gsize bytes, guint32 seed)
{
  guint64 state = 0x9e3779b97f4a7c15u * (seed + 1u);
  guint8 *byte = data;
  for (gsize i = 0; i < bytes; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte[i] = (guint8)(state >> 32);
  }
}

/* A block filled with garbage, followed by guard bytes that reveal writing past the end. */
#define TEST_GUARD 64
static inline gpointer test_alloc(gsize bytes)
{
  guint8 *block = g_aligned_alloc(1, (bytes + TEST_GUARD + 63) & ~(gsize)63, 64);
  memset(block, 0xa5, bytes);
  memset(block + bytes, 0x5a, TEST_GUARD);
  return block;
}

static inline void test_check_guard(gconstpointer block, gsize bytes)
{
  const guint8 *guard = (const guint8 *)block + bytes;
  for (gsize i = 0; i < TEST_GUARD; i++)
    g_assert_cmphex(guard[i], ==, 0x5a);
}

static inline void test_free(gpointer block)
{
  g_aligned_free(block);
}

/* Under a sanitizer, which is ten times as slow and looks for other things, every fifth of many
 * similar cases is enough. */
#ifdef __SANITIZE_ADDRESS__
#define TEST_STEP 5u
#else
#define TEST_STEP 1u
#endif
static inline gboolean test_passes_over(guint number)
{
  return number % TEST_STEP != 0;
}

/* Checks what an error's message says; message NULL: there was no error. */
static inline void test_says(const char *message, const char *says)
{
  if (!message || !strstr(message, says))
    g_error("\"%s\" does not say \"%s\"", message ? message : "nothing", says);
}

/* Between these two calls GStreamer may leak memory of its own. Suppressing that by name would need
 * options that make tests three times as slow (tests/environment). */
static inline void test_leaks_of_gstreamer(void)
{
#ifdef __SANITIZE_ADDRESS__
  __lsan_disable();
#endif
}

static inline void test_no_leaks_of_gstreamer(void)
{
#ifdef __SANITIZE_ADDRESS__
  __lsan_enable();
#endif
}

/* Processes that are started from here on may leak: those in which a library loses memory of its
 * own that no sanitizer can name. */
static inline void test_let_children_leak(void)
{
  const char *before = g_getenv("ASAN_OPTIONS");
  g_autofree char *options = g_strconcat(before ? before : "", ":detect_leaks=0", NULL);
  g_setenv("ASAN_OPTIONS", options, TRUE);
}

/* GStreamer leaks some memory while it starts. */
static inline void test_init_gstreamer(int *argc, char ***argv)
{
  test_leaks_of_gstreamer();
  gst_init(argc, argv);
  test_no_leaks_of_gstreamer();
}

/* Runs a test program. It closes GStreamer at the end, so that the leaks tracer reports. */
static inline int test_run(int argc, char **argv, void (*add_tests)(void))
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  add_tests();
  int status = g_test_run();
  gst_deinit();
  return status;
}
