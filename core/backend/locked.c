/* Host memory that a device page-locks, or allocates. */
#include "config.h"
#include "core/backend/locked.h"

#include "core/kit/pages.h"

#include <stdlib.h>

gpointer astro_locked_alloc(AstroDevice *device, gsize room, gsize align, gsize bytes,
                            AstroDevice **locker, GError **error)
{
  const AstroDeviceFuncs *funcs = device && bytes > 0 ? device->funcs : NULL;
  gpointer host = funcs && funcs->alloc_host ? funcs->alloc_host(device, room, align, error) : NULL;
  *locker = host ? device : NULL;
  if (host)
    return host;
  host = astro_pages_alloc_aligned(room, align);
  if (host && funcs && !funcs->alloc_host && funcs->lock_host(device, host, bytes, error))
    *locker = device;
  return host;
}

void astro_locked_free(gpointer host, AstroDevice *locker)
{
  if (locker && locker->funcs->alloc_host) {
    locker->funcs->free_host(locker, host);
    return;
  }
  if (locker)
    locker->funcs->unlock_host(locker, host);
  free(host);
}
