/* Opaque handles of devices, for code that only passes them on; core/backend/device.h defines them.
 */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef struct _AstroDevice AstroDevice;
typedef struct _AstroQueue AstroQueue; /* a queue of a device: a CUDA stream */

AstroDevice *astro_device_ref(AstroDevice *device);
void astro_device_unref(AstroDevice *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroDevice, astro_device_unref)

ASTRO_END_DECLS
