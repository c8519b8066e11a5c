/* The parts shared by both backends of CLEAN. */
#pragma once

#include "core/clean/clean.h"

G_BEGIN_DECLS

/* A run whose peaks reach this many times the lowest peak has diverged: each cycle adds more
 * elsewhere than it takes away. */
#define ASTRO_CLEAN_ASTRAY 2.0

gboolean astro_clean_check(gconstpointer config, GError **error);
gboolean astro_clean_check_call(const AstroCleanConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out,
                                const AstroCleanArguments *arguments, GError **error);

/* Index of an image in the input, where images are in_size wide; product = config->products is the
 * PSF. */
gsize astro_clean_in(const AstroCleanConfig *config, guint channel, guint product);
/* Copies the middle of an input image, the user's image, to image. */
void astro_clean_crop(const AstroCleanConfig *config, gconstpointer in, gsize at, gpointer image);

/* The beam as exp(-(a x^2 + 2 b x y + c y^2)), x and y in pixels; it is cut off beyond reach. All
 * zero if none is needed. */
typedef struct {
  double a, b, c;
  guint reach;
} AstroCleanBeam;
AstroCleanBeam astro_clean_beam(const AstroCleanConfig *config,
                                const AstroCleanArguments *arguments);

/* How many channels are cleaned at a time. */
guint astro_clean_planes(const AstroCleanConfig *config);

double astro_clean_get(const AstroCleanConfig *config, gconstpointer data, gsize at);
void astro_clean_set(const AstroCleanConfig *config, gpointer data, gsize at, double value);

/* Adds the model that was there at the start, if there is one, to the one found, and gives the
 * caller a copy if asked. */
void astro_clean_finish_model(const AstroCleanConfig *config, guint channel, guint product,
                              const AstroCleanArguments *arguments, gpointer model);

/* Writes the requested products from the model and residual of an image; beam may be NULL if
 * nothing is restored. */
void astro_clean_write(const AstroCleanConfig *config, guint channel, guint product,
                       const AstroCleanBeam *beam, gconstpointer in, gconstpointer model,
                       gconstpointer residual, gpointer out);

G_END_DECLS
