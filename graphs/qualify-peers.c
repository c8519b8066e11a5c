/* Counts pairs with other programs, where they are installed, and compares what they count. */
#include "graphs/qualify-play.h"
#include "graphs/qualify-streams.h"

#include <math.h>
#include <string.h>

#define POINTS 3000
#define LIMIT                                                                                      \
  1e-5 /* of the pairs: some lie at the edge of a bin, where peers round in their way              \
        */
#define EDGES "30,60,120,240,480"
#define BINS 4

/* Each takes a file of positions and the edges in arcmin, and prints the pairs in each bin. */
static const struct {
  const char *name, *module, *script;
} peers[] = {
  { "Corrfunc", "Corrfunc",
    "import sys, numpy as np\n"
    "from Corrfunc.mocks import DDtheta_mocks\n"
    "ra, dec = np.loadtxt(sys.argv[1], unpack=True)\n"
    "edges = np.array([float(x) for x in sys.argv[2].split(',')]) / 60\n"
    "r = DDtheta_mocks(1, 1, edges, ra, dec)\n"
    "print(*[int(n) // 2 for n in r['npairs']])\n" },
  { "TreeCorr", "treecorr",
    "import sys, numpy as np, treecorr\n"
    "ra, dec = np.loadtxt(sys.argv[1], unpack=True)\n"
    "edges = [float(x) for x in sys.argv[2].split(',')]\n"
    "c = treecorr.Catalog(ra=ra, dec=dec, ra_units='deg', dec_units='deg')\n"
    "n = treecorr.NNCorrelation(min_sep=edges[0], max_sep=edges[-1], nbins=len(edges) - 1,\n"
    "  sep_units='arcmin', bin_slop=0, metric='Arc')\n"
    "n.process(c)\n"
    "print(*[int(round(x)) for x in n.npairs])\n" },
};

/* Our own counts, dd, of a file of positions that we make. */
static char *count(const char *file, guint64 counts[BINS])
{
  g_autoptr(GString) text = g_string_new(NULL);
  AstroQualifyOutput points, pairs;
  char *trouble = astro_qualify_collect(
      "astrocatsrc points=" G_STRINGIFY(POINTS) " footprint=band:0,20,-10,10 "
                                                "! fakesink name=end sync=false async=false",
      &points);
  const double *values = (const double *)(gconstpointer)points.values->data;
  for (guint i = 0; !trouble && i < POINTS; i++)
    g_string_append_printf(text, "%.17g %.17g\n", values[i], values[POINTS + i]);
  astro_qualify_output_clear(&points);
  g_autoptr(GError) error = NULL;
  if (!trouble && !g_file_set_contents(file, text->str, -1, &error))
    trouble = g_strdup(error->message);
  if (trouble)
    return trouble;
  g_autofree char *line = g_strdup_printf(
      "astrocatsrc location=%s ! it.data astrocatsrc points=2 ! it.random astrohistogram name=it "
      "edges=" EDGES " ! fakesink name=end sync=false async=false",
      file);
  trouble = astro_qualify_collect(line, &pairs);
  if (!trouble && pairs.values->len >= BINS * sizeof *counts)
    memcpy(counts, pairs.values->data, BINS * sizeof *counts);
  else if (!trouble)
    trouble = g_strdup("there are no counts");
  astro_qualify_output_clear(&pairs);
  return trouble;
}

static gboolean ask(const char *script, const char *file, char **out)
{
  const char *const argv[] = { "python3", "-c", script, file, EDGES, NULL };
  int status = 1;
  return g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                      NULL, NULL, out, NULL, &status, NULL) &&
         g_spawn_check_wait_status(status, NULL);
}

static void look_at(guint peer, const char *file, const guint64 counts[BINS],
                    AstroQualifyResult *result)
{
  g_autofree char *out = NULL, *nothing = NULL;
  g_autofree char *import = g_strdup_printf("import %s", peers[peer].module);
  const gint64 start = g_get_monotonic_time();
  if (!ask(import, file, &nothing)) {
    result->state = ASTRO_QUALIFY_NOT_RUN;
    result->remark = g_strdup_printf("python3 has no module %s", peers[peer].module);
    return;
  }
  if (!ask(peers[peer].script, file, &out)) {
    result->state = ASTRO_QUALIFY_NOT_RUN;
    result->remark = g_strdup("it fails");
    return;
  }
  const char *at = out;
  double off = 0, all = 0;
  for (guint i = 0; i < BINS; i++) {
    off += fabs((double)g_ascii_strtoull(at, (char **)&at, 10) - (double)counts[i]);
    all += (double)counts[i];
  }
  result->value = off / all;
  result->state = result->value <= LIMIT ? ASTRO_QUALIFY_PASS : ASTRO_QUALIFY_SHORT;
  result->remark =
      g_strdup_printf("%.0f pairs of %d points, %.0f of them in other bins, in %.2g s", all, POINTS,
                      off, (double)(g_get_monotonic_time() - start) * 1e-6);
}

void astro_qualify_peers(const char *folder, GPtrArray *results)
{
  g_autofree char *file = g_build_filename(folder, "points.txt", NULL);
  guint64 counts[BINS] = { 0 };
  g_autofree char *trouble = count(file, counts);
  for (guint i = 0; i < G_N_ELEMENTS(peers); i++) {
    g_autofree char *subject = g_strdup_printf("pairs, beside %s", peers[i].name);
    AstroQualifyResult *result = astro_qualify_result_new("peers", subject);
    result->limit = LIMIT;
    g_ptr_array_add(results, result);
    if (!trouble) {
      look_at(i, file, counts, result);
      continue;
    }
    result->state = ASTRO_QUALIFY_SHORT;
    result->remark = g_strdup(trouble);
  }
}
