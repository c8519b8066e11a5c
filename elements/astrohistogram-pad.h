/* A pad that catalogues come in at. It remembers the columns of the one that it is at: caps may be
 * ahead of buffers. */
#pragma once

#include <gst/base/gstaggregator.h>

#include "core/lib/catalogue/columns.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_CATALOGUE_PAD astro_catalogue_pad_get_type()
G_DECLARE_FINAL_TYPE(AstroCataloguePad, astro_catalogue_pad, ASTRO, CATALOGUE_PAD, GstAggregatorPad)

struct _AstroCataloguePad {
  GstAggregatorPad parent;
  AstroColumnPlaces places;
  gint flushed;    /* atomic: since the last catalogue */
  gboolean counts; /* the last catalogue had a number or a time */
  guint64 next;    /* that of the one to come */
  /* What the pad gave before a flush is none of its catalogue. */
  void (*forget)(GstAggregator *aggregator, AstroCataloguePad *pad);
};

/* Errors name the pad. */
gboolean astro_catalogue_pad_read_caps(AstroCataloguePad *pad, const GstCaps *caps, GError **error);
/* Whether catalogues follow one another, by their numbers (OFFSET) or times (PTS): one that came
 * twice would be counted twice, and one that is missing not at all. */
gboolean astro_catalogue_pad_check_place(AstroCataloguePad *pad, GstBuffer *buffer, GError **error);
gboolean astro_catalogue_pad_append(const AstroCataloguePad *pad, GstBuffer *buffer,
                                    AstroCatalogue *catalogue, GError **error);

G_END_DECLS
