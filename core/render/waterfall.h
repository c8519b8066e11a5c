/* The rows of a waterfall: the newest is on top, and it grows until it has all rows that the user
 * asked for, so that no empty rows are shown. */
#pragma once

#include "core/render/panel.h"

G_BEGIN_DECLS

/* The newest row is written before the others, so that these move only when the spare rows are
 * used up. */
#define ASTRO_WATERFALL_SPARE 64

typedef struct {
  guint width, rows;
  guint shown, first; /* rows that are filled, and where the newest is */
  guint64 *durations; /* of the rows, ns; 0: unknown */
  const char *things; /* what a row is, if its length is not known: "Blocks ago" */
} AstroWaterfall;

/* Adds a row to values, which have room for all rows and the spare ones. Returns the row, which is
 * to be filled in, and behind which all others are. */
float *astro_waterfall_push(AstroWaterfall *waterfall, float *values, guint64 duration_ns);
/* Sets the panel's height and its axis: seconds if the lengths of all rows are known. */
void astro_waterfall_set_axis(const AstroWaterfall *waterfall, AstroPanel *panel);
void astro_waterfall_clear(AstroWaterfall *waterfall);

/* The axis of channels: MHz if the frequency is known. */
AstroPanelAxis astro_waterfall_channels(const AstroStream *stream);

G_END_DECLS
