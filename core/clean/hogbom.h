/* The minor cycles in one precision. */
#pragma once

#include "core/clean/check.h"
#include "core/clean/kernels.h"

G_BEGIN_DECLS

/* Of an image and its point-spread function: model is filled, and residual, which begins as the
 * image, is left. */
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
