/* Makes integrations of the sums of pieces, and keeps those of an integration that stays open. */

#define MOST_SUMS 10    /* ASTRO_POWER_SUMS */
#define MOST_PRODUCTS 8 /* ASTRO_POWER_MAX_PRODUCTS */

/* As AstroPowerPlaced. */
typedef struct {
  uint which[2];
  double factor[2];
} Placed;

/* As in power.c. */
typedef struct {
  Placed products[MOST_PRODUCTS];
  ulong cells;              /* stations and channels of the input */
  ulong ended, first_piece; /* pieces of the call that end integrations; the first of parts */
  uint in_channels, sums, splits, n_products;
  uint channels, stations;         /* of the output */
  uint channel_step, station_step; /* of the input behind one of the output */
} Ending;

/* The sum of a piece, and what was open before. */
double sum_of(const Ending *ending, __global const double *parts, __global const double *open,
              ulong piece, uint sum, ulong cell)
{
  double total = ending->first_piece + piece == 0 ? open[sum * ending->cells + cell] : 0;
  for (uint split = 0; split < ending->splits; split++)
    total += parts[((piece * ending->splits + split) * ending->sums + sum) * ending->cells + cell];
  return total;
}

/* A work item makes all products of a station and channel of a piece, of which there are n. */
__kernel void end_integrations(FACE(parts), FACE(open), FACE(counts), FACE(out),
                               const Ending ending, const ulong n)
{
  AT(const double, parts);
  AT(const double, open);
  AT(const uint, counts);
  AT(float, out);
  const ulong at = get_global_id(0), values = (ulong)ending.stations * ending.channels;
  const ulong piece = at / values, number = ending.first_piece + piece;
  const uint station = (uint)(at % values / ending.channels),
             channel = (uint)(at % ending.channels);
  double sums[MOST_SUMS];
  if (at >= n)
    return;
  for (uint i = 0; i < ending.sums; i++)
    sums[i] = 0;
  for (uint s = station * ending.station_step; s < (station + 1) * ending.station_step; s++)
    for (uint c = channel * ending.channel_step; c < (channel + 1) * ending.channel_step; c++)
      for (uint i = 0; i < ending.sums; i++)
        sums[i] += sum_of(&ending, parts, open, piece, i, (ulong)s * ending.in_channels + c);
  const uint good = counts[number * values + at % values];
  for (uint p = 0; p < ending.n_products; p++) {
    const Placed placed = ending.products[p];
    double product = placed.factor[0] * sums[placed.which[0]];
    if (placed.factor[1] != 0) /* a sum that is infinite must not meet a factor of 0 */
      product += placed.factor[1] * sums[placed.which[1]];
    out[((number * ending.stations + station) * ending.n_products + p) * ending.channels +
        channel] = good ? (float)(product / good) : 0;
  }
}

/* A work item a sum of a station and channel, of which there are n. piece: the last one. */
__kernel void keep_open(FACE(parts), FACE(open), const Ending ending, const ulong piece,
                        const ulong n)
{
  AT(const double, parts);
  AT(double, open);
  const ulong at = get_global_id(0);
  if (at < n)
    open[at] = sum_of(&ending, parts, open, piece, (uint)(at / ending.cells), at % ending.cells);
}
