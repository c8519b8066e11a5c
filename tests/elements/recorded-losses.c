/* Recordings of packets with loss: the samples that count as good when they are read again are
 * those that came, or the sink has said how many are not. */
#include "tests/elements/recordings.h"

#include <glib/gstdio.h>

#define SOURCE                                                                                     \
  "astroskysrc stations=%u pols=2 seed=7 bandwidth=64000 frequency=1.4e9 duration=1.5 noise=400 "  \
  "block-steps=4000 start-time=2026-11-20T12:00:00 ! %s ! "
#define LOSSY "loss=0.05 reorder=0.1 duplicate=0.1 seed=3"

#define VOLTAGES "application/x-astro-voltages,format=CI8"
#define SPECTRA                                                                                    \
  "application/x-astro-voltages,format=CF32LE ! astrochannelizer channels=16 taps=1 ! "            \
  "astroconvert ! application/x-astro-spectra,format=CI8"

typedef struct {
  const char *name, *sink;
  const char *made; /* from the source's voltages */
  guint stations, rate;
  const char *packets;
  gboolean is_marked; /* the format says which samples are lost */
} Case;

static const Case cases[] = {
  { "vdif", "format=vdif", VOLTAGES, 2, 64000, "", TRUE },
  /* of packets that are not as long as frames would be */
  { "vdif-short", "format=vdif", VOLTAGES, 2, 64000, "packet-steps=640", TRUE },
  { "vdif-other-bits", "format=vdif bits=16", VOLTAGES, 1, 64000, "packet-steps=3200", TRUE },
  { "vdif-spectra", "format=vdif", SPECTRA, 2, 4000, "", TRUE },
  { "dada", "format=dada", VOLTAGES, 1, 64000, "", FALSE },
  { "guppi", "format=guppi", SPECTRA, 1, 4000, "", FALSE },
};

/* Compares all samples of the stream that was recorded with those that are read. */
typedef struct {
  guint64 good, lost; /* before */
  guint64 kept;       /* good before and after */
  guint64 made;       /* good after only */
} Compared;

static Compared compare(const Recorded *before, const Recorded *after)
{
  const AstroStream *s = &before->stream;
  const guint stations = (guint)astro_stream_extent(s, ASTRO_AXIS_STATION),
              pols = (guint)astro_stream_extent(s, ASTRO_AXIS_POL),
              channels = (guint)astro_stream_extent(s, ASTRO_AXIS_CHANNEL);
  Compared c = { 0 };
  for (guint64 t = 0; t < recorded_end(before); t++)
    for (guint station = 0; station < stations; station++)
      for (guint pol = 0; pol < pols; pol++)
        for (guint channel = 0; channel < channels; channel++) {
          const RecordedAt at = { t, channel, station, pol };
          gint real = 0, imaginary = 0, read_real = 0, read_imaginary = 0;
          const gboolean is_good = recorded_get(before, at, &real, &imaginary);
          const gboolean is_read = recorded_get(after, at, &read_real, &read_imaginary);
          c.good += is_good;
          c.lost += !is_good;
          c.kept += is_good && is_read;
          c.made += !is_good && is_read;
          g_assert_cmpint(read_real, ==, is_read ? real : 0);
          g_assert_cmpint(read_imaginary, ==, is_read ? imaginary : 0);
        }
  return c;
}

static guint64 told(const Recorded *r, const char *field)
{
  guint64 value;
  g_assert_nonnull(r->file);
  g_assert_true(gst_structure_get_uint64(r->file, field, &value));
  return value;
}

static void test_losses(gconstpointer data)
{
  const Case *c = data;
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "recorded-losses.rec", NULL);
  g_autofree char *source = g_strdup_printf(SOURCE, c->stations, c->made);
  g_autofree char *line =
      g_strdup_printf("%s astropay packet=vdif %s " LOSSY " ! "
                      "astrodepay packet=vdif latency=1000 rate=%u pols=2 stations=%s ! "
                      "tee name=t ! queue max-size-bytes=0 ! astrorecordsink location=%s %s "
                      "t. ! queue max-size-bytes=0 ! appsink name=sink sync=false",
                      source, c->packets, c->rate, c->stations > 1 ? "0,1" : "0", path, c->sink);
  g_autofree char *rate = g_strdup_printf("rate=%u", c->rate);
  g_auto(Recorded) before = recorded_run(line, 0);
  g_assert_cmpstr(before.error, ==, NULL);
  g_auto(Recorded) after = recorded_read(path, rate);
  const Compared found = compare(&before, &after);
  g_test_message("%" G_GUINT64_FORMAT " good, %" G_GUINT64_FORMAT " lost; kept %" G_GUINT64_FORMAT
                 ", made good %" G_GUINT64_FORMAT "; %s; read: %s",
                 found.good, found.lost, found.kept, found.made, before.warnings->str,
                 after.warnings->str);
  g_assert_cmpuint(found.lost, >, found.good / 50);
  g_assert_cmpuint(told(&before, "samples"), ==, found.good + found.lost);
  g_assert_cmpuint(told(&before, "lost"), ==, found.lost);
  g_assert_cmpuint(told(&before, "spoilt"), ==, 0);
  g_assert_cmpuint(found.kept, ==, found.good);
  if (c->is_marked) {
    g_assert_cmpuint(found.made, ==, 0);
    g_assert_cmpstr(before.warnings->str, ==, "");
  } else {
    g_autofree char *says =
        g_strdup_printf("of %" G_GUINT64_FORMAT " samples %" G_GUINT64_FORMAT " were lost",
                        found.good + found.lost, found.lost);
    test_says(before.warnings->str, says);
  }
  g_unlink(path);
}

static void add_tests(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strdup_printf("/recorded-losses/%s", cases[i].name);
    g_test_add_data_func(path, &cases[i], test_losses);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
