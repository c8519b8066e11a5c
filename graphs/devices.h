/* The command gst-astro devices. */
#pragma once

#include "graphs/arguments.h"

G_BEGIN_DECLS

int astro_devices(const AstroArguments *arguments);

G_END_DECLS
