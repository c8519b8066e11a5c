/* The minor cycles in single and in double precision. */
#pragma once

#include "core/clean/check.h"
#include "core/clean/kernels.h"

G_BEGIN_DECLS

/* Cleans an image with its point-spread function. residual starts as the image; model is filled in.
 */
typedef AstroCleanResult (*AstroHogbom)(const AstroCleanConfig *config,
                                        const AstroCleanKernels *kernels, guint threads,
                                        gconstpointer psf, gpointer residual, gpointer model);

AstroCleanResult astro_hogbom_single(const AstroCleanConfig *config,
                                     const AstroCleanKernels *kernels, guint threads,
                                     gconstpointer psf, gpointer residual, gpointer model);
AstroCleanResult astro_hogbom_double(const AstroCleanConfig *config,
                                     const AstroCleanKernels *kernels, guint threads,
                                     gconstpointer psf, gpointer residual, gpointer model);

G_END_DECLS
