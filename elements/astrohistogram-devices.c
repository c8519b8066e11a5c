/* The devices of astrohistogram. */
#include "config.h"
#include "elements/astrohistogram-devices.h"

#include "core/backend/module.h"
#include "elements/base/astrowork.h"

static AstroWorkChoice choice_of(const AstroHistogramSettings *settings)
{
  return (AstroWorkChoice){ .kind = settings->backend,
                            .device = settings->device,
                            .threads = settings->threads };
}

/* Where GPUs were named, the host is no substitute for them. */
gboolean astro_histogram_devices_are_named(const AstroHistogramSettings *settings)
{
  return astro_backend_is_device(settings->backend) || astro_field_given(settings->devices);
}

/* Devices that are named under auto are those of CUDA. */
static AstroBackendKind kind_of(const AstroHistogramSettings *settings)
{
  return settings->backend == ASTRO_BACKEND_AUTO ? ASTRO_BACKEND_CUDA : settings->backend;
}

gboolean astro_histogram_devices_check(const AstroHistogramSettings *settings, GError **error)
{
  const AstroWorkChoice choice = choice_of(settings);
  gint indices[ASTRO_MOST_DEVICES];
  const guint n = astro_work_find_devices(settings->devices, &choice, indices, error);
  for (guint i = 0; i < n && astro_histogram_devices_are_named(settings); i++) {
    g_autoptr(AstroDevice) device = astro_device_open_of(kind_of(settings), indices[i], error);
    if (!device) {
      g_prefix_error(error, "backend=%s: ", astro_backend_kind_name(kind_of(settings)));
      return FALSE;
    }
  }
  return n > 0;
}

guint astro_histogram_devices_count(const AstroHistogramSettings *settings)
{
  const AstroWorkChoice choice = choice_of(settings);
  gint indices[ASTRO_MOST_DEVICES];
  return MAX(astro_work_find_devices(settings->devices, &choice, indices, NULL), 1);
}

gboolean astro_histogram_devices_open(AstroHistogramDevices *devices,
                                      const AstroHistogramSettings *settings,
                                      const AstroHistogramConfig *config, char **why,
                                      GError **error)
{
  AstroWorkChoice choice = choice_of(settings);
  gint indices[ASTRO_MOST_DEVICES];
  const guint n = astro_work_find_devices(settings->devices, &choice, indices, error);
  astro_histogram_devices_clear(devices);
  if (astro_histogram_devices_are_named(settings))
    choice.kind = kind_of(settings);
  for (guint i = 0; i < n; i++) {
    AstroPlace *place = &devices->places[i];
    *place = (AstroPlace){ .threads = choice.threads };
    g_clear_pointer(why, g_free);
    devices->backend = astro_backend_choose("histogram", astro_histogram_backends, choice.kind,
                                            indices[i], config, &place->device, why, error);
    if (!devices->backend)
      return FALSE;
    devices->n++;
  }
  return n > 0;
}

void astro_histogram_devices_clear(AstroHistogramDevices *devices)
{
  for (guint i = 0; i < devices->n; i++)
    g_clear_pointer(&devices->places[i].device, astro_device_unref);
  devices->n = 0;
}
