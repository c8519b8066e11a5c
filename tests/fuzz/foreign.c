/* Recognition of kinds of files that cannot be read, on any bytes. */
#include "core/fits/foreign.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  astro_foreign_bytes(data, size);
  return 0;
}
