/* A correlator of 64 stations with two polarisations in CF32, as van Nieuwpoort and Romein measured
 * it: alone, with its input copied before it or while it works on another block, and with a
 * transposition on the host or on the device. */
#include "core/backend/module.h"
#include "core/correlator/correlator.h"
#include "core/transpose/transpose.h"
#include "graphs/qualify-call.h"
#include "graphs/qualify-seeds.h"

#include <math.h>
#include <stdlib.h>

#include "core/kit/pages.h"

enum { STATIONS = 64, POLS = 2, CHANNELS = 64, STEPS = 768, BLOCKS = 16 };

static const gsize n_samples = (gsize)CHANNELS * STEPS * STATIONS * POLS;

static double operations(void)
{
  const double inputs = STATIONS * POLS;
  return 8 * inputs * (inputs + 1) / 2 * CHANNELS * STEPS;
}

static AstroCorrelatorConfig correlator_config(void)
{
  g_autofree char *text = g_strdup_printf(
      "application/x-astro-spectra,format=CF32LE,layout=channel:time:station:pol,channels=%d,"
      "stations=%d,pols=%d,rate=1000/1",
      CHANNELS, STATIONS, POLS);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  AstroStream stream;
  if (!astro_stream_from_caps(&stream, caps, NULL))
    g_error("%s", text);
  return (AstroCorrelatorConfig){ .stations = STATIONS,
                                  .pols = POLS,
                                  .channels = CHANNELS,
                                  .layout = stream.layout,
                                  .from = ASTRO_FORMAT_CF32LE,
                                  .to = ASTRO_FORMAT_CF32LE,
                                  .channel_step = 1,
                                  .integration = STEPS };
}

/* From time fastest, as a filter bank gives it, to stations fastest. */
static const AstroTransposeConfig turn = { .n_axes = 3,
                                           .sample_bytes = 8,
                                           .extents = { STATIONS * POLS, CHANNELS, STEPS },
                                           .order = { 1, 2, 0 } };

typedef struct {
  AstroDevice *device; /* NULL: on the host */
  float *samples;
  gboolean is_locked;
  AstroQualifyCall correlator[2], transpose;
  AstroQualifyCall host; /* the transposition on the host */
} Experiment;

static AstroQualifyCase correlator_case(const AstroCorrelatorConfig *config,
                                        const AstroCorrelatorArguments *arguments)
{
  return (AstroQualifyCase){ .config = (gpointer)config,
                             .arguments = (gpointer)arguments,
                             .from = config->from,
                             .to = config->to,
                             .samples_in = n_samples,
                             .samples_out = astro_correlator_output_bytes(config) / 8 };
}

static double seconds_since(gint64 start)
{
  return (double)(g_get_monotonic_time() - start) * 1e-6;
}

static gboolean upload(Experiment *self, AstroQualifyCall *call, GError **error)
{
  return self->device->funcs->queue_copy(self->device, self->device->up, ASTRO_COPY_UP,
                                         call->in.data, self->samples, call->in.bytes, error);
}

static gboolean wait_for(Experiment *self, AstroQueue *queue, GError **error)
{
  AstroEvent *event = self->device->funcs->event_record(self->device, queue, error);
  const gboolean ok = event && self->device->funcs->event_wait(self->device, event, error);
  if (event)
    self->device->funcs->event_free(self->device, event);
  return ok;
}

/* ---- ways to work on blocks ---- */

static gboolean alone(Experiment *self, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; i < BLOCKS && ok; i++)
    ok = astro_qualify_call_run(&self->correlator[0], error);
  return ok;
}

static gboolean synchronous(Experiment *self, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; i < BLOCKS && ok; i++)
    ok = upload(self, &self->correlator[0], error) && wait_for(self, self->device->up, error) &&
         astro_qualify_call_run(&self->correlator[0], error);
  return ok;
}

static gboolean follow(Experiment *self, AstroQueue *queue, AstroQueue *other, GError **error)
{
  const AstroDeviceFuncs *funcs = self->device->funcs;
  AstroEvent *event = funcs->event_record(self->device, other, error);
  const gboolean ok = event && funcs->queue_wait(self->device, queue, event, error);
  if (event)
    funcs->event_free(self->device, event);
  return ok;
}

/* A block is copied while the one before it is worked on. With `turns`, the copy goes to the
 * transposition on the device first. */
static gboolean overlapped(Experiment *self, gboolean turns, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; i < BLOCKS && ok; i++) {
    AstroQualifyCall *call = &self->correlator[i % 2], *first = turns ? &self->transpose : call;
    AstroResult result = { .counts = call->counts };
    ok = follow(self, self->device->up, first->queue, error) && upload(self, first, error) &&
         follow(self, first->queue, self->device->up, error);
    if (ok && turns)
      ok = follow(self, first->queue, call->queue, error) &&
           first->backend->submit(first->instance, &first->in, 1, &call->in, 1, NULL, &result,
                                  error) &&
           follow(self, call->queue, first->queue, error);
    ok = ok && call->backend->submit(call->instance, &call->in, 1, &call->out, 1,
                                     call->c->arguments, &result, error);
  }
  return ok && wait_for(self, self->correlator[0].queue, error) &&
         wait_for(self, self->correlator[1].queue, error);
}

static gboolean asynchronous(Experiment *self, GError **error)
{
  return overlapped(self, FALSE, error);
}

static gboolean turned_on_device(Experiment *self, GError **error)
{
  return overlapped(self, TRUE, error);
}

/* The host turns the next block while one is copied and worked on. What is copied are the samples
 * as they were, of which there are as many. */
static gboolean turned_on_host(Experiment *self, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; i < BLOCKS && ok; i++)
    ok = upload(self, &self->correlator[0], error) &&
         follow(self, self->correlator[0].queue, self->device->up, error) &&
         self->correlator[0].backend->submit(
             self->correlator[0].instance, &self->correlator[0].in, 1, &self->correlator[0].out, 1,
             self->correlator[0].c->arguments, &(AstroResult){ .counts = NULL }, error) &&
         astro_qualify_call_run(&self->host, error) &&
         wait_for(self, self->correlator[0].queue, error);
  return ok;
}

static gboolean alone_and_turned(Experiment *self, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; i < BLOCKS && ok; i++)
    ok = astro_qualify_call_run(&self->host, error) &&
         astro_qualify_call_run(&self->correlator[0], error);
  return ok;
}

static const struct {
  const char *what;
  gboolean (*work)(Experiment *self, GError **error);
  gboolean on_device;
  const char *published;
} ways[] = {
  { "kernel alone", alone, FALSE, "van Nieuwpoort 2010: 48.0 on a Core i7 920" },
  { "transposed first", alone_and_turned, FALSE, "" },
  { "kernel alone", alone, TRUE, "van Nieuwpoort 2010: 314 on a Tesla C1060, 420 on an ATI 4870" },
  { "synchronous copies", synchronous, TRUE, "van Nieuwpoort 2010: 162 on a Tesla C1060" },
  { "asynchronous copies", asynchronous, TRUE,
    "van Nieuwpoort 2010: 274 on a Tesla C1060, 190 on an ATI 4870" },
  { "asynchronous copies, transposed on the host", turned_on_host, TRUE,
    "van Nieuwpoort 2010: 300 on a Tesla C1060" },
  { "asynchronous copies, transposed on the device", turned_on_device, TRUE,
    "van Nieuwpoort 2010: slower than on the host" },
};

static gboolean open_all(Experiment *self, const AstroQualifyCase *correlate,
                         const AstroQualifyCase *transpose, GError **error)
{
  AstroDevice *device = self->device;
  const AstroBackend *correlator =
      device ? astro_module_backend("correlator") : &astro_correlator_cpu;
  self->is_locked = device && device->funcs->lock_host(device, self->samples, n_samples * 8, error);
  if (device && !self->is_locked)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (!astro_qualify_call_open(&self->correlator[i], correlator, correlate, self->samples, device,
                                 error))
      return FALSE;
  return astro_qualify_call_open(&self->host, &astro_transpose_cpu, transpose, self->samples, NULL,
                                 error) &&
         (!device || astro_qualify_call_open(&self->transpose, astro_module_backend("transpose"),
                                             transpose, self->samples, device, error));
}

static void close_all(Experiment *self)
{
  for (guint i = 0; i < 2; i++)
    astro_qualify_call_close(&self->correlator[i]);
  astro_qualify_call_close(&self->transpose);
  astro_qualify_call_close(&self->host);
  if (self->is_locked)
    self->device->funcs->unlock_host(self->device, self->samples);
  free(self->samples);
}

static void time_ways(Experiment *self, GPtrArray *results)
{
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    g_autoptr(GError) error = NULL;
    if (ways[i].on_device != (self->device != NULL))
      continue;
    g_autofree char *subject =
        g_strdup_printf("correlator, CF32, %d stations, %s, %s, GFLOP/s", STATIONS, ways[i].what,
                        self->device ? "cuda" : "cpu");
    gboolean ok = ways[i].work(self, &error);
    const gint64 start = g_get_monotonic_time();
    ok = ok && ways[i].work(self, &error);
    if (ok)
      astro_qualify_seed_add(results, subject, BLOCKS * operations() / seconds_since(start) * 1e-9,
                             ways[i].published);
    else
      astro_qualify_seed_miss(results, subject, error->message);
  }
}

void astro_qualify_seed_correlator(AstroDevice *device, GPtrArray *results)
{
  const AstroCorrelatorConfig config = correlator_config();
  const AstroCorrelatorArguments arguments = {
    .steps = STEPS, .count = STEPS, .begin = TRUE, .dump = TRUE
  };
  const AstroQualifyCase correlate = correlator_case(&config, &arguments);
  const AstroQualifyCase transpose = { .config = (gpointer)&turn,
                                       .from = ASTRO_FORMAT_CF32LE,
                                       .to = ASTRO_FORMAT_CF32LE,
                                       .samples_in = n_samples,
                                       .samples_out = n_samples };
  Experiment self = { .device = device, .samples = astro_pages_alloc(n_samples * 8) };
  g_autoptr(GError) error = NULL;
  for (gsize i = 0; self.samples && i < 2 * n_samples; i++)
    self.samples[i] = (float)(i * 2654435761u % 1000) / 500 - 1;
  if (self.samples && open_all(&self, &correlate, &transpose, &error))
    time_ways(&self, results);
  else
    astro_qualify_seed_miss(results, "correlator, CF32, 64 stations",
                            error ? error->message : "there is no memory for its samples");
  close_all(&self);
}
