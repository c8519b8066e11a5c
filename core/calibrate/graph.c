/* Walks from station to station along baselines. */
#include "config.h"
#include "core/calibrate/graph.h"

static double find_reference(AstroCalibrateGraph *graph, guint stations, guint wanted,
                             AstroCalibrateWeight weight, gconstpointer data)
{
  double most = 0;
  graph->reference = wanted;
  for (guint i = 0; i < stations; i++) {
    double sum = 0;
    for (guint j = 0; j < stations; j++)
      sum += weight(data, i, j);
    graph->present[i] = sum > 0;
    if (sum > most) {
      most = sum;
      graph->reference = i;
    }
  }
  if (graph->present[wanted])
    graph->reference = wanted;
  return most;
}

/* Each next station is the one with the most weight to those that are there, so that first guesses
 * of gains are good. */
void astro_calibrate_graph_init(AstroCalibrateGraph *graph, guint stations, guint reference,
                                AstroCalibrateWeight weight, gconstpointer data)
{
  *graph = (AstroCalibrateGraph){ .order = g_new(guint, stations),
                                  .joined = g_new0(gboolean, stations),
                                  .present = g_new0(gboolean, stations) };
  g_autofree double *reach = g_new0(double, stations);
  g_autofree guint *side = g_new0(guint, stations);
  if (find_reference(graph, stations, reference, weight, data) == 0)
    return;
  for (guint next = graph->reference; next < stations;) {
    const guint last = next;
    graph->order[graph->n++] = last;
    graph->joined[last] = TRUE;
    next = stations;
    for (guint j = 0; j < stations; j++) {
      const double w = weight(data, last, j);
      if (graph->joined[j]) {
        graph->has_odd_circle |= w > 0 && side[j] == side[last];
        continue;
      }
      if (w > 0 && reach[j] == 0)
        side[j] = !side[last];
      reach[j] += w;
      if (reach[j] > 0 && (next == stations || reach[j] > reach[next]))
        next = j;
    }
  }
}

void astro_calibrate_graph_clear(AstroCalibrateGraph *graph)
{
  g_free(graph->order);
  g_free(graph->joined);
  g_free(graph->present);
}
