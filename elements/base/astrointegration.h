/* For elements that integrate spectra: the properties integration and integration-time, and what
 * follows from them for caps. */
#pragma once

#include "core/stream/history.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Spectra of an integration: those of integration-time in seconds by the rate of the caps, if it is
 * not 0, else those of property integration. */
gboolean astro_integration_find(guint integration, double seconds, gint rate_n, gint rate_d,
                                guint *spectra, GError **error);
/* GStreamer reads -1 as the largest number, which is refused, as 0 is. */
gboolean astro_integration_check(guint integration, GError **error);
/* Posts the number of spectra for an integration time, and how long that really is. */
void astro_integration_tell(GstElement *element, guint spectra, const AstroStream *in);

/* Caps: a positive int, or any; and the rate of one side times `times` over `over`. No rate is set
 * where astro_integration_check_rate will refuse, with a reason. */
void astro_integration_set_int(GstStructure *to, const char *field, guint64 value);
void astro_integration_convert_rate(GstStructure *to, const GstStructure *from, guint64 times,
                                    guint64 over);
void astro_integration_copy_field(GstStructure *to, const GstStructure *from, const char *field);
gboolean astro_integration_check_rate(guint64 spectra, const AstroStream *in,
                                      const AstroStream *out, GError **error);

/* The good samples of a block: valid[t * time + c * channel + s * station] is 1. A sample is good
 * where nothing behind it is missing, in both polarisations; one of a beam, where any station is
 * left, and one of power, where any sample is behind the mean. NULL: all are good. Beams count as
 * stations. */
typedef struct {
  guint8 *valid; /* to be freed by the caller */
  gsize time, channel, station;
} AstroGoodSamples;

void astro_integration_mark_good(AstroGoodSamples *good, GstBuffer *in, const AstroStream *stream,
                                 guint64 steps);

/* Once spectra are detected, nothing can undo their bandpasses any more. */
gboolean astro_integration_check_bandpass(const AstroHistory *done, GError **error);

G_END_DECLS
