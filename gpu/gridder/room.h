/* Gives out pieces of one block of device memory. */
#pragma once

#include "gpu/runtime/cuda.h"

static inline gsize astro_room_whole(gsize bytes)
{
  return (bytes + 255) & ~(gsize)255;
}

struct AstroRoom {
  guint8 *block; /* NULL: pieces are only counted */
  gsize used;

  gpointer piece(gsize bytes)
  {
    const gsize at = used;
    used += astro_room_whole(bytes);
    return block ? block + at : NULL;
  }
};
