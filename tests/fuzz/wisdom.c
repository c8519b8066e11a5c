/* The header around FFTW's wisdom, on any bytes: what is accepted equals what would be written. */
#include "core/lib/fft/wisdom.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autofree char *wisdom = astro_wisdom_unpack((const char *)data, size, "fftw-3");
  if (wisdom) {
    g_autofree char *again = astro_wisdom_pack(wisdom, "fftw-3");
    if (strlen(again) != size || memcmp(again, data, size) != 0)
      abort();
  }
  return 0;
}
