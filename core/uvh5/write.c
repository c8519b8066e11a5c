/* Writes uvh5 files. */
#define _GNU_SOURCE /* memfd_create */
#include "core/uvh5/write.h"

#include <erfa.h>
#include <gio/gio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/lib/files/gzip.h"
#include "core/lib/rows/observed.h"
#include "core/stream/uvw.h"
#include "core/uvh5/writer.h"

#define MOST_STATIONS 65535
#define WGS84 1

/* HDF5 has the number of the system's error among its words. */
gboolean astro_uvh5_done(AstroUvh5Writer *w, gboolean done)
{
  g_autoptr(GError) cause = NULL;
  if (done || w->cause)
    return done;
  astro_h5_failed(&w->file, "writing", &cause);
  const char *number = strstr(cause->message, "errno = ");
  w->error = number ? atoi(number + strlen("errno = ")) : 0;
  w->cause = w->error
                 ? g_strdup_printf("cannot write to %s: %s", w->file.name, g_strerror(w->error))
                 : g_strdup(cause->message);
  return FALSE;
}

gboolean astro_uvh5_cannot_write(AstroUvh5Writer *w, GError **error)
{
  astro_uvh5_done(w, FALSE);
  return astro_fail(error, G_IO_ERROR,
                    w->error ? (gint)g_io_error_from_errno(w->error) : G_IO_ERROR_FAILED, "%s",
                    w->cause);
}

AstroUvh5Writer *astro_uvh5_writer_new(const char *location, GError **error)
{
  if (astro_gzip_is_name(location)) {
    astro_fail(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "cannot create %s: HDF5 is not packed by gzip as a whole: leave out .gz", location);
    return NULL;
  }
  AstroPartFile *part = astro_part_file_create(location, error);
  if (!part)
    return NULL;
  AstroUvh5Writer *w = g_new0(AstroUvh5Writer, 1);
  w->part = part;
  w->file = (AstroH5){ .id = -1, .name = g_strdup(location) };
  for (AstroUvh5Column c = 0; c < N_COLUMNS; c++)
    w->columns[c] = w->types[c] = -1;
  return w;
}

/* The array is where its stations are in the mean. */
static void find_location(AstroUvh5Writer *w)
{
  const AstroObservation *o = w->observation;
  const double centre[3] = { 0 };
  double mean[3] = { 0 };
  for (guint i = 0; i < o->n_stations; i++)
    for (guint k = 0; k < 3; k++)
      mean[k] += o->positions[3 * i + k] / o->n_stations;
  if (eraGc2gd(WGS84, mean, &w->longitude, &w->latitude, &w->altitude) != 0)
    w->longitude = w->latitude = w->altitude = 0;
  astro_geocentric_from_local(w->latitude, w->longitude, w->altitude, centre, w->location);
  const double sin_lat = sin(w->latitude), cos_lat = cos(w->latitude), sin_lon = sin(w->longitude),
               cos_lon = cos(w->longitude);
  const double axes[3][3] = { { -sin_lon, cos_lon, 0 },
                              { -sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat },
                              { cos_lat * cos_lon, cos_lat * sin_lon, sin_lat } };
  memcpy(w->local, axes, sizeof axes);
}

/* The part is locked by us already: HDF5 would take its own lock for another writer's. */
static gboolean create_file(AstroUvh5Writer *w, GError **error)
{
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_file_locking(access, FALSE, TRUE);
  H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
  w->file.id = H5Fcreate(astro_part_file_name(w->part), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  astro_uvh5_done(w, w->file.id >= 0);
  H5Pclose(access);
  return w->file.id >= 0 || astro_uvh5_cannot_write(w, error);
}

gboolean astro_uvh5_writer_begin(AstroUvh5Writer *w, const AstroStream *stream, guint stations,
                                 AstroObservation *observation, GError **error)
{
  if (!astro_rows_check("uvh5", MOST_STATIONS, stream, stations, observation, error))
    return FALSE;
  const guint pols = (guint)astro_stream_extent(stream, ASTRO_AXIS_POL);
  const double jansky = astro_history_jansky(&observation->done);
  w->stream = *stream;
  w->observation = astro_observation_ref(observation);
  w->channels = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  w->products = pols * pols;
  w->baselines = astro_stream_extent(stream, ASTRO_AXIS_BASELINE);
  w->scale = jansky > 0 ? jansky : 1;
  w->is_drift = astro_history_delays(&observation->done, stream->quantity) == ASTRO_DELAYS_IN;
  w->track = astro_track_new(w->observation);
  w->station_uvw = g_new(double, 3 * observation->n_stations);
  w->places = g_new(AstroRowPlace, w->baselines);
  w->has_rows = g_new0(guint8, w->baselines);
  find_location(w);
  astro_h5_begin();
  const gboolean done = create_file(w, error) && astro_uvh5_write_header(w, error) &&
                        astro_uvh5_create_columns(w, error);
  astro_h5_end();
  return done;
}

gboolean astro_uvh5_writer_write(AstroUvh5Writer *w, const AstroRowFrames *frames,
                                 AstroRowTally *tally, GError **error)
{
  AstroRowValues values;
  gboolean done = TRUE;
  if (!astro_row_values_begin(&values, &w->stream, frames->data, frames->frames, frames->validity,
                              w->scale, error))
    return FALSE;
  astro_h5_begin();
  for (guint64 k = 0; k < frames->frames && done; k++)
    done = astro_uvh5_write_frame(w, &values, frames, k, tally, error);
  astro_h5_end();
  astro_row_values_end(&values);
  return done;
}

/* FALSE if what is still in memory could not be written. */
static gboolean close_file(AstroUvh5Writer *w)
{
  gboolean done = TRUE;
  for (AstroUvh5Column c = 0; c < N_COLUMNS; c++) {
    if (w->columns[c] >= 0)
      done = astro_uvh5_done(w, H5Dclose(w->columns[c]) >= 0) && done;
    if (w->types[c] >= 0)
      H5Tclose(w->types[c]);
    w->columns[c] = w->types[c] = -1;
  }
  if (w->file.id >= 0)
    done = astro_uvh5_done(w, H5Fclose(w->file.id) >= 0) && done;
  w->file.id = -1;
  return done;
}

/* The rest of a file that nobody will have goes to memory. HDF5 crashes sooner or later if it could
 * not close a file: one that cannot be written even then, as its older parts are not in memory,
 * stays open until the process ends, empty, so that no other file gets its number. */
static void abandon_file(AstroUvh5Writer *w)
{
  int *descriptor;
  if (H5Fget_vfd_handle(w->file.id, H5P_DEFAULT, (void **)&descriptor) < 0)
    return;
  const int memory = memfd_create("astro-uvh5", MFD_CLOEXEC), kept = dup(*descriptor);
  if (memory < 0 || kept < 0 || dup2(memory, *descriptor) < 0 || ftruncate(kept, 0) != 0 ||
      H5Fflush(w->file.id, H5F_SCOPE_LOCAL) < 0)
    return;
  close_file(w);
  close(memory);
  close(kept);
}

static void free_writer(AstroUvh5Writer *w)
{
  astro_h5_begin();
  if (w->file.id >= 0 && H5Fflush(w->file.id, H5F_SCOPE_LOCAL) >= 0)
    close_file(w);
  else if (w->file.id >= 0)
    abandon_file(w);
  astro_h5_end();
  g_clear_pointer(&w->part, astro_part_file_discard);
  g_clear_pointer(&w->track, astro_track_free);
  g_clear_pointer(&w->observation, astro_observation_unref);
  gpointer arrays[] = { w->cause,  w->file.name, w->places, w->has_rows,   w->station_uvw,
                        w->values, w->counts,    w->flags,  w->antenna[0], w->antenna[1],
                        w->field,  w->uvw,       w->numbers };
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_free(arrays[i]);
  g_free(w);
}

gboolean astro_uvh5_writer_finish(AstroUvh5Writer *w, GError **error)
{
  astro_h5_begin();
  gboolean done = astro_uvh5_write_sums(w, error);
  if (done && (H5Fflush(w->file.id, H5F_SCOPE_LOCAL) < 0 || !close_file(w)))
    done = astro_uvh5_cannot_write(w, error);
  astro_h5_end();
  done = done && astro_part_file_commit(g_steal_pointer(&w->part), error);
  free_writer(w);
  return done;
}

void astro_uvh5_writer_discard(AstroUvh5Writer *w)
{
  free_writer(w);
}
