/* A sink pad that takes catalogues. It keeps the columns of the current catalogue, because the
 * pad's caps may be ahead of its buffers. */
#pragma once

#include <gst/base/gstaggregator.h>

#include "core/lib/catalogue/held.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_CATALOGUE_PAD astro_catalogue_pad_get_type()
G_DECLARE_FINAL_TYPE(AstroCataloguePad, astro_catalogue_pad, ASTRO, CATALOGUE_PAD, GstAggregatorPad)

struct _AstroCataloguePad {
  GstAggregatorPad parent;
  AstroColumnPlaces places;
  gint flushed; /* atomic: since the last catalogue began */
  /* under the lock of what `forget` drops, since a pad is flushed by its own thread */
  gboolean counts; /* the last catalogue had a number or a time */
  guint64 next;    /* the number or time expected of the next one */
  /* Called on a flush, to drop what the pad has given of its current catalogue and its number. */
  void (*forget)(GstAggregator *aggregator, AstroCataloguePad *pad);
};

/* Reads the columns from caps. Errors name the pad. */
gboolean astro_catalogue_pad_read_caps(AstroCataloguePad *pad, const GstCaps *caps, GError **error);
/* Checks that catalogues follow one another, by their numbers (OFFSET) or times (PTS): a repeated
 * one would be counted twice, and a missing one not at all. */
gboolean astro_catalogue_pad_check_place(AstroCataloguePad *pad, GstBuffer *buffer, GError **error);
gboolean astro_catalogue_pad_append(const AstroCataloguePad *pad, GstBuffer *buffer,
                                    const AstroHeldLimit *limit, AstroHeld *held, GError **error);

G_END_DECLS
