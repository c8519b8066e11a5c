/* Placing packets: each that comes in time is placed once, where its number says; those that are
 * lost, late, doubled or far away are counted. And numbers of packets, from counts that wrap and
 * from seconds. */
#include "core/kit/split-mix.h"
#include "core/packets/sequence.h"
#include "core/packets/window.h"
#include "tests/tests.h"

#define STREAMS 3u
#define BLOCK 16u
#define WINDOW 40u

/* The blocks of a test: the number of each packet that was placed, for each stream. */
typedef struct {
  guint64 first;
  guint64 numbers[STREAMS][BLOCK];
} Block;

typedef struct {
  GArray *placed[STREAMS]; /* numbers, as blocks are closed */
  guint64 next, lost;
  guint closed, open, gaps, starts, dropped;
  gboolean has_no_memory;
} Heap;

static gpointer open_block(gpointer user, guint64 first)
{
  Heap *heap = user;
  if (heap->has_no_memory)
    return NULL;
  Block *block = g_new(Block, 1);
  memset(block, 0xa5, sizeof *block);
  block->first = first;
  heap->open++;
  return block;
}

static void close_block(gpointer user, const AstroWindowBlock *told)
{
  Heap *heap = user;
  Block *block = told->data;
  g_assert_cmpuint(told->first, ==, block->first);
  g_assert_cmpuint(told->first % BLOCK, ==, 0);
  if (told->is_after_start)
    heap->starts++;
  else if (told->is_after_gap)
    g_assert_cmpuint(told->first, >, heap->next);
  else
    g_assert_cmpuint(told->first, ==, heap->next);
  heap->gaps += (guint)told->is_after_gap;
  heap->next = told->first + BLOCK;
  heap->lost += told->lost;
  for (guint stream = 0; stream < STREAMS; stream++)
    for (guint i = 0; i < BLOCK; i++) {
      if (!told->came[stream * BLOCK + i])
        continue;
      g_assert_cmpuint(block->numbers[stream][i], ==, told->first + i);
      g_array_append_val(heap->placed[stream], block->numbers[stream][i]);
    }
  heap->closed++;
  heap->open--;
  g_free(block);
}

static void drop_block(gpointer user, gpointer data)
{
  Heap *heap = user;
  heap->open--;
  heap->dropped++;
  g_free(data);
}

static const AstroWindowFunctions functions = { open_block, close_block, drop_block };

static AstroWindow *open_window(Heap *heap)
{
  static const AstroWindowConfig config = { STREAMS, BLOCK, WINDOW };
  *heap = (Heap){ 0 };
  for (guint i = 0; i < STREAMS; i++)
    heap->placed[i] = g_array_new(FALSE, FALSE, sizeof(guint64));
  return astro_window_new(&config, &functions, heap);
}

static void clear(Heap *heap)
{
  g_assert_cmpuint(heap->open, ==, 0);
  for (guint i = 0; i < STREAMS; i++)
    g_array_unref(heap->placed[i]);
}

static AstroWindowAnswer take(AstroWindow *window, guint stream, guint64 number)
{
  AstroWindowPlace place = { 0 };
  const AstroWindowAnswer answer = astro_window_take(window, stream, number, &place);
  if (answer == ASTRO_WINDOW_PLACED) {
    Block *block = place.data;
    block->numbers[stream][place.packet] = number;
  }
  return answer;
}

/* Whether exactly those numbers came out, in order. */
static void came(const Heap *heap, guint stream, const guint64 *numbers, guint n)
{
  const GArray *placed = heap->placed[stream];
  g_assert_cmpmem(placed->data, placed->len * sizeof(guint64), numbers, n * sizeof(guint64));
}

typedef struct {
  double when;
  guint64 number;
  guint stream;
} Sent;

static gint by_time(gconstpointer a, gconstpointer b)
{
  const double first = ((const Sent *)a)->when, second = ((const Sent *)b)->when;
  return first < second ? -1 : first > second;
}

/* Streams with packets that are lost, doubled and reordered within the window: each that arrives is
 * placed once, and the counts are right. */
static void test_exact(void)
{
  enum { SENT = 5000, FIRST = 1000003 };
  for (guint64 seed = 1; seed <= 20; seed++) {
    guint64 state = seed, lost[STREAMS] = { 0 }, doubled[STREAMS] = { 0 };
    g_autoptr(GArray) sent = g_array_new(FALSE, FALSE, sizeof(Sent));
    GArray *expected[STREAMS];
    for (guint stream = 0; stream < STREAMS; stream++)
      expected[stream] = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint64 number = FIRST; number < FIRST + SENT; number++)
      for (guint stream = 0; stream < STREAMS; stream++) {
        /* The packets of the first block come in order, since it is not known what was before the
         * first. */
        const gboolean is_edge = number < FIRST + BLOCK || number + 1 == FIRST + SENT;
        const double away = is_edge ? 0 : (double)(astro_split_mix(&state) % (WINDOW / 2));
        const Sent packet = { (double)number + away, number, stream };
        if (!is_edge && astro_split_mix(&state) % 10 == 0) {
          lost[stream]++;
          continue;
        }
        g_array_append_val(expected[stream], number);
        g_array_append_val(sent, packet);
        if (astro_split_mix(&state) % 20 == 0) {
          doubled[stream]++;
          g_array_append_val(sent, packet);
        }
      }
    g_array_sort(sent, by_time);

    Heap heap;
    g_autoptr(AstroWindow) window = open_window(&heap);
    for (guint i = 0; i < sent->len; i++) {
      const Sent *packet = &g_array_index(sent, Sent, i);
      const AstroWindowAnswer answer = take(window, packet->stream, packet->number);
      g_assert_true(answer == ASTRO_WINDOW_PLACED || answer == ASTRO_WINDOW_DUPLICATE);
    }
    astro_window_finish(window);
    guint64 all = 0;
    for (guint stream = 0; stream < STREAMS; stream++) {
      const AstroWindowCounts counts = astro_window_counts(window, stream);
      came(&heap, stream, (const guint64 *)expected[stream]->data, expected[stream]->len);
      g_assert_cmpuint(counts.packets, ==, expected[stream]->len);
      g_assert_cmpuint(counts.lost, ==, lost[stream]);
      g_assert_cmpuint(counts.duplicate, ==, doubled[stream]);
      g_assert_cmpuint(counts.late + counts.far, ==, 0);
      all += lost[stream];
      g_array_unref(expected[stream]);
    }
    g_assert_cmpuint(heap.lost, ==, all);
    g_assert_cmpuint(heap.starts, ==, 1);
    g_assert_cmpuint(heap.gaps, ==, 0);
    clear(&heap);
  }
}

/* A block is closed when a packet comes that is a window after its last, and not earlier. */
static void test_late(void)
{
  Heap heap;
  g_autoptr(AstroWindow) window = open_window(&heap);
  for (guint64 number = 320; number < 320 + BLOCK + WINDOW; number++)
    if (number != 322 && number != 323)
      g_assert_cmpint(take(window, 0, number), ==, ASTRO_WINDOW_PLACED);
  g_assert_cmpuint(heap.closed, ==, 0);
  g_assert_cmpint(take(window, 0, 322), ==, ASTRO_WINDOW_PLACED);
  g_assert_cmpint(take(window, 0, 322), ==, ASTRO_WINDOW_DUPLICATE);
  g_assert_cmpint(take(window, 0, 320 + BLOCK + WINDOW), ==, ASTRO_WINDOW_PLACED);
  g_assert_cmpuint(heap.closed, ==, 1);
  g_assert_cmpint(take(window, 0, 323), ==, ASTRO_WINDOW_LATE);
  g_assert_cmpint(take(window, 0, 319), ==, ASTRO_WINDOW_LATE);
  astro_window_finish(window);
  const AstroWindowCounts counts = astro_window_counts(window, 0);
  g_assert_cmpuint(counts.lost, ==, 1);
  g_assert_cmpuint(counts.late, ==, 2);
  g_assert_cmpuint(counts.duplicate, ==, 1);
  /* The others sent nothing, which counts as lost from the first packet that came to the last. */
  g_assert_cmpuint(astro_window_counts(window, 1).lost, ==, BLOCK + WINDOW + 1);
  clear(&heap);
}

/* A stream that stops and returns does not hold up the others. */
static void test_stops(void)
{
  Heap heap;
  g_autoptr(AstroWindow) window = open_window(&heap);
  for (guint64 number = 0; number < 10000; number++)
    for (guint stream = 0; stream < STREAMS; stream++)
      if (stream != 1 || number < 100 || number >= 9000)
        g_assert_cmpint(take(window, stream, number), ==, ASTRO_WINDOW_PLACED);
  astro_window_finish(window);
  g_assert_cmpuint(astro_window_counts(window, 0).lost, ==, 0);
  g_assert_cmpuint(astro_window_counts(window, 1).lost, ==, 8900);
  g_assert_cmpuint(heap.lost, ==, 8900);
  g_assert_cmpuint(heap.closed, ==, 10000 / BLOCK);
  clear(&heap);
}

/* One broken header changes nothing; a gap beyond everything that is open does, and says how much
 * is lost. */
static void test_gap(void)
{
  Heap heap;
  g_autoptr(AstroWindow) window = open_window(&heap);
  for (guint64 number = 1600; number < 1700; number++)
    take(window, 0, number);
  g_assert_cmpint(take(window, 0, 1000000), ==, ASTRO_WINDOW_FAR);
  g_assert_cmpint(take(window, 0, 3), ==, ASTRO_WINDOW_FAR);
  g_assert_cmpint(take(window, 0, G_MAXUINT64 - 5), ==, ASTRO_WINDOW_FAR);
  g_assert_cmpint(take(window, 0, 1700), ==, ASTRO_WINDOW_PLACED);
  for (guint64 number = 50003; number < 50003 + ASTRO_WINDOW_RUN - 1; number++)
    g_assert_cmpint(take(window, 0, number), ==, ASTRO_WINDOW_FAR);
  for (guint64 number = 50006; number < 50100; number++)
    g_assert_cmpint(take(window, 0, number), ==, ASTRO_WINDOW_PLACED);
  astro_window_finish(window);
  const AstroWindowCounts counts = astro_window_counts(window, 0);
  g_assert_cmpuint(heap.gaps, ==, 1);
  g_assert_cmpuint(heap.starts, ==, 1);
  g_assert_cmpuint(counts.packets, ==, 101 + 94);
  g_assert_cmpuint(counts.lost, ==, 50006 - 1701);
  g_assert_cmpuint(counts.far, ==, 3 + 3);
  clear(&heap);
}

/* When a sender begins anew, open blocks are closed and the next packet is another start. */
static void test_restart(void)
{
  Heap heap;
  g_autoptr(AstroWindow) window = open_window(&heap);
  for (guint64 number = 1000; number < 3000; number++)
    take(window, 0, number);
  for (guint64 number = 0; number < 200; number++)
    g_assert_cmpint(take(window, 0, number), ==,
                    number < ASTRO_WINDOW_RUN - 1 ? ASTRO_WINDOW_FAR : ASTRO_WINDOW_PLACED);
  astro_window_finish(window);
  g_assert_cmpuint(heap.starts, ==, 2);
  g_assert_cmpuint(heap.gaps, ==, 0);
  g_assert_cmpuint(astro_window_counts(window, 0).lost, ==, 0);
  g_assert_cmpuint(astro_window_counts(window, 0).packets, ==, 2000 + 197);
  clear(&heap);
}

/* A flush drops open blocks; without memory nothing is placed, and all goes on later. */
static void test_reset(void)
{
  Heap heap;
  g_autoptr(AstroWindow) window = open_window(&heap);
  for (guint64 number = 0; number < 50; number++)
    take(window, 0, number);
  astro_window_reset(window);
  g_assert_cmpuint(heap.closed, ==, 0);
  g_assert_cmpuint(heap.dropped, ==, 4);
  heap.has_no_memory = TRUE;
  g_assert_cmpint(take(window, 0, 7), ==, ASTRO_WINDOW_FAILED);
  heap.has_no_memory = FALSE;
  g_assert_cmpint(take(window, 0, 8), ==, ASTRO_WINDOW_PLACED);
  astro_window_reset(window);
  take(window, 0, 8); /* the window's end drops it */
  g_clear_pointer(&window, astro_window_free);
  clear(&heap);
}

static AstroPacket counted(guint64 count, guint bits)
{
  AstroPacket packet = { .count = count, .count_bits = bits, .count_step = 1 };
  packet.samples.layout = (AstroLayout){ 1, { ASTRO_AXIS_TIME }, { 16 } };
  return packet;
}

/* Counts of few bits wrap in either direction, and reordered packets are in their place. */
static void test_wraps(void)
{
  AstroSequence sequence = { 0 };
  guint64 begin = 0, number;
  for (guint64 i = 0; i < 20000; i++) {
    const guint64 wanted = i ^ 5; /* of eight, none is where it was */
    const AstroPacket packet = counted((60000 + 16 * wanted) & 0xffff, 16);
    g_assert_cmpint(astro_sequence_find(&sequence, &packet, &number), ==, ASTRO_SEQUENCE_KNOWN);
    astro_sequence_follow(&sequence, &packet);
    if (i == 0)
      begin = number - wanted;
    g_assert_cmpuint(number, ==, begin + wanted);
  }
  /* Between two packets there is none. */
  const AstroPacket off = counted(60008, 16);
  g_assert_cmpint(astro_sequence_find(&sequence, &off, &number), ==, ASTRO_SEQUENCE_OFF);
  /* A packet that was not followed does not move the sequence. */
  AstroSequence anew = { 0 };
  const AstroPacket one = counted(32, 48), far = counted((guint64)1 << 46, 48);
  g_assert_cmpint(astro_sequence_find(&anew, &one, &begin), ==, ASTRO_SEQUENCE_KNOWN);
  astro_sequence_follow(&anew, &one);
  astro_sequence_find(&anew, &far, &number);
  g_assert_cmpuint(number - begin, ==, (((guint64)1 << 46) - 32) / 16);
  astro_sequence_find(&anew, &one, &number);
  g_assert_cmpuint(number, ==, begin);
}

/* A count of unknown meaning has no place, unless the user gives it. */
static void test_unknown_count(void)
{
  AstroSequence sequence = { 0 };
  AstroPacket packet = counted(8192, 48);
  guint64 number, next;
  packet.count_step = 0;
  g_assert_cmpint(astro_sequence_find(&sequence, &packet, &number), ==, ASTRO_SEQUENCE_UNKNOWN);
  sequence.counts_a_packet = 4096;
  g_assert_cmpint(astro_sequence_find(&sequence, &packet, &number), ==, ASTRO_SEQUENCE_KNOWN);
  astro_sequence_follow(&sequence, &packet);
  packet.count += 4096;
  g_assert_cmpint(astro_sequence_find(&sequence, &packet, &next), ==, ASTRO_SEQUENCE_KNOWN);
  g_assert_cmpuint(next, ==, number + 1);
  packet.count_bits = 0;
  g_assert_cmpint(astro_sequence_find(&sequence, &packet, &next), ==, ASTRO_SEQUENCE_UNKNOWN);
}

static AstroPacket framed(gint64 second, guint64 frame)
{
  return (AstroPacket){
    .has_second = TRUE, .counts_packets = TRUE, .second = second, .count = frame, .count_bits = 24
  };
}

/* The number of frames a second is that of two seconds that agree; a second that lost its last
 * frame agrees with none. */
static void test_seconds(void)
{
  AstroSequence sequence = { 0 };
  guint64 number = 0;
  for (gint64 second = 100; second < 110; second++)
    for (guint64 frame = 0; frame < 25; frame++) {
      const AstroPacket packet = framed(second, frame);
      if (second == 102 && frame == 24)
        continue;
      const AstroSequenceAnswer answer = astro_sequence_find(&sequence, &packet, &number);
      /* 100, 101 end with frame 24: with the first of 102 both are seen. */
      g_assert_cmpint(answer, ==, second < 102 ? ASTRO_SEQUENCE_UNKNOWN : ASTRO_SEQUENCE_KNOWN);
      if (answer == ASTRO_SEQUENCE_KNOWN)
        g_assert_cmpuint(number, ==, (guint64)second * 25 + frame);
    }
  const AstroPacket beyond = framed(110, 25);
  g_assert_cmpint(astro_sequence_find(&sequence, &beyond, &number), ==, ASTRO_SEQUENCE_OFF);

  AstroSequence lossy = { 0 };
  for (gint64 second = 100; second < 104; second++)
    for (guint64 frame = 0; frame < 25; frame++) {
      const AstroPacket packet = framed(second, frame);
      if (second == 101 && frame == 24)
        continue;
      g_assert_cmpint(astro_sequence_find(&lossy, &packet, &number), ==, ASTRO_SEQUENCE_UNKNOWN);
    }

  AstroSequence told = { 0 };
  AstroPacket packet = framed(7, 3);
  packet.packets_a_second = 10;
  g_assert_cmpint(astro_sequence_find(&told, &packet, &number), ==, ASTRO_SEQUENCE_KNOWN);
  g_assert_cmpuint(number, ==, 73);
}

static void add_tests(void)
{
  g_test_add_func("/packets/window/exact", test_exact);
  g_test_add_func("/packets/window/late", test_late);
  g_test_add_func("/packets/window/stops", test_stops);
  g_test_add_func("/packets/window/gap", test_gap);
  g_test_add_func("/packets/window/restart", test_restart);
  g_test_add_func("/packets/window/reset", test_reset);
  g_test_add_func("/packets/sequence/wraps", test_wraps);
  g_test_add_func("/packets/sequence/unknown-count", test_unknown_count);
  g_test_add_func("/packets/sequence/seconds", test_seconds);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
