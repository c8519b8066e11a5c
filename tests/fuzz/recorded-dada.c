/* Recordings of DADA of any bytes. */
#include "tests/fuzz/recordings.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  return fuzz_recording("dada", data, size);
}
