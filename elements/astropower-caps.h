/* Caps of astropower: spectra and the power that is made of them. */
#pragma once

#include "core/stream/observation.h"
#include "core/stream/power.h"

G_BEGIN_DECLS

/* The word that stands for the four products of two polarisations, whatever the basis. */
#define ASTRO_POWER_COHERENCE "coherence"

typedef struct {
  AstroPowerProducts products;
  guint channel_step;
  guint64 spectra; /* of an integration; 0: not known */
  gboolean sum_stations;
} AstroPowerCaps;

/* Reads the property products, which may be the word above, and adds squares. */
gboolean astro_power_read_products(AstroPowerProducts *products, const char *text, gboolean squares,
                                   gboolean is_circular, GError **error);

/* Whether the products mean something in the basis of the observation, which may be NULL. text: the
 * property, for messages. */
gboolean astro_power_check_basis(const AstroPowerProducts *products, const char *text,
                                 const AstroObservation *observation, GError **error);

GstStructure *astro_power_to_power(const AstroPowerCaps *settings, const GstStructure *spectra);
GstStructure *astro_power_to_spectra(const AstroPowerCaps *settings, const GstStructure *power);

G_END_DECLS
