/* Recordings of Mark 5B of any bytes. */
#include "tests/fuzz/recordings.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  return fuzz_recording("mark5b", data, size);
}
