/* Reference counts of devices. */
#include "core/backend/device.h"

AstroDevice *astro_device_ref(AstroDevice *device)
{
  g_atomic_int_inc(&device->ref_count);
  return device;
}

void astro_device_unref(AstroDevice *device)
{
  if (g_atomic_int_dec_and_test(&device->ref_count))
    device->funcs->close(device);
}
