/* What both backends share. */
#pragma once

#include "core/clean/clean.h"

G_BEGIN_DECLS

/* A run whose peaks reach so many times the lowest one has gone astray: what a cycle adds elsewhere
 * is less than what it takes. */
#define ASTRO_CLEAN_ASTRAY 2.0

gboolean astro_clean_check(gconstpointer config, GError **error);
gboolean astro_clean_check_call(const AstroCleanConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out,
                                const AstroCleanArguments *arguments, GError **error);

/* Where in a block of pixels an image is that comes in, in_size wide; psf: product =
 * config->products. */
gsize astro_clean_in(const AstroCleanConfig *config, guint channel, guint product);
/* Its middle, the image, as its own. */
void astro_clean_crop(const AstroCleanConfig *config, gconstpointer in, gsize at, gpointer image);

/* The beam as exp(-(a x^2 + 2 b x y + c y^2)), x and y in pixels; pixels beyond reach are 0. Zeros
 * where none is needed. */
typedef struct {
  double a, b, c;
  guint reach;
} AstroCleanBeam;
AstroCleanBeam astro_clean_beam(const AstroCleanConfig *config,
                                const AstroCleanArguments *arguments);

double astro_clean_get(const AstroCleanConfig *config, gconstpointer data, gsize at);
void astro_clean_set(const AstroCleanConfig *config, gpointer data, gsize at, double value);

/* Writes what is asked for of an image whose model and residual are known; beam may be NULL where
 * nothing is restored. */
void astro_clean_write(const AstroCleanConfig *config, guint channel, guint product,
                       const AstroCleanBeam *beam, gconstpointer in, gconstpointer model,
                       gconstpointer residual, gpointer out);

G_END_DECLS
