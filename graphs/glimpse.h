/* Pictures of what passes a pad, drawn aside: a buffer is taken by reference as it passes, and a
 * pipeline of its own renders it in a thread of its own. The stream never waits for it. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _AstroGlimpse AstroGlimpse;

AstroGlimpse *astro_glimpse_new(void);

/* The newest picture of that pad (PNG, to be unref'd), and asks for the next one. NULL: *why says
 * why there is none; *is_wrong: asking again will not help. There is room for one picture: that of
 * another pad goes when this one is asked for. */
GBytes *astro_glimpse_ask(AstroGlimpse *glimpse, GstPad *pad, char **why, gboolean *is_wrong);
/* Waits for a picture in work, for a few seconds at most. */
void astro_glimpse_free(AstroGlimpse *glimpse);

G_END_DECLS
