/* astrorecordsrc on recordings that are made byte by byte: whole ones, and those with losses,
 * contradictions, and cuts. */
#include "tests/elements/recordings.h"

#define PAYLOAD 8

/* ---- VDIF ---- */

/* The sample of a step: different in each thread and station. */
static guint8 number_of(guint64 step, guint station, guint thread)
{
  return (guint8)(1 + step * 7 + station * 31 + thread * 101);
}

static void add_frame(GByteArray *bytes, const RecordingVdif *frame, guint fps)
{
  guint8 payload[PAYLOAD];
  for (guint i = 0; i < PAYLOAD; i++)
    payload[i] = number_of((frame->second * fps + frame->number) * PAYLOAD + i, frame->station,
                           frame->thread);
  recording_vdif(bytes, frame, payload, PAYLOAD);
}

static gint expected(guint64 step, guint station, guint thread)
{
  return (gint)number_of(step, station, thread) - 128;
}

/* Two stations with threads 3 and 9, 10 frames a second over three seconds, out of order: one
 * missing, one invalid, one twice, and a few bytes that are no frame. */
static char *save_threads(void)
{
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 4; i < 30; i++)
    for (guint k = 0; k < 4; k++) {
      const guint lane = i % 2 ? 3 - k : k;
      const RecordingVdif frame = { .second = i / 10,
                                    .number = i % 10,
                                    .station = lane / 2 ? 0x4566 : 0x5762,
                                    .thread = lane % 2 ? 9 : 3,
                                    .bits = 8,
                                    .is_invalid = i == 7 && lane == 1 };
      if (i == 6 && lane == 2)
        continue;
      add_frame(bytes, &frame, 10);
      if (i == 9 && lane == 0)
        add_frame(bytes, &frame, 10);
      if (i == 12 && lane == 0)
        g_byte_array_append(bytes, (const guint8 *)"12345678901", 11);
    }
  return recording_save(bytes, "threads.vdif");
}

static void test_threads(void)
{
  g_autofree char *path = save_threads();
  g_auto(Recorded) r = recorded_read(path, "");
  g_assert_cmpint(r.stream.rate_n, ==, 80);
  g_assert_cmpint(r.stream.format, ==, ASTRO_FORMAT_I8);
  g_assert_cmpuint(astro_stream_extent(&r.stream, ASTRO_AXIS_STATION), ==, 2);
  g_assert_cmpuint(astro_stream_extent(&r.stream, ASTRO_AXIS_POL), ==, 2);
  g_assert_cmpint(r.stream.layout.axes[0], ==, ASTRO_AXIS_TIME);
  g_assert_cmpfloat(r.stream.bandwidth, ==, 40);
  g_assert_cmpuint(recorded_end(&r), ==, 26 * PAYLOAD);
  g_assert_cmpint(r.observation->start_mjd, ==, RECORDING_MJD);
  g_assert_cmpuint(r.observation->start_ns, ==, RECORDING_NS + 4 * GST_SECOND / 10);
  for (guint64 step = 0; step < 26 * PAYLOAD; step++)
    for (guint lane = 0; lane < 4; lane++) {
      /* Stations are in the order of their numbers: 0x4566 is first. */
      const guint station = lane / 2, pol = lane % 2;
      const guint64 frame = 4 + step / PAYLOAD;
      if ((frame == 6 && station == 0 && pol == 0) || (frame == 7 && station == 1 && pol == 1))
        recorded_is_lost(&r, step, station, pol);
      else
        g_assert_cmpint(recorded_value(&r, step, 0, station, pol), ==,
                        expected(step + 4 * PAYLOAD, station ? 0x5762 : 0x4566, pol ? 9 : 3));
    }
  test_says(r.warnings->str, "16 of 832 samples are lost");
  test_says(r.warnings->str, "1 invalid frames");
  test_says(r.warnings->str, "1 of times that others have already");
  test_says(r.warnings->str, "11 bytes that are no frames");
  g_unlink(path);
}

/* Threads are what the user says. */
static void test_threads_are(void)
{
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 0; i < 8; i++) {
    const RecordingVdif frame = { .number = i / 4, .thread = i % 4, .bits = 8 };
    add_frame(bytes, &frame, 100);
  }
  g_autofree char *path = recording_save(bytes, "four.vdif");
  recorded_refused(path, "rate=800", "4 threads: set threads");
  recorded_refused(path, "rate=800 threads=pol", "expected two at most with threads=pol");
  recorded_refused(path, "threads=station", "set rate");
  recorded_refused(path, "rate=801 threads=station", "no whole number of frames");
  recorded_refused(path, "rate=8 threads=station", "frame 1 of a second");
  recorded_refused(path, "rate=800 threads=station bits=4", "bits=4 is set");
  recorded_refused(path, "rate=800 threads=station channels=2", "channels=2 is set");
  recorded_refused(path, "rate=800 threads=station start-time=2020-01-01T00:00:00",
                   "begins at 2020-02-02T02:02:02");
  recorded_refused(path, "rate=x threads=station", "rate=x: expected");
  {
    g_auto(Recorded) r = recorded_read(path, "rate=800 threads=station");
    g_assert_cmpuint(astro_stream_extent(&r.stream, ASTRO_AXIS_STATION), ==, 4);
    g_assert_cmpint(recorded_value(&r, 11, 0, 3, 0), ==, expected(11, 0, 3));
  }
  g_auto(Recorded) r = recorded_read(path, "rate=800 threads=band start-time=2020-02-02T02:02:02");
  g_assert_cmpint(r.stream.quantity, ==, ASTRO_QUANTITY_SPECTRA);
  g_assert_cmpuint(astro_stream_extent(&r.stream, ASTRO_AXIS_CHANNEL), ==, 4);
  g_assert_cmpint(recorded_value(&r, 11, 3, 0, 0), ==, expected(11, 0, 3));
  g_unlink(path);
}

/* Channels within frames, which are bands of threads or polarisations of a station. */
static void test_channels(void)
{
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 0; i < 4; i++) {
    const RecordingVdif frame = { .number = i / 2, .thread = i % 2, .bits = 8, .log_channels = 1 };
    add_frame(bytes, &frame, 100);
  }
  g_autofree char *path = recording_save(bytes, "channels.vdif");
  recorded_refused(path, "rate=400 pols=2", "2 threads: set threads");
  for (guint way = 0; way < 3; way++) {
    static const char *const settings[] = { "rate=400", "rate=400 threads=band",
                                            "rate=400 threads=station pols=2" };
    g_auto(Recorded) r = recorded_read(path, settings[way]);
    for (guint64 step = 0; step < 8; step++)
      for (guint thread = 0; thread < 2; thread++)
        for (guint channel = 0; channel < 2; channel++)
          g_assert_cmpint(way == 0   ? recorded_value(&r, step, channel, 0, thread)
                          : way == 1 ? recorded_value(&r, step, 2 * thread + channel, 0, 0)
                                     : recorded_value(&r, step, 0, thread, channel),
                          ==, expected(step / 4 * PAYLOAD + step % 4 * 2 + channel, 0, thread));
  }
  g_unlink(path);
}

/* Two bits, complex, with a legacy header; the file ends within a frame. */
static void test_two_bits(void)
{
  static const guint8 payload[PAYLOAD] = { 0xe4, 0x1b, 0, 0xff, 0x55, 0xaa, 1, 2 };
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 0; i < 3; i++) {
    const RecordingVdif frame = { .number = i, .bits = 2, .is_complex = TRUE, .is_legacy = TRUE };
    recording_vdif(bytes, &frame, payload, PAYLOAD);
  }
  g_byte_array_set_size(bytes, bytes->len - 3);
  g_autofree char *path = recording_save(bytes, "two.vdif");
  g_auto(Recorded) r = recorded_read(path, "rate=1600 frequency=1.4e9");
  g_assert_cmpint(r.stream.format, ==, ASTRO_FORMAT_CI8);
  g_assert_cmpfloat(r.stream.frequency, ==, 1.4e9);
  g_assert_cmpuint(recorded_end(&r), ==, 32);
  g_assert_cmpint(recorded_value(&r, 0, 0, 0, 0), ==, -10);
  g_assert_cmpint(recorded_imaginary(&r, 0, 0, 0), ==, -3);
  g_assert_cmpint(recorded_value(&r, 17, 0, 0, 0), ==, 3);
  g_assert_cmpint(recorded_imaginary(&r, 17, 0, 0), ==, 10);
  g_assert_cmpint(recorded_value(&r, 18, 0, 0, 0), ==, 10);
  test_says(r.warnings->str, "21 bytes that are no frames");
  g_unlink(path);
}

/* The rate in headers of version 1 counts if nothing else tells one, and the user hears of it. */
static void test_claimed_rate(void)
{
  static const struct {
    guint khz, seconds;
    const char *settings;
    gint rate;
    const char *says; /* NULL: nothing */
  } cases[] = {
    { 1, 1, "", 2000, "headers claim 2000 steps a second, which nothing confirms" },
    { 1, 1, "rate=2000", 2000, NULL },
    { 1, 1, "rate=4000", 4000, "headers claim 2000 steps a second, but there are 4000" },
    { 1, 2, "", 2000, NULL },
    { 2, 2, "", 2000, "headers claim 4000 steps a second, but there are 2000" },
  };
  static const guint8 payload[PAYLOAD] = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GByteArray *bytes = g_byte_array_new();
    for (guint k = 0; k < 250 * cases[i].seconds; k++) {
      const RecordingVdif frame = {
        .second = k / 250, .number = k % 250, .bits = 8, .claimed_khz = cases[i].khz
      };
      recording_vdif(bytes, &frame, payload, PAYLOAD);
    }
    g_autofree char *path = recording_save(bytes, "claimed.vdif");
    g_auto(Recorded) r = recorded_read(path, cases[i].settings);
    g_assert_cmpint(r.stream.rate_n, ==, cases[i].rate);
    if (cases[i].says)
      test_says(r.warnings->str, cases[i].says);
    else
      g_assert_cmpstr(r.warnings->str, ==, "");
    g_unlink(path);
  }
}

/* ---- seeks and gaps ---- */

static void test_seek(void)
{
  g_autofree char *path = save_threads();
  for (guint64 first = 3; first < 26 * PAYLOAD; first += 29) {
    g_auto(Recorded) r = recorded_read_from(path, "", (double)first / 80 + 1e-6);
    g_assert_null(r.error);
    g_assert_cmpuint(GST_BUFFER_OFFSET((GstBuffer *)r.buffers->pdata[0]), ==, first);
    g_assert_cmpuint(recorded_end(&r), ==, 26 * PAYLOAD);
    for (guint64 step = MAX(first, 4 * PAYLOAD); step < 26 * PAYLOAD; step++)
      g_assert_cmpint(recorded_value(&r, step, 0, 1, 0), ==,
                      expected(step + 4 * PAYLOAD, 0x5762, 3));
  }
  g_unlink(path);
}

/* A recorder that keeps its epoch counts the leap second at the end of 2016 like any other. */
static void test_leap(void)
{
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 0; i < 40; i++) {
    const RecordingVdif frame = { .second = i / 10, .number = i % 10, .bits = 8 };
    const guint32 second = GUINT32_TO_LE(184 * 86400 - 2 + i / 10);
    const gsize at = bytes->len;
    add_frame(bytes, &frame, 10);
    memcpy(bytes->data + at, &second, sizeof second);
    bytes->data[at + 7] = 33; /* half years since 2000 */
  }
  g_autofree char *path = recording_save(bytes, "leap.vdif");
  g_auto(Recorded) r = recorded_read(path, "");
  g_assert_cmpuint(recorded_end(&r), ==, 40 * PAYLOAD);
  g_assert_cmpint(r.observation->start_mjd, ==, 57753);
  g_assert_cmpuint(r.observation->start_ns, ==, (guint64)86398 * GST_SECOND);
  for (guint64 step = 0; step < 40 * PAYLOAD; step++)
    g_assert_cmpint(recorded_value(&r, step, 0, 0, 0), ==, expected(step, 0, 0));
  g_assert_cmpstr(r.warnings->str, ==, "");
  g_unlink(path);
}

/* A week without samples is a jump, and is counted. */
static void test_gap(void)
{
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 0; i < 12; i++) {
    const RecordingVdif frame = { .second = i < 6 ? 0 : 604800, .number = i % 6, .bits = 8 };
    add_frame(bytes, &frame, 100000);
  }
  g_autofree char *path = recording_save(bytes, "gap.vdif");
  g_auto(Recorded) r = recorded_read(path, "rate=800000 force=true");
  const guint64 later = (guint64)604800 * 800000;
  g_assert_cmpuint(r.buffers->len, ==, 2);
  g_assert_cmpuint(recorded_end(&r), ==, later + 48);
  GstBuffer *second = r.buffers->pdata[1];
  g_assert_true(GST_BUFFER_FLAG_IS_SET(second, GST_BUFFER_FLAG_DISCONT));
  g_assert_cmpint(recorded_value(&r, 47, 0, 0, 0), ==, expected(47, 0, 0));
  recorded_is_lost(&r, 48, 0, 0);
  g_assert_cmpint(recorded_value(&r, later + 47, 0, 0, 0), ==, expected(later + 47, 0, 0));
  g_autofree char *said = g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " samples",
                                          later - 48, later + 48);
  test_says(r.warnings->str, said);
  g_unlink(path);
}

/* ---- DADA ---- */

#define DADA "HDR_SIZE 4096 # bytes\nNBIT 8\nNDIM 2\nNPOL 2\nTELESCOPE Effelsberg\nTSAMP 1 # us\n"
#define DADA_START "UTC_START 2020-02-02-02:02:02\n"

static char *save_dada(const char *name, const char *lines, guint first, guint bytes)
{
  GByteArray *all = g_byte_array_new();
  recording_dada(all, lines);
  for (guint i = 0; i < bytes; i++) {
    const guint8 byte = (guint8)(first + i);
    g_byte_array_append(all, &byte, 1);
  }
  return recording_save(all, name);
}

/* Three files of which one is missing in the middle, named in the wrong order. */
static void test_dada_files(void)
{
  static const char lines[] = DADA DADA_START "NCHAN 1\nFREQ 1400\nBW 1\nOBS_OFFSET %u\nRA "
                                              "20:16:00\nDEC -28:30:00\nFILE_SIZE 40\n";
  g_autofree char *late = g_strdup_printf(lines, 480), *early = g_strdup_printf(lines, 400);
  g_autofree char *cut = g_strdup_printf(lines, 560);
  g_autofree char *a = save_dada("0.dada", late, 80, 40), *b = save_dada("1.dada", early, 0, 40),
                  *c = save_dada("2.dada", cut, 160, 38);
  g_autofree char *names = g_strdup_printf("%s,%s,%s", a, b, c);
  g_auto(Recorded) r = recorded_read(names, "");
  g_assert_cmpint(r.stream.format, ==, ASTRO_FORMAT_CI8);
  g_assert_cmpfloat(r.stream.frequency, ==, 1.4e9);
  g_assert_cmpfloat(r.stream.bandwidth, ==, 1e6);
  g_assert_cmpint(r.stream.rate_n, ==, 1000000);
  g_assert_cmpstr(r.observation->telescope, ==, "Effelsberg");
  g_assert_cmpfloat(fabs(r.observation->phase_dec * 180 / G_PI + 28.5), <, 1e-9);
  g_assert_cmpuint(r.observation->start_ns, ==, RECORDING_NS + 100000);
  g_assert_cmpuint(recorded_end(&r), ==, 49);
  for (guint64 step = 0; step < 49; step++)
    for (guint pol = 0; pol < 2; pol++)
      if (step / 10 % 2)
        recorded_is_lost(&r, step, 0, pol);
      else
        g_assert_cmpint(recorded_value(&r, step, 0, 0, pol), ==,
                        (gint8)(guint8)(step * 4 + pol * 2));
  test_says(r.warnings->str, "2.dada is cut short");
  test_says(r.warnings->str, "40 of 98 samples are lost");
  recorded_refused(names, "frequency=1.5e9", "frequency=1500000000 is set");
  recorded_refused(names, "rate=2e6", "rate=2000000 is set");
  g_unlink(a);
  g_unlink(b);
  g_unlink(c);
}

/* Axes in any order, and a band that falls. */
static void test_dada_orders(void)
{
  static const struct {
    const char *order;
    guint step, channel, pol; /* bytes between two */
  } cases[] = { { "TFP", 12, 4, 2 },
                { "TPF", 12, 2, 6 },
                { "FTP", 4, 40, 2 },
                { "PFT", 2, 20, 60 },
                { "FPT", 2, 40, 20 } };
  for (guint i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
    const gboolean falls = i % 2;
    g_autofree char *lines =
        g_strdup_printf(DADA DADA_START "NCHAN 3\nFREQ 1400\nBW %d\nORDER %s\n", falls ? -3 : 3,
                        cases[i / 2].order);
    g_autofree char *path = save_dada("order.dada", lines, 0, 120);
    g_auto(Recorded) r = recorded_read(path, "");
    g_assert_cmpfloat(r.stream.bandwidth, ==, 3e6);
    for (guint step = 0; step < 10; step++)
      for (guint channel = 0; channel < 3; channel++)
        for (guint pol = 0; pol < 2; pol++) {
          const guint at = step * cases[i / 2].step +
                           (falls ? 2 - channel : channel) * cases[i / 2].channel +
                           pol * cases[i / 2].pol;
          g_assert_cmpint(recorded_value(&r, step, channel, 0, pol), ==, (gint8)at);
          g_assert_cmpint(recorded_imaginary(&r, step, channel, pol), ==,
                          falls ? -(gint)(at + 1) : (gint)(at + 1));
        }
    g_unlink(path);
  }
}

/* Heaps of five steps, of which the file has two and a part of a third. */
static void test_dada_heaps(void)
{
  static const struct {
    const char *order;
    guint stations;
    guint heap, step, channel, pol; /* bytes between two; stations are 60 apart */
  } cases[] = { { "TFTP", 1, 60, 4, 20, 2 },
                { "TPFT", 1, 60, 2, 10, 30 },
                { "TTFP", 1, 60, 12, 4, 2 },
                { "TAFTP", 2, 120, 4, 20, 2 } };
  for (guint i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
    const guint k = i / 2, stations = cases[k].stations, from = i % 2 ? 3 : 0;
    g_autofree char *lines = g_strdup_printf(
        DADA DADA_START "NCHAN 3\nFREQ 1400\nBW 3\nNANT %u\nORDER %s\nRESOLUTION %u\n", stations,
        cases[k].order, i % 2 ? 1 : cases[k].heap);
    g_autofree char *path = save_dada("heaps.dada", lines, 0, 2 * cases[k].heap + 7);
    g_auto(Recorded) r = recorded_read_from(path, i % 2 ? "heap-steps=5" : "", from * 1e-6);
    g_assert_cmpuint(recorded_end(&r), ==, 10);
    for (guint step = from; step < 10; step++)
      for (guint channel = 0; channel < 3; channel++)
        for (guint station = 0; station < stations; station++)
          for (guint pol = 0; pol < 2; pol++) {
            const guint at = step / 5 * cases[k].heap + step % 5 * cases[k].step +
                             channel * cases[k].channel + pol * cases[k].pol + station * 60;
            g_assert_cmpint(recorded_value(&r, step, channel, station, pol), ==, (gint8)at);
          }
    test_says(r.warnings->str, "ends in the middle of heaps");
    if (i % 2 == 0)
      test_says(r.warnings->str, "taken as 5 steps long by RESOLUTION");
    g_unlink(path);
  }
}

/* Numbers of few bits are what the user says; each byte has the samples of both polarisations. */
static void test_dada_bits(void)
{
  static const struct {
    guint bits;
    const char *numbers;
    guint8 byte;
    gint8 expected[8];
  } cases[] = {
    { 8, "offset", 0, { -128 } },
    { 8, "signed", 0x80, { -128 } },
    { 4, "offset", 0x9a, { 2, 1 } },
    { 4, "offset-high", 0x9a, { 1, 2 } },
    { 4, "signed", 0x9a, { -6, -7 } },
    { 4, "signed-high", 0x9a, { -7, -6 } },
    { 2, "offset", 0xe4, { -10, -3, 3, 10 } },
    { 2, "offset-high", 0xe4, { 10, 3, -3, -10 } },
    { 2, "signed", 0xe4, { 3, 10, -10, -3 } },
    { 2, "signed-high", 0xe4, { -3, -10, 10, 3 } },
    { 1, "offset", 0x16, { -1, 1, 1, -1, 1, -1, -1, -1 } },
    { 1, "offset-high", 0x16, { -1, -1, -1, 1, -1, 1, 1, -1 } },
    { 1, "signed", 0x16, { 1, -1, -1, 1, -1, 1, 1, 1 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const guint in_byte = 8 / cases[i].bits;
    g_autofree char *lines = g_strdup_printf(DADA DADA_START "NCHAN 1\nNBIT %u\n", cases[i].bits);
    g_autofree char *settings = g_strdup_printf("numbers=%s", cases[i].numbers);
    GByteArray *bytes = g_byte_array_new();
    recording_dada(bytes, lines);
    for (guint k = 0; k < 16; k++)
      g_byte_array_append(bytes, &cases[i].byte, 1);
    g_autofree char *path = recording_save(bytes, "bits.dada");
    g_auto(Recorded) r = recorded_read(path, settings);
    g_assert_cmpint(r.stream.format, ==, ASTRO_FORMAT_CI8);
    g_assert_cmpuint(recorded_end(&r), ==, 4 * in_byte);
    for (guint k = 0; k < 16 * in_byte; k++) {
      const gint expected = cases[i].expected[k % in_byte];
      g_assert_cmpint(k % 2 ? recorded_imaginary(&r, k / 4, 0, k / 2 % 2)
                            : recorded_value(&r, k / 4, 0, 0, k / 2 % 2),
                      ==, expected);
    }
    g_unlink(path);
  }
  g_autofree char *vdif = save_threads();
  recorded_refused(vdif, "numbers=offset", "a recording of vdif tells how its samples are written");
  recorded_refused(vdif, "products=I", "products is set, but a recording of vdif has no IFs");
  recorded_refused(vdif, "heap-steps=4", "heap-steps is set, but a recording of vdif has no heaps");
  g_unlink(vdif);
}

/* The fraction of the second of the start has a keyword of its own. */
static void test_dada_picoseconds(void)
{
  g_autofree char *path =
      save_dada("start.dada", DADA DADA_START "NCHAN 1\nPICOSECONDS 123456789012\n", 0, 16);
  g_auto(Recorded) r = recorded_read(path, "");
  g_assert_cmpint(r.observation->start_mjd, ==, RECORDING_MJD);
  g_assert_cmpuint(r.observation->start_ns, ==, RECORDING_NS + 123456789);
  g_unlink(path);
}

/* Files that overlap by more than they say; those that say so overlap without a warning. */
static void test_dada_overlap(void)
{
  for (guint told = 0; told < 2; told++) {
    g_autofree char *lines = g_strdup_printf(DADA DADA_START "NCHAN 1\nOBS_OVERLAP %u\n", told * 8);
    g_autofree char *later = g_strconcat(lines, "OBS_OFFSET 32\n", NULL);
    g_autofree char *a = save_dada("a.dada", lines, 0, 40), *b = save_dada("b.dada", later, 32, 40);
    g_autofree char *names = g_strdup_printf("%s,%s", a, b);
    g_auto(Recorded) r = recorded_read(names, "");
    g_assert_cmpuint(recorded_end(&r), ==, 18);
    for (guint step = 0; step < 18; step++)
      g_assert_cmpint(recorded_value(&r, step, 0, 0, 0), ==, (gint)step * 4);
    if (told)
      g_assert_cmpstr(r.warnings->str, ==, "");
    else
      test_says(r.warnings->str, "2 steps come twice");
    g_unlink(a);
    g_unlink(b);
  }
}

static void test_dada_refused(void)
{
  static const struct {
    const char *lines, *settings, *says;
  } cases[] = {
    { DADA DADA_START "NCHAN 1\nORDER TXP\n", "", "ORDER is TXP" },
    { DADA DADA_START "NCHAN 2\nORDER TP\n", "", "ORDER is TP" },
    { DADA DADA_START "NCHAN 1\nORDER FTTP\n", "", "ORDER is FTTP" },
    { DADA DADA_START "NCHAN 1\nORDER TFTP\nRESOLUTION 1\n", "", "set heap-steps" },
    { DADA DADA_START "NCHAN 1\nORDER TFTP\nRESOLUTION 8\n", "heap-steps=3",
      "heap-steps=3 is set" },
    { DADA DADA_START "NCHAN x\n", "", "NCHAN is \"x\"" },
    { DADA DADA_START "NCHAN 1\nHDR_SIZE 9999999\n", "", "HDR_SIZE is 9999999" },
    { DADA DADA_START "NCHAN 1\nBW 3\n", "", "bandwidth" },
    { DADA DADA_START "NCHAN 1\nNBIT 3\n", "", "NBIT is 3, expected 1, 2, 4, 8, 16 or 32" },
    { DADA DADA_START "NCHAN 1\nNBIT 2\n", "", "NBIT is 2, and DADA does not say" },
    { DADA DADA_START "NCHAN 1\nTSAMP 0\n", "", "set rate" },
    { DADA DADA_START "NCHAN 1\nOBS_OFFSET 3\n", "", "not whole steps" },
    { DADA "UTC_START yesterday\nNCHAN 1\n", "", "UTC_START is \"yesterday\"" },
    { DADA DADA_START "NCHAN 1\nMJD_START 58881.5\n", "", "MJD_START is 58881.5" },
    { DADA DADA_START, "", "set channels" },
    { DADA DADA_START "NCHAN 1\nNBIT 16\nENDIAN BIG\n", "", "ENDIAN is BIG" },
    { DADA DADA_START "NCHAN 1\nENCODING OFFSETBINARY\n", "", "set numbers=offset" },
    { DADA DADA_START "NCHAN 1\nSTATE PPQQ\n", "", "STATE is PPQQ, which is detected power" },
    { DADA DADA_START "NCHAN 1\nPICOSECONDS 1e3\n", "", "PICOSECONDS is \"1e3\"" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = save_dada("bad.dada", cases[i].lines, 0, 16);
    recorded_refused(path, cases[i].settings, cases[i].says);
    g_unlink(path);
  }
}

/* ---- GUPPI ---- */

#define GUPPI                                                                                      \
  "OBSNCHAN 3\nNPOL 4\nNBITS %u\nOBSFREQ 350.5\nOBSBW %g\nTBIN '1e-6'\nOVERLAP 2\nSTT_IMJD "       \
  "58881\nSTT_SMJD 7322\nSTT_OFFS 0.25\nTELESCOP 'GBT'\nFD_POLN 'CIRC'\nPKTFMT '1SFA'\nBLOCSIZE "  \
  "%u\nPKTSIZE 12\nPKTIDX %u\nDIRECTIO %u\n"

/* Ten steps of three channels of two polarisations, the first two of which the block before has
 * too. */
static void add_dropped(GByteArray *bytes, guint bits, double width, guint block,
                        gboolean is_direct, double dropped)
{
  const guint size = 10 * 12 * bits / 8;
  g_autofree char *lines = g_strdup_printf(GUPPI "DROPBLK %g\n", bits, width, size,
                                           1000 + block * 8 * bits / 8, is_direct, dropped);
  recording_guppi(bytes, lines, is_direct);
  for (guint i = 0; i < size; i++) {
    const guint parts = 8 / bits, step = i * parts / 4 % 10;
    const guint8 byte =
        (guint8)((i * parts / 40 + 1) * 40 + (block * 8 + step) * 4 * (bits == 8) + i % 4);
    g_byte_array_append(bytes, &byte, 1);
  }
}

static void add_block(GByteArray *bytes, guint bits, double width, guint block, gboolean is_direct)
{
  add_dropped(bytes, bits, width, block, is_direct, 0);
}

static gint guppi_value(guint64 step, guint channel, guint part)
{
  return (gint8)(guint8)((channel + 1) * 40 + step * 4 + part);
}

static void test_guppi(void)
{
  for (guint i = 0; i < 4; i++) {
    const gboolean falls = i % 2, is_direct = i / 2;
    GByteArray *bytes = g_byte_array_new();
    for (guint block = 0; block < 4; block++)
      if (block != 2)
        add_block(bytes, 8, falls ? -3 : 3, block, is_direct);
    g_byte_array_set_size(bytes, bytes->len - (i == 3 ? 1 : 0));
    g_autofree char *path = recording_save(bytes, "blocks.raw");
    g_auto(Recorded) r = recorded_read(path, "");
    g_assert_cmpint(r.stream.quantity, ==, ASTRO_QUANTITY_SPECTRA);
    g_assert_cmpint(r.stream.rate_n, ==, 1000000);
    g_assert_cmpfloat(r.stream.frequency, ==, 350.5e6);
    g_assert_cmpstr(r.observation->basis, ==, "circular");
    g_assert_cmpuint(r.observation->start_ns, ==, RECORDING_NS + GST_SECOND / 4 + 1000000);
    const guint64 end = i == 3 ? 18 : 34;
    g_assert_cmpuint(recorded_end(&r), ==, end);
    for (guint64 step = 0; step < end; step++)
      for (guint channel = 0; channel < 3; channel++)
        for (guint pol = 0; pol < 2; pol++) {
          const guint in_file = falls ? 2 - channel : channel;
          if (step >= 18 && step < 24) {
            recorded_is_lost(&r, step, 0, pol);
            continue;
          }
          g_assert_cmpint(recorded_value(&r, step, channel, 0, pol), ==,
                          guppi_value(step, in_file, 2 * pol));
          const gint imaginary = guppi_value(step, in_file, 2 * pol + 1);
          g_assert_cmpint(recorded_imaginary(&r, step, channel, pol), ==,
                          !falls              ? imaginary
                          : imaginary == -128 ? 127
                                              : -imaginary);
        }
    if (i == 3)
      test_says(r.warnings->str, "ends in the middle of a block");
    else
      test_says(r.warnings->str, "36 of 204 samples are lost");
    g_unlink(path);
  }
}

/* The first component is in the highest bits: of 4 bits in two's complement, of 2 bits by
 * Breakthrough Listen's levels. */
static void test_guppi_bits(void)
{
  static const struct {
    guint bits;
    guint8 bytes[2];   /* of a step of a channel: X and Y */
    gint8 expected[4]; /* their parts */
  } cases[] = { { 4, { 0x17, 0x8f }, { 1, 7, -8, -1 } }, { 2, { 0x1b }, { 10, 3, -3, -10 } } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const guint size = 10 * 12 * cases[i].bits / 8, step = 4 * cases[i].bits / 8;
    g_autofree char *lines =
        g_strdup_printf(GUPPI, cases[i].bits, 3., size, 1000 * cases[i].bits / 8, 0);
    GByteArray *bytes = g_byte_array_new();
    recording_guppi(bytes, lines, FALSE);
    for (guint k = 0; k < size; k += step)
      g_byte_array_append(bytes, cases[i].bytes, step);
    g_autofree char *path = recording_save(bytes, "bits.raw");
    g_auto(Recorded) r = recorded_read(path, "");
    for (guint k = 0; k < 30; k++)
      for (guint pol = 0; pol < 2; pol++) {
        g_assert_cmpint(recorded_value(&r, k / 3, k % 3, 0, pol), ==, cases[i].expected[2 * pol]);
        g_assert_cmpint(recorded_imaginary(&r, k / 3, k % 3, pol), ==,
                        cases[i].expected[2 * pol + 1]);
      }
    g_unlink(path);
  }
}

/* A block of which no packet came is lost; of one that lacks some the user is told. */
static void test_guppi_dropped(void)
{
  static const double dropped[] = { 0, 1, 0.25 };
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 0; i < G_N_ELEMENTS(dropped); i++)
    add_dropped(bytes, 8, 3, i, FALSE, dropped[i]);
  g_autofree char *path = recording_save(bytes, "dropped.raw");
  g_auto(Recorded) r = recorded_read(path, "");
  g_assert_cmpint(recorded_value(&r, 9, 1, 0, 0), ==, guppi_value(9, 1, 0));
  for (guint64 step = 10; step < 16; step++)
    recorded_is_lost(&r, step, 0, 0);
  for (guint64 step = 16; step < 26; step++)
    g_assert_cmpint(recorded_value(&r, step, 1, 0, 0), ==, guppi_value(step, 1, 0));
  test_says(r.warnings->str, "1 of 3 blocks lack packets, of 2 steps of time in all");
  test_says(r.warnings->str, "with 1 invalid frames");
  g_unlink(path);
}

/* Channels of several antennas, one antenna after another. */
static void test_guppi_antennas(void)
{
  for (guint falls = 0; falls < 2; falls++) {
    g_autofree char *lines =
        g_strdup_printf(GUPPI "OBSNCHAN 6\nNANTS 2\nNPOL 2\n", 8, falls ? -3. : 3., 120, 0, 0);
    GByteArray *bytes = g_byte_array_new();
    recording_guppi(bytes, lines, FALSE);
    for (guint8 i = 0; i < 120; i++)
      g_byte_array_append(bytes, &i, 1);
    g_autofree char *path = recording_save(bytes, "antennas.raw");
    g_auto(Recorded) r = recorded_read(path, "");
    g_assert_cmpuint(astro_stream_extent(&r.stream, ASTRO_AXIS_STATION), ==, 2);
    g_assert_cmpuint(astro_stream_extent(&r.stream, ASTRO_AXIS_CHANNEL), ==, 3);
    g_assert_cmpfloat(r.stream.bandwidth, ==, 3e6);
    g_assert_cmpuint(recorded_end(&r), ==, 10);
    for (guint step = 0; step < 10; step++)
      for (guint row = 0; row < 6; row++) {
        const guint channel = falls ? 2 - row % 3 : row % 3;
        g_assert_cmpint(recorded_value(&r, step, channel, row / 3, 0), ==,
                        (gint)(2 * (10 * row + step)));
      }
    g_unlink(path);
  }
}

static void test_guppi_refused(void)
{
  static const struct {
    guint bits;
    double width;
    const char *says;
  } cases[] = { { 1, 3, "NBITS is 1" }, { 8, 6, "bandwidth" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GByteArray *bytes = g_byte_array_new();
    add_block(bytes, cases[i].bits, cases[i].width, 0, FALSE);
    g_autofree char *path = recording_save(bytes, "bad.raw");
    recorded_refused(path, "", cases[i].says);
    g_unlink(path);
  }
  GByteArray *bytes = g_byte_array_new();
  add_block(bytes, 8, 3, 0, FALSE);
  add_block(bytes, 8, -3, 1, FALSE);
  g_autofree char *path = recording_save(bytes, "two.raw");
  recorded_refused(path, "", "OBSBW is -3");
  g_unlink(path);
  g_autofree char *lines = g_strdup_printf(GUPPI "NANTS 2\n", 8, 3., 120, 0, 0);
  bytes = g_byte_array_new();
  recording_guppi(bytes, lines, FALSE);
  g_autofree char *odd = recording_save(bytes, "odd.raw");
  recorded_refused(odd, "", "OBSNCHAN is 3, NANTS 2: expected as many channels of each antenna");
  g_unlink(odd);
}

/* ---- Mark 5B and cu8 ---- */

static void test_mark5b(void)
{
  guint8 payload[10000];
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 0; i < 9; i++) {
    memset(payload, (gint)i * 27, sizeof payload);
    if (i != 4)
      recording_mark5b(bytes, 999 + i / 6 == 1000 ? 0 : 999, i / 6 ? 0 : 86399, i % 6, payload);
  }
  g_autofree char *path = recording_save(bytes, "recorded.m5b");
  recorded_refused(path, "channels=8", "set bits");
  recorded_refused(path, "bits=2", "set channels");
  recorded_refused(path, "channels=8 bits=2 rate=31e3", "rate=31000 is set");
  static const gint levels[] = { -10, 3, -3, 10 };
  {
    g_auto(Recorded) r =
        recorded_read(path, "channels=8 pols=2 bits=2 start-time=2017-09-09T00:00:00");
    g_assert_cmpint(r.stream.rate_n, ==, 30000);
    g_assert_cmpint(r.observation->start_mjd, ==, 57999);
    g_assert_cmpuint(r.observation->start_ns, ==, 86399 * (guint64)GST_SECOND);
    g_assert_cmpuint(recorded_end(&r), ==, 45000);
    for (guint64 step = 0; step < 45000; step += 499)
      for (guint channel = 0; channel < 8; channel++) {
        const guint byte = (guint)(step / 5000) * 27;
        if (step / 5000 == 4)
          recorded_is_lost(&r, step, 0, channel % 2);
        else
          g_assert_cmpint(recorded_value(&r, step, channel / 2, 0, channel % 2), ==,
                          levels[byte >> 2 * (channel % 4) & 3]);
      }
  }
  g_auto(Recorded) r = recorded_read(path, "channels=16 bits=1 rate=30000");
  g_assert_false(r.observation->has_start);
  test_says(r.warnings->str, "999 (MJD): set start-time");
  g_unlink(path);
}

static void test_unsigned(void)
{
  GByteArray *bytes = g_byte_array_new();
  g_byte_array_append(bytes, (const guint8 *)"\x00\xff\x80\x7f\x01", 5);
  g_autofree char *path = recording_save(bytes, "rtl.bin");
  recorded_refused(path, "", "set format");
  recorded_refused(path, "format=cu8", "set rate");
  recorded_refused(path, "format=cu9", "format=cu9 is not known");
  g_auto(Recorded) r =
      recorded_read(path, "format=cu8 rate=2.4e6 frequency=1e8 start-time=2020-02-02T02:02:02.5");
  g_assert_cmpuint(recorded_end(&r), ==, 2);
  g_assert_cmpfloat(r.stream.bandwidth, ==, 2.4e6);
  g_assert_cmpint(recorded_value(&r, 0, 0, 0, 0), ==, -128);
  g_assert_cmpint(recorded_imaginary(&r, 0, 0, 0), ==, 127);
  g_assert_cmpint(recorded_value(&r, 1, 0, 0, 0), ==, 0);
  g_assert_cmpint(recorded_imaginary(&r, 1, 0, 0), ==, -1);
  g_assert_cmpuint(r.observation->start_ns, ==, RECORDING_NS + GST_SECOND / 2);
  g_unlink(path);
}

/* ---- SIGPROC ---- */

typedef struct {
  guint bits, ifs;
  double step;
  const char *extra;
  guint beam;
} Filterbank;

/* Ten spectra of four channels, whose values rise. */
static char *save_filterbank(const char *name, const Filterbank *of, double start, guint first)
{
  GByteArray *bytes = g_byte_array_new();
  recording_sigproc(bytes, "HEADER_START", NULL, 0);
  recording_sigproc_whole(bytes, "telescope_id", 4);
  recording_sigproc(bytes, "source_name", "\x05\0\0\0B0329", 9);
  recording_sigproc_whole(bytes, "data_type", 1);
  recording_sigproc_whole(bytes, "nbits", (gint)of->bits);
  recording_sigproc_whole(bytes, "nchans", 4);
  recording_sigproc_whole(bytes, "nifs", (gint)of->ifs);
  recording_sigproc_real(bytes, "tstart", start);
  recording_sigproc_real(bytes, "tsamp", 0.001);
  recording_sigproc_real(bytes, "fch1", 1400);
  recording_sigproc_real(bytes, "foff", of->step);
  recording_sigproc_real(bytes, "src_raj", 33234.5);
  recording_sigproc_real(bytes, "src_dej", -543000);
  if (of->extra)
    recording_sigproc_whole(bytes, of->extra, 2);
  if (of->beam) {
    recording_sigproc_whole(bytes, "nbeams", 13);
    recording_sigproc_whole(bytes, "ibeam", (gint)of->beam);
  }
  recording_sigproc(bytes, "HEADER_END", NULL, 0);
  const guint n = 10 * of->ifs * 4;
  guint8 packed = 0;
  for (guint i = 0; i < n; i++) {
    const guint32 value = (first + i) & (of->bits < 8 ? (1u << of->bits) - 1 : 255);
    if (of->bits == 32) {
      const float real = (float)value;
      guint32 word;
      memcpy(&word, &real, sizeof word);
      recording_word(bytes, word);
    } else if (of->bits >= 8) {
      const guint8 two[] = { (guint8)value, 0 };
      g_byte_array_append(bytes, two, of->bits / 8);
    } else {
      const guint per = 8 / of->bits;
      packed |= (guint8)(value << (i % per * of->bits));
      if (i % per == per - 1) {
        g_byte_array_append(bytes, &packed, 1);
        packed = 0;
      }
    }
  }
  return recording_save(bytes, name);
}

static void test_filterbank(void)
{
  static const Filterbank cases[] = { { 8, 1, 2 },  { 8, 2, -2 }, { 16, 1, -2 }, { 32, 4, -2 },
                                      { 4, 1, -2 }, { 2, 2, 2 },  { 1, 1, -2 } };
  static const char *const products[] = { "", "products=I", "products=XX:YY", "",
                                          "products=I:Q:U:V" };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const Filterbank *of = &cases[i];
    g_autofree char *a = save_filterbank("a.fil", of, 58881.5, 0);
    g_autofree char *b = save_filterbank("b.fil", of, 58881.5 + 0.020 / 86400, 3);
    g_autofree char *both = g_strdup_printf("%s,%s", b, a);
    g_auto(Recorded) r = recorded_read(both, products[of->ifs]);
    g_assert_cmpint(r.stream.quantity, ==, ASTRO_QUANTITY_POWER);
    g_assert_cmpint(r.stream.rate_n, ==, 1000);
    g_assert_cmpfloat(r.stream.bandwidth, ==, 8e6);
    g_assert_cmpfloat(fabs(r.stream.frequency - (1400 + 1.5 * of->step) * 1e6), <, 1);
    g_assert_cmpstr(r.observation->telescope, ==, "Parkes");
    g_assert_cmpfloat(fabs(r.observation->phase_dec * 180 / G_PI + 54.5), <, 1e-9);
    g_assert_cmpuint(r.observation->start_ns, ==, 43200 * (guint64)GST_SECOND);
    g_assert_cmpuint(recorded_end(&r), ==, 30);
    for (guint step = 0; step < 30; step++)
      for (guint pol = 0; pol < of->ifs; pol++)
        for (guint channel = 0; channel < 4; channel++) {
          const guint in_file = of->step < 0 ? 3 - channel : channel;
          const guint value = (step % 20 * of->ifs + pol) * 4 + in_file + (step < 20 ? 0 : 3);
          if (step >= 10 && step < 20)
            recorded_is_lost(&r, step, 0, pol);
          else
            g_assert_cmpint(recorded_value(&r, step, channel, 0, pol), ==,
                            value & (of->bits < 8 ? (1u << of->bits) - 1 : 255));
        }
    g_unlink(a);
    g_unlink(b);
  }
}

/* Files of several beams are an axis in the order of their numbers, whatever each of them lacks. */
static void test_beams(void)
{
  static const Filterbank third = { 8, 2, -2, NULL, 3 }, seventh = { 8, 2, -2, NULL, 7 };
  g_autofree char *a = save_filterbank("a.fil", &seventh, 58881.5, 50);
  g_autofree char *b = save_filterbank("b.fil", &third, 58881.5 + 0.005 / 86400, 0);
  g_autofree char *c = save_filterbank("c.fil", &third, 58881.5 + 0.020 / 86400, 100);
  g_autofree char *all = g_strdup_printf("%s,%s,%s", c, a, b);
  for (guint from = 0; from <= 22; from += 11) {
    g_auto(Recorded) r = recorded_read_from(all, "products=XX:YY", from * 1e-3);
    g_autofree char *layout = astro_layout_to_string(&r.stream.layout);
    g_assert_cmpstr(layout, ==, "time:beam:pol:channel");
    g_assert_cmpuint(r.observation->n_beams, ==, 2);
    g_assert_cmpstr(r.observation->beams[0].name, ==, "3");
    g_assert_cmpstr(r.observation->beams[1].name, ==, "7");
    g_assert_cmpint(r.observation->beams[1].frame, ==, ASTRO_BEAM_RADEC);
    g_assert_cmpfloat(fabs(r.observation->beams[1].y * 180 / G_PI + 54.5), <, 1e-9);
    g_assert_cmpuint(recorded_end(&r), ==, 30);
    for (guint step = from; step < 30; step++)
      for (guint beam = 0; beam < 2; beam++) {
        const guint begin = beam ? 0 : step < 20 ? 5 : 20;
        const guint first = beam ? 50 : step < 20 ? 0 : 100;
        for (guint pol = 0; pol < 2; pol++)
          if (step < begin || step >= begin + 10)
            recorded_is_lost(&r, step, beam, pol);
          else
            for (guint channel = 0; channel < 4; channel++)
              g_assert_cmpint(recorded_value(&r, step, channel, beam, pol), ==,
                              first + ((step - begin) * 2 + pol) * 4 + 3 - channel);
      }
  }
  g_auto(Recorded) one = recorded_read(a, "products=XX:YY"); /* a single beam is no axis */
  g_assert_cmpint(astro_layout_find(&one.stream.layout, ASTRO_AXIS_BEAM), <, 0);
  g_unlink(a);
  g_unlink(b);
  g_unlink(c);
}

static void test_filterbank_refused(void)
{
  static const struct {
    Filterbank of;
    const char *settings, *says;
  } cases[] = {
    { { 8, 2, 1 }, "", "nifs is 2, and no header tells what these are" },
    { { 8, 2, 1 }, "products=I", "products=I are 1" },
    { { 8, 1, 1, "data_type" }, "", "another data_type" },
    { { 8, 1, 1, "colour" }, "", "keyword \"colour\"" },
    { { 8, 1, 1, "nbits" }, "bits=8", "bits=8 is set" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = save_filterbank("bad.fil", &cases[i].of, 58881.5, 0);
    recorded_refused(path, cases[i].settings, cases[i].says);
    g_unlink(path);
  }
}

/* ---- what astrorecordsink writes ---- */

/* The same integers come back, on the same steps of UTC. */
static void test_round_trip(void)
{
  static const struct {
    const char *format;
    guint pols;
  } cases[] = { { "vdif", 2 }, { "dada", 2 }, { "guppi", 2 }, { "guppi", 1 } };
  g_autofree char *raw = g_build_filename(g_get_tmp_dir(), "stream.raw", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const guint pols = cases[i].pols;
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), cases[i].format, NULL);
    g_autofree char *line = g_strdup_printf(
        "astroskysrc stations=1 pols=%u noise=20 bandwidth=1e6 frequency=1.5e8 duration=0.05 "
        "start-time=2026-11-20T12:00:00 ! application/x-astro-voltages,format=CI8 ! tee name=t t. "
        "! queue ! filesink location=%s t. ! queue ! astrorecordsink format=%s location=%s",
        pols, raw, cases[i].format, path);
    g_autofree char *error = test_launch(line);
    g_assert_cmpstr(error, ==, NULL);
    g_autofree char *sent = NULL;
    gsize bytes;
    g_assert_true(g_file_get_contents(raw, &sent, &bytes, NULL));
    g_auto(Recorded) r = recorded_read(path, "rate=1e6");
    g_assert_true(astro_format_info(r.stream.format)->is_complex);
    g_assert_cmpint(r.observation->start_mjd, ==, 61364);
    g_assert_cmpuint(r.observation->start_ns, ==, 43200 * (guint64)GST_SECOND);
    g_assert_cmpuint(recorded_end(&r), >=, 50000);
    for (guint64 step = 0; step < 50000; step += 7)
      for (guint pol = 0; pol < pols; pol++)
        g_assert_cmpint(recorded_value(&r, step, 0, 0, pol), ==,
                        ((const gint8 *)sent)[2 * (step * pols + pol)]);
    g_unlink(path);
    g_unlink(raw);
  }
}

/* ---- files ---- */

static void test_files(void)
{
  g_autofree char *folder = g_dir_make_tmp("recordings.XXXXXX", NULL);
  g_autofree char *none = g_build_filename(folder, "none.vdif", NULL);
  g_autofree char *pattern = g_build_filename(folder, "*.vdif", NULL);
  g_autofree char *empty = g_build_filename(folder, "empty", NULL);
  g_autofree char *two = NULL;
  g_autofree char *vdif = save_threads();
  g_autofree char *dada = save_dada("1.dada", DADA DADA_START "NCHAN 1\n", 0, 16);
  g_assert_true(g_file_set_contents(empty, "", 0, NULL));
  recorded_refused(none, "", "there is no such file");
  recorded_refused(",", "", "location=, names no file");
  recorded_refused(pattern, "", "No file matches");
  recorded_refused(folder, "", "found a folder");
  recorded_refused(empty, "", "an empty file");
  recorded_refused(empty, "format=vdif", "no frame of VDIF");
  recorded_refused(empty, "format=mark5b channels=1 bits=1", "no whole frame");
  recorded_refused(empty, "format=guppi", "no samples");
  recorded_refused(dada, "format=vdif", "no frame of VDIF");
  two = g_strdup_printf("%s,%s", vdif, dada);
  recorded_refused(two, "", "a recording of dada among those of vdif");
  recorded_refused(vdif, "array=nowhere.txt", "nowhere.txt");
  g_unlink(empty);
  g_rmdir(folder);
  g_unlink(vdif);
  g_unlink(dada);
}

/* Stations with places. */
static void test_array(void)
{
  g_autofree char *vdif = save_threads();
  g_autofree char *array = g_build_filename(g_get_tmp_dir(), "array.txt", NULL);
  g_assert_true(g_file_set_contents(array, "3822000 153000 5086000 Ef\n3828000 443000 5064000 Wb\n",
                                    -1, NULL));
  g_autofree char *settings = g_strdup_printf("array=%s", array);
  g_auto(Recorded) r = recorded_read(vdif, settings);
  g_assert_cmpuint(r.observation->n_stations, ==, 2);
  g_assert_cmpstr(r.observation->names[1], ==, "Wb");
  g_unlink(array);
  g_unlink(vdif);
}

static void add_tests(void)
{
  g_test_add_func("/astrorecordsrc/vdif/threads", test_threads);
  g_test_add_func("/astrorecordsrc/vdif/leap", test_leap);
  g_test_add_func("/astrorecordsrc/vdif/threads-are", test_threads_are);
  g_test_add_func("/astrorecordsrc/vdif/channels", test_channels);
  g_test_add_func("/astrorecordsrc/vdif/two-bits", test_two_bits);
  g_test_add_func("/astrorecordsrc/vdif/claimed-rate", test_claimed_rate);
  g_test_add_func("/astrorecordsrc/seek", test_seek);
  g_test_add_func("/astrorecordsrc/gap", test_gap);
  g_test_add_func("/astrorecordsrc/dada/files", test_dada_files);
  g_test_add_func("/astrorecordsrc/dada/orders", test_dada_orders);
  g_test_add_func("/astrorecordsrc/dada/heaps", test_dada_heaps);
  g_test_add_func("/astrorecordsrc/dada/bits", test_dada_bits);
  g_test_add_func("/astrorecordsrc/dada/picoseconds", test_dada_picoseconds);
  g_test_add_func("/astrorecordsrc/dada/overlap", test_dada_overlap);
  g_test_add_func("/astrorecordsrc/dada/refused", test_dada_refused);
  g_test_add_func("/astrorecordsrc/guppi/blocks", test_guppi);
  g_test_add_func("/astrorecordsrc/guppi/bits", test_guppi_bits);
  g_test_add_func("/astrorecordsrc/guppi/dropped", test_guppi_dropped);
  g_test_add_func("/astrorecordsrc/guppi/antennas", test_guppi_antennas);
  g_test_add_func("/astrorecordsrc/guppi/refused", test_guppi_refused);
  g_test_add_func("/astrorecordsrc/mark5b", test_mark5b);
  g_test_add_func("/astrorecordsrc/unsigned", test_unsigned);
  g_test_add_func("/astrorecordsrc/filterbank/values", test_filterbank);
  g_test_add_func("/astrorecordsrc/filterbank/beams", test_beams);
  g_test_add_func("/astrorecordsrc/filterbank/refused", test_filterbank_refused);
  g_test_add_func("/astrorecordsrc/round-trip", test_round_trip);
  g_test_add_func("/astrorecordsrc/files", test_files);
  g_test_add_func("/astrorecordsrc/array", test_array);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
