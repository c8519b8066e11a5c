/* The element astrochannelizer: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_CHANNELIZER astro_channelizer_get_type()
G_DECLARE_FINAL_TYPE(AstroChannelizer, astro_channelizer, ASTRO, CHANNELIZER, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrochannelizer)

/* The windows that the property window names. */
#define ASTRO_TYPE_WINDOW astro_window_get_type()
GType astro_window_get_type(void);

G_END_DECLS
