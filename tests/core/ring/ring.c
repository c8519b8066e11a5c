/* Which pieces triggers get, in which order, and what is counted as lost. */
#include "core/ring/ring.h"
#include "tests/tests.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

static guint n_live;

/* Pieces are numbered texts, so that a leak shows. */
static void free_piece(gpointer data)
{
  n_live--;
  g_free(data);
}

static AstroRingStore *new_ring(double length, double before, double after, guint64 most_late)
{
  const AstroRingSettings settings = { (gint64)(length * SECOND), (gint64)(before * SECOND),
                                       (gint64)(after * SECOND), most_late, free_piece };
  return astro_ring_new(&settings);
}

/* Piece n is the n-th second, and has 10 bytes. */
static guint add_dated(AstroRingStore *ring, guint n, gint64 utc)
{
  const AstroRingPiece piece = { g_strdup_printf("%u", n), 10, n * SECOND, (n + 1) * SECOND, utc };
  n_live++;
  return astro_ring_add(ring, &piece);
}

static void add(AstroRingStore *ring, guint from, guint to)
{
  for (guint n = from; n < to; n++)
    add_dated(ring, n, ASTRO_RING_UNDATED);
}

static AstroRingAnswer trigger(AstroRingStore *ring, double seconds)
{
  const AstroRingTime time = { FALSE, (gint64)(seconds * SECOND) };
  AstroRingAnswer answer;
  astro_ring_trigger(ring, &time, &answer);
  return answer;
}

/* Checks all that waits, as "[3 4 5][9": a bracket is the begin or the end of a dump; a loss is
 * "-20:". */
static void assert_taken(AstroRingStore *ring, const char *expected)
{
  g_autoptr(GString) text = g_string_new(NULL);
  AstroRingNext next;
  for (;;) {
    astro_ring_take(ring, &next);
    if (next.lost)
      g_string_append_printf(text, "-%" G_GUINT64_FORMAT ":", next.lost);
    if (next.kind == ASTRO_RING_NOTHING)
      break;
    if (next.kind == ASTRO_RING_END) {
      g_string_append_c(text, ']');
      continue;
    }
    g_string_append_printf(text, "%s%s", next.begins ? "[" : " ", (char *)next.piece.data);
    free_piece(next.piece.data);
  }
  g_assert_cmpstr(text->str, ==, expected);
}

/* Pieces that have passed, that come, and both. */
static void test_windows(void)
{
  AstroRingStore *ring = new_ring(10, 1.5, 1.5, 1000);
  add(ring, 0, 5);
  assert_taken(ring, "");
  g_assert_cmpuint(trigger(ring, 2.5).wanted, ==, 3);
  assert_taken(ring, "[1 2 3]");
  add(ring, 5, 7);
  const AstroRingAnswer answer = trigger(ring, 6.5);
  g_assert_cmpuint(answer.wanted, ==, 2);
  g_assert_true(answer.waits);
  assert_taken(ring, "[5 6");
  add(ring, 7, 9);
  assert_taken(ring, " 7]");
  g_assert_true(trigger(ring, 20).waits);
  add(ring, 9, 20);
  assert_taken(ring, "[18 19");
  astro_ring_close(ring);
  assert_taken(ring, "]");
  astro_ring_free(ring);
  g_assert_cmpuint(n_live, ==, 0);
}

/* Windows that overlap are one dump; what was sent is not sent again; no piece goes out after a
 * later one. */
static void test_overlaps(void)
{
  AstroRingStore *ring = new_ring(20, 1.5, 1.5, 1000);
  add(ring, 0, 12);
  trigger(ring, 4.5);
  trigger(ring, 6.5);
  assert_taken(ring, "[3 4 5][6 7]");
  const AstroRingAnswer answer = trigger(ring, 2.5);
  g_assert_cmpuint(answer.wanted, ==, 0);
  g_assert_cmpint(answer.behind, ==, 2 * SECOND);
  assert_taken(ring, "");
  trigger(ring, 12.5);
  trigger(ring, 13.5);
  add(ring, 12, 17);
  assert_taken(ring, "[11 12 13 14]");
  astro_ring_free(ring);
}

/* A late trigger is told how much it misses; time before the stream is not missing. */
static void test_gone(void)
{
  AstroRingStore *ring = new_ring(4, 2, 1, 1000);
  add(ring, 0, 3);
  g_assert_cmpint(trigger(ring, 1).gone, ==, 0);
  assert_taken(ring, "[0 1]");
  add(ring, 3, 10);
  const AstroRingAnswer answer = trigger(ring, 7);
  g_assert_cmpint(answer.gone, ==, SECOND);
  assert_taken(ring, "[6 7]");
  g_assert_cmpint(trigger(ring, 4).gone, ==, 3 * SECOND);
  assert_taken(ring, "");
  g_assert_cmpuint(astro_ring_bytes(ring), ==, 20);
  astro_ring_free(ring);
  g_assert_cmpuint(n_live, ==, 0);
}

/* Pieces that nobody takes stay up to the bound, though the ring goes on. */
static void test_bound(void)
{
  AstroRingStore *ring = new_ring(3, 2, 100, 40);
  add(ring, 0, 3);
  trigger(ring, 2);
  add(ring, 3, 7);
  g_assert_cmpuint(astro_ring_bytes(ring), ==, 70);
  add(ring, 7, 9);
  g_assert_cmpuint(astro_ring_bytes(ring), ==, 70);
  assert_taken(ring, "-20:[2 3 4 5 6 7 8");
  add(ring, 9, 20);
  g_assert_cmpuint(astro_ring_bytes(ring), ==, 70);
  add(ring, 20, 30);
  astro_ring_close(ring);
  assert_taken(ring, "-140:[23 24 25 26 27 28 29]");
  astro_ring_free(ring);
  g_assert_cmpuint(n_live, ==, 0);
}

/* UTC needs a start. A new start begins another scale of times, and the ring forgets by what has
 * passed. */
static void test_utc(void)
{
  AstroRingStore *ring = new_ring(5, 1, 1, 1000);
  AstroRingTime time;
  AstroRingAnswer answer;
  g_autoptr(GError) error = NULL;
  g_assert_true(astro_ring_time_parse(&time, "2026-11-20T12:00:02.5", &error));
  const gint64 start = time.ns - 5 * SECOND / 2;
  astro_ring_trigger(ring, &time, &answer);
  g_assert_true(answer.waits);
  g_assert_cmpuint(add_dated(ring, 0, ASTRO_RING_UNDATED), ==, 1);
  for (guint n = 0; n < 4; n++)
    g_assert_cmpuint(add_dated(ring, n, start), ==, 0);
  assert_taken(ring, "");
  astro_ring_trigger(ring, &time, &answer);
  assert_taken(ring, "[1 2 3");
  for (guint n = 0; n < 4; n++)
    add_dated(ring, n, start + 3600 * SECOND);
  assert_taken(ring, "]");
  astro_ring_trigger(ring, &time, &answer);
  g_assert_cmpuint(answer.wanted, ==, 0);
  time.ns += 3600 * SECOND;
  astro_ring_trigger(ring, &time, &answer);
  assert_taken(ring, "[1 2 3");
  g_assert_cmpuint(astro_ring_bytes(ring), ==, 10);
  astro_ring_free(ring);
  g_assert_cmpuint(n_live, ==, 0);
}

static void test_times(void)
{
  static const char *const bad[] = { "", "now", "1.5s", "1e99", "nan", "2026-11-20", "12:00T" };
  g_autoptr(GError) error = NULL;
  AstroRingTime time;
  g_assert_true(astro_ring_time_parse(&time, "1.25", &error));
  g_assert_false(time.is_utc);
  g_assert_cmpint(time.ns, ==, 5 * SECOND / 4);
  g_assert_true(astro_ring_time_parse(&time, "2026-11-20T12:00:00.000000001Z", &error));
  g_assert_true(time.is_utc);
  g_assert_cmpint(time.ns % SECOND, ==, 1);
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) refused = NULL;
    g_assert_false(astro_ring_time_parse(&time, bad[i], &refused));
    g_assert_nonnull(strstr(refused->message, "expected UTC"));
  }
  g_autoptr(GArray) times = astro_ring_times_parse("1, 2026-11-20T12:00:00,3  4", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(times->len, ==, 4);
  g_assert_null(astro_ring_times_parse("1,x", &error));
  g_assert_nonnull(error);
}

static void add_tests(void)
{
  g_test_add_func("/ring/windows", test_windows);
  g_test_add_func("/ring/overlaps", test_overlaps);
  g_test_add_func("/ring/gone", test_gone);
  g_test_add_func("/ring/bound", test_bound);
  g_test_add_func("/ring/utc", test_utc);
  g_test_add_func("/ring/times", test_times);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
