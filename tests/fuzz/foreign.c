/* Kinds of files that are not read, told by any bytes. */
#include "core/fits/foreign.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  astro_foreign_bytes(data, size);
  return 0;
}
