/* Errors, the lock, and the end of a set's tables. */
#include "core/sets/tables-private.hh"

#include <cstring>

#include <gio/gio.h>

namespace astro
{

std::mutex &casacore_lock()
{
  static std::mutex lock;
  return lock;
}

/* casacore's text is all that tells why. */
static bool says(const char *cause, const char *what)
{
  return std::strstr(cause, what) != nullptr;
}

gboolean set_error(GError **error, Doing doing, const std::string &folder, const char *cause)
{
  const char *name = folder.c_str();
  if (says(cause, "ock on table") && says(cause, "could not be acquired"))
    return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_OPEN,
                      "%s is locked by another program that has it open for writing, or is read "
                      "here while it should be written: try again when that is done (%s)",
                      name, cause);
  if (doing == Doing::kOpen || doing == Doing::kRead)
    return astro_fail(error, ASTRO_ROWS_ERROR,
                      doing == Doing::kOpen ? ASTRO_ROWS_ERROR_OPEN : ASTRO_ROWS_ERROR_READ,
                      "cannot read %s: %s", name, cause);
  return astro_fail(
      error, G_IO_ERROR, says(cause, "No space left") ? G_IO_ERROR_NO_SPACE : G_IO_ERROR_FAILED,
      "cannot %s %s: %s", doing == Doing::kCreate ? "create" : "write to", name, cause);
}

} // namespace astro

void astro_set_about_clear(AstroSetAbout *about)
{
  g_free(about->telescope);
  g_strfreev(about->antennas);
  g_free(about->positions);
  for (guint i = 0; i < about->n_fields; i++) {
    g_free(about->fields[i].name);
    g_free(about->fields[i].frame);
  }
  g_free(about->fields);
  for (guint i = 0; i < about->n_bands; i++) {
    g_free(about->bands[i].frequencies);
    g_free(about->bands[i].widths);
  }
  g_free(about->bands);
  for (guint i = 0; i < about->n_setups; i++)
    g_free(about->setups[i].products);
  g_free(about->setups);
  g_free(about->clock);
  g_free(about->unit);
  g_free(about->ours.earth);
  g_free(about->ours.earth_values);
  std::memset(about, 0, sizeof *about);
}

void astro_set_index_clear(AstroSetIndex *index)
{
  g_free(index->antenna1);
  g_free(index->antenna2);
  g_free(index->field);
  g_free(index->setup);
  g_free(index->array);
  g_free(index->middle);
  g_free(index->length);
  g_free(index->uvw);
  g_free(index->is_flagged);
  std::memset(index, 0, sizeof *index);
}

void astro_set_close(AstroSetTables *tables)
{
  /* A set that is not whole is given up, and nothing more of it is written: after a full disk that
   * would fail again, in a destructor. */
  astro::guarded(astro::Doing::kWrite, tables->folder, nullptr, [&] {
    if (tables->set && !tables->is_whole)
      tables->set->markForDelete();
    tables->set.reset();
    tables->table.reset();
  });
  delete tables;
}
