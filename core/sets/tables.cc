/* Errors, the lock, and the end of a set's tables. */
#include "core/sets/tables-private.hh"

#include <cstring>

G_DEFINE_QUARK(astro_set_error, astro_set_error)

namespace astro
{

std::mutex &casacore_lock()
{
  static std::mutex lock;
  return lock;
}

gboolean set_error(GError **error, AstroSetError code, const char *doing, const std::string &folder,
                   const char *cause)
{
  return astro_fail(error, ASTRO_SET_ERROR, code, "cannot %s %s: %s", doing, folder.c_str(), cause);
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
  /* Closing writes what is left, which cannot fail usefully here: astro_set_complete has done it
   * before for a set that is whole. */
  astro::guarded(ASTRO_SET_ERROR_WRITE, "close", tables->folder, nullptr, [&] {
    tables->set.reset();
    tables->table.reset();
  });
  delete tables;
}
