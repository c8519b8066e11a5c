/* Host memory that a device copies from and to beside the host: page-locked, or allocated by its
 * driver where that locks only memory of its own. */
#pragma once

#include "core/backend/device.h"
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* room bytes at a multiple of align, a power of two, of which the first bytes are used. *locker:
 * the device, which must outlive them; or NULL, as device may be, where it does not lock them: then
 * they are ordinary memory, and the error says why. NULL: there is no memory. */
gpointer astro_locked_alloc(AstroDevice *device, gsize room, gsize align, gsize bytes,
                            AstroDevice **locker, GError **error);
/* No copy may be under way. */
void astro_locked_free(gpointer host, AstroDevice *locker);

ASTRO_END_DECLS
