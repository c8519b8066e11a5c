/* Shared by the files that know casacore. */
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <casacore/casa/Exceptions/Error.h>
#include <casacore/ms/MeasurementSets/MeasurementSet.h>

#include "core/kit/fail.h"
#include "core/sets/tables.h"

struct _AstroSetTables {
  std::string folder;
  std::unique_ptr<casacore::MeasurementSet> set; /* that is made */
  std::unique_ptr<casacore::Table> table;        /* that is read */
  casacore::rownr_t rows = 0;                    /* written so far */
  bool is_whole = false;
};

namespace astro
{

/* What is done when an error comes. */
enum class Doing { kOpen, kRead, kCreate, kWrite };

gboolean set_error(GError **error, Doing doing, const std::string &folder, const char *cause);
std::mutex &casacore_lock();

/* Calls what uses casacore, under the one lock, and makes an error of an exception, which must not
 * reach C. */
template <class Work>
gboolean guarded(Doing doing, const std::string &folder, GError **error, Work work)
{
  std::lock_guard<std::mutex> lock(casacore_lock());
  try {
    work();
    return TRUE;
  } catch (const std::exception &e) {
    return set_error(error, doing, folder, e.what());
  }
}

} // namespace astro
