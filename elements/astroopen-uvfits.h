/* UVFITS as one of several kinds of file in an input: says to a source of rows how it is read. */
#pragma once

#include "elements/base/astrorowsrc.h"

G_BEGIN_DECLS

/* Has those properties of astrofitssrc that are about visibilities. It is no element for users:
 * astrofitssrc reads UVFITS by itself. */
#define ASTRO_TYPE_OPEN_UVFITS astro_open_uvfits_get_type()
GType astro_open_uvfits_get_type(void);

G_END_DECLS
