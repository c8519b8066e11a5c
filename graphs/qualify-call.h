/* Calls a backend on blocks, on the host or on a device. */
#pragma once

#include "core/backend/module.h"
#include "graphs/qualify-cases.h"

G_BEGIN_DECLS

typedef struct {
  const AstroBackend *backend;
  const AstroQualifyCase *c;
  AstroDevice *device; /* NULL on the host */
  AstroQueue *queue;
  gpointer instance;
  const char *variant;
  AstroBlock in, out; /* where the backend works */
  gpointer host_out;  /* on a device: the output once it is fetched */
  guint32 *counts;
  AstroResult result;
} AstroQualifyCall;

/* samples: of the case's input. FALSE: the backend refuses, or there is no memory. */
gboolean astro_qualify_call_open(AstroQualifyCall *call, const AstroBackend *backend,
                                 const AstroQualifyCase *c, gconstpointer samples,
                                 AstroDevice *device, GError **error);
gboolean astro_qualify_call_run(AstroQualifyCall *call, GError **error);
/* The output on the host, once all work is done. */
gconstpointer astro_qualify_call_fetch(AstroQualifyCall *call, GError **error);
void astro_qualify_call_close(AstroQualifyCall *call);

G_END_DECLS
