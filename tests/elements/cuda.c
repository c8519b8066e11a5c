/* Chains of CUDA stages give the same as CPU stages: two on one GPU, cut by new caps, flushes and
 * the end, and with nothing on the host between them. Skipped without a GPU. */
#include "tests/elements/chains.h"

/* ---- two pipelines at once ---- */

#define FLOATS(backend)                                                                            \
  TEST_SKY "duration=0.5 ! application/x-astro-voltages,format=CF32LE ! " TEST_CHAIN(backend)
/* Exact after the filter bank. */
#define INTEGERS(backend)                                                                          \
  TEST_SKY                                                                                         \
  "duration=0.5 seed=5 ! application/x-astro-voltages,format=CI8 ! astrochannelizer backend=cpu "  \
  "channels=32 taps=4 ! application/x-astro-spectra,format=CI8 ! astrotranspose backend=" backend  \
  " layout=channel:time:pol:station ! astroconvert backend=" backend                               \
  " ! application/x-astro-spectra,format=CI16LE ! astrocorrelator backend=" backend                \
  " integration=700 ! application/x-astro-visibilities,format=CI32LE"

static void test_two_at_once(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  g_autoptr(GByteArray) floats = test_run_line(FLOATS("cpu"));
  g_autoptr(GByteArray) integers = test_run_line(INTEGERS("cpu"));
  g_autoptr(GByteArray) alone = test_run_line(FLOATS("cuda"));
  g_assert_cmpuint(alone->len, ==, floats->len);
  g_assert_cmpfloat(test_distance(alone->data, floats->data, floats->len, FALSE), <=, 1e-5);
  for (guint i = 0; i < 3; i++) {
    g_autoptr(GByteArray) a = g_byte_array_new(), b = g_byte_array_new();
    GstElement *first = test_start(FLOATS("cuda"), a), *second = test_start(INTEGERS("cuda"), b);
    g_assert_cmpstr(test_wait(first), ==, NULL);
    g_assert_cmpstr(test_wait(second), ==, NULL);
    test_stop(first);
    test_stop(second);
    g_assert_cmpmem(a->data, a->len, alone->data, alone->len);
    g_assert_cmpmem(b->data, b->len, integers->data, integers->len);
  }
}

/* ---- orders and copies ---- */

static void test_odd_addresses(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (device)
    test_chain_odd_addresses();
}

static void check_order(const char *line, const char *wanted)
{
  GstElement *pipeline = test_start(line, NULL);
  g_autofree char *error = test_wait(pipeline);
  g_assert_cmpstr(error, ==, NULL);
  g_autoptr(GstElement) turn = gst_bin_get_by_name(GST_BIN(pipeline), "turn");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(turn, "src");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), ==, wanted);
  test_stop(pipeline);
}

/* The transposition before a correlator gives the order that its backend likes best. */
static void test_order(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  check_order(TEST_SKY "duration=0.02 ! " TEST_CHAIN("cuda"), "channel:station:pol:time");
  check_order(TEST_SKY "duration=0.02 ! " TEST_CHAIN("auto"), "channel:station:pol:time");
  check_order(TEST_SKY "duration=0.02 ! " TEST_CHAIN("cpu"), "channel:time:station:pol");
}

/* 50 blocks of voltages, and visibilities of seven whole integrations and of the one that the end
 * cuts short. */
static void test_no_host_between(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (device)
    test_chain_stays(TEST_SKY "duration=0.25 ! " TEST_CHAIN("cuda"), 50, 8);
}

static void add_tests(void)
{
  g_test_add_func("/cuda-chains/two-at-once", test_two_at_once);
  test_chain_kind = ASTRO_BACKEND_CUDA;
  if (test_has_device("/cuda-chains/events"))
    test_add_chain_events("/cuda-chains");
  g_test_add_func("/cuda-chains/odd-addresses", test_odd_addresses);
  g_test_add_func("/cuda-chains/order", test_order);
  g_test_add_func("/cuda-chains/no-host-between", test_no_host_between);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
