/* The filter that gives a source its Stokes parameters and lines. */
#pragma once

#include "core/lib/sky/filter.h"
#include "core/lib/sky/source.h"

G_BEGIN_DECLS

typedef struct {
  double rate;                 /* samples a second */
  double frequency, bandwidth; /* of the band */
  double part;                 /* of the rate that the band fills */
  guint pols;
  const char *basis;
} AstroSourceBand;

/* The source must outlive the filter. */
AstroFilter *astro_source_filter_new(const AstroSource *source, const AstroSourceBand *band,
                                     GError **error);

G_END_DECLS
