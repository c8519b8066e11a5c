/* Calls NCCL. Its header is not needed: the few functions, all of them old and stable, are declared
 * here. */
#include "config.h"
#include "elements/mpi/nccl.h"

#include <gmodule.h>
#include <limits.h>

#include "core/backend/backend.h"
#include "core/kit/fail.h"

#define LIBRARY "libnccl.so.2"

/* The first one with all of the settings below. */
#define LEAST_VERSION 21700

enum { SUCCESS = 0, IN_PROGRESS = 7 };
enum { BYTES = 0 }; /* ncclChar */

/* ncclConfig_t of 2.17. NCCL looks at its size and version, and fills in what came later. */
typedef struct {
  gsize size;
  guint magic, version;
  int blocking, cga_cluster_size, min_blocks, most_blocks;
  const char *net_name;
} Config;

static struct {
  GModule *library;
  char *trouble; /* why it is not there */
  int version;
  int (*get_version)(int *version);
  const char *(*error_text)(int status);
  int (*get_id)(NcclId *id);
  int (*init)(NcclPair **pair, int n, NcclId id, int rank, Config *config);
  int (*abort)(NcclPair *pair);
  int (*get_state)(NcclPair *pair, int *status);
  int (*begin_group)(void);
  int (*end_group)(void);
  int (*send)(gconstpointer data, gsize n, int type, int peer, NcclPair *pair, AstroQueue *queue);
  int (*receive)(gpointer data, gsize n, int type, int peer, NcclPair *pair, AstroQueue *queue);
} nccl;

static const struct {
  const char *name;
  gpointer place;
} functions[] = {
  { "ncclGetVersion", &nccl.get_version },
  { "ncclGetErrorString", &nccl.error_text },
  { "ncclGetUniqueId", &nccl.get_id },
  { "ncclCommInitRankConfig", &nccl.init },
  { "ncclCommAbort", &nccl.abort },
  { "ncclCommGetAsyncError", &nccl.get_state },
  { "ncclGroupStart", &nccl.begin_group },
  { "ncclGroupEnd", &nccl.end_group },
  { "ncclSend", &nccl.send },
  { "ncclRecv", &nccl.receive },
};

/* ---- the library ---- */

/* NULL, or why it cannot be used. */
static char *load(void)
{
  nccl.library = g_module_open(LIBRARY, G_MODULE_BIND_LOCAL | G_MODULE_BIND_LAZY);
  if (!nccl.library)
    return g_strdup_printf("NCCL cannot be loaded: %s", g_module_error());
  for (guint i = 0; i < G_N_ELEMENTS(functions); i++)
    if (!g_module_symbol(nccl.library, functions[i].name, functions[i].place))
      return g_strdup_printf(LIBRARY " has no function %s: expected NCCL 2.17 or later",
                             functions[i].name);
  if (nccl.get_version(&nccl.version) != SUCCESS || nccl.version < LEAST_VERSION)
    return g_strdup_printf(LIBRARY " says that it is version %d of NCCL, expected %d or later",
                           nccl.version, LEAST_VERSION);
  return NULL;
}

gboolean nccl_load(GError **error)
{
  static gsize is_loaded;
  if (g_once_init_enter(&is_loaded)) {
    nccl.trouble = load();
    g_once_init_leave(&is_loaded, TRUE);
  }
  return !nccl.trouble || astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                                     "%s", nccl.trouble);
}

guint nccl_version(void)
{
  return (guint)nccl.version;
}

/* ---- pairs ---- */

static gboolean ok(int status, const char *call, GError **error)
{
  return status == SUCCESS || status == IN_PROGRESS ||
         astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE, "NCCL: %s: %s", call,
                    nccl.error_text(status));
}

gboolean nccl_new_id(NcclId *id, GError **error)
{
  return ok(nccl.get_id(id), "ncclGetUniqueId", error);
}

NcclPair *nccl_pair_new(const NcclId *id, int role, guint most_blocks, GError **error)
{
  Config config = { G_STRUCT_OFFSET(Config, net_name) + sizeof(char *),
                    0xcafebeef,
                    LEAST_VERSION,
                    0,
                    INT_MIN, /* as NCCL likes */
                    1,
                    (int)most_blocks,
                    NULL };
  NcclPair *pair = NULL;
  return ok(nccl.init(&pair, 2, *id, role, &config), "ncclCommInitRankConfig", error) ? pair : NULL;
}

static gpointer abort_pair(gpointer pair)
{
  nccl.abort(pair);
  return NULL;
}

/* NCCL frees memory of the device before it returns, which waits for the kernels of all pairs, also
 * those that are still to be aborted. */
void nccl_pair_abort(NcclPair *pair)
{
  g_thread_unref(g_thread_new("astro-nccl-end", abort_pair, pair));
}

NcclState nccl_state(NcclPair *pair, GError **error)
{
  int status = SUCCESS;
  if (!ok(nccl.get_state(pair, &status), "ncclCommGetAsyncError", error) ||
      !ok(status, "what was begun has failed", error))
    return NCCL_FAILED;
  return status == IN_PROGRESS ? NCCL_BUSY : NCCL_READY;
}

gboolean nccl_begin_moves(GError **error)
{
  return ok(nccl.begin_group(), "ncclGroupStart", error);
}

gboolean nccl_end_moves(GError **error)
{
  return ok(nccl.end_group(), "ncclGroupEnd", error);
}

gboolean nccl_move(NcclPair *pair, int role, gpointer face, gsize bytes, AstroQueue *queue,
                   GError **error)
{
  return role == NCCL_SENDER
             ? ok(nccl.send(face, bytes, BYTES, NCCL_RECEIVER, pair, queue), "ncclSend", error)
             : ok(nccl.receive(face, bytes, BYTES, NCCL_SENDER, pair, queue), "ncclRecv", error);
}
