/* A device's handles, for who hands them on and does not look into them: core/backend/device.h has
 * what they stand for. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef struct _AstroDevice AstroDevice;
typedef struct _AstroQueue AstroQueue; /* a device's own: a stream */

AstroDevice *astro_device_ref(AstroDevice *device);
void astro_device_unref(AstroDevice *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroDevice, astro_device_unref)

ASTRO_END_DECLS
