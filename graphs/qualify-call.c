/* Calls of backends. Output blocks begin as garbage, so that a value that is not written shows. */
#include "graphs/qualify-call.h"

#include <stdlib.h>
#include <string.h>

#include "core/kit/pages.h"

#define GARBAGE 0xa5

static gsize in_bytes(const AstroQualifyCase *c)
{
  return c->samples_in * astro_format_info(c->from)->bytes;
}

static gsize out_bytes(const AstroQualifyCase *c)
{
  return c->samples_out * astro_format_info(c->to)->bytes;
}

static gboolean wait(AstroQualifyCall *call, AstroQueue *queue, GError **error)
{
  const AstroDeviceFuncs *funcs = call->device->funcs;
  AstroEvent *event = funcs->event_record(call->device, queue, error);
  const gboolean ok = event && funcs->event_wait(call->device, event, error);
  if (event)
    funcs->event_free(call->device, event);
  return ok;
}

static gboolean copy(AstroQualifyCall *call, AstroCopyDirection direction, gpointer to,
                     gconstpointer from, gsize bytes, GError **error)
{
  AstroDevice *device = call->device;
  AstroQueue *queue = direction == ASTRO_COPY_UP ? device->up : device->down;
  return device->funcs->queue_copy(device, queue, direction, to, from, bytes, error) &&
         wait(call, queue, error);
}

static gboolean open_on_device(AstroQualifyCall *call, gconstpointer samples, GError **error)
{
  AstroDevice *device = call->device;
  const AstroDeviceFuncs *funcs = device->funcs;
  call->queue = funcs->queue_new(device, error);
  return call->queue && funcs->alloc(device, MAX(call->in.bytes, 1), &call->in.data, error) &&
         funcs->alloc(device, MAX(call->out.bytes, 1), &call->out.data, error) &&
         copy(call, ASTRO_COPY_UP, call->in.data, samples, call->in.bytes, error) &&
         copy(call, ASTRO_COPY_UP, call->out.data, call->host_out, call->out.bytes, error);
}

gboolean astro_qualify_call_open(AstroQualifyCall *call, const AstroBackend *backend,
                                 const AstroQualifyCase *c, gconstpointer samples,
                                 AstroDevice *device, GError **error)
{
  *call = (AstroQualifyCall){ .backend = backend, .c = c, .device = device };
  call->in.bytes = in_bytes(c);
  call->out.bytes = out_bytes(c);
  call->host_out = astro_pages_alloc(MAX(call->out.bytes, 1));
  call->counts = g_new0(guint32, c->n_counts + 1);
  if (!call->host_out)
    return astro_backend_no_memory(error, "no memory for %" G_GSIZE_FORMAT " bytes",
                                   call->out.bytes);
  memset(call->host_out, GARBAGE, call->out.bytes);
  if (device ? !open_on_device(call, samples, error) : FALSE)
    return FALSE;
  if (!device) {
    call->in.data = (gpointer)samples;
    call->out.data = call->host_out;
  }
  const AstroPlace place = { .device = device, .queue = call->queue };
  call->instance = backend->create(c->config, &place, &call->variant, error);
  return call->instance != NULL;
}

gboolean astro_qualify_call_run(AstroQualifyCall *call, GError **error)
{
  const AstroQualifyCase *c = call->c;
  call->result = (AstroResult){ .counts = call->counts };
  return call->backend->submit(call->instance, &call->in, 1, &call->out, c->samples_out > 0,
                               c->arguments, &call->result, error) &&
         (!call->device || wait(call, call->queue, error));
}

gconstpointer astro_qualify_call_fetch(AstroQualifyCall *call, GError **error)
{
  if (call->backend->drain && !call->backend->drain(call->instance, &call->result, error))
    return NULL;
  if (call->device &&
      !copy(call, ASTRO_COPY_DOWN, call->host_out, call->out.data, call->out.bytes, error))
    return NULL;
  return call->host_out;
}

void astro_qualify_call_close(AstroQualifyCall *call)
{
  if (call->instance)
    call->backend->destroy(call->instance);
  if (call->device) {
    const AstroDeviceFuncs *funcs = call->device->funcs;
    if (call->in.data)
      funcs->free(call->device, call->in.data);
    if (call->out.data)
      funcs->free(call->device, call->out.data);
    if (call->queue)
      funcs->queue_free(call->device, call->queue);
  }
  free(call->host_out);
  g_free(call->counts);
}
