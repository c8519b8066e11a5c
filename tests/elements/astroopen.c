/* astroopen: each kind of input goes to the source that reads it, with its settings, and what no
 * source reads is refused by name. */
#include "config.h"
#include "tests/elements/elements.h"
#include "tests/remove-all.h"

#include <gio/gio.h>
#include <glib/gstdio.h>

#define VISIBILITIES                                                                               \
  "astrovissrc stations=4 pols=2 bandwidth=1e6 channels=4 integration=10 num-buffers=3"

static void make(const char *line)
{
  g_autofree char *failed = test_launch(line);
  g_assert_cmpstr(failed, ==, NULL);
}

static char *contents(const char *name, gsize *bytes)
{
  char *data;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(name, &data, bytes, &error);
  g_assert_no_error(error);
  return data;
}

/* The stream of astroopen is that of the source itself, to the byte. */
static void same(const char *open, const char *direct, const char *sink)
{
  gsize a, b;
  g_autofree char *first = g_strdup_printf("%s ! %s location=opened", open, sink);
  g_autofree char *second = g_strdup_printf("%s ! %s location=direct", direct, sink);
  make(first);
  make(second);
  g_autofree char *opened = contents("opened", &a), *wanted = contents("direct", &b);
  g_assert_cmpuint(a, >, 0);
  g_assert_cmpmem(opened, a, wanted, b);
  g_unlink("opened");
  g_unlink("direct");
}

/* Names of files say nothing. */
static void test_fits(void)
{
  make(VISIBILITIES " ! astrofitssink location=open.vdif");
  same("astroopen input=open.vdif", "astrofitssrc location=open.vdif", "filesink");
  same("astroopen input=open.vdif uvw=file ! astrogridder size=64 cell=60 backend=cpu",
       "astrofitssrc location=open.vdif uvw=file ! astrogridder size=64 cell=60 backend=cpu",
       "filesink");
  make(VISIBILITIES " ! astrofitssink location=open.fits.gz");
  same("astroopen input=open.fits.gz", "astrofitssrc location=open.fits.gz", "filesink");
  g_unlink("open.vdif");
  g_unlink("open.fits.gz");
}

static void test_catalogues(void)
{
  g_mkdir("open-folder", 0700);
  make("astrocatsrc points=50 seed=1 ! astrofitssink location=open-folder/a.csv");
  make("astrocatsrc points=60 seed=2 ! astrofitssink location=open-folder/b.fits");
  same("astroopen input=open-folder", "astrofitssrc location=open-folder/*", "filesink");
  same("astroopen input=open-folder/*", "astrofitssrc location=open-folder/*", "filesink");
  same("astroopen input=open-folder/a.csv weight-column=dec where=dec<50",
       "astrofitssrc location=open-folder/a.csv weight-column=dec where=dec<50", "filesink");
  same("astroopen input=open-folder/a.csv,open-folder/b.fits",
       "astrofitssrc location=open-folder/*", "filesink");
  g_unlink("open-folder/a.csv");
  g_unlink("open-folder/b.fits");
  g_rmdir("open-folder");
}

#ifdef HAVE_HDF5
static void test_uvh5(void)
{
  g_autofree char *failed = test_launch("astrovissrc stations=4 channels=2 num-buffers=3 ! "
                                        "astrouvh5sink location=open.any");
  g_assert_cmpstr(failed, ==, NULL);
  same("astroopen input=open.any", "astrouvh5src location=open.any", "filesink");
  same("astroopen input=open.any uvw=file field=0",
       "astrouvh5src location=open.any uvw=file field=0", "filesink");
  test_refused("astroopen input=open.any,open.any ! fakesink", "open.any ends at ");
  test_refused("astroopen input=open.any weight-column=3 ! fakesink",
               "whose source astrouvh5src has no such property");
  g_unlink("open.any");
}
#endif

static void write_file(const char *name, const char *bytes, gsize n)
{
  g_assert_true(g_file_set_contents(name, bytes, (gssize)n, NULL));
}

static void test_unreadable(void)
{
  static const struct {
    const char *bytes;
    gsize n;
    const char *says;
  } cases[] = {
#ifdef HAVE_HDF5
    { "\x89HDF\r\n\x1a\n", 8, "open.x: opening the file failed in HDF5" },
#else
    { "\x89HDF\r\n\x1a\n", 8, "open.x is an HDF5 file, and the element astrouvh5src" },
#endif
    { "\x89PNG\r\n\x1a\n", 8, "open.x is a PNG picture" },
    { "", 0, "open.x is empty" },
    { "\0\1\2\3", 4, "open.x: found bytes of an unknown kind, expected FITS, a recording" },
    { "abc\0def", 7, "open.x: found bytes of an unknown kind" },
    { "neither a catalogue\n", 20, "open.x" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    write_file("open.x", cases[i].bytes, cases[i].n);
    test_refused("astroopen input=open.x ! fakesink", cases[i].says);
  }
  g_unlink("open.x");
  test_refused("astroopen ! fakesink", "No input is given");
  test_refused("astroopen input=open.none ! fakesink", "there is no file open.none");
  test_refused("astroopen input=open*none ! fakesink", "no file matches open*none");
}

/* A Measurement Set is a folder. */
static void test_folders(void)
{
  g_mkdir_with_parents("open.ms/ANTENNA", 0700);
  test_refused("astroopen input=open.ms ! fakesink", "the folder open.ms has no files");
  write_file("open.ms/table.dat", "x", 1);
  write_file("open.ms/ANTENNA/table.dat", "x", 1);
  test_refused("astrofitssrc location=open.ms ! fakesink",
               "open.ms is a Measurement Set: astromssrc reads it");
  g_unlink("open.ms/ANTENNA/table.dat");
  g_unlink("open.ms/table.dat");
  g_rmdir("open.ms/ANTENNA");
  g_rmdir("open.ms");
}

static void test_sets(void)
{
  g_autoptr(GstElementFactory) factory = gst_element_factory_find("astromssrc");
  if (!factory) {
    g_test_skip("this build does not have it");
    return;
  }
  make(VISIBILITIES " ! astromssink location=open.ms");
  same("astroopen input=open.ms", "astromssrc location=open.ms", "filesink");
  same("astroopen input=open.ms uvw=file field=0 band=0 column=DATA ! astrogridder size=64 cell=60 "
       "backend=cpu",
       "astromssrc location=open.ms uvw=file ! astrogridder size=64 cell=60 backend=cpu",
       "filesink");
  test_refused("astroopen input=open.ms column=MODEL_DATA ! fakesink", "no column MODEL_DATA");
  test_refused("astroopen input=open.ms ra-column=3 ! fakesink", "ra-column=3 is set");
  test_remove_all("open.ms");
}

/* Files of an input are of one kind. */
static void test_mixed(void)
{
  make("astrocatsrc points=50 ! astrofitssink location=open-1.csv");
  make("astroskysrc stations=1 pols=1 bandwidth=1e5 duration=0.2 ! "
       "application/x-astro-voltages,format=CI8 ! "
       "astrorecordsink format=dada location=open-2.dada");
  test_refused("astroopen input=open-?.* ! fakesink",
               "open-2.dada is a recording, and open-1.csv is text: expected files of one kind");
  g_unlink("open-1.csv");
  g_unlink("open-2.dada");
}

/* A property that the source does not have is not left out in silence. */
static void test_other_properties(void)
{
  make(VISIBILITIES " ! astrofitssink location=open.fits");
  test_refused("astroopen input=open.fits channels=5 ! fakesink",
               "channels=5 is set, and open.fits is a FITS file, whose source astrofitssrc has no "
               "such property");
  test_refused("astroopen input=open.fits uvw=both ! fakesink",
               "uvw=both is set, and open.fits is a FITS file, whose source astrofitssrc does not "
               "take that value");
  test_refused("astroopen input=udp://:7148?packet=vdif&bits=2 ! fakesink",
               "bits=2 is set, and udp://:7148?packet=vdif&bits=2 is an address");
  g_unlink("open.fits");
}

/* ---- recordings ---- */

#define VOLTAGES                                                                                   \
  "astroskysrc stations=%u pols=2 noise=50 bandwidth=1e6 duration=1.02 frequency=1.5e8 "           \
  "start-time=2026-11-20T12:00:00 ! application/x-astro-voltages,format=CI8 "
#define SPECTRA                                                                                    \
  VOLTAGES "! astrochannelizer channels=8 taps=4 backend=cpu ! application/x-astro-spectra,"       \
           "format=CI8 "

#define POWER                                                                                      \
  VOLTAGES "! astrochannelizer channels=9 taps=4 backend=cpu ! astropower integration=10 "         \
           "backend=cpu products=%s ! astrotranspose backend=cpu layout=time:station:pol:channel "

/* Returns how many files were in it. */
static guint remove_folder(const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *name;
  guint files = 0;
  while ((name = g_dir_read_name(dir))) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_unlink(path);
    files++;
  }
  g_rmdir(folder);
  return files;
}

/* Power is the same to the bit, in one file and in several, and has the band that it had. */
static void test_filterbank(void)
{
  static const struct {
    const char *products, *sink, *source;
  } cases[] = {
    { "I", "location=bank/a.fil", "astroopen input=bank" },
    { "I", "location=bank/a.fil max-file-duration=300000000", "astroopen input=bank" },
    { "I:Q:U:V", "location=bank/a.fil", "astrorecordsrc location=bank/a.fil products=I:Q:U:V" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *source = g_strdup_printf(POWER, 1, cases[i].products);
    g_autofree char *write =
        g_strdup_printf("%s ! tee name=t t. ! queue ! filesink location=direct t. ! queue ! "
                        "astrorecordsink format=sigproc %s",
                        source, cases[i].sink);
    g_autofree char *read = g_strdup_printf(
        "%s ! application/x-astro-power,channels=9,products=%s,frequency=150000000.0,"
        "bandwidth=1000000.0 ! astrotranspose backend=cpu layout=time:pol:channel ! "
        "filesink location=opened",
        cases[i].source, cases[i].products);
    gsize a, b;
    g_test_message("%s", read);
    g_mkdir("bank", 0700);
    make(write);
    make(read);
    g_autofree char *opened = contents("opened", &a), *wanted = contents("direct", &b);
    g_assert_cmpuint(b, >, 10000);
    g_assert_cmpmem(opened, a, wanted, b);
    g_unlink("opened");
    g_unlink("direct");
    g_assert_cmpuint(remove_folder("bank"), >=, strstr(cases[i].sink, "max") ? 3 : 1);
  }
}

/* A stream that astrorecordsink writes and astroopen reads is the same to the bit. */
static void test_recordings(void)
{
  static const struct {
    const char *line;
    guint stations;
    const char *sink, *layout;
  } cases[] = {
    { VOLTAGES, 1, "format=dada", "time:station:pol" },
    { VOLTAGES, 1, "format=dada bits=16", "time:station:pol" },
    { VOLTAGES, 3, "format=vdif", "time:station:pol" },
    { SPECTRA, 1, "format=dada", "time:channel:station:pol" },
    { SPECTRA, 1, "format=guppi", "time:channel:station:pol" },
    { VOLTAGES, 1, "format=dada max-file-duration=300000000", "time:station:pol" },
    { VOLTAGES, 2, "format=vdif max-file-size=1000000", "time:station:pol" },
    { SPECTRA, 1, "format=guppi max-file-duration=200000000", "time:channel:station:pol" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *source = g_strdup_printf(cases[i].line, cases[i].stations);
    g_autofree char *write = g_strdup_printf(
        "%s ! tee name=t t. ! queue ! astroconvert ! application/x-astro-%s,format=CI16LE ! "
        "astrotranspose backend=cpu layout=%s ! filesink location=direct t. ! queue ! "
        "astrorecordsink location=open-recorded/part.rec %s",
        source, strstr(cases[i].line, "channelizer") ? "spectra" : "voltages", cases[i].layout,
        cases[i].sink);
    g_autofree char *read = g_strdup_printf(
        "astroopen input=open-recorded ! astroconvert ! "
        "application/x-astro-%s,format=CI16LE ! astrotranspose backend=cpu layout=%s ! "
        "filesink location=opened",
        strstr(cases[i].line, "channelizer") ? "spectra" : "voltages", cases[i].layout);
    gsize a, b;
    g_test_message("%s", cases[i].sink);
    g_mkdir("open-recorded", 0700);
    make(write);
    make(read);
    g_autofree char *opened = contents("opened", &a), *wanted = contents("direct", &b);
    g_assert_cmpuint(a, >=, b);
    /* The last frame of VDIF is filled up. */
    g_assert_cmpuint(a - b, <=, strstr(cases[i].sink, "vdif") ? 100000 : 0);
    g_assert_cmpmem(opened, b, wanted, b);
    g_unlink("opened");
    g_unlink("direct");
    g_assert_cmpuint(remove_folder("open-recorded"), >=, strstr(cases[i].sink, "max") ? 4 : 1);
  }
}

/* ---- samples without a header ---- */

#define SAMPLES "astroopen input=open.raw format=CI8 stations=3 pols=2 rate=1e3 frequency=150e6"
#define OBSERVE                                                                                    \
  " ! astroobserve array=disc phase-centre=zenith start-time=2026-11-20T12:00:00 delays=out"

/* A user may not contradict what a header tells of its samples. */
static void test_contradicted(void)
{
  static const char *const sinks[] = { "astrofitssink", "astrorecordsink format=vdif",
                                       "astrorecordsink format=dada" };
  static const char *const bad[][2] = {
    { "format=CI8", "format=CI8 is set, but open.raw has format=CI16LE" },
    { "stations=3", "stations=3 is set, but open.raw has stations=1" },
    { "pols=1", "pols=1" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(sinks); i++) {
    g_autofree char *write = g_strdup_printf(
        "astroskysrc stations=1 pols=2 bandwidth=1e5 duration=0.1 frequency=1.4e9 "
        "start-time=2026-11-20T12:00:00 ! application/x-astro-voltages,format=CI16LE ! "
        "%s location=open.raw",
        sinks[i]);
    const char *rate = strstr(sinks[i], "vdif") ? "rate=1e5" : "";
    make(write);
    g_autofree char *right = g_strdup_printf(
        "astroopen input=open.raw format=CI16LE stations=1 pols=2 %s ! fakesink", rate);
    make(right);
    for (guint k = 0; k < G_N_ELEMENTS(bad); k++) {
      g_autofree char *wrong =
          g_strdup_printf("astroopen input=open.raw %s %s ! fakesink", bad[k][0], rate);
      test_refused(wrong, bad[k][1]);
    }
    g_unlink("open.raw");
  }
  make(VISIBILITIES " ! astrofitssink location=open.fits");
  test_refused("astroopen input=open.fits format=CI8 ! fakesink",
               "format=CI8 is set, but open.fits has format=CF32LE");
  g_unlink("open.fits");
}

static void test_samples(void)
{
  guint8 bytes[6 * 2 * 1000];
  test_fill(bytes, sizeof bytes, 4);
  bytes[0] = 0;
  write_file("open.raw", (char *)bytes, sizeof bytes);
  same(SAMPLES " bandwidth=1e3" OBSERVE,
       "filesrc location=open.raw ! application/x-astro-voltages,format=CI8,layout=time:station:"
       "pol,stations=3,pols=2,rate=1000/1,frequency=150e6,bandwidth=1e3" OBSERVE,
       "astrofitssink");
  static const char *const bad[][2] = {
    { "astroopen input=open.raw ! fakesink",
      "open.raw: found bytes of an unknown kind, expected FITS" },
    { "astroopen input=open.raw format=CI8 pols=2 rate=1 frequency=1 ! fakesink",
      "stations is not set, and a file without a header does not tell it" },
    { SAMPLES " pols=0 ! fakesink", "pols=0, expected a whole number of at least 1" },
    { SAMPLES " rate=fast ! fakesink", "rate=fast, expected a number above 0" },
    { SAMPLES " rate=\"\" ! fakesink", "open.raw has no header that tells the rate" },
    { SAMPLES " bandwidth=wide ! fakesink", "bandwidth=wide, expected a number of Hz" },
    { "astroopen input=open.raw,open.raw format=CI8 ! fakesink", "are read one at a time" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
    test_refused(bad[i][0], bad[i][1]);
  /* Without pols there are two. */
  same("astroopen input=open.raw format=CI8 stations=3 rate=1e3 frequency=150e6" OBSERVE,
       SAMPLES OBSERVE, "astrofitssink");
  /* A file with a header tells itself, and is not contradicted. */
  make("astroskysrc stations=2 pols=1 bandwidth=1e5 duration=0.1 ! "
       "application/x-astro-voltages,format=CI16LE ! astrofitssink location=open.raw");
  same("astroopen input=open.raw format=CI16LE stations=2 pols=1", "astrofitssrc location=open.raw",
       "filesink");
  g_unlink("open.raw");
}

/* ---- addresses ---- */

static guint16 free_port(void)
{
  g_autoptr(GSocket) socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GSocketAddress) any = g_inet_socket_address_new(loopback, 0);
  g_assert_true(g_socket_bind(socket, any, FALSE, NULL));
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(socket, NULL);
  return g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
}

static void test_udp(void)
{
  static const struct {
    const char *before, *after, *more, *address, *packet, *stations;
    guint block;
  } cases[] = {
    { "udp://127.0.0.1", "?packet=vdif", "", "127.0.0.1", "vdif", NULL, 100 },
    { "udp://0.0.0.0", "?packet=vdif", "rate=1000000", NULL, "vdif", NULL, 100 },
    { "udp://@127.0.0.1", "?packet=vdif", "", "127.0.0.1", "vdif", NULL, 100 },
    { "udp://", "?packet=lofar-beamlet&stations=0%2D3&block=20", "", NULL, "lofar-beamlet", "0-3",
      20 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *wanted = g_strdup_printf("%u", free_port());
    g_autofree char *line = g_strdup_printf("astroopen name=open input=%s:%s%s %s ! fakesink",
                                            cases[i].before, wanted, cases[i].after, cases[i].more);
    GstElement *pipeline = gst_parse_launch(line, NULL);
    g_assert_cmpint(gst_element_set_state(pipeline, GST_STATE_PAUSED), !=,
                    GST_STATE_CHANGE_FAILURE);
    g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
    g_autofree char *address = NULL, *port = NULL, *packet = NULL, *stations = NULL;
    guint block;
    g_object_get(source, "address", &address, "port", &port, "packet", &packet, "stations",
                 &stations, "block", &block, NULL);
    g_assert_cmpstr(address, ==, cases[i].address);
    g_assert_cmpstr(port, ==, wanted);
    g_assert_cmpstr(packet, ==, cases[i].packet);
    g_assert_cmpstr(stations, ==, cases[i].stations);
    g_assert_cmpuint(block, ==, cases[i].block);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
  }
  test_refused("astroopen input=udp://[fe80]:5?packet=vdif ! fakesink", "address=fe80");
  test_refused("astroopen input=udp://host ! fakesink", "udp://host: found no port");
  test_refused("astroopen input=udp://:5?packet ! fakesink",
               "found \"packet\", expected properties of astroudpsrc as name=value");
  test_refused("astroopen input=udp://:5?nonsense=1 ! fakesink", "has no such property");
}

/* ---- as an element among others ---- */

/* The pipeline is stopped and started again with another input, as applications do. */
static void test_again(void)
{
  make(VISIBILITIES " ! astrofitssink location=open-a.fits");
  make("astrocatsrc points=50 ! astrofitssink location=open-b.csv");
  GstElement *pipeline = gst_parse_launch("astroopen name=open ! fakesink name=sink", NULL);
  g_autoptr(GstElement) open = gst_bin_get_by_name(GST_BIN(pipeline), "open");
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  static const char *const inputs[][2] = { { "open-a.fits", "application/x-astro-visibilities" },
                                           { "open-b.csv", "application/x-astro-catalogue" } };
  for (guint i = 0; i < 6; i++) {
    g_object_set(open, "input", inputs[i % 2][0], NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_autoptr(GstMessage) message =
        gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
    g_assert_cmpstr(gst_structure_get_name(gst_caps_get_structure(caps, 0)), ==, inputs[i % 2][1]);
    gst_element_set_state(pipeline, i % 3 ? GST_STATE_READY : GST_STATE_NULL);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_unlink("open-a.fits");
  g_unlink("open-b.csv");
}

static void test_wrong_stream(void)
{
  make(VISIBILITIES " ! astrofitssink location=open.fits");
  test_refused("astroopen input=open.fits ! astrohistogram ! fakesink", "open.fits");
  g_unlink("open.fits");
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/astroopen/fits", test_fits);
#ifdef HAVE_HDF5
  g_test_add_func("/astroopen/uvh5", test_uvh5);
#endif
  g_test_add_func("/astroopen/catalogues", test_catalogues);
  g_test_add_func("/astroopen/unreadable", test_unreadable);
  g_test_add_func("/astroopen/folders", test_folders);
  g_test_add_func("/astroopen/sets", test_sets);
  g_test_add_func("/astroopen/mixed", test_mixed);
  g_test_add_func("/astroopen/other-properties", test_other_properties);
  g_test_add_func("/astroopen/recordings", test_recordings);
  g_test_add_func("/astroopen/filterbank", test_filterbank);
  g_test_add_func("/astroopen/contradicted", test_contradicted);
  g_test_add_func("/astroopen/samples", test_samples);
  g_test_add_func("/astroopen/udp", test_udp);
  g_test_add_func("/astroopen/again", test_again);
  g_test_add_func("/astroopen/wrong-stream", test_wrong_stream);
  return g_test_run();
}
