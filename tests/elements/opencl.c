/* Chains of OpenCL stages give the same as CPU stages, with nothing on the host between them.
 * Skipped without an OpenCL device. */
#include "tests/elements/chains.h"

/* 20 blocks of voltages, and visibilities of two whole integrations and of a third. A device that
 * is a CPU takes long for more. */
#define CHAIN(backend)                                                                             \
  "astroskysrc stations=3 noise=20 frequency=1.5e8 bandwidth=1e6 block-steps=1000 "                \
  "phase-centre=246.5,38 start-time=2026-11-20T12:00:00 duration=0.02 "                            \
  "! application/x-astro-voltages,format=CF32LE ! " TEST_CHAIN(backend)

static void test_chain(void)
{
  g_autoptr(GByteArray) expected = test_run_line(CHAIN("cpu"));
  g_autoptr(GByteArray) found = test_run_line(CHAIN("opencl"));
  g_assert_cmpuint(found->len, ==, expected->len);
  g_assert_cmpfloat(test_distance(found->data, expected->data, found->len, FALSE), <=, 1e-5);
  test_chain_stays(CHAIN("opencl"), 20, 1);
}

static void skip(void)
{
  g_test_skip("there is no OpenCL device");
}

static void add_tests(void)
{
  g_autoptr(AstroDevice) device = test_find_opencl(NULL);
  test_chain_kind = ASTRO_BACKEND_OPENCL;
  g_test_add_func("/opencl-chains/chain", device ? test_chain : skip);
  if (!device)
    return;
  test_add_chain_events("/opencl-chains");
  g_test_add_func("/opencl-chains/odd-addresses", test_chain_odd_addresses);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
