/* Compares backends with their references, and times them. */
#pragma once

#include "core/backend/device.h"
#include "core/machine/machine.h"
#include "graphs/qualify-cases.h"
#include "graphs/qualify-result.h"

G_BEGIN_DECLS

/* Every kernel of the stage that this machine can run: the cpu backend at each level, and that of a
 * GPU if there is one. Adds a result for each to results. cases: how many of each kind of shape. */
void astro_qualify_exact(const AstroQualifyStage *stage, guint cases, guint32 seed,
                         GPtrArray *results);

/* The rate of the fastest kernel on the host beside what the machine allows, with the spread of its
 * times; and that of a GPU, if there is one. */
void astro_qualify_rate(const AstroQualifyStage *stage, const AstroMachine *machine, guint32 seed,
                        GPtrArray *results);

/* One backend by itself, for tests of this very code. */
AstroQualifyResult *astro_qualify_backend(const AstroQualifyStage *stage,
                                          const AstroBackend *backend, const char *id, guint cases,
                                          guint32 seed);
AstroQualifyResult *astro_qualify_rate_of(const AstroQualifyStage *stage,
                                          const AstroBackend *backend, AstroDevice *device,
                                          const AstroMachine *machine, guint32 seed);

G_END_DECLS
