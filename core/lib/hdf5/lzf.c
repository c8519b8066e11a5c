/* Unpacks LZF: runs of bytes as they are, and references to bytes that came before. */
#include "core/lib/hdf5/lzf.h"

#include <hdf5.h>
#include <string.h>

#define FILTER 32000 /* the number under which the HDF Group has registered LZF */
#define LITERALS 32  /* smaller control bytes announce that many bytes, and one more */
#define LONG 7       /* a reference of this length has a further byte of length */
#define MOST_BYTES ((gsize)4 << 30)

gboolean astro_lzf_unpack(const guint8 *packed, gsize bytes, guint8 *out, gsize n)
{
  gsize in = 0, at = 0;
  while (in < bytes) {
    const guint control = packed[in++];
    if (control < LITERALS) {
      const gsize length = control + 1;
      if (length > bytes - in || length > n - at)
        return FALSE;
      memcpy(out + at, packed + in, length);
      in += length;
      at += length;
      continue;
    }
    gsize length = control >> 5;
    if (length == LONG) {
      if (in == bytes)
        return FALSE;
      length += packed[in++];
    }
    length += 2;
    if (in == bytes)
      return FALSE;
    const gsize back = ((gsize)(control & 31) << 8 | packed[in++]) + 1;
    if (back > at || length > n - at)
      return FALSE;
    for (gsize i = 0; i < length; i++, at++) /* may overlap: a run of equal bytes */
      out[at] = out[at - back];
  }
  return at == n;
}

/* h5py stores the size of an unpacked chunk as the third parameter. */
static size_t filter(unsigned flags, size_t n_values, const unsigned values[], size_t bytes,
                     size_t *room, void **buffer)
{
  const gsize n = n_values >= 3 ? values[2] : 0;
  if (!(flags & H5Z_FLAG_REVERSE) || n == 0 || n > MOST_BYTES)
    return 0;
  guint8 *out = H5allocate_memory(n, FALSE);
  if (!out)
    return 0;
  if (!astro_lzf_unpack(*buffer, bytes, out, n)) {
    H5free_memory(out);
    return 0;
  }
  H5free_memory(*buffer);
  *buffer = out;
  *room = n;
  return n;
}

void astro_lzf_register(void)
{
  static const H5Z_class2_t lzf = {
    .version = H5Z_CLASS_T_VERS, .id = FILTER, .decoder_present = 1, .name = "lzf", .filter = filter
  };
  if (H5Zfilter_avail(FILTER) <= 0)
    H5Zregister(&lzf);
}
